package convert

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/swar-tts/swar/runtime/onnx/bundle"
	"github.com/swar-tts/swar/runtime/safetensors"
)

// Random describes a model with random weights. It makes noise instead of speech, at the cost of a real model. The
// same description gives the same bundle.
//
// Its tokenizer knows single letters: a text has a token for each, one for its beginning and one for the full stop
// that is added. Without Ends a chunk of n tokens sounds exactly [bundle.Limits.MaxFrames] of n frames, and eos is
// false. With Ends the end mark stands in the first frame in which it counts, so that a chunk sounds MinFrames and
// FramesAfterEOS (or FramesAfterEOSShort) of its [bundle.Sampling] together, 9 or, of up to four words, 11 frames.
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
	// pieces of the tokenizer, of which those above the letters never occur in text; 0 means no more than the letters
	Vocab        int
	PromptFrames int
	Precision    string // FP32 or Int8; empty means FP32
	Ends         bool   // whether speech ends by itself, as soon as it may; otherwise every chunk reaches its limit
}

// Tiny is a model of a few hundred kilobytes, for tests. Its speech ends by itself.
func Tiny() Random {
	return Random{
		Seed: 1, Width: 64, Heads: 2, Layers: 2, HiddenScale: 2, FlowWidth: 32, FlowBlocks: 1, FlowSteps: 1,
		CodecWidth: 32, CodecHeads: 2, CodecHidden: 64, CodecFilters: 4, Latent: 16, PromptFrames: 12, Ends: true,
	}
}

// Lite has the depth of the released models and half their width, thus a quarter of their weights. It is for trying a
// server on a small machine, where Full would be slow and Tiny would not show real costs.
func Lite() Random {
	return Random{
		Seed: 1, Width: 512, Heads: 8, Layers: 6, HiddenScale: 4, FlowWidth: 256, FlowBlocks: 6, FlowSteps: 1,
		CodecWidth: 256, CodecHeads: 4, CodecHidden: 1024, CodecFilters: 32, Latent: 32, Vocab: 4000, PromptFrames: 102,
	}
}

// Full has the sizes of the released models of six layers. They have 109.5 million values, with those of the encoder,
// which speaking does not need.
func Full() Random {
	return Random{
		Seed: 1, Width: 1024, Heads: 16, Layers: 6, HiddenScale: 4, FlowWidth: 512, FlowBlocks: 6, FlowSteps: 1,
		CodecWidth: 512, CodecHeads: 8, CodecHidden: 2048, CodecFilters: 64, Latent: 32, Vocab: 4000, PromptFrames: 102,
	}
}

// SynthRandom writes the bundle of a random model with two voices into dir.
func SynthRandom(dir string, r Random) (bundle.Manifest, error) {
	source, err := r.Source()
	if err != nil {
		return bundle.Manifest{}, err
	}
	return Write(dir, source)
}

// Source makes up the model and its voices, raj and anjura. The checkpoint has every weight of a published one, those
// of the encoder included.
func (r Random) Source() (Source, error) {
	pieces := r.Pieces()
	var c Config
	lm, mimi := &c.FlowLM, &c.Mimi
	lm.InsertBOSBeforeVoice = true
	lm.Flow.Depth, lm.Flow.Dim, lm.Flow.Type = r.FlowBlocks, r.FlowWidth, "lsd"
	lm.Transformer.DModel, lm.Transformer.HiddenScale, lm.Transformer.MaxPeriod = r.Width, r.HiddenScale, 10000
	lm.Transformer.NumHeads, lm.Transformer.NumLayers = r.Heads, r.Layers
	lm.LookupTable.Dim, lm.LookupTable.NBins, lm.LookupTable.Tokenizer = r.Width, len(pieces), "sentencepiece"
	mimi.SampleRate, mimi.FrameRate, mimi.Channels, mimi.InnerDim = 24000, 12.5, 1, r.Latent
	s := &mimi.SEANet
	s.Dimension, s.Channels, s.NFilters, s.NResidualLayers, s.Ratios = r.CodecWidth, 1, r.CodecFilters, 1,
		[]int{6, 5, 4}
	s.KernelSize, s.ResidualKernelSize, s.LastKernelSize, s.PadMode, s.Compress = 7, 3, 3, "constant", 2
	t := &mimi.Transformer
	t.DModel, t.NumHeads, t.NumLayers, t.Context, t.MaxPeriod, t.DimFeedforward = r.CodecWidth, r.CodecHeads, 2, 250,
		10000, r.CodecHidden
	mimi.Quantizer.Dimension, mimi.Quantizer.OutputDimension = r.Latent, r.CodecWidth
	if err := c.check(); err != nil {
		return Source{}, fmt.Errorf("random model: %w", err)
	}

	source := Source{
		Checkpoint: Checkpoint{Weights: &randomWeights{r.Seed, r.Ends}, Config: c, GELU: "tanh",
			Precision: r.Precision, Steps: r.FlowSteps},
		Model:     bundle.Model{ID: "random", Languages: []string{"hi-IN", "en-IN"}},
		Tokenizer: sentencePiece(pieces), Text: DefaultText(c), Sampling: DefaultSampling(c),
		Limits: DefaultLimits(), FadeIn: DefaultFadeIn,
	}
	for i, name := range []string{"anjura", "raj"} {
		prompt, err := randomPrompt(source.Checkpoint.Dims(), r.PromptFrames, r.Seed+uint64(i)+1)
		if err != nil {
			return Source{}, err
		}
		source.Voices = append(source.Voices, SourceVoice{Name: name, Language: "hi-IN+en-IN", Prompt: prompt})
	}
	return source, nil
}

