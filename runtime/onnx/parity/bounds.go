package parity

import "math"

// Measure is how two arrays are compared.
type Measure int

// The ways to compare.
const (
	Largest     Measure = iota // the largest absolute difference of two values; of what must be equal, how many are not
	RelativeRMS                // the root mean square of the differences, as a part of that of the reference
)

// mostPlansApart bounds what two plans of decoding the same latents may differ by. The reference's own lie up to
// 1.2e-6 apart, and last bits depend on the processor. One sample of 16 bits is 3e-5.
const mostPlansApart = 3e-6

// integerBounds says how far a model in int8 may be from the reference, which computes in floats, by [RelativeRMS].
// Each step starts from the reference's latent of the step before, and the codec from the reference's latents, so
// that nothing adds up and every step stands for itself. A mistake in the scales, or sums that a processor cuts off,
// are off by a factor and not by percents.
//
// A quantity that is not named here does not depend on integers, and is compared as in fp32.
var integerBounds = map[string]float64{ // with what the cases of testdata give
	"kv_text":                 .02, // 0.9 to 1.3 %; the positions of the voice are exact
	"h":                       .03, // 1.5 to 2.1 %
	"eos_logit":               .08, // 0 to 5.5 %, a small difference of large sums
	"latent":                  .03, // 2.0 to 2.8 %
	"flow_dir":                .04, // 2.9 %: the latent without its noise, which has no error
	"audio":                   .03, // 1.0 to 1.9 %
	"audio_first_frame_faded": .03, // 1.0 to 1.6 %
}

// distance returns how far got is from want, which has the same length: infinite when either holds what is not a
// number.
func (m Measure) distance(got, want []float32) float64 {
	worst, difference, size := 0.0, 0.0, 0.0
	for i := range got {
		d := math.Abs(float64(got[i]) - float64(want[i]))
		if math.IsNaN(d) {
			return math.Inf(1)
		}
		worst = max(worst, d)
		difference += d * d
		size += float64(want[i]) * float64(want[i])
	}
	if m == Largest || difference == 0 {
		return worst
	}
	return math.Sqrt(difference / size)
}
