package cartesia

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/swar-tts/swar/runtime/dialect"
	"github.com/swar-tts/swar/runtime/speech"
)

// show writes actions as lines: messages as they are, what is asked of the server as words.
func show(actions []dialect.Action) string {
	var all []string
	for _, a := range actions {
		switch a := a.(type) {
		case dialect.Begin:
			all = append(all, fmt.Sprintf("begin %s %s %s %v", a.Context, a.Order.Utterance.Voice, a.Order.Word,
				a.Feed.Delay))
			if a.Order.Utterance.WordTimes {
				all[len(all)-1] += fmt.Sprintf(" with times, as written: %v", a.Feed.SourceWords)
			}
		case dialect.Message:
			all = append(all, string(a.Data))
		case dialect.Append:
			all = append(all, fmt.Sprintf("append %s %q %v", a.Context, a.Text, a.Piece))
		case dialect.Flush:
			all = append(all, fmt.Sprintf("flush %s %v", a.Context, a.Tag))
		case dialect.Finish:
			all = append(all, "finish "+a.Context)
		case dialect.Cancel:
			all = append(all, "cancel "+a.Context)
		case dialect.Reject:
			all = append(all, "reject "+a.Context+": "+a.Err.Error())
		default:
			all = append(all, fmt.Sprintf("%#v", a))
		}
	}
	return strings.Join(all, "\n")
}

// event is one of a context.
type event struct {
	context string
	dialect.Event
}

type step struct {
	in   any // a message of the client, or an event
	want string
}

// say is a message as LiveKit and the client for Python send it.
func say(context, text string, continues bool, more ...string) string {
	return fmt.Sprintf(`{"model_id":"swar-1",%s,%s,"language":"en","context_id":"%s","transcript":"%s","continue":%v%s}`,
		voice, raw, context, text, continues, strings.Join(more, ""))
}

const livekit = `,"add_timestamps":true,"max_buffer_delay_ms":0`

func times(words ...string) []speech.Word {
	var all []speech.Word
	for i, w := range words {
		at := time.Duration(i) * 80 * time.Millisecond
		all = append(all, speech.Word{Text: w, Start: at, End: at + 80*time.Millisecond})
	}
	return all
}

