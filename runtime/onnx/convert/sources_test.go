package convert

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/swar-tts/swar/runtime/onnx/bundle"
	"github.com/swar-tts/swar/runtime/tokenize"
)

// The tests in this file are about the forms in which models are published.

// writeJSONTokenizer writes a tokenizer.json of so many pieces.
func writeJSONTokenizer(t *testing.T, path string, pieces int) string {
	t.Helper()
	list := [][]any{{"<unk>", 0}, {"▁", -1}, {".", -1}, {",", -1}, {"a", -1}}
	for len(list) < pieces {
		list = append(list, []any{fmt.Sprintf("▁w%d", len(list)), -2})
	}
	vocab, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf(`{"version":"1.0","added_tokens":[],"normalizer":{"type":"Prepend","prepend":"▁"},"pre_tokenizer":{"type":"Metaspace",
		"replacement":"▁","prepend_scheme":"always","split":true},"model":{"type":"Unigram","unk_id":0,"byte_fallback":true,"vocab":%s}}`, vocab)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestConvertTakesAJSONTokenizerAlone(t *testing.T) {
	for name, change := range map[string]func(c *Conversion, dir string){
		"that the configuration names": func(c *Conversion, dir string) {
			replaceIn(t, c.Config, "tokenizer: sentencepiece", "tokenizer: json")
			replaceIn(t, c.Config, "tokenizer_path: tokenizer.model", "tokenizer_path: tokenizer.json")
			writeJSONTokenizer(t, dir+"/tokenizer.json", 400)
		},
		"that is named": func(c *Conversion, dir string) { c.Tokenizer = writeJSONTokenizer(t, dir+"/other.json", 400) },
	} {
		c := published(t)
		dir := filepath.Dir(c.Config)
		if err := os.Remove(dir + "/tokenizer.model"); err != nil {
			t.Fatal(err)
		}
		change(&c, dir)
		out, m := convert(t, c)
		if m.Tokenizer.File.File != "tokenizer.json" || m.Tokenizer.Kind != bundle.TokenizerJSON {
			t.Errorf("%s: the tokenizer is %+v", name, m.Tokenizer)
		}
		file, err := os.ReadFile(filepath.Join(out, "tokenizer.json"))
		if err != nil {
			t.Fatal(err)
		}
		if sp, err := tokenize.Load(file); err != nil || sp.Size() != 400 {
			t.Errorf("%s: the tokenizer of the bundle: %v", name, err)
		}
		// Marks without pieces are replaced, as for any tokenizer.
		if !slices.Contains(m.Text.Replace, bundle.Replace{From: "।", To: "."}) {
			t.Errorf("%s: replacements %v", name, m.Text.Replace)
		}
	}
	c := published(t)
	c.Tokenizer = writeJSONTokenizer(t, c.Config+".json", 399)
	if _, err := Convert(t.Context(), filepath.Join(t.TempDir(), "b"), c); err == nil ||
		!strings.Contains(err.Error(), "has 399 pieces") {
		t.Errorf("a tokenizer.json of another size: %v", err)
	}
}

func TestConvertResolvesAddresses(t *testing.T) {
	const (
		weights   = "hf://owner/repo/languages/hi/model.safetensors@0123456789012345678901234567890123456789"
		tokenizer = "https://example.com/tokenizer.model"
	)
	c := published(t)
	want := filepath.Dir(c.Config)
	replaceIn(t, c.Config, "weights_path: model.safetensors", "weights_path: "+weights)
	replaceIn(t, c.Config, "tokenizer_path: tokenizer.model", "tokenizer_path: "+tokenizer)
	if _, err := Convert(t.Context(), filepath.Join(t.TempDir(), "b"), c); err == nil ||
		!strings.Contains(err.Error(), `names "`+tokenizer) {
		t.Errorf("without a resolver: %v", err)
	}
	asked := map[string]bool{}
	c.Resolve = func(_ context.Context, address string) (string, error) {
		asked[address] = true
		if address == weights {
			return want + "/model.safetensors", nil
		}
		return want + "/tokenizer.model", nil
	}
	plain := published(t)
	_, fromFiles := convert(t, plain)
	_, resolved := convert(t, c)
	if !asked[weights] || !asked[tokenizer] || len(asked) != 2 {
		t.Errorf("asked for %v", asked)
	}
	if resolved.LM.SHA256 != fromFiles.LM.SHA256 || resolved.Model.Weights != fromFiles.Model.Weights {
		t.Error("another model than that of the files")
	}
	gone := errors.New("the hub is away")
	c.Resolve = func(context.Context, string) (string, error) { return "", gone }
	if _, err := Convert(t.Context(), filepath.Join(t.TempDir(), "b"), c); !errors.Is(err, gone) ||
		!strings.Contains(err.Error(), tokenizer) {
		t.Errorf("a resolver that fails: %v", err)
	}
}

func TestConvertSaysWhatItDoesNotUse(t *testing.T) {
	c := published(t)
	replaceIn(t, c.Config, "flow_lm:\n", "timestamp_heads:\n- layer: 1\n  head: 0\nflow_lm:\n")
	var lines []string
	c.Notice = func(line string) { lines = append(lines, line) }
	convert(t, c)
	if len(lines) != 1 || !strings.HasPrefix(lines[0], "timestamp_heads") {
		t.Errorf("notices %q, want one about timestamp_heads", lines)
	}
	c.Notice = nil
	convert(t, c)
}

func TestConvertKeepsWhatIsSaidOfTheTraining(t *testing.T) {
	c := published(t)
	_, silent := convert(t, c)
	if silent.Trained != (bundle.Trained{}) {
		t.Errorf("where nothing is said: %+v", silent.Trained)
	}
	after := 2
	c.FramesAfterEOS = &after
	c.Trained = bundle.Trained{Script: bundle.Devanagari, Punctuation: bundle.NoPunctuation,
		Numbers: bundle.NumbersAsWords}
	_, m := convert(t, c)
	if m.Trained != c.Trained || m.Sampling.FramesAfterEOS != 2 || m.Sampling.FramesAfterEOSShort != 2 ||
		m.Text.TerminalPunctuation {
		t.Errorf("%+v, sampling %+v, text %+v", m.Trained, m.Sampling, m.Text)
	}
	c.Trained.Script = "latin"
	if _, err := Convert(t.Context(), filepath.Join(t.TempDir(), "b"), c); err == nil ||
		!strings.Contains(err.Error(), "trained.script") {
		t.Errorf("another script: %v", err)
	}
}

// TestConvertTakesAStudent: a language model under bare names beside the whole model of somebody else, whose codec it
// was trained for.
func TestConvertTakesAStudent(t *testing.T) {
	c := published(t)
	_, want := convert(t, c)
	dir, student := filepath.Dir(c.Config), map[string]raw{}
	for name, tensor := range checkpointOf(t, "01-v2-tanh") {
		if bare, ok := strings.CutPrefix(name, "flow_lm."); ok {
			student[bare] = tensor
		}
	}
	c.Weights = write(t, dir+"/flow_lm.safetensors", student)
	c.MimiWeights = dir + "/model.safetensors"
	_, m := convert(t, c)
	if m.LM.SHA256 != want.LM.SHA256 || m.Codec.SHA256 != want.Codec.SHA256 || m.Model.Codec != want.Model.Weights {
		t.Error("another model than that of one file")
	}
}

// exportedForm writes case 01 as upstream's exporter does, with two voices.
func exportedForm(t *testing.T, change func(config map[string]any, weights map[string]raw)) Conversion {
	t.Helper()
	dir, from := t.TempDir(), caseConfig(t, "01-v2-tanh")
	lm, m := &from.FlowLM, &from.Mimi
	width, inner := lm.Transformer.DModel, 32
	latents := singles(array(t, "01-v2-tanh", "voice_latents.npy"))
	frames := len(latents) / inner
	turned := make([]float32, len(latents))
	for i, v := range latents {
		turned[i%inner*frames+i/inner] = v
	}
	all := checkpointOf(t, "01-v2-tanh")
	all["voices.0.speaker_wavs"] = floats("F32", []int{1, inner, frames}, turned)
	all["voices.1.speaker_wavs"] = floats("F32", []int{1, inner, frames}, turned)
	for part, shape := range map[string][]int{"embed.weight": {3, 2}, "output_proj.weight": {width, 2},
		"learnt_padding": {1, 1, width}} {
		values := make([]float32, size(shape))
		for i := range values {
			values[i] = float32(i%7) / 8
		}
		all[exportedPrefix+part] = floats("F32", shape, values)
	}
	config := map[string]any{
		"flow_lm": map[string]any{"d_model": width, "num_heads": lm.Transformer.NumHeads, "num_layers": lm.Transformer.NumLayers,
			"dim_feedforward": width * lm.Transformer.HiddenScale, "max_period": lm.Transformer.MaxPeriod, "n_bins": lm.LookupTable.NBins,
			"lut_dim": lm.LookupTable.Dim, "flow_dim": lm.Flow.Dim, "flow_depth": lm.Flow.Depth, "ldim": m.Quantizer.Dimension,
			"gelu": "tanh", "time_rms_norm": "var", "insert_bos_before_voice": lm.InsertBOSBeforeVoice},
		"mimi": map[string]any{"channels": 1, "sample_rate": 24000, "frame_rate": 12.5, "dimension": m.SEANet.Dimension,
			"quantizer_dimension": m.Quantizer.Dimension, "quantizer_output_dimension": m.Quantizer.OutputDimension, "n_filters": m.SEANet.NFilters,
			"n_residual_layers": 1, "ratios": m.SEANet.Ratios, "kernel_size": m.SEANet.KernelSize, "last_kernel_size": m.SEANet.LastKernelSize,
			"residual_kernel_size": m.SEANet.ResidualKernelSize, "dilation_base": 2, "compress": 2, "transformer_d_model": m.Transformer.DModel,
			"transformer_num_heads": m.Transformer.NumHeads, "transformer_num_layers": m.Transformer.NumLayers, "transformer_layer_scale": 0.01,
			"transformer_context": m.Transformer.Context, "transformer_max_period": 10000.0, "transformer_dim_feedforward": m.Transformer.DimFeedforward,
			"inner_dim": m.InnerDim, "outer_dim": nil},
		"lsd_decode_steps": 2, "eos_threshold": -1.5, "cfg_null_audio_empty": true, "temp": 0.25, "weights_name": "model.safetensors",
		"tokenizer_name": "tokenizer.json", "model_id": map[string]any{"sig": "run", "epoch": 3}, "audio_prompt_min_duration": 1.5,
		"audio_prompt_max_duration": 30.0,
		"conditioners": []any{map[string]any{"name": "voice_name", "type": "lut",
			"lut": map[string]any{"n_bins": 2, "dim": 2, "possible_values": []string{"asha", "ravi"}, "tokenizer": "noop"}}},
		"fuser": map[string]any{"sum": []string{"voice_name"}, "streaming_sum": []string{}, "prepend": []string{}, "cross": []string{}},
		"voices": []any{map[string]any{"name": "asha", "conditions": map[string]string{"voice_name": "asha"}, "prefix": "voices.0.speaker_wavs"},
			map[string]any{"name": "ravi", "conditions": map[string]string{"voice_name": "ravi"},
				"prefix": "voices.1.speaker_wavs"}},
	}
	if change != nil {
		change(config, all)
	}
	text, err := json.Marshal(config)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dir+"/config.json", text, 0o644); err != nil {
		t.Fatal(err)
	}
	write(t, dir+"/model.safetensors", all)
	writeJSONTokenizer(t, dir+"/tokenizer.json", lm.LookupTable.NBins)
	return Conversion{Config: dir + "/config.json", Language: "hi-IN", ID: "exported"}
}

