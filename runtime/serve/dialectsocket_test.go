package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/swar-tts/swar/runtime/dialect"
	"github.com/swar-tts/swar/runtime/speech"
)

// plainDialect is a protocol of lines, as {"do":"append","c":"a","text":"…"}, in which every event is told.
type plainDialect struct{ feed dialect.Feed }

func withPlain(feed dialect.Feed) func(*Config) {
	return func(c *Config) {
		c.Dialects = []*dialect.Dialect{{Name: dialect.Bridge, Routes: []dialect.Route{{
			Method: "GET", Path: "/plain", Socket: func(dialect.Call) (dialect.Socket,
				error) {
				return plainDialect{feed}, nil
			},
		}}}}
	}
}

func (plainDialect) Open() []dialect.Action { return nil }

func (p plainDialect) Read(m dialect.Message) []dialect.Action {
	var in struct{ Do, C, Text, Voice string }
	if err := json.Unmarshal(m.Data, &in); err != nil {
		return []dialect.Action{dialect.Reject{Err: dialect.Refuse("", speech.CodeBadRequest, "no JSON")}}
	}
	switch in.Do {
	case "begin":
		if in.Voice == "" {
			in.Voice = "anjura"
		}
		o := dialect.Order{Utterance: speech.Utterance{Voice: in.Voice, WordTimes: true}, Word: "plain"}
		o.Audio = dialect.Audio{Container: dialect.Raw, Encoding: dialect.S16, Rate: speech.SampleRate, Speed: 1}
		return []dialect.Action{dialect.Begin{Context: in.C, Order: o, Feed: p.feed}}
	case "append":
		return []dialect.Action{dialect.Append{Context: in.C, Text: in.Text}}
	case "flush":
		return []dialect.Action{dialect.Flush{Context: in.C, Tag: in.Text}}
	case "finish":
		return []dialect.Action{dialect.Finish{Context: in.C}}
	case "cancel":
		return []dialect.Action{dialect.Cancel{Context: in.C}}
	case "late":
		return []dialect.Action{dialect.Close{Code: 4001, Reason: strings.Repeat("x", 200), After: 5 * time.Second}}
	}
	return []dialect.Action{dialect.Message{Data: []byte(`{"type":"pong"}`)}, dialect.Close{Code: 4000}}
}

func (plainDialect) Write(c string, e dialect.Event) []dialect.Action {
	say := func(typ string, more any) []dialect.Action {
		return []dialect.Action{dialect.Message{Data: fmt.Appendf(nil, `{"type":%q,"request_id":%q,"more":%q}`, typ, c,
			fmt.Sprint(more))}}
	}
	switch e := e.(type) {
	case dialect.Started:
		return say("started", e.Voice)
	case dialect.Sound:
		return say("sound", e.Frames)
	case dialect.Words:
		return say("words", fmt.Sprintf("%s %d-%d %d/%d", e.Text, e.Start.Milliseconds(), e.End.Milliseconds(),
			len(e.Spoken), len(e.Source)))
	case dialect.Flushed:
		return say("flushed", e.Tag)
	case dialect.Ended:
		return say("ended", e.Frames)
	case dialect.Cancelled:
		return say("cancelled", "")
	case dialect.Failed:
		return say("failed", e.Fault.Code)
	case dialect.Rejected:
		return say("rejected", e.Fault.Text)
	}
	return nil
}

func (s *socket) do(do, c, text string) {
	s.t.Helper()
	s.send(fmt.Sprintf(`{"do":%q,"c":%q,"text":%q}`, do, c, text))
}

// told reads up to an event of a context and returns all of that context, audio left out.
func (s *socket) told(typ, c string) string {
	s.t.Helper()
	var all []string
	for {
		m := s.next()
		if m.id() == c && m.typ() != "sound" {
			all = append(all, strings.TrimSpace(fmt.Sprintf("%s %v", m.typ(), m.event["more"])))
		}
		if m.id() == c && m.typ() == typ {
			return strings.Join(all, ", ")
		}
	}
}

