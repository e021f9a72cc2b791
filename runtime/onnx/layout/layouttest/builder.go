package layouttest

import (
	"fmt"
	"math"
	"strconv"

	"github.com/swar-tts/swar/runtime/internal/graph"
	"github.com/swar-tts/swar/runtime/onnx/convert"
)

// builder adds the parts that the graphs have in common, out of the operators that exporters have left of PyTorch's
// modules. The first weight that is missing ends up in err, and zeros stand for it.
type builder struct {
	*graph.Builder
	source   *convert.Source
	integers bool
	states   []state
	err      error
}

// state is an entry of a state manifest.
type state struct {
	Index  int    `json:"index"`
	Input  string `json:"input_name"`
	Output string `json:"output_name"`
	Module string `json:"module"`
	Key    string `json:"key"`
	Path   string `json:"path"`
	Shape  []int  `json:"shape"`
	DType  string `json:"dtype"`
	Fill   string `json:"fill"`
}

func newBuilder(name string, source *convert.Source, opset int, integers bool) *builder {
	b := &builder{Builder: graph.New(name), source: source, integers: integers}
	b.Opset(opset)
	return b
}

func (b *builder) bytes() ([]byte, error) { return b.Bytes(), b.err }

// state declares the next state and returns its input; leave must follow in the same order.
func (b *builder) state(module, key, fill string, t graph.Type, shape ...int) graph.Value {
	i := strconv.Itoa(len(b.states))
	dims, n := make([]any, len(shape)), 1
	for j, d := range shape {
		dims[j], n = d, n*d
	}
	if n == 0 {
		fill = "empty"
	}
	b.states = append(b.states, state{
		Index: len(b.states), Input: "state_" + i, Output: "out_state_" + i, Module: module, Key: key,
		Path:  module + "/" + key,
		Shape: shape, DType: map[graph.Type]string{graph.F32: "float32", graph.I64: "int64", graph.Bool: "bool"}[t],
		Fill: fill,
	})
	return b.Input("state_"+i, t, dims...)
}

// leave declares the outputs of the states, in their order. A state that nothing changes is passed through.
func (b *builder) leave(changed map[graph.Value]graph.Value) {
	types := map[string]graph.Type{"float32": graph.F32, "int64": graph.I64, "bool": graph.Bool}
	for _, s := range b.states {
		v, ok := changed[graph.Value(s.Input)]
		if !ok {
			v = b.Op("Identity", []graph.Value{graph.Value(s.Input)})
		}
		dims := make([]any, len(s.Shape))
		for i, d := range s.Shape {
			dims[i] = d
		}
		b.Output(s.Output, v, types[s.DType], dims...)
	}
}

func (b *builder) read(name string, shape ...int) []float32 {
	n := 1
	for _, d := range shape {
		n *= d
	}
	values, err := b.source.Checkpoint.Weights.Floats(name, shape...)
	if err != nil {
		if b.err == nil {
			b.err = fmt.Errorf("building a graph: %w", err)
		}
		return make([]float32, n)
	}
	return values
}

func (b *builder) weight(name string, shape ...int) graph.Value {
	return b.Floats(name, b.read(name, shape...), shape...)
}

func (b *builder) op(op string, inputs ...graph.Value) graph.Value { return b.Op(op, inputs) }

func (b *builder) add(x, y graph.Value) graph.Value { return b.op("Add", x, y) }
func (b *builder) mul(x, y graph.Value) graph.Value { return b.op("Mul", x, y) }

func (b *builder) number(v float64) graph.Value { return b.Float(float32(v)) }

// float is x.float().
func (b *builder) float(x graph.Value) graph.Value {
	return b.Op("Cast", []graph.Value{x}, graph.Attr{Name: "to", Value: int(graph.F32)})
}

func (b *builder) reshape(x graph.Value, shape ...int) graph.Value {
	dims := make([]int64, len(shape))
	for i, d := range shape {
		dims[i] = int64(d)
	}
	return b.op("Reshape", x, b.Ints(dims...))
}

func (b *builder) transpose(x graph.Value, perm ...int64) graph.Value {
	return b.Op("Transpose", []graph.Value{x}, graph.Attr{Name: "perm", Value: perm})
}

func (b *builder) concat(axis int, values ...graph.Value) graph.Value {
	return b.Op("Concat", values, graph.Attr{Name: "axis", Value: axis})
}

func (b *builder) slice(x, from, to graph.Value, axis int64) graph.Value {
	return b.op("Slice", x, from, to, b.Ints(axis))
}

// pick takes one entry of an axis, which is gone afterwards.
func (b *builder) pick(x graph.Value, axis int, i int64) graph.Value {
	return b.Op("Gather", []graph.Value{x, b.Int(i)}, graph.Attr{Name: "axis", Value: axis})
}

