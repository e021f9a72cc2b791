package stream

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/swar-tts/swar/runtime/dialect"
	"github.com/swar-tts/swar/runtime/dialect/elevenlabs/internal/elevenlabstest"
	"github.com/swar-tts/swar/runtime/speech"
)

// show writes actions in short.
func show(actions []dialect.Action) string {
	var all []string
	for _, a := range actions {
		switch a := a.(type) {
		case dialect.Begin:
			all = append(all, fmt.Sprintf("begin %s x%g", a.Context, a.Order.Audio.Speed))
		case dialect.Append:
			all = append(all, fmt.Sprintf("append %s %q", a.Context, a.Text))
		case dialect.Flush:
			all = append(all, "flush "+a.Context)
		case dialect.Finish:
			all = append(all, "finish "+a.Context)
		case dialect.Cancel:
			all = append(all, "cancel "+a.Context)
		case dialect.Reject:
			all = append(all, fmt.Sprintf("reject %s: %v", a.Context, a.Err))
		case dialect.Close:
			all = append(all, strings.TrimSpace(fmt.Sprintf("close %d %s", a.Code, a.Reason)))
			if a.Drain {
				all[len(all)-1] += " drained"
			}
		case dialect.Message:
			all = append(all, "send "+string(a.Data))
		}
	}
	return strings.Join(all, "; ")
}

// client is a message of a client, and what is to be done for it; event is something that happens to a context, and
// what is sent for it.
type (
	client struct{ sends, want string }
	event  struct {
		context string
		of      dialect.Event
		want    string
	}
)

func socketCall(query string) dialect.Call {
	c := elevenlabstest.Call("")
	c.Query, _ = url.ParseQuery(query)
	return c
}

func openFor(t testing.TB, multi bool, query string) dialect.Socket {
	t.Helper()
	s, err := openSocket(socketCall(query), multi)
	if err != nil {
		t.Fatal(err)
	}
	if sent := s.Open(); len(sent) != 0 {
		t.Errorf("the server speaks first: %s", show(sent))
	}
	return s
}

func replay(t *testing.T, s dialect.Socket, steps []any) {
	t.Helper()
	for i, step := range steps {
		got, want := "", ""
		switch step := step.(type) {
		case client:
			got, want = show(s.Read(dialect.Message{Data: []byte(step.sends)})), step.want
		case event:
			got, want = show(s.Write(step.context, step.of)), step.want
		}
		if got != want {
			t.Errorf("step %d, %v\n got %s\nwant %s", i, step, got, want)
		}
	}
}

const (
	liveKit = "model_id=swar-1&output_format=mp3_22050_32&enable_ssml_parsing=false&enable_logging=true&inactivity_timeout=180&" +
		"apply_text_normalization=auto&sync_alignment=true&auto_mode=true"
	pipecat = "model_id=eleven_flash_v2_5&output_format=pcm_24000&auto_mode=true"
)

func audioMessage(end string) string {
	return `send {"audio":"AQI=","isFinal":null,"alignment":null,"normalizedAlignment":null` + end + `}`
}

