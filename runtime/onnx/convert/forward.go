package convert

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/swar-tts/swar/runtime/onnx/bundle"
)

// transformer reads rows in plain Go, in double precision. It makes what a bundle stores once and serves for ever, so
// that exactness counts for more than speed.
type transformer struct {
	weights Weights
	prefix  string // of its layers

	layers, width, heads, hidden int
	period                       float64 // of the rotation
	window                       int     // positions that attention sees, itself included; 0 means all
	scaled                       bool    // whether what a layer adds is scaled
	gelu                         func(float64) float64
	worked                       func(products int64) // is told of the products that were made
}

// read replaces x, rows of width values, by what the last layer makes of them. If keep is not nil it is given the
// keys, already rotated, and the values of every layer, both [rows, width]; then the last layer is not finished, for
// its keys are all that counts.
func (t *transformer) read(ctx context.Context, x []float64, keep func(k, v []float64)) error {
	rows := len(x) / t.width
	cos, sin := make([]float32, rows*t.width/t.heads/2), make([]float32, rows*t.width/t.heads/2)
	bundle.Rotations(cos, sin, bundle.RotationFrequencies(t.period, t.width/t.heads), 0, rows)
	for i := range t.layers {
		l := layerReader{transformer: t, prefix: layer(t.prefix, i)}
		q, k, v := l.keys(ctx, x, cos, sin)
		if l.err == nil && keep != nil {
			keep(k, v)
			if i == t.layers-1 {
				return nil
			}
		}
		seen := l.attend(ctx, q, k, v)
		l.add(x, l.linear(ctx, seen, "self_attn.out_proj.weight", t.width, t.width), "layer_scale_1.scale")
		f := l.linear(ctx, l.norm(x, "norm2"), "linear1.weight", t.hidden, t.width)
		for j, v := range f {
			f[j] = t.gelu(v)
		}
		l.add(x, l.linear(ctx, f, "linear2.weight", t.width, t.hidden), "layer_scale_2.scale")
		if l.err != nil {
			return l.err
		}
	}
	return nil
}

// layerReader reads one layer. The first error stays in err, and what follows it is not computed.
type layerReader struct {
	*transformer
	prefix string
	err    error
}

func (l *layerReader) weight(name string, shape ...int) []float32 {
	if l.err != nil {
		return make([]float32, size(shape))
	}
	values, err := l.weights.Floats(l.prefix+name, shape...)
	if err != nil {
		l.err = err
		return make([]float32, size(shape))
	}
	return values
}

// linear multiplies some rows at a time, so that progress is seen between them.
func (l *layerReader) linear(ctx context.Context, x []float64, name string, out, in int) []float64 {
	const block = 256
	w := l.weight(name, out, in)
	y := make([]float64, len(x)/in*out)
	for first := 0; first < len(x)/in && l.err == nil; first += block {
		last := min(first+block, len(x)/in)
		l.err = multiplyRows(ctx, y[first*out:last*out], x[first*in:], in, w, nil, in)
		l.worked(int64(last-first) * int64(out) * int64(in))
	}
	return y
}

func (l *layerReader) norm(x []float64, name string) []float64 {
	gain, bias := l.weight(name+".weight", l.width), l.weight(name+".bias", l.width)
	y := make([]float64, len(x))
	for at := 0; at < len(x); at += l.width {
		row := x[at : at+l.width]
		mean, spread := 0.0, 0.0
		for _, v := range row {
			mean += v / float64(l.width)
		}
		for _, v := range row {
			spread += (v - mean) * (v - mean) / float64(l.width)
		}
		spread = math.Sqrt(spread + 1e-5)
		for i, v := range row {
			y[at+i] = (v-mean)/spread*float64(gain[i]) + float64(bias[i])
		}
	}
	return y
}

func (l *layerReader) add(x, y []float64, scale string) {
	if !l.scaled {
		for i, v := range y {
			x[i] += v
		}
		return
	}
	s := l.weight(scale, l.width)
	for i, v := range y {
		x[i] += v * float64(s[i%l.width])
	}
}

