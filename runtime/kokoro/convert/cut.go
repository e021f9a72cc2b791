package convert

import (
	"context"
	"fmt"
	"io"

	"github.com/swar-tts/swar/runtime/internal/graph"
)

// cutter copies what some values are made of from an export into a graph of its own, with products of floats in the
// place of products of integers.
type cutter struct {
	*source
	to    *graph.Builder
	ctx   context.Context
	state map[string]int // of values
	did   func(values int)
}

// The states of a value.
const (
	beingMade = 1 + iota
	made
)

// newCutter begins a graph. Nothing before the values in given is copied.
func newCutter(ctx context.Context, s *source, name string, did func(values int), given ...string) *cutter {
	c := &cutter{source: s, to: graph.New(name), ctx: ctx, state: map[string]int{}, did: did}
	c.to.Opset(s.Opset)
	for _, v := range given {
		c.state[v] = made
	}
	return c
}

// textGraph makes the graph of the text: what ids and a style become before they are as long as speech.
func textGraph(ctx context.Context, s *source, z sizes, did func(int)) (io.WriterTo, error) {
	c := newCutter(ctx, s, "text", did, s.tokens, styleInput, speedInput)
	c.to.Input(tokensInput, graph.I64, 1, "ids")
	if s.tokens != tokensInput {
		c.to.Add(&graph.Node{Op: "Identity", Inputs: []string{tokensInput}, Outputs: []string{s.tokens}})
	}
	c.to.Input(styleInput, graph.F32, 1, 2*z.style)
	c.to.Floats(speedInput, []float32{1}, 1) // durations are divided by the host
	outputs := []string{durationsValue, featuresValue, textValue}
	if err := c.copy(outputs); err != nil {
		return nil, err
	}
	c.to.Output("durations", durationsValue, graph.F32, 1, "ids")
	c.to.Output("features", featuresValue, graph.F32, 1, "ids", z.features())
	c.to.Output("text", textValue, graph.F32, 1, z.text, "ids")
	return c.to, nil
}

// prosodyGraph makes the graph of the prosody: what the features of all frames and a style become.
func prosodyGraph(ctx context.Context, s *source, z sizes, did func(int)) (io.WriterTo, error) {
	c := newCutter(ctx, s, "prosody", did, styleInput, framesValue)
	c.to.Input("frames", graph.F32, 1, "frames", z.features())
	c.to.Input(styleInput, graph.F32, 1, 2*z.style)
	c.to.Add(&graph.Node{
		Op: "Transpose", Inputs: []string{"frames"}, Outputs: []string{framesValue},
		Attrs: []graph.Attr{{Name: "perm", Value: []int64{0, 2, 1}}},
	})
	if err := c.copy([]string{pitchValue, energyValue}); err != nil {
		return nil, err
	}
	c.to.Output("pitch", pitchValue, graph.F32, 1, "2*frames")
	c.to.Output("energy", energyValue, graph.F32, 1, "2*frames")
	return c.to, nil
}

func (c *cutter) copy(values []string) error {
	for _, v := range values {
		if err := c.value(v); err != nil {
			return err
		}
	}
	return nil
}

// value copies what makes a value, in the order in which it is made.
func (c *cutter) value(name string) error {
	switch {
	case name == "" || c.state[name] == made:
		return nil
	case c.state[name] == beingMade:
		return fmt.Errorf("the value %.120q is made of itself: the file is damaged: download it again", name)
	}
	c.state[name] = beingMade
	if t := c.Tensor(name); t != nil {
		c.to.AddTensor(t)
		c.state[name] = made
		return nil
	}
	n := c.Maker(name)
	if n == nil {
		return fmt.Errorf("nothing makes the value %.120q; %s", name, advice)
	}
	if err := context.Cause(c.ctx); err != nil {
		return err
	}
	if err := c.node(name, n); err != nil {
		return err
	}
	for _, out := range n.Outputs {
		c.state[out] = made
	}
	return nil
}

func (c *cutter) node(name string, n *graph.Node) error {
	switch p := c.products[name]; {
	case p != nil:
		return c.product(p, name)
	case n.Op == "DynamicQuantizeLSTM":
		return c.lstm(n)
	case n.Op == "DequantizeLinear":
		return c.embedding(n)
	}
	if err := c.copy(n.Inputs); err != nil {
		return err
	}
	c.to.Add(n)
	return nil
}