// TestTranscripts has what real clients send on multi-stream-input, and what they are answered.
func TestTranscripts(t *testing.T) {
	sound := dialect.Sound{Data: []byte{1, 2}, Frames: 1}
	for name, tt := range map[string]struct {
		query string
		steps []any
	}{
		"LiveKit": {liveKit, []any{
			client{`{"text": " ", "voice_settings": {}, "context_id": "467790bdd367"}`,
				`begin 467790bdd367 x1; append 467790bdd367 " "`},
			client{
				`{"text": "Namaste! Aapka OTP 482913 hai. ", "context_id": "467790bdd367", "flush": true}`,
				`append 467790bdd367 "Namaste! Aapka OTP 482913 hai. "; flush 467790bdd367`,
			},
			event{"467790bdd367", dialect.Started{}, ""},
			event{"467790bdd367", sound, audioMessage(`,"contextId":"467790bdd367"`)},
			event{"467790bdd367", dialect.Flushed{}, ""},
			client{`{"text": "", "context_id": "467790bdd367", "flush": true}`, `flush 467790bdd367`},
			client{`{"context_id": "467790bdd367", "close_context": true}`, `finish 467790bdd367`},
			client{`{"text": "late", "context_id": "467790bdd367", "flush": true}`, ``},
			event{"467790bdd367", sound, audioMessage(`,"contextId":"467790bdd367"`)},
			event{"467790bdd367", dialect.Ended{Frames: 1}, `send {"isFinal":true,"contextId":"467790bdd367"}`},
			client{`{"context_id": "467790bdd367", "close_context": true}`, ``},
			client{`{"close_socket": true}`, `close 1000 drained`},
		}},
		"LiveKit is interrupted": {liveKit, []any{
			client{`{"text": " ", "voice_settings": {}, "context_id": "a"}`, `begin a x1; append a " "`},
			client{`{"text": "Namaste! ", "context_id": "a", "flush": true}`, `append a "Namaste! "; flush a`},
			client{`{"context_id": "a", "close_context": true}`, `cancel a`},
			client{`{"context_id": "a", "close_context": true}`, ``},
			client{`{"text": "late", "context_id": "a"}`, ``},
			event{"a", dialect.Cancelled{}, `send {"isFinal":true,"contextId":"a"}`},
			client{`{"text": " ", "context_id": "a"}`, `begin a x1; append a " "`},
		}},
		"Pipecat": {pipecat, []any{
			client{`{"text": ""}`, ``},
			client{`{"text": " ", "context_id": "98238edd"}`, `begin 98238edd x1; append 98238edd " "`},
			client{`{"text": "Namaste!", "context_id": "98238edd"}`, `append 98238edd "Namaste!"; flush 98238edd`},
			client{`{"text": "\u0915\u0932", "context_id": "98238edd"}`, `append 98238edd "कल"; flush 98238edd`},
			client{`{"text": "", "context_id": "98238edd"}`, `append 98238edd ""`},
			client{`{"context_id": "98238edd", "flush": true}`, `flush 98238edd`},
			client{`{"context_id": "98238edd", "close_context": true}`, `finish 98238edd`},
			client{`{"context_id": "98238edd", "close_context": true}`, `cancel 98238edd`},
			client{`{"context_id": "98238edd", "close_context": true}`, ``},
			event{"98238edd", dialect.Cancelled{}, `send {"isFinal":true,"contextId":"98238edd"}`},
		}},
		"tokens without auto_mode": {"output_format=pcm_24000", []any{
			client{`{"text":"Aap","context_id":"a","voice_settings":{"speed":1.2,"stability":0.5}}`,
				`begin a x1.2; append a "Aap"`},
			client{`{"text":"ka ","context_id":"a","voice_settings":{"speed":9}}`, `append a "ka "`},
			client{`{"text":" ","context_id":"a"}`, `append a " "`},
			client{`{"text":"OTP","context_id":"a","flush":true}`, `append a "OTP"; flush a`},
			client{`{"text":" ","context_id":"a","flush":true}`, `append a " "; flush a`},
			client{`{"context_id":"a","close_context":true}`, `finish a`},
		}},
		"the last words close": {"", []any{
			client{`{"text":"Hi.","context_id":"a"}`, `begin a x1; append a "Hi."`},
			client{`{"text":"Bye.","context_id":"a","flush":true,"close_context":true}`,
				`append a "Bye."; flush a; finish a`},
			client{`{"text":"All.","context_id":"b","close_context":true}`, `begin b x1; append b "All."; finish b`},
		}},
		"no name": {"", []any{
			client{`{"text":"Hi."}`, `begin default x1; append default "Hi."`},
			client{`{"close_context":true,"context_id":"default"}`, `cancel default`},
			event{"default", dialect.Cancelled{}, `send {"isFinal":true,"contextId":"default"}`},
		}},
		"nothing that is open": {"", []any{
			client{`{"text":"","context_id":"a"}`, ``},
			client{`{"context_id":"a","flush":true}`, ``},
			client{`{"context_id":"a","close_context":true}`, ``},
			client{`{}`, ``},
		}},
		"nothing was said": {"", []any{
			client{`{"text":" ","context_id":"a"}`, `begin a x1; append a " "`},
			client{`{"context_id":"a","close_context":true}`, `finish a`},
		}},
		"times of the context": {"sync_alignment=TRUE", []any{
			client{`{"text":"Hi.","context_id":"a"}`, `begin a x1; append a "Hi."`},
			event{"a", elevenlabstest.Sentence(0), `send {"audio":"","isFinal":null,` +
				`"alignment":{"chars":["क","ल"," ","4","।"," "],"charStartTimesMs":[50,100,150,150,225,300],"charDurationsMs":[50,50,0,75,75,100]},` +
				`"normalizedAlignment":{"chars":["क","ल"," ","च","ा","र","।"," "],"charStartTimesMs":[50,100,150,150,200,250,300,300],"charDurationsMs":[50,50,0,50,50,50,0,100]},` +
				`"contextId":"a"}`},
			event{"a", elevenlabstest.Sentence(time.Second), `send {"audio":"","isFinal":null,` +
				`"alignment":{"chars":["क","ल"," ","4","।"," "],"charStartTimesMs":[1050,1100,1150,1150,1225,1300],"charDurationsMs":[50,50,0,75,75,100]},` +
				`"normalizedAlignment":{"chars":["क","ल"," ","च","ा","र","।"," "],"charStartTimesMs":[1050,1100,1150,1150,1200,1250,1300,1300],"charDurationsMs":[50,50,0,50,50,50,0,100]},` +
				`"contextId":"a"}`},
			event{"a", dialect.Words{Text: "😀", End: 2 * time.Second}, ``},
		}},
		"errors": {"", []any{
			client{`{"text":"Hi.","context_id":"a"}`, `begin a x1; append a "Hi."`},
			client{`{"text":`, `reject : invalid JSON: unexpected end`},
			client{`[]`, `reject : invalid JSON: expected an object`},
			client{`{"text":7,"context_id":"a"}`, `reject a: text: must be a string`},
			client{`{"text":"\ud800","context_id":"a"}`, `reject a: text: not valid UTF-8`},
			client{`{"text":"x","flush":"yes","context_id":"a"}`, `reject a: flush: must be true or false`},
			client{`{"text":"x","context_id":"b","voice_settings":{"speed":1.21}}`,
				`reject b: voice_settings.speed: must be in [0.7, 1.2]`},
			client{`{"text":"x","context_id":"b","voice_settings":7}`, `reject b: voice_settings: expected an object`},
			client{
				`{"text":"x","context_id":"b","pronunciation_dictionary_locators":[{},{}]}`,
				`reject b: pronunciation_dictionary_locators: must be a list of objects with a pronunciation_dictionary_id`,
			},
			client{`{"text":"x","context_id":"` + strings.Repeat("b", 257) + `"}`,
				`reject : context_id: longer than 256 bytes`},
			event{"a", dialect.Rejected{Fault: dialect.Fault{Code: "bad_request", Text: "no", Status: 400}},
				`send {"error":"invalid_request","message":"no","code":1008,"contextId":"a"}`},
			event{"", dialect.Rejected{Fault: dialect.Fault{Code: "bad_request", Text: "no", Status: 400}},
				`send {"error":"invalid_request","message":"no","code":1008}`},
			event{"a", dialect.Failed{Fault: dialect.Fault{Code: "busy", Text: "b", Status: 503}},
				`send {"error":"system_busy","message":"b","code":1013,"contextId":"a"}`},
			client{`{"text":"","context_id":"a"}`, ``},
			event{"", dialect.Failed{Fault: dialect.Fault{Code: "invalid_key", Text: "k", Status: 401}},
				`send {"error":"invalid_api_key","message":"k","code":1008}`},
			event{"b", dialect.Failed{Fault: dialect.Fault{Code: "engine_error", Text: "e", Status: 500}},
				`send {"error":"internal_server_error","message":"e","code":1011,"contextId":"b"}`},
			event{"b", dialect.Failed{Fault: dialect.Fault{Code: "portal_unavailable", Text: "p", Status: 503}},
				`send {"error":"portal_unavailable","message":"p","code":1013,"contextId":"b"}`},
		}},
	} {
		t.Run(name, func(t *testing.T) { replay(t, openFor(t, true, tt.query), tt.steps) })
	}
}

