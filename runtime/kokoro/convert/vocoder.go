package convert

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/swar-tts/swar/runtime/internal/graph"
	"github.com/swar-tts/swar/runtime/safetensors"
)

// sizes are those of a vocoder.
type sizes struct {
	text     int    // channels of the text
	narrow   int    // channels of the text beside the decoder's own
	wide     int    // channels of the decoder
	style    int    // of the vocoder's half of a style
	stages   [2]int // channels of the generator
	noise    [2]int // taps of the convolutions of the source
	spectrum int    // channels of a spectrum: magnitudes and phases
}

// kokoro82M are the sizes of the published model.
var kokoro82M = sizes{text: 512, narrow: 64, wide: 1024, style: 128, stages: [2]int{256, 128}, noise: [2]int{12, 1},
	spectrum: 22}

// features is how many values of prosody each id has: those of the text, and its half of the style.
func (z sizes) features() int { return z.text + z.style }

// Taps of the convolutions of the generator's blocks, and of those that the source goes through.
var (
	blockTaps  = [3]int{3, 7, 11}
	sourceTaps = [2]int{7, 11}
)

// convolution is one of those that are kept as integers.
type convolution struct {
	name          string
	out, in, taps int
	biased        bool
}

func (z sizes) convolutions() []convolution {
	beside := z.wide + z.narrow + 2 // what the decoder is given: its own channels, the text's, pitch and energy
	all := []convolution{{"asr_res.0", z.narrow, z.text, 1, true}}
	block := func(name string, out, in int) {
		all = append(all, convolution{name + ".conv1", out, in, 3, true},
			convolution{name + ".conv2", out, out, 3, true},
			convolution{name + ".conv1x1", out, in, 1, false})
	}
	block("encode", z.wide, z.text+2)
	for i := range 3 {
		block(decode(i), z.wide, beside)
	}
	block(decode(3), z.text, beside)
	resnet := func(name string, channels, taps int) {
		for _, list := range []string{".convs1.", ".convs2."} {
			for i := range 3 {
				all = append(all, convolution{name + list + strconv.Itoa(i), channels, channels, taps, true})
			}
		}
	}
	for i, channels := range z.stages {
		resnet(noiseBlock(i), channels, sourceTaps[i])
	}
	for i, channels := range z.stages {
		for j, taps := range blockTaps {
			resnet(generatorBlock(i, j), channels, taps)
		}
	}
	return all
}

func decode(i int) string            { return "decode." + strconv.Itoa(i) }
func noiseBlock(i int) string        { return "generator.noise_res." + strconv.Itoa(i) }
func generatorBlock(i, j int) string { return "generator.resblocks." + strconv.Itoa(3*i+j) }

// Channels says how many channels a norm of the vocoder has.
type Channels struct {
	Name     string
	Channels int
}

// Norms returns the norms of the vocoder of Kokoro-82M, whose statistics a voice has.
func Norms() []Channels { return kokoro82M.norms() }

func (z sizes) norms() []Channels {
	beside := z.wide + z.narrow + 2
	all := []Channels{{"encode.norm1", z.text + 2}, {"encode.norm2", z.wide}}
	for i := range 4 {
		wide := z.wide
		if i == 3 {
			wide = z.text
		}
		all = append(all, Channels{decode(i) + ".norm1", beside}, Channels{decode(i) + ".norm2", wide})
	}
	resnet := func(name string, channels int) {
		for _, list := range []string{".adain1.", ".adain2."} {
			for i := range 3 {
				all = append(all, Channels{name + list + strconv.Itoa(i), channels})
			}
		}
	}
	for i, channels := range z.stages {
		resnet(noiseBlock(i), channels)
	}
	for i, channels := range z.stages {
		for j := range blockTaps {
			resnet(generatorBlock(i, j), channels)
		}
	}
	return all
}

// modulePrefix is where the vocoder's modules are in the export, and sequence the one whose list has a name of its own.
const (
	modulePrefix = "/decoder/decoder/"
	sequence     = "asr_res"
)

