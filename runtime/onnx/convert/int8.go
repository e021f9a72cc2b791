package convert

import (
	"math"

	"github.com/swar-tts/swar/runtime/internal/graph"
	"github.com/swar-tts/swar/runtime/onnx/bundle"
)

// Weights use all of a byte. Products of such bytes do not fit 16 bits two by two, so that nothing may add them
// there: the engine multiplies with kernels of its own, which add in 32 bits. A bit less in the weights would cost
// more than it spares: on the models of testdata the state is off by 2.4 to 3.4 % instead of 1.5 to 2.1 %, and where
// the end of speech hangs on it, speech ends elsewhere.
const weightRange = 127

// integerMatrices is what the manifest says about them.
var integerMatrices = bundle.Quantised{
	Matrices: "of the transformers, and the modulations and blocks of the flow; convolutions and all else are fp32",
	Weights:  "int8, symmetric, a scale for each output, -127 to 127",
	Rows:     "uint8, a scale for each row, zero at 128",
}

// countRows says that what is multiplied from here on has as many rows as x, which is of rank two.
func (b *builder) countRows(x graph.Value) {
	if b.c.Precision == bundle.Int8 {
		b.zeros = b.RowZeros(x)
	}
}

// multiply multiplies rows, of rank two, by a matrix of [in, out]. See countRows.
//
// With integers, every row has a scale of its own. A scale for all rows at once would be cheaper, but then what a row
// becomes would depend on the others: on who else is in a batch, and on how long the text is.
func (b *builder) multiply(x graph.Value, name string, matrix []float32, in, out int) graph.Value {
	if b.c.Precision != bundle.Int8 {
		return b.Op("MatMul", []graph.Value{x, b.Floats(name, matrix, in, out)})
	}
	integers, scales := quantise(matrix, in, out)
	return b.MultiplyRows(x, b.zeros, name, integers, scales, in, out)
}

// quantise rounds a matrix of [in, out] to integers and a scale for each output.
func quantise(matrix []float32, in, out int) (integers []int8, scales []float32) {
	integers, scales = make([]int8, len(matrix)), make([]float32, out)
	for i, v := range matrix {
		scales[i%out] = max(scales[i%out], float32(math.Abs(float64(v)))/weightRange)
	}
	for i := range in {
		for j, s := range scales {
			if s > 0 {
				integers[i*out+j] = int8(math.RoundToEven(float64(matrix[i*out+j] / s)))
			}
		}
	}
	return integers, scales
}