// TestSingleTranscripts is stream-input.
func TestSingleTranscripts(t *testing.T) {
	sound := dialect.Sound{Data: []byte{1, 2}, Frames: 1}
	busy := dialect.Fault{Code: "busy", Text: "b", Status: 503}
	for name, tt := range map[string]struct {
		query string
		steps []any
	}{
		"the SDK for Python": {"model_id=swar-1&output_format=pcm_24000", []any{
			client{
				`{"text": " ", "try_trigger_generation": true, "voice_settings": null, "generation_config": {"chunk_length_schedule": [50]}}`,
				`begin  x1; append  " "`,
			},
			client{`{"text": "Namaste! ", "try_trigger_generation": true}`, `append  "Namaste! "`},
			client{`{"text": "Aapka OTP ", "try_trigger_generation": true}`, `append  "Aapka OTP "`},
			event{"", sound, audioMessage(``)},
			client{`{"text": ""}`, `finish `},
			client{`{"text": "late"}`, ``},
			client{`{"text": ""}`, ``},
			event{"", dialect.Ended{Frames: 1}, `send {"isFinal":true}; close 1000`},
		}},
		"a flush":       {"", []any{client{`{"text":"Hi","flush":true}`, `begin  x1; append  "Hi"; flush `}, client{`{"flush":true}`, `flush `}}},
		"auto_mode":     {"auto_mode=True", []any{client{`{"text":"Hi","context_id":"x"}`, `begin  x1; append  "Hi"; flush `}}},
		"only an end":   {"", []any{client{`{"text":""}`, `send {"isFinal":true}; close 1000`}}},
		"a closed one":  {"", []any{client{`{"text":"Hi"}`, `begin  x1; append  "Hi"`}, client{`{"close_socket":true}`, `close 1000 drained`}}},
		"an error":      {"", []any{client{`nonsense`, `reject : invalid JSON: expected an object; close 1008 invalid message`}}},
		"a wrong speed": {"", []any{client{`{"text":" ","voice_settings":{"speed":0.69}}`, `reject : voice_settings.speed: must be in [0.7, 1.2]; close 1008 invalid message`}}},
		"a failure": {"", []any{
			client{`{"text":"Hi"}`, `begin  x1; append  "Hi"`},
			event{"", dialect.Failed{Fault: busy},
				`send {"error":"system_busy","message":"b","code":1013}; close 1013 the text cannot be spoken`},
		}},
	} {
		t.Run(name, func(t *testing.T) { replay(t, openFor(t, false, tt.query), tt.steps) })
	}
}

