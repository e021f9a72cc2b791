package normalize

import (
	"testing"

	"github.com/swar-tts/swar/internal/testenv/lineartest"
)

// TestChainsTakeLinearTime compares a chain of 1,000 bytes with one of 64,000: of each kind of token in a row, with and
// without spaces between.
func TestChainsTakeLinearTime(t *testing.T) {
	if raceDetector {
		t.Skip("the memory of the race detector makes long texts slow")
	}
	const short = 1000
	for _, link := range links {
		for _, link := range []string{link, link + " "} {
			lineartest.Check(t, link, chain(link, short), chain(link, lineartest.Times*short),
				func(text string) { Text(text, Options{}) })
		}
	}
}
