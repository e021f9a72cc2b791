package layout_test

import (
	"slices"
	"testing"

	"github.com/swar-tts/swar/runtime/internal/orttest"
	"github.com/swar-tts/swar/runtime/onnx"
	"github.com/swar-tts/swar/runtime/onnx/bundle"
	"github.com/swar-tts/swar/runtime/onnx/convert"
	"github.com/swar-tts/swar/runtime/onnx/layout/layouttest"
	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/synth"
)

func newEngine(t *testing.T, dir string) *onnx.Engine {
	t.Helper()
	e, err := onnx.New(onnx.Config{Bundle: dir, Library: orttest.Need(t), Threads: 2})
	must(t, err)
	t.Cleanup(func() { must(t, e.Close()) })
	return e
}

// TestEngineSpeaksEveryLayoutAsItSpeaksABundle goes the whole way from text to samples.
func TestEngineSpeaksEveryLayoutAsItSpeaksABundle(t *testing.T) {
	orttest.Need(t)
	r := convert.Tiny()
	options := synth.Options{Voice: "raj", Text: "Kal milte hain", Seed: 5, Temperature: .3}
	want := speak(t, newWorker(t, newEngine(t, writeNative(t, r).dir)), options)
	for _, name := range layouttest.Layouts() {
		got := speak(t, newWorker(t, newEngine(t, write(t, name, r))), options)
		if len(got) != len(want) || len(got) == 0 {
			t.Errorf("%s: %d samples, want %d", name, len(got), len(want))
			continue
		}
		most := 0
		for i := range got {
			most = max(most, int(got[i])-int(want[i]), int(want[i])-int(got[i]))
		}
		t.Logf("%s: %d samples are at most %d of 32767 apart", name, len(got), most)
		if most > 1 {
			t.Errorf("%s: samples are %d apart, want rounding alone", name, most)
		}
	}
}

// TestIntegersSpeakTheSameEveryTime is about graphs whose integers are scaled over all rows of a run, so that it
// matters what is run together. The suite asks for more of them than they can keep: samples depend on how many frames
// are decoded at once.
func TestIntegersSpeakTheSameEveryTime(t *testing.T) {
	orttest.Need(t)
	r := convert.Tiny()
	r.Precision = bundle.Int8
	options := synth.Options{Voice: "raj", Text: "Kal milte hain", Seed: 5, Temperature: .3}
	other := synth.Options{Voice: "anjura", Text: "Namaste", Seed: 6, Temperature: .3}
	for _, name := range layouttest.Layouts() {
		dir := write(t, name, r)
		e := newEngine(t, dir)
		a, b := newWorker(t, e), newWorker(t, e)
		want := speak(t, a, options)
		speak(t, b, other)
		for what, got := range map[string][]int16{
			"from the cache": speak(t, a, options), "on another worker": speak(t, b, options), "in another engine": speak(t, newWorker(t, newEngine(t, dir)), options),
		} {
			if len(want) == 0 || !slices.Equal(got, want) {
				t.Errorf("%s: %s the samples are others", name, what)
			}
		}
	}
}

func newWorker(t *testing.T, e *onnx.Engine) synth.Worker {
	t.Helper()
	w, err := e.NewWorker(t.Context())
	must(t, err)
	t.Cleanup(func() { must(t, w.Close()) })
	return w
}

// speak speaks a chunk to its end.
func speak(t *testing.T, w synth.Worker, o synth.Options) (pcm []int16) {
	t.Helper()
	_, err := w.Prefill(t.Context(), o)
	must(t, err)
	for n, done := synth.FirstFrames, false; !done; n = synth.GroupFrames {
		dst := make([]int16, n*speech.FrameSamples)
		var frames int
		frames, done, _, err = w.Next(t.Context(), dst, n)
		must(t, err)
		pcm = append(pcm, dst[:frames*speech.FrameSamples]...)
	}
	return pcm
}
