package bundle

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/swar-tts/swar/runtime/speech"
)

const (
	frameSamples = speech.FrameSamples
	sampleRate   = speech.SampleRate
)

// Config is the configuration file that a checkpoint of this family comes with. Only what the engine depends on is checked; the rest
// is named so that a key nobody knows is an error instead of a setting that silently does nothing.
type Config struct {
	WeightsPath                 string            `yaml:"weights_path"`
	WeightsPathWithoutCloning   string            `yaml:"weights_path_without_voice_cloning"`
	PadWithSpacesForShortInputs bool              `yaml:"pad_with_spaces_for_short_inputs"`
	RemoveSemicolons            bool              `yaml:"remove_semicolons"`
	RecommendedFramesAfterEOS   *int              `yaml:"model_recommended_frames_after_eos"`
	CapitalizeFirstLetter       *bool             `yaml:"capitalize_first_letter"`     // absent means true
	AppendTerminalPunctuation   *bool             `yaml:"append_terminal_punctuation"` // absent means true
	ReplaceCharacters           map[string]string `yaml:"replace_characters"`
	DefaultTemperature          *float64          `yaml:"default_temperature"` // absent means 0.3
	FlowLM                      struct {
		WeightsPath          string `yaml:"weights_path"`
		DType                string `yaml:"dtype"`
		InsertBOSBeforeVoice bool   `yaml:"insert_bos_before_voice"`
		Flow                 struct {
			Depth int    `yaml:"depth"`
			Dim   int    `yaml:"dim"`
			Type  string `yaml:"type"` // LSD or Drifting; absent means LSD
		} `yaml:"flow"`
		Transformer struct {
			DModel      int     `yaml:"d_model"`
			HiddenScale int     `yaml:"hidden_scale"`
			MaxPeriod   float64 `yaml:"max_period"`
			NumHeads    int     `yaml:"num_heads"`
			NumLayers   int     `yaml:"num_layers"`
		} `yaml:"transformer"`
		LookupTable struct {
			Dim           int    `yaml:"dim"`
			NBins         int    `yaml:"n_bins"`
			Tokenizer     string `yaml:"tokenizer"`
			TokenizerPath string `yaml:"tokenizer_path"`
		} `yaml:"lookup_table"`
	} `yaml:"flow_lm"`
	Mimi struct {
		WeightsPath string  `yaml:"weights_path"`
		DType       string  `yaml:"dtype"`
		SampleRate  int     `yaml:"sample_rate"`
		InnerDim    int     `yaml:"inner_dim"`
		OuterDim    int     `yaml:"outer_dim"`
		Channels    int     `yaml:"channels"`
		FrameRate   float64 `yaml:"frame_rate"`
		SEANet      struct {
			Dimension          int    `yaml:"dimension"`
			Channels           int    `yaml:"channels"`
			NFilters           int    `yaml:"n_filters"`
			NResidualLayers    int    `yaml:"n_residual_layers"`
			Ratios             []int  `yaml:"ratios"`
			KernelSize         int    `yaml:"kernel_size"`
			ResidualKernelSize int    `yaml:"residual_kernel_size"`
			LastKernelSize     int    `yaml:"last_kernel_size"`
			DilationBase       int    `yaml:"dilation_base"`
			PadMode            string `yaml:"pad_mode"`
			Compress           int    `yaml:"compress"`
		} `yaml:"seanet"`
		Transformer struct {
			DModel           int     `yaml:"d_model"`
			InputDimension   int     `yaml:"input_dimension"`
			OutputDimensions []int   `yaml:"output_dimensions"`
			NumHeads         int     `yaml:"num_heads"`
			NumLayers        int     `yaml:"num_layers"`
			LayerScale       float64 `yaml:"layer_scale"`
			Context          int     `yaml:"context"`
			MaxPeriod        float64 `yaml:"max_period"` // absent means 10000
			DimFeedforward   int     `yaml:"dim_feedforward"`
		} `yaml:"transformer"`
		Quantizer struct {
			Dimension       int `yaml:"dimension"`
			OutputDimension int `yaml:"output_dimension"`
		} `yaml:"quantizer"`
	} `yaml:"mimi"`
}

// ReadConfig reads a configuration. A key that is unknown or stands twice is an error, and so is a model that this engine cannot run.
func ReadConfig(data []byte) (Config, error) {
	var c Config
	d := yaml.NewDecoder(bytes.NewReader(data))
	d.KnownFields(true)
	if err := d.Decode(&c); err != nil {
		if errors.Is(err, io.EOF) {
			err = errors.New("is empty")
		}
		return Config{}, fmt.Errorf("configuration: %w", firstFault(err))
	}
	if err := d.Decode(&yaml.Node{}); !errors.Is(err, io.EOF) {
		return Config{}, errors.New("configuration: more than one document")
	}
	if c.FlowLM.Flow.Type == "" {
		c.FlowLM.Flow.Type = LSD
	}
	if c.Mimi.Transformer.MaxPeriod == 0 {
		c.Mimi.Transformer.MaxPeriod = 10000
	}
	if err := c.check(); err != nil {
		return Config{}, fmt.Errorf("configuration: %w", err)
	}
	return c, nil
}

// firstFault names one of the values that have another type, without the type, which can be the whole of [Config].
func firstFault(err error) error {
	if faults, ok := errors.AsType[*yaml.TypeError](err); ok && len(faults.Errors) > 0 {
		text, _, _ := strings.Cut(faults.Errors[0], " into struct {")
		return errors.New(text)
	}
	return err
}

// The limits of a configuration keep what is made of it before the weights are compared small.
const maxLayers = 1 << 10