// module returns the path of a module in the names of nodes: the number of a module in a list follows a point.
//
//	generator.resblocks.0.convs1.2 → /decoder/decoder/generator/resblocks.0/convs1.2
func module(name string) string {
	path := modulePrefix
	for part := range strings.SplitSeq(name, ".") {
		if _, err := strconv.Atoi(part); err == nil {
			path = path[:len(path)-1] + "." + part + "/"
			continue
		}
		if path += part + "/"; part == sequence {
			path += part + "/"
		}
	}
	return strings.TrimSuffix(path, "/")
}

// vocoder collects the weights of the vocoder.
type vocoder struct {
	*source
	sizes
	tensors []safetensors.Tensor
}

// weightRange is the largest integer that weights of floats become.
const weightRange = 127

// vocoderWeights reads all weights of the vocoder.
func vocoderWeights(ctx context.Context, s *source, z sizes, did func(int)) ([]safetensors.Tensor, error) {
	v := &vocoder{source: s, sizes: z}
	step := func(n int, err error) error {
		if err == nil {
			did(n)
			err = context.Cause(ctx)
		}
		return err
	}
	for _, c := range z.convolutions() {
		if err := step(c.out*c.in*c.taps, v.convolution(c)); err != nil {
			return nil, fmt.Errorf("%s: %w", c.name, err)
		}
	}
	for _, n := range z.norms() {
		if err := step(2*n.Channels*z.style, v.norm(n)); err != nil {
			return nil, fmt.Errorf("%s: %w", n.Name, err)
		}
	}
	return v.tensors, v.floatTensors()
}

func (v *vocoder) addFloats(name string, values []float32, shape ...int) {
	v.tensors = append(v.tensors, safetensors.Tensor{Name: name, Shape: shape, Floats: values})
}

// convolution adds a convolution in integers, [out, taps, in].
func (v *vocoder) convolution(c convolution) error {
	w, bias, err := v.convolutionWeights(c)
	if err != nil {
		return err
	}
	if w.ints == nil {
		w.quantise()
	}
	v.tensors = append(v.tensors, safetensors.Tensor{
		Name: c.name + ".weight", Shape: []int{c.out, c.taps, c.in}, Int8s: transposed(w.ints, w.shape),
	})
	v.addFloats(c.name+".scale", spread(w.scales, c.out), c.out)
	if c.biased {
		v.addFloats(c.name+".bias", bias, c.out)
	}
	return nil
}

// convolutionWeights returns the weights, [out, in, taps], in integers where the export has them.
func (v *vocoder) convolutionWeights(c convolution) (w weights, bias []float32, err error) {
	n, p, err := v.at(module(c.name)+"/Conv", "Conv")
	if err != nil {
		return w, nil, err
	}
	biasName := ""
	if p != nil {
		biasName = p.bias
		w, err = v.integers(p.weight, p.zero, p.scale, 0)
	} else {
		if len(n.Inputs) > 2 {
			biasName = n.Inputs[2]
		}
		w.floats, w.shape, err = v.floats(n.Inputs[1])
	}
	if err != nil {
		return w, nil, err
	}
	if want := []int{c.out, c.in, c.taps}; !slices.Equal(w.shape, want) {
		return w, nil, otherSizes(w.shape, want)
	}
	if (biasName != "") != c.biased {
		return w, nil, fmt.Errorf("it has a bias: %t, want %t; %s", biasName != "", c.biased, advice)
	}
	if c.biased {
		bias, err = v.floatsOf(biasName, c.out)
	}
	return w, bias, err
}

func otherSizes(got, want []int) error {
	return fmt.Errorf("its weights have the shape %v, want %v: it is a model of other sizes than Kokoro-82M; %s", got,
		want, advice)
}

