package parity

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/swar-tts/swar/runtime/internal/npy"
	"github.com/swar-tts/swar/runtime/onnx/bundle"
	"github.com/swar-tts/swar/runtime/onnx/convert"
	"github.com/swar-tts/swar/runtime/onnx/internal/model"
	"github.com/swar-tts/swar/runtime/safetensors"
	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/tokenize"
)

// The voices of the bundle that a case is converted to.
const (
	storedVoice = "stored" // voice.safetensors
	madeVoice   = "made"   // read by the language model while it was converted
)

const (
	voiceFile   = "voice.safetensors"
	latentsFile = "voice_latents.npy" // what the encoder made of audioFile
	audioFile   = "voice_audio.npy"
	rulesFile   = "frame_rules.json"
)

// checkModel converts the checkpoint and compares what the bundle computes. An error means that there is no bundle.
func (k *goldenCase) checkModel(ctx context.Context) (err error) {
	text, err := k.file("config.yaml")
	if err != nil {
		return err
	}
	if k.config, err = convert.ReadConfig(text); err != nil {
		return fmt.Errorf("config.yaml: %w", err)
	}
	k.text = convert.DefaultText(k.config)
	temp, err := os.MkdirTemp("", "swar-vectors-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	conversion, err := k.conversion(temp)
	if err != nil {
		return err
	}
	k.checkEncoder(ctx, conversion)

	models := bundles{dir: temp, conversion: conversion, step: k.step, open: map[int]*model.Model{}}
	defer func() { err = errors.Join(err, models.close()) }()
	first, err := models.get(ctx, k.flowSteps())
	if err != nil {
		return err
	}
	k.checkVoices(first)
	k.checkRules(first)
	for i := range k.Runs {
		k.step("run " + k.Runs[i].Name)
		m, err := models.get(ctx, max(k.Runs[i].Steps, 1))
		if err == nil {
			err = k.checkRun(ctx, m, &k.Runs[i])
		}
		if err != nil {
			k.fail(k.Runs[i].Name, "run", err)
		}
	}
	if err := k.checkCodec(first); err != nil {
		k.fail("", "audio", err)
	}
	if len(k.Traces) > 0 {
		k.skip("traces", "the codec's graph gives nothing from in between")
	}
	return nil
}

func (k *goldenCase) flowSteps() int {
	if len(k.Runs) == 0 {
		return 1
	}
	return max(k.Runs[0].Steps, 1)
}

// conversion says how to convert the case. A bundle needs a voice, so a case without one gets a prompt of zeros,
// which nobody hears.
func (k *goldenCase) conversion(temp string) (c convert.Conversion, err error) {
	c = convert.Conversion{
		Config: filepath.Join(k.dir, "config.yaml"), Language: "hi-IN", ID: filepath.Base(k.dir),
		GELU: k.Model.GELU, Precision: k.precision, Voices: map[string]string{},
	}
	if k.has(voiceFile) {
		c.Voices[storedVoice] = filepath.Join(k.dir, voiceFile)
	}
	latents := npy.Array{Shape: []int{1, k.Model.EncoderWidth}, Floats: make([]float32, max(k.Model.EncoderWidth, 0))}
	if k.has(latentsFile) {
		read, err := k.array(latentsFile, -1, k.Model.EncoderWidth)
		if err != nil {
			k.fail("", "voice_kv", err)
		} else {
			latents = read
		}
	} else if len(c.Voices) > 0 {
		return c, nil
	}
	if len(latents.Floats) == 0 {
		return c, nil // the converter says that there is no voice
	}
	path := filepath.Join(temp, "latents.safetensors")
	file, err := os.Create(path)
	if err != nil {
		return c, err
	}
	c.Voices[madeVoice] = path
	return c, errors.Join(safetensors.Write(file,
		safetensors.Tensor{Name: "latents", Shape: latents.Shape, Floats: latents.Floats}), file.Close())
}

// bundles are the bundles of a case, which differ in the steps of the flow.
type bundles struct {
	dir        string
	conversion convert.Conversion
	step       func(what string)
	open       map[int]*model.Model
}

func (v *bundles) get(ctx context.Context, steps int) (*model.Model, error) {
	if n, ok := v.open[steps]; ok {
		return n, nil
	}
	dir, c := filepath.Join(v.dir, fmt.Sprint("bundle-", steps)), v.conversion
	c.Steps = steps
	v.step("converting")
	m, err := convert.Convert(ctx, dir, c)
	if err != nil {
		return nil, fmt.Errorf("converting: %w", err)
	}
	if err := bundle.Verify(dir, m); err != nil {
		return nil, fmt.Errorf("the bundle that was made: %w", err)
	}
	n, err := model.Open(dir, m, 1)
	if err == nil {
		v.open[steps] = n
	}
	return n, err
}

func (v *bundles) close() error {
	var err error
	for _, n := range v.open {
		err = errors.Join(err, n.Close())
	}
	return err
}

// array reads an array of float32. A dimension of -1 may have any size.
func (k *goldenCase) array(name string, shape ...int) (npy.Array, error) {
	data, err := k.file(name)
	if err != nil {
		return npy.Array{}, err
	}
	a, err := npy.Parse(data)
	if err != nil {
		return npy.Array{}, fmt.Errorf("%s: %w", name, err)
	}
	fits := func(got, want int) bool { return got == want || want == -1 }
	if a.Floats == nil || !slices.EqualFunc(a.Shape, shape, fits) {
		return npy.Array{}, fmt.Errorf("%s is an array of shape %v, want float32 of %v", name, a.Shape, shape)
	}
	return a, nil
}

// checkEncoder compares what the encoder makes of the recording.
func (k *goldenCase) checkEncoder(ctx context.Context, c convert.Conversion) {
	audio, latents := k.Encoder.Audio, k.Encoder.Latents
	if audio == "" && k.has(audioFile) {
		audio, latents = audioFile, latentsFile
	}
	if audio == "" {
		return
	}
	k.step("encoding the recording")
	const quantity = "voice_latents"
	samples, err := k.array(audio, -1)
	if err != nil {
		k.fail("", quantity, err)
		return
	}
	want, err := k.array(latents, -1, k.Model.EncoderWidth)
	if err != nil {
		k.fail("", quantity, err)
		return
	}
	got, err := convert.Encode(ctx, c, samples.Floats)
	if err != nil {
		k.fail("", quantity, err)
		return
	}
	k.near("", quantity, got, want.Floats, k.tolerance(quantity))
}

// checkVoices compares the prompt that the language model made with the stored one, and the forms of the stored one
// with each other.
func (k *goldenCase) checkVoices(n *model.Model) {
	stored := n.Prompt(storedVoice)
	if stored == nil {
		return
	}
	exactIf(k, k.Voice.Positions > 0, "", "voice_positions", stored.Positions, k.Voice.Positions)
	if made := n.Prompt(madeVoice); made != nil {
		k.near("", "voice_kv", promptValues(made), promptValues(stored), k.tolerance("voice_kv"))
	}
	files, err := filepath.Glob(filepath.Join(k.dir, "voice*.safetensors"))
	if err != nil {
		k.fail("", "voice_forms", err)
	}
	names := slices.Collect(maps.Keys(k.Voice.Files))
	for _, path := range files {
		names = append(names, filepath.Base(path))
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if err := k.checkVoice(n, name, stored); err != nil {
			k.fail(name, "voice_forms", err)
		}
	}
}

// checkVoice compares a form of the stored voice. One that case.json says is refused must be.
func (k *goldenCase) checkVoice(n *model.Model, name string, stored *bundle.Prompt) error {
	path, err := k.path(name)
	if err != nil {
		return err
	}
	if !k.has(name) {
		return fmt.Errorf("there is no %s", name)
	}
	p, err := bundle.OpenPrompt(path, n.Manifest.Dims)
	if what := strings.ToLower(k.Voice.Files[name]); strings.Contains(what, "refuse") ||
		strings.Contains(what, "reject") {
		exact(k, name, "voice_forms", err != nil, true)
		return nil
	}
	if err != nil {
		return err
	}
	if p.Positions != stored.Positions {
		return fmt.Errorf("it has %d positions, %s %d", p.Positions, voiceFile, stored.Positions)
	}
	k.near(name, "voice_forms", promptValues(p), promptValues(stored), 0)
	return nil
}

func promptValues(p *bundle.Prompt) []float32 {
	var all []float32
	for i := range p.K {
		all = append(append(all, p.K[i]...), p.V[i]...)
	}
	return all
}

// checkRules compares the limit by tokens and the frames after the end by words.
func (k *goldenCase) checkRules(n *model.Model) {
	if !k.has(rulesFile) {
		return
	}
	var rules struct {
		MaxFrames map[int]int `json:"max_frames"`
		After     []struct {
			Text   string `json:"text"`
			Words  int    `json:"words"`
			Frames int    `json:"frames_after_eos"`
		} `json:"frames_after_eos_by_text"`
	}
	data, err := k.file(rulesFile)
	if err == nil {
		err = json.Unmarshal(data, &rules)
	}
	if err == nil && len(rules.MaxFrames)+len(rules.After) == 0 {
		err = errors.New("it holds no rule")
	}
	if err != nil {
		k.fail("", "frame_rules", fmt.Errorf("%s: %w", rulesFile, err))
		return
	}
	for tokens, want := range rules.MaxFrames {
		exact(k, fmt.Sprint(tokens, " tokens"), "frame_rules", model.NewEnding(&n.Manifest, tokens, 1).MaxFrames, want)
	}
	for _, r := range rules.After {
		_, words := model.NewPreparer(&k.text, "").Prepare(r.Text)
		exact(k, r.Text, "frame_rules", words, r.Words)
		exact(k, r.Text, "frame_rules", model.NewEnding(&n.Manifest, 1, words).After, r.Frames)
	}
}

// checkCodec compares the decode plans of the codec alone, with the reference and with each other.
func (k *goldenCase) checkCodec(n *model.Model) error {
	if k.Input == "" || len(k.Outputs) == 0 {
		return nil
	}
	k.step("decoding")
	latents, err := k.array(k.Input, -1, n.Manifest.Dims.Latent)
	if err != nil {
		return err
	}
	var first []float32
	firstPlan := ""
	for _, name := range slices.Sorted(maps.Keys(k.Outputs)) {
		plan := k.Outputs[name].Plan
		label := fmt.Sprint("plan ", plan)
		got, err := decodeByPlan(n, plan, latents.Floats)
		if err != nil {
			return err
		}
		if first == nil {
			first, firstPlan = got, label
		} else {
			k.near(label+" against "+firstPlan, "plans", got, first, mostPlansApart)
		}
		if want, err := k.array(name, -1); err != nil {
			k.fail(label, "audio", err)
		} else {
			k.near(label, "audio", got, want.Floats, k.tolerance("audio"))
		}
	}
	return nil
}

// decodeByPlan decodes latents from a fresh state by a plan: the last number repeats, the last group may be short.
func decodeByPlan(n *model.Model, plan []int, latents []float32) (audio []float32, err error) {
	if len(plan) == 0 {
		plan = n.Manifest.Decode.Plan
	}
	if slices.Min(plan) < 1 {
		return nil, fmt.Errorf("decode plan %v has a group of no frames", plan)
	}
	d, err := n.NewDecoder()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	d.Begin()
	width := n.Manifest.Dims.Latent
	for i := 0; len(latents) > 0; i++ {
		frames := min(plan[min(i, len(plan)-1)], len(latents)/width)
		samples, err := d.Decode(latents[:frames*width], frames)
		if err != nil {
			return nil, err
		}
		audio, latents = append(audio, samples...), latents[frames*width:]
	}
	return audio, nil
}

// tokenIDs returns what the tokenizer of the case makes of prepared text.
func (k *goldenCase) tokenIDs(text string) ([]int32, error) {
	model, err := k.file(k.config.FlowLM.LookupTable.TokenizerPath)
	if err != nil {
		return nil, err
	}
	t, err := tokenize.Load(model)
	if err != nil {
		return nil, err
	}
	return t.Encode(nil, text), nil
}

// samplesOf returns how many samples so many frames have.
func samplesOf(frames int) int { return frames * speech.FrameSamples }