func TestConvertTakesWhatTheExporterWrites(t *testing.T) {
	out, m := convert(t, exportedForm(t, nil))
	if m.Flow.Steps != 2 || m.Sampling.EOSThreshold != -1.5 || m.Sampling.Temperature != .25 ||
		m.GELU != "tanh" || !m.BOS {
		t.Errorf("steps %d, sampling %+v, GELU %s, start row %v", m.Flow.Steps, m.Sampling, m.GELU, m.BOS)
	}

	// The same under upstream's names is the same model, with the same voices.
	plain := published(t)
	dir := filepath.Dir(plain.Config)
	all := checkpointOf(t, "01-v2-tanh")
	latents := singles(array(t, "01-v2-tanh", "voice_latents.npy"))
	for _, voice := range []string{"asha", "ravi"} {
		all[storedPrompts+voice] = floats("F32", []int{len(latents) / 32, 32}, latents)
	}
	exportedForm(t, func(_ map[string]any, weights map[string]raw) {
		for name, tensor := range weights {
			if part, ok := strings.CutPrefix(name, exportedPrefix); ok {
				all["flow_lm.voice_lut."+part] = tensor
			}
		}
	})
	write(t, dir+"/model.safetensors", all)
	plain.Voices, plain.Steps = nil, 2
	_, want := convert(t, plain)
	if m.LM.SHA256 != want.LM.SHA256 || m.Codec.SHA256 != want.Codec.SHA256 || m.Host.SHA256 != want.Host.SHA256 {
		t.Error("another model than under upstream's names")
	}
	if len(m.Voices) != 2 || len(want.Voices) != 2 || m.Voices[1].SHA256 != want.Voices[1].SHA256 ||
		m.Voices[0].SHA256 == m.Voices[1].SHA256 {
		t.Errorf("voices %+v, want %+v", m.Voices, want.Voices)
	}
	if p := storedPrompt(t, filepath.Join(out, m.Voices[0].File.File), m.Dims); len(p.VoiceEmbedding) == 0 {
		t.Error("asha has no row of the table")
	}

	// What is said comes before what the file says.
	c := exportedForm(t, nil)
	threshold := -3.0
	c.Steps, c.EOSThreshold, c.GELU = 1, &threshold, "erf"
	if _, m := convert(t, c); m.Flow.Steps != 1 || m.Sampling.EOSThreshold != -3 || m.GELU != "erf" {
		t.Errorf("steps %d, threshold %g, GELU %s; want 1, -3, erf", m.Flow.Steps, m.Sampling.EOSThreshold, m.GELU)
	}
}

