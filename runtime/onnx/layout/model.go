package layout

import (
	"errors"

	"github.com/swar-tts/swar/runtime/onnx/bundle"
	"github.com/swar-tts/swar/runtime/tokenize"
)

// Model is a public model: its graphs, its voices and the rules that its folder gives or that stand in for what it does not say. It
// is safe for concurrent use.
type Model struct {
	// Manifest holds Model, Dims.Latent, Dims.Vocab, Dims.Layers, Flow, Text, Sampling, Limits, Decode and Voices. It names no files.
	Manifest  bundle.Manifest
	Tokenizer *tokenize.SentencePiece
}

// Open loads the folder that [Find] has recognised. ONNX Runtime must be loaded. It reads every file, runs what has to be run once
// and checks every graph against what the layout promises. The caller closes the model, after its sequences and decoders.
func Open(dir string, kind Kind) (*Model, error) { return nil, errors.New("layout: not yet") }

// Bytes is the memory of the graphs and of the voice prompts.
func (m *Model) Bytes() (weights, prompts int64) { return 0, 0 }

// StreamBytes is the memory of one sequence and one decoder together.
func (m *Model) StreamBytes() int64 { return 0 }

// NewSequence makes a sequence, which takes two sets of the language model's states: about 100 MB at full size.
func (m *Model) NewSequence() (*Sequence, error) { return nil, errors.New("layout: not yet") }

// NewDecoder makes a decoder.
func (m *Model) NewDecoder() (*Decoder, error) { return nil, errors.New("layout: not yet") }

// Close releases the graphs.
func (m *Model) Close() error { return nil }
