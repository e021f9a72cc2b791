package convert

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/swar-tts/swar/runtime/onnx/bundle"
)

// exported is config.json, which upstream's exporter writes for its Rust runtime. It says the same as a yaml in other
// words, and besides how the model is run and which voices lie among the weights.
type exported struct {
	FlowLM struct {
		DModel         int     `json:"d_model"`
		NumHeads       int     `json:"num_heads"`
		NumLayers      int     `json:"num_layers"`
		DimFeedforward int     `json:"dim_feedforward"`
		MaxPeriod      float64 `json:"max_period"`
		NBins          int     `json:"n_bins"`
		LUTDim         int     `json:"lut_dim"`
		FlowDim        int     `json:"flow_dim"`
		FlowDepth      int     `json:"flow_depth"`
		LDim           int     `json:"ldim"`
		GELU           string  `json:"gelu"`
		TimeRMSNorm    string  `json:"time_rms_norm"`
		InsertBOS      bool    `json:"insert_bos_before_voice"`
	} `json:"flow_lm"`
	Mimi struct {
		Channels                 int     `json:"channels"`
		SampleRate               int     `json:"sample_rate"`
		FrameRate                float64 `json:"frame_rate"`
		Dimension                int     `json:"dimension"`
		QuantizerDimension       int     `json:"quantizer_dimension"`
		QuantizerOutputDimension int     `json:"quantizer_output_dimension"`
		NFilters                 int     `json:"n_filters"`
		NResidualLayers          int     `json:"n_residual_layers"`
		Ratios                   []int   `json:"ratios"`
		KernelSize               int     `json:"kernel_size"`
		LastKernelSize           int     `json:"last_kernel_size"`
		ResidualKernelSize       int     `json:"residual_kernel_size"`
		DilationBase             int     `json:"dilation_base"`
		Compress                 int     `json:"compress"`
		TransformerDModel        int     `json:"transformer_d_model"`
		TransformerNumHeads      int     `json:"transformer_num_heads"`
		TransformerNumLayers     int     `json:"transformer_num_layers"`
		TransformerLayerScale    float64 `json:"transformer_layer_scale"`
		TransformerContext       int     `json:"transformer_context"`
		TransformerMaxPeriod     float64 `json:"transformer_max_period"`
		TransformerFeedforward   int     `json:"transformer_dim_feedforward"`
		InnerDim                 int     `json:"inner_dim"`
		OuterDim                 int     `json:"outer_dim"`
	} `json:"mimi"`
	Steps        int                   `json:"lsd_decode_steps"`
	EOSThreshold *float64              `json:"eos_threshold"`
	Temperature  *float64              `json:"temp"`
	Weights      string                `json:"weights_name"`
	Tokenizer    string                `json:"tokenizer_name"`
	Conditioners []exportedConditioner `json:"conditioners"`
	Fuser        *struct {
		Sum          []string `json:"sum"`
		StreamingSum []string `json:"streaming_sum"`
		Prepend      []string `json:"prepend"`
		Cross        []string `json:"cross"`
	} `json:"fuser"`
	Voices []exportedVoice `json:"voices"`

	// Not used: what it is called, guidance that no runtime applies, and how long recordings should be.
	ModelID            any `json:"model_id"`
	CFGNullAudioEmpty  any `json:"cfg_null_audio_empty"`
	AudioPromptMinimum any `json:"audio_prompt_min_duration"`
	AudioPromptMaximum any `json:"audio_prompt_max_duration"`
}

type exportedConditioner struct {
	Name string `json:"name"`
	Type string `json:"type"`
	LUT  struct {
		NBins          int      `json:"n_bins"`
		Dim            int      `json:"dim"`
		PossibleValues []string `json:"possible_values"`
		Tokenizer      string   `json:"tokenizer"`
	} `json:"lut"`
}

type exportedVoice struct {
	Name       string            `json:"name"`
	Conditions map[string]string `json:"conditions"`
	Prefix     string            `json:"prefix"` // the weight that holds its latents
}

// isExported reports whether a configuration is a config.json and not a yaml.
func isExported(data []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(data, " \t\r\n"), []byte("{"))
}

