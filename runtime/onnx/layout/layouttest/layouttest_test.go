package layouttest

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/swar-tts/swar/runtime/internal/npy"
	"github.com/swar-tts/swar/runtime/internal/ort"
	"github.com/swar-tts/swar/runtime/internal/orttest"
	"github.com/swar-tts/swar/runtime/onnx/bundle"
	"github.com/swar-tts/swar/runtime/onnx/convert"
	"github.com/swar-tts/swar/runtime/tokenize"
)

// small is written once for all tests that only read it.
func write(t *testing.T, layout, precision string) string {
	t.Helper()
	r := convert.Tiny()
	r.Precision = precision
	dir := filepath.Join(t.TempDir(), "model")
	if err := Write(dir, layout, r); err != nil {
		t.Fatal(err)
	}
	return dir
}

// tensor is an array of any of the types that the graphs use.
type tensor struct {
	shape    []int
	floats   []float32
	integers []int64
	truths   []bool
}

func floats(values []float32, shape ...int) *tensor { return &tensor{shape: shape, floats: values} }

func (v *tensor) wrap(t *testing.T) *ort.Tensor {
	t.Helper()
	var w *ort.Tensor
	var err error
	switch {
	case v.integers != nil:
		w, err = ort.Int64s(v.integers, v.shape...)
	case v.truths != nil:
		w, err = ort.Bools(v.truths, v.shape...)
	default:
		w, err = ort.Floats(v.floats, v.shape...)
	}
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// model is a graph that is run with states, as a reader would.
type model struct {
	session         *ort.Session
	inputs, outputs []string
	states          []*tensor
}

func open(t *testing.T, path string, inputs, outputs []string, states []state) *model {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	m := &model{inputs: inputs, outputs: outputs}
	for _, s := range states {
		inputs, outputs = append(inputs, s.Input), append(outputs, s.Output)
		m.states = append(m.states, fresh(s))
	}
	if m.session, err = ort.Open(data, inputs, outputs); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.session.Close(); err != nil {
			t.Error(err)
		}
	})
	return m
}

// fresh makes a state as its description says.
func fresh(s state) *tensor {
	n := 1
	for _, d := range s.Shape {
		n *= d
	}
	v := &tensor{shape: s.Shape}
	switch s.DType {
	case "int64":
		v.integers = make([]int64, n)
	case "bool":
		v.truths = slices.Repeat([]bool{true}, n)
	default:
		v.floats = make([]float32, n)
		for i := range v.floats {
			if s.Fill == "nan" {
				v.floats[i] = float32(math.NaN())
			}
		}
	}
	return v
}

// run gives the inputs and keeps the states; outputs are tensors to write into.
func (m *model) run(t *testing.T, inputs, outputs []*tensor) {
	t.Helper()
	var in, out []*ort.Tensor
	next := make([]*tensor, len(m.states))
	for i, s := range m.states {
		next[i] = &tensor{s.shape, slices.Clone(s.floats), slices.Clone(s.integers), slices.Clone(s.truths)}
	}
	for _, v := range append(slices.Clone(inputs), m.states...) {
		in = append(in, v.wrap(t))
	}
	for _, v := range append(slices.Clone(outputs), next...) {
		out = append(out, v.wrap(t))
	}
	if err := m.session.Run(t.Context(), in, out); err != nil {
		t.Fatal(err)
	}
	for _, v := range append(in, out...) {
		if err := v.Close(); err != nil {
			t.Error(err)
		}
	}
	m.states = next
}

func graphs(layout, precision string) (folder, lm, flow, decoder, encoder string) {
	folder, lm, flow, decoder, encoder = ".", "flow_lm_main", "flow_lm_flow", "mimi_decoder", "mimi_encoder"
	suffix := map[string]string{bundle.FP32: ".onnx", bundle.Int8: "_int8.onnx"}[precision]
	if layout == KevinAHMFlat {
		folder = "onnx"
	}
	if layout == Sherpa {
		lm, flow, decoder, encoder = "lm_main", "lm_flow", "decoder", "encoder.onnx"
		suffix = strings.Replace(suffix, "_int8", ".int8", 1)
		return folder, lm + suffix, flow + suffix, decoder + suffix, encoder
	}
	return folder, lm + suffix, flow + suffix, decoder + suffix, encoder + suffix
}

