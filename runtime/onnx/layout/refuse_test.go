package layout_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/swar-tts/swar/runtime/internal/graph"
	"github.com/swar-tts/swar/runtime/internal/orttest"
	"github.com/swar-tts/swar/runtime/onnx/bundle"
	"github.com/swar-tts/swar/runtime/onnx/convert"
	"github.com/swar-tts/swar/runtime/onnx/layout"
	"github.com/swar-tts/swar/runtime/onnx/layout/layouttest"
	"github.com/swar-tts/swar/runtime/safetensors"
)

// damage is what is done to a folder before it is opened.
type damage func(t *testing.T, dir string)

func remove(name string) damage {
	return func(t *testing.T, dir string) { must(t, os.RemoveAll(filepath.Join(dir, name))) }
}

func replace(name string, content []byte) damage {
	return func(t *testing.T, dir string) {
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
		must(t, os.WriteFile(filepath.Join(dir, name), content, 0o644))
	}
}

func truncate(name string) damage {
	return func(t *testing.T, dir string) {
		info, err := os.Stat(filepath.Join(dir, name))
		must(t, err)
		must(t, os.Truncate(filepath.Join(dir, name), info.Size()/2))
	}
}

// describe changes bundle.json.
func describe(change func(d map[string]any)) damage {
	return func(t *testing.T, dir string) {
		path := filepath.Join(dir, "bundle.json")
		text, err := os.ReadFile(path)
		must(t, err)
		var d map[string]any
		must(t, json.Unmarshal(text, &d))
		change(d)
		text, err = json.Marshal(d)
		must(t, err)
		must(t, os.WriteFile(path, text, 0o644))
	}
}

func set(key string, v any) damage { return describe(func(d map[string]any) { d[key] = v }) }

// setState changes the first state of the language model, keys and values of 1000 positions.
func setState(key string, v any) damage {
	return describe(func(d map[string]any) { d["flow_lm_state_manifest"].([]any)[0].(map[string]any)[key] = v })
}

// flowOf writes a graph in place of the flow that looks as it should but has another operator.
func flowOf(domain, op string) damage {
	return func(t *testing.T, dir string) {
		b := graph.New("flow")
		x := b.Input("x", graph.F32, "batch", 16)
		for name, width := range map[string]int{"c": 64, "s": 1, "t": 1} {
			b.Input(name, graph.F32, "batch", width)
		}
		b.Output("flow_dir", b.Ops(domain, op, 1, []graph.Value{x})[0], graph.F32, "batch", 16)
		replace("flow_lm_flow.onnx", b.Bytes())(t, dir)
	}
}

func voice(t *testing.T, positions, layers int) []byte {
	d := bundle.Dims{Width: 64, Layers: layers, Heads: 2, HeadDim: 32}
	p := bundle.Prompt{Positions: positions}
	for range layers {
		p.K, p.V = append(p.K, make([]float32, positions*64)), append(p.V, make([]float32, positions*64))
	}
	var b bytes.Buffer
	must(t, bundle.WritePrompt(&b, p, d))
	return b.Bytes()
}

