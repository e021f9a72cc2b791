package convert

import (
	"errors"
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/swar-tts/swar/runtime/onnx/bundle"
)

// The limits of a configuration keep small what is made of it before the weights are compared.
const (
	maxSize   = 1 << 20
	maxLayers = 1 << 10
)

// check refuses, by name, what the graphs are not built for. A model would still speak with most of these, only
// wrongly.
func (c *Config) check() error {
	if err := c.checkSizes(); err != nil {
		return err
	}
	if err := c.checkStudent(); err != nil {
		return err
	}
	if err := c.checkLanguageModel(); err != nil {
		return err
	}
	if err := c.checkCodec(); err != nil {
		return err
	}
	switch {
	case c.DefaultTemperature != nil && !(*c.DefaultTemperature >= 0 && *c.DefaultTemperature <= 2):
		return fmt.Errorf("default_temperature is %g, want 0 to 2", *c.DefaultTemperature)
	case c.DefaultEOSThreshold != nil && !(*c.DefaultEOSThreshold >= -100 && *c.DefaultEOSThreshold <= 100):
		return fmt.Errorf("default_eos_threshold is %g, want a logit of -100 to 100", *c.DefaultEOSThreshold)
	case c.RecommendedFramesAfterEOS != nil && (*c.RecommendedFramesAfterEOS < 0 || *c.RecommendedFramesAfterEOS > 100):
		return fmt.Errorf("model_recommended_frames_after_eos is %d, want 0 to 100", *c.RecommendedFramesAfterEOS)
	}
	return nil
}

func (c *Config) checkSizes() error {
	lm, m := &c.FlowLM, &c.Mimi
	for _, s := range []struct {
		name      string
		v, lowest int
		highest   int
	}{
		{"flow_lm.flow.depth", lm.Flow.Depth, 1, maxLayers}, {"flow_lm.flow.dim", lm.Flow.Dim, 1, maxSize},
		{"flow_lm.transformer.d_model", lm.Transformer.DModel, 1, maxSize}, {"flow_lm.transformer.hidden_scale", lm.Transformer.HiddenScale, 1, maxSize},
		{"flow_lm.transformer.num_heads", lm.Transformer.NumHeads, 1, maxSize}, {"flow_lm.transformer.num_layers", lm.Transformer.NumLayers, 1, maxLayers},
		{"flow_lm.lookup_table.n_bins", lm.LookupTable.NBins, 1, maxSize}, {"mimi.inner_dim", m.InnerDim, 0, maxSize},
		{"mimi.seanet.kernel_size", m.SEANet.KernelSize, 1, maxSize}, {"mimi.seanet.last_kernel_size", m.SEANet.LastKernelSize, 1, maxSize},
		{"mimi.seanet.residual_kernel_size", m.SEANet.ResidualKernelSize, 1, maxSize},
		{"mimi.seanet.n_filters", m.SEANet.NFilters, 1, maxSize}, {"mimi.seanet.dimension", m.SEANet.Dimension, 1, maxSize},
		{"mimi.transformer.d_model", m.Transformer.DModel, 1, maxSize}, {"mimi.transformer.num_heads", m.Transformer.NumHeads, 1, maxSize},
		{"mimi.transformer.num_layers", m.Transformer.NumLayers, 1, maxLayers}, {"mimi.transformer.context", m.Transformer.Context, 1, maxSize},
		{"mimi.transformer.dim_feedforward", m.Transformer.DimFeedforward, 1, maxSize}, {"mimi.quantizer.dimension", m.Quantizer.Dimension, 1, maxSize},
	} {
		if s.v < s.lowest || s.v > s.highest {
			return fmt.Errorf("%s is %d, want %d to %d", s.name, s.v, s.lowest, s.highest)
		}
	}
	return nil
}

