package link

import (
	"testing"

	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/speech/speechtest"
)

// TestAFirstBlockThatComesTooLateIsNotHeard, or the client would get a frame of a call that was cut, and nobody else
// could begin again.
func TestAFirstBlockThatComesTooLateIsNotHeard(t *testing.T) {
	cut := make(chan struct{})
	r := &speechtest.Recorder{}
	late := &speakCall{
		ctx: t.Context(), sink: r, stall: newPatience(0, func() { close(cut) }),
		answered: func() { t.Error("it counts as answered") },
	}
	<-cut
	if err := late.takeAudio(speech.Audio{Frames: 1, Data: make([]byte, speech.FrameBytes)}); err != nil {
		t.Errorf("takeAudio = %v, want it left out", err)
	}
	if r.Frames() > 0 {
		t.Errorf("%d frames were heard", r.Frames())
	}
}