func TestDialectContexts(t *testing.T) {
	speaker := &script{SpeakFunc: func(_ context.Context, u speech.Utterance, sink speech.Sink) (speech.Stats, error) {
		end := utf8.RuneCountInString(u.Text)
		err := errors.Join(
			sink.Start(startOf(u)), sink.ChunkStart(speech.Chunk{Text: u.Text, Tokens: 1, CharEnd: end}),
			sink.Audio(speech.Audio{Frames: 5, Data: frames(0, 5)}),
			sink.ChunkEnd(speech.ChunkEnd{Frames: 5, Words: wordsOf(u)}),
		)
		return speech.Stats{Started: true, Chars: end, Frames: 5}, err
	}}
	g := newWSRig(t, speaker, withPlain(dialect.Feed{SourceWords: true}))
	s := g.to("/plain")
	defer s.conn.Close()
	s.do("append", "a", "Namaste ji kaise ho? ") // which is not open
	s.do("begin", "a", "")
	s.do("append", "a", "Namaste ji kaise ho? Main")
	s.do("flush", "a", "1")
	s.do("append", "a", " theek hoon ji.")
	s.do("finish", "a", "")
	s.do("append", "a", "Nobody speaks this text.")
	want := "started anjura, words Namaste ji kaise ho? 0-400 1/4, words Main 400-800 1/1, flushed 1, words theek hoon ji. 800-1200 1/3, ended 15"
	if got := s.told("ended", "a"); got != want {
		t.Errorf("a\n got %s\nwant %s", got, want)
	}
	s.send(`{"do":"begin","c":"a","voice":"raj"}`) // anew
	s.do("append", "a", "Kal milte hain ji. ")
	s.send(`{"do":"begin","c":"a"}`) // for what comes next
	s.do("finish", "a", "")
	if got, want := s.told("ended", "a"), "started raj, words Kal milte hain ji. 0-400 1/4, ended 5"; got != want {
		t.Errorf("a again\n got %s\nwant %s", got, want)
	}
	s.do("cancel", "never", "")
	s.told("cancelled", "never")
	s.do("begin", "b", "")
	s.do("finish", "b", "")
	if got := s.told("ended", "b"); got != "ended 0" {
		t.Errorf("b: %s", got)
	}
	s.send(`nonsense`)
	if got := s.told("rejected", ""); got != "rejected no JSON" {
		t.Errorf("rejected: %s", got)
	}
	s.send(`{"do":"bye"}`)
	if m := s.next(); m.typ() != "pong" {
		t.Errorf("%s before the close", m.text)
	}
	s.wantClose(4000, "")
	if n := metricOf(t, g.server, `tts_requests_total{endpoint="bridge",status="200"}`); n != 2 {
		t.Errorf("%v turns are counted, want 2", n)
	}
}

func TestDialectContextsAreSpokenAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, closeRig := newBubbleRig(t, newSentences(), withPlain(dialect.Feed{}))
		defer closeRig()
		s := g.to("/plain")
		defer s.conn.Close()
		for _, c := range []string{"a", "b"} {
			s.do("begin", c, "")
			s.do("append", c, "Namaste ji kaise ho? ") // and never finished
		}
		begin := time.Now()
		for heard := map[string]int{}; heard["a"] < 10 || heard["b"] < 10; {
			if m := s.next(); m.typ() == "sound" {
				heard[m.id()]++
			}
		}
		if took := time.Since(begin); took > 1100*time.Millisecond {
			t.Errorf("both need %v, want a second", took)
		}
	})
}

func TestDialectContextsAreLimited(t *testing.T) {
	g := newWSRig(t, &script{}, withPlain(dialect.Feed{}))
	s := g.to("/plain")
	defer s.conn.Close()
	for i := range dialect.MaxContexts + 1 {
		s.do("begin", fmt.Sprint(i), "")
	}
	last := fmt.Sprint(dialect.MaxContexts)
	if got := s.told("failed", last); got != "failed busy" {
		t.Errorf("the last one: %s", got)
	}
	s.do("append", last, "Namaste ji kaise ho? ") // is ignored
	s.do("finish", "0", "")
	s.told("ended", "0")
	s.do("begin", last, "")
	s.do("finish", last, "")
	s.told("ended", last)
}

func TestDialectContextsIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const idle = 20 * time.Second
		g, closeRig := newBubbleRig(t, newSentences(), withPlain(dialect.Feed{Idle: idle}))
		defer closeRig()
		s := g.to("/plain")
		defer s.conn.Close()
		begin := time.Now()
		s.do("begin", "a", "")
		if got := s.told("ended", "a"); got != "ended 0" || time.Since(begin) != idle {
			t.Errorf("%s after %v", got, time.Since(begin))
		}
		s.do("begin", "b", "")
		begin = time.Now()
		go func() {
			time.Sleep(idle - time.Second)
			s.do("append", "b", "") // keeps it
			time.Sleep(idle - time.Second)
			s.do("append", "b", "Namaste ji")
		}()
		if got, took := s.told("ended", "b"), time.Since(begin); !strings.HasSuffix(got, "ended 10") ||
			took < 3*idle-2*time.Second || took > 3*idle {
			t.Errorf("%s after %v", got, took)
		}
	})
}