// product puts a product of floats in the place of one of integers.
func (c *cutter) product(p *product, out string) error {
	if err := c.copy([]string{p.x, p.bias}); err != nil {
		return err
	}
	axis := 0
	if p.op == "MatMul" {
		axis = 1
	}
	weight, err := c.weight(p.weight, p.zero, p.scale, axis)
	if err != nil {
		return err
	}
	inputs := []string{p.x, weight}
	if p.bias != "" {
		inputs = append(inputs, p.bias)
	}
	c.to.Add(p.node.Like(p.op, inputs, []string{out}))
	return nil
}

// weight adds quantised weights, once, and returns the name of their floats.
func (c *cutter) weight(weight, zero, scale string, axis int) (string, error) {
	name := weight + floatSuffix
	if c.state[name] == made {
		return name, nil
	}
	w, err := c.integers(weight, zero, scale, axis)
	if err != nil {
		return "", err
	}
	c.scaled(name, w, axis)
	return name, nil
}

// floatSuffix is what the floats of quantised weights are called.
const floatSuffix = ".floats"

// scaled adds weights as they are stored, a quarter as large as floats, and what makes floats of them. ONNX Runtime
// does that when it loads the graph. One rounding of an exact product gives the same floats as [weights.dequantised].
func (c *cutter) scaled(name string, w weights, axis int) {
	shape := make([]int, len(w.shape)) // of the scales: along the axis
	for i := range shape {
		shape[i] = 1
	}
	shape[axis] = len(w.scales)
	c.to.Int8s(name+".integers", w.ints, w.shape...)
	c.to.Floats(name+".scales", w.scales, shape...)
	c.to.Add(&graph.Node{
		Op: "Cast", Inputs: []string{name + ".integers"}, Outputs: []string{name + ".cast"},
		Attrs: []graph.Attr{{Name: "to", Value: int(graph.F32)}},
	})
	c.to.Add(&graph.Node{Op: "Mul", Inputs: []string{name + ".cast", name + ".scales"}, Outputs: []string{name}})
	c.state[name] = made
	c.did(len(w.ints))
}

// lstm puts an LSTM in the place of one with integer weights, which lie in the other order: [directions, in, 4 units].
func (c *cutter) lstm(n *graph.Node) error {
	const quantisedInputs = 12
	if len(n.Inputs) != quantisedInputs {
		return fmt.Errorf("the node %.120q has %d inputs, want %d; %s", n.Name, len(n.Inputs), quantisedInputs, advice)
	}
	inputs := append([]string{}, n.Inputs[:7]...)
	if err := c.copy([]string{inputs[0], inputs[3], inputs[4], inputs[5], inputs[6]}); err != nil {
		return err
	}
	for i, from := range []int{1, 2} {
		weight := n.Inputs[from]
		inputs[from] = weight + floatSuffix
		if c.state[inputs[from]] == made {
			continue
		}
		w, err := c.integers(weight, n.Inputs[9+2*i], n.Inputs[8+2*i], 0)
		if err != nil {
			return err
		}
		if len(w.shape) != 3 {
			return fmt.Errorf("the weights %.120q have the shape %v: the file is damaged: download it again",
				weight, w.shape)
		}
		w.ints = transposed(w.ints, w.shape)
		w.shape = []int{w.shape[0], w.shape[2], w.shape[1]}
		c.scaled(inputs[from], w, 0)
	}
	c.to.Add(n.Like("LSTM", inputs, n.Outputs))
	return nil
}

// transposed returns [a, b, c] as [a, c, b].
func transposed[T any](values []T, shape []int) []T {
	to, a, b, c := make([]T, len(values)), shape[0], shape[1], shape[2]
	for i := range a {
		from, to := values[i*b*c:(i+1)*b*c], to[i*b*c:(i+1)*b*c]
		for j := range b {
			for k := range c {
				to[k*b+j] = from[j*c+k]
			}
		}
	}
	return to
}

// embedding puts a table of floats in the place of one of integers, whose rows are scaled after they were chosen.
func (c *cutter) embedding(n *graph.Node) error {
	if len(n.Inputs) != 3 {
		return fmt.Errorf("the node %.120q has no zero point; %s", n.Name, advice)
	}
	gather := c.Maker(n.Inputs[0])
	if gather == nil || gather.Op != "Gather" || len(gather.Inputs) != 2 {
		return fmt.Errorf("the node %.120q does not scale rows of a table; %s", n.Name, advice)
	}
	if err := c.value(gather.Inputs[1]); err != nil {
		return err
	}
	table, err := c.weight(gather.Inputs[0], n.Inputs[2], n.Inputs[1], 0)
	if err != nil {
		return err
	}
	c.to.Add(gather.Like("Gather", []string{table, gather.Inputs[1]}, n.Outputs))
	return nil
}
