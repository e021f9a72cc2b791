package convert

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/swar-tts/swar/runtime/internal/graph"
	"github.com/swar-tts/swar/runtime/kokoro/bundle"
)

// tiny are the sizes of a model that is made up. Its styles are as large as those of the published one, which callers
// know.
var tiny = sizes{text: 4, narrow: 2, wide: 6, style: 128, stages: [2]int{4, 2}, noise: [2]int{12, 1}, spectrum: 22}

// export writes an export of a made-up model, node by node as the published one is written.
type export struct {
	*graph.Builder
	ids      string                          // the input that takes them
	integers bool                            // quantised as the published one is
	edit     func(n *graph.Node) (keep bool) // changes nodes, if not nil
	seen     map[string]bool
}

// madeUp returns an export of a made-up model of these sizes.
func madeUp(z sizes, integers bool, edit func(n *graph.Node) bool) []byte {
	e := newExport(tokensInput, z, integers, edit)
	e.vocoder(z)
	return e.Bytes()
}

// newExport returns an export without a vocoder.
func newExport(ids string, z sizes, integers bool, edit func(n *graph.Node) bool) *export {
	e := &export{Builder: graph.New("kokoro"), ids: ids, integers: integers, edit: edit, seen: map[string]bool{}}
	e.Opset(20)
	e.Input(ids, graph.I64, 1, "sequence_length")
	e.Input(styleInput, graph.F32, 1, 2*z.style)
	e.Input(speedInput, graph.F32, 1)
	e.text(z)
	e.prosody(z)
	e.node("Identity", "/audio", []string{pitchValue}, []string{pitchValue + "/audio"})
	e.Output("audio", pitchValue+"/audio", graph.F32, "samples")
	return e
}

func (e *export) node(op, name string, inputs, outputs []string, attrs ...graph.Attr) {
	domain := ""
	if op == "DynamicQuantizeLSTM" {
		domain = graph.Contrib
	}
	n := &graph.Node{Domain: domain, Op: op, Name: name, Inputs: inputs, Outputs: outputs, Attrs: attrs}
	if e.edit == nil || e.edit(n) {
		e.Add(n)
	}
}

// once says if a constant is still to be written.
func (e *export) once(name string) bool {
	was := e.seen[name]
	e.seen[name] = true
	return !was
}

func (e *export) floats(name string, shape ...int) {
	n := 1
	for _, d := range shape {
		n *= d
	}
	values := make([]float32, n)
	for i := range values {
		values[i] = value(i)
	}
	e.Floats(name, values, shape...)
}

// value is the float that a constant has at a place, and madeUpByte the integer.
func value(i int) float32  { return float32(i%7-3) / 4 }
func madeUpByte(i int) int { return i*31%113 - 56 }

// The scale and the zero point of all quantised weights.
const (
	weightScale = .0078125
	weightZero  = 60
)

// bytes writes quantised weights.
func (e *export) bytes(name string, signed bool, shape ...int) {
	n := 1
	for _, d := range shape {
		n *= d
	}
	u, s := make([]uint8, n), make([]int8, n)
	for i := range n {
		u[i], s[i] = uint8(madeUpByte(i)+weightZero), int8(madeUpByte(i))
	}
	if signed {
		e.Int8s(name+"_quantized", s, shape...)
		e.Int8s(name+"_zero_point", []int8{0})
	} else {
		e.Uint8s(name+"_quantized", u, shape...)
		e.Uint8s(name+"_zero_point", []uint8{weightZero})
	}
	e.Floats(name+"_scale", []float32{weightScale})
}

// quantise writes that rows become integers, once.
func (e *export) quantise(x string) {
	if e.once(x + "_scale") {
		e.node("DynamicQuantizeLinear", x+"_QuantizeLinear", []string{x},
			[]string{x + "_dynamic_quantized", x + "_scale", x + "_zero_point"})
	}
}

