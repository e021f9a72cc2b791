package layout_test

import (
	"bytes"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/swar-tts/swar/runtime/internal/orttest"
	"github.com/swar-tts/swar/runtime/onnx/bundle"
	"github.com/swar-tts/swar/runtime/onnx/convert"
	"github.com/swar-tts/swar/runtime/onnx/layout"
	"github.com/swar-tts/swar/runtime/onnx/layout/layouttest"
	"github.com/swar-tts/swar/runtime/safetensors"
)

func tiny() convert.Random { return convert.Tiny() }

// first returns what a model says first with a voice.
func first(t *testing.T, m *layout.Model, voice string) []float32 {
	t.Helper()
	s := newSequence(t, m)
	must(t, errors.Join(s.Begin(voice), s.Prefill(t.Context(), []int32{300, 301})))
	said, _ := s.State()
	return slices.Clone(said)
}

func positions(m *layout.Model) map[string]int {
	n := map[string]int{}
	for _, v := range m.Manifest.Voices {
		n[v.Name] = v.PromptFrames
	}
	return n
}

func TestRecordingsBecomeVoices(t *testing.T) {
	orttest.Need(t)
	dir := write(t, layouttest.Sherpa, tiny())
	remove("voices")(t, dir)
	sherpa := open(t, dir) // from test_wavs, where there is nothing else
	frames := positions(sherpa)["raj"]
	if len(positions(sherpa)) != 2 || frames < 2 {
		t.Fatalf("voices %v, want both recordings", positions(sherpa))
	}
	recording, err := os.ReadFile(filepath.Join(dir, "test_wavs", "raj.wav"))
	must(t, err)

	// The same recording in a layout of the second generation, whose voices begin with one row more, and in one of the
	// first.
	v2, flat := write(t, layouttest.KevinAHMv2, tiny()), write(t, layouttest.KevinAHMFlat, tiny())
	replace("voices/new.wav", recording)(t, v2)
	replace("voices/new.wav", recording)(t, flat)
	second, one := open(t, v2), open(t, flat)
	if got := positions(second)["new"]; got != frames+1 {
		t.Errorf("%d positions of %d frames, want one more", got, frames)
	}
	if got := positions(one)["new"]; got != frames {
		t.Errorf("%d positions of %d frames", got, frames)
	}
	want := first(t, sherpa, "raj")
	if d := apart(first(t, one, "new"), want); !(d <= 1e-6) {
		t.Errorf("the same recording is %.1e apart in two layouts of the same graphs", d)
	}
	if d := apart(first(t, second, "new"), want); !(d > 1e-3) {
		t.Errorf("the row before a voice makes no difference: %.1e apart", d)
	}

	// The file that holds that row makes a flat model one of the second generation.
	row, err := os.ReadFile(filepath.Join(v2, "bos_before_voice.npy"))
	must(t, err)
	replace("bos_before_voice.npy", row)(t, flat)
	with := open(t, flat)
	if d := apart(first(t, with, "new"), first(t, second, "new")); !(d <= 1e-6) || !with.Manifest.BOS {
		t.Errorf("a flat model with the row is %.1e apart from a described one", d)
	}
}

func TestStoredVoicesAreFoundWhereTheyArePublished(t *testing.T) {
	orttest.Need(t)
	stored := voice(t, 9, 2)
	for _, place := range []string{"embeddings", "../embeddings", "../../embeddings", "languages/random/embeddings",
		"../../languages/random/embeddings"} {
		root := filepath.Join(t.TempDir(), "models")
		dir := filepath.Join(root, "onnx", "random")
		must(t, layouttest.Write(dir, layouttest.KevinAHMv2, tiny()))
		remove("voices")(t, dir)
		replace(filepath.Join(place, "eva.safetensors"), stored)(t, dir)
		if got := positions(open(t, dir)); len(got) != 1 || got["eva"] != 9 {
			t.Errorf("%s: voices %v, want eva", place, got)
		}
	}
}

func TestTheNearestVoicesCount(t *testing.T) {
	orttest.Need(t)
	dir := filepath.Join(t.TempDir(), "models", "random")
	must(t, layouttest.Write(dir, layouttest.KevinAHMv2, tiny()))
	remove("voices")(t, dir)
	replace("embeddings/eva.safetensors", voice(t, 9, 2))(t, dir)
	replace("../embeddings/of-another-model.safetensors", voice(t, 9, 2))(t, dir)
	replace("voices/mine.safetensors", voice(t, 8, 2))(t, dir)
	replace("voices/eva.safetensors", voice(t, 7, 2))(t, dir)
	if got := positions(open(t, dir)); len(got) != 2 || got["eva"] != 9 || got["mine"] != 8 {
		t.Errorf("voices %v, want eva of 9 positions and mine of 8", got)
	}
}

