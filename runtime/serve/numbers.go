package serve

import (
	"crypto/rand"
	"math"
	mathrand "math/rand/v2"
	"strconv"
	"time"

	"github.com/swar-tts/swar/runtime/speech"
)

// The API rounds seconds and ratios to three decimals and milliseconds to one, so that answers stay readable.

func seconds(d time.Duration) float64 { return thousandths(d.Seconds()) }

func millis(d time.Duration) float64 { return math.Round(float64(d)/float64(time.Millisecond)*10) / 10 }

func thousandths(x float64) float64 { return math.Round(x*1000) / 1000 }

// decimal writes a rounded number for a header as JSON would for a body.
func decimal(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

// crockford is base 32 without the letters that are taken for digits or for one another.
const crockford = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

// newRequestID returns an id for a request that came without one: 130 random bits.
func newRequestID() string {
	const prefix = "req_"
	var random [26]byte
	rand.Read(random[:]) // never fails
	id := [len(prefix) + len(random)]byte([]byte(prefix + crockford[:len(random)]))
	for i, b := range random {
		id[len(prefix)+i] = crockford[b%32]
	}
	return string(id[:])
}

// newSeed returns a seed for an utterance that came without one: 53 random bits, which every JSON reader takes over exactly.
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
