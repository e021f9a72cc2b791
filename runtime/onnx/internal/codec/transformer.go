package codec

import (
	"github.com/swar-tts/swar/runtime/internal/rowproduct"
	"github.com/swar-tts/swar/runtime/internal/vector"
	"github.com/swar-tts/swar/runtime/onnx/bundle"
	"github.com/swar-tts/swar/runtime/synth"
)

// upsample makes rows of the transformer from latents.
func (d *Decoder) upsample(w *workspace, latents []float32, frames int) (x []float32) {
	c, width := d.codec, d.codec.dims.CodecWidth
	for i, v := range latents[:frames*c.dims.Latent] {
		at := i % c.dims.Latent
		w.latents[i] = float32(v*c.deviation[at]) + c.mean[at] // rounded before the sum, also where Go would contract
	}
	projected := w.projected[:frames*width]
	vector.Best.Multiply(c.project, projected, w.latents[:frames*c.dims.Latent], frames, c.dims.Latent)
	rows := c.dims.Upsample * width // of a frame
	for f := range frames {
		present := projected[f*width : (f+1)*width]
		vector.Best.Mix(w.x[f*rows:(f+1)*rows], d.latent, present, c.before, c.at)
		copy(d.latent, present)
	}
	return w.x[:frames*rows]
}

// past is what a layer of the transformer remembers: the rotated keys, and the values.
type past struct{ vector.Past }

func newPast(p *pages, dims *bundle.Dims) past {
	n := capacity(dims)
	return past{vector.Past{Keys: take[float32](p, dims.CodecWidth*n+vector.KeyPadding),
		Values: take[float32](p, dims.CodecWidth*n), Capacity: n}}
}

// capacity is room for the window, for the rows that come at once, and for as many more, so that what is left is
// moved to the front only every other time.
func capacity(dims *bundle.Dims) int { return dims.CodecWindow - 1 + 2*synth.GroupFrames*dims.Upsample }

// keep moves the last of so many positions to the front.
func (p *past) keep(last, held, width int) {
	for c := range width {
		row := p.Keys[c*p.Capacity : (c+1)*p.Capacity]
		copy(row, row[held-last:held])
	}
	copy(p.Values, p.Values[(held-last)*width:held*width])
}

const epsilon = 1e-5

// transform brings rows through the transformer.
func (d *Decoder) transform(w *workspace, x []float32) []float32 {
	c, dims := d.codec, &d.codec.dims
	width, half := dims.CodecWidth, len(c.frequencies)
	rows := len(x) / width
	bundle.Rotations(w.cosines[:rows*half], w.sines[:rows*half], c.frequencies, d.position, rows)
	if window := dims.CodecWindow - 1; len(d.past) > 0 && d.held+rows > d.past[0].Capacity {
		for i := range d.past {
			d.past[i].keep(window, d.held, width)
		}
		d.held = window
	}
	other := w.y[:len(x)]
	for i := range c.layers {
		l := &c.layers[i]
		normed, heads := w.rows[:len(x)], w.heads[:3*len(x)]
		vector.Best.Norm(normed, x, l.norms[0].weight, l.norms[0].bias, epsilon)
		c.multiply(w, l.in, normed, rows, heads)
		d.attend(w, &d.past[i], heads, rows)
		c.multiply(w, l.out, normed, rows, heads[:len(x)])
		vector.Best.Sum(other, x, heads[:len(x)], c.zeros[:width], 1)
		x, other = other, x

		hidden, activated := w.hidden[:rows*l.up.Out], w.gelu[:rows*l.up.Out]
		vector.Best.Norm(normed, x, l.norms[1].weight, l.norms[1].bias, epsilon)
		c.multiply(w, l.up, normed, rows, hidden)
		vector.Best.GELU(activated, hidden, c.tanh)
		c.multiply(w, l.down, activated, rows, normed)
		vector.Best.Sum(other, x, normed, c.zeros[:width], 1)
		x, other = other, x
	}
	d.held += rows
	return x
}

func (c *Codec) multiply(w *workspace, m *rowproduct.Matrix, x []float32, rows int, y []float32) {
	c.products.MultiplyIn(m, x, rows, y, w.bytes)
}

// attend writes what rows see into w.rows. heads holds the queries, keys and values of each row.
func (d *Decoder) attend(w *workspace, p *past, heads []float32, rows int) {
	dims, half := &d.codec.dims, len(d.codec.frequencies)
	width := dims.CodecWidth
	keys := w.hidden[:rows*width] // which is free now
	for r := range rows {
		row := heads[r*3*width : (r+1)*3*width]
		cosines, sines := w.cosines[r*half:(r+1)*half], w.sines[r*half:(r+1)*half]
		vector.Best.Rotate(keys[r*width:(r+1)*width], row[width:2*width], cosines, sines)
		copy(p.Values[(d.held+r)*width:], row[2*width:])
		vector.Best.Rotate(row[width:2*width], row[:width], cosines, sines) // the query, where the key was
	}
	for c := range width {
		to := p.Keys[c*p.Capacity+d.held:][:rows]
		for r := range to {
			to[r] = keys[r*width+c]
		}
	}
	q := vector.Queries{Rows: heads[width:], Step: 3 * width, At: d.held, Window: dims.CodecWindow}
	vector.Best.Attend(w.rows[:rows*width], width, q, p.Past, dims.CodecHeads, w.scores)
}
