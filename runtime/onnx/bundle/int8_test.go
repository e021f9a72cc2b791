package bundle

import (
	"math"
	"slices"
	"testing"
)

func TestQuantiseRoundsEachOutputByItsOwnScale(t *testing.T) {
	// Two inputs, three outputs: small, large, all zeros.
	integers, scales := quantise([]float32{.63, -63, 0, -.315, 20.4, 0}, 2, 3)
	if want := []int8{63, -63, 0, -32, 20, 0}; !slices.Equal(integers, want) && !slices.Equal(integers, []int8{63, -63, 0, -31, 20, 0}) {
		t.Errorf("integers %v, want %v", integers, want)
	}
	for i, want := range []float64{.01, 1, 0} {
		if math.Abs(float64(scales[i])-want) > 1e-6 {
			t.Errorf("scale %d is %v, want %v", i, scales[i], want)
		}
	}
}

func TestQuantiseIsOffByHalfAStepAtMost(t *testing.T) {
	w := &randomWeights{seed: 3}
	const in, out = 64, 48
	matrix, err := w.Floats("any.weight", in, out)
	if err != nil {
		t.Fatal(err)
	}
	integers, scales := quantise(matrix, in, out)
	for i, v := range matrix {
		s := scales[i%out]
		if n := integers[i]; n < -weightRange || n > weightRange {
			t.Fatalf("value %d became %d, beyond seven bits", i, n)
		}
		if d := math.Abs(float64(v - float32(integers[i])*s)); d > float64(s)*.5001 {
			t.Fatalf("value %d is off by %g, more than half of %g", i, d, s)
		}
	}
}
