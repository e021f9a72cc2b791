package convert

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/swar-tts/swar/runtime/onnx/bundle"
	"github.com/swar-tts/swar/runtime/safetensors"
)

// published is case 01 as it would lie in a folder that was downloaded.
func published(t *testing.T) Conversion {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"config.yaml", "model.safetensors", "voice.safetensors", "tokenizer.model"} {
		data, err := os.ReadFile(filepath.Join("../testdata/01-v2-tanh", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return Conversion{
		Config: filepath.Join(dir, "config.yaml"), Language: "hi-IN+en-IN", ID: "case-01",
		Voices: map[string]string{"raj": filepath.Join(dir, "voice.safetensors"),
			"anjura": filepath.Join(dir, "voice.safetensors")},
	}
}

func TestConvert(t *testing.T) {
	c, dir := published(t), filepath.Join(t.TempDir(), "bundle")
	threshold := -1.0
	c.EOSThreshold = &threshold
	if _, err := Convert(t.Context(), dir, c); err != nil {
		t.Fatal(err)
	}
	m, err := bundle.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := bundle.Verify(dir, m); err != nil {
		t.Error(err)
	}
	if m.Model.ID != "case-01" || len(m.Model.Languages) != 2 {
		t.Errorf("manifest of the model %+v, want case-01 with two languages", m.Model)
	}
	if m.GELU != "tanh" || !m.BOS || m.Flow.Steps != 1 || m.Sampling.EOSThreshold != -1 {
		t.Errorf("manifest %+v", m)
	}
	if len(m.Voices) != 2 || m.Voices[0].Name != "anjura" || m.Voices[0].PromptFrames != 10 {
		t.Errorf("voices %+v, want anjura and raj with ten positions", m.Voices)
	}
	if got, err := bundle.HashFile(filepath.Join(filepath.Dir(c.Config), "model.safetensors")); err != nil ||
		m.Model.Weights != got {
		t.Errorf("hash of the weights %s, want %s (%v)", m.Model.Weights, got, err)
	}
}

// convert makes a bundle and returns where.
func convert(t *testing.T, c Conversion) (string, bundle.Manifest) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "bundle")
	m, err := Convert(t.Context(), dir, c)
	if err != nil {
		t.Fatal(err)
	}
	return dir, m
}

func TestConvertTakesSixteenBits(t *testing.T) {
	full := published(t)
	dir, m := convert(t, full)
	for name, dtype := range map[string]func(i int) string{
		"bfloat16": func(int) string { return "BF16" },
		"half":     func(int) string { return "F16" },
		"mixed":    func(i int) string { return []string{"BF16", "F32", "F16"}[i%3] },
	} {
		c, all := published(t), checkpointOf(t, "01-v2-tanh")
		for i, n := range slices.Sorted(maps.Keys(all)) {
			shape, err := json.Marshal(all[n].shape)
			if err != nil {
				t.Fatal(err)
			}
			file := tensorsFile(fmt.Sprintf(`{"x":{"dtype":"F32","shape":%s,"data_offsets":[0,%d]}}`, shape,
				len(all[n].bytes)), string(all[n].bytes))
			x, err := safetensors.Read(bytes.NewReader(file), int64(len(file)))
			if err != nil {
				t.Fatal(err)
			}
			values, err := x.Floats("x", all[n].shape...)
			if err != nil {
				t.Fatal(err)
			}
			all[n] = floats(dtype(i), all[n].shape, values)
		}
		write(t, filepath.Join(filepath.Dir(c.Config), "model.safetensors"), all)
		rounded, other := convert(t, c)
		if other.LM.Bytes != m.LM.Bytes || other.LM.SHA256 == m.LM.SHA256 {
			t.Errorf("%s: language model of %d bytes, want %d with rounded values", name, other.LM.Bytes, m.LM.Bytes)
		}
		host := func(dir string) []float64 {
			f, closer, err := safetensors.Open(filepath.Join(dir, "host.safetensors"))
			if err != nil {
				t.Fatal(err)
			}
			defer closer.Close()
			h, err := bundle.ReadHost(f, m.Dims, 1)
			if err != nil {
				t.Fatal(err)
			}
			return doubles(slices.Concat(h.Embedding, h.Input))
		}
		if d := apart(t, host(rounded), host(dir)); d == 0 || d > .02 {
			t.Errorf("%s: weights are off by %g, want a little", name, d)
		}
	}
}

