package convert

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/swar-tts/swar/runtime/onnx/bundle"
)

// A part is a weight that belongs to the model of a configuration.
type part struct {
	name  string
	shape []int // -1 stands for any size
}

func (c *Config) parts() []part { return slices.Concat(c.languageModel(), c.flowNet(), c.decoder()) }

// languageModel lists the weights of the language model but for its flow.
func (c *Config) languageModel() []part {
	lm := &c.FlowLM
	width, latent := lm.Transformer.DModel, c.Mimi.Quantizer.Dimension
	const p = "flow_lm."
	parts := []part{
		{p + "conditioner.embed.weight", []int{lm.LookupTable.NBins + 1, width}}, {p + "bos_emb", []int{latent}},
		{p + "emb_mean", []int{latent}}, {p + "emb_std", []int{latent}}, {p + "input_linear.weight", []int{width, latent}},
		{p + "out_norm.weight", []int{width}}, {p + "out_norm.bias", []int{width}},
		{p + "out_eos.weight", []int{1, width}}, {p + "out_eos.bias", []int{1}},
	}
	if lm.InsertBOSBeforeVoice {
		parts = append(parts, part{p + "bos_before_voice", []int{1, 1, width}})
	}
	for i := range lm.Transformer.NumLayers {
		parts = append(parts, layerParts(layer(p+"transformer.layers.", i), width, width*lm.Transformer.HiddenScale)...)
	}
	return parts
}

// layerParts lists the weights that layers of all transformers have.
func layerParts(p string, width, hidden int) []part {
	return []part{
		{p + "self_attn.in_proj.weight", []int{3 * width, width}}, {p + "self_attn.out_proj.weight", []int{width, width}},
		{p + "norm1.weight", []int{width}}, {p + "norm1.bias", []int{width}}, {p + "norm2.weight", []int{width}}, {p + "norm2.bias", []int{width}},
		{p + "linear1.weight", []int{hidden, width}}, {p + "linear2.weight", []int{width, hidden}},
	}
}

func (c *Config) flowNet() []part {
	f, width, latent := c.FlowLM.Flow.Dim, c.FlowLM.Transformer.DModel, c.Mimi.Quantizer.Dimension
	const p = "flow_lm.flow_net."
	parts := slices.Concat(affineParts(p+"cond_embed", f, width), affineParts(p+"input_proj", f, latent),
		affineParts(p+"final_layer.adaLN_modulation.1", 2*f, f), affineParts(p+"final_layer.linear", latent, f))
	for i := range c.FlowLM.Flow.Depth {
		q := layer(p+"res_blocks.", i)
		parts = slices.Concat(parts, []part{{q + "in_ln.weight", []int{f}}, {q + "in_ln.bias", []int{f}}},
			affineParts(q+"mlp.0", f, f), affineParts(q+"mlp.2", f, f), affineParts(q+"adaLN_modulation.1", 3*f, f))
	}
	if c.FlowLM.Flow.Type == bundle.Drifting {
		return parts // it knows no time
	}
	for i := range 2 {
		q := fmt.Sprintf("%stime_embed.%d.", p, i)
		parts = append(parts, part{q + "freqs", []int{-1}}, part{q + "mlp.0.weight", []int{f, -1}},
			part{q + "mlp.0.bias", []int{f}},
			part{q + "mlp.2.weight", []int{f, f}}, part{q + "mlp.2.bias", []int{f}}, part{q + "mlp.3.alpha", []int{f}})
	}
	return parts
}

func affineParts(p string, out int, in ...int) []part {
	return []part{{p + ".weight", append([]int{out}, in...)}, {p + ".bias", []int{out}}}
}

// decoder lists the weights of the codec that turn latents into samples.
func (c *Config) decoder() []part {
	m := &c.Mimi
	width := m.Transformer.DModel
	parts := []part{
		{"mimi.quantizer.output_proj.weight", []int{width, m.Quantizer.Dimension, 1}},
		{"mimi.upsample.convtr.convtr.weight", []int{width, 1, 2 * c.resample()}},
	}
	parts = append(parts, c.codecTransformer("mimi.decoder_transformer.")...)

	s := &m.SEANet
	channels := s.NFilters << len(s.Ratios)
	const p = "mimi.decoder.model."
	parts = append(parts, affineParts(p+"0.conv", channels, width, s.KernelSize)...)
	for i, ratio := range s.Ratios {
		up := p + strconv.Itoa(3*i+2) + ".convtr"
		parts = append(parts, part{up + ".weight", []int{channels, channels / 2, 2 * ratio}},
			part{up + ".bias", []int{channels / 2}})
		channels /= 2
		parts = append(parts, residualParts(p+strconv.Itoa(3*i+3), channels, s.ResidualKernelSize)...)
	}
	return append(parts, affineParts(p+strconv.Itoa(3*len(s.Ratios)+2)+".conv", 1, channels, s.LastKernelSize)...)
}

