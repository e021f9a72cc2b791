package espeak

import (
	"testing"

	"github.com/swar-tts/swar/runtime/synth"
	"github.com/swar-tts/swar/runtime/synth/synthtest"
)

func TestConformance(t *testing.T) {
	synthtest.Run(t, func(t *testing.T) synth.Engine { return installed(t) })
}

// installed is an engine on the real program.
func installed(t testing.TB) *Engine {
	t.Helper()
	e, err := New(Config{})
	if err != nil {
		t.Skipf("SKIPPED, nothing was heard: %v", err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}
