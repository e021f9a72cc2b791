package bundle

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

// Random describes a model with random weights: it makes noise in place of speech, at the cost of a real one. The same description
// gives the same bundle.
type Random struct {
	Seed         uint64
	Width, Heads int // of the language model
	Layers       int
	HiddenScale  int
	FlowWidth    int
	FlowBlocks   int
	FlowSteps    int
	CodecWidth   int
	CodecHeads   int
	CodecHidden  int
	CodecFilters int
	Latent       int
	PromptFrames int
	Precision    string // FP32 or Int8; empty means FP32
	Ends         bool   // whether speech ends by itself, as soon as it may; otherwise every chunk reaches its limit
}

// Tiny is a model of a few hundred kilobytes, for tests.
func Tiny() Random {
	return Random{
		Seed: 1, Width: 64, Heads: 2, Layers: 2, HiddenScale: 2, FlowWidth: 32, FlowBlocks: 1, FlowSteps: 1,
		CodecWidth: 32, CodecHeads: 2, CodecHidden: 64, CodecFilters: 4, Latent: 16, PromptFrames: 12, Ends: true,
	}
}

// Full has the sizes of the released models of six layers.
func Full() Random {
	return Random{
		Seed: 1, Width: 1024, Heads: 16, Layers: 6, HiddenScale: 4, FlowWidth: 512, FlowBlocks: 6, FlowSteps: 1,
		CodecWidth: 512, CodecHeads: 8, CodecHidden: 2048, CodecFilters: 64, Latent: 32, PromptFrames: 102,
	}
}

// SynthRandom writes the bundle of a random model with two voices into dir.
func SynthRandom(dir string, r Random) (Manifest, error) {
	tokenizer, vocab := syntheticTokenizer()
	var c Config
	lm, mimi := &c.FlowLM, &c.Mimi
	lm.InsertBOSBeforeVoice = true
	lm.Flow.Depth, lm.Flow.Dim, lm.Flow.Type = r.FlowBlocks, r.FlowWidth, "lsd"
	lm.Transformer.DModel, lm.Transformer.HiddenScale, lm.Transformer.MaxPeriod = r.Width, r.HiddenScale, 10000
	lm.Transformer.NumHeads, lm.Transformer.NumLayers = r.Heads, r.Layers
	lm.LookupTable.Dim, lm.LookupTable.NBins, lm.LookupTable.Tokenizer = r.Width, vocab, "sentencepiece"
	mimi.SampleRate, mimi.FrameRate, mimi.Channels = 24000, 12.5, 1
	s := &mimi.SEANet
	s.Dimension, s.Channels, s.NFilters, s.NResidualLayers, s.Ratios = r.CodecWidth, 1, r.CodecFilters, 1, []int{6, 5, 4}
	s.KernelSize, s.ResidualKernelSize, s.LastKernelSize, s.PadMode, s.Compress = 7, 3, 3, "constant", 2
	t := &mimi.Transformer
	t.DModel, t.NumHeads, t.NumLayers, t.Context, t.MaxPeriod, t.DimFeedforward = r.CodecWidth, r.CodecHeads, 2, 250, 10000, r.CodecHidden
	mimi.Quantizer.Dimension, mimi.Quantizer.OutputDimension = r.Latent, r.CodecWidth
	if err := c.check(); err != nil {
		return Manifest{}, fmt.Errorf("random model: %w", err)
	}

	source := Source{
		Checkpoint: Checkpoint{Weights: &randomWeights{r.Seed, r.Ends}, Config: c, GELU: "tanh", Precision: r.Precision, Steps: r.FlowSteps},
		Model:      Model{ID: "random", Languages: []string{"hi-IN", "en-IN"}, Weights: strings.Repeat("0", 64)},
		Tokenizer:  tokenizer, Text: DefaultText(c), Sampling: DefaultSampling(c), Limits: DefaultLimits(), FadeIn: DefaultFadeIn,
	}
	for i, name := range []string{"anjura", "raj"} {
		prompt, err := randomPrompt(source.Checkpoint.Dims(), r.PromptFrames, r.Seed+uint64(i)+1)
		if err != nil {
			return Manifest{}, err
		}
		source.Voices = append(source.Voices, SourceVoice{Name: name, Language: "hi-IN+en-IN", Prompt: prompt})
	}
	return Write(dir, source)
}

