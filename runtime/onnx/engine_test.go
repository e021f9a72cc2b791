package onnx

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/swar-tts/swar/runtime/internal/orttest"
	"github.com/swar-tts/swar/runtime/onnx/bundle"
	"github.com/swar-tts/swar/runtime/onnx/convert"
	"github.com/swar-tts/swar/runtime/onnx/internal/model"
	"github.com/swar-tts/swar/runtime/onnx/internal/vectortest"
	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/synth"
	"github.com/swar-tts/swar/runtime/synth/synthtest"
)

// letters is a tokenizer with one id for each letter, as many as the model has.
type letters int

func (l letters) Encode(dst []int32, text string) []int32 {
	for _, r := range text {
		dst = append(dst, r%int32(l))
	}
	return dst
}

func (l letters) Count(text string) int { return len(l.Encode(nil, text)) }
func (l letters) Size() int             { return int(l) }

// open loads the bundle in dir with letters as its tokenizer.
func open(t testing.TB, dir string, m bundle.Manifest) *Engine {
	t.Helper()
	e, err := New(Config{
		Bundle: dir, Library: orttest.Need(t),
		Tokenizer: func([]byte) (Tokenizer, error) { return letters(m.Dims.Vocab), nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

func random(t testing.TB, r convert.Random) (string, bundle.Manifest) {
	t.Helper()
	dir := t.TempDir()
	m, err := convert.SynthRandom(dir, r)
	if err != nil {
		t.Fatal(err)
	}
	return dir, m
}

func TestEngineKeepsItsPromises(t *testing.T) {
	orttest.Need(t)
	dir, m := random(t, convert.Tiny())
	synthtest.Run(t, suite(t, open(t, dir, m)))
}

func TestEngineWithItsOwnTokenizerKeepsItsPromises(t *testing.T) {
	library := orttest.Need(t)
	dir, _ := random(t, convert.Tiny())
	e, err := New(Config{Bundle: dir, Library: library})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}()
	if got := e.Tokens("kal"); got != 5 { // K, a, l and the full stop, with the mark of a word in front
		t.Errorf("%d tokens in \"kal\", want 5", got)
	}
	synthtest.Run(t, suite(t, e))
}

func TestEngineOfIntegersKeepsItsPromises(t *testing.T) {
	orttest.Need(t)
	r := convert.Tiny()
	r.Precision = bundle.Int8
	dir, m := random(t, r)
	synthtest.Run(t, suite(t, open(t, dir, m)))
}

func TestEngineOfSeveralFlowStepsKeepsItsPromises(t *testing.T) {
	orttest.Need(t)
	r := convert.Tiny()
	r.FlowSteps, r.Seed = 3, 5
	dir, m := random(t, r)
	synthtest.Run(t, suite(t, open(t, dir, m)))
}

// stored is a tokenizer that knows one text.
type stored struct {
	ids  []int32
	size int
}

func (s stored) Encode(dst []int32, _ string) []int32 { return append(dst, s.ids...) }
func (s stored) Count(string) int                     { return len(s.ids) }
func (s stored) Size() int                            { return s.size }

// TestEngineSpeaksAModelAsTheReferenceDoes goes the whole way, from a checkpoint over a bundle to samples, in the one
// run whose noise is known: that without.
func TestEngineSpeaksAModelAsTheReferenceDoes(t *testing.T) {
	library := orttest.Need(t)
	v := vectortest.Load(t, "03-noise-and-steps")
	r := v.Runs[0]
	if r.Temperature != 0 || r.Steps != 1 {
		t.Fatalf("the first run is %+v, want one without noise", r)
	}
	source := sourceOf(t, v)
	source.Limits.TokensPerSecond, source.Limits.PaddingSeconds = 50, .44 // the run was cut after twelve frames
	dir := t.TempDir()
	m, err := convert.Write(dir, source)
	if err != nil {
		t.Fatal(err)
	}
	if got := m.Limits.MaxFrames(26); got != r.MaxFrames {
		t.Fatalf("at most %d frames, want %d", got, r.MaxFrames)
	}
	e, err := New(Config{Bundle: dir, Library: library, Tokenizer: func([]byte) (Tokenizer, error) {
		return stored{v.Tokens(t, r), m.Dims.Vocab}, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	w, err := e.NewWorker(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	want := decode(t, e, v.Array(t, r.Files["latent"]).Floats)
	model.FadeIn(want[:convert.DefaultFadeIn])
	for _, cached := range []bool{false, true} {
		got, eos, hit := speak(t, w, synth.Options{Voice: "v", Text: r.Text, Seed: 1})
		if len(got) != len(want) || eos || hit != cached {
			t.Fatalf("%d samples, eos %v, cached %v; want %d, false, %v", len(got), eos, hit, len(want), cached)
		}
		for i := range got {
			if d := float64(got[i])/32767 - float64(min(max(want[i], -1), 1)); math.Abs(d) > 1./32767 {
				t.Fatalf("cached %v: sample %d is %d, want %.1f", cached, i, got[i], want[i]*32767)
			}
		}
	}
}

// sourceOf is the case as something to make a bundle of, with one voice called v.
func sourceOf(t testing.TB, v *vectortest.Case) convert.Source {
	t.Helper()
	c := v.Checkpoint.Config
	return convert.Source{
		Checkpoint: *v.Checkpoint, Model: bundle.Model{ID: "case", Weights: strings.Repeat("a", 64)},
		Tokenizer: []byte("not read"),
		Text:      convert.DefaultText(c), Sampling: convert.DefaultSampling(c), Limits: convert.DefaultLimits(),
		FadeIn: convert.DefaultFadeIn,
		Voices: []convert.SourceVoice{{Name: "v", Language: "hi-IN",
			Prompt: vectortest.Tensors(t, vectortest.File(t, v.Dir, "voice.safetensors"))}},
	}
}

// decode turns latents into samples as a worker does: one frame first, then by groups.
func decode(t testing.TB, e *Engine, latents []float32) (audio []float32) {
	t.Helper()
	d, err := e.model.(native).NewDecoder()
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	d.Begin()
	for frames, width := synth.FirstFrames, e.manifest.Dims.Latent; len(latents) > 0; frames = synth.GroupFrames {
		frames = min(frames, len(latents)/width)
		samples, err := d.Decode(latents[:frames*width], frames)
		if err != nil {
			t.Fatal(err)
		}
		audio, latents = append(audio, samples...), latents[frames*width:]
	}
	return audio
}

// speak reads a chunk and plays it one frame first, then by groups of four.
func speak(t testing.TB, w synth.Worker, o synth.Options) (pcm []int16, eos, cached bool) {
	t.Helper()
	cached, err := w.Prefill(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	dst := make([]int16, synth.GroupFrames*speech.FrameSamples)
	for n := synth.FirstFrames; ; n = synth.GroupFrames {
		frames, done, eos, err := w.Next(t.Context(), dst, n)
		if err != nil {
			t.Fatal(err)
		}
		pcm = append(pcm, dst[:frames*speech.FrameSamples]...)
		if done {
			return pcm, eos, cached
		}
	}
}

func newTestWorker(t testing.TB, e *Engine) synth.Worker {
	t.Helper()
	w, err := e.NewWorker(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

func TestTheLongestChunkFitsExactly(t *testing.T) {
	orttest.Need(t)
	r := convert.Tiny()
	r.Ends = false
	dir, m := random(t, r)
	e := open(t, dir, m)
	w := newTestWorker(t, e)
	// a full stop is added
	o := synth.Options{Voice: "raj", Text: strings.Repeat("a", m.Limits.MaxTokens-1), Temperature: .3}
	pcm, eos, _ := speak(t, w, o)
	if got, want := len(pcm)/speech.FrameSamples, 234; got != want || eos {
		t.Errorf("%d frames, eos %v; want %d, false", got, eos, want)
	}
	if left := w.(*worker).sequence.(*model.Stream).Room(); left != 0 {
		t.Errorf("%d positions are left", left)
	}
	o.Text += "a"
	if _, err := w.Prefill(t.Context(), o); err == nil || !strings.Contains(err.Error(), "51 tokens") {
		t.Errorf("a chunk of one token too many: %v", err)
	}
	if frames, _, _, err := w.Next(t.Context(), make([]int16, speech.FrameSamples), 1); err == nil {
		t.Errorf("%d frames after a prefill that failed", frames)
	}
}

func TestSilenceEndsAtOnce(t *testing.T) {
	orttest.Need(t)
	dir, m := random(t, convert.Tiny())
	e := open(t, dir, m)
	if got := e.Tokens(" \n"); got != 0 {
		t.Errorf("white space has %d tokens", got)
	}
	if pcm, eos, cached := speak(t, newTestWorker(t, e), synth.Options{Voice: "raj", Text: " \n"}); len(pcm) != 0 ||
		!eos || cached {
		t.Errorf("%d samples, eos %v, cached %v; want none, true, false", len(pcm), eos, cached)
	}
}

func TestACacheChangesNothingThatIsHeard(t *testing.T) {
	library := orttest.Need(t)
	dir, m := random(t, convert.Tiny())
	without, err := New(Config{
		Bundle: dir, Library: library, CacheBytes: -1,
		Tokenizer: func([]byte) (Tokenizer, error) { return letters(m.Dims.Vocab), nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer without.Close()
	o := synth.Options{Voice: "anjura", Text: "नमस्ते, kaise ho?", Seed: 3, Temperature: 1}
	a, b := newTestWorker(t, open(t, dir, m)), newTestWorker(t, without)
	want, _, _ := speak(t, a, o)
	for _, w := range []synth.Worker{a, b, b} {
		got, _, cached := speak(t, w, o)
		if !slices.Equal(got, want) {
			t.Errorf("cached %v: other samples than the first time", cached)
		}
		if cached != (w == a) {
			t.Errorf("cached = %v", cached)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	library := orttest.Need(t)
	good := func() (Config, bundle.Manifest) {
		dir, m := random(t, convert.Tiny())
		return Config{Bundle: dir, Library: library,
			Tokenizer: func([]byte) (Tokenizer, error) { return letters(m.Dims.Vocab), nil }}, m
	}
	tests := map[string]struct {
		change func(*Config, bundle.Manifest)
		want   string
	}{
		"a folder without a bundle": {func(c *Config, _ bundle.Manifest) { c.Bundle = t.TempDir() }, bundle.ManifestFile},
		"a file that was changed": {func(c *Config, m bundle.Manifest) {
			path := filepath.Join(c.Bundle, m.Host.File)
			data := vectortest.File(t, c.Bundle, m.Host.File)
			data[len(data)-1] ^= 1
			if err := os.WriteFile(path, data, 0o644); err != nil {
				t.Fatal(err)
			}
		}, "SHA-256"},
		"a tokenizer of another size": {func(c *Config, m bundle.Manifest) {
			c.Tokenizer = func([]byte) (Tokenizer, error) { return letters(m.Dims.Vocab - 1), nil }
		}, "pieces"},
		"a tokenizer that cannot be read": {func(c *Config, _ bundle.Manifest) {
			c.Tokenizer = func([]byte) (Tokenizer, error) { return nil, os.ErrInvalid }
		}, "tokenizer"},
		"no library": {func(c *Config, _ bundle.Manifest) { c.Library = "" }, "library"},
	}
	for name, tt := range tests {
		c, m := good()
		tt.change(&c, m)
		if _, err := New(c); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want one with %q", name, err, tt.want)
		}
	}
}

func TestFadeInEqualsTheReference(t *testing.T) {
	for name, r := range map[string]string{"01-v2-tanh": "run_a", "02-v1-erf": "run_short",
		"03-noise-and-steps": "run_t07_n4", "07-bf16": "run_a"} {
		v := vectortest.Load(t, name)
		got := v.Array(t, r+".audio.npy").Floats[:speech.FrameSamples]
		model.FadeIn(got[:convert.DefaultFadeIn])
		if far := vectortest.Apart(t, got, v.Array(t, r+".audio_first_frame_faded.npy").Floats); !(far <= 1e-7) {
			t.Errorf("%s: %.1e apart", name, far)
		}
	}
	model.FadeIn(nil)
	one := []float32{1}
	if model.FadeIn(one); one[0] != 0 {
		t.Errorf("a fade of one sample is %v, want 0", one)
	}
}

func TestQuantise(t *testing.T) {
	dst := make([]int16, 7)
	toPCM16(dst, []float32{0, 1, -1, 1.5, -7, .5 / 32767, 1 / 32767.})
	if want := []int16{0, 32767, -32767, 32767, -32767, 0, 1}; !slices.Equal(dst, want) {
		t.Errorf("%v, want %v", dst, want)
	}
}