// manifests returns the states, which do not depend on the layout.
func manifests(t *testing.T) (lm, codec []state) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(write(t, KevinAHMv2, bundle.FP32), "bundle.json"))
	if err != nil {
		t.Fatal(err)
	}
	var d description
	if err := json.Unmarshal(data, &d); err != nil {
		t.Fatal(err)
	}
	return d.LMStates, d.CodecStates
}

// TestEveryLayoutRuns speaks two frames with each: text, the start, one step, the flow, the codec, and hears a
// recording.
func TestEveryLayoutRuns(t *testing.T) {
	orttest.Need(t)
	lmStates, codecStates := manifests(t)
	r := convert.Tiny()
	for _, layout := range Layouts() {
		for _, precision := range []string{bundle.FP32, bundle.Int8} {
			t.Run(layout+" "+precision, func(t *testing.T) {
				dir := write(t, layout, precision)
				folder, lmFile, flowFile, decoderFile, encoderFile := graphs(layout, precision)
				in := filepath.Join(dir, folder)
				words := open(t, filepath.Join(in, "text_conditioner.onnx"), []string{"token_ids"},
					[]string{"embeddings"}, nil)
				lm := open(t, filepath.Join(in, lmFile), []string{"sequence", "text_embeddings"},
					[]string{"conditioning", "eos_logit"}, lmStates)
				flow := open(t, filepath.Join(in, flowFile), []string{"c", "s", "t", "x"}, []string{"flow_dir"}, nil)
				codec := open(t, filepath.Join(in, decoderFile), []string{"latent"}, []string{"audio_frame"},
					codecStates)
				hears := open(t, filepath.Join(in, encoderFile), []string{"audio"}, []string{"latents"}, nil)

				voice := floats(make([]float32, 3*r.Width), 1, 3, r.Width)
				hears.run(t, []*tensor{floats(noise(3*1920), 1, 1, 3*1920)}, []*tensor{voice})
				text := floats(make([]float32, 2*r.Width), 1, 2, r.Width)
				words.run(t, []*tensor{{shape: []int{1, 2}, integers: []int64{260, 300}}}, []*tensor{text})
				h, eos := floats(make([]float32, r.Width), 1, r.Width), floats(make([]float32, 1), 1, 1)
				nothing, silent := floats([]float32{}, 1, 0, r.Latent), floats([]float32{}, 1, 0, r.Width)
				lm.run(t, []*tensor{nothing, voice}, []*tensor{h, eos})
				lm.run(t, []*tensor{nothing, text}, []*tensor{h, eos})
				latent := slices.Repeat([]float32{float32(math.NaN())}, r.Latent)
				for range 2 {
					lm.run(t, []*tensor{floats(latent, 1, 1, r.Latent), silent}, []*tensor{h, eos})
					direction := floats(make([]float32, r.Latent), 1, r.Latent)
					latent = noise(r.Latent)
					flow.run(t, []*tensor{h, floats([]float32{0}, 1, 1), floats([]float32{1}, 1, 1),
						floats(latent, 1, r.Latent)}, []*tensor{direction})
					for i := range latent {
						latent[i] += direction.floats[i]
					}
				}
				audio := floats(make([]float32, 1920), 1, 1, 1920)
				codec.run(t, []*tensor{floats(latent, 1, 1, r.Latent)}, []*tensor{audio})
				if got := lm.states[2].integers[0]; got != 3+2+2 {
					t.Errorf("%d positions, want 7", got)
				}
				for i, want := range map[int]int64{20: 16, 21: 16, 50: 0, 51: 16} {
					// end_offset and offset, of the decoder and of the encoder
					if got := codec.states[i].integers[0]; got != want {
						t.Errorf("%s is %d after a frame, want %d", codecStates[i].Path, got, want)
					}
				}
				if eos.floats[0] != 10 { // Tiny ends by itself: the weight is zero and the bias 10
					t.Errorf("the end is %g, want 10", eos.floats[0])
				}
				for name, v := range map[string][]float32{"latent": latent, "audio": audio.floats,
					"voice": voice.floats} {
					if broken(v) || slices.Max(v) == slices.Min(v) {
						t.Errorf("%s is %v…", name, v[:4])
					}
				}
			})
		}
	}
}

