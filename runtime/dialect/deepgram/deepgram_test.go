package deepgram

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/swar-tts/swar/runtime/dialect"
	"github.com/swar-tts/swar/runtime/speech"
)

// call is a request with a query to a server that writes everything but what lacks says. Its key may use anjura and
// raj.
func call(query, body string, lacks ...dialect.Container) dialect.Call {
	values, err := url.ParseQuery(query)
	if err != nil {
		panic(err)
	}
	return dialect.Call{
		RequestID: "req_1", Body: []byte(body), Query: values,
		Var: func(string) string { return "raj" }, Header: func(string) string { return "" },
		Allows: func(voice string) bool { return voice != "kavi" },
		Model: speech.Model{ID: "m1", Voices: []speech.Voice{
			{Name: "anjura", Language: "hi-IN+en-IN"}, {Name: "raj", Language: "hi-IN+en-IN"}, {Name: "kavi", Language: "hi-IN"},
		}},
		Encodes: func(a dialect.Audio) bool {
			for _, c := range lacks {
				if a.Container == c {
					return false
				}
			}
			return true
		},
	}
}

// show writes actions as lines: what is sent as it is, what is asked of the server as words.
func show(actions []dialect.Action) string {
	var all []string
	for _, a := range actions {
		switch a := a.(type) {
		case dialect.Begin:
			all = append(all, fmt.Sprintf("begin %s %s %g", a.Order.Utterance.Voice, a.Order.Word, a.Order.Audio.Speed))
		case dialect.Message:
			if a.Binary {
				all = append(all, fmt.Sprintf("%d bytes", len(a.Data)))
			} else {
				all = append(all, string(a.Data))
			}
		case dialect.Append:
			all = append(all, "append "+a.Text)
		case dialect.Flush:
			all = append(all, "flush")
		case dialect.Cancel:
			all = append(all, "cancel")
		case dialect.Reject:
			all = append(all, "reject "+a.Err.Error())
		case dialect.Close:
			all = append(all, fmt.Sprintf("close %d %s drain=%v", a.Code, a.Reason, a.Drain))
		default:
			all = append(all, fmt.Sprintf("%#v", a))
		}
	}
	return strings.Join(all, "\n")
}

