package convert

import (
	"math"
	"path/filepath"
	"testing"

	"github.com/swar-tts/swar/runtime/onnx/bundle"
)

func TestAPublishedRandomModelIsConverted(t *testing.T) {
	dir := t.TempDir()
	r := Tiny()
	r.Vocab = 400
	if err := r.Publish(dir, ""); err != nil {
		t.Fatal(err)
	}
	sound := make([]float64, 3*sampleRate)
	for i := range sound {
		sound[i] = .3 * math.Sin(float64(i)/20) * math.Sin(float64(i)/3000)
	}
	voice := writeWAV(t, filepath.Join(dir, "raj.wav"), sound)
	c := Conversion{ID: "m", Config: filepath.Join(dir, PublishedConfig), Precision: bundle.FP32,
		Voices: map[string]string{"raj": voice}, Language: "hi-IN"}
	_, m := convert(t, c)
	if m.Dims.Width != r.Width || m.Dims.Layers != r.Layers || m.Text.TerminalPunctuation {
		t.Errorf("the bundle is %d wide, has %d layers and adds full stops: %v", m.Dims.Width, m.Dims.Layers,
			m.Text.TerminalPunctuation)
	}
	if v := m.Voices[0]; v.Name != "raj" || v.PromptFrames < 3*sampleRate/frameSamples {
		t.Errorf("voice %s of %d positions, want raj of three seconds", v.Name, v.PromptFrames)
	}
}

func TestBrainFloat(t *testing.T) {
	for v, want := range map[float32]uint16{
		0: 0, 1: 0x3f80, -2: 0xc000,
		math.Float32frombits(0x3f807fff): 0x3f80, // just below half
		math.Float32frombits(0x3f808000): 0x3f80, // half: to even
		math.Float32frombits(0x3f808001): 0x3f81,
		math.Float32frombits(0x3f818000): 0x3f82, // half: to even
	} {
		if got := brainFloat(v); got != want {
			t.Errorf("%v is %#04x, want %#04x", v, got, want)
		}
	}
}
