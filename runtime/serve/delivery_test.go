package serve

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/swar-tts/swar/runtime/meter"
	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/synth"
	"github.com/swar-tts/swar/runtime/synth/synthtest"
)

// playbackRate is how many bytes of pcm16 sound in a second.
const playbackRate = 2 * speech.SampleRate

// listen posts body and reads the answer as fast as it sounds, for as long as it lasts or until it has taken so many
// frames; 0 is all.
func listen(t *testing.T, conn net.Conn, body string, frames int) answered {
	t.Helper()
	post(t, conn, body)
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Error(err)
		return answered{Response: &http.Response{}, cut: err}
	}
	a := answered{Response: res}
	if res.StatusCode != http.StatusOK {
		a.body, a.cut = io.ReadAll(res.Body)
		return a
	}
	time.Sleep(10 * time.Millisecond) // so that nothing happens at the very moment of something else
	piece := make([]byte, speech.FrameBytes)
	for taken := 0; frames == 0 || taken < frames; taken++ {
		n, err := io.ReadFull(res.Body, piece)
		if a.body = append(a.body, piece[:n]...); err != nil {
			if err != io.EOF {
				a.cut = err
			}
			break
		}
		if taken%4 == 3 {
			time.Sleep(4 * speech.FrameDuration)
		}
	}
	return a
}

// atRTF makes each frame take so much of the time that it sounds.
func atRTF(rtf float64) func(context.Context, synth.Options, int) error {
	return func(ctx context.Context, o synth.Options, frame int) error {
		if frame < 0 || o.Text == warmText {
			return nil
		}
		select {
		case <-time.After(time.Duration(rtf * float64(speech.FrameDuration))):
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// twelveSeconds are spoken by the fake engine in about as long.
var twelveSeconds = fmt.Sprintf(`{"text":%q,"format":"pcm16","raw":true}`, strings.Repeat("bolo bolo, ", 109))

// TestListenersDoNotHoldWorkers: 200 listeners, one a second, 12 s each, on two workers that need an eighth of that.
func TestListenersDoNotHoldWorkers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newWarmLocal(t, 2, synthtest.Config{Before: atRTF(.12)})
		serveInBubble(t, l, func(t *testing.T, g *rig, dial func() net.Conn) {
			var all sync.WaitGroup
			most, busiest := int64(0), 0
			for range 200 {
				all.Go(func() {
					conn := dial()
					defer conn.Close()
					a := listen(t, conn, twelveSeconds, 0)
					if a.StatusCode != http.StatusOK || a.cut != nil || len(a.body) < 12*playbackRate {
						t.Errorf("status %d, %d bytes, %v; want 12 s", a.StatusCode, len(a.body), a.cut)
					}
				})
				time.Sleep(time.Second)
				most, busiest = max(most, g.server.listening.Load()), max(busiest, l.Capacity().Busy)
			}
			all.Wait()
			if most < 10 || busiest > 2 {
				t.Errorf("at most %d listened at once to %d workers: the test tests nothing", most, busiest)
			}
			if use := g.server.budget.use(); use.bytes != 0 || use.waits != 0 {
				t.Errorf("the spool: %+v; want it empty, and that no worker waited", use)
			}
		})
	})
}

// TestTheWorkerIsFreeWhenTheLastFrameIsEncoded, although its listener has taken nothing but the beginning.
func TestTheWorkerIsFreeWhenTheLastFrameIsEncoded(t *testing.T) {
	for _, format := range []string{"pcm16", "wav", "opus"} {
		t.Run(format, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newWarmLocal(t, 1, synthtest.Config{Before: atRTF(.12)})
				serveInBubble(t, l, func(t *testing.T, g *rig, dial func() net.Conn) {
					body := strings.Replace(twelveSeconds, "pcm16", format, 1)
					conn := dial()
					defer conn.Close()
					post(t, conn, body)
					res, err := http.ReadResponse(bufio.NewReader(conn), nil)
					if err != nil {
						t.Fatal(err)
					}
					time.Sleep(1400 * time.Millisecond)
					if c := l.Capacity(); c.Busy != 1 {
						t.Errorf("capacity %+v after 1.4 s, want a busy worker", c)
					}
					time.Sleep(200 * time.Millisecond)
					if c := l.Capacity(); c.Busy != 0 {
						t.Errorf("capacity %+v after 1.6 s, want a free worker", c)
					}
					if got := g.server.listening.Load(); got != 1 {
						t.Errorf("%d listeners, want one", got)
					}
					if _, err := io.ReadAll(res.Body); err != nil || res.Trailer.Get("X-Frames") == "" {
						t.Errorf("the rest ended with %v, trailers %v", err, res.Trailer)
					}
				})
			})
		})
	}
}