func noise(n int) []float32 {
	draw := rand.New(rand.NewPCG(7, uint64(n)))
	values := make([]float32, n)
	for i := range values {
		values[i] = float32(draw.NormFloat64()) / 4
	}
	return values
}

func broken(values []float32) bool {
	return slices.ContainsFunc(values, func(v float32) bool { return v-v != 0 })
}

// TestSoundsLikeTheBundle compares with the graphs of a bundle of the same model, past the window of the codec.
func TestSoundsLikeTheBundle(t *testing.T) {
	orttest.Need(t)
	lmStates, codecStates := manifests(t)
	dir := write(t, KevinAHMv2, bundle.FP32)
	source, err := convert.Tiny().Source()
	if err != nil {
		t.Fatal(err)
	}
	source.Checkpoint.Positions = 64
	d := source.Checkpoint.Dims()

	t.Run("language model and flow", func(t *testing.T) {
		const count, capacity = 5, 64
		built, err := source.Checkpoint.LM()
		if err != nil {
			t.Fatal(err)
		}
		host, err := source.Checkpoint.Host()
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "lm.onnx")
		if err := os.WriteFile(path, built.Model, 0o644); err != nil {
			t.Fatal(err)
		}
		inputs := []string{"rows", "noise", "lengths", "total"}
		var kv []state
		for i := range d.Layers {
			for _, half := range []string{"K", "V"} {
				name := fmt.Sprint(half, i)
				kv = append(kv, state{Input: name, Output: name + "_out",
					Shape: []int{1, d.Heads, capacity, d.HeadDim}})
			}
		}
		native := open(t, path, inputs, []string{"latent", "h", "eos"}, kv)
		lm := open(t, filepath.Join(dir, "flow_lm_main.onnx"), []string{"sequence", "text_embeddings"},
			[]string{"conditioning", "eos_logit"}, lmStates)
		flow := open(t, filepath.Join(dir, "flow_lm_flow.onnx"), []string{"c", "s", "t", "x"},
			[]string{"flow_dir"}, nil)

		text := noise(count * d.Width)
		h, eos := floats(make([]float32, d.Width), 1, d.Width), floats(make([]float32, 1), 1, 1)
		lm.run(t, []*tensor{floats([]float32{}, 1, 0, d.Latent), floats(text, 1, count, d.Width)}, []*tensor{h, eos})
		latent := slices.Repeat([]float32{float32(math.NaN())}, d.Latent)
		rows := floats(append(slices.Clone(text), host.Start...), 1, count+1, d.Width)
		for step := range 8 {
			lm.run(t, []*tensor{floats(latent, 1, 1, d.Latent), floats([]float32{}, 1, 0, d.Width)}, []*tensor{h, eos})
			z := noise(d.Latent)
			direction := floats(make([]float32, d.Latent), 1, d.Latent)
			flow.run(t, []*tensor{h, floats([]float32{0}, 1, 1), floats([]float32{1}, 1, 1), floats(z, 1, d.Latent)},
				[]*tensor{direction})
			latent = slices.Clone(z)
			for i := range latent {
				latent[i] += direction.floats[i]
			}

			total := int32(count + 1 + step)
			want, wantH, wantEOS := floats(make([]float32, d.Latent), 1, d.Latent),
				floats(make([]float32, d.Width), 1, d.Width), floats(make([]float32, 1), 1, 1)
			native.runCounted(t, []*tensor{rows, floats(z, 1, d.Latent)}, []int32{total - 1}, []int32{total},
				[]*tensor{want, wantH, wantEOS})
			if diff := apart(latent, want.floats); !(diff < 2e-5) {
				t.Fatalf("step %d: latents differ by %g", step, diff)
			}
			if diff := apart(h.floats, wantH.floats); !(diff < 2e-5) {
				t.Fatalf("step %d: states differ by %g", step, diff)
			}
			row := make([]float32, d.Width)
			host.Row(row, latent)
			rows = floats(row, 1, 1, d.Width)
		}
	})

	t.Run("codec", func(t *testing.T) {
		built, err := source.Checkpoint.Codec()
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "codec.onnx")
		if err := os.WriteFile(path, built.Model, 0o644); err != nil {
			t.Fatal(err)
		}
		var states []state
		for _, s := range built.Graph.States {
			states = append(states, state{Input: s.Name, Output: s.Name + "_out", Shape: s.Shape})
		}
		native := open(t, path, []string{"latents", "cos", "sin", "mask"}, []string{"audio"}, states)
		codec := open(t, filepath.Join(dir, "mimi_decoder.onnx"), []string{"latent"}, []string{"audio_frame"},
			codecStates)

		frequencies := bundle.RotationFrequencies(d.CodecRoPE, d.CodecWidth/d.CodecHeads)
		at := 0
		for call, n := range append([]int{1}, slices.Repeat([]int{4}, 18)...) {
			// 73 frames, once around the ring of the exporters
			latents, positions := noise(n*d.Latent), n*d.Upsample
			cos, sin := make([]float32, positions*len(frequencies)), make([]float32, positions*len(frequencies))
			bundle.Rotations(cos, sin, frequencies, at, positions)
			before := d.CodecWindow - 1
			mask := make([]float32, positions*(before+positions))
			for i := range positions {
				for j := range before + positions {
					if j < max(i, before-at) || j > i+before {
						mask[i*(before+positions)+j] = float32(math.Inf(-1))
					}
				}
			}
			at += positions
			got, want := floats(make([]float32, n*1920), 1, 1, n*1920), floats(make([]float32, n*1920), 1, 1, n*1920)
			native.run(t, []*tensor{
				floats(latents, 1, n, d.Latent), floats(cos, positions, len(frequencies)),
				floats(sin, positions, len(frequencies)),
				floats(mask, positions, before+positions),
			}, []*tensor{want})
			codec.run(t, []*tensor{floats(latents, 1, n, d.Latent)}, []*tensor{got})
			if diff := apart(got.floats, want.floats); !(diff < 1e-5) {
				t.Fatalf("call %d: samples differ by %g", call, diff)
			}
		}
	})
}

