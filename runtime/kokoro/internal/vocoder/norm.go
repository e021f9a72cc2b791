package vocoder

import (
	"fmt"
	"math"

	"github.com/swar-tts/swar/runtime/internal/vector"
)

// StyleSize is how many values describe the timbre of a voice.
const StyleSize = 128

// Statistics are the mean and the variance of each channel before a norm.
type Statistics struct{ Mean, Variance []float32 }

// norm is an adaptive instance norm: statistics are taken out, and a factor and a summand that follow from the style
// come in.
type norm struct {
	name     string
	channels int
	weights  []int8 // [2 channels][StyleSize], the factors first
	scales   []float32
	bias     []float32
	lacks    []float32 // what the values before it still lack: the bias of a convolution, or nil
}

// styled are the factors (beside one) and summands for a style.
func (n *norm) styled(style []float32) []float32 {
	out := make([]float32, 2*n.channels)
	vector.Best.Linear(out, style, n.weights, n.scales, n.bias)
	return out
}

const epsilon = 1e-5 // that norms of this family add to a variance

// affine folds statistics and style to one factor and one summand.
func (n *norm) affine(styled []float32, s Statistics) vector.Affine {
	a := vector.Affine{Factor: make([]float32, n.channels), Summand: make([]float32, n.channels)}
	for c := range n.channels {
		f := (1 + float64(styled[c])) / math.Sqrt(float64(s.Variance[c])+epsilon)
		b := float64(styled[n.channels+c]) - float64(s.Mean[c])*f
		if n.lacks != nil {
			b += f * float64(n.lacks[c])
		}
		a.Factor[c], a.Summand[c] = float32(f), float32(b)
	}
	return a
}

// Shape is what the norms of a model are for a style and constant statistics. It never changes.
type Shape struct{ affines map[*norm]vector.Affine }

// Shape folds a style and the statistics of a voice. Those are asked for by the names of norms, and must have as many
// values as the norm has channels.
func (v *Vocoder) Shape(style []float32, of func(norm string) Statistics) (*Shape, error) {
	if len(style) != StyleSize {
		return nil, fmt.Errorf("vocoder: a style of %d values, want %d", len(style), StyleSize)
	}
	s := &Shape{make(map[*norm]vector.Affine, len(v.norms))}
	for _, n := range v.norms {
		stats := of(n.name)
		if len(stats.Mean) != n.channels || len(stats.Variance) != n.channels {
			return nil, fmt.Errorf("vocoder: %s: statistics of %d and %d channels, want %d: convert the model again",
				n.name, len(stats.Mean), len(stats.Variance), n.channels)
		}
		s.affines[n] = n.affine(n.styled(style), stats)
	}
	return s, nil
}

// Bytes is what a shape takes.
func (s *Shape) Bytes() (n int64) {
	for _, a := range s.affines {
		n += 8 * int64(len(a.Factor))
	}
	return n
}

// norming is a norm in a stream.
type norming struct {
	*norm
	affine vector.Affine
	style  []float32
	seen   func(name string, s Statistics) // measures instead of using constants
}

// of returns the affine for x, which is a whole signal where statistics are measured.
func (n *norming) of(x []float32) vector.Affine {
	if n.seen == nil {
		return n.affine
	}
	s := measure(x, n.channels, n.lacks)
	n.seen(n.name, s)
	return n.norm.affine(n.styled(n.style), s)
}

// measure returns the statistics of x plus bias.
func measure(x []float32, channels int, bias []float32) Statistics {
	s := Statistics{make([]float32, channels), make([]float32, channels)}
	rows := float64(len(x) / channels)
	for c := range channels {
		var sum, squares float64
		for i := c; i < len(x); i += channels {
			sum += float64(x[i])
		}
		mean := sum / rows
		for i := c; i < len(x); i += channels {
			d := float64(x[i]) - mean
			squares += d * d
		}
		if s.Variance[c] = float32(squares / rows); bias != nil {
			mean += float64(bias[c])
		}
		s.Mean[c] = float32(mean)
	}
	return s
}
