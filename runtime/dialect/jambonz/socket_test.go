package jambonz

import (
	"errors"
	"net/url"
	"reflect"
	"strings"
	"testing"

	"github.com/swar-tts/swar/runtime/dialect"
	"github.com/swar-tts/swar/runtime/speech"
)

func dial(t testing.TB, voice string) *socket {
	t.Helper()
	c := call("")
	c.Query = url.Values{"voice": {voice}, "language": {"hi-IN"}}
	s, err := openSocket(c)
	if err != nil {
		t.Fatal(err)
	}
	return s.(*socket)
}

func said(text string) dialect.Message { return dialect.Message{Data: []byte(text)} }

// TestASocket is what jambonz sends of a conversation in which the caller interrupts once.
func TestASocket(t *testing.T) {
	s := dial(t, "raj")
	check := func(what string, got []dialect.Action, want ...dialect.Action) {
		t.Helper()
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, want %+v", what, got, want)
		}
	}
	check("open", s.Open(), said(`{"data":{"base64_encoding":false,"sample_rate":16000},"type":"connect"}`))
	check("a stop before the first text", s.Read(said(`{"type":"stop"}`)))
	check("a flush before the first text", s.Read(said(`{"type":"flush"}`)))
	begin := dialect.Begin{Order: s.order, Feed: dialect.Feed{FlushEnds: true}}
	check("the first text", s.Read(said(`{"type":"stream","text":"नम"}`)), begin, dialect.Append{Text: "नम"})
	check("more", s.Read(said(`{"type":"stream","text":"स्ते जी।"}`)), dialect.Append{Text: "स्ते जी।"})
	check("a flush", s.Read(said(`{"type":"flush"}`)), dialect.Flush{})
	check("a stop", s.Read(said(`{"type":"stop"}`)), dialect.Cancel{})
	check("keepalive", s.Read(said(`{"type":"keepalive"}`)))

	check("audio", s.Write("", dialect.Sound{Data: []byte{1, 2}, Frames: 1}),
		dialect.Message{Binary: true, Data: []byte{1, 2}})
	for _, quiet := range []dialect.Event{dialect.Started{}, dialect.Flushed{}, dialect.Cancelled{}, dialect.Ended{}} {
		check("nothing is said of it", s.Write("", quiet))
	}
	check("no capacity", s.Write("", dialect.Failed{Fault: dialect.Fault{Status: 503, Text: "busy"}}),
		said(`{"error":"busy","type":"error"}`), dialect.Close{Code: 1013})
	check("no engine", s.Write("", dialect.Failed{Fault: dialect.Fault{Status: 500, Text: "\xff"}}),
		said("{\"error\":\"\ufffd\",\"type\":\"error\"}"), dialect.Close{Code: 1011})
	check("a text that cannot be spoken", s.Write("", dialect.Failed{Fault: dialect.Fault{Status: 413, Text: "long"}}),
		said(`{"error":"long","type":"error"}`))
	check("a message that was wrong", s.Write("", dialect.Rejected{Fault: dialect.Fault{Status: 400, Text: "x"}}),
		said(`{"error":"x","type":"error"}`))

	if a := s.order.Audio; a.Rate != 16000 || a.Encoding != dialect.S16 || s.order.Word != "l16/16000" ||
		s.order.Utterance.Voice != "raj" {
		t.Errorf("the order is %+v", s.order)
	}
}

func TestSocketsThatAreRefused(t *testing.T) {
	c := call("")
	c.Query = url.Values{"voice": {"kaun"}}
	if _, err := openSocket(c); !errors.Is(err, speech.UnknownVoice("kaun")) {
		t.Errorf("an unknown voice: %v", err)
	}
	c = call("")
	c.Encodes = func(dialect.Audio) bool { return false }
	if _, err := openSocket(c); err == nil {
		t.Error("a server without encoders takes it")
	}
	if voice := dial(t, "").order.Utterance.Voice; voice != "anjura" {
		t.Errorf("no voice is %s", voice)
	}
}

func TestMessagesThatAreRejected(t *testing.T) {
	for name, m := range map[string]dialect.Message{
		"binary":           {Binary: true, Data: []byte(`{"type":"flush"}`)},
		"half of JSON":     said(`{"type":`),
		"a list":           said(`[]`),
		"no type":          said(`{"text":"Hi"}`),
		"a type of 1":      said(`{"type":1}`),
		"a text of 1":      said(`{"type":"stream","text":1}`),
		"half a surrogate": said(`{"type":"stream","text":"\ud800"}`),
		"nested":           said(`{"x":` + strings.Repeat("[", 100_000)),
	} {
		got := dial(t, "raj").Read(m)
		if len(got) != 1 {
			t.Errorf("%s: %v", name, got)
			continue
		}
		r, _ := got[0].(dialect.Reject)
		if refusal, ok := errors.AsType[*speech.Refusal](r.Err); !ok || refusal.Text == "" {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// FuzzSocket: whatever comes, the context is opened before it is fed, and every answer is UTF-8.
func FuzzSocket(f *testing.F) {
	f.Add("{\"type\":\"stream\",\"text\":\"Namaste\"}\n{\"type\":\"flush\"}\n{\"type\":\"stop\"}", false)
	f.Add("{\"type\":\"stream\"}\n{}\n[", true)
	f.Fuzz(func(t *testing.T, messages string, binary bool) {
		s, begun := dial(t, "raj"), false
		for m := range strings.SplitSeq(messages, "\n") {
			for _, a := range s.Read(dialect.Message{Binary: binary, Data: []byte(m)}) {
				switch a := a.(type) {
				case dialect.Begin:
					begun = true
				case dialect.Append, dialect.Flush, dialect.Cancel:
					if !begun {
						t.Fatalf("%T before the context is open", a)
					}
				case dialect.Reject:
				default:
					t.Fatalf("%T", a)
				}
			}
		}
	})
}