func TestOpenRefuses(t *testing.T) {
	orttest.Need(t)
	v2, flat, sherpa := layouttest.KevinAHMv2, layouttest.KevinAHMFlat, layouttest.Sherpa
	for _, c := range []struct {
		name, layout string
		damage       damage
		want         string
	}{
		{"a folder without its language model", v2, remove("flow_lm_main.onnx"), "flow_lm_main.onnx is missing"},
		{"a folder without its flow", flat, remove("onnx/flow_lm_flow.onnx"), "flow_lm_flow.onnx is missing"},
		{"a folder without its codec", sherpa, remove("decoder.onnx"), "decoder.onnx is missing"},
		{"a folder without its text table", v2, remove("text_conditioner.onnx"), "text_conditioner.onnx is missing"},
		{"a folder without its tokenizer", v2, remove("tokenizer.model"), "tokenizer.model is missing"},
		{"a flat folder without its tokenizer", flat, remove("tokenizer.model"), "tokenizer.model is missing"},
		{"a folder without scores", sherpa, remove("token_scores.json"), "token_scores.json is missing"},
		{"a folder without voices", v2, remove("voices"), "no voices: put"},

		{"a truncated language model", v2, truncate("flow_lm_main.onnx"), "flow_lm_main.onnx: the file is truncated"},
		{"a truncated flow", sherpa, truncate("lm_flow.onnx"), "lm_flow.onnx: the file is truncated"},
		{"a truncated codec", flat, truncate("onnx/mimi_decoder.onnx"), "mimi_decoder.onnx: the file is truncated"},
		{"an empty graph", v2, replace("flow_lm_main.onnx", nil), "flow_lm_main.onnx: the file is truncated"},
		{"a pointer in place of a graph", v2, replace("mimi_decoder.onnx", []byte("version https://git-lfs.github.com/spec/v1\n")), "mimi_decoder.onnx: only Git LFS's pointer"},
		{"a pointer in place of the tokenizer", v2, replace("tokenizer.model", []byte("version https://git-lfs.github.com/spec/v1\n")), "tokenizer.model: only Git LFS's pointer"},
		{"a truncated tokenizer", v2, truncate("tokenizer.model"), "tokenizer.model: sentencepiece model"},
		{"a truncated vocabulary", sherpa, truncate("vocab.json"), "vocab.json"},
		{"a truncated voice", v2, truncate("voices/raj.safetensors"), "raj.safetensors"},
		{"a truncated description", v2, truncate("bundle.json"), "bundle.json"},

		{"an unknown operator", v2, flowOf("", "Babble"), "flow_lm_flow.onnx: ONNX Runtime cannot load it"},
		{"an operator of a library that is not here", v2, flowOf("raven", "Babble"), "flow_lm_flow.onnx: ONNX Runtime cannot load it"},
		{"another graph", v2, func(t *testing.T, dir string) {
			other, err := os.ReadFile(filepath.Join(dir, "mimi_decoder.onnx"))
			must(t, err)
			replace("flow_lm_flow.onnx", other)(t, dir)
		}, "flow_lm_flow.onnx: it has no input c"},

		{"a description of another version", v2, set("schema_version", 3), "schema_version is 3"},
		{"another rate", v2, set("sample_rate", 48000), "48000 Hz"},
		{"a width that is not the graph's", v2, set("conditioning_dim", 32), "row width 64; bundle.json declares 16 and 32"},
		{"an absurd number of tokens", v2, set("max_token_per_chunk", 1<<30), "max_token_per_chunk"},
		{"a tokenizer elsewhere", v2, set("tokenizer_file", "../../tokenizer.model"), "not a file of the folder"},
		{"no states", v2, set("flow_lm_state_manifest", []any{}), "flow_lm_state_manifest: 0 states"},
		{"a state twice", v2, setState("index", 1), "state 0 is missing or listed twice"},
		{"a state that the graph does not take", v2, setState("input_name", "state_99"), "state_99 is not an input"},
		{"a state that the graph does not return", v2, setState("output_name", "out_state_99"), "out_state_99 is not an output"},
		{"a state of another size", v2, setState("shape", []int{2, 1, 500, 2, 32}), "state_0 has shape [2 1 500 2 32]"},
		{"a state without dimensions", v2, setState("shape", []int{}), "0 dimensions"},
		{"a state beyond memory", v2, setState("shape", []int{1 << 30, 1 << 30, 1 << 30}), "state_0 has shape"},
		{"a state below zero", v2, setState("shape", []int{2, 1, -1, 2, 32}), "state_0 has shape"},
		{"a state of halves", v2, setState("dtype", "float16"), `"float16", only float32, int64 and bool`},
		{"a state of another type", v2, describe(func(d map[string]any) {
			s := d["flow_lm_state_manifest"].([]any)[0].(map[string]any)
			s["dtype"], s["fill"] = "int64", "zeros"
		}), "state_0 is i64, the graph has"},
		{"a state that starts with something else", v2, setState("fill", "noise"), `cannot be filled with "noise"`},
		{"a state too few", v2, describe(func(d map[string]any) {
			all := d["flow_lm_state_manifest"].([]any)
			d["flow_lm_state_manifest"] = all[:len(all)-1]
		}), "its input state_5 is unknown"},

		{"a vocabulary with a hole", sherpa, replace("vocab.json", []byte(`{"<unk>":0,"a":2}`)), "want each of 0 to 1 once"},
		{"a piece without a score", sherpa, replace("token_scores.json", []byte(`{"<unk>":0}`)), "has no score"},
		{"a vocabulary larger than the model's", sherpa, func(t *testing.T, dir string) {
			for _, name := range []string{"vocab.json", "token_scores.json"} {
				var numbers map[string]float64
				text, err := os.ReadFile(filepath.Join(dir, name))
				must(t, err)
				must(t, json.Unmarshal(text, &numbers))
				for _, piece := range []string{"one", "two", "three"} { // the table has one row to spare
					numbers[piece] = float64(len(numbers))
				}
				text, err = json.Marshal(numbers)
				must(t, err)
				must(t, os.WriteFile(filepath.Join(dir, name), text, 0o644))
			}
		}, "fewer tokens than the tokenizer"},

		{"a voice of another model", v2, replace("voices/raj.safetensors", voice(t, 12, 3)), "made with another model"},
		{"a voice of fewer layers", v2, replace("voices/raj.safetensors", voice(t, 12, 1)), "made with another model"},
		{"a voice of the first form of another model", v2, func(t *testing.T, dir string) {
			var b bytes.Buffer
			must(t, safetensors.Write(&b, safetensors.Tensor{Name: "audio_prompt", Shape: []int{1, 2, 32},
				Floats: make([]float32, 64)}))
			replace("voices/raj.safetensors", b.Bytes())(t, dir)
		}, "made with another model"},
		{"a voice without a position", v2, replace("voices/raj.safetensors", voice(t, 0, 2)), "0 positions"},
		{"a voice that leaves no room", v2, replace("voices/raj.safetensors", voice(t, 717, 2)), "717 positions; with text and frames that is 1001"},
		{"a recording without an encoder", v2, func(t *testing.T, dir string) {
			replace("voices/eva.wav", nil)(t, dir)
			remove("mimi_encoder.onnx")(t, dir)
		}, "no encoder"},
		{"a recording that is none", v2, replace("voices/eva.wav", []byte("MThd")), "no format of sound that is known"},
		{"a recording for a model that lacks its first row", v2, func(t *testing.T, dir string) {
			replace("voices/eva.wav", nil)(t, dir)
			remove("bos_before_voice.npy")(t, dir)
		}, "bos_before_voice.npy"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := write(t, c.layout, convert.Tiny())
			c.damage(t, dir)
			m, err := layout.Open(dir, kinds[c.layout])
			if err == nil {
				must(t, m.Close())
				t.Fatal("it was opened")
			}
			if text := err.Error(); !strings.Contains(text, c.want) || strings.Contains(text, "\n") {
				t.Errorf("got %q, want one line with %q", text, c.want)
			}
		})
	}
}

func TestAVoiceThatJustLeavesRoomIsRead(t *testing.T) {
	for _, positions := range []int{1, 715, 716} {
		dir := write(t, layouttest.KevinAHMv2, convert.Tiny())
		replace("voices/raj.safetensors", voice(t, positions, 2))(t, dir)
		m := open(t, dir)
		if got := m.Manifest.Voices[1]; got.Name != "raj" || got.PromptFrames != positions {
			t.Errorf("%+v, want raj with %d positions", got, positions)
		}
	}
}
