//go:build fleetbench

package fleetbench

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/swar-tts/swar/runtime/fleet/link"
	"github.com/swar-tts/swar/runtime/speech"
)

// times are how long something took, many times.
type times struct {
	mu  sync.Mutex
	all []time.Duration
}

func (d *times) add(v time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.all = append(d.all, v)
}

func (d *times) at(share float64) time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.all) == 0 {
		return 0
	}
	slices.Sort(d.all)
	return d.all[min(int(share*float64(len(d.all))), len(d.all)-1)]
}

func (d *times) String() string {
	return fmt.Sprintf("p50 %.2f ms, p99 %.2f ms of %d", ms(d.at(.5)), ms(d.at(.99)), len(d.all))
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func text(i, length int) string {
	return strings.Repeat(fmt.Sprintf("Aapka order number %d kal tak deliver ho jayega. ", i), max(length/48, 1))
}

var httpClient = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 1000, MaxConnsPerHost: 0}}

// post speaks by the API and returns when the first byte came, and how many frames did.
func post(ctx context.Context, address, text string) (first time.Duration, frames int, err error) {
	body, err := json.Marshal(map[string]any{"text": text, "format": "pcm16", "raw": true, "seed": 1})
	if err != nil {
		return 0, 0, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+address+"/v1/tts",
		strings.NewReader(string(body)))
	if err != nil {
		return 0, 0, err
	}
	req.Header.Set("Content-Type", "application/json")
	begin := time.Now()
	resp, err := httpClient.Do(req)
	if err != nil {
		return 0, 0, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		_, _ = io.Copy(io.Discard, resp.Body)
		return time.Since(begin), 0, fmt.Errorf("status %d", resp.StatusCode)
	}
	buffer := make([]byte, 16<<10)
	n, err := io.ReadAtLeast(resp.Body, buffer, 1)
	first = time.Since(begin)
	if err != nil {
		return first, 0, err
	}
	rest, err := io.CopyBuffer(io.Discard, resp.Body, buffer)
	return first, (n + int(rest)) / speech.FrameBytes, err
}

// sinkOf notes when the first block came.
type firstSink struct {
	begin time.Time
	first time.Duration
}

func (*firstSink) Start(speech.Start) error       { return nil }
func (*firstSink) ChunkStart(speech.Chunk) error  { return nil }
func (*firstSink) ChunkEnd(speech.ChunkEnd) error { return nil }
func (f *firstSink) Audio(speech.Audio) error {
	if f.first == 0 {
		f.first = time.Since(f.begin)
	}
	return nil
}

// direct speaks by gRPC, as a router does.
func direct(ctx context.Context, c *link.Client, number uint64, text string) (first time.Duration, err error) {
	u := speech.Utterance{RequestID: "bench", Text: text, Voice: "anjura", Format: speech.PCM16, Raw: true, Seed: 1}
	sink := &firstSink{begin: time.Now()}
	o := c.Speak(ctx, u, speech.Turn{}, link.Attempt{Router: 1, Number: number}, sink, func() {})
	return sink.first, o.Err
}

// crowd has n clients do something again and again until the time is over. They begin spread over a second.
func crowd(t testing.TB, n int, d time.Duration, do func(ctx context.Context, client, round int) error) {
	t.Helper()
	end := time.Now().Add(d)
	var clients sync.WaitGroup
	for i := range n {
		clients.Go(func() {
			time.Sleep(time.Duration(i) * time.Second / time.Duration(n))
			for round := 0; time.Now().Before(end); round++ {
				if err := do(context.Background(), i, round); err != nil {
					t.Errorf("client %d: %v", i, err)
					return
				}
			}
		})
	}
	clients.Wait()
}
