package convert

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/swar-tts/swar/runtime/internal/graph"
)

// source is a published export. Its weights are found by the names of the nodes that use them, which are those of the
// modules in PyTorch.
type source struct {
	*graph.Parts
	nodes     map[string]*graph.Node // by name, without what a quantiser appends
	products  map[string]*product    // by the value that they make
	quantised map[*graph.Node]*product
	users     map[string][]*graph.Node
	tokens    string // the input that takes ids
}

// product is a product of integers, as ONNX Runtime's dynamic quantiser writes it in six nodes and more: the rows
// become integers by a scale that is found in them.
type product struct {
	op          string // Conv or MatMul, what it was before
	node        *graph.Node
	x           string // the rows
	weight      string
	zero, scale string // of the weights
	bias        string // floats; empty for none
}

// The names of values at which the export is cut.
const (
	durationsValue = "/encoder/Div_output_0"                             // [1, L]
	featuresValue  = "/encoder/predictor/text_encoder/Concat_4_output_0" // [1, L, features]
	textValue      = "/encoder/text_encoder/Transpose_2_output_0"        // [1, width, L]
	framesValue    = "/encoder/MatMul_output_0"                          // [1, features, T]
	pitchValue     = "/encoder/Reshape_output_0"                         // [1, 2T]
	energyValue    = "/encoder/Reshape_1_output_0"                       // [1, 2T]
)

// The inputs of the export.
const (
	tokensInput = "tokens"
	styleInput  = "style"
	speedInput  = "speed"

	otherTokensInput = "input_ids" // of exports for other libraries
)

// quantSuffix is what the quantiser appends to the name of a node.
const quantSuffix = "_quant"

// maxNodes bounds how deep values are followed. The export with integers has 3,614 nodes.
const maxNodes = 20_000

// advice says which files can be converted.
const advice = "use the export kokoro-v1.0.int8.onnx, or one in floats with the same names of nodes"

func readSource(file []byte) (*source, error) {
	parts, err := graph.ReadParts(file)
	if err != nil {
		return nil, fmt.Errorf("%w: download it again, or %s", err, advice)
	}
	if len(parts.Nodes) > maxNodes {
		return nil, fmt.Errorf("the graph has %d nodes, more than any export of Kokoro; %s", len(parts.Nodes), advice)
	}
	s := &source{
		Parts: parts, nodes: map[string]*graph.Node{}, products: map[string]*product{},
		quantised: map[*graph.Node]*product{}, users: map[string][]*graph.Node{},
	}
	for _, n := range parts.Nodes {
		s.nodes[strings.TrimSuffix(n.Name, quantSuffix)] = n
		for _, in := range n.Inputs {
			s.users[in] = append(s.users[in], n)
		}
	}
	if s.tokens = tokensInput; parts.IsInput(otherTokensInput) {
		s.tokens = otherTokensInput
	}
	for _, in := range []string{s.tokens, styleInput, speedInput} {
		if !parts.IsInput(in) {
			return nil, fmt.Errorf("the graph has no input %s: it is not an export of Kokoro, or its names differ; %s",
				in, advice)
		}
	}
	for _, v := range []string{durationsValue, featuresValue, textValue, framesValue, pitchValue, energyValue} {
		if parts.Maker(v) == nil {
			return nil, fmt.Errorf("the graph has no value %s: it is another export of Kokoro, or another model; %s",
				v, advice)
		}
	}
	for _, n := range parts.Nodes {
		if n.Op != "ConvInteger" && n.Op != "MatMulInteger" {
			continue
		}
		p, out, err := s.product(n)
		if err != nil {
			return nil, fmt.Errorf("the node %.120q: %w: it is quantised in another way; %s", n.Name, err, advice)
		}
		s.products[out], s.quantised[n] = p, p
	}
	return s, nil
}

// product follows a product of integers to the value it makes:
//
//	sums = ConvInteger(DynamicQuantizeLinear(x), weight); y = float(sums + floor(bias / s)) * s, s = scale(x) * scale(weight)
func (s *source) product(n *graph.Node) (p *product, out string, err error) {
	if len(n.Inputs) != 4 || len(n.Outputs) != 1 {
		return nil, "", errors.New("it has no zero points")
	}
	quantiser := s.Maker(n.Inputs[0])
	if quantiser == nil || quantiser.Op != "DynamicQuantizeLinear" || len(quantiser.Inputs) != 1 {
		return nil, "", errors.New("its rows are not made by DynamicQuantizeLinear")
	}
	p = &product{op: strings.TrimSuffix(n.Op, "Integer"), node: n, x: quantiser.Inputs[0], weight: n.Inputs[1],
		zero: n.Inputs[3]}
	next, err := s.only(n)
	if err != nil {
		return nil, "", err
	}
	if next.Op == "Add" {
		if p.bias, err = s.roundedBias(other(next, n.Outputs[0])); err != nil {
			return nil, "", err
		}
		if next, err = s.only(next); err != nil {
			return nil, "", err
		}
	}
	if next.Op != "Cast" {
		return nil, "", errors.New("its sums do not become floats")
	}
	last, err := s.only(next)
	if err != nil {
		return nil, "", err
	}
	scale := s.Maker(other(last, next.Outputs[0]))
	if last.Op != "Mul" || len(last.Outputs) != 1 || scale == nil || scale.Op != "Mul" {
		return nil, "", errors.New("its sums are not scaled")
	}
	for _, in := range scale.Inputs {
		if s.Tensor(in) != nil {
			p.scale = in
		}
	}
	if p.scale == "" || s.Tensor(p.weight) == nil || s.Tensor(p.zero) == nil {
		return nil, "", errors.New("its weights are not constants")
	}
	return p, last.Outputs[0], nil
}

