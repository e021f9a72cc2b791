//go:build operatorbench

package operatorbench

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// samples calls f with every sample of a metric that somebody serves.
func (b *bench) samples(c *http.Client, url, metric string, f func(labels string, value float64)) {
	answer, err := c.Get(url)
	if err != nil {
		b.t.Logf("reading metrics: %v", err)
		return // not yet
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusOK {
		b.t.Fatalf("reading metrics: %s", answer.Status)
	}
	lines := bufio.NewScanner(answer.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		series, text, _ := strings.Cut(lines.Text(), "} ")
		got, labels, _ := strings.Cut(series, "{")
		if value, err := strconv.ParseFloat(text, 64); got == metric && err == nil {
			f(labels, value)
		}
	}
	_, _ = io.Copy(io.Discard, answer.Body)
}

func (b *bench) ofOperator(metric string, f func(labels string, value float64)) {
	b.samples(http.DefaultClient, "http://"+b.metrics+"/metrics", metric, f)
}

func (b *bench) sum(metric string) (sum float64) {
	b.ofOperator(metric, func(_ string, value float64) { sum += value })
	return sum
}

func (b *bench) count(metric string) (n int) {
	b.ofOperator(metric, func(string, float64) { n++ })
	return n
}

// writes counts requests to the API server that write, but for leases, by which processes tell that they live.
func (b *bench) writes() (n float64) {
	b.samples(b.http, b.host+"/metrics", "apiserver_request_total", func(labels string, value float64) {
		isRead := strings.Contains(labels, `verb="GET"`) || strings.Contains(labels, `verb="LIST"`) ||
			strings.Contains(labels, `verb="WATCH"`)
		if !isRead && !strings.Contains(labels, `resource="leases"`) {
			n += value
		}
	})
	if n == 0 {
		b.t.Fatal("the API server does not say how much has been written")
	}
	return n
}

// histogram counts looks by their upper bound in seconds.
type histogram map[float64]float64

// buckets are those of the time that looking at a fleet takes.
func (b *bench) buckets() histogram {
	h := histogram{}
	b.ofOperator("controller_runtime_reconcile_time_seconds_bucket", func(labels string, value float64) {
		_, bound, _ := strings.Cut(labels, `le="`)
		bound, _, _ = strings.Cut(bound, `"`)
		le, err := strconv.ParseFloat(bound, 64)
		if err != nil {
			b.t.Fatalf("a bucket of %q: %v", labels, err)
		}
		h[le] += value
	})
	return h
}

func (h histogram) count() float64 { return h[math.Inf(1)] }

func (h histogram) minus(before histogram) histogram {
	all := histogram{}
	for le, n := range h {
		all[le] = n - before[le]
	}
	return all
}

// below returns the least bound of a bucket that a share of all looks is below.
func (h histogram) below(share float64) string {
	for _, le := range slices.Sorted(maps.Keys(h)) {
		if h[le] >= share*h.count() {
			return fmt.Sprintf("%.0f ms", 1000*le)
		}
	}
	return "no bound"
}

// memory returns a figure of the operator in MB.
func (b *bench) memory(figure string) int {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", b.operator.Process.Pid))
	if err != nil {
		b.t.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, figure+":"); ok {
			kb, err := strconv.Atoi(strings.Fields(rest)[0])
			if err != nil {
				b.t.Fatal(err)
			}
			return kb / 1000
		}
	}
	b.t.Fatalf("no %s", figure)
	return 0
}

// cpu returns the processor time that the operator has used.
func (b *bench) cpu() time.Duration {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", b.operator.Process.Pid))
	if err != nil {
		b.t.Fatal(err)
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	var hundredths int64
	for _, field := range fields[11:13] { // user and system
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			b.t.Fatal(err)
		}
		hundredths += n
	}
	return time.Duration(hundredths) * 10 * time.Millisecond
}