func randomPrompt(d bundle.Dims, positions int, seed uint64) (*safetensors.Tensors, error) {
	p := bundle.Prompt{Positions: positions}
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
	if err := bundle.WritePrompt(&b, p, d); err != nil {
		return nil, err
	}
	return safetensors.Read(bytes.NewReader(b.Bytes()), int64(b.Len()))
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

// Piece is an entry of a tokenizer. Its id is its place in the list.
type Piece struct {
	Text  string
	Score float32
	kind  uint64 // of the SentencePiece format, 0 for an ordinary piece
}

const (
	kindUnknown = 2
	kindControl = 3
	kindByte    = 6
)

// Pieces lists the tokenizer of the model. It is of the kind of the released ones: unigram with byte fallback.
func (r Random) Pieces() []Piece {
	var pieces []Piece
	add := func(text string, kind uint64) {
		pieces = append(pieces, Piece{text, -float32(len(pieces)) / 100, kind})
	}
	add("<unk>", kindUnknown)
	add("<s>", kindControl)
	add("</s>", kindControl)
	for b := range 256 {
		add(fmt.Sprintf("<0x%02X>", b), kindByte)
	}
	add("▁", 0)
	for r := rune('!'); r <= '~'; r++ {
		add(string(r), 0)
	}
	for r := rune(0x900); r < 0x980; r++ {
		add(string(r), 0)
	}
	for private := rune(0xE000); len(pieces) < r.Vocab; private++ { // runes that no text holds
		add(string(private), 0)
	}
	return pieces
}

// sentencePiece encodes pieces as a SentencePiece model.
func sentencePiece(pieces []Piece) []byte {
	const unigram = 1
	var model []byte
	for _, entry := range pieces {
		p := protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), entry.Text)
		p = protowire.AppendFixed32(protowire.AppendTag(p, 2, protowire.Fixed32Type), math.Float32bits(entry.Score))
		if entry.kind != 0 {
			p = protowire.AppendVarint(protowire.AppendTag(p, 3, protowire.VarintType), entry.kind)
		}
		model = protowire.AppendBytes(protowire.AppendTag(model, 1, protowire.BytesType), p)
	}
	field := func(m []byte, number protowire.Number, v uint64) []byte {
		return protowire.AppendVarint(protowire.AppendTag(m, number, protowire.VarintType), v)
	}
	trainer := field(field(field(nil, 3, unigram), 4, uint64(len(pieces))), 35, 1) // kind, size, byte fallback
	normalizer := protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), "identity")
	normalizer = field(field(field(normalizer, 3, 1), 4, 1), 5, 1) // dummy prefix, no extra spaces, spaces as marks
	model = protowire.AppendBytes(protowire.AppendTag(model, 2, protowire.BytesType), trainer)
	return protowire.AppendBytes(protowire.AppendTag(model, 3, protowire.BytesType), normalizer)
}
