// Package vocoder turns prosody into samples, piece by piece. It is the decoder and the generator of Kokoro (StyleTTS
// 2 with an iSTFTNet).
//
// Norms over time use constants of the voice in place of the statistics of the signal, so that a sample depends on what
// is near it and on nothing else. Every convolution keeps the rows it still needs, so that nothing is computed twice,
// and the samples do not depend on where the signal is cut. Products are of integers (package convolve), so that they
// are the same on every processor.
package vocoder

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/swar-tts/swar/runtime/internal/convolve"
	"github.com/swar-tts/swar/runtime/internal/rowproduct"
	"github.com/swar-tts/swar/runtime/internal/vector"
)

// How signals are counted.
const (
	SampleRate   = 24000 // samples of a second
	FrameSamples = 600   // of a frame of durations: 25 ms
	textWidth    = 512   // values that describe a token
	halfSamples  = FrameSamples / 2
)

// Vocoder is a loaded model. It is safe for concurrent use.
type Vocoder struct {
	textToDecoder convolution // 64 values that later blocks get beside their input
	encode        residual
	decode        [4]residual
	ups           [2]transposed
	noiseConvs    [2]*vector.Matrix
	noiseBlocks   [2]snakes
	blocks        [2][3]snakes
	post          *vector.Matrix
	pitch, energy [4]float32 // three taps and a bias each
	harmonics     []float32
	harmonicsBias float32
	norms         []*norm // of all blocks
}

// Options choose how a model is computed.
type Options struct {
	Kernel rowproduct.Kernel // whose instructions are used; none means the fastest
	Exact  bool              // in floats: much slower, to compare with
}

// New loads a model.
func New(from Tensors, o Options) (*Vocoder, error) {
	kernel, err := convolve.Find(o.Kernel.Name())
	if err != nil {
		return nil, fmt.Errorf("vocoder: %w", err)
	}
	l := &loader{from: from, kernel: kernel, exact: o.Exact}
	v := &Vocoder{
		textToDecoder: l.convolution("asr_res.0", textWidth, 64, 1, 1),
		encode:        l.residual("encode", textWidth+2, 1024, false),
		ups: [2]transposed{l.transposed("generator.ups.0", 512, 256, 10),
			l.transposed("generator.ups.1", 256, 128, 6)},
		post:          l.floatConvolution("generator.conv_post", 128, 2*bins, 7),
		harmonics:     l.floats("generator.m_source.l_linear.weight", harmonics),
		harmonicsBias: l.floats("generator.m_source.l_linear.bias", 1)[0],
	}
	for i := range v.decode {
		out := 1024
		if i == 3 {
			out = 512
		}
		v.decode[i] = l.residual(fmt.Sprintf("decode.%d", i), 1024+64+2, out, i == 3)
	}
	for stage, s := range []struct{ channels, noiseTaps, blockTaps int }{{256, 12, 7}, {128, 1, 11}} {
		v.noiseConvs[stage] = l.floatConvolution(fmt.Sprintf("generator.noise_convs.%d", stage), 2*bins, s.channels,
			s.noiseTaps)
		v.noiseBlocks[stage] = l.snakes(fmt.Sprintf("generator.noise_res.%d", stage), s.channels, s.blockTaps)
		for i, taps := range []int{3, 7, 11} {
			v.blocks[stage][i] = l.snakes(fmt.Sprintf("generator.resblocks.%d", 3*stage+i), s.channels, taps)
		}
	}
	for name, to := range map[string]*[4]float32{"F0_conv": &v.pitch, "N_conv": &v.energy} {
		copy(to[:], l.floats(name+".weight", 3))
		to[3] = l.floats(name+".bias", 1)[0]
	}
	v.norms = l.norms
	return v, l.err
}

// Norms are the names of all norms, and how many channels each has.
func (v *Vocoder) Norms() map[string]int {
	names := make(map[string]int, len(v.norms))
	for _, n := range v.norms {
		names[n.name] = n.channels
	}
	return names
}

// Chunk is what to speak.
type Chunk struct {
	Durations []int     // of each token, in frames
	Text      []float32 // a row of 512 values for each token
	Pitch     []float32 // Hz, two for each frame
	Energy    []float32 // two for each frame
	From      int       // the first sample that is wanted
	// fills out with normal deviates, which depend on the sample alone; nil for none
	Noise func(sample int64, out []float32)

	Shape *Shape // of the voice; or, to measure the statistics of this chunk and to use those:
	Style []float32
	Seen  func(norm string, s Statistics)
}

