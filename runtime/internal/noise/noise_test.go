package noise

import (
	"math"
	"slices"
	"testing"
)

func TestPhiloxEqualsItsPublishedVectors(t *testing.T) {
	tests := []struct {
		counter [4]uint32
		key     [2]uint32
		want    [4]uint32
	}{
		{[4]uint32{}, [2]uint32{}, [4]uint32{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
		{
			[4]uint32{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, [2]uint32{0xffffffff, 0xffffffff},
			[4]uint32{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd},
		},
		{
			[4]uint32{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, [2]uint32{0xa4093822, 0x299f31d0},
			[4]uint32{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1},
		},
	}
	for _, tt := range tests {
		if got := philox(tt.counter, tt.key); got != tt.want {
			t.Errorf("philox(%x, %x) = %x, want %x", tt.counter, tt.key, got, tt.want)
		}
	}
}

func TestNoiseIsNormal(t *testing.T) {
	const n = 200_000
	z := make([]float32, n)
	Fill(z, -3, 2, 1, 1, 0)
	mean, variance, tail := 0.0, 0.0, 0
	for _, v := range z {
		mean += float64(v) / n
		variance += float64(v) * float64(v) / n
		if math.Abs(float64(v)) > 1.959964 {
			tail++
		}
	}
	if math.Abs(mean) > .01 || math.Abs(variance-1) > .015 || math.Abs(float64(tail)/n-.05) > .003 {
		t.Errorf("mean %.4f, variance %.4f, %.4f beyond 1.96", mean, variance, float64(tail)/n)
	}
}

func TestNoiseDependsOnItsPlaceAlone(t *testing.T) {
	draw := func(n int, seed int64, chunk, frame int, sigma, clamp float64) []float32 {
		z := make([]float32, n)
		Fill(z, seed, chunk, frame, sigma, clamp)
		return z
	}
	want := draw(32, 7, 1, 5, 1, 0)
	if !slices.Equal(draw(32, 7, 1, 5, 1, 0), want) {
		t.Error("the same draw twice differs")
	}
	if !slices.Equal(draw(31, 7, 1, 5, 1, 0), want[:31]) {
		t.Error("a shorter draw is not the beginning of a longer one")
	}
	for name, got := range map[string][]float32{
		"seed": draw(32, 8, 1, 5, 1, 0), "high half of the seed": draw(32, 7+1<<32, 1, 5, 1, 0),
		"chunk": draw(32, 7, 2, 5, 1, 0), "frame": draw(32, 7, 1, 6, 1, 0),
	} {
		if slices.Equal(got, want) {
			t.Errorf("another %s draws the same", name)
		}
	}
	if got := draw(4, 7, 1, 5, 0, 0); !slices.Equal(got, make([]float32, 4)) {
		t.Errorf("without deviation the draw is %v", got)
	}
	for _, v := range draw(1000, 7, 1, 5, 2, 1.5) {
		if v < -1.5 || v > 1.5 {
			t.Fatalf("%v lies outside the clamp of 1.5", v)
		}
	}
}
