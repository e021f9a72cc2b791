package convert

import (
	"math"
	"strconv"
	"testing"

	"github.com/swar-tts/swar/runtime/internal/ort"
	"github.com/swar-tts/swar/runtime/internal/orttest"
	"github.com/swar-tts/swar/runtime/onnx/bundle"
)

// smallConfig is a model of so many layers, of either kind of flow.
func smallConfig(t testing.TB, layers int, flow string) Config {
	t.Helper()
	c := caseConfig(t, "01-v2-tanh")
	c.FlowLM.Transformer.NumLayers, c.FlowLM.Flow.Type = layers, flow
	c.FlowLM.Transformer.DModel, c.FlowLM.LookupTable.Dim = 64, 64
	if err := c.check(); err != nil {
		t.Fatal(err)
	}
	return c
}

// run runs a graph once. Tensors under the names of inputs are also written as the outputs NAME_out.
func run(t testing.TB, b Built, floats map[string]tensor, ints map[string][]int32) {
	t.Helper()
	list := func(values []bundle.Value) (names []string) {
		for _, v := range values {
			names = append(names, v.Name)
		}
		return names
	}
	session, err := ort.Open(b.Model, list(b.Graph.Inputs), list(b.Graph.Outputs))
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	open := func(values []bundle.Value) (tensors []*ort.Tensor) {
		for _, v := range values {
			var o *ort.Tensor
			var err error
			if f, ok := floats[v.Name]; ok {
				o, err = ort.Floats(f.values, f.shape...)
			} else if f, ok := floats[v.Name[:max(len(v.Name)-len("_out"), 0)]]; ok {
				o, err = ort.Floats(f.values, f.shape...)
			} else {
				o, err = ort.Int32s(ints[v.Name], len(ints[v.Name]))
			}
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { o.Close() })
			tensors = append(tensors, o)
		}
		return tensors
	}
	if err := session.Run(t.Context(), open(b.Graph.Inputs), open(b.Graph.Outputs)); err != nil {
		t.Fatal(err)
	}
}

type tensor struct {
	values []float32
	shape  []int
}

func empty(shape ...int) tensor { return tensor{make([]float32, size(shape)), shape} }

func TestReadingEqualsTheGraph(t *testing.T) {
	orttest.Need(t)
	for _, tt := range []struct {
		layers int
		gelu   string
	}{{1, "tanh"}, {2, "erf"}, {24, "tanh"}} {
		config := smallConfig(t, tt.layers, bundle.LSD)
		c := Checkpoint{Weights: &randomWeights{seed: 5}, Config: config, GELU: tt.gelu, Steps: 1, Positions: 16}
		d := c.Dims()
		const rows, capacity = 11, 16
		prompt, err := c.Weights.Floats("rows", rows, d.Width)
		if err != nil {
			t.Fatal(err)
		}
		built, err := c.LM()
		if err != nil {
			t.Fatal(err)
		}
		tensors := map[string]tensor{
			"rows": {prompt, []int{1, rows, d.Width}}, "noise": empty(1, d.Latent), "latent": empty(1, d.Latent), "h": empty(1, d.Width), "eos": empty(1, 1),
		}
		for i := range d.Layers {
			for _, kv := range []string{"K", "V"} {
				tensors[kv+strconv.Itoa(i)] = empty(1, d.Heads, capacity, d.HeadDim)
			}
		}
		run(t, built, tensors, map[string][]int32{"lengths": {rows - 1}, "total": {rows}})

		p := prompter{config: &config, weights: c.Weights, gelu: tt.gelu, worked: func(int64) {}}
		config.FlowLM.InsertBOSBeforeVoice = false
		got, err := p.fromRows(t.Context(), doubles(prompt))
		if err != nil {
			t.Fatal(err)
		}
		worst := 0.0
		for i := range d.Layers {
			for kv, values := range map[string][]float32{"K": got.K[i], "V": got.V[i]} {
				graph := tensors[kv+strconv.Itoa(i)].values
				for h := range d.Heads {
					worst = max(worst, apart(t, doubles(values[h*rows*d.HeadDim:(h+1)*rows*d.HeadDim]),
						doubles(graph[h*capacity*d.HeadDim:][:rows*d.HeadDim])))
				}
			}
		}
		t.Logf("%d layers, %s: off by %.1e at most", tt.layers, tt.gelu, worst)
		if !(worst < 1e-4) {
			t.Errorf("%d layers: off by %g", tt.layers, worst)
		}
	}
}

