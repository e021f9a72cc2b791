package elevenlabs

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/swar-tts/swar/runtime/dialect"
	"github.com/swar-tts/swar/runtime/dialect/elevenlabs/internal/elevenlabstest"
	"github.com/swar-tts/swar/runtime/dialect/elevenlabs/internal/letters"
	"github.com/swar-tts/swar/runtime/dialect/elevenlabs/internal/request"
	"github.com/swar-tts/swar/runtime/speech"
)

func TestTextIsCountedInLetters(t *testing.T) {
	for letters, want := range map[int]speech.Code{1: "", 4999: "", 5000: "", 5001: speech.CodeTextTooLong} {
		for _, letter := range []string{"a", "क", "😀", `\u0915`, `\ud83d\ude00`} {
			_, err := way{}.read(elevenlabstest.Call(`{"text":" ` + strings.Repeat(letter, letters) + `\n"}`))
			if refusal, _ := errors.AsType[*speech.Refusal](err); want == "" && err != nil ||
				want != "" && (refusal == nil || refusal.Code != want) {
				t.Errorf("%d of %s: %v, want %q", letters, letter, err, want)
			}
		}
	}
}

func TestFormats(t *testing.T) {
	words := 0
	for word, a := range request.Formats {
		words++
		c := elevenlabstest.Call(`{"text":"Hi"}`)
		c.Query.Set("output_format", word)
		o, err := way{}.read(c)
		if err != nil || o.Word != word || o.Audio.Container != a.Container || o.Audio.ContentType == "" ||
			o.Audio.Speed != 1 {
			t.Errorf("%s: %+v, %v", word, o.Audio, err)
		}
	}
	if words != 2+2*7+7+5 {
		t.Errorf("there are %d formats", words)
	}
	if o, err := (way{}).read(elevenlabstest.Call(`{"text":"Hi"}`)); err != nil || o.Word != "mp3_44100_128" ||
		o.Audio.Rate != 44100 || o.Audio.BitRate != 128000 {
		t.Errorf("the default is %+v, %v", o.Audio, err)
	}
	for _, tt := range []struct {
		format, fields string
		lacks          []dialect.Container
		code           speech.Code
	}{
		{"mp3_44100_127", ``, nil, speech.CodeBadFormat}, {"MP3_44100_128", ``, nil, speech.CodeBadFormat}, {"aac", ``, nil, speech.CodeBadFormat},
		{"mp3_44100_128", ``, []dialect.Container{dialect.MP3}, dialect.CodeUnsupported},
		{"pcm_24000", ``, []dialect.Container{dialect.Raw}, ""},
		{"pcm_24000", `,"voice_settings":{"speed":1.1}`, []dialect.Container{dialect.Raw}, speech.CodeBadSpeed},
	} {
		c := elevenlabstest.Call(`{"text":"Hi"`+tt.fields+`}`, tt.lacks...)
		c.Query.Set("output_format", tt.format)
		_, err := way{}.read(c)
		if refusal, _ := errors.AsType[*speech.Refusal](err); (tt.code == "") != (err == nil) ||
			refusal != nil && refusal.Code != tt.code {
			t.Errorf("%s%s: %v, want %q", tt.format, tt.fields, err, tt.code)
		}
	}
}

