package onnx

import (
	"errors"

	"github.com/swar-tts/swar/runtime/onnx/internal/model"
)

// native is a [sharedModel] in our own layout. Its streams can be stepped together.
type native struct{ *model.Model }

// open implements [sharedModel].
func (n native) open() (sequence, decoder, error) {
	s, err := n.NewStream()
	if err != nil {
		return nil, nil, err
	}
	d, err := n.NewDecoder()
	if err != nil {
		return nil, nil, errors.Join(err, s.Close())
	}
	return s, d, nil
}

// bytes implements [sharedModel].
func (n native) bytes() (weights, prompts, stream int64) { return n.Bytes() }

// close implements [sharedModel].
func (n native) close() error { return n.Close() }
