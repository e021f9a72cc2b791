package vocoder

import (
	"testing"

	"github.com/swar-tts/swar/runtime/safetensors"
)

// Window is a piece of speech in the middle of the model.
type Window struct {
	x, har, style []float32
	tensors       *safetensors.Tensors
	Post          []float32
}

// The half frames of a window whose result is compared: what is nearer to its ends depends on what is not there.
const (
	firstCompared = 8
	lastCompared  = 26
)

// ReadWindow opens the window of testdata.
func ReadWindow(t testing.TB) Window {
	t.Helper()
	tensors, file, err := safetensors.Open("testdata/window.safetensors")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	read := func(name string) []float32 {
		v, err := tensors.Floats(name, -1, -1)
		if name == "style" {
			v, err = tensors.Floats(name, StyleSize)
		}
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	return Window{read("x"), read("har"), read("style"), tensors, read("post")}
}

// Decode returns what the generator makes of the window, before samples.
func (w Window) Decode(t testing.TB, v *Vocoder) []float32 {
	t.Helper()
	shape, err := v.Shape(w.style, func(norm string) Statistics {
		n := v.Norms()[norm]
		s := Statistics{make([]float32, n), make([]float32, n)}
		if _, ok := w.tensors.Shape(norm + ".mean"); ok { // of the generator
			var err error
			if s.Mean, err = w.tensors.Floats(norm+".mean", n); err != nil {
				t.Fatal(err)
			}
			if s.Variance, err = w.tensors.Floats(norm+".variance", n); err != nil {
				t.Fatal(err)
			}
		}
		return s
	})
	if err != nil {
		t.Fatal(err)
	}
	var g generator
	g.start(v, &shaping{shape: shape}, newSource(make([]float32, 2), v.harmonics, v.harmonicsBias, nil), 0)
	g.spectra = spectrums(w.har)
	out := queue{width: 1}
	g.push(w.x, true, &out)
	return g.post[60*firstCompared*2*bins+2*bins : 60*lastCompared*2*bins+2*bins]
}

// spectrums are what the source of a recorded window sounded like.
type spectrums []float32

func (s spectrums) frames() int { return len(s) / (2 * bins) }
func (s spectrums) write(from, n int, out []float32) {
	copy(out, s[from*2*bins:(from+n)*2*bins])
}