// TestTranscripts replays what real clients of November 2026 have sent, with what is spoken in between.
func TestTranscripts(t *testing.T) {
	const (
		heard = `{"type":"chunk","data":"YWJj","done":false,"status_code":206,"step_time":0,"context_id":"%s"}`
		over  = `{"type":"done","done":true,"status_code":200,"context_id":"%s"}`
		begin = "begin %s anjura pcm_s16le/24000 250ms with times, as written: true\n"
	)
	sound := dialect.Sound{Data: []byte("abc"), Frames: 1}
	words := dialect.Words{Source: times("OTP", "482913"), Spoken: times("ओटीपी", "चार", "आठ")}
	written := `{"type":"timestamps","done":false,"status_code":206,"word_timestamps":{"words":["OTP","482913"],"start":[0,0.08],"end":[0.08,0.16]},"context_id":"%s"}`
	spoken := `{"type":"timestamps","done":false,"status_code":206,"word_timestamps":{"words":["ओटीपी","चार","आठ"],"start":[0,0.08,0.16],"end":[0.08,0.16,0.24]},"context_id":"%s"}`
	fault := dialect.Fault{Code: "busy", Status: 503, Text: "busy", RequestID: "r"}
	busy := `{"type":"error","done":false,"status_code":503,"error_code":"concurrency_limited","title":"Service unavailable","message":"busy","error":"Service unavailable: busy","request_id":"r","context_id":%s}`
	unknown := dialect.Fault{Code: "unknown_voice", Status: 400, Text: "unknown voice", RequestID: "r"}
	rejected := `{"type":"error","done":false,"status_code":400,"error_code":"voice_not_found","title":"Bad request","message":"unknown voice","error":"Bad request: unknown voice","request_id":"r","context_id":%s}`
	of := func(format, context string) string { return fmt.Sprintf(format, context) }
	for name, steps := range map[string][]step{
		"LiveKit": {
			{say("4af0", "Namaste! ", true, livekit), of(begin, "4af0") + `append 4af0 "Namaste! " true`},
			{event{"4af0", dialect.Started{}}, ""},
			{event{"4af0", sound}, of(heard, "4af0")},
			{say("4af0", "Aapka OTP 482913 hai. ", true, livekit), `append 4af0 "Aapka OTP 482913 hai. " true`},
			{say("4af0", " ", false, livekit), "append 4af0 \" \" true\nfinish 4af0"},
			{event{"4af0", words}, of(written, "4af0")},
			{event{"4af0", dialect.Ended{Frames: 1}}, of(over, "4af0")},
		},
		"Pipecat, interrupted": {
			{say("ed08", "Namaste!", true, livekit), of(begin, "ed08") + `append ed08 "Namaste!" true`},
			{`{"context_id": "ed08", "cancel": true}`, "cancel ed08"},
			{event{"ed08", dialect.Cancelled{}}, of(over, "ed08")},
			{say("ed09", "Namaste!", true, livekit), of(begin, "ed09") + `append ed09 "Namaste!" true`},
			{say("ed09", "", false, livekit), "append ed09 \"\" true\nfinish ed09"},
			{event{"ed09", dialect.Ended{}}, of(over, "ed09")},
			{`{"context_id": "ed09", "cancel": true}`, "cancel ed09"},
			{event{"ed09", dialect.Cancelled{}}, of(over, "ed09")},
		},
		"PyPI, two contexts": {
			{say("one", "आप", true), "begin one anjura pcm_s16le/24000 3s\nappend one \"आप\" true"},
			{say("two", "आप", true), "begin two anjura pcm_s16le/24000 3s\nappend two \"आप\" true"},
			{say("one", "क", true), `append one "क" true`},
			{event{"two", sound}, of(heard, "two")},
			{say("one", "", false), "append one \"\" true\nfinish one"},
			{event{"one", dialect.Ended{}}, of(over, "one")},
			{say("two", "", false), "append two \"\" true\nfinish two"},
			{event{"two", dialect.Failed{Fault: fault}}, of(busy, `"two"`)},
		},
		"flushes": {
			{say("a", "Ek. ", true, `,"flush":true`), "begin a anjura pcm_s16le/24000 3s\nappend a \"Ek. \" true\nflush a 0"},
			{say("a", "", true, `,"flush":true`), "append a \"\" true\nflush a 1"},
			{event{"a", dialect.Flushed{Tag: 0}}, `{"type":"flush_done","done":false,"flush_done":true,"flush_id":0,"status_code":206,"context_id":"a"}`},
			{event{"a", dialect.Flushed{Tag: 1}}, `{"type":"flush_done","done":false,"flush_done":true,"flush_id":1,"status_code":206,"context_id":"a"}`},
		},
		"a name that is used again": {
			{say("a", "Ek. ", false), "begin a anjura pcm_s16le/24000 3s\nappend a \"Ek. \" true\nfinish a"},
			{say("a", "Do. ", true), "begin a anjura pcm_s16le/24000 3s\nappend a \"Do. \" true"},
			{event{"a", dialect.Ended{}}, of(over, "a")},
			{say("a", "Teen. ", false), "append a \"Teen. \" true\nfinish a"},
			{event{"a", dialect.Ended{}}, of(over, "a")},
			{say("a", "Chaar. ", true), "begin a anjura pcm_s16le/24000 3s\nappend a \"Chaar. \" true"},
			{event{"a", dialect.Failed{Fault: fault}}, of(busy, `"a"`)},
			{say("a", "Paanch. ", true), "begin a anjura pcm_s16le/24000 3s\nappend a \"Paanch. \" true"},
		},
		"words as they are spoken": {
			{say("a", "OTP 482913", false, `,"add_timestamps":true,"use_normalized_timestamps":true`), "begin a anjura pcm_s16le/24000 3s with times, as written: false\nappend a \"OTP 482913\" true\nfinish a"},
			{event{"a", words}, of(spoken, "a")},
			{event{"a", dialect.Words{}}, ""},
		},
		"without a name": {
			{`{"transcript":"Hi","voice":"raj",` + raw + `}`, "begin req_1 raj pcm_s16le/24000 3s\nappend req_1 \"Hi\" true\nfinish req_1"},
			{event{"req_1", dialect.Ended{}}, of(over, "req_1")},
		},
		"the voice of a context is that of its first message": {
			{say("a", "Hi ", true), "begin a anjura pcm_s16le/24000 3s\nappend a \"Hi \" true"},
			{`{"context_id":"a","transcript":"there","voice":{"embedding":[1]},"continue":true}`, `append a "there" true`},
		},
		"delays": {
			{say("a", "", true, `,"max_buffer_delay_ms":250`), "begin a anjura pcm_s16le/24000 250ms\nappend a \"\" true"},
			{say("b", "", true, `,"max_buffer_delay_ms":251`), "begin b anjura pcm_s16le/24000 251ms\nappend b \"\" true"},
			{say("c", "", true, `,"max_buffer_delay_ms":5000`), "begin c anjura pcm_s16le/24000 5s\nappend c \"\" true"},
			{say("d", "", true, `,"max_buffer_delay_ms":5001`), "reject d: max_buffer_delay_ms: must be in [0, 5000]"},
			{say("e", "", true, `,"max_buffer_delay_ms":-1`), "reject e: max_buffer_delay_ms: must be in [0, 5000]"},
		},
		"hostile": {
			{`{"context_id":"a","transcript":"Hi"}`, "reject a: voice: required; see /voices"},
			{`{"context_id":"a","transcript":"Hi","voice":"raj"}`, "reject a: output_format: required"},
			{`{"context_id":"a","transcript":"Hi","voice":"raj","output_format":{"container":"wav"}}`, "reject a: output_format.container must be raw or mp3 here"},
			{`{"context_id":"a","transcript":"Hi","voice":"kaun",` + raw + `}`, "reject a: unknown voice 'kaun'; see /v1/voices"},
			{`{"context_id":"a","transcript":7}`, "reject a: transcript: must be a string"},
			{`{"context_id":"a","transcript":"a\u0000"}`, "reject a: text: must not contain NUL"},
			{`{"context_id":"a","transcript":"\ud83d"}`, "reject a: transcript: not valid UTF-8"},
			{`{"context_id":7}`, "reject : context_id: must be a string"},
			{`{"context_id":"a","cancel":"yes"}`, "reject a: cancel: must be true or false"},
			{`{"context_id":"a"`, "reject : invalid JSON: unexpected end"},
			{`[]`, "reject : invalid JSON: expected an object"},
			{dialect.Message{Binary: true, Data: []byte(`{}`)}, "reject : expected a JSON text message"},
			{event{"", dialect.Rejected{Fault: fault}}, of(busy, "null")},
			{event{"", dialect.Rejected{Fault: unknown}}, of(rejected, "null")},
			{event{"a", dialect.Rejected{Fault: unknown}}, of(rejected, `"a"`) + "\n" + of(over, "a")},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := newSocket(call(""))
			if err != nil || len(s.Open()) > 0 {
				t.Fatal("it does not open in silence", err)
			}
			for i, step := range steps {
				var got string
				switch in := step.in.(type) {
				case string:
					got = show(s.Read(dialect.Message{Data: []byte(in)}))
				case dialect.Message:
					got = show(s.Read(in))
				case event:
					got = show(s.Write(in.context, in.Event))
				}
				if got != step.want {
					t.Errorf("step %d, %v:\n got %s\nwant %s", i, step.in, got, step.want)
				}
			}
		})
	}
}

