package vocoder

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/swar-tts/swar/runtime/internal/rowproduct"
	"github.com/swar-tts/swar/runtime/kokoro/kokorotest"
)

// madeUp are weights that nobody trained, the same in every run.
type madeUp struct{}

func source32(name string) *rand.Rand {
	var seed uint64
	for _, b := range []byte(name) {
		seed = seed*31 + uint64(b)
	}
	return rand.New(rand.NewPCG(seed, 1))
}

func (madeUp) Shape(name string) ([]int, bool) { return nil, name != "encode.conv1x1.bias" }

func (madeUp) Floats(name string, shape ...int) ([]float32, error) {
	n, r := 1, source32(name)
	for _, s := range shape {
		n *= s
	}
	v := make([]float32, n)
	for i := range v {
		switch v[i] = float32(r.NormFloat64() * .05); {
		case strings.HasSuffix(name, ".scale"):
			v[i] = .0004
		case strings.Contains(name, ".alpha"):
			v[i]++
		}
	}
	return v, nil
}

func (madeUp) Int8s(name string, shape ...int) ([]int8, error) {
	n, r := 1, source32(name)
	for _, s := range shape {
		n *= s
	}
	v := make([]int8, n)
	for i := range v {
		v[i] = int8(r.IntN(128) - 64)
	}
	return v, nil
}

var vocoders = map[string]func() *Vocoder{
	"integers": sync.OnceValue(func() *Vocoder { return mustNew(Options{Kernel: rowproduct.Kernels()[0]}) }),
	"plain C": sync.OnceValue(func() *Vocoder {
		k, _ := rowproduct.Find("plain")
		return mustNew(Options{Kernel: k})
	}),
}

func mustNew(o Options) *Vocoder {
	v, err := New(madeUp{}, o)
	if err != nil {
		panic(err)
	}
	return v
}

// testChunk is a chunk of a few tokens, with and without voice.
func testChunk(t testing.TB, v *Vocoder) Chunk {
	t.Helper()
	r := rand.New(rand.NewPCG(3, 4))
	c := Chunk{Durations: []int{3, 1, 4, 2, 6}, Style: make([]float32, StyleSize)}
	c.Text = make([]float32, textWidth*len(c.Durations))
	for i := range c.Text {
		c.Text[i] = float32(r.NormFloat64() * .3)
	}
	for i := range 2 * c.frames() {
		hz := float32(0)
		if i > 7 {
			hz = 180 + float32(i)
		}
		c.Pitch, c.Energy = append(c.Pitch, hz), append(c.Energy, r.Float32())
	}
	shape, err := v.Shape(c.Style, func(norm string) Statistics {
		s := Statistics{make([]float32, v.Norms()[norm]), make([]float32, v.Norms()[norm])}
		for i := range s.Variance {
			s.Variance[i] = 1
		}
		return s
	})
	if err != nil {
		t.Fatal(err)
	}
	c.Shape = shape
	return c
}

// listen returns all samples, so many at once.
func listen(t testing.TB, v *Vocoder, c Chunk, n int) []float32 {
	t.Helper()
	s, err := v.Start(c)
	if err != nil {
		t.Fatal(err)
	}
	var all []float32
	for {
		y, err := s.Next(context.Background(), n)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, y...)
		if len(y) < n {
			if len(all) != s.Samples() {
				t.Fatalf("%d samples, want %d", len(all), s.Samples())
			}
			return all
		}
	}
}

func TestPiecesDoNotMatter(t *testing.T) {
	kokorotest.WithoutRaceDetector(t)
	v := vocoders["integers"]()
	c := testChunk(t, v)
	want := listen(t, v, c, 1<<20)
	if peak := slices.Max(want); peak == 0 || math.IsNaN(float64(peak)) {
		t.Fatalf("the loudest sample is %v", peak)
	}
	for _, n := range []int{1, 599, 600, 601, 1920, 4 * 1920} {
		if got := listen(t, v, c, n); !slices.Equal(got, want) {
			t.Errorf("%d samples at once sound different", n)
		}
	}
}

func TestAllKernelsGiveTheSameSamples(t *testing.T) {
	kokorotest.WithoutRaceDetector(t)
	v, plain := vocoders["integers"](), vocoders["plain C"]()
	c := testChunk(t, v)
	p := testChunk(t, plain)
	if !slices.Equal(listen(t, v, c, 1920), listen(t, plain, p, 1920)) {
		t.Error("the fastest kernel and plain C sound different")
	}
}

