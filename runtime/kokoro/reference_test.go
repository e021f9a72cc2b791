package kokoro

import (
	"bytes"
	"context"
	"math"
	"math/cmplx"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/swar-tts/swar/runtime/espeak"
	"github.com/swar-tts/swar/runtime/internal/ort"
	"github.com/swar-tts/swar/runtime/internal/orttest"
	"github.com/swar-tts/swar/runtime/kokoro/bundle"
	"github.com/swar-tts/swar/runtime/kokoro/convert"
	"github.com/swar-tts/swar/runtime/kokoro/internal/phoneme"
	"github.com/swar-tts/swar/runtime/kokoro/internal/vocoder"
	"github.com/swar-tts/swar/runtime/kokoro/kokorotest"
	"github.com/swar-tts/swar/runtime/safetensors"
)

// The bounds of TestTheWholeGraph. Over all sixty sentences, see docs/benchmarks.md, the worst are 0.992 and 1.5 dB in
// floats, and 0.68 and 4.6 dB as spoken. The graph is up to 0.998 and 0.7 dB from itself where its input moves by a
// hundred-thousandth, and other processors round otherwise. Statistics of each window in place of constants are 8 to 11
// dB away.
const (
	leastExact    = .98  // correlation
	mostExactDB   = 2    // log-spectral distance
	leastSpoken   = .55  // correlation
	mostSpokenDB  = 6    // log-spectral distance
	publishedGain = 1.5  // the graph never divides by the sum of its windows, which is that
	everyOf       = 30   // sentences that the usual run tries: the graph takes as long as the speech
	quietestDB    = -70. // of a bin, beside the loudest: what is less is not heard
)

