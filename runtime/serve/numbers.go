package serve

import (
	"math"
	mathrand "math/rand/v2"
	"strconv"
	"time"

	"github.com/swar-tts/swar/runtime/ident"
	"github.com/swar-tts/swar/runtime/speech"
)

// The API rounds seconds and ratios to three decimals and milliseconds to one, so that answers stay readable.

func seconds(d time.Duration) float64 { return thousandths(d.Seconds()) }

func millis(d time.Duration) float64 { return math.Round(float64(d)/float64(time.Millisecond)*10) / 10 }

func thousandths(x float64) float64 { return math.Round(x*1000) / 1000 }

// decimal writes a rounded number for a header as JSON would for a body.
func decimal(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

// newRequestID returns an id for a request that came without one.
func newRequestID() string { return ident.New("req_") }

// newSeed returns a seed for an utterance that came without one: 53 random bits, which every JSON reader takes over
// exactly.
func newSeed() int64 { return mathrand.Int64N(1 << 53) }

// validRequestID reports whether id may be a header and a log field: it has 1 to 128 visible ASCII characters.
func validRequestID(id string) bool {
	if id == "" || len(id) > speech.MaxRequestID {
		return false
	}
	for i := range len(id) {
		if id[i] <= ' ' || id[i] > '~' {
			return false
		}
	}
	return true
}