func TestConvertTakesTwoFiles(t *testing.T) {
	whole := published(t)
	_, want := convert(t, whole)
	model, codec := asTrained(t, t.TempDir(), checkpointOf(t, "01-v2-tanh"))
	named := published(t)
	named.Weights, named.MimiWeights = model, codec
	inConfig := published(t)
	folder := filepath.Dir(inConfig.Config)
	asTrained(t, folder, checkpointOf(t, "01-v2-tanh"))
	replaceIn(t, inConfig.Config, "weights_path: model.safetensors\n", "")
	replaceIn(t, inConfig.Config, "flow_lm:\n", "flow_lm:\n  weights_path: lm.safetensors\n")
	replaceIn(t, inConfig.Config, "mimi:\n", "mimi:\n  weights_path: mimi.safetensors\n")
	leftOver := published(t) // a whole model is named, and the configuration still names a codec
	replaceIn(t, leftOver.Config, "mimi:\n", "mimi:\n  weights_path: hf://somewhere/mimi.safetensors\n")
	leftOver.Weights = filepath.Join(filepath.Dir(leftOver.Config), "model.safetensors")
	if _, m := convert(t, leftOver); m.Codec.SHA256 != want.Codec.SHA256 || m.Model.Codec != "" {
		t.Error("a whole model that is named does not come before the configuration")
	}
	for name, c := range map[string]Conversion{"named": named, "in the configuration": inConfig} {
		_, m := convert(t, c)
		if m.LM.SHA256 != want.LM.SHA256 || m.Host.SHA256 != want.Host.SHA256 || m.Codec.Bytes != want.Codec.Bytes {
			t.Errorf("%s: another model than that of one file", name)
		}
		if m.Model.Weights == want.Model.Weights || m.Model.Codec == "" || want.Model.Codec != "" {
			t.Errorf("%s: hashes %s and %s, want one of each file", name, m.Model.Weights, m.Model.Codec)
		}
	}
}

