//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gorilla/websocket"
)

// playback is how many bytes of each format sound in a second; of Opus a little less than there are.
var playback = map[string]int{"pcm16": 48_000, "wav": 48_000, "opus": 6_000}

// paced reads r as fast as it sounds at so many bytes a second, 0 for as fast as it comes, and returns how much came
// and how often the next tenth of a second was not there in time.
func paced(r io.Reader, rate int) (n int64, gaps int, err error) {
	if rate == 0 {
		n, err = io.Copy(io.Discard, r)
		return n, 0, err
	}
	piece := make([]byte, rate/10)
	for begin := time.Now(); ; {
		got, err := io.ReadFull(r, piece)
		n += int64(got)
		if err == io.EOF || err == io.ErrUnexpectedEOF && got > 0 {
			// A body that is cut ends like the last piece of a whole one: the trailers tell.
			return n, gaps, nil
		} else if err != nil {
			return n, gaps, err
		}
		sounded := time.Duration(n) * time.Second / time.Duration(rate)
		if ahead := time.Until(begin.Add(sounded)); ahead > -100*time.Millisecond {
			time.Sleep(ahead)
		} else {
			gaps++
			begin = time.Now().Add(-sounded)
		}
	}
}

// said is one utterance as its client knows it.
type said struct {
	frames int
	busy   bool // it was refused
	gaps   int
}

// listenREST speaks text over POST /v1/tts and hears it at so many bytes a second. hears is called when it begins to.
func (s *server) listenREST(ctx context.Context, key, text, format string, rate int, hears func()) (said, error) {
	content, err := json.Marshal(map[string]any{"text": text, "format": format})
	if err != nil {
		return said{}, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.base+"/v1/tts", bytes.NewReader(content))
	if err != nil {
		return said{}, err
	}
	req.Header.Set("X-Api-Key", key)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return said{}, err
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusServiceUnavailable {
		_, _ = io.Copy(io.Discard, resp.Body)
		return said{busy: true}, nil
	}
	hears()
	n, gaps, err := paced(resp.Body, rate)
	frames, bad := strconv.Atoi(resp.Trailer.Get("X-Frames"))
	if err != nil || bad != nil || resp.StatusCode != http.StatusOK {
		return said{}, fmt.Errorf("status %s, cut after %d bytes: %v, trailers %v", resp.Status, n, err, resp.Trailer)
	}
	return said{frames: frames, gaps: gaps}, nil
}

// listenSocket does the same on a socket.
func listenSocket(conn *websocket.Conn, text, format string, rate int) (said, error) {
	if err := conn.WriteJSON(map[string]any{"text": text, "format": format}); err != nil {
		return said{}, err
	}
	var n int64
	var begin time.Time
	for {
		kind, message, err := conn.ReadMessage()
		if err != nil {
			return said{}, err
		}
		if kind == websocket.BinaryMessage {
			if n == 0 {
				begin = time.Now()
			}
			if n += int64(len(message)); rate > 0 {
				time.Sleep(time.Until(begin.Add(time.Duration(n) * time.Second / time.Duration(rate))))
			}
			continue
		}
		var event struct {
			Type   string
			Status int
			Error  string
			Frames int
		}
		if err := json.Unmarshal(message, &event); err != nil {
			return said{}, err
		}
		switch {
		case event.Type == "end":
			return said{frames: event.Frames}, nil
		case event.Type == "error" && event.Status == http.StatusServiceUnavailable:
			return said{busy: true}, nil
		case event.Type == "error":
			return said{}, fmt.Errorf("error %d %s", event.Status, event.Error)
		}
	}
}