// only returns the one node that uses what n makes.
func (s *source) only(n *graph.Node) (*graph.Node, error) {
	if len(n.Outputs) != 1 || len(s.users[n.Outputs[0]]) != 1 {
		return nil, errors.New("what it makes has more than one use")
	}
	return s.users[n.Outputs[0]][0], nil
}

// other returns the input of a node of two that is not this one.
func other(n *graph.Node, input string) string {
	if len(n.Inputs) != 2 {
		return ""
	}
	if n.Inputs[0] == input {
		return n.Inputs[1]
	}
	return n.Inputs[0]
}

// roundedBias returns the bias in floats that a value is made of by dividing, rounding and reshaping.
func (s *source) roundedBias(value string) (string, error) {
	for _, op := range []string{"Reshape", "Cast", "Floor", "Div"} {
		n := s.Maker(value)
		if n == nil || n.Op != op || len(n.Inputs) == 0 {
			return "", errors.New("its bias is not rounded by Floor")
		}
		value = n.Inputs[0]
	}
	if s.Tensor(value) == nil {
		return "", errors.New("its bias is not a constant")
	}
	return value, nil
}

// weights are the values of a weight: floats, or integers and what they are multiplied by.
type weights struct {
	shape  []int
	floats []float32
	ints   []int8    // counted from the zero point
	scales []float32 // one, or one for each place along an axis
}

// integers reads quantised weights. Their scales and zero points may be one for all, or one for each place along axis.
func (s *source) integers(weight, zero, scale string, axis int) (w weights, err error) {
	t, z, sc := s.Tensor(weight), s.Tensor(zero), s.Tensor(scale)
	if t == nil || z == nil || sc == nil || len(t.Dims) <= axis {
		return w, fmt.Errorf("the weights %.120q are missing; %s", weight, advice)
	}
	w.shape = t.Dims
	if w.scales, err = finiteFloats(sc); err != nil {
		return w, err
	}
	raw, err := t.Bytes()
	if err != nil {
		return w, err
	}
	zeros, err := z.Bytes()
	if err != nil {
		return w, err
	}
	n := t.Dims[axis]
	if len(w.scales) != 1 && len(w.scales) != n || len(zeros) != 1 && len(zeros) != n || z.Type != t.Type {
		return w, fmt.Errorf("the weights %.120q of shape %v have %d scales and %d zero points: the file is damaged: download it again",
			weight, t.Dims, len(w.scales), len(zeros))
	}
	flip := byte(0)
	if t.Type == graph.I8 {
		flip = 1 << 7 // counts signed bytes from the least, like unsigned ones
	}
	inner := len(raw) // how many have the same zero point
	if len(zeros) > 1 {
		inner = size(t.Dims[axis+1:])
	}
	w.ints = make([]int8, len(raw))
	for i := 0; i < len(raw); i += inner {
		zero, to := int(zeros[i/inner%len(zeros)]^flip), w.ints[i:i+inner]
		for j, v := range raw[i : i+inner] {
			q := int(v^flip) - zero
			if to[j] = int8(q); int(to[j]) != q {
				return w, fmt.Errorf("an integer of %.120q is too large: the file is damaged: download it again",
					weight)
			}
		}
	}
	return w, nil
}

func size(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}

// dequantised returns integers times their scales.
func (w *weights) dequantised(axis int) []float32 {
	inner := len(w.ints) // how many have the same scale
	if len(w.scales) > 1 {
		inner = size(w.shape[axis+1:])
	}
	values := make([]float32, len(w.ints))
	for i := 0; i < len(values); i += inner {
		scale, to := w.scales[i/inner%len(w.scales)], values[i:i+inner]
		for j, v := range w.ints[i : i+inner] {
			to[j] = float32(v) * scale // exact but for one rounding
		}
	}
	return values
}

// floats returns a constant of floats.
func (s *source) floats(name string) (values []float32, shape []int, err error) {
	t := s.Tensor(name)
	if t == nil {
		if s.Maker(name) != nil {
			return nil, nil, fmt.Errorf("the weights %.120q are computed in the graph, not stored; %s", name, advice)
		}
		return nil, nil, fmt.Errorf("the weights %.120q are missing; %s", name, advice)
	}
	values, err = finiteFloats(t)
	return values, t.Dims, err
}

func finiteFloats(t *graph.Tensor) ([]float32, error) {
	values, err := t.Floats()
	if err != nil {
		return nil, fmt.Errorf("%w; %s", err, advice)
	}
	for _, x := range values {
		if f := float64(x); math.IsNaN(f) || math.IsInf(f, 0) {
			return nil, fmt.Errorf("a value of %.120q is not a number: the file is damaged: download it again", t.Name)
		}
	}
	return values, nil
}
