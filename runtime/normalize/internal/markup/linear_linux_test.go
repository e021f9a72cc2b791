package markup

import (
	"strings"
	"testing"

	"github.com/swar-tts/swar/internal/testenv/lineartest"
)

func TestChainsTakeLinearTime(t *testing.T) {
	const short = 4000
	for _, link := range links {
		lineartest.Check(t, link, strings.Repeat(link, short/len(link)),
			strings.Repeat(link, lineartest.Times*short/len(link)), func(text string) { Scan(text) })
	}
}