// TestDialectAudioLeavesAsItSounds: at most two seconds ahead, while answers overtake it.
func TestDialectAudioLeavesAsItSounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		speaker := &script{SpeakFunc: func(_ context.Context, u speech.Utterance,
			sink speech.Sink) (speech.Stats, error) {
			return speakFrames(u, sink, 25, 25, 25, 25)
		}}
		g, closeRig := newBubbleRig(t, speaker, withPlain(dialect.Feed{Pace: 2 * time.Second}))
		defer closeRig()
		s := g.to("/plain")
		defer s.conn.Close()
		s.do("begin", "a", "")
		s.do("append", "a", "Namaste ji kaise ho? ")
		s.do("finish", "a", "")
		begin := time.Now()
		var at []time.Duration
		for {
			m := s.next()
			if m.typ() == "sound" {
				at = append(at, time.Since(begin))
			}
			if m.typ() == "ended" {
				break
			}
		}
		if got := fmt.Sprint(at); got != "[0s 0s 2s 4s]" {
			t.Errorf("two seconds of audio each leave after %s", got)
		}
		s.do("late", "", "")
		begin = time.Now()
		s.wantClose(4001, strings.Repeat("x", 123))
		if took := time.Since(begin); took != 5*time.Second {
			t.Errorf("it closes after %v", took)
		}
	})
}

// TestSocketsLead: a sentence is begun while less than 30 s of audio are unsent. Of vendors whose clients do not say
// when nobody listens any more, audio counts until it can have sounded, at the speed at which they play it.
func TestSocketsLead(t *testing.T) {
	const sentences, each = 12, 125 // frames, of 10 s
	for name, tt := range map[string]struct {
		open string
		send func(text string) []string
		took time.Duration // from the first sentence to the last
	}{
		"deepgram": {deepgramPath, func(text string) []string {
			return []string{`{"type":"Speak","text":"` + text + `"}`, flushMessage}
		}, 80 * time.Second},
		"jambonz": {"/v1/jambonz?voice=raj", func(text string) []string {
			return []string{`{"type":"stream","text":"` + text + `"}`, `{"type":"flush"}`}
		}, 0},
		"elevenlabs": {elevenLabsPath, func(text string) []string { return []string{`{"text":"` + text + `","context_id":"a","flush":true}`} }, 80 * time.Second},
		"elevenlabs, slowly": {elevenLabsPath, func(text string) []string {
			return []string{`{"text":"` + text + `","context_id":"a","flush":true,"voice_settings":{"speed":0.8}}`}
		}, 107500 * time.Millisecond},
		"sarvam": {"/text-to-speech/ws?model=m", func(text string) []string {
			return []string{
				`{"type":"config","data":{"speaker":"raj","output_audio_codec":"linear16","speech_sample_rate":24000}}`,
				`{"type":"text","data":{"text":"` + text + `"}}`, `{"type":"flush"}`,
			}
		}, 80 * time.Second},
		"sarvam, twice as fast": {"/text-to-speech/ws?model=m", func(text string) []string {
			return []string{
				`{"type":"config","data":{"speaker":"raj","output_audio_codec":"linear16","speech_sample_rate":24000,"pace":2}}`,
				`{"type":"text","data":{"text":"` + text + `"}}`, `{"type":"flush"}`,
			}
		}, 25 * time.Second},
		"cartesia": {"/tts/websocket?cartesia_version=2026-03-01", func(text string) []string {
			return []string{`{"context_id":"a","model_id":"m","voice":{"mode":"id","id":"raj"},"continue":false,"transcript":"` + text +
				`","output_format":{"container":"raw","encoding":"pcm_s16le","sample_rate":24000}}`}
		}, 80 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var mu sync.Mutex
				var begun []time.Time
				speaker := &script{SpeakFunc: func(_ context.Context, u speech.Utterance,
					sink speech.Sink) (st speech.Stats, err error) {
					mu.Lock()
					begun = append(begun, time.Now())
					mu.Unlock()
					st = speech.Stats{Started: true, Frames: each, Chunks: 1, Chars: len(u.Text)}
					return st, errors.Join(sink.Start(startOf(u)),
						sink.ChunkStart(speech.Chunk{Text: u.Text, Tokens: 1, CharEnd: len(u.Text)}),
						sink.Audio(speech.Audio{Frames: each, Data: frames(0, each)}),
						sink.ChunkEnd(speech.ChunkEnd{Frames: each, EOS: true}))
				}}
				g, closeRig := newBubbleRig(t, speaker, withDialects, func(c *Config) { c.Encoders = lateEncoders{} })
				defer closeRig()
				s := g.to(tt.open)
				for _, m := range tt.send(strings.Repeat("Aap kaise hain ji? ", sentences)) {
					s.send(m)
				}
				go func() { // takes everything at once
					for {
						if _, _, err := s.conn.ReadMessage(); err != nil {
							return
						}
					}
				}()
				time.Sleep(10 * time.Minute)
				s.conn.Close()
				mu.Lock()
				defer mu.Unlock()
				if len(begun) != sentences {
					t.Fatalf("%d sentences are spoken, want %d", len(begun), sentences)
				}
				if took := begun[sentences-1].Sub(begun[0]); took != tt.took {
					t.Errorf("the last sentence is begun after %v, want %v", took, tt.took)
				}
			})
		})
	}
}
