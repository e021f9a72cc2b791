package serve

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/swar-tts/swar/runtime/pipeline"
	"github.com/swar-tts/swar/runtime/pool"
	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/synth"
	"github.com/swar-tts/swar/runtime/synth/synthtest"
)

// local is the speaker of a real server, with a fake engine.
type local struct {
	*pipeline.Speaker
	engine *synthtest.Engine
	pool   *pool.Pool
}

// newLocal runs workers until stop. It does not wait until they are warm.
func newLocal(t testing.TB, workers int, cfg synthtest.Config) (l local, stop func()) {
	t.Helper()
	engine := synthtest.NewEngine(cfg)
	p, stop := runPool(t, workers, engine)
	return local{pipeline.New(pipeline.Config{}, engine, p), engine, p}, stop
}

func runPool(t testing.TB, workers int, engine synth.Engine) (p *pool.Pool, stop func()) {
	t.Helper()
	p, err := pool.New(pool.Config{Workers: workers}, engine, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- p.Run(ctx) }()
	return p, func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("pool: %v", err)
		}
	}
}

func newWarmLocal(t testing.TB, workers int, cfg synthtest.Config) local {
	t.Helper()
	l, stop := newLocal(t, workers, cfg)
	t.Cleanup(stop)
	if err := l.pool.WaitReady(t.Context()); err != nil {
		t.Fatal(err)
	}
	return l
}

// listening decodes what the fake engine spoke, all chunks together.
func heard(t *testing.T, pcm []byte) (text, voice string) {
	t.Helper()
	samples := make([]int16, len(pcm)/2)
	for i := range samples {
		samples[i] = int16(binary.LittleEndian.Uint16(pcm[2*i:]))
	}
	chunks, err := synthtest.Decode(samples)
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, c := range chunks {
		texts, voice = append(texts, c.Text), c.Voice
	}
	return strings.Join(texts, "|"), voice
}

const line = "Aapka OTP 407 hai, aur ₹1,250 kal tak dena hai. Order 12 May ko aayega."

// TestPreviewIsWhatIsSpoken: normalize shows, chunk by chunk, the text that tts speaks.
func TestPreviewIsWhatIsSpoken(t *testing.T) {
	g := newRig(t, newWarmLocal(t, 1, synthtest.Config{}))
	for _, text := range []string{line, "Hello", strings.Repeat(line+" ", 20)} {
		for _, enDigits := range []bool{false, true} {
			body := fmt.Sprintf(`{"text":%q,"voice":"raj","format":"pcm16","en_digits":%v,"temperature":0}`,
				text, enDigits)
			var preview struct {
				Normalized string
				Chars      int
				Chunks     []struct {
					Text   string
					Tokens int
				}
			}
			if err := json.Unmarshal(g.do(http.MethodPost, "/v1/normalize", body).body, &preview); err != nil {
				t.Fatal(err)
			}
			var want []string
			for _, c := range preview.Chunks {
				if c.Tokens < 1 || c.Tokens > speech.MaxChunkTokens || !strings.Contains(preview.Normalized, c.Text) {
					t.Errorf("chunk %+v of %q", c, preview.Normalized)
				}
				want = append(want, c.Text)
			}
			if n := len([]rune(preview.Normalized)); preview.Chars != n || n == 0 {
				t.Errorf("chars = %d of %d", preview.Chars, n)
			}
			got, voice := heard(t, g.speak(body).body)
			if got != strings.Join(want, "|") || voice != "raj" {
				t.Errorf("%s said %q, want %q", voice, got, want)
			}
			raw, _ := heard(t, g.speak(fmt.Sprintf(`{"text":%q,"format":"pcm16","raw":true,"temperature":0}`,
				preview.Normalized)).body)
			if raw != got {
				t.Errorf("raw speaks %q, want the normalised text as it is: %q", raw, got)
			}
		}
	}
}