// convolution writes one of x and returns its value. Its weights are [out, in, taps].
func (e *export) convolution(path, x string, out, in, taps int, bias string) string {
	y, weight := path+"/Conv_output_0", path+"/weight"
	attrs := []graph.Attr{{Name: "kernel_shape", Value: []int64{int64(taps)}}}
	if bias != "" {
		e.floats(bias, out)
	}
	if !e.integers {
		e.floats(weight, out, in, taps)
		inputs := []string{x, weight}
		if bias != "" {
			inputs = append(inputs, bias)
		}
		e.node("Conv", path+"/Conv", inputs, []string{y}, attrs...)
		return y
	}
	e.quantise(x)
	e.bytes(weight, false, out, in, taps)
	e.node("ConvInteger", path+"/Conv_quant",
		[]string{x + "_dynamic_quantized", weight + "_quantized", x + "_zero_point", weight + "_zero_point"},
		[]string{y + "_quantized"}, attrs...)
	e.node("Mul", path+"/scale", []string{x + "_scale", weight + "_scale"}, []string{y + "_scale"})
	sums := y + "_quantized"
	if bias != "" {
		e.node("Div", path+"/div", []string{bias, y + "_scale"}, []string{y + "_bias_quant"})
		e.node("Floor", path+"/floor", []string{y + "_bias_quant"}, []string{y + "_bias_rounded"})
		e.node("Cast", path+"/bias_cast", []string{y + "_bias_rounded"}, []string{y + "_bias_quantized"},
			graph.Attr{Name: "to", Value: int(graph.I32)})
		e.node("Reshape", path+"/reshape", []string{y + "_bias_quantized", string(e.Ints(1, -1, 1))},
			[]string{y + "_reshape"})
		e.node("Add", path+"/add", []string{sums, y + "_reshape"}, []string{y + "_bias_add"})
		sums = y + "_bias_add"
	}
	e.node("Cast", path+"/cast", []string{sums}, []string{y + "_cast"}, graph.Attr{Name: "to", Value: int(graph.F32)})
	e.node("Mul", path+"/mul", []string{y + "_cast", y + "_scale"}, []string{y})
	return y
}

// linear writes a product of x by [in, out], and a sum with a bias if there is one, and returns its value.
func (e *export) linear(path, x string, in, out int, bias string) string {
	y, weight := path+"_MatMul_output_0", path+"/weight"
	if e.integers {
		e.quantise(x)
		e.bytes(weight, true, in, out)
		e.node("MatMulInteger", path+"_MatMul_quant",
			[]string{x + "_dynamic_quantized", weight + "_quantized", x + "_zero_point", weight + "_zero_point"},
			[]string{y + "_quantized"})
		e.node("Mul", path+"/scale", []string{x + "_scale", weight + "_scale"}, []string{y + "_scale"})
		e.node("Cast", path+"/cast", []string{y + "_quantized"}, []string{y + "_cast"},
			graph.Attr{Name: "to", Value: int(graph.F32)})
		e.node("Mul", path+"/mul", []string{y + "_cast", y + "_scale"}, []string{y})
	} else {
		e.floats(weight, in, out)
		e.node("MatMul", path+"_MatMul", []string{x, weight}, []string{y})
	}
	if bias == "" {
		return y
	}
	e.floats(bias, out)
	e.node("Add", path+"_Add", []string{y, bias}, []string{path + "_output_0"})
	return path + "_output_0"
}

func perm(axes ...int64) graph.Attr { return graph.Attr{Name: "perm", Value: axes} }