// TestTranscripts replays what real clients of November 2026 have sent, with what is spoken in between.
func TestTranscripts(t *testing.T) {
	const meta = `{"type":"Metadata","request_id":"req_1","model_name":"%s","model_version":"m1","model_uuid":"%s"}`
	anjura, raj := fmt.Sprintf(meta, "anjura", uuid("anjura")), fmt.Sprintf(meta, "raj", uuid("raj"))
	audio := dialect.Sound{Data: make([]byte, 3840), Frames: 1}
	fault := func(code string, status int) dialect.Failed {
		return dialect.Failed{Fault: dialect.Fault{Code: code, Status: status, Text: "text"}}
	}
	type step struct {
		in   any // a message of the client, or an event
		want string
	}
	for name, tt := range map[string]struct {
		query, opens string
		steps        []step
	}{
		"npm 5.13.0": {"model=anjura&encoding=mulaw&sample_rate=8000", "begin anjura mulaw/8000 1\n" + anjura, []step{
			{`{"type":"Speak","text":"Namaste! Aapka OTP 482913 hai. कल मिलेंगे।"}`, "append Namaste! Aapka OTP 482913 hai. कल मिलेंगे।"},
			{`{"type":"Flush"}`, "flush"},
			{audio, "3840 bytes"},
			{dialect.Flushed{}, `{"type":"Flushed","sequence_id":0}`},
		}},
		"PyPI 7.16.0, letter by letter": {"encoding=linear16&model=anjura&sample_rate=24000", "begin anjura linear16/24000 1\n" + anjura, []step{
			{`{"type": "Speak", "text": "\u0928\u092e"}`, "append नम"},
			{`{"type": "Speak", "text": "\u0938"}`, "append स"},
			{`{"type": "Speak", "text": "\u094d"}`, "append \u094d"},
			{`{"type": "Flush"}`, "flush"},
			{`{"type": "Close"}`, "close 1000  drain=true"},
			{dialect.Started{}, ""},
			{audio, "3840 bytes"},
			{dialect.Words{}, ""},
			{dialect.Flushed{}, `{"type":"Flushed","sequence_id":0}`},
			{dialect.Ended{}, ""},
		}},
		"LiveKit Node, which flushes twice": {
			"sample_rate=24000&model=aura-2-orion-en&encoding=linear16&mip_opt_out=false", "begin raj linear16/24000 1\n" + raj, []step{
				{`{"type":"Speak","text":"Namaste! "}`, "append Namaste! "},
				{`{"type":"Flush"}`, "flush"},
				{`{"type":"Flush"}`, "flush"},
				{dialect.Flushed{}, `{"type":"Flushed","sequence_id":0}`},
				{dialect.Flushed{}, `{"type":"Flushed","sequence_id":1}`},
			},
		},
		"Pipecat, interrupted": {"model=anjura&encoding=linear16&sample_rate=24000&speed=1.2", "begin anjura linear16/24000 1.2\n" + anjura, []step{
			{`{"type": "Speak", "text": "Aapka order kal tak deliver ho jayega. "}`, "append Aapka order kal tak deliver ho jayega. "},
			{`{"type": "Clear"}`, "cancel"},
			{dialect.Cancelled{}, `{"type":"Cleared","sequence_id":0}`},
			{`{"type": "Clear"}`, "cancel"},
			{dialect.Cancelled{}, `{"type":"Cleared","sequence_id":1}`},
		}},
		"hostile": {"", "begin anjura linear16/24000 1\n" + anjura, []step{
			{`[]`, "reject invalid JSON: expected an object"},
			{`{"type":"Speak","text":"x"`, "reject invalid JSON: unexpected end"},
			{`{"type":"Speak"}`, "reject text: required"},
			{`{"type":"Speak","text":null}`, "reject text: required"},
			{`{"type":"Speak","text":7}`, "reject invalid JSON: text: must be a string"},
			{`{"type":"Speak","text":"\ud83d"}`, "reject invalid JSON: text: not valid UTF-8"},
			{`{"type":"Speak","text":"a\u0000"}`, "reject text: must not contain NUL"},
			{`{"type":"speak","text":"x"}`, "reject type must be Speak, Flush, Clear or Close"},
			{`{}`, "reject type must be Speak, Flush, Clear or Close"},
			{dialect.Message{Binary: true, Data: []byte(`{"type":"Flush"}`)}, "reject expected a JSON text message"},
			{
				dialect.Rejected{Fault: dialect.Fault{Code: "bad_request", Text: "x"}},
				`{"type":"Warning","description":"x","warn_msg":"x","code":"INVALID_MESSAGE"}`,
			},
			{
				dialect.Rejected{Fault: dialect.Fault{Code: "text_too_long", Text: "x"}},
				`{"type":"Warning","description":"x","warn_msg":"x","code":"TEXT_LENGTH_EXCEEDED"}`,
			},
		}},
		"failures": {"", "begin anjura linear16/24000 1\n" + anjura, []step{
			{fault("busy", 503), "{\"type\":\"Error\",\"description\":\"text\",\"code\":\"TOO_MANY_REQUESTS\"}\nclose 1013 TOO_MANY_REQUESTS drain=false"},
			{fault("engine_error", 500), "{\"type\":\"Error\",\"description\":\"text\",\"code\":\"INTERNAL_SERVER_ERROR\"}\nclose 1011 INTERNAL_SERVER_ERROR drain=false"},
			{
				dialect.Failed{Fault: dialect.Fault{Code: "engine_error", Status: 500, Text: "exit \xff"}},
				"{\"type\":\"Error\",\"description\":\"exit \ufffd\",\"code\":\"INTERNAL_SERVER_ERROR\"}\nclose 1011 INTERNAL_SERVER_ERROR drain=false",
			},
			{fault("invalid_key", 401), "{\"type\":\"Error\",\"description\":\"text\",\"code\":\"INVALID_AUTH\"}\nclose 1008 INVALID_AUTH drain=false"},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := open(call(tt.query, ""))
			if err != nil {
				t.Fatal(err)
			}
			if got := show(s.Open()); got != tt.opens {
				t.Errorf("it opens with\n%s\nwant\n%s", got, tt.opens)
			}
			for i, step := range tt.steps {
				var got string
				switch in := step.in.(type) {
				case string:
					got = show(s.Read(dialect.Message{Data: []byte(in)}))
				case dialect.Message:
					got = show(s.Read(in))
				case dialect.Event:
					got = show(s.Write("", in))
				}
				if got != step.want {
					t.Errorf("step %d, %v:\n got %s\nwant %s", i, step.in, got, step.want)
				}
			}
		})
	}
}