// check refuses, by name, what the graphs are not built for. A model would still speak with most of these, only wrongly.
func (c *Config) check() error {
	lm, m := &c.FlowLM, &c.Mimi
	for name, v := range map[string]int{
		"flow_lm.flow.depth": lm.Flow.Depth, "flow_lm.flow.dim": lm.Flow.Dim,
		"flow_lm.transformer.d_model": lm.Transformer.DModel, "flow_lm.transformer.hidden_scale": lm.Transformer.HiddenScale,
		"flow_lm.transformer.num_heads": lm.Transformer.NumHeads, "flow_lm.transformer.num_layers": lm.Transformer.NumLayers,
		"flow_lm.lookup_table.n_bins": lm.LookupTable.NBins,
		"mimi.seanet.kernel_size":     m.SEANet.KernelSize, "mimi.seanet.residual_kernel_size": m.SEANet.ResidualKernelSize,
		"mimi.seanet.last_kernel_size": m.SEANet.LastKernelSize,
		"mimi.seanet.n_filters":        m.SEANet.NFilters, "mimi.seanet.dimension": m.SEANet.Dimension,
		"mimi.transformer.d_model": m.Transformer.DModel, "mimi.transformer.num_heads": m.Transformer.NumHeads,
		"mimi.transformer.num_layers": m.Transformer.NumLayers, "mimi.transformer.context": m.Transformer.Context,
		"mimi.transformer.dim_feedforward": m.Transformer.DimFeedforward, "mimi.quantizer.dimension": m.Quantizer.Dimension,
	} {
		if v < 1 || v > 1<<20 {
			return fmt.Errorf("%s is %d", name, v)
		}
	}
	switch {
	case lm.Transformer.NumLayers > maxLayers || m.Transformer.NumLayers > maxLayers:
		return fmt.Errorf("%d and %d layers: more than %d", lm.Transformer.NumLayers, m.Transformer.NumLayers, maxLayers)
	case lm.Flow.Type == "flow_matching":
		return errors.New("flow_lm.flow.type flow_matching takes 16 or more steps for each frame, too slow to serve: distil the model to lsd or drifting first")
	case lm.Flow.Type != LSD && lm.Flow.Type != Drifting:
		return fmt.Errorf("flow_lm.flow.type %q: only lsd and drifting are supported", lm.Flow.Type)
	case lm.LookupTable.Tokenizer != "sentencepiece" && lm.LookupTable.Tokenizer != "tokenizers":
		return fmt.Errorf("flow_lm.lookup_table.tokenizer %q: only sentencepiece is supported", lm.LookupTable.Tokenizer)
	case lm.LookupTable.Dim != lm.Transformer.DModel:
		return fmt.Errorf("flow_lm.lookup_table.dim is %d, want d_model, %d", lm.LookupTable.Dim, lm.Transformer.DModel)
	case lm.Transformer.DModel%lm.Transformer.NumHeads != 0 || lm.Transformer.DModel/lm.Transformer.NumHeads%16 != 0:
		return fmt.Errorf("flow_lm.transformer: %d over %d heads is not a multiple of 16 each", lm.Transformer.DModel, lm.Transformer.NumHeads)
	case !(lm.Transformer.MaxPeriod > 1):
		return fmt.Errorf("flow_lm.transformer.max_period is %g", lm.Transformer.MaxPeriod)
	case m.SampleRate != sampleRate || m.FrameRate != 12.5 || m.Channels != 1 || m.SEANet.Channels != 1:
		return fmt.Errorf("mimi: %d channels of %d Hz in %g frames a second, want one of 24000 in 12.5", m.Channels, m.SampleRate, m.FrameRate)
	case m.Transformer.DModel%m.Transformer.NumHeads != 0 || m.Transformer.DModel/m.Transformer.NumHeads%2 != 0:
		return fmt.Errorf("mimi.transformer: %d over %d heads is not an even number each", m.Transformer.DModel, m.Transformer.NumHeads)
	case m.Transformer.DModel != m.SEANet.Dimension || m.Quantizer.OutputDimension != m.SEANet.Dimension:
		return fmt.Errorf("mimi: quantizer, transformer and seanet are %d, %d and %d wide, want one width",
			m.Quantizer.OutputDimension, m.Transformer.DModel, m.SEANet.Dimension)
	case m.SEANet.NResidualLayers != 1 || m.SEANet.Compress != 2 || m.SEANet.PadMode != "constant":
		return errors.New("mimi.seanet: want n_residual_layers 1, compress 2 and pad_mode constant")
	case m.InnerDim < 0 || m.InnerDim > 1<<20:
		return fmt.Errorf("mimi.inner_dim is %d", m.InnerDim)
	case c.DefaultTemperature != nil && !(*c.DefaultTemperature >= 0 && *c.DefaultTemperature <= 2):
		return fmt.Errorf("default_temperature is %g, want 0 to 2", *c.DefaultTemperature)
	case c.RecommendedFramesAfterEOS != nil && (*c.RecommendedFramesAfterEOS < 0 || *c.RecommendedFramesAfterEOS > 100):
		return fmt.Errorf("model_recommended_frames_after_eos is %d", *c.RecommendedFramesAfterEOS)
	}
	hop := 1
	for _, r := range m.SEANet.Ratios {
		if r < 1 || r > frameSamples {
			return fmt.Errorf("mimi.seanet.ratios: %v", m.SEANet.Ratios)
		}
		hop *= r
	}
	if len(m.SEANet.Ratios) > 8 || hop < 1 || frameSamples%hop != 0 {
		return fmt.Errorf("mimi.seanet.ratios: %v do not divide a frame of %d samples", m.SEANet.Ratios, frameSamples)
	}
	return nil
}
