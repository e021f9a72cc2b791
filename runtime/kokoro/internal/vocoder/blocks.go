package vocoder

import (
	"math"

	"github.com/swar-tts/swar/runtime/internal/vector"
)

// shaping is what all blocks of a stream share.
type shaping struct {
	workspace
	shape *Shape
	style []float32                       // where statistics are measured
	seen  func(name string, s Statistics) // nil where they are constants
}

func (s *shaping) norm(n *norm) norming {
	out := norming{norm: n, style: s.style, seen: s.seen}
	if s.seen == nil {
		out.affine = s.shape.affines[n]
	}
	return out
}

// residual is a block of the decoder: two convolutions behind norms, and the input past them.
type residual struct {
	norm1, norm2           *norm
	conv1, conv2, shortcut convolution
	pool                   *pool // nil where the block keeps the rate
}

// pool doubles the rate: a transposed convolution of each channel by itself.
type pool struct {
	weights [3][]float32 // a tap for each channel
	bias    []float32
}

func (l *loader) residual(name string, in, out int, doubles bool) residual {
	r := residual{
		norm1: l.norm(name+".norm1", in, nil),
		conv1: l.convolution(name+".conv1", in, out, 3, 1), conv2: l.convolution(name+".conv2", out, out, 3, 1),
		shortcut: l.convolution(name+".conv1x1", in, out, 1, 1),
	}
	r.norm2 = l.norm(name+".norm2", out, r.conv1.bias)
	if doubles {
		w := l.floats(name+".pool.weight", in, 3)
		p := pool{bias: l.floats(name+".pool.bias", in)}
		for t := range p.weights {
			p.weights[t] = make([]float32, in)
			for c := range in {
				p.weights[t][c] = w[3*c+t]
			}
		}
		r.pool = &p
	}
	return r
}

// residuals is such a block in a stream.
type residuals struct {
	*residual
	shared       *shaping
	norm1, norm2 norming
	conv1, conv2 convolving
	shortcut     convolving
	past         queue // what went past the convolutions
	activated    queue // before the pool
	doubled      []float32
}

func (r *residual) start(s *shaping) *residuals {
	return &residuals{
		residual: r, shared: s, norm1: s.norm(r.norm1), norm2: s.norm(r.norm2),
		conv1: r.conv1.start(), conv2: r.conv2.start(), shortcut: r.shortcut.start(),
		past: queue{width: r.shortcut.out}, activated: queue{width: r.norm1.channels},
	}
}

const slope = 0.2 // of the activations in these blocks

// push takes rows and returns those that follow from them, valid until the next call.
func (r *residuals) push(x []float32, end bool) []float32 {
	w := &r.shared.workspace
	r.pass(x)
	of := r.norm1.of(x)
	if r.pool == nil {
		r.conv1.leaky(x, of, slope)
	} else {
		vector.Best.Leaky(r.activated.extend(len(x)/r.conv1.in), x, of, slope)
		r.double(end)
	}
	x = r.conv1.push(w, end)
	r.conv2.leaky(x, r.norm2.of(x), slope)
	x = r.conv2.push(w, end)
	w.sum = sized(w.sum, len(x))
	vector.Best.Sum(w.sum, x, r.past.take(len(x)/r.past.width), r.conv2.bias, float32(1/math.Sqrt2))
	return w.sum
}

// pass brings x past the convolutions, at the rate of the result.
func (r *residuals) pass(x []float32) {
	r.shortcut.put(x)
	y := r.shortcut.push(&r.shared.workspace, false) // it has one tap, so that the end adds nothing
	if r.pool == nil {
		r.past.push(y)
		return
	}
	for width := r.past.width; len(y) > 0; y = y[width:] {
		r.past.push(y[:width])
		r.past.push(y[:width])
	}
}

// double gives conv1 two rows for each that was activated and whose neighbour is known.
func (r *residuals) double(end bool) {
	if end {
		r.activated.pushZeros(1)
	}
	rows, c := r.activated.rows()-1, r.activated.width
	if rows <= 0 {
		return
	}
	r.doubled = sized(r.doubled, 2*rows*c)
	x, to := r.activated.peek(), r.doubled
	for t := range rows {
		now, after := x[t*c:(t+1)*c], x[(t+1)*c:(t+2)*c]
		first, second := to[2*t*c:(2*t+1)*c], to[(2*t+1)*c:(2*t+2)*c]
		for i, v := range now {
			first[i] = r.pool.bias[i] + v*r.pool.weights[1][i]
			second[i] = r.pool.bias[i] + v*r.pool.weights[2][i] + after[i]*r.pool.weights[0][i]
		}
	}
	r.activated.take(rows)
	r.conv1.put(to)
}

// snakes is a block of the generator: three times two convolutions behind norms and Snake, each pair with its input
// past it.
type snakes struct{ pairs [3]snakePair }

type snakePair struct {
	norm1, norm2   *norm
	snake1, snake2 vector.Snake
	conv1, conv2   convolution
}

func (l *loader) snakes(name string, channels, taps int) snakes {
	var s snakes
	for i := range s.pairs {
		n := string(rune('0' + i))
		s.pairs[i] = snakePair{
			norm1:  l.norm(name+".adain1."+n, channels, nil),
			snake1: l.snake(name+".alpha1."+n, channels), snake2: l.snake(name+".alpha2."+n, channels),
			conv1: l.convolution(name+".convs1."+n, channels, channels, taps, 2*i+1),
			conv2: l.convolution(name+".convs2."+n, channels, channels, taps, 1),
		}
		s.pairs[i].norm2 = l.norm(name+".adain2."+n, channels, s.pairs[i].conv1.bias)
	}
	return s
}

// snaking is such a block in a stream.
type snaking struct {
	shared *shaping
	pairs  [3]snakingPair
}

type snakingPair struct {
	*snakePair
	norm1, norm2 norming
	conv1, conv2 convolving
	past         queue
}

func (b *snakes) start(s *shaping) *snaking {
	out := &snaking{shared: s}
	for i := range b.pairs {
		p := &b.pairs[i]
		out.pairs[i] = snakingPair{
			snakePair: p, norm1: s.norm(p.norm1), norm2: s.norm(p.norm2),
			conv1: p.conv1.start(), conv2: p.conv2.start(), past: queue{width: p.conv1.in},
		}
	}
	return out
}

// push is as that of [residuals].
func (b *snaking) push(x []float32, end bool) []float32 {
	w := &b.shared.workspace
	for i := range b.pairs {
		p := &b.pairs[i]
		p.past.push(x)
		p.conv1.snake(x, p.norm1.of(x), p.snake1)
		x = p.conv1.push(w, end)
		p.conv2.snake(x, p.norm2.of(x), p.snake2)
		x = p.conv2.push(w, end)
		w.sum = sized(w.sum, len(x))
		vector.Best.Sum(w.sum, x, p.past.take(len(x)/p.past.width), p.conv2.bias, 1)
		x = w.sum
	}
	return x
}
