package dialect

import (
	"slices"
	"strings"

	"github.com/swar-tts/swar/runtime/speech"
)

// The voices that vendors' names mean.
const (
	female = "anjura"
	male   = "raj"
)

// aliases are the voices of a vendor. other decides on names in neither list, as they are in small letters.
type aliases struct {
	female, male []string
	other        func(name string) (voice string, ok bool)
}

var voices = map[Name]aliases{
	OpenAI: {
		female: []string{"alloy", "ballad", "coral", "fable", "marin", "nova", "sage", "shimmer"},
		male:   []string{"ash", "cedar", "echo", "onyx", "verse"},
	},
	Deepgram: {other: aura},
	ElevenLabs: {
		female: []string{"21m00tcm4tlvdq8ikwam", "exavitqu4vr4xnsdxmal", "hpp4j3vqnfwauoo0d1us"},
		male:   []string{"pninz6obpgdqgcfmajgb", "jbfqncbsd6rmkjvdrzzb", "bihbv24mwmergaszh58o"},
	},
	Sarvam: {
		female: []string{
			"anushka", "manisha", "vidya", "arya", "ritu", "priya", "neha", "pooja", "simran", "kavya", "ishita", "shreya",
			"roopa", "tanya", "shruti", "suhani", "kavitha", "rupali",
		},
		male: []string{
			"abhilash", "karun", "hitesh", "aditya", "rahul", "rohan", "amit", "dev", "ratan", "varun", "manan", "sumit",
			"kabir", "aayan", "shubh", "ashutosh", "advait", "anand", "tarun", "sunny", "mani", "gokul", "vijay", "mohit",
			"rehan", "soham",
		},
	},
	Cartesia: {other: func(name string) (string, bool) { return female, isUUID(name) }},
}

// auraMale are the men among the voices of Deepgram.
var auraMale = []string{
	"apollo", "arcas", "aries", "atlas", "draco", "hermes", "hyperion", "jupiter", "mars", "neptune", "odysseus", "orion",
	"orpheus", "perseus", "pluto", "saturn", "zeus", "angus", "helios",
}

// Voice returns the voice of m for a name that a client of a dialect sends. It is a voice of m, or the substitute for
// the vendor's voice of that name. If m lacks the substitute, its first voice stands for a woman and its second for a
// man.
func Voice(dialect Name, m speech.Model, asked string) (voice string, ok bool) {
	name := strings.TrimSpace(asked)
	for _, v := range m.Voices {
		if strings.EqualFold(v.Name, name) {
			return v.Name, true
		}
	}
	voice, ok = alias(dialect, strings.ToLower(name))
	if !ok {
		return name, len(m.Voices) == 0 && name != "" // without a model the speaker decides
	}
	return fallbackVoice(m, voice), true
}

// Chosen returns the voice that asked names, as [Voice] does, and the default one of m for an empty name. An unknown
// name is refused.
func Chosen(dialect Name, m speech.Model, asked string) (string, error) {
	if strings.TrimSpace(asked) == "" {
		return m.DefaultVoice(), nil
	}
	voice, ok := Voice(dialect, m, asked)
	if !ok {
		return "", &FieldError{Refusal: speech.UnknownVoice(asked), Field: "voice"}
	}
	return voice, nil
}

// Aliases returns the names that a vendor has for voices, in order, and for each the voice of m.
func Aliases(dialect Name, m speech.Model) (names []string, voiceOf func(name string) string) {
	a := voices[dialect]
	names = slices.Sorted(slices.Values(slices.Concat(a.female, a.male)))
	return names, func(name string) string {
		voice, _ := alias(dialect, name)
		return fallbackVoice(m, voice)
	}
}

func alias(dialect Name, name string) (voice string, ok bool) {
	a := voices[dialect]
	switch {
	case slices.Contains(a.female, name):
		return female, true
	case slices.Contains(a.male, name):
		return male, true
	case a.other != nil:
		return a.other(name)
	}
	return "", false
}

func fallbackVoice(m speech.Model, voice string) string {
	if _, ok := m.Voice(voice); ok || len(m.Voices) == 0 {
		return voice
	}
	if voice == male && len(m.Voices) > 1 {
		return m.Voices[1].Name
	}
	return m.Voices[0].Name
}

// aura reads names such as aura-asteria-en and aura-2-thalia-en.
func aura(name string) (voice string, ok bool) {
	rest, ok := strings.CutPrefix(name, "aura-")
	if !ok {
		return "", false
	}
	person, language, ok := strings.Cut(strings.TrimPrefix(rest, "2-"), "-")
	switch {
	case !ok || person == "" || language == "":
		return "", false
	case slices.Contains(auraMale, person):
		return male, true
	}
	return female, true
}

// Gender returns "female" or "male" for a known voice, and otherwise "".
func Gender(voice string) string {
	switch voice {
	case female:
		return "female"
	case male:
		return "male"
	}
	return ""
}

func isUUID(name string) bool {
	if len(name) != len("00000000-0000-0000-0000-000000000000") {
		return false
	}
	for i := range len(name) {
		c := name[i]
		isDash := i == 8 || i == 13 || i == 18 || i == 23
		isHex := '0' <= c && c <= '9' || 'a' <= c && c <= 'f'
		if isDash && c != '-' || !isDash && !isHex {
			return false
		}
	}
	return true
}