// TestTimesOfEachMessage: without sync_alignment times begin at 0 in each message, and the spans of all of them add up
// to the audio: a client that adds them knows when each begins. What had no letters belongs to the next message.
func TestTimesOfEachMessage(t *testing.T) {
	s := openFor(t, true, pipecat)
	s.Read(dialect.Message{Data: []byte(`{"text":"Hi.","context_id":"a"}`)})
	type told struct {
		Alignment, NormalizedAlignment *struct {
			Chars                             []string
			CharStartTimesMs, CharDurationsMs []int64
		}
	}
	disclosure := elevenlabstest.Sentence(0)
	disclosure.Source = nil
	sum, sumSpoken := int64(0), int64(0)
	for i, w := range []dialect.Words{disclosure, elevenlabstest.Sentence(400 * time.Millisecond),
		{Text: "…", Start: 800 * time.Millisecond, End: 900 * time.Millisecond},
		elevenlabstest.Sentence(900*time.Millisecond + 700*time.Microsecond)} {
		sent := s.Write("a", w)
		if i == 2 {
			if len(sent) != 0 {
				t.Errorf("nothing is known, and sent: %s", show(sent))
			}
			continue
		}
		var m told
		if err := json.Unmarshal(sent[0].(dialect.Message).Data, &m); err != nil {
			t.Fatal(err)
		}
		if a := m.Alignment; i == 0 && a != nil {
			t.Error("the disclosure is told as if it had been written")
		} else if i > 0 {
			last := len(a.Chars) - 1
			if first, want := a.CharStartTimesMs[0], w.Source[0].Start.Milliseconds()-sum; first != want {
				t.Errorf("message %d begins at %d, want %d", i, first, want)
			}
			if !slices.IsSorted(a.CharStartTimesMs) {
				t.Errorf("times fall: %v", a.CharStartTimesMs)
			}
			sum += a.CharStartTimesMs[last] + a.CharDurationsMs[last]
			if sum != w.End.Milliseconds() {
				t.Errorf("until message %d they add up to %d, want %d", i, sum, w.End.Milliseconds())
			}
		}
		n := m.NormalizedAlignment
		last := len(n.Chars) - 1
		sumSpoken += n.CharStartTimesMs[last] + n.CharDurationsMs[last]
		if sumSpoken != w.End.Milliseconds() {
			t.Errorf("until message %d what is spoken adds up to %d, want %d", i, sumSpoken, w.End.Milliseconds())
		}
	}
}

