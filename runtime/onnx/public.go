package onnx

import (
	"errors"

	"github.com/swar-tts/swar/runtime/onnx/layout"
)

// public is a [sharedModel] in a public layout. Its states are those of one stream, so that its steps run alone.
type public struct{ layout *layout.Model }

// open implements [sharedModel].
func (p public) open() (sequence, decoder, error) {
	s, err := p.layout.NewSequence()
	if err != nil {
		return nil, nil, err
	}
	d, err := p.layout.NewDecoder()
	if err != nil {
		return nil, nil, errors.Join(err, s.Close())
	}
	return s, d, nil
}

// bytes implements [sharedModel].
func (p public) bytes() (weights, prompts, stream int64) {
	weights, prompts = p.layout.Bytes()
	return weights, prompts, p.layout.StreamBytes()
}

// close implements [sharedModel].
func (p public) close() error { return p.layout.Close() }