// TestContextsAreForgotten: what has ended, in whatever way, costs nothing any more.
func TestContextsAreForgotten(t *testing.T) {
	state, err := newSocket(call(""))
	if err != nil {
		t.Fatal(err)
	}
	s := state.(*socket)
	for i := range 1000 {
		id := fmt.Sprint(i)
		s.Read(dialect.Message{Data: []byte(say(id, "Hi", true))})
		s.Read(dialect.Message{Data: []byte(`{"context_id":"unknown ` + id + `","cancel":true}`)})
		switch i % 3 {
		case 0:
			s.Write(id, dialect.Failed{})
		case 1:
			s.Read(dialect.Message{Data: []byte(`{"context_id":"` + id + `","cancel":true}`)})
		default:
			s.Read(dialect.Message{Data: []byte(say(id, "", false))})
			s.Write(id, dialect.Ended{})
		}
	}
	if len(s.contexts) > 0 {
		t.Errorf("%d contexts are left", len(s.contexts))
	}
}

// FuzzMessages: each message is refused or is asked of the server, and what is sent is JSON with a context_id.
func FuzzMessages(f *testing.F) {
	f.Add(say("a", "Hi ", true, livekit), say("a", "", false), `{"context_id":"a","cancel":true}`)
	f.Add(say("a", "Hi ", false), say("a", "x", true, `,"flush":true`), `{"context_id":"\u0000","transcript":{}}`)
	f.Fuzz(func(t *testing.T, first, second, third string) {
		state, err := newSocket(call(""))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range []string{first, second, third} {
			for _, a := range state.Read(dialect.Message{Data: []byte(m)}) {
				var sent []dialect.Action
				switch a := a.(type) {
				case dialect.Reject:
					sent = state.Write(a.Context,
						dialect.Rejected{Fault: dialect.Fault{Code: "bad_request", Text: a.Err.Error()}})
				case dialect.Finish:
					sent = state.Write(a.Context, dialect.Ended{})
				}
				for _, a := range sent {
					var object map[string]any
					err := json.Unmarshal(a.(dialect.Message).Data, &object)
					if _, ok := object["context_id"]; err != nil || !ok {
						t.Fatalf("%q is answered with %v", m, a)
					}
				}
			}
		}
	})
}
