//go:build e2e

package e2e

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"testing"
	"time"
)

// BenchmarkFirstByte measures, as a client sees it, the time from sending a request to the first bytes of audio, and to
// the last.
func BenchmarkFirstByte(b *testing.B) {
	s := start(b, "--workers", "1")
	for _, bm := range []struct {
		name string
		text func(i int) string
	}{
		{"line heard before", func(int) string { return sentence }},
		{"new line", func(i int) string { return fmt.Sprintf("%s %d", sentence, i) }},
	} {
		b.Run(bm.name, func(b *testing.B) {
			var first, last []time.Duration
			for i := 0; b.Loop(); i++ {
				began := time.Now()
				resp, err := s.post(b.Context(), "/v1/tts", fmt.Sprintf(`{"text":%q,"format":"pcm16"}`, bm.text(i)))
				if err != nil {
					b.Fatal(err)
				}
				if resp.StatusCode != http.StatusOK {
					b.Fatal(resp.Status)
				}
				if _, err := io.ReadFull(resp.Body, make([]byte, 3840)); err != nil {
					b.Fatal(err)
				}
				first = append(first, time.Since(began))
				if _, err := io.Copy(io.Discard, resp.Body); err != nil {
					b.Fatal(err)
				}
				last = append(last, time.Since(began))
				_ = resp.Body.Close()
			}
			b.ReportMetric(percentile(first, 50), "first-p50-ms")
			b.ReportMetric(percentile(first, 99), "first-p99-ms")
			b.ReportMetric(percentile(last, 50), "all-p50-ms")
		})
	}
}

func percentile(d []time.Duration, p int) float64 {
	slices.Sort(d)
	return float64(d[(len(d)-1)*p/100]) / float64(time.Millisecond)
}
