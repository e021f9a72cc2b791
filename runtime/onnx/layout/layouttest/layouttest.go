// Package layouttest writes random models in the public layouts, for tests and benchmarks without the published
// files. Names, shapes, order and structure of the graphs are those of the published ones, and the weights those of
// [convert.SynthRandom], so that both must sound alike.
//
// The graphs of a frame also cost ONNX Runtime what published ones cost. They were compared with what PyTorch's
// TorchScript exporter makes of the same computation and weights: release 1.13, corrected to the nodes of 2.9, with
// the exact GELU of the published files. Optimised, the language model has 984 nodes and its export 987, the flow 232
// and 232, the decoder 444 and 450. They differ in the GELU, in how a mask is filled and in one norm of the decoder.
// In sherpa-onnx 1.13.8 a frame of integers took 29.1 ms of the processor with these graphs and 29.0 ms with the
// exported ones, medians of 21 in turns; with one of the three exported it took 28.9 to 29.2 ms.
package layouttest

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/swar-tts/swar/runtime/onnx/bundle"
	"github.com/swar-tts/swar/runtime/onnx/convert"
	"github.com/swar-tts/swar/runtime/speech"
)

// The layouts that [Write] knows.
const (
	KevinAHMv2   = "kevinahm-v2"   // one folder with bundle.json
	KevinAHMFlat = "kevinahm-flat" // graphs in the folder onnx, the tokenizer beside it
	Sherpa       = "sherpa-onnx"
)

// Layouts lists them.
func Layouts() []string { return []string{KevinAHMv2, KevinAHMFlat, Sherpa} }

// Write writes the model r into dir, which it creates. With integers only the files of integers are written, and
// those that never have them; published folders hold both precisions.
//
// Voices lie in the folder voices, in upstream's form. A sherpa-onnx folder has a recording for each too, in
// test_wavs: sherpa-onnx itself makes a voice of nothing else.
func Write(dir, layout string, r convert.Random) error {
	source, err := r.Source()
	if err != nil {
		return err
	}
	names, ok := map[string]fileNames{
		KevinAHMv2: {folder: ".", lm: "flow_lm_main", flow: "flow_lm_flow", decoder: "mimi_decoder",
			encoder: "mimi_encoder", integers: "_int8"},
		KevinAHMFlat: {folder: "onnx", lm: "flow_lm_main", flow: "flow_lm_flow", decoder: "mimi_decoder",
			encoder: "mimi_encoder", integers: "_int8"},
		Sherpa: {folder: ".", lm: "lm_main", flow: "lm_flow", decoder: "decoder", encoder: "encoder",
			integers: ".int8"},
	}[layout]
	if !ok {
		return fmt.Errorf("layout %q: want one of %q", layout, Layouts())
	}
	lmStates, codecStates, err := names.writeGraphs(dir, layout, &source)
	if err != nil {
		return err
	}
	switch layout {
	case KevinAHMv2:
		err = writeDescription(dir, &source, lmStates, codecStates)
	case Sherpa:
		err = writeVocabulary(dir, r.Pieces())
	}
	if err != nil {
		return err
	}
	if layout == Sherpa {
		err = writeRecordings(dir, &source)
	} else {
		err = os.WriteFile(filepath.Join(dir, "tokenizer.model"), source.Tokenizer, 0o644)
	}
	if err != nil {
		return err
	}
	return writeVoices(dir, &source)
}

// fileNames are the graphs of a layout, without what follows for the precision.
type fileNames struct {
	folder                     string
	lm, flow, decoder, encoder string
	integers                   string
}

func (n fileNames) writeGraphs(dir, layout string, source *convert.Source) (lmStates, codecStates []state, err error) {
	folder := filepath.Join(dir, n.folder)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, nil, err
	}
	const lmOpset, sherpaOpset = 14, 14
	codecOpset := 17
	if layout == Sherpa {
		codecOpset = sherpaOpset
	}
	integers := source.Checkpoint.Precision == bundle.Int8
	states := map[string][]state{}
	for _, g := range []struct {
		name     string
		opset    int
		integers bool
		build    func(*builder)
	}{
		{"text_conditioner", lmOpset, false, textConditioner},
		{n.lm, lmOpset, integers, languageModel},
		{n.flow, lmOpset, integers, flow},
		{n.decoder, codecOpset, integers, decoder},
		{n.encoder, codecOpset, integers && layout != Sherpa, encoder},
	} {
		b := newBuilder(g.name, source, g.opset, g.integers)
		g.build(b)
		model, err := b.bytes()
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", g.name, err)
		}
		states[g.name] = b.states
		name := g.name + ".onnx"
		if g.integers {
			name = g.name + n.integers + ".onnx"
		}
		if err := os.WriteFile(filepath.Join(folder, name), model, 0o644); err != nil {
			return nil, nil, err
		}
	}
	return states[n.lm], states[n.decoder], nil
}

