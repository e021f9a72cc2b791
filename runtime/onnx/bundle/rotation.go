package bundle

import "math"

// RotationFrequencies returns the angle of each pair of a head from one position to the next. It is computed in
// float32, as in training.
func RotationFrequencies(period float64, headDim int) []float32 {
	f := make([]float32, headDim/2)
	for i := range f {
		f[i] = float32(math.Exp(float64(i) * -math.Log(period) * 2 / float64(headDim)))
	}
	return f
}

// Rotations writes the cosines and sines of count positions from the given one on, one row of frequencies each.
func Rotations(cos, sin []float32, frequencies []float32, position, count int) {
	for p := range count {
		for i, f := range frequencies {
			angle := float64(f * float32(position+p))
			cos[p*len(frequencies)+i], sin[p*len(frequencies)+i] = float32(math.Cos(angle)), float32(math.Sin(angle))
		}
	}
}