// checkStudent refuses the forms that only upstream's smallest students have (2, 7 and 18 million values). Written
// out as what a model has without the key, or as null, each of the keys is accepted.
func (c *Config) checkStudent() error {
	lm, t := &c.FlowLM, &c.FlowLM.Transformer
	for _, k := range []struct {
		name  string
		value *int
		usual int
	}{
		{"flow_lm.transformer.attn_dim", t.AttnDim, t.DModel}, {"flow_lm.transformer.num_kv_heads", t.NumKVHeads, t.NumHeads},
		{"flow_lm.transformer.dim_feedforward", t.DimFeedforward, t.DModel * t.HiddenScale}, {"flow_lm.z_dim", lm.ZDim, 0},
		{"flow_lm.lookup_table.rank", lm.LookupTable.Rank, 0},
	} {
		if k.value != nil && *k.value != k.usual {
			return studentError(k.name)
		}
	}
	for name, node := range map[string]*yaml.Node{"mimi.decoder_seanet": &c.Mimi.DecoderSEANet,
		"mimi.decoder_transformer": &c.Mimi.DecoderTransformer} {
		if !node.IsZero() && node.Tag != "!!null" {
			return studentError(name)
		}
	}
	if lm.Flow.Type == "pointwise" {
		return studentError("flow_lm.flow.type pointwise")
	}
	return nil
}

func studentError(key string) error {
	return fmt.Errorf("%s: such a small student is not supported; convert the model of 6 or more layers that it was distilled from", key)
}

func (c *Config) checkLanguageModel() error {
	lm := &c.FlowLM
	switch t := &lm.Transformer; {
	case lm.Flow.Type == "flow_matching":
		return errors.New("flow_lm.flow.type flow_matching takes 16 or more steps for each frame, too slow to serve: distil the model to lsd or drifting first")
	case lm.Flow.Type != bundle.LSD && lm.Flow.Type != bundle.Drifting:
		return fmt.Errorf("flow_lm.flow.type %q: only lsd and drifting are supported", lm.Flow.Type)
	case !slices.Contains([]string{"sentencepiece", "tokenizers", "json"}, lm.LookupTable.Tokenizer):
		return fmt.Errorf("flow_lm.lookup_table.tokenizer %q: only sentencepiece, tokenizers and json are supported",
			lm.LookupTable.Tokenizer)
	case lm.LookupTable.Dim != t.DModel:
		return fmt.Errorf("flow_lm.lookup_table.dim is %d, want d_model, %d", lm.LookupTable.Dim, t.DModel)
	case t.DModel%t.NumHeads != 0 || t.DModel/t.NumHeads%16 != 0:
		return fmt.Errorf("flow_lm.transformer: %d over %d heads is not a multiple of 16 each", t.DModel, t.NumHeads)
	case !(t.MaxPeriod > 1):
		return fmt.Errorf("flow_lm.transformer.max_period is %g", t.MaxPeriod)
	}
	return nil
}

func (c *Config) checkCodec() error {
	m := &c.Mimi
	switch t := &m.Transformer; {
	case m.SampleRate != sampleRate || m.FrameRate != 12.5 || m.Channels != 1 || m.SEANet.Channels != 1:
		return fmt.Errorf("mimi: %d channels of %d Hz in %g frames a second, want one of %d in 12.5", m.Channels,
			m.SampleRate, m.FrameRate, sampleRate)
	case t.DModel%t.NumHeads != 0 || t.DModel/t.NumHeads%2 != 0:
		return fmt.Errorf("mimi.transformer: %d over %d heads is not an even number each", t.DModel, t.NumHeads)
	case t.DModel != m.SEANet.Dimension || m.Quantizer.OutputDimension != m.SEANet.Dimension:
		return fmt.Errorf("mimi: quantizer, transformer and seanet are %d, %d and %d wide, want one width",
			m.Quantizer.OutputDimension, t.DModel, m.SEANet.Dimension)
	case !(t.MaxPeriod > 1):
		return fmt.Errorf("mimi.transformer.max_period is %g", t.MaxPeriod)
	case m.SEANet.NResidualLayers != 1 || m.SEANet.Compress != 2 || m.SEANet.PadMode != "constant":
		return errors.New("mimi.seanet: want n_residual_layers 1, compress 2 and pad_mode constant")
	}
	hop := 1
	for _, r := range m.SEANet.Ratios {
		if r < 1 || r > frameSamples/hop {
			hop = 0
			break
		}
		hop *= r
	}
	if len(m.SEANet.Ratios) > 8 || hop == 0 || frameSamples%hop != 0 {
		return fmt.Errorf("mimi.seanet.ratios: %v do not divide a frame of %d samples",
			m.SEANet.Ratios[:min(len(m.SEANet.Ratios), 8)], frameSamples)
	}
	return nil
}