// keys returns queries, keys and values, the first two rotated: neighbours in a head turn against each other.
func (l *layerReader) keys(ctx context.Context, x []float64, cos, sin []float32) (q, k, v []float64) {
	all := l.linear(ctx, l.norm(x, "norm1"), "self_attn.in_proj.weight", 3*l.width, l.width)
	parts := [3][]float64{}
	for i := range parts {
		parts[i] = make([]float64, len(x))
		for row := range len(x) / l.width {
			copy(parts[i][row*l.width:(row+1)*l.width], all[(3*row+i)*l.width:])
		}
	}
	half := l.width / l.heads / 2
	for _, p := range parts[:2] {
		for pair := range len(p) / 2 {
			at := pair/(l.width/2)*half + pair%half
			c, s := float64(cos[at]), float64(sin[at])
			a, b := p[2*pair], p[2*pair+1]
			p[2*pair], p[2*pair+1] = a*c-b*s, a*s+b*c
		}
	}
	return parts[0], parts[1], parts[2]
}

// attend lets every row look at itself and the rows before it.
func (l *layerReader) attend(ctx context.Context, q, k, v []float64) []float64 {
	if l.err != nil {
		return q
	}
	rows, head := len(q)/l.width, l.width/l.heads
	y := make([]float64, len(q))
	l.err = share(ctx, l.heads*rows, 64, func(from, to int) {
		scores := make([]float64, 0, rows)
		for i := from; i < to; i++ {
			h, row := i/rows*head, i%rows
			query := q[row*l.width+h:][:head]
			first := 0
			if l.window > 0 {
				first = max(0, row-l.window+1)
			}
			scores = scores[:0]
			highest := math.Inf(-1)
			for p := first; p <= row; p++ {
				s := dot(query, k[p*l.width+h:][:head]) / math.Sqrt(float64(head))
				highest = max(highest, s)
				scores = append(scores, s)
			}
			sum := 0.0
			for j, s := range scores {
				scores[j] = math.Exp(s - highest)
				sum += scores[j]
			}
			out := y[row*l.width+h:][:head]
			for j, s := range scores {
				for d, x := range v[(first+j)*l.width+h:][:head] {
					out[d] += s / sum * x
				}
			}
		}
	})
	return y
}

// multiplyRows writes the products of rows of x and a weight of [out, in] plus a bias, which may be nil. A row begins
// every step values, so that rows of a convolution may overlap. x holds as many rows as y has room for.
func multiplyRows(ctx context.Context, y, x []float64, step int, w, bias []float32, in int) error {
	out := len(w) / in
	rows := len(y) / out
	return share(ctx, out, 8, func(from, to int) {
		wide := make([]float64, in)
		for o := from; o < to; o++ {
			for i := range wide {
				wide[i] = float64(w[o*in+i])
			}
			b := 0.0
			if bias != nil {
				b = float64(bias[o])
			}
			r := 0
			for ; r+4 <= rows; r += 4 { // four sums at once, so that none waits for the addition before it
				x0, x1, x2, x3 := x[r*step:][:in], x[(r+1)*step:][:in], x[(r+2)*step:][:in], x[(r+3)*step:][:in]
				var s0, s1, s2, s3 float64
				for i, v := range wide {
					s0 += v * x0[i]
					s1 += v * x1[i]
					s2 += v * x2[i]
					s3 += v * x3[i]
				}
				y[r*out+o], y[(r+1)*out+o], y[(r+2)*out+o], y[(r+3)*out+o] = s0+b, s1+b, s2+b, s3+b
			}
			for ; r < rows; r++ {
				y[r*out+o] = dot(wide, x[r*step:][:in]) + b
			}
		}
	})
}

func dot(a, b []float64) float64 {
	sum := 0.0
	for i, v := range a[:len(b)] {
		sum += v * b[i]
	}
	return sum
}

// share cuts n pieces of work into blocks and lets all processors work on them, until ctx ends, whose cause it
// returns then.
func share(ctx context.Context, n, block int, work func(from, to int)) error {
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), (n+block-1)/block) {
		wg.Go(func() {
			for ctx.Err() == nil {
				from := int(next.Add(int64(block))) - block
				if from >= n {
					return
				}
				work(from, min(from+block, n))
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}

// activation returns the function of a GELU's name.
func activation(name string) (func(float64) float64, error) {
	switch name {
	case "tanh":
		return func(x float64) float64 { return x / 2 * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(x+.044715*x*x*x))) }, nil
	case "erf":
		return func(x float64) float64 { return x / 2 * (1 + math.Erf(x/math.Sqrt2)) }, nil
	}
	return nil, fmt.Errorf("gelu is %q, want tanh or erf", name)
}

// products returns how many products of weights reading so many rows takes.
func (t *transformer) products(rows int, keysOnly bool) int64 {
	keys, rest := int64(3*t.width*t.width), int64(t.width*t.width+2*t.width*t.hidden)
	n := int64(t.layers) * (keys + rest)
	if keysOnly {
		n -= rest
	}
	return int64(rows) * n
}
