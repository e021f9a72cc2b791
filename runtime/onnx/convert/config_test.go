package convert

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func configText(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../testdata/01-v2-tanh/config.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestReadConfigReadsEveryCase(t *testing.T) {
	files, err := filepath.Glob("../testdata/*/config.yaml")
	if err != nil || len(files) != 6 {
		t.Fatalf("%d configurations (%v), want six", len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ReadConfig(text); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
	c, err := ReadConfig([]byte(configText(t)))
	if err != nil {
		t.Fatal(err)
	}
	if !c.FlowLM.InsertBOSBeforeVoice || c.FlowLM.Transformer.DModel != 128 || c.FlowLM.Flow.Type != "lsd" ||
		c.Mimi.Transformer.MaxPeriod != 10000 {
		t.Errorf("configuration of case 01: %+v", c)
	}
}

func TestReadConfigKeepsTextFlags(t *testing.T) {
	c, err := ReadConfig([]byte(configText(t) +
		"append_terminal_punctuation: false\nmodel_recommended_frames_after_eos: 4\nreplace_characters: {'।': '.'}\n"))
	if err != nil {
		t.Fatal(err)
	}
	if p := c.AppendTerminalPunctuation; p == nil || *p {
		t.Errorf("append_terminal_punctuation = %v, want false", p)
	}
	if c.CapitalizeFirstLetter != nil {
		t.Errorf("capitalize_first_letter = %v, want absent", *c.CapitalizeFirstLetter)
	}
	if n := c.RecommendedFramesAfterEOS; n == nil || *n != 4 {
		t.Errorf("model_recommended_frames_after_eos = %v, want 4", n)
	}
	if got := c.ReplaceCharacters["।"]; got != "." {
		t.Errorf("replacement of the danda = %q, want a full stop", got)
	}
}

// TestReadConfigReadsNewerKeys: newer versions of upstream write keys out that say nothing new for a model of usual
// form.
func TestReadConfigReadsNewerKeys(t *testing.T) {
	text := strings.NewReplacer(
		"max_period: 10000", "max_period: 10000\n    attn_dim: 128\n    num_kv_heads: null\n    dim_feedforward: 256",
		"flow_lm:", "flow_lm:\n  z_dim: null", "    dim: 128", "    rank: null\n    dim: 128",
		"mimi:", "mimi:\n  decoder_seanet: null\n  decoder_transformer:",
	).Replace(configText(t)) + "default_eos_threshold: -1.0\n"
	c, err := ReadConfig([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if c.FlowLM.Transformer.AttnDim == nil || c.FlowLM.Transformer.DimFeedforward == nil {
		t.Errorf("the keys were not in the text:\n%s", text)
	}
	if s := DefaultSampling(c); s.EOSThreshold != -1 {
		t.Errorf("end of speech above %g, want -1", s.EOSThreshold)
	}
}

func TestReadConfigRefuses(t *testing.T) {
	good := configText(t)
	swap := func(from, to string) string {
		t.Helper()
		if !strings.Contains(good, from) {
			t.Fatalf("the configuration has no %q", from)
		}
		return strings.Replace(good, from, to, 1)
	}
	tests := map[string]struct{ text, want string }{
		"an empty file":                   {"", "empty"},
		"an unknown key":                  {good + "vocoder: true\n", "vocoder"},
		"an unknown key inside":           {swap("max_period: 10000", "max_period: 10000\n    rope: yarn"), "rope"},
		"a key twice":                     {good + "remove_semicolons: true\n", "remove_semicolons"},
		"two documents":                   {good + "---\na: 1\n", "more than one"},
		"another kind of flow":            {swap("    depth: 2", "    type: rectified\n    depth: 2"), "rectified"},
		"a flow of many steps":            {swap("    depth: 2", "    type: flow_matching\n    depth: 2"), "distil"},
		"another tokenizer":               {swap("tokenizer: sentencepiece", "tokenizer: bpe"), "sentencepiece"},
		"no layers":                       {swap("num_layers: 2", "num_layers: 0"), "num_layers"},
		"heads that do not divide":        {swap("num_heads: 2", "num_heads: 3"), "heads"},
		"heads too narrow for rotation":   {swap("num_heads: 2", "num_heads: 16"), "multiple of 16"},
		"another sample rate":             {swap("sample_rate: 24000", "sample_rate: 44100"), "44100"},
		"another padding":                 {swap("pad_mode: constant", "pad_mode: replicate"), "pad_mode"},
		"ratios that do not fill a frame": {swap("    - 6\n", "    - 7\n"), "1920"},
		"an embedding of another width":   {swap("    dim: 128", "    dim: 64"), "d_model"},
		"a threshold that is none":        {good + "default_eos_threshold: .nan\n", "default_eos_threshold"},
		"a threshold too high":            {good + "default_eos_threshold: 100.5\n", "-100 to 100"},
		"a student of narrow attention":   {swap("max_period: 10000", "max_period: 10000\n    attn_dim: 64"), "attn_dim"},
		"a student of shared heads":       {swap("max_period: 10000", "max_period: 10000\n    num_kv_heads: 1"), "num_kv_heads"},
		"a student of narrow layers":      {swap("max_period: 10000", "max_period: 10000\n    dim_feedforward: 128"), "dim_feedforward"},
		"a student with a projection":     {swap("flow_lm:", "flow_lm:\n  z_dim: 64"), "z_dim"},
		"a student with a small table":    {swap("    dim: 128", "    rank: 32\n    dim: 128"), "rank"},
		"a student with a small decoder":  {swap("mimi:", "mimi:\n  decoder_seanet: {dimension: 128}"), "decoder_seanet"},
		"another transformer to decode":   {swap("mimi:", "mimi:\n  decoder_transformer: {d_model: 128}"), "distilled from"},
		"a flow of one added step":        {swap("    depth: 2", "    type: pointwise\n    depth: 2"), "pointwise"},
		"no rotation period":              {swap("max_period: 10000", "max_period: .nan"), "max_period"},
	}
	for name, tt := range tests {
		if _, err := ReadConfig([]byte(tt.text)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want one with %q", name, err, tt.want)
		}
	}
}

func TestReadConfigOfATruncatedFile(t *testing.T) {
	text := configText(t)
	whole, err := ReadConfig([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	for n := range text {
		if c, err := ReadConfig([]byte(text[:n])); err == nil && !reflect.DeepEqual(c, whole) {
			t.Errorf("%d bytes of %d are accepted as another configuration", n, len(text))
		}
	}
}

func FuzzReadConfig(f *testing.F) {
	for _, seed := range configSeeds(f) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := ReadConfig([]byte(text))
		if err != nil {
			return
		}
		if d := c.dims(); d.Heads*d.HeadDim != d.Width || d.Upsample < 1 || c.promptWidth() < 1 {
			t.Errorf("sizes %+v", d)
		}
		for _, p := range append(c.parts(), c.optional()...) {
			for _, n := range p.shape {
				if n < 1 && n != -1 {
					t.Fatalf("%s has shape %v", p.name, p.shape)
				}
			}
		}
	})
}

func configSeeds(t testing.TB) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(cases, "01-v2-tanh", "config.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return []string{
		string(text), strings.Replace(string(text), "    depth: 2", "    type: drifting\n    depth: 2", 1),
		"a: &a [1]\nb: [*a, *a]\n", "flow_lm: {dtype: 1}", "",
	}
}

func TestConfigSeedsReachTheReader(t *testing.T) {
	good := 0
	for _, s := range configSeeds(t) {
		if _, err := ReadConfig([]byte(s)); err == nil {
			good++
		}
	}
	if good != 2 {
		t.Errorf("%d seeds are good, want 2", good)
	}
}