// TestDriftingReplacesNoise compares both graphs with the net written down once more.
func TestDriftingReplacesNoise(t *testing.T) {
	orttest.Need(t)
	c := Checkpoint{Weights: &randomWeights{seed: 6}, Config: smallConfig(t, 1, bundle.Drifting), GELU: "tanh",
		Steps: 1, Positions: 16}
	d := c.Dims()
	lm, err := c.LM()
	if err != nil {
		t.Fatal(err)
	}
	head, err := c.FlowHead()
	if err != nil {
		t.Fatal(err)
	}
	host, err := c.Host()
	if err != nil {
		t.Fatal(err)
	}
	if len(host.Times) != d.FlowWidth || !zeroed(host.Times) {
		t.Errorf("%d times, want %d zeros: drifting knows no time", len(host.Times), d.FlowWidth)
	}
	rows, noise := tensor{make([]float32, 2*d.Width), []int{1, 2, d.Width}},
		tensor{make([]float32, d.Latent), []int{1, d.Latent}}
	for i := range rows.values {
		rows.values[i] = float32(math.Sin(float64(i)))
	}
	for i := range noise.values {
		noise.values[i] = float32(math.Cos(float64(i)))
	}
	tensors := map[string]tensor{
		"rows": rows, "noise": noise, "x": noise, "latent": empty(1, d.Latent), "h": empty(1, d.Width), "eos": empty(1, 1),
		"K0": empty(1, d.Heads, 16, d.HeadDim), "V0": empty(1, d.Heads, 16, d.HeadDim), "time": {host.Times, []int{1, d.FlowWidth}},
	}
	run(t, lm, tensors, map[string][]int32{"lengths": {1}, "total": {2}})
	want := flowNet(t, &c, tensors["h"].values, noise.values)
	if d := apart(t, doubles(tensors["latent"].values), want); !(d < 1e-5) {
		t.Errorf("merged: off by %g", d)
	}
	tensors["x"] = tensor{append([]float32(nil), noise.values...), noise.shape} // written in place
	run(t, head, tensors, nil)
	if d := apart(t, doubles(tensors["x"].values), want); !(d < 1e-5) {
		t.Errorf("flow head: off by %g", d)
	}
}

// flowNet is the net of the flow without time.
func flowNet(t testing.TB, c *Checkpoint, h, noise []float32) []float64 {
	t.Helper()
	read := func(name string, shape ...int) []float64 {
		values, err := c.Weights.Floats("flow_lm.flow_net."+name, shape...)
		if err != nil {
			t.Fatal(err)
		}
		return doubles(values)
	}
	affine := func(name string, x []float64, out int) []float64 {
		w, y := read(name+".weight", out, len(x)), read(name+".bias", out)
		for o := range y {
			y[o] += dot(w[o*len(x):(o+1)*len(x)], x)
		}
		return y
	}
	silu := func(x []float64) []float64 {
		y := make([]float64, len(x))
		for i, v := range x {
			y[i] = v / (1 + math.Exp(-v))
		}
		return y
	}
	normal := func(x []float64) []float64 {
		mean, spread, y := 0.0, 0.0, make([]float64, len(x))
		for _, v := range x {
			mean += v / float64(len(x))
		}
		for _, v := range x {
			spread += (v - mean) * (v - mean) / float64(len(x))
		}
		for i, v := range x {
			y[i] = (v - mean) / math.Sqrt(spread+1e-6)
		}
		return y
	}
	f := c.Config.FlowLM.Flow.Dim
	y, x := silu(affine("cond_embed", doubles(h), f)), affine("input_proj", doubles(noise), f)
	for i := range c.Config.FlowLM.Flow.Depth {
		p := layer("res_blocks.", i)
		m, z := affine(p+"adaLN_modulation.1", y, 3*f), normal(x)
		gain, bias := read(p+"in_ln.weight", f), read(p+"in_ln.bias", f)
		for j := range z {
			z[j] = (z[j]*gain[j]+bias[j])*(1+m[f+j]) + m[j]
		}
		z = affine(p+"mlp.2", silu(affine(p+"mlp.0", z, f)), f)
		for j := range x {
			x[j] += m[2*f+j] * z[j]
		}
	}
	m, z := affine("final_layer.adaLN_modulation.1", y, 2*f), normal(x)
	for j := range z {
		z[j] = z[j]*(1+m[f+j]) + m[j]
	}
	return affine("final_layer.linear", z, c.Config.Mimi.Quantizer.Dimension)
}

func BenchmarkReadingAPrompt(b *testing.B) {
	c := Config{}
	lm := &c.FlowLM
	lm.Transformer.DModel, lm.Transformer.NumHeads, lm.Transformer.HiddenScale, lm.Transformer.MaxPeriod = 1024, 16,
		4, 10000
	lm.Transformer.NumLayers = 1
	w := &cachedWeights{Weights: &randomWeights{seed: 1}, values: map[string][]float32{}}
	p := prompter{config: &c, weights: w, gelu: "tanh", worked: func(int64) {}}
	t, err := p.transformer()
	if err != nil {
		b.Fatal(err)
	}
	const rows = 102
	b.ReportAllocs()
	for b.Loop() {
		if err := t.read(b.Context(), make([]float64, rows*1024), nil); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(t.products(rows, false))*float64(b.N)/b.Elapsed().Seconds()/1e9, "Gproducts/s")
}

// cachedWeights makes up each weight once.
type cachedWeights struct {
	Weights
	values map[string][]float32
}

func (w *cachedWeights) Floats(name string, shape ...int) (values []float32, err error) {
	if values, ok := w.values[name]; ok {
		return values, nil
	}
	w.values[name], err = w.Weights.Floats(name, shape...)
	return w.values[name], err
}