func (b *builder) unsqueeze(x graph.Value, axis int64) graph.Value {
	return b.op("Unsqueeze", x, b.Ints(axis))
}

// linear multiplies by the transpose of a weight. With integers it is what dynamic quantisation makes of it: one
// scale for the weight and one for all rows, found at run time.
func (b *builder) linear(x graph.Value, weight string, out, in int) graph.Value {
	w := b.read(weight, out, in)
	t := make([]float32, len(w))
	peak := float32(0)
	for i := range out {
		for j := range in {
			v := w[i*in+j]
			t[j*out+i] = v
			peak = max(peak, v, -v)
		}
	}
	if !b.integers {
		return b.op("MatMul", x, b.Floats(weight, t, in, out))
	}
	const weightRange = 127
	scale := peak / weightRange
	integers := make([]int8, len(t))
	for i, v := range t {
		if scale > 0 {
			integers[i] = int8(math.RoundToEven(float64(v / scale)))
		}
	}
	q := b.Ops("", "DynamicQuantizeLinear", 3, []graph.Value{x}) // integers, scale, zero
	sums := b.op("MatMulInteger", q[0], b.Int8s(weight, integers, in, out), q[2], b.Int8(0))
	return b.mul(b.float(sums), b.mul(q[1], b.Float(scale)))
}

// affine is linear with a bias, of rows of rank two.
func (b *builder) affine(x graph.Value, prefix string, out, in int) graph.Value {
	if b.integers {
		return b.add(b.linear(x, prefix+".weight", out, in), b.weight(prefix+".bias", out))
	}
	return b.Op("Gemm", []graph.Value{x, b.weight(prefix+".weight", out, in), b.weight(prefix+".bias", out)},
		graph.Attr{Name: "transB", Value: 1})
}

func (b *builder) mean(x graph.Value) graph.Value {
	return b.Op("ReduceMean", []graph.Value{x}, graph.Attr{Name: "axes", Value: []int64{-1}})
}

// norm is a layer norm spelled out, because operator set 14 has none.
func (b *builder) norm(x graph.Value, prefix string, width int) graph.Value {
	const epsilon = 1e-5
	d := b.op("Sub", x, b.mean(x))
	variance := b.mean(b.op("Pow", d, b.number(2)))
	y := b.op("Div", d, b.op("Sqrt", b.add(variance, b.number(epsilon))))
	return b.add(b.mul(y, b.weight(prefix+".weight", width)), b.weight(prefix+".bias", width))
}

func (b *builder) silu(x graph.Value) graph.Value { return b.mul(x, b.op("Sigmoid", x)) }

func (b *builder) gelu(x graph.Value) graph.Value {
	if b.source.Checkpoint.GELU == "erf" {
		y := b.add(b.op("Erf", b.op("Div", x, b.number(math.Sqrt2))), b.number(1))
		return b.mul(b.mul(x, y), b.number(.5))
	}
	cube := b.mul(b.op("Pow", x, b.number(3)), b.number(0.044715))
	y := b.op("Tanh", b.mul(b.add(x, cube), b.number(math.Sqrt(2/math.Pi))))
	return b.mul(b.mul(x, b.number(.5)), b.add(y, b.number(1)))
}

// rotate is upstream's rotation: it turns the neighbours of each head of queries and keys [1, positions, heads,
// head_dim], which count from the offset, a list of one.
func (b *builder) rotate(q, k, offset graph.Value, period float64) (turnedQ, turnedK graph.Value) {
	batch, positions, head := b.size(q, 0), b.size(q, 1), b.size(q, 3)
	half := b.op("Div", head, b.Int(2))
	step := b.mul(b.op("Reciprocal", b.float(head)), b.number(-2*math.Log(period)))
	frequencies := b.op("Exp", b.mul(b.arangeFloats(half), step))
	at := b.reshape(b.add(b.arangeFloats(positions), b.float(offset)), -1, 1, 1)
	angles := b.mul(frequencies, at)
	cos, sin := b.op("Cos", angles), b.op("Sin", angles) // [positions, 1, head/2]
	transpose := func(x graph.Value) graph.Value {
		heads := b.size(x, 2)
		pairs := b.view(x, batch, positions, heads, half, 2)
		first, second := b.pick(pairs, 4, 0), b.pick(pairs, 4, 1)
		turned := []graph.Value{
			b.unsqueeze(b.op("Sub", b.mul(first, cos), b.mul(second, sin)), -1),
			b.unsqueeze(b.add(b.mul(first, sin), b.mul(second, cos)), -1),
		}
		return b.view(b.concat(-1, turned...), batch, positions, heads, head)
	}
	return transpose(q), transpose(k)
}
