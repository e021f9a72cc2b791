package convert

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/swar-tts/swar/runtime/onnx/bundle"
	"github.com/swar-tts/swar/runtime/speech"
)

const (
	frameSamples = speech.FrameSamples
	sampleRate   = speech.SampleRate
)

// Config is the configuration file that a checkpoint of this family comes with. Only what the engine depends on is
// checked; the rest is named so that a key nobody knows is an error instead of a setting that silently does nothing.
type Config struct {
	WeightsPath                 string            `yaml:"weights_path"`
	WeightsPathWithoutCloning   string            `yaml:"weights_path_without_voice_cloning"`
	PadWithSpacesForShortInputs bool              `yaml:"pad_with_spaces_for_short_inputs"`
	RemoveSemicolons            bool              `yaml:"remove_semicolons"`
	RecommendedFramesAfterEOS   *int              `yaml:"model_recommended_frames_after_eos"`
	CapitalizeFirstLetter       *bool             `yaml:"capitalize_first_letter"`     // absent means true
	AppendTerminalPunctuation   *bool             `yaml:"append_terminal_punctuation"` // absent means true
	ReplaceCharacters           map[string]string `yaml:"replace_characters"`
	DefaultTemperature          *float64          `yaml:"default_temperature"`   // absent means 0.3
	DefaultEOSThreshold         *float64          `yaml:"default_eos_threshold"` // a logit; absent means -4
	TimestampHeads              yaml.Node         `yaml:"timestamp_heads"`       // not used: attention is not looked at
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

			// Of narrower students, which check refuses by name.
			AttnDim        *int `yaml:"attn_dim"`
			NumKVHeads     *int `yaml:"num_kv_heads"`
			DimFeedforward *int `yaml:"dim_feedforward"`
		} `yaml:"transformer"`
		ZDim        *int `yaml:"z_dim"` // as AttnDim
		LookupTable struct {
			Dim           int    `yaml:"dim"`
			NBins         int    `yaml:"n_bins"`
			Tokenizer     string `yaml:"tokenizer"`
			TokenizerPath string `yaml:"tokenizer_path"`
			Rank          *int   `yaml:"rank"` // as AttnDim
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
		DecoderSEANet      yaml.Node `yaml:"decoder_seanet"`      // as AttnDim
		DecoderTransformer yaml.Node `yaml:"decoder_transformer"` // as AttnDim
	} `yaml:"mimi"`

	exported *exported // of a config.json; nil for a yaml
}

// ReadConfig reads a configuration: upstream's yaml, or the config.json that its exporter writes. A key that is
// unknown or stands twice is an error, and so is a model that this engine cannot run.
func ReadConfig(data []byte) (c Config, err error) {
	if isExported(data) {
		c, err = readExported(data)
	} else {
		c, err = readYAML(data)
	}
	if err == nil {
		err = c.check()
	}
	if err != nil {
		return Config{}, fmt.Errorf("configuration: %w", err)
	}
	return c, nil
}

func readYAML(data []byte) (c Config, err error) {
	d := yaml.NewDecoder(bytes.NewReader(data))
	d.KnownFields(true)
	if err := d.Decode(&c); err != nil {
		if errors.Is(err, io.EOF) {
			err = errors.New("is empty")
		}
		return Config{}, firstFault(err)
	}
	if err := d.Decode(&yaml.Node{}); !errors.Is(err, io.EOF) {
		return Config{}, errors.New("more than one document")
	}
	if c.FlowLM.Flow.Type == "" {
		c.FlowLM.Flow.Type = bundle.LSD
	}
	if c.Mimi.Transformer.MaxPeriod == 0 {
		c.Mimi.Transformer.MaxPeriod = 10000
	}
	return c, nil
}

// trainedWith returns the activation that the model was trained with, and how many steps of the flow it was exported
// for.
func (c *Config) trainedWith() (gelu string, steps int) {
	if c.exported == nil {
		return "tanh", 1
	}
	return c.exported.FlowLM.GELU, max(c.exported.Steps, 1)
}

// firstFault names one of the values that have another type, without the type, which can be the whole of [Config].
func firstFault(err error) error {
	if faults, ok := errors.AsType[*yaml.TypeError](err); ok && len(faults.Errors) > 0 {
		text, _, _ := strings.Cut(faults.Errors[0], " into struct {")
		return errors.New(text)
	}
	return err
}
