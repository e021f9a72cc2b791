package kokoro_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"testing"

	"github.com/swar-tts/swar/runtime/kokoro"
	"github.com/swar-tts/swar/runtime/kokoro/kokorotest"
	"github.com/swar-tts/swar/runtime/pipeline/pipelinetest"
	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/speech/speechtest"
	"github.com/swar-tts/swar/runtime/synth"
	"github.com/swar-tts/swar/runtime/synth/synthtest"
)

// TestStandIn: what is around the network keeps the promises of every engine and every speaker, also at the limits.
func TestStandIn(t *testing.T) {
	t.Run("engine", func(t *testing.T) {
		synthtest.Run(t, func(*testing.T) synth.Engine { return kokoro.StandIn(nil) })
	})
	t.Run("speaker", func(t *testing.T) {
		speechtest.Run(t, func(t *testing.T) speech.Speaker { return pipelinetest.Open(t, kokoro.StandIn(nil), 1) })
	})
	t.Run("limits", func(t *testing.T) {
		speechtest.RunLimits(t, speechtest.Limits{}, func(t *testing.T, workers int) speech.Speaker {
			return pipelinetest.Open(t, kokoro.StandIn(nil), workers)
		})
	})
}

// TestCancelInsideAGroup ends an utterance while the vocoder is in the middle of a block, after any of its frames: what
// is billed is what was sent, and what was sent is how the utterance begins.
func TestCancelInsideAGroup(t *testing.T) {
	u := speech.Utterance{Text: "Namaste, aapka order nikla. Dhanyavaad, phir milenge.", Voice: "anjura",
		Format: speech.PCM16, Seed: 7, Temperature: .3}
	made, end := 0, -1 // of the vocoder's frames, and after which of them the utterance ends
	cancel := func(error) {}
	s := pipelinetest.Open(t, kokoro.StandIn(func(int) {
		if made++; made == end {
			cancel(speech.ErrClientGone)
		}
	}), 1)
	made = 0
	whole := &speechtest.Recorder{}
	if _, err := s.Speak(t.Context(), u, speech.Turn{}, whole); err != nil {
		t.Fatal(err)
	}
	all := made
	for end = 1; end <= all; end++ {
		var ctx context.Context
		ctx, cancel = context.WithCancelCause(t.Context())
		made = 0
		r := &speechtest.Recorder{}
		st, err := s.Speak(ctx, u, speech.Turn{}, r)
		if !errors.Is(err, speech.ErrClientGone) && (err != nil || end < all) {
			t.Errorf("after frame %d of %d: %v, want the cause of the cancel", end, all, err)
		}
		if st.Frames != r.Frames() || !bytes.HasPrefix(whole.Bytes(), r.Bytes()) || s.Capacity().Busy != 0 {
			t.Errorf("after frame %d of %d: %d frames are billed, %d were sent, %d workers are busy", end, all,
				st.Frames, r.Frames(), s.Capacity().Busy)
		}
		cancel(nil)
	}
}

// TestLimits is the same with real weights. It takes minutes, so it runs only where it is asked for.
func TestLimits(t *testing.T) {
	if os.Getenv("SWAR_TEST_LIMITS") == "" {
		t.Skip("it takes ten minutes: run make test-limits")
	}
	dir, _ := kokorotest.Bundle(t, nil, "anjura=hf_beta", "raj=hm_omega")
	e := open(t, dir, kokoro.Config{})
	t.Run("speaker", func(t *testing.T) {
		speechtest.Run(t, func(t *testing.T) speech.Speaker { return pipelinetest.Open(t, e.Again(), 1) })
	})
	t.Run("limits", func(t *testing.T) {
		speechtest.RunLimits(t, speechtest.Limits{Every: 9, Growth: 48 << 20},
			func(t *testing.T, workers int) speech.Speaker {
				return pipelinetest.Open(t, e.Again(), workers)
			})
	})
}
