package parity

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/swar-tts/swar/runtime/internal/npy"
	"github.com/swar-tts/swar/runtime/onnx/bundle"
	"github.com/swar-tts/swar/runtime/onnx/internal/model"
)

// goldenRun is one text that the reference has spoken.
type goldenRun struct {
	Name        string  `json:"name"`
	Text        string  `json:"text"`
	Prepared    string  `json:"prepared_text"`
	Count       int     `json:"token_count"`
	Temperature float64 `json:"temperature"`
	Steps       int     `json:"lsd_steps"`
	Threshold   float64 `json:"eos_threshold"`
	MinFrames   int     `json:"min_frames_before_eos"`
	After       int     `json:"frames_after_eos"`
	MaxFrames   int     `json:"max_frames"`
	Overridden  bool    `json:"max_frames_is_override"`
	Plan        []int   `json:"decode_plan"`
	LatentsFrom string  `json:"latents_from"` // the run whose noise this one has too
	Expect      struct {
		Steps     int    `json:"steps_computed"`
		Frames    int    `json:"frames"`
		Samples   int    `json:"samples"`
		EOSStep   *int   `json:"eos_step"`
		StoppedBy string `json:"stopped_by"`
		EOS       bool   `json:"eos"`
	} `json:"expect"`
	Files map[string]string `json:"files"` // by quantity
}

// spoken is what the engine computed in a run, a row for each step.
type spoken struct {
	h, logits, latents, noise []float32
	ending                    model.Ending
	frames, steps             int
	eos                       bool
}

// checkRun compares a run. An error means that it could not be computed.
func (k *goldenCase) checkRun(ctx context.Context, n *model.Model, r *goldenRun) error {
	tokens, err := k.checkTokens(r)
	if err != nil {
		return err
	}
	if !r.Overridden {
		exactIf(k, r.MaxFrames > 0, r.Name, "max_frames", model.NewEnding(&n.Manifest, len(tokens), 1).MaxFrames,
			r.MaxFrames)
	}
	noise, err := k.checkNoise(r, n.Manifest.Dims.Latent)
	if err != nil {
		return err
	}
	s, err := k.speak(ctx, n, r, runInput{tokens: tokens, noise: noise})
	if err != nil {
		return err
	}
	k.checkEnd(r, s)
	if k.precision == bundle.Int8 {
		return k.checkIntegers(ctx, n, r, runInput{tokens: tokens, noise: noise}, s.frames)
	}
	k.checkSteps(n, r, s)
	k.checkAudio(n, r, s.latents[:s.frames*n.Manifest.Dims.Latent])
	return nil
}

// checkIntegers compares the steps of a run that has so many frames, each on the reference's latent of the step
// before, and what the codec makes of the reference's latents: what rounding adds to one another is not what a bound
// can tell from a mistake.
func (k *goldenCase) checkIntegers(
	ctx context.Context, n *model.Model, r *goldenRun, given runInput, frames int,
) error {
	name := r.Files["latent"]
	if name == "" {
		for _, quantity := range slices.Sorted(maps.Keys(r.Files)) {
			if integerBounds[quantity] > 0 && quantity != "kv_text" { // which is before the first step
				k.skip(quantity, "the case has no latents of the reference to start each step from")
			}
		}
		return nil
	}
	latents, err := k.array(name, r.Expect.Steps, n.Manifest.Dims.Latent)
	if err != nil {
		k.fail(r.Name, "latent", err)
		return nil
	}
	given.latents = latents.Floats
	s, err := k.speak(ctx, n, r, given)
	if err != nil {
		return err
	}
	k.checkSteps(n, r, s)
	k.checkAudio(n, r, latents.Floats[:min(frames, r.Expect.Steps)*n.Manifest.Dims.Latent])
	return nil
}

// runInput is what a run starts from.
type runInput struct {
	tokens  []int32
	noise   []float32
	latents []float32 // of the reference, for the steps to start from; nil means each from its own
}

// checkTokens compares the text on its way to the model, and returns the stored tokens, or those of the tokenizer
// where there are none.
func (k *goldenCase) checkTokens(r *goldenRun) ([]int32, error) {
	if r.Text != "" && r.Prepared != "" {
		prepared, _ := model.NewPreparer(&k.text, "").Prepare(r.Text)
		exact(k, r.Name, "prepared_text", prepared, r.Prepared)
	}
	got, err := k.tokenIDs(r.Prepared)
	if err != nil {
		return nil, err
	}
	name := r.Files["tokens"]
	if name == "" {
		return got, nil
	}
	data, err := k.file(name)
	if err != nil {
		return nil, err
	}
	stored, err := npy.Parse(data)
	if err != nil || stored.Ints == nil {
		return nil, errors.Join(fmt.Errorf("%s holds no token ids", name), err)
	}
	var want []int32
	for _, id := range stored.Ints {
		want = append(want, int32(id))
	}
	result := Result{Run: r.Name, Quantity: "tokens", OK: slices.Equal(got, want)}
	if !result.OK {
		result.Difference, result.Note = math.Inf(1), fmt.Sprintf("%q is %v, want %v", r.Prepared, got, want)
		if len(got) == len(want) {
			result.Difference = 0
			for i := range got {
				if got[i] != want[i] {
					result.Difference++
				}
			}
		}
	}
	k.results = append(k.results, result)
	exactIf(k, r.Count > 0, r.Name, "token_count", len(got), r.Count)
	return want, nil
}

