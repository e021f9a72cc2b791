package convert

import (
	"slices"
	"testing"

	"github.com/swar-tts/swar/runtime/onnx/bundle"
	"github.com/swar-tts/swar/runtime/tokenize"
)

func TestRandomModelsHaveTheSizesTheyPromise(t *testing.T) {
	for name, c := range map[string]struct {
		model          Random
		least, most    int // values
		pieces, prompt int
	}{
		"the released sizes, to the value": {Full(), 109_502_146, 109_502_146, 4000, 102},
		"about a quarter of it":            {Lite(), 109_502_146 / 5, 109_502_146 / 3, 4000, 102},
		"a few hundred kilobytes":          {Tiny(), 10_000, 300_000, 482, 12},
		"a vocabulary smaller than its letters": {Random{Vocab: 3, Width: 64, Heads: 2, Layers: 1, HiddenScale: 1, FlowWidth: 1, FlowBlocks: 1,
			FlowSteps: 1, CodecWidth: 8, CodecHeads: 2, CodecHidden: 1, CodecFilters: 1, Latent: 1, PromptFrames: 1}, 1,
			200_000, 482, 1},
	} {
		source, err := c.model.Source()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		config := &source.Checkpoint.Config
		values := 0
		parts := slices.Concat(config.parts(), config.encoder(),
			[]part{{speakerProjection, []int{c.model.Width, c.model.Latent}}})
		for _, p := range parts {
			n := 1
			for i, d := range p.shape {
				if d < 0 {
					// no setting says how many frequencies the flow's times have, nor how wide are the cosine and the
					// sine of each
					d = 128 << i
				}
				n *= d
			}
			values += n
		}
		if values < c.least || values > c.most {
			t.Errorf("%s: %d values, want %d to %d", name, values, c.least, c.most)
		}
		tokenizer, err := tokenize.Load(source.Tokenizer)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if tokenizer.Size() != c.pieces || len(c.model.Pieces()) != c.pieces ||
			config.FlowLM.LookupTable.NBins != c.pieces {
			t.Errorf("%s: %d pieces, want %d", name, tokenizer.Size(), c.pieces)
		}
		if got := tokenizer.Count("kal subah"); got != len("kal subah")+1 {
			t.Errorf("%s: %d tokens, want one for each letter and one for the beginning", name, got)
		}
		prompt, err := bundle.ReadPrompt(source.Voices[0].Prompt, source.Checkpoint.Dims())
		if err != nil || prompt.Positions != c.prompt || len(source.Voices) != 2 {
			t.Errorf("%s: %d voices of %d positions, %v; want 2 of %d", name, len(source.Voices), prompt.Positions,
				err, c.prompt)
		}
	}
}

func TestEveryWeightOfARandomModelFollowsFromItsSeed(t *testing.T) {
	const name = "flow_lm.input_linear.weight"
	draw := func(seed uint64) []float32 {
		values, err := (&randomWeights{seed: seed}).Floats(name, 8, 4)
		if err != nil {
			t.Fatal(err)
		}
		return values
	}
	if !slices.Equal(draw(1), draw(1)) || slices.Equal(draw(1), draw(2)) {
		t.Error("the same seed must give the same weights, another one others")
	}
}
