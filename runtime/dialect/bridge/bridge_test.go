package bridge

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/swar-tts/swar/runtime/dialect"
	"github.com/swar-tts/swar/runtime/speech"
)

// call is a request with a query to a server that writes every format.
func call(query string) dialect.Call {
	q, err := url.ParseQuery(query)
	if err != nil {
		panic(err)
	}
	return dialect.Call{
		Query: q, Header: func(string) string { return "" }, Allows: func(string) bool { return true },
		Model:   speech.Model{Voices: []speech.Voice{{Name: "anjura"}, {Name: "raj"}}},
		Encodes: func(dialect.Audio) bool { return true },
	}
}

func dial(t testing.TB, of, query string) dialect.Socket {
	t.Helper()
	for _, r := range New("").Routes {
		if r.Path == "/v1/bridge/"+of {
			s, err := r.Socket(call(query))
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
	}
	t.Fatalf("no path for %s", of)
	return nil
}

func said(text string) dialect.Message { return dialect.Message{Data: []byte(text)} }

// spoken checks that actions speak a text by a voice, and returns the order.
func spoken(t *testing.T, got []dialect.Action, voice, text string) dialect.Order {
	t.Helper()
	if len(got) != 3 {
		t.Fatalf("%+v", got)
	}
	begin, _ := got[0].(dialect.Begin)
	want := []dialect.Action{begin, dialect.Append{Text: text}, dialect.Finish{}}
	if !reflect.DeepEqual(got, want) || begin.Order.Utterance.Voice != voice || begin.Feed.Pace != 2*time.Second {
		t.Errorf("%+v, want %q by %s", got, text, voice)
	}
	return begin.Order
}

// sent are messages of a platform as it reads them.
func sent(t *testing.T, all []dialect.Action) (messages []map[string]any, end *dialect.Close) {
	t.Helper()
	for i, a := range all {
		switch a := a.(type) {
		case dialect.Message:
			var m map[string]any
			if err := json.Unmarshal(a.Data, &m); err != nil || a.Binary {
				t.Fatalf("%s: %v", a.Data, err)
			}
			messages = append(messages, m)
		case dialect.Close:
			if i < len(all)-1 {
				t.Fatalf("%+v follows the end", all[i+1])
			}
			end = &a
		}
	}
	return messages, end
}

func payload(t *testing.T, m map[string]any) []byte {
	t.Helper()
	media, _ := m["media"].(map[string]any)
	text, _ := media["payload"].(string)
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	delete(media, "payload")
	return data
}

func samples(n int) (all []byte) {
	for i := range n {
		all = append(all, byte(i%200))
	}
	return all
}

// TestTwilio is a call as Twilio's documentation has it.
func TestTwilio(t *testing.T) {
	s := dial(t, "twilio", "text=of+the+URL&voice=raj")
	if got := s.Read(said(`{"event":"connected","protocol":"Call","version":"1.0.0"}`)); got != nil {
		t.Errorf("connected: %+v", got)
	}
	got := s.Read(said(`{"event":"start","sequenceNumber":"1","start":{"accountSid":"AC1","streamSid":"MZ1","callSid":"CA1","tracks":["inbound"],` +
		`"mediaFormat":{"encoding":"audio/x-mulaw","sampleRate":8000,"channels":1},"customParameters":{"text":" Aapka order kal aayega. "}},"streamSid":"MZ1"}`))
	o := spoken(t, got, "raj", "Aapka order kal aayega.")
	if a := o.Audio; a.Encoding != dialect.MuLaw || a.Rate != 8000 || a.Container != dialect.Raw ||
		o.Word != "mulaw/8000" {
		t.Errorf("%+v", o)
	}
	if got := s.Read(said(`{"event":"media","sequenceNumber":"3","media":{"track":"inbound","chunk":"1","timestamp":"5","payload":"fn5+"},"streamSid":"MZ1"}`)); got != nil {
		t.Errorf("sound of the call: %+v", got)
	}
	if got := s.Read(said(`{"event":"dtmf","streamSid":"MZ1","dtmf":{"track":"inbound_track","digit":"5"}}`)); !reflect.DeepEqual(got, []dialect.Action{dialect.Note{Text: "dtmf", Value: "5"}}) {
		t.Errorf("a key: %+v", got)
	}
	if got := s.Read(said(`{"event":"start","start":{"streamSid":"MZ2"}}`)); got != nil {
		t.Errorf("a second start: %+v", got)
	}

	all := append(s.Write("", dialect.Sound{Data: samples(100)}), s.Write("", dialect.Sound{Data: samples(400)})...)
	all = append(all, s.Write("", dialect.Ended{})...)
	messages, end := sent(t, all)
	if len(messages) != 5 {
		t.Fatalf("%d messages, want 4 frames and a mark", len(messages))
	}
	var heard []byte
	for _, m := range messages[:4] {
		frame := payload(t, m)
		heard = append(heard, frame...)
		if len(frame) != 160 || m["event"] != "media" || m["streamSid"] != "MZ1" {
			t.Errorf("%v with %d bytes", m, len(frame))
		}
	}
	want := append(append(samples(100), samples(400)...), bytes.Repeat([]byte{0xFF}, 140)...)
	if !bytes.Equal(heard, want) {
		t.Errorf("heard is %v", heard)
	}
	if want := map[string]any{"event": "mark", "streamSid": "MZ1",
		"mark": map[string]any{"name": endMark}}; !reflect.DeepEqual(messages[4], want) {
		t.Errorf("%v, want %v", messages[4], want)
	}
	if end == nil || *end != (dialect.Close{Code: 1000, After: 5*time.Second + 80*time.Millisecond}) {
		t.Errorf("the end is %+v", end)
	}
	if got := s.Read(said(`{"event":"mark","streamSid":"MZ1","mark":{"name":"another"}}`)); got != nil {
		t.Errorf("another mark: %+v", got)
	}
	if got := s.Read(said(`{"event":"mark","streamSid":"MZ1","mark":{"name":"swar-end"}}`)); !reflect.DeepEqual(got,
		[]dialect.Action{dialect.Close{Code: 1000}}) {
		t.Errorf("our mark: %+v", got)
	}
	if got := s.Read(said(`{"event":"stop","stop":{"callSid":"CA1"}}`)); !reflect.DeepEqual(got,
		[]dialect.Action{dialect.Close{Code: 1000}}) {
		t.Errorf("stop: %+v", got)
	}
}

// TestPlivo has Plivo's names for the same, and no parameters but what extraHeaders takes.
func TestPlivo(t *testing.T) {
	s := dial(t, "plivo", "text=Namaste+ji.")
	got := s.Read(said(`{"sequenceNumber":1,"event":"start","start":{"callId":"c","streamId":"s1","accountId":"MA","tracks":["inbound"],` +
		`"mediaFormat":{"encoding":"audio/x-mulaw","sampleRate":8000}},"extra_headers":"userId=12;voice=raj"}`))
	spoken(t, got, "raj", "Namaste ji.")
	messages, end := sent(t, append(s.Write("", dialect.Sound{Data: samples(160)}), s.Write("", dialect.Ended{})...))
	if len(messages) != 2 || end == nil {
		t.Fatalf("%v", messages)
	}
	if frame := payload(t, messages[0]); !bytes.Equal(frame, samples(160)) {
		t.Errorf("%v", frame)
	}
	for i, want := range []map[string]any{
		{"event": "playAudio", "media": map[string]any{"contentType": "audio/x-mulaw", "sampleRate": 8000.0}},
		{"event": "checkpoint", "streamId": "s1", "name": endMark},
	} {
		if !reflect.DeepEqual(messages[i], want) {
			t.Errorf("%v, want %v", messages[i], want)
		}
	}
	if got := s.Read(said(`{"event":"playedStream","streamId":"s1","name":"swar-end"}`)); !reflect.DeepEqual(got,
		[]dialect.Action{dialect.Close{Code: 1000}}) {
		t.Errorf("played: %+v", got)
	}
}

// TestExotel numbers its messages, and says when their audio begins.
func TestExotel(t *testing.T) {
	s := dial(t, "exotel", "sample-rate=16000")
	got := s.Read(said(`{"event":"start","sequence_number":"1","stream_sid":"x1","start":{"stream_sid":"x1","call_sid":"c","custom_parameters":` +
		`{"text":"Namaste","voice":"RAJ","n":1},"media_format":{"encoding":"base64","sample_rate":"16000","bit_rate":"256kbps"}}}`))
	o := spoken(t, got, "raj", "Namaste")
	if o.Audio.Rate != 16000 || o.Audio.Encoding != dialect.S16 || o.Word != "pcm/16000" {
		t.Errorf("%+v", o)
	}
	messages, end := sent(t, append(s.Write("", dialect.Sound{Data: samples(6400 + 1)}),
		s.Write("", dialect.Ended{})...))
	if len(messages) != 4 {
		t.Fatalf("%v", messages)
	}
	var heard []byte
	for i, m := range messages[:3] {
		heard = append(heard, payload(t, m)...)
		want := map[string]any{
			"event": "media", "stream_sid": "x1", "sequence_number": float64(i + 1),
			"media": map[string]any{"chunk": float64(i + 1), "timestamp": fmt.Sprint(100 * i)},
		}
		if !reflect.DeepEqual(m, want) {
			t.Errorf("%v, want %v", m, want)
		}
	}
	if want := append(samples(6401), make([]byte, 3199)...); !bytes.Equal(heard, want) {
		t.Errorf("%d bytes are heard, want %d", len(heard), len(want))
	}
	if want := map[string]any{"event": "mark", "stream_sid": "x1", "sequence_number": 4.0,
		"mark": map[string]any{"name": endMark}}; !reflect.DeepEqual(messages[3], want) {
		t.Errorf("%v, want %v", messages[3], want)
	}
	if end == nil || end.After != 5*time.Second+300*time.Millisecond {
		t.Errorf("%+v", end)
	}
}

// TestTheEndOfALongText: at most two seconds of it are still to be heard.
func TestTheEndOfALongText(t *testing.T) {
	for bytes, want := range map[int]time.Duration{0: 5 * time.Second, 15999: 7 * time.Second, 16000: 7 * time.Second,
		80000: 7 * time.Second} {
		s := dial(t, "twilio", "text=Hi")
		s.Read(said(`{"event":"start"}`))
		if bytes > 0 {
			s.Write("", dialect.Sound{Data: samples(bytes)})
		}
		messages, end := sent(t, s.Write("", dialect.Ended{}))
		if end == nil || end.After != want || len(messages) == 0 {
			t.Errorf("%d bytes: %v, %+v", bytes, messages, end)
		}
	}
}

func TestFailuresHangUp(t *testing.T) {
	for status, code := range map[int]int{500: 1011, 504: 1011, 503: 1013, 413: 1008, 403: 1008} {
		s := dial(t, "twilio", "text=Hi")
		text := strings.Repeat("क", 100)
		got := s.Write("", dialect.Failed{Fault: dialect.Fault{Status: status, Text: text}})
		end, _ := got[0].(dialect.Close)
		if len(got) != 1 || end.Code != code || len(end.Reason) > 123 || len(end.Reason) < 120 ||
			!utf8.ValidString(end.Reason) {
			t.Errorf("%d: %+v", status, got)
		}
	}
}

func TestWhatIsRefused(t *testing.T) {
	long := strings.Repeat("a", 4001)
	for name, tt := range map[string]struct {
		of, query string
		code      speech.Code
	}{
		"an unknown voice": {"twilio", "voice=kaun&text=Hi", speech.CodeUnknownVoice},
		"a NUL":            {"plivo", "text=a%00", speech.CodeBadText},
		"4001 letters":     {"plivo", "text=" + long, speech.CodeTextTooLong},
		"a rate":           {"exotel", "text=Hi&sample-rate=44100", speech.CodeBadSampleRate},
	} {
		for _, r := range New("").Routes {
			if !strings.HasSuffix(r.Path, tt.of) {
				continue
			}
			_, err := r.Socket(call(tt.query))
			if refusal, ok := errors.AsType[*speech.Refusal](err); !ok || refusal.Code != tt.code {
				t.Errorf("%s: %v, want %s", name, err, tt.code)
			}
		}
	}
	for name, start := range map[string]string{
		"no text":          `{"event":"start"}`,
		"white space":      `{"event":"start","start":{"customParameters":{"text":" "}}}`,
		"a text of 1":      `{"event":"start","start":{"customParameters":{"text":1}}}`,
		"an unknown voice": `{"event":"start","start":{"customParameters":{"text":"Hi","voice":"kaun"}}}`,
		"4001 letters":     `{"event":"start","start":{"customParameters":{"text":"` + long + `"}}}`,
	} {
		got := dial(t, "twilio", "").Read(said(start))
		if len(got) != 2 {
			t.Errorf("%s: %+v", name, got)
			continue
		}
		rejected, _ := got[0].(dialect.Reject)
		end, _ := got[1].(dialect.Close)
		if rejected.Err == nil || end.Code != 1008 || end.Reason == "" {
			t.Errorf("%s: %+v", name, got)
		}
	}
	for name, m := range map[string]dialect.Message{
		"binary": {Binary: true, Data: []byte("{}")}, "half of JSON": said(`{"event":`), "a list": said(`[]`), "nothing": said(``),
	} {
		got := dial(t, "twilio", "").Read(m)
		if len(got) != 1 || got[0].(dialect.Reject).Err == nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// TestSignatures has the example of Twilio's documentation, and what a proxy may have changed.
func TestSignatures(t *testing.T) {
	const token = "12345"
	for name, tt := range map[string]struct {
		signed, host, target string
		ok                   bool
	}{
		"as it is":        {"wss://tts.example.com/v1/bridge/twilio", "tts.example.com", "/v1/bridge/twilio", true},
		"https":           {"https://tts.example.com/v1/bridge/twilio", "tts.example.com", "/v1/bridge/twilio", true},
		"a port":          {"wss://tts.example.com:8443/v1/bridge/twilio", "tts.example.com:8443", "/v1/bridge/twilio", true},
		"a port unsigned": {"wss://tts.example.com/v1/bridge/twilio", "tts.example.com:8443", "/v1/bridge/twilio", true},
		"a port unsaid":   {"wss://tts.example.com:443/v1/bridge/twilio", "tts.example.com", "/v1/bridge/twilio", true},
		"a query":         {"wss://tts.example.com/v1/bridge/twilio?voice=raj", "tts.example.com", "/v1/bridge/twilio?voice=raj", true},
		"another query":   {"wss://tts.example.com/v1/bridge/twilio", "tts.example.com", "/v1/bridge/twilio?voice=raj", false},
		"another host":    {"wss://tts.example.com/v1/bridge/twilio", "example.com", "/v1/bridge/twilio", false},
		"nothing":         {"", "tts.example.com", "/v1/bridge/twilio", false},
	} {
		signature := ""
		if tt.signed != "" {
			signature = base64.StdEncoding.EncodeToString(sign(tt.signed, token))
		}
		c := call("text=Hi")
		c.Host, c.Target = tt.host, tt.target
		c.Header = func(name string) string { return map[string]string{"X-Twilio-Signature": signature}[name] }
		for of, wantOK := range map[string]bool{token: tt.ok, "": true, "another": false} {
			_, err := New(of).Routes[0].Socket(c)
			if (err == nil) != wantOK {
				t.Errorf("%s with the token %q: %v", name, of, err)
			}
			if refusal, ok := errors.AsType[*speech.Refusal](err); err != nil &&
				(!ok || refusal.Code != dialect.CodeForbidden) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	const documented = "https://mycompany.com/myapp.php?foo=1&bar=2CallSidCA1234567890ABCDECaller+14158675309Digits1234From+14158675309To+18005551212"
	if got := base64.StdEncoding.EncodeToString(sign(documented, token)); got != "RSOYDt4T1cUTdK1PDd93/VVr8B8=" {
		t.Errorf("the example of the documentation is signed as %s", got)
	}
}

// FuzzBridge: whatever platforms send, a text is spoken once at most, and all that is sent is JSON.
func FuzzBridge(f *testing.F) {
	f.Add(uint8(0), `{"event":"start","start":{"streamSid":"\ud800","customParameters":{"text":"Hi"}}}`+"\n"+`{"event":"dtmf","dtmf":{"digit":"77"}}`)
	f.Add(uint8(1), `{"event":"start","extra_headers":"a=b;voice=raj,text=Hi=x"}`+"\n"+`{"event":"playedStream","name":"swar-end"}`)
	f.Add(uint8(2), `{"event":"start","stream_sid":{},"start":[]}`+"\n"+`{"event":1}`+"\n{")
	platforms := []string{"twilio", "plivo", "exotel"}
	f.Fuzz(func(t *testing.T, of uint8, messages string) {
		s := dial(t, platforms[int(of)%3], "text=Hi")
		kinds := map[string]int{}
		for m := range strings.SplitSeq(messages, "\n") {
			for _, a := range s.Read(said(m)) {
				kinds[fmt.Sprintf("%T", a)]++
				if end, ok := a.(dialect.Close); ok && (len(end.Reason) > 123 || !utf8.ValidString(end.Reason)) {
					t.Fatalf("%+v", end)
				}
			}
		}
		if kinds["dialect.Begin"] > 1 || kinds["dialect.Append"] != kinds["dialect.Begin"] {
			t.Fatalf("%v", maps.Clone(kinds))
		}
		all := append(s.Write("", dialect.Sound{Data: samples(5000)}), s.Write("", dialect.Ended{})...)
		sent(t, all)
	})
}