// readExported reads a config.json as the yaml that says the same.
func readExported(data []byte) (Config, error) {
	var e exported
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&e); err != nil {
		return Config{}, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return Config{}, errors.New("something follows its closing brace")
	}
	lm := &e.FlowLM
	switch {
	case lm.DModel < 1 || lm.DimFeedforward%lm.DModel != 0:
		return Config{}, fmt.Errorf("flow_lm: dim_feedforward %d is not a multiple of d_model %d",
			lm.DimFeedforward, lm.DModel)
	case lm.GELU != "tanh" && lm.GELU != "erf":
		return Config{}, fmt.Errorf("flow_lm.gelu is %q, want tanh or erf", lm.GELU)
	case lm.TimeRMSNorm != "var":
		return Config{}, fmt.Errorf("flow_lm.time_rms_norm is %q, and only var is supported", lm.TimeRMSNorm)
	case lm.LDim != e.Mimi.QuantizerDimension:
		return Config{}, fmt.Errorf("flow_lm.ldim is %d, want that of mimi, %d", lm.LDim, e.Mimi.QuantizerDimension)
	case e.Steps < 0 || e.Steps > 64:
		return Config{}, fmt.Errorf("lsd_decode_steps is %d, want 1 to 64", e.Steps)
	}
	if err := e.checkVoices(); err != nil {
		return Config{}, err
	}
	c := Config{WeightsPath: e.Weights, DefaultTemperature: e.Temperature, DefaultEOSThreshold: e.EOSThreshold,
		exported: &e}
	to := &c.FlowLM
	to.DType, to.InsertBOSBeforeVoice = "float32", lm.InsertBOS
	to.Flow.Depth, to.Flow.Dim, to.Flow.Type = lm.FlowDepth, lm.FlowDim, bundle.LSD
	t := &to.Transformer
	t.DModel, t.HiddenScale, t.MaxPeriod = lm.DModel, lm.DimFeedforward/lm.DModel, lm.MaxPeriod
	t.NumHeads, t.NumLayers = lm.NumHeads, lm.NumLayers
	to.LookupTable.Dim, to.LookupTable.NBins = lm.LUTDim, lm.NBins
	to.LookupTable.Tokenizer, to.LookupTable.TokenizerPath = "tokenizers", e.Tokenizer
	e.describeCodec(&c)
	return c, nil
}

func (e *exported) describeCodec(c *Config) {
	from, to := &e.Mimi, &c.Mimi
	to.DType, to.SampleRate, to.InnerDim, to.OuterDim = "float32", from.SampleRate, from.InnerDim, from.OuterDim
	to.Channels, to.FrameRate = from.Channels, from.FrameRate
	s := &to.SEANet
	s.Dimension, s.Channels, s.NFilters, s.Ratios = from.Dimension, from.Channels, from.NFilters, from.Ratios
	s.KernelSize, s.ResidualKernelSize = from.KernelSize, from.ResidualKernelSize
	s.LastKernelSize, s.NResidualLayers = from.LastKernelSize, from.NResidualLayers
	s.DilationBase, s.Compress, s.PadMode = from.DilationBase, from.Compress, "constant"
	t := &to.Transformer
	t.DModel, t.InputDimension, t.OutputDimensions = from.TransformerDModel, from.Dimension, []int{from.Dimension}
	t.NumHeads, t.NumLayers = from.TransformerNumHeads, from.TransformerNumLayers
	t.LayerScale, t.Context = from.TransformerLayerScale, from.TransformerContext
	t.MaxPeriod, t.DimFeedforward = from.TransformerMaxPeriod, from.TransformerFeedforward
	to.Quantizer.Dimension, to.Quantizer.OutputDimension = from.QuantizerDimension, from.QuantizerOutputDimension
}

// The names of the table of voices, which is added to each frame, in a config.json and among its weights.
const (
	exportedTable  = "voice_name"
	exportedPrefix = "flow_lm.condition_provider.conditioners." + exportedTable + "."
)

// checkVoices refuses conditions other than a table of the voices, whose rows follow their names.
func (e *exported) checkVoices() error {
	var names []string
	for _, v := range e.Voices {
		if v.Name == "" || v.Prefix == "" {
			return errors.New("voices: one has no name or no prefix")
		}
		for condition, value := range v.Conditions {
			if condition != exportedTable || value != v.Name {
				return fmt.Errorf("voices: %s is conditioned on %s %q, and only its own name is supported",
					v.Name, condition, value)
			}
		}
		names = append(names, v.Name)
	}
	if !slices.IsSorted(names) || len(slices.Compact(slices.Clone(names))) != len(names) {
		return errors.New("voices: they are not in the order of their names, or one is listed twice")
	}
	for _, c := range e.Conditioners {
		if c.Name != exportedTable || c.Type != "lut" {
			return fmt.Errorf("conditioners: %s of type %s is not supported, only the table %s",
				c.Name, c.Type, exportedTable)
		}
		if !slices.Equal(c.LUT.PossibleValues, names) {
			return errors.New("conditioners: the rows of the table are not those of the voices")
		}
	}
	if f := e.Fuser; f != nil && len(f.StreamingSum)+len(f.Prepend)+len(f.Cross) > 0 {
		return errors.New("fuser: only sums are supported")
	}
	return nil
}

// nameAsUpstream gives the weights that the exporter has renamed their names of the one-file form.
func (e *exported) nameAsUpstream(w *fileWeights) error {
	for _, name := range w.names() {
		part, ok := strings.CutPrefix(name, exportedPrefix)
		if !ok {
			continue
		}
		s := w.entries[name]
		delete(w.entries, name)
		if err := w.add("flow_lm.voice_lut."+part, s); err != nil {
			return err
		}
	}
	for _, v := range e.Voices {
		s, ok := w.entries[v.Prefix]
		if !ok {
			return fmt.Errorf("tensor %s of the voice %s is missing", v.Prefix, v.Name)
		}
		shape, _ := s.file.Shape(s.name)
		if len(shape) != 3 || shape[0] != 1 {
			return fmt.Errorf("tensor %s of the voice %s has shape %v, want [1, width, frames]",
				v.Prefix, v.Name, shape)
		}
		delete(w.entries, v.Prefix)
		s.turned = true
		if err := w.add(storedPrompts+v.Name, s); err != nil {
			return err
		}
	}
	return nil
}
