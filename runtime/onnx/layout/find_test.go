package layout_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/swar-tts/swar/runtime/internal/graph"
	"github.com/swar-tts/swar/runtime/internal/orttest"
	"github.com/swar-tts/swar/runtime/onnx/layout"
)

// folderOf makes a folder of empty files; behind = stands what a file holds.
func folderOf(t *testing.T, files ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, f := range files {
		name, content, _ := strings.Cut(f, "=")
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644))
	}
	return dir
}

func TestFind(t *testing.T) {
	kevin := []string{"flow_lm_main_int8.onnx", "flow_lm_flow_int8.onnx", "mimi_decoder_int8.onnx",
		"text_conditioner.onnx", "tokenizer.model"}
	for _, c := range []struct {
		name  string
		files []string
		want  layout.Kind
	}{
		{"nothing", nil, layout.None},
		{"something else", []string{"README.md", "a.txt"}, layout.None},
		{"a bundle of our own", []string{`manifest.json={"format":1}`, "lm.onnx", "flow.onnx", "host.safetensors"}, layout.None},
		{"a bundle of our own that will not be read", []string{"manifest.json={", "lm.onnx"}, layout.None},
		{"KevinAHM's second form", append(kevin, "bundle.json"), layout.Described},
		{"KevinAHM's first form", []string{"onnx/flow_lm_main.onnx", "tokenizer.model"}, layout.Flat},
		{"its folder of graphs", kevin, layout.Flat},
		{"KevinAHM's first form beside the checkpoint", []string{"onnx/flow_lm_main.onnx", "tokenizer.model", "model.safetensors", "m.yaml"}, layout.Flat},
		{"KevinAHM without its flow, which Open names", []string{"flow_lm_main.onnx", "tokenizer.model", "bundle.json"}, layout.Described},
		{"sherpa-onnx", []string{"lm_main.int8.onnx", "lm_flow.int8.onnx", "vocab.json", "token_scores.json"}, layout.Sherpa},
		{"sherpa-onnx without its vocabulary", []string{"lm_main.onnx"}, layout.Sherpa},
	} {
		if got, err := layout.Find(folderOf(t, c.files...)); err != nil || got != c.want {
			t.Errorf("%s: got %v and %v, want %v", c.name, got, err, c.want)
		}
	}
	if _, err := layout.Find(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("a folder that does not exist was found")
	}
}

func TestFindRefusesOtherFamiliesByName(t *testing.T) {
	const graphs = "flow_lm_flow.onnx"
	merged := graph.New("lm")
	merged.Output("latent", merged.Op("Elu", []graph.Value{merged.Input("flow_x", graph.F32, 1, 32)}), graph.F32, 1, 32)
	for _, c := range []struct {
		name  string
		files []string
		want  []string
	}{
		{"q4", []string{"flow_lm_main_q4.onnx", graphs}, []string{"alfredomariamilano"}},
		{"tokenizer.json", []string{"flow_lm_main.onnx", graphs, "tokenizer.json"}, []string{"alfredomariamilano"}},
		{"stored voices of two files", []string{"flow_lm_main.onnx", graphs, "tokenizer.model", "voices/eva.kv"}, []string{"VolgaGerm"}},
		{"a flow inside the language model", []string{"flow_lm_main.onnx=" + string(merged.Bytes()), "tokenizer.model"}, []string{"RAVEN"}},
		{"prefill and step apart", []string{`manifest.json={"graphs":[]}`, "flow_lm_prefill.onnx", "flow_lm_step.onnx"}, []string{"CWBudde"}},
		{"sherpa-like with hashes", []string{`manifest.json={"files":{}}`, "lm_main.onnx", "lm_flow.onnx"}, []string{"soniqo"}},
		{"a checkpoint of another name", []string{"hindi.safetensors", "hindi.yml"}, []string{"--from DIR/hindi.safetensors --config DIR/hindi.yml --tokenizer tokenizer.model"}},
		{"a checkpoint alone", []string{"model.safetensors"}, []string{"upstream's own checkpoints", "--from DIR/model.safetensors --config model.yaml"}},
		{
			"a checkpoint with all that belongs to it", []string{"eva.safetensors", "model.safetensors", "hindi.yaml", "tokenizer.model"},
			[]string{"upstream's own checkpoints",
				"--from DIR/model.safetensors --config DIR/hindi.yaml --tokenizer DIR/tokenizer.model --voice"},
		},
	} {
		dir := folderOf(t, c.files...)
		kind, err := layout.Find(dir)
		if err == nil {
			t.Errorf("%s: it was found to be %v", c.name, kind)
			continue
		}
		text := strings.ReplaceAll(err.Error(), dir, "DIR")
		for _, want := range append(c.want, "swar bundle convert --from ", " -o ") {
			if !strings.Contains(text, want) || strings.Contains(text, "\n") {
				t.Errorf("%s: got %q, want one line with %q", c.name, text, want)
			}
		}
	}
}

func TestFindAsksForOneLanguage(t *testing.T) {
	for _, under := range []string{"", "onnx/"} {
		dir := folderOf(t, under+"english/bundle.json", under+"hindi/bundle.json")
		_, err := layout.Find(dir)
		if want := filepath.Join(dir, under, "english"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error that names %s", err, want)
		}
	}
}

// TestOpenRefusesOtherFamiliesByTheirGraphs is about those whose files are called the same.
func TestOpenRefusesOtherFamiliesByTheirGraphs(t *testing.T) {
	orttest.Need(t)
	const f16 = 10
	for _, c := range []struct {
		family string
		inputs func(b *graph.Builder)
	}{
		{"RAVEN", func(b *graph.Builder) { b.Input("flow_x", graph.F32, 1, 32) }},
		{"VolgaGerm", func(b *graph.Builder) { b.Input("state_0", f16, 1, 1000, 16, 64) }},
		{"alfredomariamilano", func(b *graph.Builder) { b.Input("state_0", graph.F32, 2, 1, "time", 16, 64) }},
	} {
		dir := write(t, "kevinahm-flat", tiny())
		b := graph.New("lm")
		x := b.Input("sequence", graph.F32, 1, "frames", 32)
		c.inputs(b)
		b.Output("conditioning", b.Op("Elu", []graph.Value{x}), graph.F32, 1, 1024)
		must(t, os.WriteFile(filepath.Join(dir, "onnx", "flow_lm_main.onnx"), b.Bytes(), 0o644))
		m, err := layout.Open(dir, layout.Flat)
		if err == nil {
			must(t, m.Close())
		}
		if err == nil || !strings.Contains(err.Error(), c.family) ||
			!strings.Contains(err.Error(), "swar bundle convert") {
			t.Errorf("%s: got %v, want an error that names it and the converter", c.family, err)
		}
	}
}