func TestFormatsCarryTheSameAudio(t *testing.T) {
	g := newRig(t, newWarmLocal(t, 1, synthtest.Config{}))
	speak := func(format string, stream bool) []byte {
		t.Helper()
		got := g.speak(fmt.Sprintf(`{"text":%q,"format":%q,"stream":%v,"seed":1}`, line, format, stream))
		if got.StatusCode != http.StatusOK || got.cut != nil {
			t.Fatalf("%s: status %d, %v", format, got.StatusCode, got.cut)
		}
		return got.body
	}
	pcm := speak("pcm16", true)
	if len(pcm) == 0 || len(pcm)%speech.FrameBytes != 0 {
		t.Fatalf("%d bytes of pcm16 are not whole frames", len(pcm))
	}
	if !bytes.Equal(speak("pcm16", false), pcm) {
		t.Error("buffered pcm16 differs from streamed")
	}
	if want := append(wavHead(44, len(pcm)), pcm...); !bytes.Equal(speak("wav", false), want) {
		t.Error("a buffered WAV is not its header and the samples")
	}
	head := wavHead(44, len(pcm))
	copy(head[4:], "\xff\xff\xff\xff")
	copy(head[40:], "\xff\xff\xff\xff")
	if !bytes.Equal(speak("wav", true), append(head, pcm...)) {
		t.Error("a streamed WAV is not a header with placeholders and the samples")
	}
	for _, stream := range []bool{true, false} {
		opus := speak("opus", stream)
		pages := bytes.Count(opus, []byte("OggS"))
		if !bytes.HasPrefix(opus, []byte("OggS\x00\x02")) || pages < 3 {
			t.Errorf("opus begins with %q and has %d pages", opus[:min(8, len(opus))], pages)
		}
		if last := opus[bytes.LastIndex(opus, []byte("OggS")):]; last[5]&4 == 0 {
			t.Error("the last page of the file does not end the stream")
		}
	}
}

func TestSeedFixesTheAudio(t *testing.T) {
	g := newRig(t, newWarmLocal(t, 1, synthtest.Config{}))
	speak := func(members string) answered {
		t.Helper()
		return g.speak(`{"text":"Namaste, kaise ho?","format":"pcm16"` + members + `}`)
	}
	random := speak("")
	again := speak(`,"seed":` + random.Header.Get("X-Seed"))
	if !bytes.Equal(random.body, again.body) ||
		random.Trailer.Get("X-Audio-Sha256") != again.Trailer.Get("X-Audio-Sha256") {
		t.Error("the seed of x-seed does not give the same audio")
	}
	if bytes.Equal(random.body, speak("").body) {
		t.Error("two requests without a seed sound alike")
	}
	if !bytes.Equal(speak(`,"temperature":0,"seed":1`).body, speak(`,"temperature":0,"seed":2`).body) {
		t.Error("without noise the seed matters")
	}
}

func TestNothingToSay(t *testing.T) {
	g := newRig(t, newWarmLocal(t, 1, synthtest.Config{}))
	for _, text := range []string{"?!… —", "😀", "\u0301", "। ॥"} {
		for _, raw := range []bool{false, true} {
			got := g.speak(fmt.Sprintf(`{"text":%q,"raw":%v}`, text, raw))
			got.wantError(t, 400, "nothing to say after normalisation", "nothing_to_say")
		}
	}
}

// TestChunkLimit needs an engine that counts more tokens than the text has letters, for 64 chunks of 50 must fit into
// 4000 characters.
func TestChunkLimit(t *testing.T) {
	engine := &wordy{synthtest.NewEngine(synthtest.Config{BytesPerFrame: 4096})}
	p, stop := runPool(t, 1, engine)
	defer stop()
	if err := p.WaitReady(t.Context()); err != nil {
		t.Fatal(err)
	}
	g := newRig(t, pipeline.New(pipeline.Config{}, engine, p))
	for chunks, want := range map[int]int{63: 200, 64: 200, 65: 413} {
		got := g.speak(fmt.Sprintf(`{"text":%q,"raw":true}`, strings.Repeat(strings.Repeat("क", 49)+"। ", chunks)))
		if want == http.StatusOK {
			if got.StatusCode != want {
				t.Errorf("%d chunks: status %d, %s", chunks, got.StatusCode, got.body)
			}
			continue
		}
		got.wantError(t, 413, "text splits into 65 chunks; max 64", "too_many_chunks")
	}
}

