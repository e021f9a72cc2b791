package onnx

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/swar-tts/swar/runtime/onnx/bundle"
	"github.com/swar-tts/swar/runtime/onnx/convert"
	"github.com/swar-tts/swar/runtime/onnx/internal/npy"
)

// vector is a case of testdata.
type vector struct {
	dir        string
	checkpoint *convert.Checkpoint
	manifest   bundle.Manifest // dims and limits; the graphs are added by the tests
	Model      struct {
		GELU string `json:"gelu"`
	} `json:"model"`
	Runs []run `json:"runs"`
}

type run struct {
	Name        string  `json:"name"`
	Text        string  `json:"text"`
	Prepared    string  `json:"prepared_text"`
	Temperature float64 `json:"temperature"`
	Steps       int     `json:"lsd_steps"`
	Threshold   float64 `json:"eos_threshold"`
	MinFrames   int     `json:"min_frames_before_eos"`
	FramesAfter int     `json:"frames_after_eos"`
	MaxFrames   int     `json:"max_frames"`
	LatentsFrom string  `json:"latents_from"`
	Expect      struct {
		Steps   int  `json:"steps_computed"`
		Frames  int  `json:"frames"`
		EOSStep *int `json:"eos_step"`
		EOS     bool `json:"eos"`
	} `json:"expect"`
	Files map[string]string `json:"files"`
}

func load(t testing.TB, name string) *vector {
	t.Helper()
	v := &vector{dir: filepath.Join("testdata", name)}
	if err := json.Unmarshal(file(t, v.dir, "case.json"), v); err != nil {
		t.Fatal(err)
	}
	config, err := convert.ReadConfig(file(t, v.dir, "config.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	v.checkpoint = &convert.Checkpoint{Weights: weights(t, name), Config: config, GELU: v.Model.GELU, Steps: 1, Positions: 400}
	return v
}

// weights opens the weights of a case; those of case 07 are case 01's, rounded to 16 bits and stored so.
func weights(t testing.TB, name string) *bundle.Tensors {
	t.Helper()
	if name != "07-bf16" {
		return tensors(t, file(t, filepath.Join("testdata", name), "model.safetensors"))
	}
	return tensors(t, rounded(t, weights(t, "01-v2-tanh")))
}

// rounded is a checkpoint of 16 bits.
func rounded(t testing.TB, full *bundle.Tensors) []byte {
	t.Helper()
	type described struct {
		Dtype   string `json:"dtype"`
		Shape   []int  `json:"shape"`
		Offsets [2]int `json:"data_offsets"`
	}
	header, body := map[string]described{}, []byte{}
	for _, name := range full.Names() {
		shape, _ := full.Shape(name)
		values, err := full.Floats(name, shape...)
		if err != nil {
			t.Fatal(err)
		}
		begin := len(body)
		for _, v := range values {
			bits := math.Float32bits(v)
			bits += 0x7fff + bits>>16&1 // to the nearest, ties to even
			body = binary.LittleEndian.AppendUint16(body, uint16(bits>>16))
		}
		header[name] = described{"BF16", shape, [2]int{begin, len(body)}}
	}
	text, err := json.Marshal(header)
	if err != nil {
		t.Fatal(err)
	}
	data := append(binary.LittleEndian.AppendUint64(nil, uint64(len(text))), text...)
	return append(data, body...)
}

func tensors(t testing.TB, data []byte) *bundle.Tensors {
	t.Helper()
	x, err := bundle.ReadTensors(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func file(t testing.TB, dir, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func (v *vector) array(t testing.TB, name string) npy.Array {
	t.Helper()
	a, err := npy.Read(filepath.Join(v.dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func (v *vector) tokens(t testing.TB, r run) []int32 {
	t.Helper()
	var ids []int32
	for _, id := range v.array(t, r.Files["tokens"]).Ints {
		ids = append(ids, int32(id))
	}
	return ids
}

// open builds the language model of the case with the given number of flow steps and its voice, called v.
func (v *vector) open(t testing.TB, steps int) *lm {
	t.Helper()
	c := *v.checkpoint
	c.Steps = steps
	model, err := c.LM()
	if err != nil {
		t.Fatal(err)
	}
	flow, err := c.FlowHead()
	if err != nil {
		t.Fatal(err)
	}
	host, err := c.Host()
	if err != nil {
		t.Fatal(err)
	}
	v.manifest.Dims, v.manifest.Flow.Steps = c.Dims(), steps
	v.manifest.LM, v.manifest.FlowHead = model.Graph, flow.Graph
	prompts := map[string]*bundle.Prompt{"v": v.prompt(t, "voice.safetensors")}
	l, err := openLM(&v.manifest, host, prompts, model.Model, flow.Model)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

func (v *vector) prompt(t testing.TB, name string) *bundle.Prompt {
	t.Helper()
	p, err := bundle.ReadPrompt(tensors(t, file(t, v.dir, name)), v.checkpoint.Dims())
	if err != nil {
		t.Fatal(err)
	}
	return &p
}

// apart returns the largest difference between two arrays, which is infinite when one holds what is not a number.
func apart(t testing.TB, got, want []float32) float64 {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d values, want %d", len(got), len(want))
	}
	return distance(got, want)
}