func TestBody(t *testing.T) {
	for body, want := range map[string]string{
		`{"text":"Hi","voice_settings":null,"seed":null,"model_id":null,"apply_text_normalization":null}`:       "",
		`{"text":"Hi","voice_settings":{"speed":0.7},"seed":4294967295,"pronunciation_dictionary_locators":[]}`: "",
		`{"text":"Hi","voice_settings":{"speed":1.2},"apply_text_normalization":"off"}`:                         "",
		`{"text":"Hi","voice_settings":{"speed":null}}`:                                                         "",
		`{"text":"Hi","voice_settings":{"speed":0.69}}`:                                                         "voice_settings.speed: must be in [0.7, 1.2]",
		`{"text":"Hi","voice_settings":{"speed":1.21}}`:                                                         "voice_settings.speed: must be in [0.7, 1.2]",
		`{"text":"Hi","voice_settings":{"speed":"1"}}`:                                                          "voice_settings.speed: must be a number",
		`{"text":"Hi","voice_settings":[]}`:                                                                     "voice_settings: expected an object",
		`{"text":"Hi","seed":4294967296}`:                                                                       "seed: must be an integer from 0 to 4294967295",
		`{"text":"Hi","seed":-1}`:                                                                               "seed: must be an integer from 0 to 4294967295",
		`{"text":"Hi","seed":"1"}`:                                                                              "seed: must be a number",
		`{"text":"Hi","apply_text_normalization":"no"}`:                                                         "apply_text_normalization must be auto, on or off",
		`{"text":"Hi","model_id":1}`:                                                                            "model_id: must be a string",
		`{"text":"Hi","pronunciation_dictionary_locators":[{"pronunciation_dictionary_id":"x"},{"pronunciation_dictionary_id":"y"}]}`: "pronunciation_dictionary_locators: name only one",
		`{}`:                               "text: required",
		`{"text":null}`:                    "text: required",
		`{"text":7}`:                       "text: must be a string",
		`{"text":" "}`:                     speech.ErrTextEmpty.Text,
		`[]`:                               "invalid JSON: expected an object",
		"{\"text\":\"Hi\",\"x\":\"\xff\"}": "invalid JSON: not valid UTF-8",
	} {
		_, err := way{}.read(elevenlabstest.Call(body))
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %q, want %q", body, got, want)
		}
	}
	o, err := way{timed: true, whole: true}.read(elevenlabstest.Call(
		`{"pronunciation_dictionary_locators":[{"pronunciation_dictionary_id":"lex_1","version_id":"v"}],"text":" नमस्ते ","seed":7,"apply_text_normalization":"off","model_id":"m","previous_text":"x","language_code":"hi","voice_settings":{"speed":1.1,"style":0}}`))
	u := o.Utterance
	if err != nil || u.Text != "नमस्ते" || u.Seed != 7 || !o.HasSeed || !u.Raw || !u.WordTimes ||
		o.Audio.Speed != 1.1 || !o.Buffered || o.Framing == nil || o.Lexicon != "lex_1" {
		t.Errorf("%+v, %v", o, err)
	}
	for name, want := range map[string]string{
		"Request-Id": "req_1", "Character-Cost": "6", "X-Model-Requested": "m", "X-Ignored": "previous_text, language_code, voice_settings.style",
	} {
		if got := o.Headers[name]; got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	c := elevenlabstest.Call(`{"text":"Hi"}`)
	c.Var = func(string) string { return "aaaaaaaaaaaaaaaaaaaa" }
	if _, err := (way{}).read(c); err == nil || err.Error() != speech.UnknownVoice("aaaaaaaaaaaaaaaaaaaa").Text {
		t.Errorf("an unknown voice: %v", err)
	}
}

// TestFramings: base64 of pieces of any length is that of the whole, and times of several pieces stand behind one
// another.
func TestFramings(t *testing.T) {
	type object struct {
		Audio      []byte         `json:"audio_base64"`
		Alignment  *letters.Timed `json:"alignment"`
		Normalized *letters.Timed `json:"normalized_alignment"`
	}
	f := whole()
	var text, audio []byte
	for i := range 9 {
		piece := []byte("abcdefghi")[:i]
		audio = append(audio, piece...)
		text = append(text, f.Audio(piece)...)
	}
	text = append(text, f.Words(elevenlabstest.Sentence(0))...)
	text = append(text, f.Words(dialect.Words{Text: "…", End: time.Second})...)
	text = append(text, f.Words(elevenlabstest.Sentence(time.Second))...)
	text = append(text, f.End(9)...)
	var got object
	if err := json.Unmarshal(text, &got); err != nil || string(got.Audio) != string(audio) {
		t.Fatalf("%s: %v, want %s", text, err, base64.StdEncoding.EncodeToString(audio))
	}
	if c := strings.Join(got.Alignment.Characters, ""); c != "कल 4। कल 4। " || got.Alignment.Starts[6] != 1.05 ||
		got.Alignment.Ends[5] != .4 || got.Alignment.Ends[11] != 1.4 {
		t.Errorf("the alignment is %+v", got.Alignment)
	}
	if c := strings.Join(got.Normalized.Characters, ""); c != "कल चार। कल चार। " || len(got.Normalized.Ends) != 16 {
		t.Errorf("the normalized alignment is %+v", got.Normalized)
	}
	if text := string(append(whole().Audio([]byte{1}), f.End(1)...)); strings.Count(text, "audio_base64") != 1 {
		t.Errorf("no times: %s", text)
	}
	f = lines()
	if got := string(f.Audio([]byte{1, 2})); got != `{"audio_base64":"AQI=","alignment":null,"normalized_alignment":null}`+"\n" {
		t.Errorf("a line of audio is %s", got)
	}
	var last object
	if err := json.Unmarshal(f.Words(elevenlabstest.Sentence(time.Second)), &last); err != nil ||
		last.Alignment.Starts[0] != 1.05 ||
		len(last.Audio) != 0 {
		t.Errorf("a line of words is %+v, %v", last, err)
	}
	if got := string(f.Failed([]byte("{}"))); got != "{}\n" {
		t.Errorf("a failure is %q", got)
	}
}

