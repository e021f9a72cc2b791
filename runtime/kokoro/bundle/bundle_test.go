package bundle

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/swar-tts/swar/runtime/internal/folder"
	"github.com/swar-tts/swar/runtime/safetensors"
)

// manifest is a good one, of files with one byte.
func manifest() Manifest {
	file := func(name string) File { return File{File: name, SHA256: strings.Repeat("0", 64), Bytes: 1} }
	return Manifest{
		Format: Format, Engine: Engine,
		Model: Model{ID: "kokoro-82m", Languages: []string{"hi", "en"}, Weights: strings.Repeat("a", 64)},
		Text:  file("text.onnx"), Prosody: file("prosody.onnx"), Vocoder: file("vocoder.safetensors"),
		Voices: []Voice{{Name: "anjura", Source: "hf_beta", Language: "hi-IN+en-IN", GainDB: -4.6,
			File: file("voices/0.safetensors")}},
		MinRuntime: "1.30.0",
	}
}

func encoded(t testing.TB, m Manifest) string {
	t.Helper()
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestReadManifest(t *testing.T) {
	good := encoded(t, manifest())
	if m, err := ReadManifest([]byte(good)); err != nil || encoded(t, m) != good {
		t.Fatalf("a good manifest became %+v, %v", m, err)
	}
	for name, tt := range map[string]struct {
		change func(m *Manifest)
		text   string
		want   string
	}{
		"of Pocket-TTS":          {text: `{"format":1,"model":{},"dims":{}}`, want: "as bundles of Pocket-TTS do"},
		"of another engine":      {text: `{"format":1,"engine":"other"}`, want: `for the engine "other"`},
		"another format":         {text: `{"format":2,"engine":"kokoro","new":1}`, want: "format 2, this program reads 1"},
		"an unknown key":         {text: strings.Replace(good, `"text"`, `"tone":1,"text"`, 1), want: "tone"},
		"something behind":       {text: good + "{}", want: "after top-level"},
		"no JSON":                {text: "[", want: "manifest"},
		"no id":                  {change: func(m *Manifest) { m.Model.ID = "" }, want: "model.id"},
		"no languages":           {change: func(m *Manifest) { m.Model.Languages = nil }, want: "model.languages"},
		"no hash of the weights": {change: func(m *Manifest) { m.Model.Weights = "12" }, want: "weights_sha256"},
		"no voices":              {change: func(m *Manifest) { m.Voices = nil }, want: "0 voices"},
		"a file outside":         {change: func(m *Manifest) { m.Text.File = "../text.onnx" }, want: "not a file of the bundle"},
		"the manifest as a file": {change: func(m *Manifest) { m.Vocoder.File = ManifestFile }, want: "not a file of the bundle"},
		"a file without a hash":  {change: func(m *Manifest) { m.Prosody.SHA256 = "" }, want: "no SHA-256"},
		"an empty file":          {change: func(m *Manifest) { m.Prosody.Bytes = 0 }, want: "no size"},
		"a graph too large":      {change: func(m *Manifest) { m.Text.Bytes = maxGraph + 1 }, want: "at most 512"},
		"a voice too large":      {change: func(m *Manifest) { m.Voices[0].Bytes = maxVoice + 1 }, want: "at most 8"},
		"a voice twice":          {change: func(m *Manifest) { m.Voices = append(m.Voices, m.Voices[0]) }, want: "listed twice"},
		"no language of a voice": {change: func(m *Manifest) { m.Voices[0].Language = "" }, want: "its name or language is missing"},
		"too loud":               {change: func(m *Manifest) { m.Voices[0].GainDB = 20.5 }, want: "gain_db is 20.5"},
		"too soft":               {change: func(m *Manifest) { m.Voices[0].GainDB = -60.5 }, want: "gain_db is -60.5"},
	} {
		text := tt.text
		if tt.change != nil {
			m := manifest()
			tt.change(&m)
			text = encoded(t, m)
		}
		if _, err := ReadManifest([]byte(text)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want one with %q", name, err, tt.want)
		}
	}
	for name, change := range map[string]func(m *Manifest){
		"the largest graph": func(m *Manifest) { m.Text.Bytes = maxGraph }, "the largest voice": func(m *Manifest) { m.Voices[0].Bytes = maxVoice },
		"the loudest": func(m *Manifest) { m.Voices[0].GainDB = 20 }, "the softest": func(m *Manifest) { m.Voices[0].GainDB = -60 },
	} {
		m := manifest()
		change(&m)
		if _, err := ReadManifest([]byte(encoded(t, m))); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestOpenAndVerify(t *testing.T) {
	dir, m := t.TempDir(), manifest()
	if err := os.Mkdir(filepath.Join(dir, "voices"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, f := range m.Files() {
		if _, err := folder.WriteFile(dir, f.File, []byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), "opening bundle") {
		t.Errorf("without a manifest: %v", err)
	}
	if _, err := folder.WriteFile(dir, ManifestFile, []byte(encoded(t, m))); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir); err != nil {
		t.Error(err)
	}
	if err := Verify(dir, m); err == nil || !strings.Contains(err.Error(), "was changed or is damaged") {
		t.Errorf("other content: %v", err)
	}
	if err := os.Remove(filepath.Join(dir, "vocoder.safetensors")); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), "vocoder.safetensors is missing") {
		t.Errorf("without a file: %v", err)
	}
}

// voiceSeeds are files of voices, of which the first is good.
func voiceSeeds(t testing.TB) (seeds [][]byte) {
	t.Helper()
	floats := func(name string, values ...float32) safetensors.Tensor {
		return safetensors.Tensor{Name: name, Shape: []int{len(values)}, Floats: values}
	}
	style := safetensors.Tensor{Name: stylesName, Shape: []int{StyleRows, StyleSize},
		Floats: make([]float32, StyleRows*StyleSize)}
	for _, tensors := range [][]safetensors.Tensor{
		{style, floats("a.mean", 1), floats("a.variance", 0)},
		{style, floats("a.mean", 1)},
		{style, floats("a.variance", 1)},
		{style, floats("a.mean", 1), floats("a.variance", 1, 2)},
		{style, floats("a.mean", 1), floats("a.variance", -1)},
		{style, floats("a.mean", float32(math.NaN())), floats("a.variance", 1)},
		{style, floats("a", 1)},
		{floats(stylesName, 1)},
	} {
		var b bytes.Buffer
		if err := safetensors.Write(&b, tensors...); err != nil {
			t.Fatal(err)
		}
		seeds = append(seeds, b.Bytes())
	}
	return seeds
}

func read(data []byte) (Prompt, error) {
	f, err := safetensors.Read(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return Prompt{}, err
	}
	return readVoice(f)
}

func TestReadVoice(t *testing.T) {
	for i, want := range []string{"", "a.variance is missing", "a variance and no mean", "shape [2]",
		"variance of a is -1", "not a number", "unknown", "shape [1]"} {
		_, err := read(voiceSeeds(t)[i])
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("voice %d: error %v, want one with %q", i, err, want)
		}
	}
	if _, err := ReadVoice(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("a voice without a file was read")
	}
}

func FuzzReadVoice(f *testing.F) {
	for _, s := range voiceSeeds(f) {
		f.Add(s[:min(len(s), 1000)]) // short ones, so that they can be changed
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if p, err := read(data); err == nil && p.Check() != nil {
			t.Error("a bad voice was read")
		}
	})
}

func FuzzReadManifest(f *testing.F) {
	f.Add([]byte(encoded(f, manifest())))
	f.Add([]byte(`{"format":1,"engine":"kokoro"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if m, err := ReadManifest(data); err == nil && m.Check() != nil {
			t.Error("a bad manifest was read")
		}
	})
}
