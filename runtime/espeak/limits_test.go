package espeak_test

import (
	"os"
	"testing"

	"github.com/swar-tts/swar/runtime/espeak"
	"github.com/swar-tts/swar/runtime/pipeline/pipelinetest"
	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/speech/speechtest"
)

func TestLimits(t *testing.T) {
	if os.Getenv("SWAR_TEST_LIMITS") == "" {
		t.Skip("it takes a minute with the race detector: run make test-limits")
	}
	e, err := espeak.New(espeak.Config{})
	if err != nil {
		t.Skipf("SKIPPED, nothing was heard: %v", err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	limits := speechtest.Limits{Every: 5, Utterances: 60}
	speechtest.RunLimits(t, limits, func(t *testing.T,
		workers int) speech.Speaker {
		return pipelinetest.Open(t, e, workers)
	})
}