func (c *Chunk) frames() (n int) {
	for _, d := range c.Durations {
		n += d
	}
	return n
}

// Stream is a chunk that is being spoken. It is not safe for concurrent use.
type Stream struct {
	v       *Vocoder
	chunk   Chunk
	shaping shaping
	frames  int
	frame   int // the next that the decoder takes

	rows   []float32 // of the text, frame by frame, as the decoder takes them
	side   []float32 // what later blocks get beside their input, for each token
	beside [5]int    // the next frame of each block
	pitch  []float32 // one for each frame
	energy []float32
	token  int // that the next frame belongs to
	left   int // frames of it

	encode *residuals
	decode [4]*residuals
	joined []float32

	generator generator
	out       queue
	skip      int // samples that are not wanted
	given     int // samples that left out
	ended     bool
}

// Start begins to speak a chunk.
func (v *Vocoder) Start(c Chunk) (*Stream, error) {
	frames := c.frames()
	switch {
	case frames == 0 || len(c.Text) != textWidth*len(c.Durations):
		return nil, fmt.Errorf("vocoder: %d tokens and %d values of text do not fit each other", len(c.Durations),
			len(c.Text))
	case (c.Shape == nil) == (c.Seen == nil) || c.Seen != nil && len(c.Style) != StyleSize:
		return nil, errors.New("vocoder: a chunk has a shape, or else a style and statistics that are measured")
	case len(c.Pitch) != 2*frames || len(c.Energy) != 2*frames:
		return nil, fmt.Errorf("vocoder: %d frames need %d values of pitch and of energy, not %d and %d", frames,
			2*frames, len(c.Pitch), len(c.Energy))
	}
	s := &Stream{v: v, chunk: c, frames: frames, out: queue{width: 1}}
	s.shaping = shaping{shape: c.Shape, style: c.Style, seen: c.Seen}
	s.pitch, s.energy = halve(c.Pitch, v.pitch), halve(c.Energy, v.energy)
	s.side = s.besideTokens()
	s.encode = v.encode.start(&s.shaping)
	for i := range s.decode {
		s.decode[i] = v.decode[i].start(&s.shaping)
	}
	s.left = c.Durations[0]
	s.generator.start(v, &s.shaping, newSource(c.Pitch, v.harmonics, v.harmonicsBias, c.Noise),
		max(0, c.From/halfSamples-generatorContext))
	s.skip = c.From - s.generator.from*halfSamples
	return s, nil
}

// besideTokens computes the 64 values that later blocks get, once for each token.
func (s *Stream) besideTokens() []float32 {
	c := s.v.textToDecoder.start()
	c.put(s.chunk.Text)
	y := c.push(&s.shaping.workspace, true)
	side := make([]float32, len(y))
	for i := range y {
		side[i] = y[i] + c.bias[i%len(c.bias)]
	}
	return side
}

// halve is a convolution of three taps over every second value.
func halve(x []float32, w [4]float32) []float32 {
	y := make([]float32, len(x)/2)
	for i := range y {
		y[i] = w[3] + w[1]*x[2*i] + w[2]*x[2*i+1]
		if i > 0 {
			y[i] += w[0] * x[2*i-1]
		}
	}
	return y
}

// Samples is how many the chunk has from its first wanted one on.
func (s *Stream) Samples() int { return s.frames*FrameSamples - s.chunk.From }

// framesAtOnce is how many frames go through the network together, at most: what lies between two layers stays in the
// cache, and weights come from memory once for all of them.
const framesAtOnce = 8

// A sample needs frames that follow it: so many frames until the decoder has made what the generator begins with, and
// in all so many samples.
const (
	decoderAhead = 10
	ahead        = 9245
)

// step is how many frames to bring through the network next, so that there are n samples: first what the decoder takes
// alone, then no more than it takes, so that the first samples come soon.
func (s *Stream) step(n int) int {
	if s.chunk.Seen != nil {
		return s.frames
	}
	if alone := s.generator.from/2 + decoderAhead - s.frame; alone > 0 {
		return min(alone, s.frames-s.frame)
	}
	end := s.generator.from*halfSamples + s.given + s.skip + n
	frames := (end+ahead+FrameSamples-1)/FrameSamples - s.frame
	frames = max(1, min(frames, s.frames-s.frame))
	passes := (frames + framesAtOnce - 1) / framesAtOnce
	return (frames + passes - 1) / passes
}

