package espeak

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/swar-tts/swar/runtime/speech"
)

func TestNew(t *testing.T) {
	e := installed(t)
	if e.Version() == "" || strings.ContainsAny(e.Version(), " \n") {
		t.Errorf("version %q", e.Version())
	}
	m := e.Model()
	want := []speech.Voice{
		{Name: "anjura", Language: "hi-IN+en-IN", SampleRate: 24000, PromptFrames: 102},
		{Name: "raj", Language: "hi-IN+en-IN", SampleRate: 24000, PromptFrames: 102},
	}
	if m.ID != "espeak-ng-hinglish" || len(m.Voices) != len(want) {
		t.Fatalf("model %+v", m)
	}
	for i, v := range m.Voices {
		if v != want[i] {
			t.Errorf("voice %+v, want %+v", v, want[i])
		}
	}
}

func TestAMissingProgramSaysHowToGetIt(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := New(Config{})
	if !errors.Is(err, ErrNotInstalled) {
		t.Fatalf("New = %v, want ErrNotInstalled", err)
	}
	if !strings.Contains(err.Error(), "apt-get install espeak-ng") || strings.Contains(err.Error(), "\n") {
		t.Errorf("%q is not a sentence that says how to install the program", err)
	}
	if _, err := New(Config{Program: "/nowhere/espeak-ng"}); !errors.Is(err, ErrNotInstalled) {
		t.Errorf("New with a wrong path = %v, want ErrNotInstalled", err)
	}
}

func TestAProgramThatCannotSpeakHindiIsRefused(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		how   string
		limit time.Duration
		want  string // what the error ends in; empty for no error
	}{
		{"speaks", probeLimit, ""},
		{"is another program", probeLimit, `asking SELF for its version: it answers "hello 1.0\n", which is not espeak-ng`},
		{"fails at once", probeLimit, "asking SELF for its version: --version: exit status 2: Error: no data"},
		{"has no Hindi", probeLimit, "asking SELF for its voices: it has no Hindi voice; its data is incomplete"},
		{"has no variants", probeLimit, "asking SELF for its voices: it has no voice variant f2, with which anjura speaks; its data is incomplete"},
		{"never stops answering", 500 * time.Millisecond, "asking SELF for its version: no answer in 500ms"},
		{"never answers", 100 * time.Millisecond, "asking SELF for its version: no answer in 100ms"},
	} {
		setFake(t, tt.how)
		e, err := open(Config{Program: self}, tt.limit)
		got := ""
		if err != nil {
			got = strings.ReplaceAll(err.Error(), self, "SELF")
		} else if e.Version() != "9.9-dev" || e.hindi != "inc/hi" {
			t.Errorf("%s: version %q, Hindi voice %q", tt.how, e.Version(), e.hindi)
		}
		if got != tt.want {
			t.Errorf("%s: %q, want %q", tt.how, got, tt.want)
		}
	}
}

func TestSpeaks(t *testing.T) {
	e := &Engine{}
	for _, tt := range []struct {
		name, text string
		want       bool
	}{
		{"nothing", "", true},
		{"Hinglish", "नमस्ते, aapka order कल आएगा।", true},
		{"digits", "407 ४०७ ৪০৭", true},
		{"marks at which it pauses", "“हाँ” (जी) - a; b: c… d? e! f॥ don't", true},
		{"white space", " \n\t\u00a0", true},
		{"joiners and marks of the eye", "कि\u200dता\u200cब ग॒ सोऽहम् 1\ufe0f\u20e3 \ufeff", true},
		{"accents and ligatures", "café Łódź Straße Ær", true},
		{"letters of mathematics, in circles and in one sign", "𝐇𝐞𝐥𝐥𝐨 Ⓐ ㎏", true},
		{"other scripts of India", "કેમ কলম ਪੰਜਾਬ தமிழ் తెలుగు ಕನ್ನಡ മലയാളം ଓଡ଼ିଆ", true},
		{"Chinese", "你", false},
		{"Japanese", "か", false},
		{"Korean", "한", false},
		{"Arabic", "م", false},
		{"Thai", "ส", false},
		{"Cyrillic", "П", false},
		{"Greek", "Γ", false},
		{"Hebrew", "ש", false},
		{"Sinhala", "ක", false},
		{"Ol Chiki", "ᱥ", false},
		{"phonetic letters", "ʃ", false},
		{"one letter among many", "नमस्ते, aapka order कल आएगा। П", false},
		{"digits of other scripts", "٤", false},
		{"letters of Devanagari that are not known", "ॽ", false},
		{"emoji", "कल 😀", false},
		{"signs", "50%", false},
		{"control characters", "कल\x01", false},
		{"broken bytes", "कल\xff", false},
	} {
		if got := e.Speaks(tt.text); got != tt.want {
			t.Errorf("%s: Speaks(%q) = %v, want %v", tt.name, tt.text, got, tt.want)
		}
	}
}

// TestWhatItSpeaksIsFed: no letter and no number is promised and then dropped, and none is spoken that was denied.
func TestWhatItSpeaksIsFed(t *testing.T) {
	silent := map[rune]bool{
		'ऽ': true, 'ঽ': true, 'ઽ': true, 'ଽ': true, 'ఽ': true, 'ಽ': true, 'ഽ': true, // dragged vowels
		'ঀ': true, 'ಀ': true, 'ஃ': true, // read as signs, which belong to a letter before them
	}
	e := &Engine{}
	for r := range unicode.MaxRune {
		if !unicode.IsLetter(r) && !unicode.IsNumber(r) || silent[r] {
			continue
		}
		if speaks, tokens := e.Speaks(string(r)), e.Tokens(string(r)); speaks != (tokens > 0) {
			t.Errorf("%U %c: Speaks = %v, but it has %d tokens", r, r, speaks, tokens)
		}
	}
}

func TestTokensCountWhatIsFed(t *testing.T) {
	e := &Engine{}
	for _, tt := range []struct {
		name, a, b string
	}{
		{"Roman Hindi counts as Devanagari", "aap kaise hain", "आप कैसे हैं"},
		{"what is not read does not count", "😀 आप <कैसे> हैं ॥", "आप कैसे हैं॥"},
	} {
		a, b := e.Tokens(tt.a), e.Tokens(tt.b)
		if a != b || a == 0 {
			t.Errorf("%s: %q has %d tokens, %q has %d", tt.name, tt.a, a, tt.b, b)
		}
	}
	if got := e.Tokens("😀"); got != 0 {
		t.Errorf("nothing audible has %d tokens, want none", got)
	}
}
