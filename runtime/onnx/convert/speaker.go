package convert

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/swar-tts/swar/runtime/onnx/bundle"
	"github.com/swar-tts/swar/runtime/safetensors"
)

// speaker is a voice on its way into a bundle.
type speaker struct {
	name, language string
	prompt         func(context.Context) (bundle.Prompt, error) // makes it
	products       int64                                        // that making it takes, about
	recording      bundle.Recording                             // zero for those that are not cloned here
	consent        bundle.Consent
	stored         bool // whether the file holds keys and values, in which nothing says what weights they are of
}

// maxPrompt is five minutes in frames. Models are trained on half a minute, and reading takes time with the square
// of the length.
const maxPrompt = 3750

// speakers lists the voices of a conversion, those of files and those inside the checkpoint, by name. A file takes
// the place of a voice of the same name. What a file holds is looked at here, so that a wrong one is found before
// the work begins.
func (c *Conversion) speakers(ctx context.Context, p *prompter, w *fileWeights) (list []speaker, err error) {
	table, err := voiceEmbeddings(w, p.config)
	if err != nil {
		return nil, err
	}
	var e *encoder // read when the first recording needs it
	for _, name := range slices.Sorted(maps.Keys(c.Voices)) {
		s, path := speaker{name: name, language: c.Language, consent: c.Consent[name]}, c.Voices[name]
		if strings.EqualFold(filepath.Ext(path), ".safetensors") {
			err = s.fromFile(p, path)
		} else {
			e, err = s.fromRecording(ctx, p, w, e, path, maxPrompt, c.Notice)
		}
		if err != nil {
			return nil, fmt.Errorf("voice %s: %w", name, err)
		}
		list = append(list, s)
	}
	for _, name := range w.promptNames() {
		if _, replaced := c.Voices[name]; replaced {
			continue
		}
		s := speaker{name: name, language: c.Language}
		if err := s.fromCheckpoint(p, w); err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	for i := range list {
		list[i].addVoiceEmbedding(table)
	}
	slices.SortFunc(list, func(a, b speaker) int { return strings.Compare(a.name, b.name) })
	return list, nil
}

func (s *speaker) fromCheckpoint(p *prompter, w *fileWeights) error {
	tensor := storedPrompts + s.name
	shape, _ := w.shape(tensor)
	if len(shape) != 2 || shape[0] < 1 || shape[1] != p.config.promptWidth() {
		return fmt.Errorf("tensor %s has shape %v, want frames of %d", tensor, shape, p.config.promptWidth())
	}
	if shape[0] > maxPrompt {
		return fmt.Errorf("tensor %s has %d frames, more than %d", tensor, shape[0], maxPrompt)
	}
	s.products = p.products(shape[0])
	s.prompt = func(ctx context.Context) (bundle.Prompt, error) {
		latents, err := w.Floats(tensor, shape...)
		if err != nil {
			return bundle.Prompt{}, err
		}
		return p.fromLatents(ctx, doubles(latents))
	}
	return nil
}

// addVoiceEmbedding makes the prompt carry the embedding of its voice. One that a file holds stays.
func (s *speaker) addVoiceEmbedding(table map[string][]float32) {
	plain, name := s.prompt, s.name // the speaker itself moves when the list is sorted
	s.prompt = func(ctx context.Context) (bundle.Prompt, error) {
		p, err := plain(ctx)
		switch {
		case err != nil:
		case table == nil && p.VoiceEmbedding != nil:
			err = errors.New("it has an embedding of its voice (voice_lut/term), and this model has no table of voices: it was made with another model")
		case table != nil && p.VoiceEmbedding == nil:
			if p.VoiceEmbedding = table[name]; p.VoiceEmbedding == nil {
				p.VoiceEmbedding = table[""]
			}
		}
		return p, err
	}
}

// fromRecording uses so many frames of a recording at most. It returns the encoder, which it reads unless e is one
// already.
func (s *speaker) fromRecording(
	ctx context.Context, p *prompter, w Weights, e *encoder, path string, most int, notice func(string),
) (*encoder, error) {
	samples, r, err := readRecording(ctx, path, most)
	if err != nil {
		return e, err
	}
	if e == nil {
		if e, err = newEncoder(p.config, w, p.gelu, p.worked); err != nil {
			return nil, err
		}
	}
	if notice != nil {
		for _, f := range r.Findings {
			notice(fmt.Sprintf("voice %s: %s", s.name, f.Text))
		}
	}
	s.recording = bundle.Recording{SHA256: r.SHA256, Seconds: math.Round(1000*r.Seconds) / 1000, Format: r.Format}
	frames := len(samples) / frameSamples
	s.products = e.products(frames) + p.products(frames)
	s.prompt = func(ctx context.Context) (bundle.Prompt, error) { return p.fromSound(ctx, e, samples) }
	return e, nil
}

var errVoiceForm = errors.New("holds neither stored keys and values (transformer.layers.N.self_attn/cache), nor audio_prompt, nor latents: it is not a voice")

// fromFile finds out which of the stored forms a file has. It reads only its header.
func (s *speaker) fromFile(p *prompter, path string) error {
	t, file, err := safetensors.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	names := t.Names()
	if slices.ContainsFunc(names, func(name string) bool { return strings.Contains(name, ".self_attn/") }) {
		s.stored = true
		s.prompt = func(context.Context) (bundle.Prompt, error) {
			return reopened(path,
				func(t *safetensors.Tensors) (bundle.Prompt, error) { return bundle.ReadPrompt(t, p.config.dims()) })
		}
		return nil
	}
	width, from := p.config.promptWidth(), p.fromLatents
	switch {
	case len(names) != 1:
		return fmt.Errorf("%s %w", path, errVoiceForm)
	case names[0] == "audio_prompt": // of the first generation, already projected
		width, from = p.config.FlowLM.Transformer.DModel, p.fromRows
	case names[0] != "latents" && !strings.HasPrefix(names[0], storedPrompts):
		return fmt.Errorf("%s %w", path, errVoiceForm)
	}
	shape, _ := t.Shape(names[0])
	frames := 0
	if n := len(shape); n == 2 || n == 3 && shape[0] == 1 {
		frames = shape[n-2]
	}
	if frames < 1 || shape[len(shape)-1] != width {
		return fmt.Errorf("%s: tensor %s has shape %v, want [1, frames, %d]: it was made with another model", path,
			names[0], shape, width)
	}
	if frames > maxPrompt {
		return fmt.Errorf("%s: tensor %s has %d frames, more than %d", path, names[0], frames, maxPrompt)
	}
	s.products = p.products(frames)
	s.prompt = func(ctx context.Context) (bundle.Prompt, error) {
		return reopened(path, func(t *safetensors.Tensors) (bundle.Prompt, error) {
			values, err := t.Floats(names[0], shape...)
			if err != nil {
				return bundle.Prompt{}, err
			}
			rows, err := finite(doubles(values))
			if err != nil {
				return bundle.Prompt{}, fmt.Errorf("%s: tensor %s: %w", path, names[0], err)
			}
			return from(ctx, rows)
		})
	}
	return nil
}

func reopened(path string, read func(*safetensors.Tensors) (bundle.Prompt, error)) (bundle.Prompt, error) {
	t, file, err := safetensors.Open(path)
	if err != nil {
		return bundle.Prompt{}, err
	}
	defer file.Close()
	return read(t)
}