func TestContextsAreLimited(t *testing.T) {
	s := openFor(t, true, "")
	open := func(i int) string {
		return show(s.Read(dialect.Message{Data: fmt.Appendf(nil, `{"text":" ","context_id":"%d"}`, i)}))
	}
	for i := range dialect.MaxContexts {
		if got := open(i); !strings.HasPrefix(got, "begin ") {
			t.Fatalf("context %d: %s", i+1, got)
		}
	}
	if got := open(99); !strings.HasPrefix(got, "reject 99: 32 contexts are open") ||
		!strings.HasSuffix(got, "; close 1008 max_active_conversations") {
		t.Errorf("one too many: %s", got)
	}
	s.Write("7", dialect.Ended{})
	if got := open(99); !strings.HasPrefix(got, "begin ") {
		t.Errorf("after one has ended: %s", got)
	}
}

// TestSettings is the query of sockets.
func TestSettings(t *testing.T) {
	for query, want := range map[string]string{
		"inactivity_timeout=1": "", "inactivity_timeout=180": "", "inactivity_timeout=181": "", "inactivity_timeout=99999999999999": "",
		"inactivity_timeout=0": "inactivity_timeout: must be", "inactivity_timeout=x": "inactivity_timeout: must be",
		"auto_mode=TRUE&sync_alignment=False": "", "auto_mode=maybe": "auto_mode: must be", "sync_alignment=2": "sync_alignment: must be",
		"enable_ssml_parsing=true": "", "enable_ssml_parsing=false": "", "enable_ssml_parsing=?": "enable_ssml_parsing: must be",
		"apply_text_normalization=off": "", "apply_text_normalization=no": "apply_text_normalization must be",
		"seed=4294967295": "", "seed=4294967296": "seed: must be", "seed=-1": "seed: must be", "seed=1.5": "seed: must be", "seed=x": "seed: must be",
		"output_format=mp3_44100_129": "output_format must be", "output_format=ulaw_8000": "",
	} {
		_, err := openSocket(socketCall(query), true)
		got := ""
		if err != nil {
			got = err.Error()
		}
		if want == "" && got != "" || !strings.HasPrefix(got, want) {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
	idle := func(query string) time.Duration {
		s := openFor(t, true, query)
		return s.Read(dialect.Message{Data: []byte(`{"text":" "}`)})[0].(dialect.Begin).Feed.Idle
	}
	for query, want := range map[string]time.Duration{"": 20 * time.Second, "inactivity_timeout=7": 7 * time.Second,
		"inactivity_timeout=500": 180 * time.Second} {
		if got := idle(query); got != want {
			t.Errorf("%q is %v, want %v", query, got, want)
		}
	}
	c := socketCall("")
	c.Allows = func(string) bool { return false }
	if _, err := openSocket(c, true); err == nil || err.Error() != speech.VoiceNotAllowed("anjura").Error() {
		t.Errorf("a voice that is not allowed: %v", err)
	}
}

// FuzzRead: whatever is sent, what is open is bounded, and what is done is in an order that can be carried out.
func FuzzRead(f *testing.F) {
	for _, m := range []string{
		`{"text":" ","context_id":"a"}|{"text":"x","context_id":"a","flush":true}|{"context_id":"a","close_context":true}`,
		`{"text":"\ud83d\ude00"}|{"text":""}|{"close_socket":true}`, `{"text":"\ud800"}|[|{"voice_settings":{"speed":1.1},"text":"x"}`,
		`{"text":"x","pronunciation_dictionary_locators":[ ]}`, "\xff|\xef\xbb\xbf{}", `{"text":null,"flush":null,"context_id":7}`,
	} {
		f.Add(m, true)
		f.Add(m, false)
	}
	f.Fuzz(func(t *testing.T, messages string, multi bool) {
		s := openFor(t, multi, "auto_mode=true")
		open := map[string]bool{}
		for m := range strings.SplitSeq(messages, "|") {
			for _, a := range s.Read(dialect.Message{Data: []byte(m)}) {
				name, needs := "", true
				switch a := a.(type) {
				case dialect.Begin:
					if open[a.Context] {
						t.Fatalf("%q begins again", a.Context)
					}
					open[a.Context], needs = true, false
				case dialect.Append:
					name = a.Context
				case dialect.Flush:
					name = a.Context
				case dialect.Finish:
					name = a.Context
				case dialect.Cancel:
					name = a.Context
				case dialect.Close:
					if len(a.Reason) > 123 {
						t.Fatalf("the reason %q is too long", a.Reason)
					}
					needs = false
				case dialect.Message:
					if needs = false; !json.Valid(a.Data) {
						t.Fatalf("sends %q", a.Data)
					}
				default:
					needs = false
				}
				if needs && !open[name] {
					t.Fatalf("%T of %q, which is not open", a, name)
				}
			}
		}
		if len(open) > dialect.MaxContexts {
			t.Fatalf("%d contexts are open", len(open))
		}
		for name := range open {
			for _, e := range []dialect.Event{dialect.Sound{Data: []byte{1}}, elevenlabstest.Sentence(0),
				dialect.Failed{Fault: dialect.Fault{Text: "\xff"}}, dialect.Ended{}} {
				for _, a := range s.Write(name, e) {
					if m, ok := a.(dialect.Message); ok && !json.Valid(m.Data) {
						t.Fatalf("sends %q", m.Data)
					}
				}
			}
		}
	})
}

// TestMarkup: enable_ssml_parsing of the query makes documents of all texts.
func TestMarkup(t *testing.T) {
	c := elevenlabstest.Call("")
	c.Query.Set("enable_ssml_parsing", "True")
	s, err := Multi(c)
	if err != nil {
		t.Fatal(err)
	}
	begin, _ := s.Read(dialect.Message{Data: []byte(`{"text":" ","context_id":"a"}`)})[0].(dialect.Begin)
	if !begin.Order.Utterance.SSML {
		t.Errorf("the socket begins with %+v", begin)
	}
	c.Query.Set("apply_text_normalization", "off")
	if _, err := Multi(c); err == nil || !strings.Contains(err.Error(), "enable_ssml_parsing") {
		t.Errorf("raw markup: %v", err)
	}
}
