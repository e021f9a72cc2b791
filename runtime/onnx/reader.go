package onnx

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/swar-tts/swar/runtime/onnx/bundle"
	"github.com/swar-tts/swar/runtime/onnx/internal/model"
	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/synth"
	"github.com/swar-tts/swar/runtime/tokenize"
)

// Reader is a bundle without its graphs. It knows the voices and counts tokens as an [Engine] does, but cannot speak.
// It needs neither the library nor the memory of the weights, and is safe for concurrent use.
type Reader struct {
	engine Engine // only what reads
}

// ErrReader is what [Reader.NewWorker] returns.
var ErrReader = errors.New("onnx: a reader cannot speak")

// OpenReader opens the bundle in dir, which must not be in a public layout. It reads the manifest and the tokenizer,
// whose hash it does not compare.
func OpenReader(dir string) (*Reader, error) {
	m, err := bundle.Open(dir)
	if err != nil {
		return nil, err
	}
	file, err := os.ReadFile(filepath.Join(dir, m.Tokenizer.File.File))
	if err != nil {
		return nil, fmt.Errorf("bundle %s: %w", dir, err)
	}
	t, err := tokenize.Load(file)
	if err != nil {
		return nil, fmt.Errorf("bundle %s: tokenizer: %w", dir, err)
	}
	return &Reader{Engine{manifest: m, tokenizer: t, text: model.NewPreparer(&m.Text, m.Trained.Script)}}, nil
}

// Model implements [synth.Engine].
func (r *Reader) Model() speech.Model { return r.engine.Model() }

// Tokens implements [synth.Engine].
func (r *Reader) Tokens(text string) int { return r.engine.Tokens(text) }

// Speaks implements [synth.Engine].
func (r *Reader) Speaks(text string) bool { return r.engine.Speaks(text) }

// Prepared implements [synth.Preparer].
func (r *Reader) Prepared(chunk string) string { return r.engine.Prepared(chunk) }

// ReadsMarks implements [synth.MarkReader].
func (r *Reader) ReadsMarks() bool { return r.engine.ReadsMarks() }

// NewWorker implements [synth.Engine]: there is none.
func (r *Reader) NewWorker(context.Context) (synth.Worker, error) { return nil, ErrReader }

// Close implements [synth.Engine].
func (r *Reader) Close() error { return nil }
