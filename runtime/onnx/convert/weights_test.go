package convert

import (
	"encoding/binary"
	"encoding/json"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// raw is a tensor as it lies in a file.
type raw struct {
	dtype string
	shape []int
	bytes []byte
}

func floats(dtype string, shape []int, values []float32) raw {
	r := raw{dtype: dtype, shape: shape}
	for _, v := range values {
		bits := math.Float32bits(v)
		switch dtype {
		case "F32":
			r.bytes = binary.LittleEndian.AppendUint32(r.bytes, bits)
		case "BF16":
			bits += 0x7fff + bits>>16&1 // to the nearest, ties to even
			r.bytes = binary.LittleEndian.AppendUint16(r.bytes, uint16(bits>>16))
		case "F16":
			r.bytes = binary.LittleEndian.AppendUint16(r.bytes, half(v))
		}
	}
	return r
}

// half narrows v to the nearest half; what is too small becomes 0.
func half(v float32) uint16 {
	bits := math.Float32bits(v)
	sign := uint16(bits >> 16 & 0x8000)
	bits &= 0x7fffffff
	bits += 0xfff + bits>>13&1
	exponent := int(bits>>23) - 127 + 15
	if exponent <= 0 {
		return sign
	}
	return sign | uint16(exponent)<<10 | uint16(bits>>13&0x3ff)
}

// checkpointOf returns the tensors of a case in 32 bits.
func checkpointOf(t testing.TB, name string) map[string]raw {
	t.Helper()
	w := caseWeights(t, name)
	all := map[string]raw{}
	for _, n := range w.names() {
		shape, _ := w.shape(n)
		values, err := w.Floats(n, shape...)
		if err != nil {
			t.Fatal(err)
		}
		all[n] = floats("F32", shape, values)
	}
	return all
}

// tensorsFile is a file with that header.
func tensorsFile(header, body string) []byte {
	return append(binary.LittleEndian.AppendUint64(nil, uint64(len(header))), header+body...)
}

func write(t testing.TB, path string, tensors map[string]raw) string {
	t.Helper()
	header, body := map[string]any{}, []byte{}
	for _, name := range slices.Sorted(maps.Keys(tensors)) {
		r := tensors[name]
		header[name] = map[string]any{"dtype": r.dtype, "shape": r.shape,
			"data_offsets": []int{len(body), len(body) + len(r.bytes)}}
		body = append(body, r.bytes...)
	}
	text, err := json.Marshal(header)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, tensorsFile(string(text), string(body)), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestNamesOfTwoFiles(t *testing.T) {
	for stored, want := range map[string]string{
		"condition_provider.conditioners.transcript_in_segment.embed.weight":   "conditioner.embed.weight",
		"condition_provider.conditioners.speaker_wavs.output_proj.weight":      "speaker_proj_weight",
		"condition_provider.conditioners.speaker_wavs.learnt_padding":          "",
		"condition_provider.conditioners.transcript_in_segment.learnt_padding": "",
		"fuser.padding_value":                           "bos_before_voice",
		"num_ema_updates":                               "",
		"flow.w_s_t.weight":                             "",
		"transformer.layers.3.self_attn.in_proj_weight": "transformer.layers.3.self_attn.in_proj.weight",
		"transformer.layers.3.norm1.weight":             "transformer.layers.3.norm1.weight",
	} {
		got, drop := languageModelName(stored)
		if drop != (want == "") || !drop && got != want {
			t.Errorf("language model: %s became %q, %v; want %q", stored, got, drop, want)
		}
	}
	for stored, want := range map[string]string{
		"model.quantizer.vq.layers.0.codebook":                              "",
		"quantizer.acoustic._codebook.embed":                                "",
		"quantizer.logvar_proj.weight":                                      "",
		"model.quantizer.logvar_proj.weight":                                "",
		"quantizer.logvar_param":                                            "",
		"wavlm_proj.weight":                                                 "",
		"wavlm_emb_downsample.conv.conv.conv.weight":                        "",
		"model.decoder.model.0.conv.conv.weight_v":                          "decoder.model.0.conv.weight_v",
		"decoder.model.2.convtr.convtr.bias":                                "decoder.model.2.convtr.bias",
		"decoder.model.2.convtr.bias":                                       "decoder.model.2.convtr.bias",
		"model.downsample.conv.conv.conv.weight":                            "downsample.conv.conv.weight",
		"downsample.conv.conv.weight":                                       "downsample.conv.conv.weight",
		"upsample.convtr.convtr.convtr.weight":                              "upsample.convtr.convtr.weight",
		"upsample.convtr.convtr.weight":                                     "upsample.convtr.convtr.weight",
		"model.quantizer.output_proj.weight":                                "quantizer.output_proj.weight",
		"decoder_transformer.transformer.layers.0.self_attn.in_proj_weight": "decoder_transformer.transformer.layers.0.self_attn.in_proj.weight",
	} {
		got, drop := codecName(stored)
		if drop != (want == "") || !drop && got != want {
			t.Errorf("codec: %s became %q, %v; want %q", stored, got, drop, want)
		}
	}
}

// asTrained splits a checkpoint in two files under the names of training, the codec with directions and lengths.
func asTrained(t testing.TB, dir string, all map[string]raw) (model, codec string) {
	t.Helper()
	lm, mimi := map[string]raw{}, map[string]raw{}
	for name, r := range all {
		if bare, ok := strings.CutPrefix(name, "flow_lm."); ok {
			bare = strings.Replace(bare, ".in_proj.weight", ".in_proj_weight", 1)
			for to, from := range map[string]string{
				"condition_provider.conditioners.transcript_in_segment.embed.weight": "conditioner.embed.weight",
				"condition_provider.conditioners.speaker_wavs.output_proj.weight":    "speaker_proj_weight",
				"fuser.padding_value": "bos_before_voice",
			} {
				if bare == from {
					bare = to
				}
			}
			lm[bare] = r
			continue
		}
		bare := "model." + strings.TrimPrefix(name, "mimi.")
		if strings.Contains(bare, "downsample") || strings.Contains(bare, "upsample") {
			bare = strings.Replace(strings.Replace(bare, ".conv.conv.", ".conv.conv.conv.", 1), ".convtr.convtr.",
				".convtr.convtr.convtr.", 1)
		} else {
			bare = strings.Replace(strings.Replace(bare, ".conv.", ".conv.conv.", 1), ".convtr.", ".convtr.convtr.", 1)
		}
		bare = strings.Replace(bare, ".in_proj.weight", ".in_proj_weight", 1)
		if strings.HasSuffix(bare, ".conv.weight") || strings.HasSuffix(bare, ".convtr.weight") {
			mimi[bare+"_v"], mimi[bare+"_g"] = split(r)
			continue
		}
		mimi[bare] = r
	}
	lm["num_ema_updates"] = floats("F32", []int{1}, []float32{7})
	lm["flow.w_s_t.weight"] = floats("F32", []int{1}, []float32{7})
	mimi["model.quantizer.vq.layers.0._codebook.embed"] = floats("F32", []int{1}, []float32{7})
	mimi["wavlm_proj.weight"] = floats("F32", []int{1}, []float32{7})
	return write(t, filepath.Join(dir, "lm.safetensors"), lm), write(t, filepath.Join(dir, "mimi.safetensors"), mimi)
}

// split stores a weight as twice its direction and its length, a length for each slice of the first dimension.
func split(r raw) (direction, length raw) {
	rows := r.shape[0]
	n := len(r.bytes) / 4 / rows
	lengths, shape := make([]float32, rows), []int{rows}
	direction = raw{"F32", r.shape, nil}
	for i := range rows {
		sum := 0.0
		for j := range n {
			v := math.Float32frombits(binary.LittleEndian.Uint32(r.bytes[4*(i*n+j):]))
			sum += float64(v) * float64(v)
			direction.bytes = binary.LittleEndian.AppendUint32(direction.bytes, math.Float32bits(2*v))
		}
		lengths[i] = float32(math.Sqrt(sum))
	}
	for range len(r.shape) - 1 {
		shape = append(shape, 1)
	}
	return direction, floats("F32", shape, lengths)
}

func TestTwoFilesEqualOne(t *testing.T) {
	const name = "01-v2-tanh"
	all, dir := checkpointOf(t, name), t.TempDir()
	config := caseConfig(t, name)
	model, codec := asTrained(t, dir, all)
	whole := write(t, filepath.Join(dir, "whole.safetensors"), all)
	alone := map[string]raw{}
	for name, r := range all {
		if strings.HasPrefix(name, "flow_lm.") {
			alone[name] = r
		}
	}
	for form, files := range map[string][2]string{
		"the names of training":                           {model, codec},
		"a language model and the codec of a whole model": {write(t, filepath.Join(dir, "flow_lm.safetensors"), alone), whole},
	} {
		w, err := openWeights(files[0], files[1])
		if err != nil {
			t.Fatal(err)
		}
		if err := w.check(&config); err != nil {
			t.Errorf("%s: %v", form, err)
		}
		if got, want := w.names(), slices.Sorted(maps.Keys(all)); !slices.Equal(got, want) {
			t.Fatalf("%s: names %v, want %v", form, got, want)
		}
		worst := 0.0
		for _, n := range w.names() {
			got, err := w.Floats(n, all[n].shape...)
			if err != nil {
				t.Fatal(err)
			}
			want := make([]float64, len(got))
			for i := range want {
				want[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(all[n].bytes[4*i:])))
			}
			worst = max(worst, apart(t, doubles(got), want))
		}
		if !(worst < 1e-6) {
			t.Errorf("%s: weights are off by %g", form, worst)
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestWeightsThatAreRefused(t *testing.T) {
	const name = "01-v2-tanh"
	all := checkpointOf(t, name)
	config := caseConfig(t, name)
	one := floats("F32", []int{1}, []float32{1})
	tests := map[string]struct {
		change func(dir string, all map[string]raw) (model, codec string)
		want   string
	}{
		"a pickle":            {func(string, map[string]raw) (string, string) { return "model.pt", "" }, "pickle"},
		"another kind":        {func(string, map[string]raw) (string, string) { return "model.onnx", "" }, "not a .safetensors"},
		"a file that is away": {func(dir string, _ map[string]raw) (string, string) { return dir + "/x.safetensors", "" }, "no such file"},
		"a weight that is missing": {func(dir string, all map[string]raw) (string, string) {
			delete(all, "flow_lm.out_norm.bias")
			return write(t, dir+"/m.safetensors", all), ""
		}, "flow_lm.out_norm.bias is missing"},
		"a codec that is missing": {func(dir string, all map[string]raw) (string, string) {
			maps.DeleteFunc(all, func(name string, _ raw) bool { return strings.HasPrefix(name, "mimi.") })
			return write(t, dir+"/m.safetensors", all), ""
		}, "more are missing"},
		"a weight that nobody knows": {func(dir string, all map[string]raw) (string, string) {
			all["flow_lm.adapter.weight"] = one
			return write(t, dir+"/m.safetensors", all), ""
		}, "flow_lm.adapter.weight is unknown"},
		"a layer too many": {func(dir string, all map[string]raw) (string, string) {
			for _, p := range layerParts("flow_lm.transformer.layers.2.", 128, 256) {
				all[p.name] = floats("F32", p.shape, make([]float32, size(p.shape)))
			}
			return write(t, dir+"/m.safetensors", all), ""
		}, "5 more are unknown"},
		"another shape": {func(dir string, all map[string]raw) (string, string) {
			all["flow_lm.bos_emb"] = one
			return write(t, dir+"/m.safetensors", all), ""
		}, "flow_lm.bos_emb has shape [1]"},
		"an encoder of another shape": {func(dir string, all map[string]raw) (string, string) {
			all["mimi.encoder.model.0.conv.bias"] = one
			return write(t, dir+"/m.safetensors", all), ""
		}, "mimi.encoder.model.0.conv.bias has shape [1]"},
		"two codecs": {func(dir string, all map[string]raw) (string, string) {
			file := write(t, dir+"/m.safetensors", all)
			return file, file
		}, "name no other"},
		"one weight under two names": {func(dir string, all map[string]raw) (string, string) {
			model, codec := asTrained(t, dir, all)
			return write(t, model, map[string]raw{"bos_before_voice": one, "fuser.padding_value": one}), codec
		}, "both flow_lm.bos_before_voice"},
		"a length without direction": {func(dir string, all map[string]raw) (string, string) {
			model, codec := asTrained(t, dir, all)
			return model, write(t, codec, map[string]raw{"decoder.model.0.conv.conv.weight_g": one})
		}, "weight_v is missing"},
		"a direction without length": {func(dir string, all map[string]raw) (string, string) {
			model, codec := asTrained(t, dir, all)
			return model, write(t, codec, map[string]raw{"decoder.model.0.conv.conv.weight_v": one})
		}, "weight_g is missing"},
	}
	for name, tt := range tests {
		model, codec := tt.change(t.TempDir(), maps.Clone(all))
		w, err := openWeights(model, codec)
		if err == nil {
			err = w.check(&config)
			defer w.Close()
		}
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want one with %q", name, err, tt.want)
		}
	}
}

func TestWeightsThatAreNoNumbersAreNamed(t *testing.T) {
	dir := t.TempDir()
	for name, v := range map[string]float32{"nan": float32(math.NaN()), "inf": float32(math.Inf(-1))} {
		w, err := openWeights(write(t, filepath.Join(dir, name+".safetensors"),
			map[string]raw{"flow_lm.bos_emb": floats("F32", []int{2}, []float32{1, v})}), "")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Floats("flow_lm.bos_emb", 2); err == nil ||
			!strings.Contains(err.Error(), "flow_lm.bos_emb holds") {
			t.Errorf("%s: error %v, want one that names the tensor", name, err)
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}
}
