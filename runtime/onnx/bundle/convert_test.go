package bundle

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// published is case 01 as it would lie in a folder that was downloaded.
func published(t *testing.T) Conversion {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"config.yaml", "model.safetensors", "voice.safetensors", "tokenizer.model"} {
		data, err := os.ReadFile(filepath.Join("../testdata/01-v2-tanh", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return Conversion{
		Config: filepath.Join(dir, "config.yaml"), Language: "hi-IN+en-IN", ID: "case-01",
		Voices: map[string]string{"raj": filepath.Join(dir, "voice.safetensors"), "anjura": filepath.Join(dir, "voice.safetensors")},
	}
}

func TestConvert(t *testing.T) {
	c, dir := published(t), filepath.Join(t.TempDir(), "bundle")
	threshold := -1.0
	c.EOSThreshold = &threshold
	if _, err := Convert(t.Context(), dir, c); err != nil {
		t.Fatal(err)
	}
	m, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := Verify(dir, m); err != nil {
		t.Error(err)
	}
	if m.Model.ID != "case-01" || m.GELU != "tanh" || !m.BOS || m.Flow.Steps != 1 || m.Sampling.EOSThreshold != -1 || len(m.Model.Languages) != 2 {
		t.Errorf("manifest %+v", m)
	}
	if len(m.Voices) != 2 || m.Voices[0].Name != "anjura" || m.Voices[0].PromptFrames != 10 {
		t.Errorf("voices %+v, want anjura and raj with ten positions", m.Voices)
	}
	if got, err := hashFile(filepath.Join(filepath.Dir(c.Config), "model.safetensors")); err != nil || m.Model.Weights != got {
		t.Errorf("hash of the weights %s, want %s (%v)", m.Model.Weights, got, err)
	}
}

func TestConvertRefuses(t *testing.T) {
	tests := map[string]struct {
		change func(*Conversion)
		want   string
	}{
		"no configuration":             {func(c *Conversion) { c.Config += "x" }, "config.yamlx"},
		"a pickled checkpoint":         {func(c *Conversion) { c.Weights = "model.pt" }, "safetensors"},
		"no tokenizer":                 {func(c *Conversion) { c.Tokenizer = "nowhere.model" }, "tokenizer"},
		"no voices":                    {func(c *Conversion) { c.Voices = nil }, "no voices"},
		"a voice that is not there":    {func(c *Conversion) { c.Voices["raj"] += "x" }, "voice raj"},
		"a voice that is a checkpoint": {func(c *Conversion) { c.Voices["raj"] = filepath.Join(filepath.Dir(c.Config), "model.safetensors") }, "raj"},
		"no id":                        {func(c *Conversion) { c.ID = "" }, "model.id"},
		"another GELU":                 {func(c *Conversion) { c.GELU = "relu" }, "gelu"},
		"a path out of the folder": {func(c *Conversion) {
			text, err := os.ReadFile(c.Config)
			if err != nil {
				t.Fatal(err)
			}
			text = []byte(strings.Replace(string(text), "weights_path: model", "weights_path: ../model", 1))
			if err := os.WriteFile(c.Config, text, 0o644); err != nil {
				t.Fatal(err)
			}
		}, "not a file beside it"},
	}
	for name, tt := range tests {
		c := published(t)
		tt.change(&c)
		if _, err := Convert(t.Context(), filepath.Join(t.TempDir(), "bundle"), c); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want one with %q", name, err, tt.want)
		}
	}
}
