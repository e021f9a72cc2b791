package convert

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/swar-tts/swar/runtime/onnx/bundle"
)

// prompter makes voice prompts: what the language model remembers of a voice after it has read it. A bundle stores
// that, so that an engine never reads a voice itself, and so that keys and values have full precision whatever the
// precision of the graphs.
type prompter struct {
	config  *Config
	weights Weights
	gelu    string
	worked  func(products int64)
}

// fromLatents makes a prompt of what the encoder made of a recording, [frames, width of the prompt]. They are not
// normalised.
func (p *prompter) fromLatents(ctx context.Context, latents []float64) (bundle.Prompt, error) {
	width, in := p.config.FlowLM.Transformer.DModel, p.config.promptWidth()
	w, err := p.weights.Floats(speakerProjection, width, in)
	if err != nil {
		return bundle.Prompt{}, fmt.Errorf("%w: these weights make no voices of latents or sound", err)
	}
	if zeroed(w) {
		return bundle.Prompt{}, errZeroed
	}
	rows := make([]float64, len(latents)/in*width)
	if err := multiplyRows(ctx, rows, latents, in, w, nil, in); err != nil {
		return bundle.Prompt{}, err
	}
	return p.fromRows(ctx, rows)
}

// fromRows makes a prompt of rows that the language model can read, [frames, width].
func (p *prompter) fromRows(ctx context.Context, rows []float64) (bundle.Prompt, error) {
	width := p.config.FlowLM.Transformer.DModel
	if p.config.FlowLM.InsertBOSBeforeVoice {
		start, err := p.weights.Floats("flow_lm.bos_before_voice", 1, 1, width)
		if err != nil {
			return bundle.Prompt{}, err
		}
		rows = slices.Concat(doubles(start), rows)
	}
	t, err := p.transformer()
	if err != nil {
		return bundle.Prompt{}, err
	}
	prompt := bundle.Prompt{Positions: len(rows) / width}
	d := p.config.dims()
	err = t.read(ctx, rows, func(k, v []float64) {
		prompt.K = append(prompt.K, bundle.ByHead(singles(k), prompt.Positions, d))
		prompt.V = append(prompt.V, bundle.ByHead(singles(v), prompt.Positions, d))
	})
	return prompt, err
}

func (p *prompter) transformer() (*transformer, error) {
	c := &p.config.FlowLM.Transformer
	bend, err := activation(p.gelu)
	return &transformer{
		weights: p.weights, prefix: "flow_lm.transformer.layers.", layers: c.NumLayers, width: c.DModel,
		heads:  c.NumHeads,
		hidden: c.DModel * c.HiddenScale, period: c.MaxPeriod, gelu: bend, worked: p.worked,
	}, err
}

// products returns how many products a prompt of so many frames takes.
func (p *prompter) products(frames int) int64 {
	t, err := p.transformer()
	if err != nil {
		return 0
	}
	return t.products(frames+1, true)
}

// fromSound makes a prompt of a recording in whole frames.
func (p *prompter) fromSound(ctx context.Context, e *encoder, samples []float64) (bundle.Prompt, error) {
	latents, err := e.encode(ctx, samples)
	if err != nil {
		return bundle.Prompt{}, err
	}
	return p.fromLatents(ctx, latents)
}

// voiceEmbeddings returns what a model adds for each voice that it knows by name, and for every other one under "". A
// model without such a table gives nil. The rows of the table are the sorted names of the prompts that lie beside it,
// and one that nobody uses.
func voiceEmbeddings(w *fileWeights, c *Config) (map[string][]float32, error) {
	shape, ok := w.shape(lutEmbedding)
	names := w.promptNames()
	switch {
	case !ok && len(names) == 0:
		return nil, nil
	case !ok:
		return nil, fmt.Errorf("tensor %s%s is there without %s: the checkpoint is not whole", storedPrompts,
			names[0], lutEmbedding)
	case shape[0] != len(names)+1:
		return nil, fmt.Errorf("tensor %s has %d rows, want one more than there are voices: %d", lutEmbedding,
			shape[0], len(names)+1)
	}
	width, dim := c.FlowLM.Transformer.DModel, shape[1]
	embedding, err := w.Floats(lutEmbedding, -1, dim)
	if err != nil {
		return nil, err
	}
	projection, err := w.Floats(lutProjection, width, dim)
	if err != nil {
		return nil, err
	}
	padding, err := w.Floats(lutPadding, 1, 1, width)
	if err != nil {
		return nil, err
	}
	all := map[string][]float32{"": padding}
	for i, name := range names {
		sum := make([]float32, width)
		for j := range sum {
			sum[j] = float32(dot(doubles(embedding[i*dim:(i+1)*dim]), doubles(projection[j*dim:(j+1)*dim])))
		}
		all[name] = sum
	}
	return all, nil
}

// promptNames returns the sorted names of the voices inside a checkpoint.
func (w *fileWeights) promptNames() (names []string) {
	for _, name := range w.names() {
		if voice, ok := strings.CutPrefix(name, storedPrompts); ok {
			names = append(names, voice)
		}
	}
	return names
}

func doubles(x []float32) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = float64(v)
	}
	return y
}

func singles(x []float64) []float32 {
	y := make([]float32, len(x))
	for i, v := range x {
		y[i] = float32(v)
	}
	return y
}