// TestTheWholeGraph compares our pipeline with the published graph, in floats and whole, as ONNX Runtime runs it with
// the same weights: the frames of each phoneme are equal, and samples as near as the bounds say.
// SWAR_TEST_REFERENCE=all tries all sixty sentences, which takes minutes.
func TestTheWholeGraph(t *testing.T) {
	library := orttest.Need(t)
	from := kokorotest.Folder(t)
	dir, m := kokorotest.Bundle(t, nil, "anjura=hf_beta", "raj=hm_omega")
	e, err := New(Config{Bundle: dir, Library: library, CacheBytes: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = e.Close() }()
	whole, exact := wholeGraph(t, filepath.Join(from, kokorotest.ModelFile)), exactVocoder(t, dir, m)

	text, err := os.ReadFile("testdata/reference.tsv")
	if err != nil {
		t.Fatal(err)
	}
	lines := slices.DeleteFunc(strings.Split(strings.TrimSpace(string(text)), "\n"),
		func(l string) bool { return strings.HasPrefix(l, "#") })
	if len(lines) != 60 {
		t.Fatalf("%d sentences, want 60", len(lines))
	}
	every := everyOf
	if os.Getenv("SWAR_TEST_REFERENCE") == "all" {
		every = 1
	}
	var sum, worst [4]float64
	worst = [4]float64{1, 0, 1, 0}
	tried := 0
	for i := 0; i < len(lines); i += every {
		_, sentence, _ := strings.Cut(lines[i], "\t")
		v := e.voices[[]string{"anjura", "raj"}[(i/every)%2]]
		got := compareWhole(t, e, v, whole, exact, sentence)
		for k, x := range got {
			sum[k] += x
			if k%2 == 0 {
				worst[k] = min(worst[k], x)
			} else {
				worst[k] = max(worst[k], x)
			}
		}
		tried++
		t.Logf("%s, %s: in floats %.5f and %.2f dB, as spoken %.3f and %.2f dB", sentence, v.Name, got[0], got[1],
			got[2], got[3])
		if got[0] < leastExact || !(got[1] <= mostExactDB) || got[2] < leastSpoken || !(got[3] <= mostSpokenDB) {
			t.Errorf("%s, %s: want correlations of %v and %v at least, and at most %v and %v dB", sentence, v.Name,
				leastExact, leastSpoken, mostExactDB, mostSpokenDB)
		}
	}
	n := float64(tried)
	t.Logf("%d sentences: correlation and log-spectral distance in floats %.5f (least %.5f) and %.2f dB (most %.2f), as spoken %.3f (%.3f) and %.2f dB (%.2f)",
		tried, sum[0]/n, worst[0], sum[1]/n, worst[1], sum[2]/n, worst[2], sum[3]/n, worst[3])
}

// wholeGraph loads the published model in floats.
func wholeGraph(t *testing.T, model string) *ort.Session {
	t.Helper()
	export, err := os.ReadFile(model)
	if err != nil {
		t.Fatal(err)
	}
	var floats bytes.Buffer
	floats.Grow(330 << 20)
	if err := convert.Floats(t.Context(), &floats, export); err != nil {
		t.Fatal(err)
	}
	s, err := ort.Open(floats.Bytes(), []string{"tokens", "style", "speed"}, []string{"samples", "durations"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	debug.FreeOSMemory() // of the file, which is four times as large as the published one
	return s
}

// exactVocoder loads the vocoder in floats.
func exactVocoder(t *testing.T, dir string, m bundle.Manifest) *vocoder.Vocoder {
	t.Helper()
	weights, file, err := safetensors.Open(filepath.Join(dir, m.Vocoder.File))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	v, err := vocoder.New(weights, vocoder.Options{Exact: true})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// compareWhole returns the correlation and the log-spectral distance of a sentence with the graph, in floats with the
// statistics of the sentence, and as it is spoken.
func compareWhole(
	t *testing.T, e *Engine, v *voice, whole *ort.Session, exact *vocoder.Vocoder, sentence string,
) (got [4]float64) {
	t.Helper()
	prepared, _ := espeak.PreparedWords(sentence)
	phonemes, err := e.reader.Read(t.Context(), prepared)
	if err != nil {
		t.Fatal(err)
	}
	ids := phoneme.Fed(phonemes.IDs)
	p, err := e.read(t.Context(), v, sentence, 1)
	if err != nil {
		t.Fatal(err)
	}
	style := v.prompt.Style(len(ids))
	want := runWhole(t, whole, ids, style, p.prosody.Durations)

	c := vocoder.Chunk{Durations: p.prosody.Durations, Text: p.prosody.Text, Pitch: p.prosody.F0, Energy: p.prosody.N}
	floats := c
	floats.Style, floats.Seen = style[:vocoder.StyleSize], func(string, vocoder.Statistics) {}
	s, err := exact.Start(floats)
	if err != nil {
		t.Fatal(err)
	}
	got[0], got[1] = apart(t, all(t, s), want)

	c.Shape, c.From = p.shape, p.from
	spoken, err := e.vocoder.Start(c)
	if err != nil {
		t.Fatal(err)
	}
	got[2], got[3] = apart(t, all(t, spoken), want[p.from:])
	return got
}

func all(t *testing.T, s stream) []float32 {
	t.Helper()
	x, err := s.Next(context.WithoutCancel(t.Context()), math.MaxInt32)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// runWhole runs the graph, and fails unless it gives each id as many frames as we do.
func runWhole(t *testing.T, whole *ort.Session, ids []int64, style []float32, frames []int) []float32 {
	t.Helper()
	total := 0
	for _, n := range frames {
		total += n
	}
	samples, durations := make([]float32, total*vocoder.FrameSamples), make([]float32, len(ids))
	var tensors []*ort.Tensor
	add := func(tensor *ort.Tensor, err error) {
		if err != nil {
			t.Fatal(err)
		}
		tensors = append(tensors, tensor)
	}
	add(ort.Int64s(ids, 1, len(ids)))
	add(ort.Floats(style, 1, len(style)))
	add(ort.Floats([]float32{1}, 1))
	add(ort.Floats(samples, len(samples)))
	add(ort.Floats(durations, 1, len(ids)))
	err := whole.Run(t.Context(), tensors[:3], tensors[3:])
	for _, tensor := range tensors {
		if err := tensor.Close(); err != nil {
			t.Error(err)
		}
	}
	if err != nil {
		t.Fatalf("the graph, where we have %d samples: %v", len(samples), err)
	}
	for i, d := range durations {
		if want := int(math.Max(1, math.RoundToEven(float64(d)))); frames[i] != want {
			t.Errorf("id %d of %d lasts %d frames, and %d in the graph (%v)", i, len(ids), frames[i], want, d)
		}
	}
	for i := range samples {
		samples[i] /= publishedGain
	}
	return samples
}

// apart returns the correlation of two signals, and their log-spectral distance in dB: the mean over windows of 43 ms
// of the root mean square over frequencies. What is more than 70 dB below the loudest of the reference counts as that.
func apart(t *testing.T, got, want []float32) (correlation, distance float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d samples, want %d", len(got), len(want))
	}
	var xy, xx, yy float64
	for i := range got {
		x, y := float64(got[i]), float64(want[i])
		xy, xx, yy = xy+x*y, xx+x*x, yy+y*y
	}
	const window, hop = 1024, 512
	a, b := spectrogram(got, window, hop), spectrogram(want, window, hop)
	loudest := 0.
	for _, row := range b {
		loudest = max(loudest, slices.Max(row))
	}
	db := func(power float64) float64 { return max(10*math.Log10(power/loudest+1e-30), quietestDB) }
	for i := range a {
		squares := 0.
		for k := range a[i] {
			d := db(a[i][k]) - db(b[i][k])
			squares += d * d
		}
		distance += math.Sqrt(squares / float64(len(a[i])))
	}
	return xy / math.Sqrt(xx*yy), distance / float64(len(a))
}

// spectrogram returns the power of each frequency in each window.
func spectrogram(x []float32, window, hop int) (rows [][]float64) {
	at := make([]complex128, window)
	for from := 0; from+window <= len(x); from += hop {
		for i := range at {
			at[i] = complex(float64(x[from+i])*(.5-.5*math.Cos(2*math.Pi*float64(i)/float64(window))), 0)
		}
		f := transform(at)
		row := make([]float64, window/2+1)
		for k := range row {
			row[k] = real(f[k])*real(f[k]) + imag(f[k])*imag(f[k])
		}
		rows = append(rows, row)
	}
	return rows
}

// transform is the Fourier transform of a power of two of values.
func transform(x []complex128) []complex128 {
	n := len(x)
	if n == 1 {
		return []complex128{x[0]}
	}
	even, odd := make([]complex128, n/2), make([]complex128, n/2)
	for i := range even {
		even[i], odd[i] = x[2*i], x[2*i+1]
	}
	even, odd = transform(even), transform(odd)
	y := make([]complex128, n)
	for k := range even {
		turned := cmplx.Rect(1, -2*math.Pi*float64(k)/float64(n)) * odd[k]
		y[k], y[k+n/2] = even[k]+turned, even[k]-turned
	}
	return y
}

// TestApart: a signal is not apart from itself, and one that is half as loud is 6 dB below.
func TestApart(t *testing.T) {
	x, half, other := make([]float32, 24000), make([]float32, 24000), make([]float32, 24000)
	for i := range x {
		x[i] = float32(math.Sin(float64(i)*.1) + .5*math.Sin(float64(i)*float64(i)*1e-5))
		half[i], other[i] = x[i]/2, float32(math.Sin(float64(i)*.5))
	}
	if c, d := apart(t, x, x); math.Abs(c-1) > 1e-9 || d != 0 {
		t.Errorf("from itself: %v, %v dB", c, d)
	}
	if c, d := apart(t, half, x); math.Abs(c-1) > 1e-6 || d < 1 || d > 6.1 {
		t.Errorf("half as loud: %v, %v dB", c, d)
	}
	if c, d := apart(t, other, x); math.Abs(c) > .1 || d < 10 {
		t.Errorf("another signal: %v, %v dB", c, d)
	}
}