// floatsOf returns a constant of floats of that shape. Dimensions of one do not count.
func (s *source) floatsOf(name string, shape ...int) ([]float32, error) {
	values, got, err := s.floats(name)
	if err != nil {
		return nil, err
	}
	long := func(shape []int) []int {
		return slices.DeleteFunc(slices.Clone(shape), func(d int) bool { return d == 1 })
	}
	if !slices.Equal(long(got), long(shape)) {
		return nil, otherSizes(got, shape)
	}
	return values, nil
}

// at returns the node of that name: a product of integers, or else a node of one of these operators.
func (s *source) at(name string, ops ...string) (*graph.Node, *product, error) {
	n := s.nodes[name]
	if n == nil {
		return nil, nil, fmt.Errorf("the graph has no node %s: it is another export of Kokoro, or another model; %s",
			name, advice)
	}
	if p := s.quantised[n]; p != nil {
		return n, p, nil
	}
	if !slices.Contains(ops, n.Op) || len(n.Inputs) < 2 {
		return nil, nil, fmt.Errorf("the node %s is a %.40s, want %s; %s", name, n.Op,
			strings.Join(ops, " or "), advice)
	}
	return n, nil, nil
}

// quantise makes integers of floats, with a scale for each place along the first axis.
func (w *weights) quantise() {
	n := w.shape[0]
	inner := len(w.floats) / n
	w.ints, w.scales = make([]int8, len(w.floats)), make([]float32, n)
	for i := range n {
		row, peak := w.floats[i*inner:(i+1)*inner], float32(0)
		for _, x := range row {
			peak = max(peak, x, -x)
		}
		scale := peak / weightRange
		if w.scales[i] = scale; scale == 0 {
			continue
		}
		for j, x := range row {
			q := math.RoundToEven(float64(x) / float64(scale))
			w.ints[i*inner+j] = int8(min(max(q, -weightRange), weightRange))
		}
	}
}

// spread repeats a single scale.
func spread(scales []float32, n int) []float32 {
	if len(scales) == n {
		return scales
	}
	return slices.Repeat(scales[:1], n)
}

// norm adds what makes the scales and shifts of a norm of a style, in integers: [2 channels, style].
func (v *vocoder) norm(c Channels) error {
	path := module(c.Name) + "/fc/Gemm"
	w, bias, err := v.linear(path, 2*c.Channels)
	if err != nil {
		return err
	}
	if w.ints == nil {
		w.quantise()
	}
	name, out := c.Name+".fc", 2*c.Channels
	v.tensors = append(v.tensors, safetensors.Tensor{Name: name + ".weight", Shape: []int{out, v.style}, Int8s: w.ints})
	v.addFloats(name+".scale", spread(w.scales, out), out)
	v.addFloats(name+".bias", bias, out)
	return nil
}

// linear returns the weights [out, style] and the bias of a layer that is written as a Gemm, or as a MatMul and an Add.
func (v *vocoder) linear(path string, out int) (w weights, bias []float32, err error) {
	if n := v.nodes[path]; n != nil && n.Op == "Gemm" && len(n.Inputs) == 3 {
		if w.floats, w.shape, err = v.floats(n.Inputs[1]); err != nil {
			return w, nil, err
		}
		if want := []int{out, v.style}; !slices.Equal(w.shape, want) {
			return w, nil, otherSizes(w.shape, want)
		}
		bias, err = v.floatsOf(n.Inputs[2], out)
		return w, bias, err
	}
	n, p, err := v.at(path+"_MatMul", "MatMul")
	if err != nil {
		return w, nil, err
	}
	if p != nil {
		w, err = v.integers(p.weight, p.zero, p.scale, 1)
	} else {
		w.floats, w.shape, err = v.floats(n.Inputs[1])
	}
	if err != nil {
		return w, nil, err
	}
	if want := []int{v.style, out}; !slices.Equal(w.shape, want) {
		return w, nil, otherSizes(w.shape, want)
	}
	matrix := []int{1, v.style, out}
	w.shape = []int{out, v.style}
	if p != nil {
		w.ints = transposed(w.ints, matrix)
	} else {
		w.floats = transposed(w.floats, matrix)
	}
	add, _, err := v.at(path+"_Add", "Add")
	if err != nil {
		return w, nil, err
	}
	for _, in := range add.Inputs {
		if v.Tensor(in) != nil {
			bias, err = v.floatsOf(in, out)
		}
	}
	if bias == nil && err == nil {
		err = fmt.Errorf("the bias of %s is not a constant; %s", path, advice)
	}
	return w, bias, err
}

