package layout_test

import (
	"testing"

	"github.com/swar-tts/swar/runtime/onnx"
	"github.com/swar-tts/swar/runtime/onnx/bundle"
	"github.com/swar-tts/swar/runtime/onnx/internal/orttest"
	"github.com/swar-tts/swar/runtime/onnx/layout/layouttest"
	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/synth"
	"github.com/swar-tts/swar/runtime/synth/synthtest"
)

func newEngine(t *testing.T, dir string) *onnx.Engine {
	t.Helper()
	e, err := onnx.New(onnx.Config{Bundle: dir, Library: orttest.Need(t), Threads: 1})
	must(t, err)
	t.Cleanup(func() { must(t, e.Close()) })
	return e
}

func TestEngineKeepsItsPromisesWithEveryLayout(t *testing.T) {
	orttest.Need(t)
	for _, name := range layouttest.Layouts() {
		t.Run(name, func(t *testing.T) {
			dir := write(t, name, bundle.Tiny())
			synthtest.Run(t, func(t *testing.T) synth.Engine { return newEngine(t, dir) })
		})
	}
}

// TestEngineSpeaksEveryLayoutAsItSpeaksABundle goes the whole way from text to samples.
func TestEngineSpeaksEveryLayoutAsItSpeaksABundle(t *testing.T) {
	orttest.Need(t)
	r := bundle.Tiny()
	options := synth.Options{Voice: "raj", Text: "Kal milte hain", Seed: 5, Temperature: .3}
	want := speak(t, writeNative(t, r).dir, options)
	for _, name := range layouttest.Layouts() {
		got := speak(t, write(t, name, r), options)
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

func speak(t *testing.T, dir string, o synth.Options) []int16 {
	t.Helper()
	w, err := newEngine(t, dir).NewWorker(t.Context())
	must(t, err)
	defer w.Close()
	_, err = w.Prefill(t.Context(), o)
	must(t, err)
	var pcm []int16
	for n, done := synth.FirstFrames, false; !done; n = synth.GroupFrames {
		dst := make([]int16, n*speech.FrameSamples)
		var frames int
		frames, done, _, err = w.Next(t.Context(), dst, n)
		must(t, err)
		pcm = append(pcm, dst[:frames*speech.FrameSamples]...)
	}
	return pcm
}
