package convert

import (
	"math"
	"testing"

	"github.com/swar-tts/swar/runtime/internal/graph"
	"github.com/swar-tts/swar/runtime/internal/ort"
	"github.com/swar-tts/swar/runtime/internal/orttest"
	"github.com/swar-tts/swar/runtime/onnx/bundle"
)

// form is a way to build a convolution, with what its definition makes of x, [channels][positions], with zeros before
// the first one.
type form struct {
	build  func(b *codecBuilder, x graph.Value) graph.Value
	want   func(w *randomWeights, x [][]float32) [][]float32
	out    int // channels
	scale  int // outputs of a position
	states int
}

const (
	formIn, formOut = 6, 4
	formStride      = 5
	formTaps        = 3
)

func forms() map[string]form {
	transposed := func(w *randomWeights, x [][]float32) [][]float32 {
		weight := values(w, "c.weight", formIn, formOut, 2*formStride)
		return stretch(x, values(w, "c.bias", formOut),
			func(out, in, tap int) float32 { return weight[(in*formOut+out)*2*formStride+tap] })
	}
	return map[string]form{
		"transposed": {
			build: func(b *codecBuilder, x graph.Value) graph.Value {
				return b.transposed(x, "c", formIn, formOut, formStride)
			},
			want: transposed, out: formOut, scale: formStride, states: 1,
		},
		"transposed, in pairs": {
			build: func(b *codecBuilder, x graph.Value) graph.Value {
				return b.transposedPairs(x, "c", formIn, formOut, formStride)
			},
			want: transposed, out: formOut, scale: formStride, states: 1,
		},
		"transposed, each channel for itself": {
			build: func(b *codecBuilder, x graph.Value) graph.Value { return b.upsample(x, "c", formIn, formStride) },
			want: func(w *randomWeights, x [][]float32) [][]float32 {
				weight := values(w, "c.weight", formIn, 1, 2*formStride)
				return stretch(x, make([]float32, formIn), func(out, in, tap int) float32 {
					if in != out {
						return 0
					}
					return weight[out*2*formStride+tap]
				})
			},
			out: formIn, scale: formStride, states: 1,
		},
		"plain":                  plain(formTaps, formOut, func(b *codecBuilder, x graph.Value) graph.Value { return b.conv(x, "c", formOut, formIn, formTaps) }),
		"plain, of one position": plain(1, formOut, func(b *codecBuilder, x graph.Value) graph.Value { return b.conv(x, "c", formOut, formIn, 1) }),
		"last":                   plain(formTaps, 1, func(b *codecBuilder, x graph.Value) graph.Value { return b.last(x, "c", formIn, formTaps) }),
		"last, of one position":  plain(1, 1, func(b *codecBuilder, x graph.Value) graph.Value { return b.last(x, "c", formIn, 1) }),
	}
}

func plain(taps, out int, build func(b *codecBuilder, x graph.Value) graph.Value) form {
	return form{build: build, out: out, scale: 1, states: min(taps-1, 1),
		want: func(w *randomWeights, x [][]float32) [][]float32 {
			weight, y := values(w, "c.weight", out, formIn, taps), make([][]float32, out)
			for o, bias := range values(w, "c.bias", out) {
				for t := range x[0] {
					sum := float64(bias)
					for i := range x {
						for tap := range min(taps, t+1) { // how far back
							sum += float64(weight[(o*formIn+i)*taps+taps-1-tap]) * float64(x[i][t-tap])
						}
					}
					y[o] = append(y[o], float32(sum))
				}
			}
			return y
		}}
}

// stretch is a transposed convolution of twice its stride.
func stretch(x [][]float32, bias []float32, weight func(out, in, tap int) float32) [][]float32 {
	y := make([][]float32, len(bias))
	for o := range y {
		sums := make([]float64, (len(x[0])+1)*formStride)
		for i := range x {
			for t, v := range x[i] {
				for tap := range 2 * formStride {
					sums[t*formStride+tap] += float64(v) * float64(weight(o, i, tap))
				}
			}
		}
		for _, s := range sums[:len(x[0])*formStride] {
			y[o] = append(y[o], float32(s+float64(bias[o])))
		}
	}
	return y
}

func values(w *randomWeights, name string, shape ...int) []float32 {
	v, err := w.Floats(name, shape...)
	if err != nil {
		panic(err) // random weights have every name and shape
	}
	return v
}

// TestConvolutionsAreWhatTheirDefinitionSays runs every form in two calls, so that what is carried from one to the next
// counts.
func TestConvolutionsAreWhatTheirDefinitionSays(t *testing.T) {
	orttest.Need(t)
	x := make([][]float32, formIn)
	for i := range x {
		for p := range 14 {
			x[i] = append(x[i], float32(math.Sin(float64(7*i+3*p))))
		}
	}
	for name, f := range forms() {
		t.Run(name, func(t *testing.T) {
			weights := &randomWeights{seed: 5}
			b := &codecBuilder{builder: (&Checkpoint{Precision: bundle.FP32, Weights: weights}).builder("c")}
			b.Output("y", f.build(b, b.Input("x", graph.F32, 1, formIn, "positions")), graph.F32, 1, f.out, "outputs")
			if b.err != nil || len(b.states) != f.states {
				t.Fatalf("it carries %v, want %d states (%v)", b.states, f.states, b.err)
			}
			got := inCalls(t, b, f, x, 6, 8)
			for o, row := range f.want(weights, x) {
				for p, v := range row {
					if d := math.Abs(float64(got[o][p] - v)); !(d <= 1e-6) {
						t.Fatalf("channel %d, output %d is %g, want %g", o, p, got[o][p], v)
					}
				}
			}
		})
	}
}

// inCalls lets a graph read x in calls of so many positions.
func inCalls(t *testing.T, b *codecBuilder, f form, x [][]float32, calls ...int) [][]float32 {
	t.Helper()
	tensor := func(values []float32, shape ...int) *ort.Tensor {
		v, err := ort.Floats(values, shape...)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { v.Close() })
		return v
	}
	inputs, outputs := []string{"x"}, []string{"y"}
	var states []*ort.Tensor
	for _, s := range b.states {
		inputs, outputs = append(inputs, s.Name), append(outputs, s.Name+"_out")
		states = append(states, tensor(make([]float32, size(s.Shape)), s.Shape...))
	}
	session, err := ort.Open(b.Bytes(), inputs, outputs)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	y, from := make([][]float32, f.out), 0
	for _, n := range calls {
		var part []float32
		for _, row := range x {
			part = append(part, row[from:from+n]...)
		}
		from += n
		out := make([]float32, f.out*n*f.scale)
		in := append([]*ort.Tensor{tensor(part, 1, len(x), n)}, states...)
		if err := session.Run(t.Context(), in,
			append([]*ort.Tensor{tensor(out, 1, f.out, n*f.scale)}, states...)); err != nil {
			t.Fatal(err)
		}
		for o := range y {
			y[o] = append(y[o], out[o*n*f.scale:(o+1)*n*f.scale]...)
		}
	}
	return y
}
