package synthtest

import (
	"slices"
	"testing"

	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/synth"
)

func TestFakeEngine(t *testing.T) {
	Run(t, func(*testing.T) synth.Engine { return NewEngine(Config{}) })
}

func TestFakeEngineThatTellsMore(t *testing.T) {
	Run(t, func(*testing.T) synth.Engine {
		return NewEngine(Config{WordTimes: true, Speeds: speech.Speeds{Min: .5, Max: 1.5}})
	})
}

func TestTheFakeSpeaksTwoScripts(t *testing.T) {
	e := NewEngine(Config{})
	for text, want := range map[string]bool{
		line: true, "café 407 ४०७": true, "।!? 😀 \u200d": true, "नमस्ते 你": false, "П": false, "½": false, "٤": false,
	} {
		if got := e.Speaks(text); got != want {
			t.Errorf("Speaks(%q) = %v, want %v", text, got, want)
		}
	}
}

func TestDecodeHearsWhatWasSpoken(t *testing.T) {
	w := newWorker(t, NewEngine(Config{BytesPerFrame: 5}))
	var pcm []int16
	for i, text := range []string{line, other} {
		got, _ := speak(t, w, synth.Options{Voice: "raj", Text: text, Chunk: i, Temperature: 2}, 1, 4)
		pcm = append(pcm, got...)
	}
	got, err := Decode(pcm)
	want := []SpokenChunk{{0, "raj", line}, {1, "raj", other}}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("Decode = %v, %v; want %v", got, err, want)
	}
	if _, err := Decode(pcm[:speech.FrameSamples-1]); err == nil {
		t.Error("a frame minus one sample was decoded")
	}
	pcm[speech.FrameSamples]++
	if _, err := Decode(pcm); err == nil {
		t.Error("a frame without its mark was decoded")
	}
}

func TestMaxFramesEndsWithoutEOS(t *testing.T) {
	for text, want := range map[string]bool{"1234567": true, "12345678": true, "123456789": false} {
		w := newWorker(t, NewEngine(Config{BytesPerFrame: 4, MaxFrames: 2}))
		pcm, eos := speak(t, w, synth.Options{Voice: "raj", Text: text}, 1, 4)
		if len(pcm) != 2*speech.FrameSamples || eos != want {
			t.Errorf("%d bytes: %d samples, eos %v; want two frames, eos %v", len(text), len(pcm), eos, want)
		}
	}
}