func TestEveryFormOfAStoredVoiceReadsTheSame(t *testing.T) {
	orttest.Need(t)
	dir := write(t, layouttest.KevinAHMv2, tiny())
	tensors, file, err := safetensors.Open(filepath.Join(dir, "voices", "raj.safetensors"))
	must(t, err)
	defer file.Close()
	store := func(name string, longer int, count func(module string) safetensors.Tensor, more ...safetensors.Tensor) {
		var all []safetensors.Tensor
		for _, module := range []string{"transformer.layers.0.self_attn", "transformer.layers.1.self_attn"} {
			cache, err := tensors.Floats(module+"/cache", 2, 1, 12, 2, 32)
			must(t, err)
			half := len(cache) / 2
			behind := make([]float32, longer*64)
			for i := range behind {
				behind[i] = float32(math.NaN())
			}
			all = append(all, safetensors.Tensor{
				Name: module + "/cache", Shape: []int{2, 1, 12 + longer, 2, 32},
				Floats: slices.Concat(cache[:half], behind, cache[half:], behind),
			}, count(module))
		}
		var b bytes.Buffer
		must(t, safetensors.Write(&b, append(all, more...)...))
		replace("voices/"+name+".safetensors", b.Bytes())(t, dir)
	}
	number := func(key string, v int64) func(string) safetensors.Tensor {
		return func(module string) safetensors.Tensor {
			return safetensors.Tensor{Name: module + "/" + key, Shape: []int{1}, Ints: []int64{v}}
		}
	}
	store("longer", 5, number("offset", 12))
	store("step", 0, number("step", 12))
	store("end", 3, func(module string) safetensors.Tensor {
		return safetensors.Tensor{Name: module + "/current_end", Shape: []int{12}, Floats: make([]float32, 12)}
	})
	store("pad", 0, number("offset", 12), number("pad", 0)("transformer.layers.1.self_attn"))
	m := open(t, dir)
	want := first(t, m, "raj")
	for _, name := range []string{"longer", "step", "end", "pad"} {
		if got := first(t, m, name); !slices.Equal(got, want) {
			t.Errorf("%s is %.1e apart", name, apart(got, want))
		}
	}
}

func TestVoicesOfTheFirstFormAreRead(t *testing.T) {
	orttest.Need(t)
	rows := slices.Concat(draws(7, 64, 1)...)
	var file bytes.Buffer
	must(t, safetensors.Write(&file, safetensors.Tensor{Name: "audio_prompt", Shape: []int{1, 7, 64}, Floats: rows}))
	flat, v2 := write(t, layouttest.KevinAHMFlat, tiny()), write(t, layouttest.KevinAHMv2, tiny())
	for dir, want := range map[string]int{flat: 7, v2: 8} { // the second generation puts a row before it
		replace("embeddings/eva.safetensors", file.Bytes())(t, dir)
		m := open(t, dir)
		if got := positions(m)["eva"]; got != want {
			t.Errorf("%d positions, want %d", got, want)
		}
		if dir != flat {
			continue
		}
		// The language model of a bundle, behind no voice, reads the same rows.
		bundled := writeNative(t, tiny())
		bundled.begin("raj")
		bundled.length = 0
		noise := make([]float32, m.Manifest.Dims.Latent)
		bundled.run(rows, noise)
		bundled.prefill([]int32{300, 301}, noise)
		if d := apart(first(t, m, "eva"), bundled.h); !(d <= 1e-4) {
			t.Errorf("the voice is %.1e apart from the one that a bundle makes of the same rows", d)
		}
	}
}

func TestIntegersAreTakenWhereThereAreBoth(t *testing.T) {
	orttest.Need(t)
	for name, lm := range map[string]string{
		layouttest.KevinAHMv2: "flow_lm_main_int8.onnx", layouttest.KevinAHMFlat: "onnx/flow_lm_main_int8.onnx",
		layouttest.Sherpa: "lm_main.int8.onnx",
	} {
		dir := write(t, name, tiny())
		floats, _ := open(t, dir).Bytes()
		r := tiny()
		r.Precision = bundle.Int8
		must(t, layouttest.Write(dir, name, r)) // beside the others
		m := open(t, dir)
		if integers, _ := m.Bytes(); m.Manifest.Precision != bundle.Int8 || integers >= floats {
			t.Errorf("%s: %s, %d bytes against %d, want the smaller ones", name, m.Manifest.Precision, integers, floats)
		}
		remove(lm)(t, dir)
		if m := open(t, dir); m.Manifest.Precision != bundle.FP32 {
			t.Errorf("%s: %s without integers", name, m.Manifest.Precision)
		}
	}
}
