package convert

import (
	"fmt"
	"strconv"

	"github.com/swar-tts/swar/runtime/internal/graph"
	"github.com/swar-tts/swar/runtime/onnx/bundle"
)

// Checkpoint is a published model: its weights under the names of upstream, its configuration, and what neither of
// them says.
type Checkpoint struct {
	Weights   Weights
	Config    Config
	GELU      string // tanh or erf; released weights were trained with tanh, older exports use erf
	Steps     int    // of the flow
	Precision string // FP32 or Int8; empty means FP32
	Positions int    // most positions of voice, text and frames together
}

// Weights gives out weights by name: [safetensors.Tensors] does, and what makes them up for a random model.
type Weights interface {
	// Floats returns the values of a weight, which must have the given shape; -1 stands for any size.
	Floats(name string, shape ...int) ([]float32, error)
}

// Built is a graph that was made from a checkpoint. File, SHA256 and Bytes of its description are empty.
type Built struct {
	Model []byte
	Graph bundle.Graph
}

// Dims returns the sizes of the model.
func (c *Checkpoint) Dims() bundle.Dims { return c.Config.dims() }

func (c *Config) dims() bundle.Dims {
	lm, m := &c.FlowLM, &c.Mimi
	return bundle.Dims{
		Width: lm.Transformer.DModel, Layers: lm.Transformer.NumLayers, Heads: lm.Transformer.NumHeads,
		HeadDim: lm.Transformer.DModel / lm.Transformer.NumHeads,
		FFN:     lm.Transformer.DModel * lm.Transformer.HiddenScale,
		Latent:  m.Quantizer.Dimension, Vocab: lm.LookupTable.NBins, FlowWidth: lm.Flow.Dim,
		CodecWidth: m.Transformer.DModel, CodecHeads: m.Transformer.NumHeads, CodecWindow: m.Transformer.Context,
		Upsample: c.resample(), RoPE: lm.Transformer.MaxPeriod, CodecRoPE: m.Transformer.MaxPeriod,
	}
}

// Host takes what the host needs from the checkpoint.
func (c *Checkpoint) Host() (bundle.Host, error) {
	d, b := c.Dims(), c.builder("")
	h := bundle.Host{
		Embedding: b.read("flow_lm.conditioner.embed.weight", d.Vocab+1, d.Width),
		Input:     b.read("flow_lm.input_linear.weight", d.Width, d.Latent),
		Start:     make([]float32, d.Width),
	}
	bos := b.read("flow_lm.bos_emb", d.Latent)
	if b.err != nil {
		return bundle.Host{}, fmt.Errorf("weights of the host: %w", b.err)
	}
	h.Row(h.Start, bos)
	var err error
	h.Times, err = c.times()
	return h, err
}

// builder adds the parts that graphs have in common. The first weight that is missing or has another shape ends up in
// err, and everything after it is built from zeros, so that the code reads without a check at each line.
type builder struct {
	*graph.Builder
	c     *Checkpoint
	zeros graph.Value // see countRows
	err   error
}

func (c *Checkpoint) builder(name string) *builder { return &builder{Builder: graph.New(name), c: c} }

// drawn is a graph that can be written.
type drawn struct {
	*graph.Builder
	described bundle.Graph
}

func (b *builder) drawn(states ...bundle.State) (*drawn, error) {
	if b.err != nil {
		return nil, fmt.Errorf("building a graph: %w", b.err)
	}
	values := func(edges []graph.Edge) []bundle.Value {
		var list []bundle.Value
		for _, e := range edges {
			list = append(list, bundle.Value{Name: e.Name, Type: e.Type.String(), Dims: e.Dims})
		}
		return list
	}
	return &drawn{b.Builder, bundle.Graph{Inputs: values(b.Inputs()), Outputs: values(b.Outputs()), States: states}},
		nil
}

func (d *drawn) built(err error) (Built, error) {
	if err != nil {
		return Built{}, err
	}
	return Built{d.Bytes(), d.described}, nil
}

// read returns the values of a weight.
func (b *builder) read(name string, shape ...int) []float32 {
	if b.err == nil {
		var values []float32
		if values, b.err = b.c.Weights.Floats(name, shape...); b.err == nil {
			return values
		}
	}
	return make([]float32, size(shape))
}

// weight adds a weight as it is.
func (b *builder) weight(name string, shape ...int) graph.Value {
	return b.Floats(name, b.read(name, shape...), shape...)
}

// linear multiplies rows of rank two by the transpose of a weight without bias. scale, if not empty, names a factor
// for each output, which is worth nothing at run time when it is part of the weight.
func (b *builder) linear(x graph.Value, weight string, out, in int, scale string) graph.Value {
	w := b.read(weight, out, in)
	factor := func(int) float32 { return 1 }
	if scale != "" {
		s := b.read(scale, out)
		factor = func(i int) float32 { return s[i] }
	}
	t := make([]float32, len(w))
	for i := range out {
		for j := range in {
			t[j*out+i] = w[i*in+j] * factor(i)
		}
	}
	return b.multiply(x, weight, t, in, out)
}

// dense is linear with a bias.
func (b *builder) dense(x graph.Value, prefix string, out, in int) graph.Value {
	return b.Op("Add", []graph.Value{b.linear(x, prefix+".weight", out, in, ""), b.weight(prefix+".bias", out)})
}

// affine is dense in fp32, whatever the precision: for small weights, and where all that follows hangs on the result.
func (b *builder) affine(x graph.Value, prefix string, out, in int) graph.Value {
	return b.Op("Gemm", []graph.Value{x, b.weight(prefix+".weight", out, in), b.weight(prefix+".bias", out)},
		graph.Attr{Name: "transB", Value: 1})
}

func (b *builder) norm(x graph.Value, prefix string, width int, epsilon float32) graph.Value {
	return b.Op("LayerNormalization",
		[]graph.Value{x, b.weight(prefix+".weight", width), b.weight(prefix+".bias", width)},
		graph.Attr{Name: "epsilon", Value: epsilon})
}

func (b *builder) gelu(x graph.Value) graph.Value {
	op := "Gelu"
	if b.c.GELU == "tanh" {
		op = "FastGelu"
	}
	return b.Ops(graph.Contrib, op, 1, []graph.Value{x})[0]
}

func (b *builder) silu(x graph.Value) graph.Value {
	return b.Op("Mul", []graph.Value{x, b.Op("Sigmoid", []graph.Value{x})})
}

func layer(prefix string, i int) string { return prefix + strconv.Itoa(i) + "." }