func TestListenersAreTold(t *testing.T) {
	stage := newStage()
	g := newRig(t, stage)
	shown := func() (health, metric string) {
		for _, member := range strings.Split(string(g.do(http.MethodGet, "/healthz", "").body), ",") {
			if value, ok := strings.CutPrefix(member, `"listeners":`); ok {
				health = value
			}
		}
		return health, fmt.Sprint(g.metric("tts_listeners"))
	}
	first, second := make(chan answered), make(chan answered)
	for _, to := range []chan answered{first, second} {
		go func() { to <- g.speak(`{"text":"Hi","stream":false}`) }()
		<-stage.spoke
	}
	if health, metric := shown(); health != "2" || metric != "2" {
		t.Errorf("/healthz says %s and /metrics %s, want 2 listeners", health, metric)
	}
	stage.on <- struct{}{}
	stage.on <- struct{}{}
	const header = "X-Concurrency-Listeners"
	got := (<-first).Header.Get(header) + " " + (<-second).Header.Get(header)
	if got != "2 1" && got != "1 2" && got != "2 2" {
		t.Errorf("the answers tell of %s listeners, want two and then one or two", got)
	}
	g.logs.wait(t, 2)
	if health, metric := shown(); health != "0" || metric != "0" {
		t.Errorf("/healthz says %s and /metrics %s, want none", health, metric)
	}
}

// TestABufferedAnswerNeedsRoom: its audio waits for its own end, so nobody can make room for it.
func TestABufferedAnswerNeedsRoom(t *testing.T) {
	key, entry := newKey()
	b := newBooks(t)
	charge := func(c *Config) { c.Keys, c.Meter = ringOf(entry), meter.NewRecorder(b.log) }
	for name, tt := range map[string]struct {
		limit int64
		used  int
		busy  bool
	}{
		"just room for a group":   {100_000, 100_000 - groupBlock, false},
		"a byte less":             {100_000, 100_000 - groupBlock + 1, true},
		"a full spool":            {100_000, 100_000, true},
		"no spool":                {-1, 100_000, false},
		"more than there is room": {groupBlock, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			g := newRig(t, &script{}, charge, func(c *Config) { c.Spool = tt.limit })
			other := spool{budget: g.server.budget}
			other.overdraw(tt.used)
			got := g.speak(`{"text":"Hi","stream":false}`, "X-Api-Key", key)
			switch {
			case tt.busy:
				got.wantError(t, 503, "busy", "busy")
				b.wantNothing("a refusal")
			case got.StatusCode != http.StatusOK:
				t.Errorf("status %d: %s", got.StatusCode, got.body)
			default:
				b.want("rest anjura wav 5/5 ok")
			}
			if got := g.speak(`{"text":"Hi"}`, "X-Api-Key", key); got.StatusCode != http.StatusOK || got.cut != nil {
				t.Errorf("streamed: status %d, %v", got.StatusCode, got.cut)
			}
			b.want("rest anjura wav 5/5 ok")
			if left := g.server.budget.use().bytes; left != int64(tt.used) {
				t.Errorf("%d bytes are used, want the %d of before", left, tt.used)
			}
		})
	}
}

// speakAtOnce speaks so many frames without taking time.
func speakAtOnce(frames int) *script {
	speak := func(_ context.Context, u speech.Utterance, sink speech.Sink) (st speech.Stats, err error) {
		blocks := []int{1}
		for n := 1; n < frames; n += 4 {
			blocks = append(blocks, min(4, frames-n))
		}
		return speakFrames(u, sink, blocks...)
	}
	return &script{SpeakFunc: speak}
}

