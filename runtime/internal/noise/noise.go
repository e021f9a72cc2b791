// Package noise draws random numbers that depend on where they are used and not on what was drawn before.
package noise

import (
	"math"
	"math/bits"
)

// Fill fills z with draws from a normal distribution of the given standard deviation.
//
// A draw depends on its seed, chunk, frame and place alone and not on what was drawn before: no scheduling can shift
// it. It is Philox 4x32-10, a counter turned into random bits, and Box and Muller's transform of them in double
// precision.
func Fill(z []float32, seed int64, chunk, frame int, sigma, clamp float64) {
	if sigma == 0 {
		clear(z)
		return
	}
	key := [2]uint32{uint32(seed), uint32(uint64(seed) >> 32)}
	for i := 0; i < len(z); i += 2 {
		r := philox([4]uint32{uint32(i / 2), uint32(frame), uint32(chunk), 0}, key)
		// Both lie in (0, 1], so that the logarithm is finite.
		u := (float64((uint64(r[0])<<32|uint64(r[1]))>>11) + 1) / (1 << 53)
		v := (float64((uint64(r[2])<<32|uint64(r[3]))>>11) + 1) / (1 << 53)
		radius := math.Sqrt(-2 * math.Log(u))
		sin, cos := math.Sincos(2 * math.Pi * v)
		z[i] = limit(radius*cos*sigma, clamp)
		if i+1 < len(z) {
			z[i+1] = limit(radius*sin*sigma, clamp)
		}
	}
}

func limit(v, clamp float64) float32 {
	if clamp > 0 {
		v = min(max(v, -clamp), clamp)
	}
	return float32(v)
}

// philox is ten rounds of Philox 4x32 (Salmon, Moraes, Dror and Shaw, 2011).
func philox(c [4]uint32, k [2]uint32) [4]uint32 {
	for range 10 {
		high0, low0 := bits.Mul32(0xd2511f53, c[0])
		high1, low1 := bits.Mul32(0xcd9e8d57, c[2])
		c = [4]uint32{high1 ^ c[1] ^ k[0], low1, high0 ^ c[3] ^ k[1], low0}
		k[0] += 0x9e3779b9
		k[1] += 0xbb67ae85
	}
	return c
}
