package model

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/swar-tts/swar/runtime/onnx/bundle"
	"github.com/swar-tts/swar/runtime/onnx/internal/vectortest"
)

// frames counts the frames that a chunk with these logits emits, as a worker does, and the logits that it looks at.
func frames(e Ending, logits []float32) (emitted, looked int, eos bool) {
	for {
		if done, eos := e.Over(emitted); done {
			return emitted, looked, eos
		}
		e.Observe(looked, logits[looked])
		looked++
		if done, eos := e.Over(emitted); done {
			return emitted, looked, eos
		}
		emitted++
	}
}

func TestEveryRunEndsWhereTheReferenceDoes(t *testing.T) {
	runs := 0
	for _, name := range []string{"01-v2-tanh", "02-v1-erf", "03-noise-and-steps", "05-eos", "07-bf16"} {
		v := vectortest.Load(t, name)
		for _, r := range v.Runs {
			from := r.Name
			if r.LatentsFrom != "" {
				from = r.LatentsFrom
			}
			e := Ending{Threshold: r.Threshold, MinFrames: r.MinFrames, After: r.FramesAfter, MaxFrames: r.MaxFrames}
			got, _, eos := frames(e, v.Array(t, "run_"+from+".eos_logit.npy").Floats)
			if got != r.Expect.Frames || eos != r.Expect.EOS {
				t.Errorf("%s %s: %d frames, eos %v; want %d, %v", name, r.Name, got, eos, r.Expect.Frames, r.Expect.EOS)
			}
			runs++
		}
	}
	if runs != 21 {
		t.Errorf("%d runs, want 21", runs)
	}
}

func TestFramesAreCountedFromTokensAndWords(t *testing.T) {
	var rules struct {
		MaxFrames map[int]int `json:"max_frames"`
	}
	if err := json.Unmarshal(vectortest.File(t, vectortest.Dir(t, "05-eos"), "frame_rules.json"), &rules); err != nil {
		t.Fatal(err)
	}
	m := bundle.Manifest{
		Sampling: bundle.Sampling{FramesAfterEOS: 3, FramesAfterEOSShort: 5, ShortWords: 4},
		Limits:   bundle.Limits{TokensPerSecond: 3, PaddingSeconds: 2},
	}
	if len(rules.MaxFrames) < 50 {
		t.Fatalf("%d token counts in the file, want 50 and more", len(rules.MaxFrames))
	}
	for tokens, want := range rules.MaxFrames {
		if got := NewEnding(&m, tokens, 9).MaxFrames; got != want {
			t.Errorf("%d tokens: at most %d frames, want %d", tokens, got, want)
		}
	}
	for words, want := range map[int]int{1: 5, 3: 5, 4: 5, 5: 3, 12: 3} {
		if got := NewEnding(&m, 10, words).After; got != want {
			t.Errorf("%d words: %d frames after the end, want %d", words, got, want)
		}
	}
}

func TestALogitThatIsNoNumberEndsNothing(t *testing.T) {
	nan := float32(math.NaN())
	got, _, eos := frames(Ending{Threshold: -4, After: 1, MaxFrames: 3}, []float32{nan, nan, nan})
	if got != 3 || eos {
		t.Errorf("%d frames, eos %v; want the limit of three", got, eos)
	}
}
