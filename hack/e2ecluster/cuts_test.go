//go:build e2ecluster

package e2ecluster

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/swar-tts/swar/runtime/contract"
)

// cuts is what routers have counted of tts_streams_cut_total, by cause. Routers come and go, so the last figure of each
// is kept.
type cuts struct {
	mu   sync.Mutex
	last map[string]map[string]float64 // by router, by cause
}

// watchCuts asks all routers each second until the test ends.
func watchCuts(t *testing.T) *cuts {
	c := &cuts{last: make(map[string]map[string]float64)}
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		for ctx.Err() == nil {
			routers, _ := tryKubectl("get", "pods", "-l", component("router"), "-o",
				"jsonpath={range .items[*]}{.metadata.name}/{.status.podIP} {end}")
			for router := range strings.FieldsSeq(routers) {
				name, address, _ := strings.Cut(router, "/")
				c.ask(ctx, name, address)
			}
			select {
			case <-time.After(time.Second):
			case <-ctx.Done():
			}
		}
	})
	t.Cleanup(func() { stop(); running.Wait() })
	return c
}

// ask reads the metrics of a router, which may be gone by now.
func (c *cuts) ask(ctx context.Context, name, address string) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	url := fmt.Sprintf("http://%s:%d/metrics", address, contract.RouterProbe)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return
	}
	defer func() { _ = answer.Body.Close() }()
	counts := make(map[string]float64)
	for lines := bufio.NewScanner(answer.Body); lines.Scan(); {
		rest, ok := strings.CutPrefix(lines.Text(), `tts_streams_cut_total{cause="`)
		cause, value, isPair := strings.Cut(rest, `"} `)
		if n, err := strconv.ParseFloat(value, 64); ok && isPair && err == nil {
			counts[cause] = n
		}
	}
	if len(counts) == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last[name] = counts
}

// judge wants what the platform does on purpose to have cut nothing, and says what faults have cut.
func (c *cuts) judge(t *testing.T) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.last) == 0 {
		t.Error("no router has said what was cut")
	}
	sum := make(map[string]float64)
	for _, counts := range c.last {
		for cause, n := range counts {
			sum[cause] += n
		}
	}
	t.Logf("%d routers have counted streams cut: %v", len(c.last), sum)
	for _, cause := range []string{"drain", "router_drain"} {
		if n, ok := sum[cause]; n != 0 || !ok {
			t.Errorf("%v streams were cut by %s (known: %v), want none", n, cause, ok)
		}
	}
}