// text writes the part of the export that knows nothing of time.
func (e *export) text(z sizes) {
	const table = "encoder.text_encoder.embedding.weight"
	if e.integers {
		e.bytes(table, true, bundle.Vocabulary, z.text)
		e.node("Gather", "/encoder/embedding/Gather_quant", []string{table + "_quantized", e.ids},
			[]string{"/encoder/embedding_quantized"})
		e.node("DequantizeLinear", "/encoder/embedding/Gather_DequantizeLinear",
			[]string{"/encoder/embedding_quantized", table + "_scale", table + "_zero_point"},
			[]string{"/encoder/embedding"})
	} else {
		e.floats(table, bundle.Vocabulary, z.text)
		e.node("Gather", "/encoder/embedding/Gather", []string{table, e.ids}, []string{"/encoder/embedding"})
	}
	e.node("Split", "/encoder/Split", []string{styleInput, string(e.Ints(int64(z.style), int64(z.style)))},
		[]string{"/decoder/Slice_output_0", "/encoder/Slice_output_0"}, graph.Attr{Name: "axis", Value: 1})
	e.node("Transpose", "/encoder/Transpose", []string{"/encoder/embedding"}, []string{"/encoder/Transpose_output_0"},
		perm(0, 2, 1))
	y := e.convolution("/encoder/text_encoder/cnn.0", "/encoder/Transpose_output_0", z.text, z.text, 1,
		"encoder.text_encoder.cnn.0.bias")
	e.node("Identity", "/encoder/text_encoder/Transpose_2", []string{y}, []string{textValue})

	e.node("Transpose", "/encoder/Transpose_1", []string{"/encoder/embedding"}, []string{"/encoder/lstm_input"},
		perm(1, 0, 2))
	e.lstm("/encoder/lstm", "/encoder/lstm_input", z.text, z.text/2)
	e.node("Transpose", "/encoder/lstm/Transpose_1", []string{"/encoder/lstm/LSTM_output_0"},
		[]string{"/encoder/lstm/swapped"}, perm(2, 0, 1, 3))
	e.node("Reshape", "/encoder/lstm/Reshape", []string{"/encoder/lstm/swapped", string(e.Ints(1, -1, int64(z.text)))},
		[]string{"/encoder/lstm"})
	e.node("Shape", "/encoder/Shape", []string{e.ids}, []string{"/encoder/Shape_output_0"})
	e.node("Concat", "/encoder/Shape/Concat", []string{"/encoder/Shape_output_0", string(e.Ints(int64(z.style)))},
		[]string{"/encoder/long"},
		graph.Attr{Name: "axis", Value: 0})
	e.node("Expand", "/encoder/Expand", []string{"/encoder/Slice_output_0", "/encoder/long"},
		[]string{"/encoder/Expand_output_0"})
	e.node("Concat", "/encoder/predictor/text_encoder/Concat_4", []string{"/encoder/lstm", "/encoder/Expand_output_0"},
		[]string{featuresValue},
		graph.Attr{Name: "axis", Value: 2})

	y = e.linear("/encoder/predictor/duration_proj", featuresValue, z.features(), 5,
		"encoder.predictor.duration_proj.bias")
	e.node("Sigmoid", "/encoder/Sigmoid", []string{y}, []string{"/encoder/Sigmoid_output_0"})
	e.node("ReduceSum", "/encoder/ReduceSum", []string{"/encoder/Sigmoid_output_0", string(e.Ints(-1))},
		[]string{"/encoder/ReduceSum_output_0"},
		graph.Attr{Name: "keepdims", Value: 0})
	e.node("Div", "/encoder/Div", []string{"/encoder/ReduceSum_output_0", speedInput}, []string{durationsValue})
}

func (e *export) lstm(path, x string, in, units int) {
	outputs := []string{path + "/LSTM_output_0", path + "/LSTM_output_1", path + "/LSTM_output_2"}
	attrs := []graph.Attr{{Name: "direction", Value: "bidirectional"}, {Name: "hidden_size", Value: units}}
	e.floats(path+".bias", 2, 8*units)
	e.Floats(path+".state", make([]float32, 2*units), 2, 1, units)
	if !e.integers {
		e.floats(path+".w", 2, 4*units, in)
		e.floats(path+".r", 2, 4*units, units)
		e.node("LSTM", path+"/LSTM", []string{x, path + ".w", path + ".r", path + ".bias", "", path + ".state",
			path + ".state"}, outputs, attrs...)
		return
	}
	e.bytes(path+".w", true, 2, in, 4*units)
	e.bytes(path+".r", true, 2, units, 4*units)
	e.node("DynamicQuantizeLSTM", path+"/LSTM_quant", []string{
		x, path + ".w_quantized", path + ".r_quantized", path + ".bias", "", path + ".state", path + ".state", "",
		path + ".w_scale", path + ".w_zero_point", path + ".r_scale", path + ".r_zero_point",
	}, outputs, attrs...)
}

