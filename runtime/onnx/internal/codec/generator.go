package codec

import (
	"github.com/swar-tts/swar/runtime/internal/convolve"
	"github.com/swar-tts/swar/runtime/internal/vector"
)

// generate appends the samples that rows of the transformer become.
func (d *Decoder) generate(w *workspace, x []float32, audio *[]float32) {
	c := d.codec
	first := w.first[:len(x)/c.first.in*c.first.out]
	d.convolve(w, &c.first, first, x, nil)
	d.stage(w, 0, first, c.first.bias, audio)
}

// stage brings rows, without a bias that is still to be added, through a stage and all that follow.
func (d *Decoder) stage(w *workspace, i int, x, bias []float32, audio *[]float32) {
	c := d.codec
	if i == len(c.stages) {
		d.finish(w, x, bias, audio)
		return
	}
	g, s := &c.stages[i], &w.stages[i]
	in, out := g.transposed.in, g.block[0].in
	for most := c.together(i) * in; len(x) > 0; {
		n := min(len(x), most)
		rows := n / in * g.stride
		up, hidden, block, sum := s.up[:rows*out], s.hidden[:rows*g.block[0].out], s.block[:rows*out], s.sum[:rows*out]
		d.convolve(w, &g.transposed, up, x[:n], bias)
		d.convolve(w, &g.block[0], hidden, up, g.bias)
		d.convolve(w, &g.block[1], block, hidden, g.block[0].bias)
		vector.Best.Sum(sum, up, block, g.sum, 1)
		d.stage(w, i+1, sum, c.zeros[:out], audio)
		x = x[n:]
	}
}

// convolve writes y, without its bias, of rows, with a bias and after the activation; without both where the bias is
// nil.
func (d *Decoder) convolve(w *workspace, v *convolution, y, x, bias []float32) {
	rows, past := len(x)/v.in, v.taps-1
	words, scales := w.words[:(past+rows)*v.stride], w.scales[:past+rows]
	keptWords, keptScales := d.words[v.words:v.words+past*v.stride], d.scales[v.scales:v.scales+past]
	copy(words, keptWords)
	copy(scales, keptScales)
	q := vector.Words{Words: words[past*v.stride:], Scales: scales[past:]}
	if largest := convolve.WordRange(v.in); bias == nil {
		vector.Best.RoundWords(q, x, v.in, largest)
	} else {
		vector.Best.ELURoundWords(q, x, bias, largest)
	}
	d.codec.convolutions.MultiplyWords(v.weights, y, words, scales, rows, 1)
	copy(keptWords, words[rows*v.stride:])
	copy(keptScales, scales[rows:])
}

// finish appends a sample for each row: what its taps and those of the rows before add up to.
func (d *Decoder) finish(w *workspace, x, bias []float32, audio *[]float32) {
	last := &d.codec.last
	taps := last.out
	rows := len(x) / last.in
	y := w.taps[:(taps-1+rows)*taps]
	copy(y, d.taps)
	d.convolve(w, last, y[(taps-1)*taps:], x, bias)
	for r := range rows {
		sum := y[r*taps]
		for t := 1; t < taps; t++ {
			sum += y[(r+t)*taps+t]
		}
		*audio = append(*audio, sum+last.bias[taps-1])
	}
	copy(d.taps, y[rows*taps:])
}
