//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestQueuesOfTwoRouters: of 52 utterances that reach two routers at the same moment, six get the six slots, at most
// eight wait at each router, and the rest are refused at once, also where both routers have sent for the same slot and
// one of them gets its utterance back.
func TestQueuesOfTwoRouters(t *testing.T) {
	fleetOnly(t)
	const slots, queue, crowd = 6, 8, 52
	f := fleet{token: writeToken(t)}
	var workers []*process
	for range 3 {
		w := f.newWorker(t, "--engine", "espeak", "--workers", "2", "--oversubscribe")
		w.begin(t)
		workers = append(workers, w)
	}
	var routers []*server
	for i := range 2 {
		// Without a spool a listener that does not read keeps its slot.
		router, base := f.newRouter(t, filepath.Join(t.TempDir(), fmt.Sprint("router-", i)), "--open", "--spool", "0")
		router.begin(t)
		routers = append(routers, &server{base: base, router: router, workers: workers})
	}
	for range 3 {
		for _, r := range routers {
			r.waitReady(t)
			r.until(t, "it sees that every slot is free",
				func(h health) bool { return h.Workers == slots && h.Busy == 0 })
		}
		answers := askAtOnce(t, routers, crowd)
		var heard, waited, refused int
		var slowest time.Duration
		for _, a := range answers {
			switch {
			case a.status == http.StatusOK:
				heard++
			case a.status != http.StatusServiceUnavailable || !strings.Contains(a.body, `"busy"`):
				t.Errorf("status %d, %s", a.status, a.body)
			case a.took > time.Second:
				waited++
			default:
				refused++
				slowest = max(slowest, a.took)
			}
		}
		t.Logf("%d heard, %d waited in vain, %d were refused at once, the last of them after %v", heard, waited,
			refused, slowest)
		if most := len(routers) * queue; heard != slots || waited > most || waited == 0 ||
			heard+waited+refused != crowd {
			t.Errorf("%d heard, %d waited, %d were refused at once; want %d, at most %d and the rest", heard, waited,
				refused, slots, most)
		}
	}
}

// answer is what came of one of the utterances.
type answer struct {
	status int
	body   string // of a refusal
	took   time.Duration
}

// askAtOnce sends one utterance over each of so many connections, alternately to the servers, and keeps those that
// speak until all have answered.
func askAtOnce(t *testing.T, servers []*server, n int) []answer {
	t.Helper()
	ctx, leave := context.WithCancel(t.Context())
	answers := make([]answer, n)
	start := make(chan struct{})
	var connected, answered, left sync.WaitGroup
	for i := range answers {
		connected.Add(1)
		answered.Add(1)
		left.Go(func() {
			client := &http.Client{Transport: &http.Transport{}}
			defer client.CloseIdleConnections()
			base := servers[i%len(servers)].base
			if resp, err := client.Get(base + "/healthz"); err == nil { // so that dialling takes no time later
				_, _ = io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
			}
			connected.Done()
			<-start
			began := time.Now()
			answers[i] = ask(ctx, client, base, i)
			answers[i].took = time.Since(began)
			answered.Done()
			<-ctx.Done()
		})
	}
	connected.Wait()
	close(start)
	answered.Wait()
	leave()
	left.Wait()
	return answers
}

// ask asks for a long text that no other asks for. An answer that is speech goes on until ctx ends.
func ask(ctx context.Context, client *http.Client, base string, number int) answer {
	text := fmt.Sprintf(`{"text":"%d. %s","format":"pcm16"}`, number, strings.TrimSpace(longText))
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, base+"/v1/tts", strings.NewReader(text))
	if err != nil {
		return answer{body: err.Error()}
	}
	resp, err := client.Do(req)
	if err != nil {
		return answer{body: err.Error()}
	}
	if resp.StatusCode == http.StatusOK {
		return answer{status: resp.StatusCode} // its body is closed with ctx
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return answer{body: err.Error()}
	}
	return answer{status: resp.StatusCode, body: string(body)}
}