// Next returns up to n samples, in floats. It returns fewer only at the end. Cancelling ctx stops it within 200 ms of
// audio, and loses nothing. The samples are valid until the next call.
func (s *Stream) Next(ctx context.Context, n int) ([]float32, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	for s.out.rows()-s.skip < n && !s.ended {
		s.advance(s.step(n))
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
	}
	if s.skip > 0 {
		dropped := min(s.skip, s.out.rows())
		s.out.take(dropped)
		s.skip, s.given = s.skip-dropped, s.given+dropped
	}
	n = min(n, s.out.rows())
	s.given += n
	return s.out.take(n), nil
}

// advance brings frames through the network.
func (s *Stream) advance(frames int) {
	s.frame += frames
	end := s.frame == s.frames
	x := s.encode.push(s.input(frames), end)
	for i, d := range s.decode {
		x = d.push(s.join(x, &s.beside[i]), end)
	}
	s.generator.push(x, end, &s.out)
	s.ended = end
}

// input returns rows for the next frames: the text of their tokens, pitch and energy.
func (s *Stream) input(frames int) []float32 {
	const width = textWidth + 2
	s.rows = sized(s.rows, frames*width)
	for f := range frames {
		for s.left == 0 {
			s.token++
			s.left = s.chunk.Durations[s.token]
		}
		s.left--
		row := s.rows[f*width : (f+1)*width]
		copy(row, s.chunk.Text[s.token*textWidth:(s.token+1)*textWidth])
		at := s.frame - frames + f
		row[textWidth], row[textWidth+1] = s.pitch[at], s.energy[at]
	}
	return s.rows
}

// join puts beside x what later blocks get of the text, pitch and energy. frame is the first of x, and moves on.
func (s *Stream) join(x []float32, frame *int) []float32 {
	const width, extra = 1024, 64
	rows := len(x) / width
	s.joined = sized(s.joined, rows*(width+extra+2))
	for r := range rows {
		row := s.joined[r*(width+extra+2) : (r+1)*(width+extra+2)]
		copy(row, x[r*width:(r+1)*width])
		token := s.tokenOf(*frame)
		copy(row[width:], s.side[token*extra:(token+1)*extra])
		row[width+extra], row[width+extra+1] = s.pitch[*frame], s.energy[*frame]
		*frame++
	}
	return s.joined
}

// tokenOf finds the token that a frame belongs to.
func (s *Stream) tokenOf(frame int) int {
	for token, d := range s.chunk.Durations {
		if frame -= d; frame < 0 {
			return token
		}
	}
	return len(s.chunk.Durations) - 1
}

// generatorContext is how many half frames before the first wanted sample the generator begins: its receptive field.
const generatorContext = 10

// listening is what the generator gets of the source.
type listening interface {
	frames() int                      // in all
	write(from, n int, out []float32) // rows of magnitudes and phases
}

// generator makes samples of half frames.
type generator struct {
	v       *Vocoder
	from    int // the first half frame
	seen    int // half frames that came
	spectra listening
	next    int // the next spectrum of the source

	ups         [2]transposing
	noiseConvs  [2]strided
	noiseBlocks [2]*snaking
	blocks      [2][3]*snaking
	shared      *shaping
	noises      [2]queue
	lifted      [2]queue
	parts       [2][3]queue
	mirrored    bool
	tail        queue // before the last convolution
	begun       bool
	overlap     overlap
	spectrum    []float32
	x, y, post  []float32
	frame       int
}

var (
	same      = scaled(1, 512)
	thirds256 = scaled(1.0/3, 256)
	thirds128 = scaled(1.0/3, 128)
)

// scaled is an affine that multiplies.
func scaled(by float32, channels int) vector.Affine {
	a := vector.Affine{Factor: make([]float32, channels), Summand: make([]float32, channels)}
	for i := range a.Factor {
		a.Factor[i] = by
	}
	return a
}

func (g *generator) start(v *Vocoder, s *shaping, source *source, from int) {
	*g = generator{v: v, from: from, shared: s, spectra: &spectra{source: source}, next: 60 * from,
		tail: queue{width: 128}}
	g.noiseConvs = [2]strided{
		{m: v.noiseConvs[0], in: 2 * bins, taps: 12, stride: 6, left: 3, input: queue{width: 2 * bins}},
		{m: v.noiseConvs[1], in: 2 * bins, taps: 1, stride: 1, input: queue{width: 2 * bins}},
	}
	for i, channels := range []int{256, 128} {
		g.ups[i] = v.ups[i].start()
		g.noiseBlocks[i] = v.noiseBlocks[i].start(s)
		g.noises[i], g.lifted[i] = queue{width: channels}, queue{width: channels}
		for b := range g.blocks[i] {
			g.blocks[i][b] = v.blocks[i][b].start(s)
			g.parts[i][b] = queue{width: channels}
		}
	}
}