// checkNoise returns the noise of a run, and compares it with the draws of unit variance that it was made from.
func (k *goldenCase) checkNoise(r *goldenRun, width int) ([]float32, error) {
	files := r.Files
	if r.LatentsFrom != "" {
		at := slices.IndexFunc(k.Runs, func(other goldenRun) bool { return other.Name == r.LatentsFrom })
		if at < 0 {
			return nil, fmt.Errorf("%s: latents_from names run %q, which is not there", caseFile, r.LatentsFrom)
		}
		files = k.Runs[at].Files
	}
	var noise, scaled []float32
	if name := files["noise"]; name != "" {
		a, err := k.array(name, -1, width)
		if err != nil {
			return nil, err
		}
		noise = a.Floats
	}
	if name := files["noise_unit"]; name != "" {
		a, err := k.array(name, -1, width)
		if err != nil {
			return nil, err
		}
		scaled = a.Floats
		for i, v := range scaled {
			scaled[i] = float32(float64(v) * math.Sqrt(r.Temperature))
		}
	}
	switch {
	case noise == nil && scaled == nil:
		return nil, errors.New("it has neither noise nor noise_unit")
	case noise == nil:
		return scaled, nil
	case scaled != nil:
		k.near(r.Name, "noise", scaled, noise, 1e-6)
	}
	return noise, nil
}

// speak computes a run as a worker does, to its end, and as far as the reference has if that is further.
func (k *goldenCase) speak(ctx context.Context, n *model.Model, r *goldenRun, given runInput) (_ *spoken, err error) {
	width := n.Manifest.Dims.Latent
	rows := len(given.noise) / width
	if rows < max(r.Expect.Steps, 1) {
		return nil, fmt.Errorf("the noise is for %d steps, and %s expects %d", rows, caseFile, r.Expect.Steps)
	}
	voice, prompt := storedVoice, n.Prompt(storedVoice)
	if prompt == nil {
		voice, prompt = madeVoice, n.Prompt(madeVoice)
	}
	capacity := prompt.Positions + len(given.tokens) + rows
	if capacity > n.Manifest.Limits.Positions {
		return nil, fmt.Errorf("voice, text and frames take %d positions, and the bundle has %d", capacity,
			n.Manifest.Limits.Positions)
	}
	s, err := n.NewLoneStream(capacity)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if err := errors.Join(s.Begin(voice), s.Prefill(ctx, given.tokens)); err != nil {
		return nil, err
	}
	if given.latents == nil {
		k.checkKV(n, r, s, prompt.Positions+len(given.tokens))
	}

	all := &spoken{noise: given.noise,
		ending: model.Ending{Threshold: r.Threshold, MinFrames: r.MinFrames, After: r.After, MaxFrames: r.MaxFrames}}
	for step, over := 0, false; step < rows; step++ {
		draw := given.noise[step*width : (step+1)*width]
		if step == 0 {
			err = s.Draw(draw)
		} else {
			if last := (step - 1) * width; last < len(given.latents) {
				s.Feed(given.latents[last:])
			}
			err = s.Step(ctx, draw)
		}
		if err = errors.Join(err, context.Cause(ctx)); err != nil {
			return nil, fmt.Errorf("step %d: %w", step, err)
		}
		h, logit := s.State()
		all.h, all.logits, all.latents = append(all.h, h...), append(all.logits, logit),
			append(all.latents, s.Latent()...)
		if !over {
			over = all.observe(step, logit)
		}
		if over && step+1 >= r.Expect.Steps {
			break
		}
	}
	return all, nil
}

// observe takes the logit of a step, and reports whether it is the last that the reference computes: that one whose
// latent does not sound any more, or the one that reaches the limit.
func (s *spoken) observe(step int, logit float32) (last bool) {
	s.ending.Observe(step, logit)
	s.frames, s.steps = step, step+1
	if last, s.eos = s.ending.Over(step); last {
		return true
	}
	s.frames = step + 1
	done, eos := s.ending.Over(s.frames)
	return done && !eos
}