// runCounted is run for the graph of a bundle, which takes two lists of 32 bits behind its floats and changes its
// states in place.
func (m *model) runCounted(t *testing.T, inputs []*tensor, lengths, total []int32, outputs []*tensor) {
	t.Helper()
	var in, out, kv []*ort.Tensor
	for _, v := range inputs {
		in = append(in, v.wrap(t))
	}
	for _, values := range [][]int32{lengths, total} {
		w, err := ort.Int32s(values, 1)
		if err != nil {
			t.Fatal(err)
		}
		in = append(in, w)
	}
	for _, v := range outputs {
		out = append(out, v.wrap(t))
	}
	for _, v := range m.states {
		kv = append(kv, v.wrap(t))
	}
	if err := m.session.Run(t.Context(), append(in, kv...), append(out, kv...)); err != nil {
		t.Fatal(err)
	}
}

func apart(got, want []float32) float64 {
	worst := 0.0
	for i := range want {
		d := math.Abs(float64(got[i]) - float64(want[i]))
		if math.IsNaN(d) {
			return math.Inf(1)
		}
		worst = max(worst, d)
	}
	return worst
}

// TestNamesAndShapes holds what is known of the published files.
func TestNamesAndShapes(t *testing.T) {
	lm, codec := manifests(t)
	for i, want := range []string{
		"state_0 out_state_0 transformer.layers.0.self_attn/cache [2 1 1000 2 32] float32 nan",
		"state_1 out_state_1 transformer.layers.0.self_attn/current_end [0] float32 empty",
		"state_2 out_state_2 transformer.layers.0.self_attn/step [1] int64 zeros",
	} {
		if got := text(lm[i]); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	if len(lm) != 3*2 || len(codec) != 56 {
		t.Errorf("%d and %d states, want 6 and 56", len(lm), len(codec))
	}
	for i, want := range map[int]string{ // at a width of 32 in place of 512, four filters in place of 64, heads of 16
		0:  "decoder.model.0/first [1] bool ones",
		1:  "decoder.model.0/previous [1 32 6] float32 zeros",
		3:  "decoder.model.11/previous [1 4 2] float32 zeros",
		4:  "decoder.model.2/partial [1 16 6] float32 zeros",
		6:  "decoder.model.3.block.1/previous [1 16 2] float32 zeros",
		8:  "decoder.model.3.block.3/previous [1 8 0] float32 empty",
		9:  "decoder.model.5/partial [1 8 5] float32 zeros",
		14: "decoder.model.8/partial [1 4 4] float32 zeros",
		18: "decoder.model.9.block.3/previous [1 2 0] float32 empty",
		19: "decoder_transformer.transformer.layers.0.self_attn/cache [2 1 2 1000 16] float32 zeros",
		20: "decoder_transformer.transformer.layers.0.self_attn/end_offset [1] int64 zeros",
		21: "decoder_transformer.transformer.layers.0.self_attn/offset [1] int64 zeros",
		26: "downsample.conv/previous [1 32 16] float32 zeros",
		28: "encoder.model.0/previous [1 1 6] float32 zeros",
		34: "encoder.model.11/previous [1 32 2] float32 zeros",
		36: "encoder.model.3/previous [1 4 4] float32 zeros",
		42: "encoder.model.6/previous [1 8 5] float32 zeros",
		48: "encoder.model.9/previous [1 16 6] float32 zeros",
		52: "encoder_transformer.transformer.layers.1.self_attn/cache [2 1 2 1000 16] float32 zeros",
		55: "upsample.convtr/partial [1 32 16] float32 zeros",
	} {
		if got, want := text(codec[i]), fmt.Sprintf("state_%d out_state_%[1]d %s", i, want); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func text(s state) string {
	return fmt.Sprint(s.Input, " ", s.Output, " ", s.Module, "/", s.Key, " ", s.Shape, " ", s.DType, " ", s.Fill)
}

func TestFilesBesideTheGraphs(t *testing.T) {
	dir := write(t, KevinAHMv2, bundle.FP32)
	bos, err := npy.Read(filepath.Join(dir, "bos_before_voice.npy"))
	if err != nil {
		t.Fatal(err)
	}
	if want := []int{1, 1, 64}; !slices.Equal(bos.Shape, want) {
		t.Errorf("bos_before_voice.npy has shape %v, want %v", bos.Shape, want)
	}
	model, err := os.ReadFile(filepath.Join(dir, "tokenizer.model"))
	if err != nil {
		t.Fatal(err)
	}
	tokenizer, err := tokenize.Load(model)
	if err != nil {
		t.Fatal(err)
	}
	var ids map[string]int
	data, err := os.ReadFile(filepath.Join(write(t, Sherpa, bundle.FP32), "vocab.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &ids); err != nil {
		t.Fatal(err)
	}
	if got := tokenizer.Encode(nil, "क"); len(ids) != tokenizer.Size() ||
		!slices.Equal(got, []int32{int32(ids["▁"]), int32(ids["क"])}) {
		t.Errorf("%d pieces in vocab.json and ids %v, want %d and %d, %d", len(ids), got, tokenizer.Size(),
			ids["▁"], ids["क"])
	}
}

func TestWriteRefusesAnUnknownLayout(t *testing.T) {
	if err := Write(t.TempDir(), "sherpa", convert.Tiny()); err == nil ||
		!strings.Contains(err.Error(), "kevinahm-v2") {
		t.Errorf("error %v, want one that lists the layouts", err)
	}
}