func TestConvertRefusesOtherExports(t *testing.T) {
	in := func(part string, key string, value any) func(map[string]any, map[string]raw) {
		return func(c map[string]any, _ map[string]raw) {
			if part == "" {
				c[key] = value
			} else {
				c[part].(map[string]any)[key] = value
			}
		}
	}
	for name, tt := range map[string]struct {
		change func(map[string]any, map[string]raw)
		want   string
	}{
		"a key of the future":       {in("", "vibe", 1), `unknown field "vibe"`},
		"another norm":              {in("flow_lm", "time_rms_norm", "rms"), "time_rms_norm"},
		"another GELU":              {in("flow_lm", "gelu", ""), "flow_lm.gelu"},
		"no width":                  {in("flow_lm", "d_model", 0), "not a multiple of d_model"},
		"a width that is too large": {in("flow_lm", "d_model", 1<<30), "not a multiple of d_model"},
		"another latent":            {in("flow_lm", "ldim", 5), "flow_lm.ldim"},
		"65 steps":                  {in("", "lsd_decode_steps", 65), "lsd_decode_steps"},
		"a condition in front":      {in("fuser", "prepend", []string{"x"}), "only sums"},
		"a condition of its own":    {in("", "conditioners", []any{map[string]any{"name": "mood", "type": "lut"}}), "mood of type lut"},
		"other rows":                {in("", "voices", []any{}), "not those of the voices"},
		"voices out of order": {in("", "voices", []any{
			map[string]any{"name": "ravi", "prefix": "voices.1.speaker_wavs"},
			map[string]any{"name": "asha", "prefix": "voices.0.speaker_wavs"},
		}), "order"},
		"a voice of another name": {in("", "voices", []any{
			map[string]any{"name": "asha", "prefix": "x", "conditions": map[string]string{"voice_name": "ravi"}}}),
			"only its own name"},
		"a voice that is missing": {func(_ map[string]any, w map[string]raw) { delete(w, "voices.1.speaker_wavs") }, "voices.1.speaker_wavs of the voice ravi is missing"},
		"a voice of another shape": {func(_ map[string]any, w map[string]raw) {
			w["voices.1.speaker_wavs"] = floats("F32", []int{32, 1}, make([]float32, 32))
		}, "want [1, width, frames]"},
		"a voice of another width": {func(_ map[string]any, w map[string]raw) {
			w["voices.1.speaker_wavs"] = floats("F32", []int{1, 31, 1}, make([]float32, 31))
		}, "want frames of 32"},
		"weights elsewhere": {in("", "weights_name", "../model.safetensors"), "not a file beside it"},
	} {
		c := exportedForm(t, tt.change)
		if _, err := Convert(t.Context(), filepath.Join(t.TempDir(), "b"), c); err == nil ||
			!strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want one with %q", name, err, tt.want)
		}
	}
}