// encoder lists the weights that turn a recording into a voice prompt. They may be missing: such a model clones no
// voices.
func (c *Config) encoder() []part {
	m := &c.Mimi
	width := m.Transformer.DModel
	parts := append(c.codecTransformer("mimi.encoder_transformer."),
		part{"mimi.downsample.conv.conv.weight", []int{c.promptWidth(), width, 2 * c.resample()}})

	s := &m.SEANet
	channels := s.NFilters
	const p = "mimi.encoder.model."
	parts = append(parts, affineParts(p+"0.conv", channels, 1, s.KernelSize)...)
	for i, ratio := range slices.Backward(s.Ratios) {
		at := 3 * (len(s.Ratios) - 1 - i)
		parts = append(parts, residualParts(p+strconv.Itoa(at+1), channels, s.ResidualKernelSize)...)
		parts = append(parts, affineParts(p+strconv.Itoa(at+3)+".conv", 2*channels, channels, 2*ratio)...)
		channels *= 2
	}
	return append(parts, affineParts(p+strconv.Itoa(3*len(s.Ratios)+2)+".conv", width, channels, s.LastKernelSize)...)
}

func residualParts(p string, channels, kernel int) []part {
	return append(affineParts(p+".block.1.conv", channels/2, channels, kernel),
		affineParts(p+".block.3.conv", channels, channels/2, 1)...)
}

func (c *Config) codecTransformer(p string) (parts []part) {
	m := &c.Mimi.Transformer
	for i := range m.NumLayers {
		q := layer(p+"transformer.layers.", i)
		parts = append(parts, layerParts(q, m.DModel, m.DimFeedforward)...)
		parts = append(parts, part{q + "layer_scale_1.scale", []int{m.DModel}},
			part{q + "layer_scale_2.scale", []int{m.DModel}})
	}
	return parts
}

// resample is how many positions of the codec's transformer a frame has.
func (c *Config) resample() int {
	hop := 1
	for _, r := range c.Mimi.SEANet.Ratios {
		hop *= r
	}
	return frameSamples / hop
}

// promptWidth is the width of what the encoder makes of a frame.
func (c *Config) promptWidth() int {
	if c.Mimi.InnerDim > 0 {
		return c.Mimi.InnerDim
	}
	return c.Mimi.SEANet.Dimension
}

// The weights that only some models have.
const (
	speakerProjection = "flow_lm.speaker_proj_weight"
	lutEmbedding      = "flow_lm.voice_lut.embed.weight"
	lutProjection     = "flow_lm.voice_lut.output_proj.weight"
	lutPadding        = "flow_lm.voice_lut.learnt_padding"
	storedPrompts     = "voice_prompts."
)

// optional lists the weights that only some models have, but for the prompts of voices.
func (c *Config) optional() []part {
	width := c.FlowLM.Transformer.DModel
	return append(c.encoder(), part{speakerProjection, []int{width, c.promptWidth()}},
		part{lutEmbedding, []int{-1, -1}}, part{lutProjection, []int{width, -1}}, part{lutPadding, []int{1, 1, width}})
}

// check compares the weights with what the configuration describes: nothing may be missing, unknown or of another
// shape.
func (w *fileWeights) check(c *Config) error {
	known := map[string]bool{}
	var missing []string
	for i, list := range [][]part{c.parts(), c.optional()} {
		for _, p := range list {
			known[p.name] = true
			shape, ok := w.shape(p.name)
			if !ok {
				if i == 0 {
					missing = append(missing, p.name)
				}
				continue
			}
			if !fits(shape, p.shape) {
				return fmt.Errorf("tensor %s has shape %v, and the configuration asks for %v: it is that of another model", p.name, shape, p.shape)
			}
		}
	}
	var unknown []string
	for _, name := range w.names() {
		if !known[name] && !strings.HasPrefix(name, storedPrompts) {
			unknown = append(unknown, w.entries[name].name)
		}
	}
	switch {
	case len(missing) > 0:
		return fmt.Errorf("%s missing: the configuration is that of another model, or the codec is in a separate file", listed(missing))
	case len(unknown) > 0:
		return fmt.Errorf("%s unknown to this engine: it would change how the model sounds, or belongs to another configuration", listed(unknown))
	}
	return nil
}

// listed names a few of many, with the verb.
func listed(names []string) string {
	const most = 3
	switch n := len(names); {
	case n == 1:
		return "tensor " + names[0] + " is"
	case n <= most:
		return "tensors " + strings.Join(names, ", ") + " are"
	default:
		return fmt.Sprintf("tensors %s and %d more are", strings.Join(names[:most], ", "), n-most)
	}
}

func fits(shape, want []int) bool {
	return slices.EqualFunc(shape, want, func(got, want int) bool { return got == want || want == -1 })
}

// work returns how many values building the graphs and the host's weights reads.
func (w *fileWeights) work(c *Checkpoint) (values int64) {
	flows := int64(1) // the flow head, and once more inside the language model
	if c.Steps == 1 {
		flows = 2
	}
	for i, list := range [][]part{c.Config.languageModel(), c.Config.decoder(), c.Config.flowNet()} {
		for _, p := range list {
			shape, _ := w.shape(p.name)
			n := int64(size(shape))
			if i == 2 {
				n *= flows
			}
			values += n
		}
	}
	return values
}

// size returns how many values an array of that shape has.
func size(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}