func randomPrompt(d Dims, positions int, seed uint64) (*Tensors, error) {
	p := Prompt{Positions: positions}
	draw := rand.New(rand.NewPCG(seed, 0))
	for range d.Layers {
		for _, to := range []*[][]float32{&p.K, &p.V} {
			values := make([]float32, positions*d.Width)
			for i := range values {
				values[i] = float32(draw.NormFloat64())
			}
			*to = append(*to, values)
		}
	}
	var b bytes.Buffer
	if err := WritePrompt(&b, p, d); err != nil {
		return nil, err
	}
	return ReadTensors(bytes.NewReader(b.Bytes()), int64(b.Len()))
}

// randomWeights makes up each weight from its name, scaled so that values keep their size from layer to layer.
type randomWeights struct {
	seed uint64
	ends bool
}

// Floats implements [Weights].
func (w *randomWeights) Floats(name string, shape ...int) ([]float32, error) {
	const timeFrequencies = 128
	if strings.HasSuffix(name, ".freqs") {
		f := make([]float32, timeFrequencies)
		for i := range f {
			f[i] = float32(math.Exp(-math.Log(10000) * float64(i) / timeFrequencies))
		}
		return f, nil
	}
	mean, deviation := 0.0, .02
	switch isNorm := strings.Contains(name, "norm") || strings.Contains(name, "in_ln"); {
	case name == "flow_lm.out_eos.weight" || name == "flow_lm.emb_mean" || isNorm && strings.HasSuffix(name, ".bias"):
		deviation = 0
	case name == "flow_lm.out_eos.bias":
		mean, deviation = -100, 0
		if w.ends {
			mean = 10
		}
	case name == "flow_lm.emb_std" || strings.HasSuffix(name, ".alpha") || isNorm:
		mean, deviation = 1, 0
	case strings.Contains(name, "layer_scale"):
		mean, deviation = .3, 0
	case strings.HasSuffix(name, "conditioner.embed.weight") || strings.HasSuffix(name, "bos_emb"):
		deviation = 1
	case strings.HasSuffix(name, "decoder.model.11.conv.weight"):
		deviation = .05 / math.Sqrt(float64(size(shape[1:]))) // so that samples stay within [-1, 1]
	case strings.Contains(name, "upsample"):
		deviation = .7
	case strings.Contains(name, "convtr.weight"):
		deviation = math.Sqrt(1 / float64(2*shape[0])) // two positions of every input reach an output
	case len(shape) > 1:
		deviation = math.Sqrt(1 / float64(size(shape[1:])))
	}
	h := fnv.New64a()
	h.Write([]byte(name))
	draw := rand.New(rand.NewPCG(w.seed, h.Sum64()))
	values := make([]float32, size(shape))
	for i := range values {
		values[i] = float32(mean + deviation*draw.NormFloat64())
	}
	return values, nil
}

// syntheticTokenizer is a SentencePiece model of the kind of the released ones: unigram with byte fallback. Its pieces are single
// letters, so that a text has about as many tokens as letters.
func syntheticTokenizer() (model []byte, vocab int) {
	const (
		kindUnknown, kindControl, kindByte = 2, 3, 6
		unigram                            = 1
	)
	piece := func(text string, kind uint64) {
		p := protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), text)
		p = protowire.AppendFixed32(protowire.AppendTag(p, 2, protowire.Fixed32Type), math.Float32bits(-float32(vocab)/100))
		if kind != 0 {
			p = protowire.AppendVarint(protowire.AppendTag(p, 3, protowire.VarintType), kind)
		}
		model = protowire.AppendBytes(protowire.AppendTag(model, 1, protowire.BytesType), p)
		vocab++
	}
	piece("<unk>", kindUnknown)
	piece("<s>", kindControl)
	piece("</s>", kindControl)
	for b := range 256 {
		piece(fmt.Sprintf("<0x%02X>", b), kindByte)
	}
	piece("▁", 0)
	for r := rune('!'); r <= '~'; r++ {
		piece(string(r), 0)
	}
	for r := rune(0x900); r < 0x980; r++ {
		piece(string(r), 0)
	}
	field := func(m []byte, number protowire.Number, v uint64) []byte {
		return protowire.AppendVarint(protowire.AppendTag(m, number, protowire.VarintType), v)
	}
	trainer := field(field(field(nil, 3, unigram), 4, uint64(vocab)), 35, 1) // kind, size, byte fallback
	normalizer := protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), "identity")
	normalizer = field(field(field(normalizer, 3, 1), 4, 1), 5, 1) // dummy prefix, no extra spaces, spaces as marks
	model = protowire.AppendBytes(protowire.AppendTag(model, 2, protowire.BytesType), trainer)
	return protowire.AppendBytes(protowire.AppendTag(model, 3, protowire.BytesType), normalizer), vocab
}