// floatTensors adds what is kept in floats.
func (v *vocoder) floatTensors() error {
	z := v.sizes
	beside := z.wide + z.narrow + 2
	in := z.text
	for i, taps := range []int{20, 12} {
		out := z.stages[i]
		if err := v.floatLayer("generator.ups."+strconv.Itoa(i), "ConvTranspose", []int{in, out, taps},
			out); err != nil {
			return err
		}
		name := "generator.noise_convs." + strconv.Itoa(i)
		if err := v.floatConvolution(name, []int{out, z.spectrum, z.noise[i]},
			[]int{out, z.noise[i], z.spectrum}); err != nil {
			return err
		}
		in = out
	}
	err := v.floatConvolution("generator.conv_post", []int{z.spectrum, in, 7}, []int{z.spectrum, 7, in})
	if err != nil {
		return err
	}
	for _, name := range []string{"F0_conv", "N_conv"} {
		if err := v.floatConvolution(name, []int{1, 1, 3}, []int{3}); err != nil {
			return err
		}
	}
	if err := v.floatLayer("decode.3.pool", "ConvTranspose", []int{beside, 1, 3}, beside); err != nil {
		return err
	}
	v.tensors[len(v.tensors)-2].Shape = []int{beside, 3}
	if err := v.sourceLayer(); err != nil {
		return err
	}
	return v.alphas()
}

// floatLayer adds the weights and the bias of a layer as they are.
func (v *vocoder) floatLayer(name, op string, shape []int, out int) error {
	n, _, err := v.at(module(name)+"/"+op, op)
	if err == nil && len(n.Inputs) != 3 {
		err = fmt.Errorf("it has no bias; %s", advice)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	values, err := v.floatsOf(n.Inputs[1], shape...)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	bias, err := v.floatsOf(n.Inputs[2], out)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	v.addFloats(name+".weight", values, shape...)
	v.addFloats(name+".bias", bias, out)
	return nil
}

// floatConvolution adds a convolution of [out, in, taps] in floats, with its input channels last, as a tensor of shape.
func (v *vocoder) floatConvolution(name string, from, shape []int) error {
	c := convolution{name, from[0], from[1], from[2], true}
	w, bias, err := v.convolutionWeights(c)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if w.ints != nil {
		w.floats = w.dequantised(0)
	}
	v.addFloats(name+".weight", transposed(w.floats, from), shape...)
	v.addFloats(name+".bias", bias, c.out)
	return nil
}

// sourceLayer adds the layer that mixes the harmonics of the source.
func (v *vocoder) sourceLayer() error {
	const name, harmonics = "generator.m_source.l_linear", 9
	n, _, err := v.at(module(name)+"/MatMul", "MatMul")
	if err != nil {
		return err
	}
	values, err := v.floatsOf(n.Inputs[1], harmonics)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	bias, err := v.floatsOf(parameter(name+".bias"), 1)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	v.addFloats(name+".weight", values, harmonics)
	v.addFloats(name+".bias", bias, 1)
	return nil
}

// parameter is the name of a constant that has that of the parameter in PyTorch.
func parameter(name string) string { return "decoder.decoder." + name }

// alphas adds the frequencies of the activations of the generator.
func (v *vocoder) alphas() error {
	for _, n := range v.norms() {
		name, list, ok := strings.Cut(n.Name, ".adain")
		if !ok {
			continue
		}
		name += ".alpha" + list
		values, err := v.floatsOf(parameter(name), n.Channels)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		v.addFloats(name, values, n.Channels)
	}
	return nil
}