// wordy counts every code point as a token.
type wordy struct{ *synthtest.Engine }

func (*wordy) Tokens(text string) int { return len([]rune(text)) }

func TestPrefillCacheIsCounted(t *testing.T) {
	g := newRig(t, newWarmLocal(t, 1, synthtest.Config{}))
	for range 3 {
		g.speak(`{"text":"Namaste."}`)
	}
	for cached, want := range map[string]float64{"false": 1, "true": 2} {
		if got := g.metric(`tts_prefills_total{cached="` + cached + `"}`); got != want {
			t.Errorf("prefills with cached %s = %v, want %v", cached, got, want)
		}
	}
}

// gate is an engine that stops before every first frame until it is opened.
type gate struct{ open chan struct{} }

func newGate() *gate { return &gate{make(chan struct{})} }

func (g *gate) before(ctx context.Context, o synth.Options, frame int) error {
	if frame != 0 || o.Text == warmText {
		return nil
	}
	select {
	case <-g.open:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

const warmText = "नमस्ते, welcome."

// call posts body on a connection of its own and gives the answer when it is there.
func call(t *testing.T, dial func() net.Conn, body string) <-chan answered {
	answer := make(chan answered, 1)
	go func() {
		conn := dial()
		defer conn.Close()
		post(t, conn, body)
		answer <- read(t, bufio.NewReader(conn))
	}()
	return answer
}

// saturate has two workers speak and eight requests wait, one after another so that their order is known.
func saturate(t *testing.T, l local, dial func() net.Conn) (calls []<-chan answered) {
	t.Helper()
	for range 10 {
		calls = append(calls, call(t, dial, `{"text":"Hi","format":"pcm16"}`))
		synctest.Wait()
	}
	if c := l.Capacity(); c.Busy != 2 || c.Queued != 8 {
		t.Fatalf("capacity = %+v, want two busy and eight queued", c)
	}
	return calls
}

func TestSaturationRefusesAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := newGate()
		l := newWarmLocal(t, 2, synthtest.Config{Before: gate.before})
		serveInBubble(t, l, func(t *testing.T, g *rig, dial func() net.Conn) {
			calls, begin := saturate(t, l, dial), time.Now()
			for range 5 {
				got := <-call(t, dial, `{"text":"Hi"}`)
				got.wantError(t, 503, "busy", "busy")
				wantHeaders(t, got.Header, map[string]string{"X-Concurrency-Active": "2", "X-Concurrency-Limit": "2"})
			}
			got := <-call(t, dial, `{"text":""}`)
			got.wantError(t, 400, "text is empty", "text_empty") // a bad request must not be tried again
			if took := time.Since(begin); took != 0 {
				t.Errorf("refusing took %v", took)
			}
			if audio := g.metric("tts_audio_seconds_total"); audio != 0 {
				t.Errorf("audio seconds = %v before anybody spoke", audio)
			}
			close(gate.open)
			for i, c := range calls {
				if got := <-c; got.StatusCode != http.StatusOK || got.cut != nil {
					t.Errorf("call %d: status %d, %v; want it to be served", i, got.StatusCode, got.cut)
				}
			}
			for status, want := range map[string]float64{"503": 5, "400": 1, "200": 10} {
				if got := g.metric(`tts_requests_total{endpoint="rest",status="` + status + `"}`); got != want {
					t.Errorf("requests with status %s = %v, want %v", status, got, want)
				}
			}
		})
	})
}

// queueWait is how long the pool lets a request wait: a little less than the 2 s after which the refusal has left.
const queueWait = 1950 * time.Millisecond

func TestQueueWaitEndsBeforeTwoSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := newGate()
		l := newWarmLocal(t, 2, synthtest.Config{Before: gate.before})
		serveInBubble(t, l, func(t *testing.T, _ *rig, dial func() net.Conn) {
			calls, begin := saturate(t, l, dial), time.Now()
			for _, c := range calls[2:] {
				got := <-c
				got.wantError(t, 503, "busy", "busy")
				if took := time.Since(begin); took != queueWait {
					t.Errorf("waited %v, want %v", took, queueWait)
				}
			}
			time.Sleep(time.Minute) // who has a worker keeps it
			close(gate.open)
			for _, c := range calls[:2] {
				if got := <-c; got.StatusCode != http.StatusOK || got.cut != nil {
					t.Errorf("status %d, %v; what has started is not cut for capacity", got.StatusCode, got.cut)
				}
			}
		})
	})
}

func TestQueueTimeIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := newGate()
		l := newWarmLocal(t, 1, synthtest.Config{Before: gate.before})
		serveInBubble(t, l, func(t *testing.T, _ *rig, dial func() net.Conn) {
			first := call(t, dial, `{"text":"Hi"}`)
			synctest.Wait()
			second := call(t, dial, `{"text":"Hi"}`)
			synctest.Wait()
			time.Sleep(1500 * time.Millisecond)
			close(gate.open)
			if got := (<-first).Header.Get("X-Queue-Ms"); got != "0" {
				t.Errorf("x-queue-ms = %q, want 0", got)
			}
			got := <-second
			wantHeaders(t, got.Header, map[string]string{"X-Queue-Ms": "1500",
				"Server-Timing": "queue;dur=1500, normalise;dur=0, prefill;dur=0, first_frame;dur=0"})
		})
	})
}

// TestDisconnectFreesTheWorkerWithinAFrame, with an engine whose frames take 40 ms and cannot be interrupted.
func TestDisconnectFreesTheWorkerWithinAFrame(t *testing.T) {
	const frameTime = 40 * time.Millisecond
	tests := []struct {
		sentence, body string
		leave          time.Duration // after the request
		frames         int           // decoded by then
	}{
		{"in prefill", `{"text":%q,"format":"pcm16"}`, 10 * time.Millisecond, 0},
		{"before the first frame", `{"text":%q,"format":"pcm16"}`, 50 * time.Millisecond, 0},
		{"in the middle", `{"text":%q,"format":"pcm16"}`, 1010 * time.Millisecond, 24},
		{"buffered", `{"text":%q,"stream":false}`, 1010 * time.Millisecond, 24},
	}
	for _, tt := range tests {
		t.Run(tt.sentence, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				slow := func(_ context.Context, o synth.Options, _ int) error {
					if o.Text != warmText {
						time.Sleep(frameTime)
					}
					return nil
				}
				l := newWarmLocal(t, 1, synthtest.Config{Before: slow, BytesPerFrame: 1})
				warm := l.engine.Frames()
				serveInBubble(t, l, func(t *testing.T, g *rig, dial func() net.Conn) {
					conn := dial()
					post(t, conn, fmt.Sprintf(tt.body, strings.Repeat(line+" ", 5)))
					var reading sync.WaitGroup
					reading.Go(func() { _, _ = io.Copy(io.Discard, conn) })
					time.Sleep(tt.leave)
					synctest.Wait()
					conn.Close()
					reading.Wait()
					if got := l.engine.Frames() - warm; got != tt.frames {
						t.Errorf("%d frames when the client left, want %d", got, tt.frames)
					}
					time.Sleep(frameTime)
					synctest.Wait()
					if got := l.engine.Frames() - warm; got > tt.frames+1 {
						t.Errorf("%d frames after the client left, want at most one more than %d", got, tt.frames)
					}
					if c := l.Capacity(); c.Busy != 0 {
						t.Error("the worker is still busy a frame after the client left")
					}
					if line := g.logs.wait(t, 1)[0]; line["status"] != "cancelled" {
						t.Errorf("logged %v", line)
					}
				})
			})
		})
	}
}

func TestDisconnectLeavesTheQueueAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := newGate()
		l := newWarmLocal(t, 1, synthtest.Config{Before: gate.before})
		serveInBubble(t, l, func(t *testing.T, g *rig, dial func() net.Conn) {
			first := call(t, dial, `{"text":"Hi"}`)
			synctest.Wait()
			prefills := l.engine.Prefills()
			conn := dial()
			post(t, conn, `{"text":"Hello"}`)
			synctest.Wait()
			if c := l.Capacity(); c.Queued != 1 {
				t.Fatalf("capacity = %+v, want one queued", c)
			}
			conn.Close()
			synctest.Wait()
			if c := l.Capacity(); c.Queued != 0 {
				t.Error("a client that left still queues")
			}
			if line := g.logs.wait(t, 1)[0]; line["status"] != "cancelled" || line["frames"] != nil {
				t.Errorf("logged %v", line)
			}
			close(gate.open)
			if got := <-first; got.StatusCode != http.StatusOK {
				t.Errorf("status = %d", got.StatusCode)
			}
			if got := l.engine.Prefills(); got != prefills {
				t.Errorf("%d prefills after the client had left", got-prefills)
			}
		})
	})
}

func TestWarmingAndDraining(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var made int
		next := make(chan struct{})
		l, stop := newLocal(t, 2, synthtest.Config{OnNewWorker: func(context.Context) error {
			made++
			<-next
			return nil
		}})
		defer stop()
		serveInBubble(t, l, func(t *testing.T, _ *rig, dial func() net.Conn) {
			ready := func() answered {
				conn := dial()
				defer conn.Close()
				fmt.Fprintf(conn, "GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n")
				return read(t, bufio.NewReader(conn))
			}
			synctest.Wait()
			(<-call(t, dial, `{"text":"Hi"}`)).wantError(t, 503, "workers warming up", "warming_up")
			ready().wantError(t, 503, "workers warming up", "warming_up")

			next <- struct{}{}
			synctest.Wait()
			if got := <-call(t, dial, `{"text":"Hi"}`); got.StatusCode != http.StatusOK {
				t.Errorf("status = %d with one warm worker of two, want 200", got.StatusCode)
			}
			ready().wantError(t, 503, "workers warming up", "warming_up")

			next <- struct{}{}
			synctest.Wait()
			if got := ready(); got.StatusCode != http.StatusOK {
				t.Errorf("/readyz = %d with every worker warm", got.StatusCode)
			}
			if err := l.pool.Drain(t.Context()); err != nil {
				t.Fatal(err)
			}
			(<-call(t, dial, `{"text":"Hi"}`)).wantError(t, 503, "busy", "busy")
			ready().wantError(t, 503, "draining", "busy")
		})
		if made != 2 {
			t.Errorf("%d workers made, want 2", made)
		}
	})
}

// TestBrokenEngineMidStream: the fake engine fails at its sixth frame.
func TestBrokenEngineMidStream(t *testing.T) {
	fail := func(_ context.Context, o synth.Options, frame int) error {
		if frame == 5 && o.Text != warmText {
			return speech.ErrWorkerGone
		}
		return nil
	}
	l := newWarmLocal(t, 1, synthtest.Config{Before: fail, BytesPerFrame: 1})
	g := newRig(t, l)
	got := g.speak(`{"text":"Namaste dosto","format":"pcm16"}`)
	if got.StatusCode != http.StatusOK || got.cut == nil || len(got.body) != 5*speech.FrameBytes {
		t.Errorf("status %d, %d bytes, %v; want five frames and a cut", got.StatusCode, len(got.body), got.cut)
	}
	if err := l.pool.WaitReady(t.Context()); err != nil { // a new worker
		t.Fatal(err)
	}
	g.speak(`{"text":"Namaste dosto","stream":false}`).wantError(t, 500, "worker gone", "worker_gone")
	if got := g.metric(`tts_errors_total{kind="worker_gone"}`); got != 2 {
		t.Errorf("failures of the worker = %v, want 2", got)
	}
}