func TestLists(t *testing.T) {
	c := elevenlabstest.Call("")
	c.Allows = func(voice string) bool { return voice != "raj" }
	show := func(v any, err error) string {
		if err != nil {
			return err.Error()
		}
		return string(dialect.JSON(v))
	}
	const anjura = `{"voice_id":"anjura","name":"anjura","category":"premade","labels":{"language":"hi-IN+en-IN","gender":"female"},"preview_url":"/samples/anjura.wav"}`
	const other = `{"voice_id":"other","name":"other","category":"premade","labels":{"language":"xx"},"preview_url":"/samples/other.wav"}`
	for want, got := range map[string]string{
		`{"voices":[` + anjura + `,` + other + `]}`:                                                         show(listVoices(c)),
		`{"voices":[` + anjura + `,` + other + `],"has_more":false,"total_count":2,"next_page_token":null}`: show(listPage(c)),
		anjura: show(voice(c)),
		`[{"model_id":"swar-1","name":"Swar","can_do_text_to_speech":true,"can_do_voice_conversion":false,"maximum_text_length_per_request":5000,` +
			`"languages":[{"language_id":"hi","name":"Hindi"},{"language_id":"en","name":"English"}]}]`: show(listModels(c)),
	} {
		if got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	for name, want := range map[string]string{
		"raj": speech.VoiceNotAllowed("raj").Error(), "kaun": "unknown voice 'kaun'; see /v1/voices", "21m00Tcm4TlvDq8ikWAM": anjura,
	} {
		c.Var = func(string) string { return name }
		if got := show(voice(c)); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

// FuzzSpeech: whatever is sent is refused, or is an order that can be spoken.
func FuzzSpeech(f *testing.F) {
	for _, body := range []string{
		`{"text":"Namaste","model_id":"m","voice_settings":{"speed":1.1},"seed":7,"apply_text_normalization":"off","pronunciation_dictionary_locators":[]}`,
		`{"text":"\ud83d\ude00","seed":1e3}`, `{"voice_settings":{"speed":{}}}`, `[`, "\xef\xbb\xbf{}", `{"text":"\ud800"}`,
	} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		o, err := way{timed: true}.read(elevenlabstest.Call(string(body)))
		for name, value := range o.Headers {
			for i := range len(value) {
				if value[i] < ' ' || value[i] > '~' || len(value) > 256 {
					t.Fatalf("the header %s is %q", name, value)
				}
			}
		}
		if err != nil {
			if refusal, ok := errors.AsType[*speech.Refusal](err); !ok || refusal.Text == "" {
				t.Fatalf("refused with %v", err)
			}
			return
		}
		letters := utf8.RuneCountInString(o.Utterance.Text)
		if letters == 0 || letters > maxText || !utf8.ValidString(o.Utterance.Text) || o.Utterance.Voice == "" ||
			o.Audio.Speed < request.MinSpeed || o.Audio.Speed > request.MaxSpeed {
			t.Fatalf("the order is %+v", o)
		}
	})
}

// TestMarkup: enable_ssml_parsing makes a document of the text, and without it tags are text.
func TestMarkup(t *testing.T) {
	const text = `Ek <break time=\"1s\"/> R&D`
	for _, tt := range []struct{ query, field, want string }{
		{"", "", `Ek <break time="1s"/> R&D`},
		{"false", "", `Ek <break time="1s"/> R&D`},
		{"", `,"enable_ssml_parsing":false`, `Ek <break time="1s"/> R&D`},
		{"TRUE", "", `<speak>Ek <break time="1s"/> R&amp;D</speak>`},
		{"", `,"enable_ssml_parsing":true`, `<speak>Ek <break time="1s"/> R&amp;D</speak>`},
	} {
		c := elevenlabstest.Call(`{"text":"` + text + `"` + tt.field + `}`)
		c.Query.Set("enable_ssml_parsing", tt.query)
		o, err := way{}.read(c)
		isMarkup := strings.HasPrefix(tt.want, "<speak>")
		if err != nil || o.Utterance.Text != tt.want || o.Utterance.SSML != isMarkup ||
			o.Headers["Character-Cost"] != "25" || o.Headers["X-Ignored"] != "" {
			t.Errorf("%q %s: %+v, %v", tt.query, tt.field, o, err)
		}
	}
	for field, want := range map[string]string{
		`"text":"a","enable_ssml_parsing":1`:                                     "enable_ssml_parsing: must be true or false",
		`"text":"a","enable_ssml_parsing":true,"apply_text_normalization":"off"`: "apply_text_normalization: must not be off with enable_ssml_parsing",
		`"text":" ","enable_ssml_parsing":true`:                                  speech.ErrTextEmpty.Text,
	} {
		if _, err := (way{}).read(elevenlabstest.Call(`{` + field + `}`)); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", field, err, want)
		}
	}
}
