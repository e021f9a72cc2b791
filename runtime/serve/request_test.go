package serve

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/swar-tts/swar/runtime/access"
	"github.com/swar-tts/swar/runtime/speech"
)

var everyVoice = access.Grant{}

// check decodes and validates body as POST /v1/tts does.
func check(body string, g access.Grant) (request, error) {
	r, err := decode([]byte(body), fromREST)
	if err != nil {
		return r, err
	}
	return r, r.validate((&script{}).Model(), g)
}

func TestDecodeFillsInDefaults(t *testing.T) {
	got, err := check(`{"text":"Namaste"}`, everyVoice)
	if err != nil {
		t.Fatal(err)
	}
	want := request{
		Utterance:  speech.Utterance{Text: "Namaste", Voice: "anjura", Format: "wav", Temperature: .3},
		Stream:     true,
		sampleRate: 24000,
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
}

func TestDecodeReadsEveryField(t *testing.T) {
	const body = `{"text":"Hello","voice":"raj","format":"opus","stream":false,"raw":true,"en_digits":true,
		"temperature":1.5,"seed":-7,"request_id":"r-1","sample_rate":24000,"speed":1.0}`
	got, err := check(body, everyVoice)
	if err != nil {
		t.Fatal(err)
	}
	want := request{
		Utterance: speech.Utterance{RequestID: "r-1", Text: "Hello", Voice: "raj", Format: "opus", Raw: true,
			EnDigits:    true,
			Temperature: 1.5, Seed: -7},
		HasSeed:    true,
		sampleRate: 24000,
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
}

// accepted are bodies that say the same as {"text":"Hi"}, or what want changes of it.
func TestDecodeAccepts(t *testing.T) {
	tests := []struct {
		sentence, body string
		want           func(*request)
	}{
		{"null for an optional field is absence",
			`{"text":"Hi","voice":null,"format":null,"stream":null,"raw":null,"en_digits":null,"temperature":null,"seed":null,
			"request_id":null,"sample_rate":null,"speed":null}`, nil},
		{"an unknown field is ignored, whatever it holds", `{"text":"Hi","instructions":{"a":[1,{"text":"no"}]},"":null}`, nil},
		{"a name in other case is an unknown field", `{"text":"Hi","TEXT":5,"Voice":"nobody"}`, nil},
		{"a field of the socket is an unknown field", `{"text":"Hi","type":5}`, nil},
		{"of a repeated field the last counts", `{"text":5,"voice":"raj","text":"Hi","voice":"anjura"}`, nil},
		{"null last makes a repeated field absent", `{"text":"Hi","voice":"nobody","voice":null}`, nil},
		{"an escaped name is the name", `{"te\u0078t":"Hi"}`, nil},
		{"an escaped value is the value", `{"text":"\u0048i"}`, nil},
		{"white space around the object does not matter", " \r\n\t{ \"text\" : \"Hi\" } \n", nil},
		{"text is trimmed of all Unicode white space", `{"text":" \t\n\u00a0\u2003\u3000\u0085Hi\u2028 "}`, nil},
		{"control characters around text are spaces", `{"text":"\u0001\u001fHi\r\u000b"}`, nil},
		{"sample_rate may be written 24000.0", `{"text":"Hi","sample_rate":24000.0}`, nil},
		{"sample_rate may be written 2.4e4", `{"text":"Hi","sample_rate":2.4e4}`, nil},
		{"sample_rate may be written 24000000E-3", `{"text":"Hi","sample_rate":24000000E-3}`, nil},
		{"speed may be written 1", `{"text":"Hi","speed":1}`, nil},
		{"speed may be written 1.0", `{"text":"Hi","speed":1.0}`, nil},
		{"speed may be written 1e0", `{"text":"Hi","speed":1e0}`, nil},
		{"speed may be written 0.1E+1", `{"text":"Hi","speed":0.1E+1}`, nil},
		{"control characters inside text become spaces, tab and newline stay",
			`{"text":"a\u0001b\rc\td\ne\u007ff"}`, func(r *request) { r.Utterance.Text = "a b c\td\ne\u007ff" }},
		{"Devanagari and Latin mix", `{"text":"मेरा OTP 407 है"}`, func(r *request) { r.Utterance.Text = "मेरा OTP 407 है" }},
		{"a surrogate pair is one character", `{"text":"\ud83d\ude00"}`, func(r *request) { r.Utterance.Text = "😀" }},
		{"temperature 0 is the least", `{"text":"Hi","temperature":0}`, func(r *request) { r.Utterance.Temperature = 0 }},
		{"temperature 2 is the most", `{"text":"Hi","temperature":2}`, func(r *request) { r.Utterance.Temperature = 2 }},
		{"temperature 2e0 is 2", `{"text":"Hi","temperature":2e0}`, func(r *request) { r.Utterance.Temperature = 2 }},
		{"temperature -0 is 0", `{"text":"Hi","temperature":-0.0e1}`,
			func(r *request) { r.Utterance.Temperature = 0 }},
		{"temperature a little below 2", `{"text":"Hi","temperature":1.99999999999999999999}`,
			func(r *request) { r.Utterance.Temperature = 2 }},
		{"seed 0 is a seed", `{"text":"Hi","seed":0}`, func(r *request) { r.HasSeed = true }},
		{"seed -0.0 is 0", `{"text":"Hi","seed":-0.0}`, func(r *request) { r.HasSeed = true }},
		{"the largest seed is 2^63-1", `{"text":"Hi","seed":9223372036854775807}`, func(r *request) {
			r.HasSeed, r.Utterance.Seed = true, math.MaxInt64
		}},
		{"the smallest seed is -2^63", `{"text":"Hi","seed":-9223372036854775808}`, func(r *request) {
			r.HasSeed, r.Utterance.Seed = true, math.MinInt64
		}},
		{"a request_id of 1 character", `{"text":"Hi","request_id":"!"}`, func(r *request) { r.Utterance.RequestID = "!" }},
		{"a request_id of 128 characters", `{"text":"Hi","request_id":"` + strings.Repeat("~", 128) + `"}`, func(r *request) {
			r.Utterance.RequestID = strings.Repeat("~", 128)
		}},
	}
	for _, tt := range tests {
		t.Run(tt.sentence, func(t *testing.T) {
			got, err := check(tt.body, everyVoice)
			if err != nil {
				t.Fatal(err)
			}
			want, err := check(`{"text":"Hi"}`, everyVoice)
			if err != nil {
				t.Fatal(err)
			}
			if tt.want != nil {
				tt.want(&want)
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("got %+v\nwant %+v", got, want)
			}
		})
	}
}

// refusedBodies are the refusals of a body, each with one fault.
var refusedBodies = []struct {
	sentence, body string
	text           string
	code           speech.Code
}{
	{"an empty body", ``, "invalid JSON: unexpected end", "bad_request"},
	{"a body of white space", " \n", "invalid JSON: unexpected end", "bad_request"},
	{"a body that ends early", `{"text":"Hi"`, "invalid JSON: unexpected end", "bad_request"},
	{"a body that ends in a string", `{"text":"Hi`, "invalid JSON: unexpected end", "bad_request"},
	{"a body that ends in a name", `{"te`, "invalid JSON: unexpected end", "bad_request"},
	{"a body that ends before a value", `{"text":`, "invalid JSON: unexpected end", "bad_request"},
	{"null is not an object", `null`, "invalid JSON: expected an object", "bad_request"},
	{"an array is not an object", `[{"text":"Hi"}]`, "invalid JSON: expected an object", "bad_request"},
	{"a string is not an object", `"Hi"`, "invalid JSON: expected an object", "bad_request"},
	{"a form is not JSON", `text=Hi`, "invalid JSON: expected an object", "bad_request"},
	{"single quotes are not JSON", `{'text':'Hi'}`, "invalid JSON: invalid character '\\'' at start of value at byte 1", "bad_request"},
	{"a missing comma", `{"text":"Hi" "raw":true}`, "invalid JSON: invalid character '\"' after object value (expecting ',' or '}') at byte 13", "bad_request"},
	{"a trailing comma", `{"text":"Hi",}`, "invalid JSON: invalid character ',' at start of value at byte 12", "bad_request"},
	{"a comment", `{"text":"Hi"/*no*/}`, "invalid JSON: invalid character '/' after object value (expecting ',' or '}') at byte 12", "bad_request"},
	{"NaN", `{"text":"Hi","temperature":NaN}`, "invalid JSON: invalid character 'N' at start of value at byte 27", "bad_request"},
	{"a raw newline in a string", "{\"text\":\"a\nb\"}", "invalid JSON: invalid character '\\n' in string (expecting non-control character) at byte 10", "bad_request"},
	{"a second object", `{"text":"Hi"}{"text":"Ho"}`, "invalid JSON: something follows the object", "bad_request"},
	{"trailing data", `{"text":"Hi"} null`, "invalid JSON: something follows the object", "bad_request"},
	{"trailing nonsense", `{"text":"Hi"}}`, "invalid JSON: invalid character '}' at start of value at byte 13", "bad_request"},
	{"invalid JSON wins over a wrong type", `{"text":5,}`, "invalid JSON: invalid character ',' at start of value at byte 9", "bad_request"},

	{"raw bytes that are not UTF-8", "{\"text\":\"a\xffb\"}", "text: not valid UTF-8", "bad_text"},
	{"an overlong encoding", "{\"text\":\"\xc0\xaf\"}", "text: not valid UTF-8", "bad_text"},
	{"a raw surrogate", "{\"text\":\"\xed\xa0\x80\"}", "text: not valid UTF-8", "bad_text"},
	{"a lone high surrogate", `{"text":"\ud83d"}`, "text: not valid UTF-8", "bad_text"},
	{"a lone low surrogate", `{"text":"\ude00"}`, "text: not valid UTF-8", "bad_text"},
	{"surrogates in the wrong order", `{"text":"\ude00\ud83d"}`, "text: not valid UTF-8", "bad_text"},
	{"another field that is not UTF-8", "{\"text\":\"Hi\",\"voice\":\"\xff\"}", "voice: not valid UTF-8", "bad_request"},
	{"an unknown field that is not UTF-8", "{\"text\":\"Hi\",\"x\":\"\xff\"}", "invalid JSON: not valid UTF-8", "bad_request"},
	{"a name that is not UTF-8", "{\"text\":\"Hi\",\"\xff\":1}", "invalid JSON: not valid UTF-8", "bad_request"},

	{"text as a number", `{"text":5}`, "text: must be a string", "bad_text"},
	{"text as an array", `{"text":["Hi"]}`, "text: must be a string", "bad_text"},
	{"text as an object", `{"text":{"text":"Hi"}}`, "text: must be a string", "bad_text"},
	{"text as a boolean", `{"text":true}`, "text: must be a string", "bad_text"},
	{"voice as a number", `{"text":"Hi","voice":1}`, "voice: must be a string", "bad_request"},
	{"format as a boolean", `{"text":"Hi","format":false}`, "format: must be a string", "bad_format"},
	{"sample_rate as a string", `{"text":"Hi","sample_rate":"24000"}`, "sample_rate: must be an integer", "bad_sample_rate"},
	{"sample_rate with a fraction", `{"text":"Hi","sample_rate":24000.5}`, "sample_rate: must be an integer", "bad_sample_rate"},
	{"speed as a string", `{"text":"Hi","speed":"1"}`, "speed: must be a number", "bad_speed"},
	{"temperature as a string", `{"text":"Hi","temperature":"0.3"}`, "temperature: must be a number", "bad_temperature"},
	{"seed as a string", `{"text":"Hi","seed":"1"}`, "seed: must be an integer", "bad_request"},
	{"seed with a fraction", `{"text":"Hi","seed":0.5}`, "seed: must be an integer", "bad_request"},
	{"seed with a tiny fraction", `{"text":"Hi","seed":1e-400}`, "seed: must be an integer", "bad_request"},
	{"request_id as a number", `{"text":"Hi","request_id":1}`, "request_id: must be a string", "bad_request"},
	{"metadata as a number", `{"text":"Hi","metadata":1}`, "metadata: must be a boolean", "bad_request"},
	{"stream as a string", `{"text":"Hi","stream":"true"}`, "stream: must be a boolean", "bad_request"},
	{"raw as a number", `{"text":"Hi","raw":1}`, "raw: must be a boolean", "bad_request"},
	{"en_digits as an object", `{"text":"Hi","en_digits":{}}`, "en_digits: must be a boolean", "bad_request"},

	{"text missing", `{}`, "text is empty", "text_empty"},
	{"text null", `{"text":null}`, "text is empty", "text_empty"},
	{"text empty", `{"text":""}`, "text is empty", "text_empty"},
	{"text blank", `{"text":" \t\n\u00a0\u3000"}`, "text is empty", "text_empty"},
	{"text of control characters", `{"text":"\u0001\u0002"}`, "text is empty", "text_empty"},
	{"text with NUL", `{"text":"a\u0000b"}`, "text: must not contain NUL", "bad_text"},
	{"text of one character more than 4000", `{"text":"` + strings.Repeat("a", 4001) + `"}`, "text longer than 4000 characters", "text_too_long"},
	{"an unknown voice", `{"text":"Hi","voice":"xyz"}`, "unknown voice 'xyz'; see /v1/voices", "unknown_voice"},
	{"a voice in other case", `{"text":"Hi","voice":"Raj"}`, "unknown voice 'Raj'; see /v1/voices", "unknown_voice"},
	{"an empty voice", `{"text":"Hi","voice":""}`, "unknown voice ''; see /v1/voices", "unknown_voice"},
	{"a voice of 64 code points is echoed whole", `{"text":"Hi","voice":"` + strings.Repeat("क", 64) + `"}`,
		"unknown voice '" + strings.Repeat("क", 64) + "'; see /v1/voices", "unknown_voice"},
	{"a voice of 65 code points is echoed cut", `{"text":"Hi","voice":"` + strings.Repeat("क", 65) + `"}`,
		"unknown voice '" + strings.Repeat("क", 64) + "'; see /v1/voices", "unknown_voice"},
	{"an unknown format", `{"text":"Hi","format":"mp3"}`, "format must be pcm16, wav or opus", "bad_format"},
	{"a format in other case", `{"text":"Hi","format":"WAV"}`, "format must be pcm16, wav or opus", "bad_format"},
	{"an empty format", `{"text":"Hi","format":""}`, "format must be pcm16, wav or opus", "bad_format"},
	{"sample_rate 23999", `{"text":"Hi","sample_rate":23999}`, "sample_rate must be 24000", "bad_sample_rate"},
	{"sample_rate 24001", `{"text":"Hi","sample_rate":24001}`, "sample_rate must be 24000", "bad_sample_rate"},
	{"sample_rate beyond 64 bits", `{"text":"Hi","sample_rate":1e99}`, "sample_rate must be 24000", "bad_sample_rate"},
	{"speed 0.9999", `{"text":"Hi","speed":0.9999}`, "speed other than 1.0 is not supported by this model", "bad_speed"},
	{"speed 1.0001", `{"text":"Hi","speed":1.0001}`, "speed other than 1.0 is not supported by this model", "bad_speed"},
	{"temperature 2.0001", `{"text":"Hi","temperature":2.0001}`, "temperature must be in [0, 2]", "bad_temperature"},
	{"temperature -0.0001", `{"text":"Hi","temperature":-0.0001}`, "temperature must be in [0, 2]", "bad_temperature"},
	{"speed a little above 1, which a float would round", `{"text":"Hi","speed":1.00000000000000000001}`,
		"speed other than 1.0 is not supported by this model", "bad_speed"},
	{"speed a little below 1, which a float would round", `{"text":"Hi","speed":0.99999999999999999999}`,
		"speed other than 1.0 is not supported by this model", "bad_speed"},
	{"speed -1", `{"text":"Hi","speed":-1}`, "speed other than 1.0 is not supported by this model", "bad_speed"},
	{"temperature a little above 2, which a float would round", `{"text":"Hi","temperature":2.0000000000000000001}`,
		"temperature must be in [0, 2]", "bad_temperature"},
	{"temperature a little below 0, which a float would round", `{"text":"Hi","temperature":-1e-999}`,
		"temperature must be in [0, 2]", "bad_temperature"},
	{"temperature beyond every float", `{"text":"Hi","temperature":1e999}`, "temperature must be in [0, 2]", "bad_temperature"},
	{"seed 2^63", `{"text":"Hi","seed":9223372036854775808}`, "seed: out of range", "bad_request"},
	{"seed -2^63-1", `{"text":"Hi","seed":-9223372036854775809}`, "seed: out of range", "bad_request"},
	{"seed 1e19", `{"text":"Hi","seed":1e19}`, "seed: out of range", "bad_request"},
	{"seed with a huge exponent", `{"text":"Hi","seed":1e999999999999999999999}`, "seed: out of range", "bad_request"},
	{"request_id empty", `{"text":"Hi","request_id":""}`, "request_id: must be 1 to 128 visible ASCII characters", "bad_request"},
	{"request_id of 129 characters", `{"text":"Hi","request_id":"` + strings.Repeat("a", 129) + `"}`,
		"request_id: must be 1 to 128 visible ASCII characters", "bad_request"},
	{"request_id with a space", `{"text":"Hi","request_id":"a b"}`, "request_id: must be 1 to 128 visible ASCII characters", "bad_request"},
	{"request_id with a line end", `{"text":"Hi","request_id":"a\r\nx-evil: 1"}`, "request_id: must be 1 to 128 visible ASCII characters", "bad_request"},
	{"request_id with DEL", `{"text":"Hi","request_id":"a\u007f"}`, "request_id: must be 1 to 128 visible ASCII characters", "bad_request"},
	{"request_id beyond ASCII", `{"text":"Hi","request_id":"é"}`, "request_id: must be 1 to 128 visible ASCII characters", "bad_request"},
}

func TestDecodeRefuses(t *testing.T) {
	for _, tt := range refusedBodies {
		t.Run(tt.sentence, func(t *testing.T) {
			_, err := check(tt.body, everyVoice)
			r, ok := errors.AsType[*speech.Refusal](err)
			if !ok {
				t.Fatalf("error = %v, want a refusal", err)
			}
			if r.Text != tt.text {
				t.Errorf("text = %q, want %q", r.Text, tt.text)
			}
			if r.Code != tt.code {
				t.Errorf("code = %q, want %q", r.Code, tt.code)
			}
		})
	}
}

func TestTextLimitCountsCodePoints(t *testing.T) {
	tests := []struct{ sentence, unit string }{
		{"ASCII", "a"},
		{"Devanagari", "क"},
		{"astral characters", "😀"},
		{"combining marks count for themselves", "\u0301"},
		{"escaped surrogate pairs", `\ud83d\ude00`},
	}
	for _, tt := range tests {
		for n, want := range map[int]error{3999: nil, 4000: nil, 4001: speech.ErrTextTooLong} {
			t.Run(fmt.Sprintf("%s, %d", tt.sentence, n), func(t *testing.T) {
				_, err := check(`{"text":" `+strings.Repeat(tt.unit, n)+` \n"}`, everyVoice)
				if !errors.Is(err, want) {
					t.Errorf("error = %v, want %v", err, want)
				}
			})
		}
	}
}

func TestVoiceMustBeAllowed(t *testing.T) {
	grant := access.Grant{Voices: []string{"raj"}}
	if _, err := check(`{"text":"Hi","voice":"raj"}`, grant); err != nil {
		t.Errorf("the allowed voice: %v", err)
	}
	_, err := check(`{"text":"Hi"}`, grant)
	if got, want := fmt.Sprint(err), "voice anjura not allowed for this key"; got != want {
		t.Errorf("the default voice: %s, want %s", got, want)
	}
}

func TestAModelWithoutTheUsualVoiceSpeaksWithItsFirst(t *testing.T) {
	voices := func(names ...string) (m speech.Model) {
		for _, name := range names {
			m.Voices = append(m.Voices, speech.Voice{Name: name})
		}
		return m
	}
	for name, tt := range map[string]struct {
		model      speech.Model
		body, want string // the voice, or the error
	}{
		"the usual one, wherever it stands": {voices("raj", "anjura"), `{"text":"Hi"}`, "anjura"},
		"null is absence":                   {voices("meera", "raj"), `{"text":"Hi","voice":null}`, "meera"},
		"the first one":                     {voices("meera", "raj"), `{"text":"Hi"}`, "meera"},
		"the one that is asked for":         {voices("meera", "raj"), `{"text":"Hi","voice":"raj"}`, "raj"},
		"nothing is put in another's place": {voices("meera", "raj"), `{"text":"Hi","voice":"anjura"}`, "unknown voice 'anjura'; see /v1/voices"},
		"nor in that of none":               {voices("meera", "raj"), `{"text":"Hi","voice":""}`, "unknown voice ''; see /v1/voices"},
		"no model yet: the speaker decides": {voices(), `{"text":"Hi","voice":"meera"}`, "meera"},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := decode([]byte(tt.body), fromREST)
			if err != nil {
				t.Fatal(err)
			}
			err = r.validate(tt.model, everyVoice)
			got := r.Utterance.Voice
			if err != nil {
				got = err.Error()
			}
			if got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
}

// TestOrderOfChecks combines every two faults of different steps: the earlier step decides.
func TestOrderOfChecks(t *testing.T) {
	steps := []struct{ member, text string }{
		{`"stream":"yes"`, "stream: must be a boolean"}, // any wrong type
		{`"text":""`, "text is empty"},
		{`"text":"` + strings.Repeat("a", 4001) + `"`, "text longer than 4000 characters"},
		{`"voice":"nobody"`, "unknown voice 'nobody'; see /v1/voices"},
		{`"format":"mp3"`, "format must be pcm16, wav or opus"},
		{`"sample_rate":8000`, "sample_rate must be 24000"},
		{`"speed":2`, "speed other than 1.0 is not supported by this model"},
		{`"temperature":3`, "temperature must be in [0, 2]"},
		{`"seed":1e30`, "seed: out of range"},
		{`"request_id":""`, "request_id: must be 1 to 128 visible ASCII characters"},
		{`"voice":"anjura"`, "voice anjura not allowed for this key"}, // the grant below
	}
	grant := access.Grant{Voices: []string{"raj"}}
	for i, first := range steps {
		for _, second := range steps[i+1:] {
			members := []string{second.member, first.member}
			name, _, _ := strings.Cut(first.member, ":")
			if strings.HasPrefix(second.member, name) {
				continue // one field has one fault
			}
			for range 2 { // in either order of the body
				body := "{" + strings.Join(members, ",") + "}"
				if !strings.Contains(body, `"text"`) {
					body = `{"text":"Hi",` + body[1:]
				}
				_, err := check(body, grant)
				if got := fmt.Sprint(err); got != first.text {
					t.Errorf("%.60s + %.60s: %q, want %q", first.member, second.member, got, first.text)
				}
				slices.Reverse(members)
			}
		}
	}
}

func TestDecodeKeepsTheRequestIDBesideAnError(t *testing.T) {
	tests := []struct{ sentence, body, want string }{
		{"a wrong type before it", `{"text":5,"request_id":"r-1"}`, "r-1"},
		{"a wrong type after it", `{"request_id":"r-1","stream":0}`, "r-1"},
		{"an id that may not be one is not kept", `{"text":5,"request_id":"r 1"}`, ""},
		{"what is not JSON has no fields", `{"request_id":"r-1",`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.sentence, func(t *testing.T) {
			r, err := decode([]byte(tt.body), fromREST)
			if err == nil {
				t.Fatal("no error")
			}
			if got := r.Utterance.RequestID; got != tt.want {
				t.Errorf("request id = %q, want %q", got, tt.want)
			}
		})
	}
}

func TestDecodeKnowsTheFieldsOfEachSource(t *testing.T) {
	everything := func(skip ...string) string {
		var b strings.Builder
		b.WriteString(`{"text":"Hi"`)
		for _, f := range fields {
			if !slices.Contains(skip, f.name) && f.name != "text" {
				fmt.Fprintf(&b, `,%q:[]`, f.name) // a wrong type for each of them
			}
		}
		return b.String() + "}"
	}
	known := map[source][]string{
		fromREST: {"text", "voice", "format", "sample_rate", "speed", "temperature", "seed", "request_id",
			"stream", "metadata", "raw", "en_digits", "input_type", "lexicon"},
		fromSocket: {"type", "text", "voice", "format", "sample_rate", "speed", "temperature", "seed", "request_id",
			"raw", "en_digits", "input_type", "lexicon", "timestamps"},
		fromNormalize: {"text", "en_digits", "input_type", "lexicon"},
		fromWords: {"text", "voice", "format", "sample_rate", "speed", "temperature", "seed", "request_id", "raw",
			"en_digits", "input_type", "lexicon"},
	}
	for from, want := range known {
		var got []string
		for _, f := range fields {
			body := fmt.Sprintf(`{%q:[]}`, f.name)
			if _, err := decode([]byte(body), from); err != nil {
				got = append(got, f.name)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("source %d reads %v, want %v", from, got, want)
		}
	}
	if _, err := decode([]byte(everything("en_digits", "input_type", "lexicon")), fromNormalize); err != nil {
		t.Errorf("POST /v1/normalize refuses a field that is not its own: %v", err)
	}
}

func TestDecodeSurvivesBombs(t *testing.T) {
	const size = 1 << 20
	nested := func(open, end string, n int) string {
		return `{"text":"Hi","x":` + strings.Repeat(open, n) + "1" + strings.Repeat(end, n) + `}`
	}
	tests := []struct {
		sentence, body string
		ok             bool
	}{
		{"a thousand arrays deep is ignored", nested("[", "]", 1000), true},
		{"half a million arrays deep is refused", nested("[", "]", size/2), false},
		{"objects without end", `{"text":"Hi","x":` + strings.Repeat(`{"a":`, size/5), false},
		{"a megabyte of name", `{"text":"Hi","` + strings.Repeat("n", size) + `":1}`, true},
		{"a megabyte of digits", `{"text":"Hi","seed":` + strings.Repeat("0", 0) + "1" + strings.Repeat("0", size) + `}`, true},
		{"a megabyte of fraction", `{"text":"Hi","temperature":0.` + strings.Repeat("1", size) + `}`, true},
		{"a hundred thousand fields of one name", `{"text":"Hi"` + strings.Repeat(`,"voice":"x"`, 80_000) + `}`, true},
	}
	for _, tt := range tests {
		t.Run(tt.sentence, func(t *testing.T) {
			_, err := decode([]byte(tt.body), fromREST)
			if (err == nil) != tt.ok {
				t.Errorf("error = %.200v, want success %v", err, tt.ok)
			}
		})
	}
}

func TestReadInteger(t *testing.T) {
	tests := map[string]struct {
		n       int64
		ok      bool
		integer bool
	}{
		"0":                                 {0, true, true},
		"-0":                                {0, true, true},
		"0e99999999999999999999":            {0, true, true},
		"0.000":                             {0, true, true},
		"12":                                {12, true, true},
		"-12.00":                            {-12, true, true},
		"1.2e1":                             {12, true, true},
		"120e-1":                            {12, true, true},
		"1.25e1":                            {0, false, false},
		"125e-1":                            {0, false, false},
		"1e18":                              {1e18, true, true},
		"9.223372036854775807e18":           {math.MaxInt64, true, true},
		"9.223372036854775808e18":           {0, false, true},
		"-9.223372036854775808e18":          {math.MinInt64, true, true},
		"-9.223372036854775809e18":          {0, false, true},
		"9223372036854775807.5":             {0, false, false},
		"10000000000000000000":              {0, false, true},
		"1e-99999999999999999999":           {0, false, false},
		"1e99999999999999999999":            {0, false, true},
		"0.0000000000000000000000000001e28": {1, true, true},
		"10000000000000000000000000000e-28": {1, true, true},
	}
	for number, tt := range tests {
		var n int64
		ok, err := readInteger([]byte(number), &n)
		if ok != tt.ok || (err == nil) != tt.integer || n != tt.n {
			t.Errorf("%s: %d, %v, %v; want %+v", number, n, ok, err, tt)
		}
	}
}

func FuzzDecode(f *testing.F) {
	seeds := 0
	for _, tt := range refusedBodies {
		f.Add([]byte(tt.body), uint8(fromREST))
		seeds++
	}
	f.Add([]byte(`{"type":"cancel","request_id":"r-1"}`), uint8(fromSocket))
	f.Add([]byte(`{"text":"₹1,250 kal tak","en_digits":true}`), uint8(fromNormalize))
	if seeds == 0 {
		f.Fatal("no seeds")
	}
	f.Fuzz(func(t *testing.T, body []byte, from uint8) {
		r, err := decode(body, source(from))
		if id := r.Utterance.RequestID; id != "" && !validRequestID(id) {
			t.Fatalf("request id %q", id)
		}
		if err != nil {
			wantCleanRefusal(t, err)
			return
		}
		if !json.Valid(body) || !utf8.Valid(body) {
			t.Fatalf("accepted %q", body)
		}
		if err := r.validate((&script{}).Model(), everyVoice); err != nil {
			wantCleanRefusal(t, err)
			return
		}
		text := r.Utterance.Text
		if text == "" || strings.TrimSpace(text) != text || utf8.RuneCountInString(text) > speech.MaxChars {
			t.Fatalf("accepted the text %q", text)
		}
		control := func(c rune) bool { return c < ' ' && c != '\t' && c != '\n' }
		if !utf8.ValidString(text) || strings.ContainsFunc(text, control) {
			t.Fatalf("accepted the characters of %q", text)
		}
	})
}

func wantCleanRefusal(t *testing.T, err error) {
	t.Helper()
	r, ok := errors.AsType[*speech.Refusal](err)
	if !ok {
		t.Fatalf("error = %v, want a refusal", err)
	}
	if r.Text == "" || r.Code == "" || !utf8.ValidString(r.Text) || len(r.Text) > 1000 {
		t.Fatalf("refusal %q with code %q", r.Text, r.Code)
	}
	if strings.ContainsFunc(r.Text, func(c rune) bool { return c == unicode.ReplacementChar }) &&
		!strings.Contains(r.Text, "voice") {
		t.Fatalf("refusal %q", r.Text)
	}
}

func BenchmarkDecode(b *testing.B) {
	body := []byte(`{"text":"Aapka order kal subah 10:30 baje tak deliver ho jayega, total ₹1,250 hai.","voice":"raj","format":"pcm16","seed":7}`)
	model := (&script{}).Model()
	b.ReportAllocs()
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		r, err := decode(body, fromREST)
		if err != nil {
			b.Fatal(err)
		}
		if err := r.validate(model, everyVoice); err != nil {
			b.Fatal(err)
		}
	}
}