func TestTextsAreLimited(t *testing.T) {
	s, err := open(call("", ""))
	if err != nil {
		t.Fatal(err)
	}
	for chars, want := range map[int]error{1: nil, 1999: nil, 2000: nil, 2001: speech.ErrTextTooLong} {
		for _, letter := range []string{"a", "क", "😀"} {
			text := strings.Repeat(letter, chars)
			got := show(s.Read(dialect.Message{Data: []byte(`{"type":"Speak","text":"` + text + `"}`)}))
			if isRejected := strings.HasPrefix(got, "reject text longer than 2000"); isRejected != (want != nil) ||
				!isRejected && got != "append "+text {
				t.Errorf("%d of %s: %.80s", chars, letter, got)
			}
			if _, err := readSpeech(call("", `{"text":"`+text+`"}`)); want == nil && err != nil ||
				want != nil && !errors.Is(err, want) {
				t.Errorf("a request with %d of %s: %v, want %v", chars, letter, err, want)
			}
		}
	}
}

func TestFormats(t *testing.T) {
	for _, tt := range []struct {
		query    string
		word     string // on POST, "" if it is refused
		audio    dialect.Audio
		onSocket string // the word there
	}{
		{"", "mp3/22050", dialect.Audio{Container: "mp3", Rate: 22050, BitRate: 48000, Speed: 1, ContentType: "audio/mpeg"}, "linear16/24000"},
		{"encoding=mp3&bit_rate=32000", "mp3/22050", dialect.Audio{Container: "mp3", Rate: 22050, BitRate: 32000, Speed: 1, ContentType: "audio/mpeg"}, ""},
		{"encoding=mp3&bit_rate=64000", "", dialect.Audio{}, ""},
		{"encoding=mp3&container=wav", "", dialect.Audio{}, ""},
		{"encoding=linear16", "linear16/24000", dialect.Audio{Container: "wav", Encoding: "s16le", Rate: 24000, Speed: 1, ContentType: "audio/wav"}, "linear16/24000"},
		{
			"encoding=linear16&container=none&sample_rate=16000", "linear16/16000",
			dialect.Audio{Container: "raw", Encoding: "s16le", Rate: 16000, Speed: 1,
				ContentType: "audio/l16;rate=16000;channels=1"}, "linear16/16000",
		},
		{"encoding=mulaw&container=none", "mulaw/8000", dialect.Audio{Container: "raw", Encoding: "mulaw", Rate: 8000, Speed: 1, ContentType: "audio/mulaw"}, "mulaw/8000"},
		{"encoding=alaw&sample_rate=16000&speed=1.5", "alaw/16000", dialect.Audio{Container: "wav", Encoding: "alaw", Rate: 16000, Speed: 1.5, ContentType: "audio/wav"}, "alaw/16000"},
		{"encoding=opus", "opus/24000", dialect.Audio{Container: "ogg", Rate: 24000, BitRate: 48000, Speed: 1, ContentType: "audio/ogg"}, ""},
		{"encoding=opus&container=ogg&bit_rate=192000", "opus/24000", dialect.Audio{Container: "ogg", Rate: 24000, BitRate: 192000, Speed: 1, ContentType: "audio/ogg"}, ""},
		{"encoding=opus&bit_rate=192001", "", dialect.Audio{}, ""},
		{"encoding=opus&bit_rate=31999", "", dialect.Audio{}, ""},
		{"encoding=flac&sample_rate=48000", "flac/48000", dialect.Audio{Container: "flac", Rate: 48000, Speed: 1, ContentType: "audio/flac"}, ""},
		{"encoding=aac", "", dialect.Audio{}, ""},
		{"encoding=linear16&sample_rate=11025", "", dialect.Audio{}, ""},
		{"encoding=linear16&sample_rate=x", "", dialect.Audio{}, ""},
		{"encoding=linear16&sample_rate=16000.5", "", dialect.Audio{}, ""},
		{"encoding=mulaw&sample_rate=8000.0&container=none", "mulaw/8000", dialect.Audio{Container: "raw", Encoding: "mulaw", Rate: 8000, Speed: 1, ContentType: "audio/mulaw"}, "mulaw/8000"},
		{"encoding=linear16&container=ogg", "", dialect.Audio{}, ""},
		{"encoding=linear16&speed=0.69", "", dialect.Audio{}, ""},
		{"encoding=linear16&speed=1.51", "", dialect.Audio{}, ""},
		{"encoding=linear16&speed=NaN", "", dialect.Audio{}, ""},
		{"model=kaun", "", dialect.Audio{}, ""},
		{"model=kavi", "", dialect.Audio{}, ""}, // which this key may not use
		{"callback=http://x", "", dialect.Audio{}, ""},
	} {
		o, err := readSpeech(call(tt.query, `{"text":"Hi"}`))
		if (err == nil) != (tt.word != "") || err == nil && (o.Word != tt.word || o.Audio != tt.audio) {
			t.Errorf("%s: %s %+v, %v; want %s %+v", tt.query, o.Word, o.Audio, err, tt.word, tt.audio)
		}
		s, err := open(call(tt.query, ""))
		word := ""
		if err == nil {
			word = s.(*socket).order.Word
		}
		if word != tt.onSocket {
			t.Errorf("%s on a socket: %q, %v; want %q", tt.query, word, err, tt.onSocket)
		}
	}
	if _, err := open(call("encoding=linear16&container=wav", "")); err == nil {
		t.Error("a socket takes a container")
	}
	o, err := readSpeech(call("bit_rate=48000&tag=a&mip_opt_out=true", `{"text":"Hi"}`, dialect.MP3))
	if err != nil || o.Word != "linear16/24000" || o.Audio.ContentType != "audio/wav" ||
		o.Headers["X-Ignored"] != "mip_opt_out, tag" {
		t.Errorf("without mp3: %+v, %v", o, err)
	}
	if _, err := readSpeech(call("encoding=mp3", `{"text":"Hi"}`, dialect.MP3)); err == nil {
		t.Error("mp3 is not refused where it cannot be written")
	}
}

