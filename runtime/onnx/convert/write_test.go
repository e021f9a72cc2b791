package convert

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/swar-tts/swar/runtime/onnx/bundle"
)

func TestSynthRandomWritesABundleThatIsWhole(t *testing.T) {
	dir := t.TempDir()
	want, err := SynthRandom(dir, Tiny())
	if err != nil {
		t.Fatal(err)
	}
	m, err := bundle.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := bundle.Verify(dir, m); err != nil {
		t.Error(err)
	}
	if m.Model.ID != want.Model.ID || len(m.Voices) != 2 || m.Voices[0].PromptFrames != Tiny().PromptFrames ||
		m.Limits.Positions != 12+50+234 {
		t.Errorf("manifest %+v", m)
	}
	bytes := int64(0)
	for _, f := range m.Files() {
		bytes += f.Bytes
	}
	if bytes > 1<<20 {
		t.Errorf("%d bytes, want a tiny bundle of less than 1 MiB", bytes)
	}
	if _, err := SynthRandom(dir, Tiny()); err == nil || !strings.Contains(err.Error(), "already") {
		t.Errorf("a bundle was written over another: %v", err)
	}
}

func TestSynthRandomIsTheSameEveryTime(t *testing.T) {
	hashes := func(r Random) []string {
		t.Helper()
		m, err := SynthRandom(t.TempDir(), r)
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, f := range m.Files() {
			all = append(all, f.SHA256)
		}
		return all
	}
	other := Tiny()
	other.Seed++
	a, b, c := hashes(Tiny()), hashes(Tiny()), hashes(other)
	if !slices.Equal(a, b) {
		t.Error("the same description gave two bundles")
	}
	for i, name := range []string{"lm", "flow head", "codec", "host"} {
		if a[i] == c[i] {
			t.Errorf("another seed gave the same %s", name)
		}
	}
	if a[4] != c[4] {
		t.Error("the tokenizer depends on the seed")
	}
}

func TestARandomModelIsKnownByTheHashOfItsWeights(t *testing.T) {
	hash := func(change func(*Random)) string {
		t.Helper()
		r := Tiny()
		change(&r)
		m, err := SynthRandom(t.TempDir(), r)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range m.Voices {
			if v.Weights != m.Model.Weights {
				t.Errorf("voice %s belongs to weights %s, the model's are %s", v.Name, v.Weights, m.Model.Weights)
			}
		}
		return m.Model.Weights
	}
	want := hash(func(*Random) {})
	for sentence, tt := range map[string]struct {
		change func(*Random)
		same   bool
	}{
		"the same description":      {func(*Random) {}, true},
		"integers are made of them": {func(r *Random) { r.Precision = bundle.Int8 }, true},
		"the flow takes more steps": {func(r *Random) { r.FlowSteps = 3 }, true},
		"the voices are longer":     {func(r *Random) { r.PromptFrames++ }, true},
		"another seed":              {func(r *Random) { r.Seed++ }, false},
		"another size":              {func(r *Random) { r.Layers++ }, false},
		"speech that never ends":    {func(r *Random) { r.Ends = false }, false},
	} {
		if got := hash(tt.change); (got == want) != tt.same {
			t.Errorf("%s: hash %s beside %s, want the same: %v", sentence, got, want, tt.same)
		}
	}
}

func TestTheHashOfWeightsIsWhatItSays(t *testing.T) {
	w := &hashedWeights{Weights: &randomWeights{seed: 1}, sums: map[string][sha256.Size]byte{}}
	var lines string
	for _, name := range []string{"a", "b"} {
		values, err := w.Weights.Floats(name, 5000) // more than one block
		if err != nil {
			t.Fatal(err)
		}
		data := []byte("5000\n")
		for _, v := range values {
			data = binary.LittleEndian.AppendUint32(data, math.Float32bits(v))
		}
		lines += fmt.Sprintf("%s %x\n", name, sha256.Sum256(data))
	}
	for _, name := range []string{"b", "a", "b"} {
		if _, err := w.Floats(name, 5000); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := w.sum(), fmt.Sprintf("%x", sha256.Sum256([]byte(lines))); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestSynthRandomRefusesSizesThatDoNotFit(t *testing.T) {
	r := Tiny()
	r.Heads = 3
	if _, err := SynthRandom(t.TempDir(), r); err == nil || !strings.Contains(err.Error(), "heads") {
		t.Errorf("error %v, want one about heads", err)
	}
}

// without lacks one weight.
type without struct {
	Weights
	name string
}

func (w without) Floats(name string, shape ...int) ([]float32, error) {
	if name == w.name {
		return nil, errors.New("tensor " + name + " is missing")
	}
	return w.Weights.Floats(name, shape...)
}

func TestWriteNamesTheWeightThatIsMissing(t *testing.T) {
	config, err := ReadConfig([]byte(configText(t)))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{
		"flow_lm.conditioner.embed.weight", "flow_lm.bos_emb", "flow_lm.transformer.layers.1.linear2.weight", "flow_lm.out_eos.bias",
		"flow_lm.flow_net.time_embed.1.freqs", "flow_lm.flow_net.time_embed.0.mlp.3.alpha", "flow_lm.flow_net.res_blocks.1.in_ln.bias",
		"mimi.upsample.convtr.convtr.weight", "mimi.decoder.model.5.convtr.bias",
		"mimi.decoder_transformer.transformer.layers.0.layer_scale_2.scale",
	} {
		dir := t.TempDir()
		c := Checkpoint{Weights: without{&randomWeights{seed: 1}, name}, Config: config, GELU: "tanh", Steps: 1}
		prompt, err := randomPrompt(c.Dims(), 3, 1)
		if err != nil {
			t.Fatal(err)
		}
		_, err = Write(dir, Source{
			Checkpoint: c, Limits: DefaultLimits(), Sampling: DefaultSampling(config), Tokenizer: []byte("x"),
			Model:  bundle.Model{ID: "m", Weights: strings.Repeat("ab", 32)},
			Voices: []SourceVoice{{Name: "v", Language: "hi-IN", Prompt: prompt}},
		})
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("error %v, want one that names %s", err, name)
		}
		if _, err := os.Stat(filepath.Join(dir, bundle.ManifestFile)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("without %s: a manifest was written", name)
		}
	}
}

func TestDefaultTextSortsLongReplacementsFirst(t *testing.T) {
	got := DefaultText(Config{ReplaceCharacters: map[string]string{"b": "1", "a": "2", "ab": "3"}}).Replace
	if want := replacing("ab", "3", "a", "2", "b", "1"); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestDefaultSamplingHeedsTheConfiguration(t *testing.T) {
	temperature, after := .7, 2
	s := DefaultSampling(Config{DefaultTemperature: &temperature, RecommendedFramesAfterEOS: &after})
	if s.Temperature != .7 || s.FramesAfterEOS != 2 || s.FramesAfterEOSShort != 2 {
		t.Errorf("%+v, want temperature 0.7 and two frames after the end", s)
	}
	s = DefaultSampling(Config{})
	if s.Temperature != .3 || s.EOSThreshold != -4 || s.MinFrames != 6 {
		t.Errorf("%+v, want upstream's values", s)
	}
	if s.FramesAfterEOS != 3 || s.FramesAfterEOSShort != 5 {
		t.Errorf("%+v, want upstream's frames after the end", s)
	}
}