func replaceIn(t testing.TB, path, from, to string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), from) {
		t.Fatalf("%s has no %q", path, from)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(text), from, to, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestConvertReadsVoices gives the same voice in every form. The golden keys and values are those of the recording as
// it is, so that they are compared for latents; a recording also gets its pause.
func TestConvertReadsVoices(t *testing.T) {
	const name = "01-v2-tanh"
	c, config := published(t), caseConfig(t, name)
	dir := filepath.Dir(c.Config)
	d := config.dims()
	latents := array(t, name, "voice_latents.npy")
	frames := len(latents) / config.promptWidth()
	embeddings := project(t, latents, name)
	sound := array(t, name, "voice_audio.npy")
	c.Voices = map[string]string{
		"keys":       filepath.Join(dir, "voice.safetensors"),
		"latents":    write(t, dir+"/latents.safetensors", map[string]raw{"latents": floats("F32", []int{frames, config.promptWidth()}, singles(latents))}),
		"batched":    write(t, dir+"/batched.safetensors", map[string]raw{"latents": floats("F32", []int{1, frames, config.promptWidth()}, singles(latents))}),
		"embeddings": write(t, dir+"/embeddings.safetensors", map[string]raw{"audio_prompt": floats("F32", []int{1, frames, d.Width}, embeddings)}),
		"recording":  writeWAV(t, dir+"/recording.wav", sound),
	}
	write(t, dir+"/model.safetensors", checkpointOf(t, name)) // with the encoder
	agreed := bundle.Consent{Text: "yes", Date: "2026-11-23"}
	c.Consent = map[string]bundle.Consent{"recording": agreed}
	out, m := convert(t, c)
	want := storedPrompt(t, c.Voices["keys"], d)
	for _, v := range m.Voices {
		got := storedPrompt(t, filepath.Join(out, v.File.File), d)
		if cloned := v.Name == "recording"; cloned != (v.Recording.Seconds > 0) || cloned != (v.Consent == agreed) {
			t.Errorf("%s comes from %+v with the consent %+v", v.Name, v.Recording, v.Consent)
		}
		if v.Name == "recording" {
			if hash, err := bundle.HashFile(c.Voices["recording"]); err != nil || v.Recording.SHA256 != hash {
				t.Errorf("the recording has SHA-256 %s, want %s: %v", v.Recording.SHA256, hash, err)
			}
			if whole := len(wholeFrames(sound)) / frameSamples; got.Positions < whole || got.Positions > whole+2 {
				t.Errorf("a recording of %d frames gave %d positions, want the start row and a pause at most", whole,
					got.Positions)
			}
			continue
		}
		if got.Positions != want.Positions || v.PromptFrames != want.Positions {
			t.Errorf("%s: %d positions, want %d", v.Name, got.Positions, want.Positions)
			continue
		}
		worst := promptsApart(t, got, want)
		t.Logf("%s: off by %.1e at most", v.Name, worst)
		if !(worst < 1e-4) {
			t.Errorf("%s: off by %g", v.Name, worst)
		}
	}
}

// project makes embeddings of latents.
func project(t testing.TB, latents []float64, name string) []float32 {
	t.Helper()
	c := caseConfig(t, name)
	w, err := caseWeights(t, name).Floats(speakerProjection, c.FlowLM.Transformer.DModel, c.promptWidth())
	if err != nil {
		t.Fatal(err)
	}
	rows := make([]float64, len(latents)/c.promptWidth()*c.FlowLM.Transformer.DModel)
	if err := multiplyRows(t.Context(), rows, latents, c.promptWidth(), w, nil, c.promptWidth()); err != nil {
		t.Fatal(err)
	}
	return singles(rows)
}

func TestConvertKnowsVoicesByName(t *testing.T) {
	const name = "01-v2-tanh"
	c := published(t)
	dir := filepath.Dir(c.Config)
	width, inner := 128, 32
	all := checkpointOf(t, name)
	latents := singles(array(t, name, "voice_latents.npy"))
	for _, voice := range []string{"asha", "ravi"} {
		all[storedPrompts+voice] = floats("F32", []int{len(latents) / inner, inner}, latents)
	}
	ramp := func(n int, by float32) (x []float32) {
		for i := range n {
			x = append(x, float32(i)*by)
		}
		return x
	}
	all[lutEmbedding] = floats("F32", []int{3, 2}, []float32{1, 0, 0, 1, 9, 9}) // asha, ravi, nobody
	all[lutProjection] = floats("F32", []int{width, 2}, ramp(2*width, 1))
	all[lutPadding] = floats("F32", []int{1, 1, width}, ramp(width, -1))
	model := write(t, dir+"/model.safetensors", all)

	ownTerm := storedPrompt(t, filepath.Join(dir, "voice.safetensors"), caseDims(t, name))
	ownTerm.VoiceEmbedding = ramp(width, 5)
	writePrompt(t, dir+"/own.safetensors", ownTerm, caseConfig(t, name))
	c.Voices = map[string]string{"guest": filepath.Join(dir, "voice.safetensors"),
		"ravi": filepath.Join(dir, "voice.safetensors"), "own": dir + "/own.safetensors"}
	out, m := convert(t, c)
	want := map[string]func(i int) float32{ // of the i-th value
		"asha": func(i int) float32 { return float32(2 * i) }, "ravi": func(i int) float32 { return float32(2*i + 1) },
		"guest": func(i int) float32 { return -float32(i) }, "own": func(i int) float32 { return 5 * float32(i) },
	}
	if len(m.Voices) != len(want) {
		t.Fatalf("voices %v, want %d", m.Voices, len(want))
	}
	for _, v := range m.Voices {
		p := storedPrompt(t, filepath.Join(out, v.File.File), m.Dims)
		if len(p.VoiceEmbedding) != width || p.VoiceEmbedding[3] != want[v.Name](3) ||
			p.VoiceEmbedding[100] != want[v.Name](100) {
			t.Errorf("the embedding of %s is %v", v.Name, p.VoiceEmbedding)
		}
	}

	// What does not fit together is refused.
	for _, step := range []struct {
		change func()
		want   string
	}{
		{func() { all[lutEmbedding] = floats("F32", []int{2, 2}, make([]float32, 4)) }, "want one more"},
		{func() { delete(all, lutEmbedding) }, "not whole"},
		{func() {
			for _, n := range []string{lutProjection, lutPadding, storedPrompts + "asha", storedPrompts + "ravi"} {
				delete(all, n)
			}
		}, "made with another model"},
	} {
		step.change()
		write(t, model, all)
		if _, err := Convert(t.Context(), filepath.Join(t.TempDir(), "bundle"), c); err == nil ||
			!strings.Contains(err.Error(), step.want) {
			t.Errorf("error %v, want one with %q", err, step.want)
		}
	}
}

func writePrompt(t testing.TB, path string, p bundle.Prompt, c Config) {
	t.Helper()
	var b bytes.Buffer
	if err := bundle.WritePrompt(&b, p, c.dims()); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// randomCheckpoint writes all weights of a configuration, made up.
func randomCheckpoint(t testing.TB, path string, c *Config) {
	t.Helper()
	all, w := map[string]raw{}, &randomWeights{seed: 2}
	for _, p := range append(c.parts(), c.encoder()...) {
		shape := slices.Clone(p.shape)
		for i, n := range shape {
			if n == -1 {
				shape[i] = 256 // of the time
				if strings.HasSuffix(p.name, ".freqs") {
					shape[i] = 128
				}
			}
		}
		values, err := w.Floats(p.name, shape...)
		if err != nil {
			t.Fatal(err)
		}
		all[p.name] = floats("F32", shape, values)
	}
	write(t, path, all)
}

func TestConvertTakesAnyNumberOfLayersAndBothFlows(t *testing.T) {
	for _, tt := range []struct {
		layers int
		flow   string
	}{{1, bundle.LSD}, {2, bundle.Drifting}, {24, bundle.LSD}} {
		c := published(t)
		// the first is that of the language model
		replaceIn(t, c.Config, "    num_layers: 2", fmt.Sprintf("    num_layers: %d", tt.layers))
		replaceIn(t, c.Config, "    depth: 2", "    depth: 2\n    type: "+tt.flow)
		config, err := c.config()
		if err != nil {
			t.Fatal(err)
		}
		dir := filepath.Dir(c.Config)
		randomCheckpoint(t, dir+"/model.safetensors", &config)
		c.Voices = map[string]string{"raj": write(t, dir+"/v.safetensors",
			map[string]raw{"audio_prompt": floats("F32", []int{1, 3, 128}, make([]float32, 3*128))})}
		_, m := convert(t, c)
		if m.Dims.Layers != tt.layers || m.Flow.Type != tt.flow || m.Voices[0].PromptFrames != 4 {
			t.Errorf("%d layers, flow %s, %d positions; want %d, %s, 4", m.Dims.Layers, m.Flow.Type,
				m.Voices[0].PromptFrames, tt.layers, tt.flow)
		}
	}
}

func TestConvertReportsProgress(t *testing.T) {
	c := published(t)
	latents := array(t, "01-v2-tanh", "voice_latents.npy")
	c.Voices["read"] = write(t, filepath.Dir(c.Config)+"/l.safetensors",
		map[string]raw{"latents": floats("F32", []int{len(latents) / 32, 32}, singles(latents))})
	var seen []int64
	total, before, what := int64(0), int64(0), map[string]bool{}
	c.Progress = func(done, n int64, now string) {
		goesOn := len(seen) == 0 || done >= seen[len(seen)-1] && n == total
		if !goesOn || done > n || now == "" {
			t.Errorf("%d of %d (%s) after %v of %d", done, n, now, seen[max(len(seen)-1, 0):], total)
		}
		if done < n {
			before = done
		}
		seen, total, what[now] = append(seen, done), n, true
	}
	convert(t, c)
	if len(seen) < 100 || seen[len(seen)-1] != total {
		t.Errorf("%d reports, the last of %d of %d", len(seen), seen[len(seen)-1], total)
	}
	if before < total*95/100 {
		t.Errorf("%d of %d was done before the last report", before, total)
	}
	for _, part := range []string{"voice read", "language model", "flow", "codec", "weights of the host", "done"} {
		if !what[part] {
			t.Errorf("%q was not reported", part)
		}
	}
}

// TestConvertLeavesNothingBehind interrupts a conversion wherever it reports, and lets it fail at the end.
func TestConvertLeavesNothingBehind(t *testing.T) {
	c, parent := published(t), t.TempDir()
	why := errors.New("enough")
	dir := filepath.Join(parent, "bundle")
	for at := 0; ; at += 7 {
		ctx, cancel := context.WithCancelCause(t.Context())
		calls, last := 0, false
		c.Progress = func(_, _ int64, what string) {
			if calls++; calls > at {
				cancel(why)
			}
			last = what == "done"
		}
		_, err := Convert(ctx, dir, c)
		cancel(nil)
		if last { // too late to interrupt
			if err != nil {
				t.Fatal(err)
			}
			break
		}
		entries, readErr := os.ReadDir(parent)
		if !errors.Is(err, why) || readErr != nil || len(entries) != 0 {
			t.Fatalf("interrupted at report %d: error %v, and %v is left", at, err, entries)
		}
	}
	if entries, err := os.ReadDir(parent); err != nil || len(entries) != 1 {
		t.Errorf("%v is left beside the bundle", entries)
	}
	if _, err := Convert(t.Context(), dir, c); err == nil ||
		!strings.Contains(err.Error(), "name a folder that does not exist") {
		t.Errorf("a bundle was written over another: %v", err)
	}
}

func TestConvertDescribesItsIntegers(t *testing.T) {
	for precision, want := range map[string]bundle.Quantised{"": {}, bundle.FP32: {}, bundle.Int8: integerMatrices} {
		c := published(t)
		c.Precision = precision
		dir, m := convert(t, c)
		text, err := os.ReadFile(filepath.Join(dir, bundle.ManifestFile))
		if err != nil {
			t.Fatal(err)
		}
		if m.Precision != or(precision, bundle.FP32) || m.Quantised != want ||
			strings.Contains(string(text), "quantised") != (want != bundle.Quantised{}) {
			t.Errorf("%q: precision %s, quantised %+v", precision, m.Precision, m.Quantised)
		}
	}
}

func TestConvertTakesAnEmptyFolder(t *testing.T) {
	dir := t.TempDir()
	if _, err := Convert(t.Context(), dir+"/", published(t)); err != nil {
		t.Fatal(err)
	}
	if _, err := bundle.Open(dir); err != nil {
		t.Error(err)
	}
}

func TestConvertFindsTheTokenizerBesideAJSON(t *testing.T) {
	c := published(t)
	replaceIn(t, c.Config, "tokenizer: sentencepiece", "tokenizer: tokenizers")
	replaceIn(t, c.Config, "tokenizer_path: tokenizer.model", "tokenizer_path: tokenizer.json")
	_, m := convert(t, c)
	if m.Tokenizer.File.File != "tokenizer.model" || m.Tokenizer.Kind != bundle.SentencePiece {
		t.Errorf("the tokenizer is %+v, want the model", m.Tokenizer)
	}
}

func TestConvertRefuses(t *testing.T) {
	tests := map[string]struct {
		change func(*Conversion)
		want   string
	}{
		"no configuration":             {func(c *Conversion) { c.Config += "x" }, "config.yamlx"},
		"a pickled checkpoint":         {func(c *Conversion) { c.Weights = "model.pt" }, "safetensors"},
		"no tokenizer":                 {func(c *Conversion) { c.Tokenizer = "nowhere.model" }, "tokenizer"},
		"no voices":                    {func(c *Conversion) { c.Voices = nil }, "no voices"},
		"a voice that is not there":    {func(c *Conversion) { c.Voices["raj"] += "x" }, "voice raj"},
		"a voice that is a checkpoint": {func(c *Conversion) { c.Voices["raj"] = filepath.Join(filepath.Dir(c.Config), "model.safetensors") }, "raj"},
		"no id":                        {func(c *Conversion) { c.ID = "" }, "model.id"},
		"another GELU":                 {func(c *Conversion) { c.GELU = "relu" }, "gelu"},
		"no language":                  {func(c *Conversion) { c.Language = "" }, "no language"},
		"another precision":            {func(c *Conversion) { c.Precision = "int3" }, "precision"},
		"too many steps":               {func(c *Conversion) { c.Steps = 65 }, "flow.steps"},
		"several steps of drifting": {func(c *Conversion) {
			replaceIn(t, c.Config, "    depth: 2", "    depth: 2\n    type: drifting")
			config, err := c.config()
			if err != nil {
				t.Fatal(err)
			}
			randomCheckpoint(t, filepath.Dir(c.Config)+"/model.safetensors", &config)
			c.Steps = 2
		}, "drifting draws in one step"},
		"a tokenizer of another model": {func(c *Conversion) { c.Tokenizer = "../testdata/02-v1-erf/tokenizer.model" }, "390 pieces, and n_bins of the configuration is 400"},
		"a tokenizer that is none":     {func(c *Conversion) { c.Tokenizer = c.Config }, "sentencepiece model"},
		"a recording without encoder": {func(c *Conversion) {
			c.Voices["raj"] = writeWAV(t, c.Config+".wav", slices.Repeat([]float64{.5, -.5}, 12000))
		}, "mimi.encoder"},
		"a voice of another kind":  {func(c *Conversion) { c.Voices["raj"] = c.Config }, "no format of sound that is known"},
		"a voice of another model": {func(c *Conversion) { c.Voices["raj"] = "../testdata/02-v1-erf/voice.safetensors" }, "voice raj"},
		"latents of another model": {func(c *Conversion) {
			c.Voices["raj"] = write(t, c.Config+".safetensors",
				map[string]raw{"latents": floats("F32", []int{1, 2, 3}, make([]float32, 6))})
		}, "made with another model"},
		"a prompt of five minutes and a frame": {func(c *Conversion) {
			c.Voices["raj"] = write(t, c.Config+".safetensors",
				map[string]raw{"latents": floats("BF16", []int{3751, 32}, make([]float32, 3751*32))})
		}, "3751 frames, more than 3750"},
		"latents that are no numbers": {func(c *Conversion) {
			c.Voices["raj"] = write(t, c.Config+".safetensors",
				map[string]raw{"audio_prompt": floats("F32", []int{1, 1, 128},
					slices.Repeat([]float32{float32(math.NaN())}, 128))})
		}, "not a finite number"},
		"a weight that is not a number": {func(c *Conversion) {
			all := checkpointOf(t, "01-v2-tanh")
			all["mimi.decoder.model.0.conv.bias"] = floats("F32", []int{32},
				slices.Repeat([]float32{float32(math.Inf(1))}, 32))
			write(t, filepath.Dir(c.Config)+"/model.safetensors", all)
		}, "mimi.decoder.model.0.conv.bias holds +Inf"},
		"a path out of the folder": {func(c *Conversion) {
			replaceIn(t, c.Config, "weights_path: model", "weights_path: ../model")
		}, "not a file beside it"},
	}
	for name, tt := range tests {
		c := published(t)
		tt.change(&c)
		parent := t.TempDir()
		if _, err := Convert(t.Context(), filepath.Join(parent, "bundle"), c); err == nil ||
			!strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want one with %q", name, err, tt.want)
		}
		if entries, err := os.ReadDir(parent); err != nil || len(entries) != 0 {
			t.Errorf("%s: %v is left behind (%v)", name, entries, err)
		}
	}
}