// push takes rows of half frames, and appends samples to out.
func (g *generator) push(x []float32, end bool, out *queue) {
	const width = 512
	rows := len(x) / width
	if skip := min(rows, g.from-g.seen); skip > 0 {
		g.seen += skip
		x, rows = x[skip*width:], rows-skip
	}
	g.seen += rows
	g.ups[0].leaky(x, same, 0.1)
	g.lifted[0].push(g.ups[0].push(&g.shared.workspace, end))
	g.listen(60*rows, end) // only now, because its blocks write over x
	x = g.stage(0, end)

	g.ups[1].leaky(x, thirds256, 0.1)
	g.mirror(g.ups[1].push(&g.shared.workspace, end))
	g.finish(g.stage(1, end), end, out)
}

// mirror gives the second stage its rows, behind one that the model was trained with: the second of all.
func (g *generator) mirror(y []float32) {
	if width := g.lifted[1].width; !g.mirrored && len(y) >= 2*width {
		g.mirrored = true
		g.lifted[1].push(y[width : 2*width])
	}
	g.lifted[1].push(y)
}

// listen computes so many spectra of the source, and one more at the end, and what the two stages get of them.
func (g *generator) listen(frames int, end bool) {
	if end {
		frames = g.spectra.frames() - g.next
	}
	if frames > 0 {
		g.spectrum = sized(g.spectrum, frames*2*bins)
		g.spectra.write(g.next, frames, g.spectrum)
		g.next += frames
	} else {
		g.spectrum = g.spectrum[:0]
	}
	for i := range g.noiseConvs {
		g.noises[i].push(g.noiseBlocks[i].push(g.noiseConvs[i].push(g.spectrum, end), end))
	}
}

// stage adds what comes from below and from the source, and returns three times the mean of its blocks.
func (g *generator) stage(i int, end bool) []float32 {
	channels := g.lifted[i].width
	n := min(g.lifted[i].rows(), g.noises[i].rows())
	g.x = sized(g.x, n*channels)
	vector.Best.Sum(g.x, g.lifted[i].take(n), g.noises[i].take(n), g.ups[i].convolving.bias, 1)
	n = math.MaxInt
	for b, block := range g.blocks[i] {
		g.parts[i][b].push(block.push(g.x, end))
		n = min(n, g.parts[i][b].rows())
	}
	g.y, g.x = sized(g.y, n*channels), sized(g.x, n*channels)
	zero := zeros[:channels]
	vector.Best.Sum(g.y, g.parts[i][0].take(n), g.parts[i][1].take(n), zero, 1)
	vector.Best.Sum(g.x, g.y, g.parts[i][2].take(n), zero, 1)
	return g.x
}

var zeros = make([]float32, 256)

// finish makes samples of the rows of the second stage.
func (g *generator) finish(x []float32, end bool, out *queue) {
	const taps, channels = 7, 128
	if !g.begun {
		g.begun = true
		g.tail.pushZeros(taps / 2)
	}
	vector.Best.Leaky(g.tail.extend(len(x)/channels), x, thirds128, 0.01)
	if end {
		g.tail.pushZeros(taps / 2)
	}
	rows := max(0, g.tail.rows()-(taps-1))
	g.post = sized(g.post, rows*2*bins)
	vector.Best.Multiply(g.v.post, g.post, g.tail.peek(), rows, channels)
	g.tail.take(rows)
	var samples [hop]float32
	for r := range rows {
		g.overlap.push(g.post[r*2*bins:(r+1)*2*bins], samples[:])
		if g.frame++; g.frame > 2 { // what comes before is half a window before the first sample
			out.push(samples[:])
		}
	}
	if end {
		g.drain(out)
	}
}

// drain gives what the last windows leave until the last sample. The first and the last half window are not covered by
// as many windows as the others, and fade; both lie in silence.
func (g *generator) drain(out *queue) {
	for i := range windowSize/2/hop - 1 {
		var samples [hop]float32
		for j := range samples {
			samples[j] = float32(g.overlap.sum[i*hop+j])
		}
		out.push(samples[:])
	}
}