// description is bundle.json.
type description struct {
	Schema               int      `json:"schema_version"`
	Name                 string   `json:"bundle_name"`
	Language             string   `json:"language"`
	SampleRate           int      `json:"sample_rate"`
	FrameRate            float64  `json:"frame_rate"`
	SamplesPerFrame      int      `json:"samples_per_frame"`
	Latent               int      `json:"latent_dim"`
	Conditioning         int      `json:"conditioning_dim"`
	MaxTokens            int      `json:"max_token_per_chunk"`
	PadShort             bool     `json:"pad_with_spaces_for_short_inputs"`
	RemoveSemicolons     bool     `json:"remove_semicolons"`
	FramesAfterEOS       *int     `json:"model_recommended_frames_after_eos"`
	InsertBOSBeforeVoice bool     `json:"insert_bos_before_voice"`
	Tokenizer            string   `json:"tokenizer_file"`
	BOS                  string   `json:"bos_before_voice_file"`
	Voices               []string `json:"predefined_voices"`
	LMStates             []state  `json:"flow_lm_state_manifest"`
	CodecStates          []state  `json:"mimi_state_manifest"`
}

func writeDescription(dir string, source *convert.Source, lmStates, codecStates []state) error {
	c, d := &source.Checkpoint.Config, source.Checkpoint.Dims()
	bos, err := source.Checkpoint.Weights.Floats("flow_lm.bos_before_voice", 1, 1, d.Width)
	if err != nil {
		return err
	}
	about := description{
		Schema: 2, Name: "random", Language: "random", SampleRate: c.Mimi.SampleRate, FrameRate: c.Mimi.FrameRate,
		SamplesPerFrame: speech.FrameSamples, Latent: d.Latent, Conditioning: d.Width,
		MaxTokens: source.Limits.MaxTokens,
		PadShort:  c.PadWithSpacesForShortInputs, RemoveSemicolons: c.RemoveSemicolons,
		FramesAfterEOS:       c.RecommendedFramesAfterEOS,
		InsertBOSBeforeVoice: c.FlowLM.InsertBOSBeforeVoice, Tokenizer: "tokenizer.model", BOS: "bos_before_voice.npy",
		LMStates: lmStates, CodecStates: codecStates,
	}
	for _, v := range source.Voices {
		about.Voices = append(about.Voices, v.Name)
	}
	if err := writeJSON(filepath.Join(dir, "bundle.json"), about); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, about.BOS), array(bos, 1, 1, d.Width), 0o644)
}

func writeJSON(path string, v any) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o644)
}

// array encodes values as a NumPy file.
func array(values []float32, shape ...int) []byte {
	dims := make([]string, len(shape))
	for i, d := range shape {
		dims[i] = strconv.Itoa(d)
	}
	header := fmt.Sprintf("{'descr': '<f4', 'fortran_order': False, 'shape': (%s,), }", strings.Join(dims, ", "))
	const prefix, align = 10, 64
	header += string(bytes.Repeat([]byte(" "), align-1-(prefix+len(header))%align)) + "\n"
	file := append([]byte("\x93NUMPY\x01\x00"), byte(len(header)), byte(len(header)>>8))
	file = append(file, header...)
	for _, v := range values {
		file = binary.LittleEndian.AppendUint32(file, math.Float32bits(v))
	}
	return file
}

// writeVocabulary writes the tokenizer as sherpa-onnx reads it.
func writeVocabulary(dir string, pieces []convert.Piece) error {
	ids, scores := map[string]int{}, map[string]float32{}
	for i, p := range pieces {
		ids[p.Text], scores[p.Text] = i, p.Score
	}
	if err := writeJSON(filepath.Join(dir, "vocab.json"), ids); err != nil {
		return err
	}
	return writeJSON(filepath.Join(dir, "token_scores.json"), scores)
}

func writeVoices(dir string, source *convert.Source) error {
	if err := os.MkdirAll(filepath.Join(dir, "voices"), 0o755); err != nil {
		return err
	}
	d := source.Checkpoint.Dims()
	for _, v := range source.Voices {
		prompt, err := bundle.ReadPrompt(v.Prompt, d)
		if err != nil {
			return err
		}
		var b bytes.Buffer
		if err := bundle.WritePrompt(&b, prompt, d); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, "voices", v.Name+".safetensors"), b.Bytes(), 0o644); err != nil {
			return err
		}
	}
	return nil
}