// checkEnd compares when and why speech ended.
func (k *goldenCase) checkEnd(r *goldenRun, s *spoken) {
	if r.Expect.Steps == 0 {
		return
	}
	exact(k, r.Name, "steps", s.steps, r.Expect.Steps)
	exact(k, r.Name, "frames", s.frames, r.Expect.Frames)
	exactIf(k, r.Expect.Samples > 0, r.Name, "samples", samplesOf(s.frames), r.Expect.Samples)
	seen, want := "none", "none"
	if s.ending.Seen {
		seen = strconv.Itoa(s.ending.Stop - s.ending.After)
	}
	if r.Expect.EOSStep != nil {
		want = strconv.Itoa(*r.Expect.EOSStep)
	}
	exact(k, r.Name, "eos_step", seen, want)
	exact(k, r.Name, "eos", s.eos, r.Expect.EOS)
	reason := "max_frames"
	if s.eos {
		reason = "eos"
	}
	exactIf(k, r.Expect.StoppedBy != "", r.Name, "stopped_by", reason, r.Expect.StoppedBy)
}

// checkSteps compares what was computed in each step.
func (k *goldenCase) checkSteps(n *model.Model, r *goldenRun, s *spoken) {
	d := n.Manifest.Dims
	latents, rows := s.latents, r.Expect.Steps
	k.checkRows(r, "h", s.h, rows, d.Width)
	if name := r.Files["eos_logit"]; name != "" {
		if want, err := k.array(name, rows); err != nil {
			k.fail(r.Name, "eos_logit", err)
		} else {
			k.near(r.Name, "eos_logit", s.logits[:min(rows, len(s.logits))], want.Floats, k.tolerance("eos_logit"))
		}
	}
	k.checkRows(r, "latent", latents, rows, d.Latent)
	switch {
	case r.Files["flow_dir"] == "":
	case n.Manifest.Flow.Steps > 1:
		k.skip("flow_dir", "a flow of several steps is one run of the graph for each, and only the latent is kept")
	default: // one step moves noise by what the flow head says
		moved := make([]float32, min(len(latents), len(s.noise)))
		for i := range moved {
			moved[i] = latents[i] - s.noise[i]
		}
		k.checkRows(r, "flow_dir", moved, rows, d.Latent)
	}
	if r.Files["text_layers"] != "" {
		k.skip("text_layers", "the graph gives nothing from between its layers; their keys and values are compared")
	}
}

func (k *goldenCase) checkRows(r *goldenRun, quantity string, got []float32, rows, width int) {
	name := r.Files[quantity]
	if name == "" {
		return
	}
	want, err := k.array(name, rows, width)
	if err != nil {
		k.fail(r.Name, quantity, err)
		return
	}
	k.near(r.Name, quantity, got[:min(rows*width, len(got))], want.Floats, k.tolerance(quantity))
}

// checkKV compares keys and values of the first n positions: voice and text.
func (k *goldenCase) checkKV(m *model.Model, r *goldenRun, s *model.Stream, n int) {
	name := r.Files["kv_text"]
	if name == "" {
		return
	}
	d := m.Manifest.Dims
	want, err := k.array(name, d.Layers, 2, n, d.Heads, d.HeadDim)
	if err != nil {
		k.fail(r.Name, "kv_text", err)
		return
	}
	k.near(r.Name, "kv_text", s.KeysAndValues(n), want.Floats, k.tolerance("kv_text"))
}

// checkAudio decodes the latents of the frames that are emitted, and fades in the first as a worker does.
func (k *goldenCase) checkAudio(n *model.Model, r *goldenRun, latents []float32) {
	const whole, faded = "audio", "audio_first_frame_faded"
	if r.Files[whole] == "" && r.Files[faded] == "" {
		return
	}
	k.step("run " + r.Name + ": decoding")
	got, err := decodeByPlan(n, r.Plan, latents)
	if err != nil {
		k.fail(r.Name, whole, err)
		return
	}
	if name := r.Files[whole]; name != "" {
		if want, err := k.array(name, -1); err != nil {
			k.fail(r.Name, whole, err)
		} else {
			k.near(r.Name, whole, got, want.Floats, k.tolerance(whole))
		}
	}
	if name := r.Files[faded]; name != "" {
		want, err := k.array(name, samplesOf(1))
		if err != nil || len(got) < samplesOf(1) {
			k.fail(r.Name, faded, errors.Join(err, fmt.Errorf("comparing it with %d samples", len(got))))
			return
		}
		model.FadeIn(got[:n.Manifest.Decode.FadeIn])
		k.near(r.Name, faded, got[:samplesOf(1)], want.Floats, k.tolerance(whole))
	}
}
