package parity

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"

	"github.com/swar-tts/swar/runtime/internal/noise"
	"github.com/swar-tts/swar/runtime/internal/ort"
	"github.com/swar-tts/swar/runtime/onnx/bundle"
	"github.com/swar-tts/swar/runtime/onnx/internal/model"
	"github.com/swar-tts/swar/runtime/synth"
	"github.com/swar-tts/swar/runtime/tokenize"
)

// servedBounds says how far a bundle in int8 may be, by [RelativeRMS], from the same integers multiplied with rows
// that are not rounded. Rounding rows alone gives less than half of it; sums that a processor cuts off give two to
// six times as much.
var servedBounds = map[string]float64{"h": .05, "latent": .05, "audio": .05}

// ServedConfig says what to compare.
type ServedConfig struct {
	Bundle  string // folder of a bundle in int8, whose files are those of its manifest; required
	Library string // path of the ONNX Runtime library; required
	Voice   string // required
	Text    string // of one chunk; required
	Seed    int64
	Most    int // frames that are compared; 0 means to the end
}

// CheckServed compares an int8 bundle on this processor with the same graph in floats. Each step works on the latent
// that the floats drew in the step before. It returns a result for frames and ending, which must be equal, and for
// states, latents and audio. An error says that it could not be computed.
func CheckServed(ctx context.Context, c ServedConfig) (_ []Result, err error) {
	manifest, err := bundle.Open(c.Bundle)
	if err != nil {
		return nil, err
	}
	if manifest.Precision != bundle.Int8 {
		return nil, fmt.Errorf("%s is in %s, not in int8", c.Bundle, manifest.Precision)
	}
	if err := ort.Load(c.Library); err != nil {
		return nil, err
	}
	floats, err := c.speak(ctx, manifest, model.OpenInFloats, nil)
	if err != nil {
		return nil, fmt.Errorf("in floats: %w", err)
	}
	integers, err := c.speak(ctx, manifest, func(dir string, m bundle.Manifest) (*model.Model, error) {
		return model.Open(dir, m, 1)
	}, floats)
	if err != nil {
		return nil, fmt.Errorf("in integers: %w", err)
	}
	return integers.compare(floats), nil
}

// opener opens a bundle to compute it in one way.
type opener func(dir string, m bundle.Manifest) (*model.Model, error)

// utterance is what a model made of a text, a row for each frame.
type utterance struct {
	h, latents, audio []float32
	frames            int
	eos               bool
}

// speak draws frames from the text, each on its own latent of the frame before, or on that of another utterance.
func (c ServedConfig) speak(
	ctx context.Context, manifest bundle.Manifest, open opener, other *utterance,
) (u *utterance, err error) {
	tokens, words, err := c.tokens(&manifest)
	if err != nil {
		return nil, err
	}
	m, err := open(c.Bundle, manifest)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	prompt := m.Prompt(c.Voice)
	if prompt == nil {
		return nil, fmt.Errorf("there is no voice %s", c.Voice)
	}
	s, err := m.NewLoneStream(manifest.Limits.Longest(prompt.Positions))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if err := errors.Join(s.Begin(c.Voice), s.Prefill(ctx, tokens)); err != nil {
		return nil, err
	}
	u = &utterance{}
	ending := model.NewEnding(&manifest, len(tokens), words)
	if err := c.draw(ctx, s, &manifest, ending, u, other); err != nil {
		return nil, fmt.Errorf("frame %d: %w", u.frames, err)
	}
	latents := u.latents
	if other != nil {
		latents = other.latents
	}
	u.audio, err = decode(m, latents, manifest.Dims.Latent)
	return u, err
}

func (c ServedConfig) tokens(manifest *bundle.Manifest) (tokens []int32, words int, err error) {
	file, err := os.ReadFile(filepath.Join(c.Bundle, manifest.Tokenizer.File.File))
	if err != nil {
		return nil, 0, err
	}
	t, err := tokenize.Load(file)
	if err != nil {
		return nil, 0, fmt.Errorf("tokenizer: %w", err)
	}
	prepared, words := model.NewPreparer(&manifest.Text, manifest.Trained.Script).Prepare(c.Text)
	tokens = t.Encode(nil, prepared)
	if words == 0 || len(tokens) > manifest.Limits.MaxTokens {
		return nil, 0, fmt.Errorf("%q has %d tokens, want 1 to %d", c.Text, len(tokens), manifest.Limits.MaxTokens)
	}
	return tokens, words, nil
}

// draw draws latents until the chunk is over.
func (c ServedConfig) draw(
	ctx context.Context, s *model.Stream, manifest *bundle.Manifest, ending model.Ending, u, other *utterance,
) error {
	width := manifest.Dims.Latent
	z := make([]float32, width)
	for step := 0; c.Most == 0 || step < c.Most; step++ {
		noise.Fill(z, c.Seed, 0, step, math.Sqrt(manifest.Sampling.Temperature), manifest.Sampling.NoiseClamp)
		var err error
		if step == 0 {
			err = s.Draw(z)
		} else {
			if from := (step - 1) * width; other != nil && from < len(other.latents) {
				s.Feed(other.latents[from:])
			}
			err = s.Step(ctx, z)
		}
		if err = errors.Join(err, context.Cause(ctx)); err != nil {
			return err
		}
		h, logit := s.State()
		ending.Observe(step, logit)
		done, eos := ending.Over(step)
		if u.eos = eos; done {
			return nil
		}
		u.h, u.latents = append(u.h, h...), append(u.latents, s.Latent()...)
		u.frames++
	}
	return nil
}

// decode decodes as a worker does.
func decode(m *model.Model, latents []float32, width int) (audio []float32, err error) {
	d, err := m.NewDecoder()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	d.Begin()
	for n := synth.FirstFrames; len(latents) > 0; n = synth.GroupFrames {
		n = min(n, len(latents)/width)
		samples, err := d.Decode(latents[:n*width], n)
		if err != nil {
			return nil, err
		}
		audio, latents = append(audio, samples...), latents[n*width:]
	}
	return audio, nil
}

// compare returns how u differs from want.
func (u *utterance) compare(want *utterance) []Result {
	var k goldenCase
	exact(&k, "", "frames", u.frames, want.frames)
	exact(&k, "", "eos", u.eos, want.eos)
	for _, q := range []struct {
		name      string
		got, want []float32
	}{{"h", u.h, want.h}, {"latent", u.latents, want.latents}, {"audio", u.audio, want.audio}} {
		both := min(len(q.got), len(q.want))
		d := RelativeRMS.distance(q.got[:both], q.want[:both])
		bound := servedBounds[q.name]
		k.results = append(k.results, Result{
			Quantity: q.name, Measure: RelativeRMS, Difference: d, Tolerance: bound, OK: d <= bound,
		})
	}
	return k.results
}