// TestNoMoreFramesThanItTakes feeds one frame less than Next does, which is too few.
func TestNoMoreFramesThanItTakes(t *testing.T) {
	v := vocoders["integers"]()
	c := testChunk(t, v)
	for c.frames() < 50 {
		c.Durations, c.Text = append(c.Durations, 10), append(c.Text, make([]float32, textWidth)...)
	}
	c.Pitch, c.Energy = make([]float32, 2*c.frames()), make([]float32, 2*c.frames())
	for _, from := range []int{0, 300 * generatorContext, 9000} {
		c.From = from
		next, less := mustStart(t, v, c), mustStart(t, v, c)
		for _, n := range []int{1, 1920, 600} {
			if _, err := next.Next(t.Context(), n); err != nil {
				t.Fatal(err)
			}
		}
		less.advance(next.frame - 1)
		if got := less.out.rows() - less.skip; got >= 1+1920+600 {
			t.Errorf("from sample %d: %d samples come of %d frames, and Next took one more for %d", from, got,
				next.frame-1, 1+1920+600)
		}
	}
}

func mustStart(t *testing.T, v *Vocoder, c Chunk) *Stream {
	t.Helper()
	s, err := v.Start(c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestBeginsAnywhere: what is farther than the receptive field has no part in a sample.
func TestBeginsAnywhere(t *testing.T) {
	kokorotest.WithoutRaceDetector(t)
	v := vocoders["integers"]()
	c := testChunk(t, v)
	want := listen(t, v, c, 1<<20)
	for _, from := range []int{1, 299, 3000, 3001, 4500, len(want) - 1} {
		c.From = from
		got := listen(t, v, c, 1920)
		var worst float64
		for i := range got {
			worst = max(worst, math.Abs(float64(got[i]-want[from+i])))
		}
		if loudest := float64(slices.Max(want)); worst > loudest/100 {
			t.Errorf("from sample %d on: off by %v of %v", from, worst, loudest)
		}
	}
}

func TestNoise(t *testing.T) {
	v := vocoders["integers"]()
	c := testChunk(t, v)
	silent := listen(t, v, c, 1920)
	c.Noise = func(sample int64, out []float32) {
		for h := range out {
			out[h] = float32(math.Sin(float64(sample) * float64(h+2)))
		}
	}
	noisy := listen(t, v, c, 1920)
	if slices.Equal(noisy, silent) {
		t.Error("the noise of the source changes nothing")
	}
	if !slices.Equal(listen(t, v, c, 600), noisy) {
		t.Error("with noise, pieces matter")
	}
}

func TestStatisticsThatAreMeasuredServeAsConstants(t *testing.T) {
	v := vocoders["integers"]()
	c := testChunk(t, v)
	seen := map[string]Statistics{}
	c.Shape, c.Seen = nil, func(norm string, s Statistics) { seen[norm] = s }
	want := listen(t, v, c, 1<<20)
	if len(seen) != len(v.Norms()) {
		t.Fatalf("%d norms were seen, want %d", len(seen), len(v.Norms()))
	}
	var err error
	if c.Shape, err = v.Shape(c.Style, func(norm string) Statistics { return seen[norm] }); err != nil {
		t.Fatal(err)
	}
	c.Seen = nil
	if !slices.Equal(listen(t, v, c, 1920), want) {
		t.Error("the statistics of a chunk, as constants, do not give the chunk")
	}
}

func TestCancelledNextLosesNothing(t *testing.T) {
	v := vocoders["integers"]()
	c := testChunk(t, v)
	want := listen(t, v, c, 1<<20)
	s, err := v.Start(c)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	first, err := s.Next(ctx, 1920)
	if err != nil {
		t.Fatal(err)
	}
	got := slices.Clone(first)
	cause := errors.New("enough")
	cancel(cause)
	if y, err := s.Next(ctx, 4*1920); !errors.Is(err, cause) || len(y) > 0 {
		t.Fatalf("%d samples and the error %v, want none and the cause", len(y), err)
	}
	rest, err := s.Next(t.Context(), 1<<20)
	if got = append(got, rest...); err != nil || !slices.Equal(got, want) {
		t.Errorf("after a cancel: %d samples (error %v) that are not the %d of the chunk", len(got), err, len(want))
	}
}

func TestChunksThatDoNotFit(t *testing.T) {
	v := vocoders["integers"]()
	for name, change := range map[string]func(c *Chunk){
		"no frames":       func(c *Chunk) { c.Durations = nil },
		"too little text": func(c *Chunk) { c.Text = c.Text[1:] },
		"too much pitch":  func(c *Chunk) { c.Pitch = append(c.Pitch, 1) },
		"no energy":       func(c *Chunk) { c.Energy = nil },
		"no shape":        func(c *Chunk) { c.Shape = nil },
	} {
		c := testChunk(t, v)
		change(&c)
		if _, err := v.Start(c); err == nil {
			t.Errorf("%s: want an error", name)
		}
	}
	if _, err := v.Shape(make([]float32, StyleSize), func(string) Statistics { return Statistics{} }); err == nil {
		t.Error("statistics of no channel: want an error")
	}
}

// missing are weights of nothing but zeros, which are made faster, that lack a tensor.
type missing struct {
	madeUp
	name string
}

func (m missing) Floats(name string, shape ...int) ([]float32, error) {
	if name == m.name {
		return nil, errors.New("not there")
	}
	return nothing[float32](shape), nil
}

func (missing) Int8s(_ string, shape ...int) ([]int8, error) { return nothing[int8](shape), nil }

func nothing[T float32 | int8](shape []int) []T {
	n := 1
	for _, s := range shape {
		n *= s
	}
	return make([]T, n)
}

func TestWeightsThatAreMissing(t *testing.T) {
	kokorotest.WithoutRaceDetector(t)
	for _, name := range []string{"asr_res.0.scale", "F0_conv.bias", "generator.ups.1.weight",
		"generator.resblocks.5.alpha2.2"} {
		if _, err := New(missing{name: name}, Options{Kernel: rowproduct.Kernels()[0]}); err == nil {
			t.Errorf("without %s: want an error", name)
		}
	}
}

// TestTheSource: sines of the harmonics where there is voice, and a constant elsewhere.
func TestTheSource(t *testing.T) {
	pitch := make([]float32, 40)
	for i := range pitch[:20] {
		pitch[i] = 200
	}
	weights := []float32{1, 0, 0, 0, 0, 0, 0, 0, .5}
	s := newSource(pitch, weights, .1, nil)
	x := make([]float64, s.samples())
	s.write(0, x)
	const from, to = 1000, 4000 // far from the ends of the voice
	phase := 2 * math.Pi * s.turns(from)
	for n := from; n < to; n++ {
		at := phase + 2*math.Pi*200*float64(n-from)/SampleRate
		want := math.Tanh(.1 + .1*math.Sin(at) + .05*math.Sin(9*at))
		if math.Abs(x[n]-want) > 1e-7 {
			t.Fatalf("sample %d is %v, want %v", n, x[n], want)
		}
	}
	if got, want := x[len(x)-1], math.Tanh(float64(float32(.1))); math.Abs(got-want) > 1e-9 {
		t.Errorf("without voice it is %v, want %v", got, want)
	}
	part := make([]float64, 77)
	s.write(1234, part)
	if !slices.Equal(part, x[1234:1234+77]) {
		t.Error("a piece of it is another signal")
	}
}

// TestSpectraAndBack: overlapping windows of the spectra of a signal give the signal.
func TestSpectraAndBack(t *testing.T) {
	pitch := make([]float32, 8)
	for i := range pitch {
		pitch[i] = 150 + float32(10*i)
	}
	s := &spectra{source: newSource(pitch, []float32{1, .5, .2, .1, 0, 0, 0, 0, .3}, .05, nil)}
	want := make([]float64, s.source.samples())
	s.source.write(0, want)
	rows := make([]float32, s.frames()*2*bins)
	s.write(0, 100, rows)
	s.write(100, s.frames()-100, rows[100*2*bins:])
	var o overlap
	var samples [hop]float32
	for f := range s.frames() {
		post := make([]float32, 2*bins)
		for b := range bins {
			post[b] = float32(math.Log(float64(max(rows[f*2*bins+b], 1e-12))))
			post[bins+b] = rows[f*2*bins+bins+b]
		}
		o.inverse(post[:bins], post[bins:], samples[:])
		for i := range samples {
			if n := (f-2)*hop + i; n >= 2*windowSize && n < len(want)-2*windowSize &&
				math.Abs(float64(samples[i])-want[n]) > 1e-5 {
				t.Fatalf("sample %d is %v, want %v", n, samples[i], want[n])
			}
		}
	}
}