// TestWhoPaysForWhatIsNotHeard: slow reading is not free, and what nobody wanted is not billed beyond the limit.
func TestWhoPaysForWhatIsNotHeard(t *testing.T) {
	const minute = 750 // frames
	stuck := &script{SpeakFunc: func(ctx context.Context, u speech.Utterance, sink speech.Sink) (speech.Stats, error) {
		st, err := speakFrames(u, sink, 1, 4)
		if err == nil {
			<-ctx.Done()
			err = context.Cause(ctx)
		}
		return st, err
	}}
	for name, tt := range map[string]struct {
		speaker *script
		body    string
		frames  int           // that the client takes before it does what it does
		leave   bool          // then
		want    string        // in the books
		after   time.Duration // of the request
	}{
		"read at playback pace": {speakAtOnce(minute), `{"text":"Hi","format":"pcm16"}`, 0, false,
			"rest anjura pcm16 750/750 ok", 59850 * time.Millisecond},
		"left after a second": {speakAtOnce(minute), `{"text":"Hi","format":"pcm16"}`, 12, true,
			"rest anjura pcm16 750/750 cancelled client disconnected", 970 * time.Millisecond},
		"stopped after a second": {speakAtOnce(minute), `{"text":"Hi","format":"pcm16"}`, 12, false,
			"rest anjura pcm16 750/750 cancelled client too slow", 0},
		"three minutes read as they sound": {speakAtOnce(3 * minute), `{"text":"Hi","format":"pcm16"}`, 0, false,
			"rest anjura pcm16 2250/1497 timeout timeout: audio was waiting for the client", 2 * time.Minute},
		"three minutes, buffered": {speakAtOnce(3 * minute),
			`{"text":"Hi","format":"pcm16","stream":false}`, 0, false,
			"rest anjura pcm16 2250/1497 timeout timeout: audio was waiting for the client", 2 * time.Minute},
		"an engine that gets stuck": {stuck, `{"text":"Hi","format":"pcm16"}`, 0, false,
			"rest anjura pcm16 5/0 timeout timeout", 2 * time.Minute},
		"an engine that gets stuck, buffered": {stuck, `{"text":"Hi","format":"pcm16","stream":false}`, 0, false,
			"rest anjura pcm16 5/0 timeout timeout", 2 * time.Minute},
		"an engine that gets stuck, not heard": {stuck, `{"text":"Hi","format":"pcm16"}`, 1, false,
			"rest anjura pcm16 5/5 cancelled client too slow", 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBooks(t)
				serveInBubble(t, tt.speaker, func(t *testing.T, g *rig, dial func() net.Conn) {
					conn, begin := dial(), time.Now()
					defer conn.Close()
					listen(t, conn, tt.body, tt.frames)
					if tt.leave {
						conn.Close()
					}
					line := g.logs.wait(t, 1)[0]
					at, err := time.Parse(time.RFC3339Nano, fmt.Sprint(line["time"]))
					if err != nil {
						t.Fatal(err)
					}
					if took := at.Sub(begin); tt.after > 0 && took != tt.after {
						t.Errorf("ended after %v, want %v", took, tt.after)
					}
					if got, want := g.metric("tts_audio_seconds_total"), b.wantTotal(tt.want); got != want {
						t.Errorf("metrics tell of %v s of audio, the books of %v", got, want)
					}
					if use := g.server.budget.use(); use.bytes != 0 {
						t.Errorf("%d bytes stay in the spool", use.bytes)
					}
				}, func(c *Config) {
					c.Keys, c.Meter = everybody{"org_1"}, meter.NewRecorder(b.log)
				})
			})
		})
	}
}

// TestMetricsAndBooksAgreeAfterAPanic: what had been spoken was spoken.
func TestMetricsAndBooksAgreeAfterAPanic(t *testing.T) {
	key, entry := newKey()
	b := newBooks(t)
	speak := func(_ context.Context, u speech.Utterance, sink speech.Sink) (speech.Stats, error) {
		_, _ = speakFrames(u, sink, 1, 4)
		panic("a defect")
	}
	charge := func(c *Config) { c.Keys, c.Meter = ringOf(entry), meter.NewRecorder(b.log) }
	g := newRig(t, &script{SpeakFunc: speak}, charge)
	g.speak(`{"text":"hello","format":"pcm16"}`, "X-Api-Key", key)
	b.want("rest anjura pcm16 5/0 error engine error")
	if got := g.metric("tts_audio_seconds_total"); got != speech.Seconds(5) {
		t.Errorf("metrics tell of %v s of audio, want those of five frames", got)
	}
}

func TestWaitWaitsForListeners(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		serveInBubble(t, speakAtOnce(125), func(t *testing.T, g *rig, dial func() net.Conn) {
			conn, begin := dial(), time.Now()
			defer conn.Close()
			var listening sync.WaitGroup
			listening.Go(func() {
				a := listen(t, conn, `{"text":"Hi","format":"pcm16"}`, 0)
				if a.cut != nil || len(a.body) != 10*playbackRate {
					t.Errorf("%d bytes, %v; want all 10 s", len(a.body), a.cut)
				}
			})
			time.Sleep(time.Second)
			if err := g.server.Wait(t.Context()); err != nil {
				t.Errorf("Wait = %v", err)
			}
			if took := time.Since(begin); took < 9*time.Second {
				t.Errorf("Wait returned after %v, want that it waits for the listener", took)
			}
			listening.Wait()
		})
	})
}

func TestWaitCutsListeners(t *testing.T) {
	over := errors.New("long enough")
	synctest.Test(t, func(t *testing.T) {
		b := newBooks(t)
		serveInBubble(t, speakAtOnce(750), func(t *testing.T, g *rig, dial func() net.Conn) {
			conn := dial()
			defer conn.Close()
			var listening sync.WaitGroup
			listening.Go(func() {
				if a := listen(t, conn, `{"text":"Hi","format":"pcm16"}`, 0); !errors.Is(a.cut, io.ErrUnexpectedEOF) {
					t.Errorf("%d bytes, %v; want a cut", len(a.body), a.cut)
				}
			})
			time.Sleep(time.Second)
			ctx, cancel := context.WithTimeoutCause(t.Context(), 5*time.Second, over)
			defer cancel()
			begin := time.Now()
			if err := g.server.Wait(ctx); !errors.Is(err, over) {
				t.Errorf("Wait = %v, want %v", err, over)
			}
			if took := time.Since(begin); took != 5*time.Second {
				t.Errorf("Wait returned after %v, want 5 s", took)
			}
			listening.Wait()
			b.want("rest anjura pcm16 750/0 error draining") // our failure, nobody pays
		}, func(c *Config) { c.Keys, c.Meter = everybody{"org_1"}, meter.NewRecorder(b.log) })
	})
}