func TestRequests(t *testing.T) {
	for body, want := range map[string]string{
		`{"text":" Namaste "}`:           "Namaste",
		`{"text":"Namaste","url":null}`:  "Namaste",
		`{"url":"https://x"}`:            "! url is not supported; send the text itself",
		`{"text":"x","url":"https://x"}`: "! url is not supported; send the text itself",
		`{}`:                             "! text: required",
		`{"text":" "}`:                   "! text is empty",
		`{"text":7}`:                     "! invalid JSON: text: must be a string",
		`text`:                           "! invalid JSON: expected an object",
		`{"text":"Main \\{\"word\": \"dupilumab\", \"pronounce\": \"duːˈpɪljuːmæb\"\\} leta hoon."}`: "Main dupilumab leta hoon.",
	} {
		o, err := readSpeech(call("", body))
		got := o.Utterance.Text
		if err != nil {
			got = "! " + err.Error()
		}
		if got != want {
			t.Errorf("%s: %q, want %q", body, got, want)
		}
		if err == nil && (o.Headers["Dg-Request-Id"] != "req_1" || o.Headers["Dg-Model-Name"] != "anjura" ||
			o.Headers["Dg-Char-Count"] == "0") {
			t.Errorf("%s: the headers are %v", body, o.Headers)
		}
	}
}

