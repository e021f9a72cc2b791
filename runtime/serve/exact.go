package serve

import (
	"cmp"
	"math"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// exactNumber is a JSON number as it was written, digits × 10^exponent. A float would round 2.0000000000000000001 to 2
// before it can be compared with a limit.
type exactNumber struct {
	negative bool
	digits   string // without zeros at either end; empty for 0
	exponent int    // of the last digit
}

// exactly takes the value of v, which must be a JSON number, apart.
func exactly(v jsontext.Value) exactNumber {
	mantissa, exponent := string(v), 0
	if i := strings.IndexAny(mantissa, "eE"); i >= 0 {
		// Atoi answers with the largest int when the exponent has more digits than that; half of it leaves room for
		// the sum below.
		exponent, _ = strconv.Atoi(mantissa[i+1:])
		exponent = max(min(exponent, math.MaxInt/2), math.MinInt/2)
		mantissa = mantissa[:i]
	}
	mantissa, negative := strings.CutPrefix(mantissa, "-")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	n := exactNumber{negative: negative, digits: strings.TrimRight(digits, "0")}
	n.exponent = exponent + len(digits) - len(n.digits) - len(fraction)
	return n
}

// isInteger reports whether there is no fraction, however the number is written: 24000, 24000.0 and 2.4e4 are the
// same.
func (n exactNumber) isInteger() bool { return n.digits == "" || n.exponent >= 0 }

// int64 returns an integer if it has 64 bits or fewer.
func (n exactNumber) int64() (int64, bool) {
	const most = 19 // digits of the largest one
	if n.digits == "" {
		return 0, true
	}
	if len(n.digits)+n.exponent > most {
		return 0, false
	}
	text := n.digits + strings.Repeat("0", n.exponent)
	if n.negative {
		text = "-" + text
	}
	i, err := strconv.ParseInt(text, 10, 64)
	return i, err == nil
}

// compareDigit compares with a whole number from 1 to 9, as [cmp.Compare] does.
func (n exactNumber) compareDigit(digit byte) int {
	if n.digits == "" || n.negative {
		return -1
	}
	if places := len(n.digits) + n.exponent; places != 1 { // before the point
		return cmp.Compare(places, 1)
	}
	if n.digits[0] != '0'+digit {
		return cmp.Compare(n.digits[0], '0'+digit)
	}
	return cmp.Compare(len(n.digits), 1)
}

// below0 reports whether the number is less than zero, which -0 is not.
func (n exactNumber) below0() bool { return n.negative && n.digits != "" }