func (s *server) socket(t testing.TB, key string) *websocket.Conn {
	t.Helper()
	conn, _, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(s.base, "http")+"/v1/tts/stream",
		http.Header{"X-Api-Key": {key}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// lines of some 4 s each.
func lines(n int) string {
	return strings.TrimSpace(strings.Repeat("Aapka order kal tak deliver ho jayega, aap please ghar par rahiye. ", n))
}

// TestListenersOnOneWorker: 250 clients listen at the pace of playback to what one worker has spoken, 10 s each. They
// begin as fast as it speaks, four at a time, so that on a machine with nothing else to do most of them listen at
// once.
func TestListenersOnOneWorker(t *testing.T) {
	const listeners = 250
	s := start(t, "--workers", "1", "--api-key", "key")
	asking := make(chan struct{}, 4)
	var all sync.WaitGroup
	var refused atomic.Int64
	for range listeners {
		asking <- struct{}{}
		all.Go(func() {
			hears := sync.OnceFunc(func() { <-asking })
			defer hears()
			for {
				got, err := s.listenREST(t.Context(), "key", lines(3), "pcm16", playback["pcm16"], hears)
				switch {
				case err != nil:
					t.Error(err)
				case got.busy: // other programs keep the worker from its work
					refused.Add(1)
					time.Sleep(time.Second)
					continue
				case got.frames < 125:
					t.Errorf("heard %d frames, want 10 s", got.frames)
				}
				return
			}
		})
	}
	most, spooled, rss := s.metric(t, "tts_listeners"), s.metric(t, "tts_spool_bytes"), s.rss(t)
	all.Wait()
	t.Logf("%.0f listened at once, %d refusals; %.0f MB were spooled, %.0f MB resident", most, refused.Load(),
		spooled/1e6, float64(rss)/1e6)
	if waits := s.metric(t, "tts_spool_waits_total"); waits != 0 {
		t.Errorf("the worker waited %v times for a listener", waits)
	}
	eventually(t, "nobody listens, and nothing is spooled", 5*time.Second, func() bool {
		return s.metric(t, "tts_listeners") == 0 && s.metric(t, "tts_spool_bytes") == 0
	})
}

// TestListenersAtSaturation keeps every worker busy, with half of the clients listening at the pace of playback: for
// 15 s, or for as long as SWAR_SOAK says, with utterances of up to 100 s then. No stream is cut, the bill is what was
// spoken, and memory is flat.
func TestListenersAtSaturation(t *testing.T) {
	length, longest := 15*time.Second, 3
	if soak := os.Getenv("SWAR_SOAK"); soak != "" {
		var err error
		if length, err = time.ParseDuration(soak); err != nil {
			t.Fatal(err)
		}
		longest = 24
	}
	const clients = 48
	p := startPortal(t, t.TempDir(), "--workers", "2", "--oversubscribe")
	key := p.firstKey()
	var frames, streams, refused, gaps atomic.Int64
	over := time.Now().Add(length)
	var all sync.WaitGroup
	for i := range clients {
		var conn *websocket.Conn
		if i%4 < 2 {
			conn = p.socket(t, key)
		}
		format := []string{"pcm16", "wav", "opus"}[i%3]
		rate := playback[format]
		if i%2 == 0 {
			rate = 0
		}
		random := rand.New(rand.NewPCG(uint64(i), 1))
		all.Go(func() {
			for time.Now().Before(over) {
				text := lines(1 + random.IntN(longest))
				var got said
				var err error
				if conn != nil {
					got, err = listenSocket(conn, text, format, rate)
				} else {
					got, err = p.listenREST(context.WithoutCancel(t.Context()), key, text, format, rate, func() {})
				}
				switch {
				case err != nil:
					t.Errorf("client %d: %v", i, err)
					return
				case got.busy:
					refused.Add(1)
					time.Sleep(time.Second + time.Duration(random.IntN(250))*time.Millisecond)
				default:
					frames.Add(int64(got.frames))
					streams.Add(1)
					gaps.Add(int64(got.gaps))
				}
			}
		})
	}
	memory := p.watchMemory(t, length)
	all.Wait()
	p.settled()
	requests, billed := p.billed()
	t.Logf("%d streams, %.0f s of audio, %d refusals, %d late reads, %.0f waits for room; resident MB in tenths of the time: %v",
		streams.Load(), float64(frames.Load())*.08, refused.Load(), gaps.Load(), p.metric(t, "tts_spool_waits_total"),
		memory)
	if int64(requests) != streams.Load() || int64(billed) != frames.Load() {
		t.Errorf("%d requests and %d frames are billed, want %d and %d", requests, billed, streams.Load(),
			frames.Load())
	}
	if audio := p.metric(t, "tts_audio_seconds_total"); audio < float64(billed)*.08-.01 ||
		audio > float64(billed)*.08+.01 {
		t.Errorf("metrics tell of %.2f s of audio, the bill of %.2f", audio, float64(billed)*.08)
	}
	if n := len(memory); n > 2 && memory[n-1] > memory[n/2]*3/2+32 {
		t.Errorf("memory grows: %v MB", memory)
	}
	if refused.Load() == 0 && longest > 3 {
		t.Error("nobody was refused: it was not saturated")
	}
}

// watchMemory returns the most megabytes that were resident in each tenth of a length of time.
func (s *server) watchMemory(t *testing.T, length time.Duration) (most [10]int) {
	t.Helper()
	for i := range most {
		for end := time.Now().Add(length / 10); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
			most[i] = max(most[i], s.rss(t)>>20)
		}
	}
	return most
}

// What BenchmarkListeners measures: give these behind -args.
var (
	binary  = flag.String("binary", "", "measure this `program` instead of bin/swar")
	bundle  = flag.String("bundle", "", "speak with the neural model in this `folder`")
	oneOf   = flag.String("format", "pcm16", "listen to this `format`")
	textFor = flag.Int("lines", 5, "say `n` lines of 4 s at a time")
	from    = flag.Int("from", 1, "try `n` listeners first")
	upTo    = flag.Int("upto", 1024, "try at most `n` listeners")
)

// BenchmarkListeners finds how many clients can listen at the pace of playback to one worker, each beginning the next
// utterance when it has heard one, without one of them being refused. It doubles their number until one is. The
// processor time of the server tells how many one processor could serve if it did nothing else, whatever else this
// machine does; memory is what is resident for each of them.
func BenchmarkListeners(b *testing.B) {
	for range b.N {
		flags := []string{"--workers", "1", "--oversubscribe", "--api-key", "key"}
		if *bundle != "" {
			flags = append(flags, "--bundle", *bundle)
		}
		s := start(b, flags...)
		good, perCPU, kilobytes := 0, 0.0, 0.0
		for n := *from; n <= *upTo; n *= 2 {
			m := s.measureListeners(b, n)
			b.Logf("%4d listeners: %d refused, %.3f %% of a processor and %.0f KB each, %d late reads", n, m.refused,
				100*m.cpu, m.kilobytes, m.gaps)
			if m.refused > 0 {
				break
			}
			good, perCPU, kilobytes = n, 1/m.cpu, m.kilobytes
		}
		b.ReportMetric(float64(good), "listeners/worker")
		b.ReportMetric(perCPU, "listeners/vCPU")
		b.ReportMetric(kilobytes, "KB/listener")
		b.ReportMetric(0, "ns/op")
	}
}

type measured struct {
	refused, gaps  int64
	cpu, kilobytes float64 // of one listener
}

// measureListeners has n clients listen for a while.
func (s *server) measureListeners(b *testing.B, n int) (m measured) {
	b.Helper()
	text := lines(*textFor)
	heard := time.Duration(*textFor) * 4 * time.Second // about
	ctx, stop := context.WithCancel(b.Context())
	var all sync.WaitGroup
	var refused, gaps atomic.Int64
	before := s.rss(b)
	for i := range n {
		all.Go(func() {
			select { // not all begin at once
			case <-time.After(heard * time.Duration(i) / time.Duration(n)):
			case <-ctx.Done():
			}
			for ctx.Err() == nil {
				got, err := s.listenREST(ctx, "key", text, *oneOf, playback[*oneOf], func() {})
				switch {
				case ctx.Err() != nil:
				case err != nil:
					b.Error(err)
					return
				case got.busy:
					refused.Add(1)
					time.Sleep(time.Second)
				}
				gaps.Add(int64(got.gaps))
			}
		})
	}
	time.Sleep(heard)
	cpu, since, most := s.cpu(b), time.Now(), 0
	for end := time.Now().Add(heard * 3 / 2); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		most = max(most, s.rss(b))
	}
	m.cpu = (s.cpu(b) - cpu).Seconds() / time.Since(since).Seconds() / float64(n)
	m.kilobytes = float64(most-before) / 1000 / float64(n)
	stop()
	all.Wait()
	m.refused, m.gaps = refused.Load(), gaps.Load()
	return m
}

// cpu returns how long the processes of the server, and the programs they have run, have used a processor.
func (s *server) cpu(t testing.TB) time.Duration {
	t.Helper()
	var all time.Duration
	for _, p := range s.processes() {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
		if err != nil {
			t.Skipf("no /proc here: %v", err)
		}
		const tick = 10 * time.Millisecond // everywhere that Linux runs
		fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		for _, field := range fields[11:15] { // user and system, own and of children that have ended
			n, err := strconv.Atoi(field)
			if err != nil {
				t.Fatal(err)
			}
			all += time.Duration(n) * tick
		}
	}
	return all
}
