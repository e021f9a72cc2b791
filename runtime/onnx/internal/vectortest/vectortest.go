// Package vectortest opens the golden vectors of testdata for the tests of the packages beside it.
package vectortest

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/swar-tts/swar/runtime/internal/npy"
	"github.com/swar-tts/swar/runtime/onnx/bundle"
	"github.com/swar-tts/swar/runtime/onnx/convert"
	"github.com/swar-tts/swar/runtime/safetensors"
)

// Case is a case of testdata.
type Case struct {
	Dir        string
	Checkpoint *convert.Checkpoint // in fp32, with one step of the flow
	Model      struct {
		GELU string `json:"gelu"`
	} `json:"model"`
	Runs []Run `json:"runs"`
}

// Run is one text that the reference has spoken.
type Run struct {
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

// Dir returns the folder of a case, from the package whose test is running.
func Dir(t testing.TB, name string) string {
	t.Helper()
	for _, up := range []string{".", "..", filepath.Join("..", "..")} {
		dir := filepath.Join(up, "testdata", name)
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			return dir
		}
	}
	t.Fatalf("there is no testdata/%s in this package or above it", name)
	return ""
}

// Load opens a case.
func Load(t testing.TB, name string) *Case {
	t.Helper()
	v := &Case{Dir: Dir(t, name)}
	if err := json.Unmarshal(File(t, v.Dir, "case.json"), v); err != nil {
		t.Fatal(err)
	}
	config, err := convert.ReadConfig(File(t, v.Dir, "config.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	v.Checkpoint = &convert.Checkpoint{Weights: Weights(t, name), Config: config, GELU: v.Model.GELU, Steps: 1,
		Positions: 400}
	return v
}

// Weights opens the weights of a case. Those of case 07 are case 01's, rounded to and stored in 16 bits.
func Weights(t testing.TB, name string) *safetensors.Tensors {
	t.Helper()
	if name != "07-bf16" {
		return Tensors(t, File(t, Dir(t, name), "model.safetensors"))
	}
	return Tensors(t, Rounded(t, Weights(t, "01-v2-tanh")))
}

// Rounded is a checkpoint of 16 bits.
func Rounded(t testing.TB, full *safetensors.Tensors) []byte {
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

// Tensors opens a safetensors file.
func Tensors(t testing.TB, data []byte) *safetensors.Tensors {
	t.Helper()
	x, err := safetensors.Read(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// File reads a file.
func File(t testing.TB, dir, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// Array reads an array of the case.
func (v *Case) Array(t testing.TB, name string) npy.Array {
	t.Helper()
	a, err := npy.Read(filepath.Join(v.Dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// Tokens reads the token ids of a run.
func (v *Case) Tokens(t testing.TB, r Run) []int32 {
	t.Helper()
	var ids []int32
	for _, id := range v.Array(t, r.Files["tokens"]).Ints {
		ids = append(ids, int32(id))
	}
	return ids
}

// Prompt reads a stored voice of the case.
func (v *Case) Prompt(t testing.TB, name string) *bundle.Prompt {
	t.Helper()
	p, err := bundle.ReadPrompt(Tensors(t, File(t, v.Dir, name)), v.Checkpoint.Dims())
	if err != nil {
		t.Fatal(err)
	}
	return &p
}

// Apart returns the largest difference between two arrays, which is infinite when one holds what is not a number.
func Apart(t testing.TB, got, want []float32) float64 {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d values, want %d", len(got), len(want))
	}
	worst := 0.0
	for i := range got {
		far := math.Abs(float64(got[i]) - float64(want[i]))
		if math.IsNaN(far) {
			return math.Inf(1)
		}
		worst = max(worst, far)
	}
	return worst
}