// prosody writes the part between the features of frames and pitch and energy.
func (e *export) prosody(z sizes) {
	e.node("Transpose", "/encoder/MatMul", []string{featuresValue}, []string{framesValue}, perm(0, 2, 1))
	e.node("Transpose", "/encoder/shared/Transpose", []string{framesValue}, []string{"/encoder/shared"}, perm(0, 2, 1))
	for _, end := range [][2]string{{"/encoder/F0_proj", pitchValue}, {"/encoder/N_proj", energyValue}} {
		name, to := end[0], end[1]
		y := e.linear(name, "/encoder/shared", z.features(), 2, "encoder.predictor."+name+".bias")
		e.node("Reshape", name+"/Reshape", []string{y, string(e.Ints(1, -1))}, []string{to})
	}
}

// vocoder writes the layers whose weights are read, one beside the other: nothing runs them.
func (e *export) vocoder(z sizes) {
	const x = textValue
	for _, c := range z.convolutions() {
		bias := ""
		if c.biased {
			bias = parameter(c.name + ".bias")
		}
		e.convolution(module(c.name), x, c.out, c.in, c.taps, bias)
	}
	for _, n := range z.norms() {
		e.linear(module(n.Name)+"/fc/Gemm", "/decoder/Slice_output_0", z.style, 2*n.Channels,
			parameter(n.Name+".fc.bias"))
		if name, list, ok := strings.Cut(n.Name, ".adain"); ok {
			e.floats(parameter(name+".alpha"+list), 1, n.Channels, 1)
		}
	}
	transposed := func(name string, shape ...int) {
		out := shape[1]
		if out == 1 {
			out = shape[0]
		}
		weight, bias := parameter(name+".weight"), parameter(name+".bias")
		e.floats(weight, shape...)
		e.floats(bias, out)
		e.node("ConvTranspose", module(name)+"/ConvTranspose", []string{x, weight, bias}, []string{module(name)})
	}
	in := z.text
	for i, taps := range []int{20, 12} {
		transposed("generator.ups."+strconv.Itoa(i), in, z.stages[i], taps)
		in = z.stages[i]
		name := "generator.noise_convs." + strconv.Itoa(i)
		e.convolution(module(name), x, in, z.spectrum, z.noise[i], parameter(name+".bias"))
	}
	transposed("decode.3.pool", z.wide+z.narrow+2, 1, 3)
	for _, name := range []string{"F0_conv", "N_conv"} {
		e.convolution(module(name), x, 1, 1, 3, parameter(name+".bias"))
	}
	integers := e.integers
	e.integers = false // these two are left in floats
	e.convolution(module("generator.conv_post"), x, z.spectrum, in, 7, parameter("generator.conv_post.bias"))
	e.integers = integers
	e.floats("onnx::MatMul_1", 9, 1)
	e.floats(parameter("generator.m_source.l_linear.bias"), 1)
	e.node("MatMul", module("generator.m_source.l_linear")+"/MatMul", []string{x, "onnx::MatMul_1"},
		[]string{"/source"})
}

func TestModulesAreNamedAsNodes(t *testing.T) {
	for name, want := range map[string]string{
		"asr_res.0":                      "/decoder/decoder/asr_res/asr_res.0",
		"encode.conv1x1":                 "/decoder/decoder/encode/conv1x1",
		"decode.3.norm1":                 "/decoder/decoder/decode.3/norm1",
		"generator.resblocks.1.convs1.0": "/decoder/decoder/generator/resblocks.1/convs1.0",
		"F0_conv":                        "/decoder/decoder/F0_conv",
	} {
		if got := module(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	if norms := Norms(); len(norms) != 58 || !slices.Contains(norms, Channels{"decode.3.norm1", 1090}) {
		t.Errorf("there are %d norms, want 58", len(norms))
	}
}
