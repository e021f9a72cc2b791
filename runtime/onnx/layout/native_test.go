package layout_test

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/swar-tts/swar/runtime/internal/ort"
	"github.com/swar-tts/swar/runtime/onnx/bundle"
	"github.com/swar-tts/swar/runtime/onnx/convert"
	"github.com/swar-tts/swar/runtime/safetensors"
	"github.com/swar-tts/swar/runtime/speech"
)

// native runs the graphs of a bundle of our own, to compare with.
type native struct {
	t        *testing.T
	dir      string
	manifest bundle.Manifest
	host     bundle.Host
	lm       *ort.Session
	length   int
	values   map[string]*ort.Tensor // keys and values, and what a run returns
	h        []float32
	eos      []float32
	latent   []float32
}

const nativeCapacity = 400

// writeNative makes a bundle of r.
func writeNative(t *testing.T, r convert.Random) *native {
	t.Helper()
	dir := t.TempDir()
	m, err := convert.SynthRandom(dir, r)
	must(t, err)
	n := &native{t: t, dir: dir, manifest: m, values: map[string]*ort.Tensor{}}
	tensors, file, err := safetensors.Open(filepath.Join(dir, m.Host.File))
	must(t, err)
	n.host, err = bundle.ReadHost(tensors, m.Dims, m.Flow.Steps)
	must(t, err)
	must(t, file.Close())
	n.lm = n.open(m.LM)
	d := m.Dims
	n.h, n.eos, n.latent = make([]float32, d.Width), make([]float32, 1), make([]float32, d.Latent)
	n.values["h"], n.values["eos"], n.values["latent"] = n.tensor(n.h, 1, d.Width), n.tensor(n.eos, 1, 1),
		n.tensor(n.latent, 1, d.Latent)
	return n
}

func (n *native) open(g bundle.Graph) *ort.Session {
	n.t.Helper()
	names := func(values []bundle.Value) (list []string) {
		for _, v := range values {
			list = append(list, v.Name)
		}
		return list
	}
	file, err := os.ReadFile(filepath.Join(n.dir, g.File.File))
	must(n.t, err)
	s, err := ort.Open(file, names(g.Inputs), names(g.Outputs))
	must(n.t, err)
	n.t.Cleanup(func() { must(n.t, s.Close()) })
	return s
}

func (n *native) tensor(values []float32, shape ...int) *ort.Tensor {
	n.t.Helper()
	t, err := ort.Floats(values, shape...)
	must(n.t, err)
	n.t.Cleanup(func() { must(n.t, t.Close()) })
	return t
}

// begin starts behind the prompt of a voice.
func (n *native) begin(voice string) {
	n.t.Helper()
	d := n.manifest.Dims
	for _, v := range n.manifest.Voices {
		if v.Name != voice {
			continue
		}
		tensors, file, err := safetensors.Open(filepath.Join(n.dir, v.File.File))
		must(n.t, err)
		p, err := bundle.ReadPrompt(tensors, d)
		must(n.t, err)
		must(n.t, file.Close())
		for i := range d.Layers {
			for name, from := range map[string][]float32{"K": p.K[i], "V": p.V[i]} {
				values := make([]float32, nativeCapacity*d.Width)
				for h := range d.Heads {
					copy(values[h*nativeCapacity*d.HeadDim:], from[h*p.Positions*d.HeadDim:(h+1)*p.Positions*d.HeadDim])
				}
				name += string(rune('0' + i))
				n.values[name] = n.tensor(values, 1, d.Heads, nativeCapacity, d.HeadDim)
				n.values[name+"_out"] = n.values[name]
			}
		}
		n.length = p.Positions
		return
	}
	n.t.Fatalf("no voice %s", voice)
}

// prefill reads the text and the start row, and draws the first latent.
func (n *native) prefill(tokens []int32, noise []float32) {
	n.t.Helper()
	width := n.manifest.Dims.Width
	var rows []float32
	for _, id := range tokens {
		rows = append(rows, n.host.Embedding[int(id)*width:(int(id)+1)*width]...)
	}
	n.run(append(rows, n.host.Start...), noise)
}

// step reads the latent and draws the next one.
func (n *native) step(noise []float32) {
	n.t.Helper()
	row := make([]float32, n.manifest.Dims.Width)
	n.host.Row(row, n.latent)
	n.run(row, noise)
}

func (n *native) run(rows, noise []float32) {
	n.t.Helper()
	count := len(rows) / n.manifest.Dims.Width
	n.length += count
	n.values["rows"], n.values["noise"] = n.tensor(rows, 1, count, n.manifest.Dims.Width),
		n.tensor(noise, 1, len(noise))
	for name, v := range map[string]int{"lengths": n.length - 1, "total": n.length} {
		t, err := ort.Int32s([]int32{int32(v)}, 1)
		must(n.t, err)
		n.t.Cleanup(func() { must(n.t, t.Close()) })
		n.values[name] = t
	}
	must(n.t, n.lm.Run(n.t.Context(), n.all(n.manifest.LM.Inputs), n.all(n.manifest.LM.Outputs)))
}

func (n *native) all(values []bundle.Value) (list []*ort.Tensor) {
	for _, v := range values {
		if n.values[v.Name] == nil {
			n.t.Fatalf("nothing for %s", v.Name)
		}
		list = append(list, n.values[v.Name])
	}
	return list
}

// decode turns all latents into samples at once, with fresh states.
func (n *native) decode(latents []float32) []float32 {
	n.t.Helper()
	d := n.manifest.Dims
	frames := len(latents) / d.Latent
	positions, half, before := frames*d.Upsample, d.CodecWidth/d.CodecHeads/2, d.CodecWindow-1
	cos, sin := make([]float32, positions*half), make([]float32, positions*half)
	bundle.Rotations(cos, sin, bundle.RotationFrequencies(d.CodecRoPE, 2*half), 0, positions)
	mask := make([]float32, positions*(before+positions))
	for i := range mask {
		if row, column := i/(before+positions), i%(before+positions); column < max(row, before) || column > row+before {
			mask[i] = float32(math.Inf(-1))
		}
	}
	audio := make([]float32, frames*speech.FrameSamples)
	n.values["latents"], n.values["audio"] = n.tensor(latents, 1, frames, d.Latent), n.tensor(audio, 1, 1, len(audio))
	n.values["cos"], n.values["sin"] = n.tensor(cos, positions, half), n.tensor(sin, positions, half)
	n.values["mask"] = n.tensor(mask, positions, before+positions)
	for _, s := range n.manifest.Codec.States {
		size := 1
		for _, v := range s.Shape {
			size *= v
		}
		n.values[s.Name] = n.tensor(make([]float32, size), s.Shape...)
		n.values[s.Name+"_out"] = n.values[s.Name]
	}
	codec := n.open(n.manifest.Codec)
	must(n.t, codec.Run(n.t.Context(), n.all(n.manifest.Codec.Inputs), n.all(n.manifest.Codec.Outputs)))
	return audio
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// apart returns the largest difference, and infinity for what cannot be compared.
func apart(a, b []float32) float64 {
	if len(a) != len(b) {
		return math.Inf(1)
	}
	d := 0.0
	for i := range a {
		if math.IsNaN(float64(a[i])) || math.IsNaN(float64(b[i])) {
			return math.Inf(1)
		}
		d = max(d, math.Abs(float64(a[i])-float64(b[i])))
	}
	return d
}
