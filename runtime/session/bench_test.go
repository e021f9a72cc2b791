package session

import (
	"strings"
	"testing"
)

// BenchmarkAppend feeds texts character by character, which is the most that a client can ask for.
func BenchmarkAppend(b *testing.B) {
	for name, text := range map[string]string{
		"dialogue":    dialogue[0],
		"no end":      strings.Repeat("थ ", 1000),
		"no space":    strings.Repeat("a", 3000),
		"dots":        strings.Repeat("a.", 1500),
		"short forms": strings.Repeat("Dr. ", 700),
		"pauses":      strings.Repeat("5… ", 700),
	} {
		characters := strings.Split(text, "")
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				var c cutter
				for _, m := range characters {
					c.add(m, Exact)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(characters)), "ns/message")
		})
	}
}
