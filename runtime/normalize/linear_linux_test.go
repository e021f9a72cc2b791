package normalize

import (
	"testing"

	"github.com/swar-tts/swar/internal/testenv/lineartest"
)

// TestChainsTakeLinearTime compares a chain with one of 64 times its length.
func TestChainsTakeLinearTime(t *testing.T) {
	if raceDetector {
		t.Skip("the memory of the race detector makes long texts slow")
	}
	const short = 2000
	for _, link := range links {
		lineartest.Check(t, link, chain(link, short), chain(link, lineartest.Times*short),
			func(text string) { Text(text, Options{}) })
	}
}
