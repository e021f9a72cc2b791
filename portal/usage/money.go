package usage

import (
	"fmt"
	"math"
	"math/bits"
)

// FramesPerMinute is the number of frames of 80 ms in a minute. A rate is paise for this number of frames.
const FramesPerMinute = 750

// DefaultRate is the price of the API: 20 paise a minute of audio.
const DefaultRate = 20

// Rate is a price and the month from which it holds.
type Rate struct {
	From  string // such as 2026-11; empty for the first rate
	Paise int64  // a minute of audio
}

// Rates is a history of prices, in order of month. An empty one means [DefaultRate].
type Rates []Rate

// at returns the price in a month, in paise a minute.
func (r Rates) at(month string) int64 {
	paise := int64(DefaultRate)
	for _, rate := range r {
		if rate.From <= month {
			paise = rate.Paise
		}
	}
	return paise
}

func (r Rates) check() error {
	for i, rate := range r {
		if rate.Paise < 0 {
			return fmt.Errorf("rate from %q: a price of %d paise; want 0 or more", rate.From, rate.Paise)
		}
		if rate.From != "" && monthOf(rate.From+"-01") != rate.From {
			return fmt.Errorf("rate from %q: want a month such as 2026-11", rate.From)
		}
		if i > 0 && rate.From <= r[i-1].From {
			return fmt.Errorf("rate from %q comes behind the one from %q: want them in order of month", rate.From,
				r[i-1].From)
		}
	}
	return nil
}

// Paise returns the price of billed frames at a rate in paise a minute. It is billed × rate ÷ 750, rounded half up: 750
// frames at 20 → 20. It is for the frames of a whole month at once, because roundings of parts would add up. It is
// exact for every number; a negative one, which only a fault can cause, costs nothing, and an overflow is the largest
// amount there is.
func Paise(billed, rate int64) int64 {
	if billed <= 0 || rate <= 0 {
		return 0
	}
	hi, lo := bits.Mul64(uint64(billed), 2*uint64(rate))
	lo, carry := bits.Add64(lo, FramesPerMinute, 0)
	hi += carry
	if hi >= 2*FramesPerMinute {
		return math.MaxInt64
	}
	paise, _ := bits.Div64(hi, lo, 2*FramesPerMinute)
	return int64(min(paise, math.MaxInt64))
}

// Rupees writes paise as rupees with two decimals, such as 12.05. It is a JSON number.
func Rupees(paise int64) string { return decimal(paise, 100, 2) }

// Seconds writes how long frames sound in seconds with two decimals, which is exact. It is a JSON number.
func Seconds(frames int64) string { return decimal(8*frames, 100, 2) }

// Minutes writes how long frames sound in minutes with three decimals, rounded half away from zero. It is a JSON
// number.
func Minutes(frames int64) string {
	half := int64(3)
	if frames < 0 {
		half = -3
	}
	return decimal((8*frames+half)/6, 1000, 3) // a frame is 4/3 of a thousandth
}

// decimal writes n ÷ unit, where unit is ten to the power of digits.
func decimal(n, unit int64, digits int) string {
	sign := ""
	if n < 0 {
		sign, n = "-", -n
	}
	return fmt.Sprintf("%s%d.%0*d", sign, n/unit, digits, n%unit)
}