func TestPronunciationsAreDropped(t *testing.T) {
	for text, want := range map[string]string{
		`a \{"word": "X", "pronounce": "ks"\} b \{"word":"Y","pronounce":"y"\}`: "a X b Y",
		`\{"word": "X"\}`:       "X",
		`\{"pronounce": "ks"\}`: `\{"pronounce": "ks"\}`,
		`\{ x \} y \{`:          `\{ x \} y \{`,
		`{"word": "X"}`:         `{"word": "X"}`,
		``:                      ``,
	} {
		if got := spoken(text); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

func TestModels(t *testing.T) {
	list, err := listModels(call("", ""))
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(list)
	want := `{"stt":[],"tts":[{"name":"anjura","canonical_name":"anjura","architecture":"swar","languages":["hi-IN","en-IN"],` +
		`"version":"m1","uuid":"` + uuid("anjura") + `","metadata":{"sample":"/samples/anjura.wav","tags":[]}},{"name":"raj",`
	if err != nil || !strings.HasPrefix(string(text), want) || strings.Contains(string(text), "kavi") {
		t.Errorf("%s, want %s", text, want)
	}
	if m, err := oneModel(call("", "")); err != nil || m.(model).Name != "raj" {
		t.Errorf("one model: %v, %v", m, err)
	}
	c := call("", "")
	c.Var = func(string) string { return "nova-2" }
	if _, err := oneModel(c); err == nil {
		t.Error("an unknown model is found")
	}
}

// FuzzSocket: whatever a client sends becomes actions that the server can carry out, and what is appended is text.
func FuzzSocket(f *testing.F) {
	for _, m := range []string{
		`{"type":"Speak","text":"Namaste \\{\"word\":\"x\"\\}"}`, `{"type":"Flush"}`, `{"type":"Clear"}`, `{"type":"Close"}`, `{"type":{}}`, "\xef\xbb\xbf{}",
		`{"type":"Speak","text":"\ud800"}`, "\x00", `{"text":"x","type":"Speak","type":"Flush"}`,
	} {
		f.Add([]byte(m))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := open(call("", ""))
		if err != nil {
			t.Fatal(err)
		}
		actions := s.Read(dialect.Message{Data: data})
		if len(actions) != 1 {
			t.Fatalf("%q has %d actions", data, len(actions))
		}
		switch a := actions[0].(type) {
		case dialect.Append:
			if !utf8.ValidString(a.Text) || strings.Contains(a.Text, "\x00") ||
				utf8.RuneCountInString(a.Text) > maxText {
				t.Fatalf("%q appends %q", data, a.Text)
			}
		case dialect.Reject:
			if _, ok := errors.AsType[*speech.Refusal](a.Err); !ok || a.Err.Error() == "" {
				t.Fatalf("%q is rejected with %v", data, a.Err)
			}
		case dialect.Flush, dialect.Cancel, dialect.Close:
		default:
			t.Fatalf("%q becomes %#v", data, a)
		}
	})
}

// FuzzSpeech: whatever is sent is refused, or is an order that can be spoken.
func FuzzSpeech(f *testing.F) {
	f.Add("encoding=mp3&model=aura-asteria-en", []byte(`{"text":"Namaste"}`))
	f.Add("speed=1e0&sample_rate=08000&encoding=opus&bit_rate=+48000", []byte(`{"text":"\\{\"word\":\"\u0000\"\\}"}`))
	f.Fuzz(func(t *testing.T, query string, body []byte) {
		values, err := url.ParseQuery(query)
		if err != nil {
			return
		}
		c := call("", string(body))
		c.Query = values
		o, err := readSpeech(c)
		if err != nil {
			return
		}
		u, a := o.Utterance, o.Audio
		if !utf8.ValidString(u.Text) || u.Voice == "" || a.ContentType == "" ||
			!(a.Speed >= minSpeed && a.Speed <= maxSpeed) || a.Rate < 8000 || a.Rate > 48000 {
			t.Fatalf("the order is %+v", o)
		}
		for name, value := range o.Headers {
			for i := range len(value) {
				if value[i] < ' ' || value[i] > '~' {
					t.Fatalf("the header %s is %q", name, value)
				}
			}
		}
	})
}
