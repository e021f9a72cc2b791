// Package encode writes frames as bytes that clients can play: bare samples, WAV, or Ogg/Opus.
package encode

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/wav"
)

// Encoder writes one stream of audio. It is not safe for concurrent use.
//
// Every Write puts what it encodes into one Write of the underlying writer: that is the flush point. After an error
// every later call returns the same error.
type Encoder interface {
	// Write encodes pcm, mono samples at 24 kHz, any number of them. pcm is not kept.
	Write(pcm []int16) error

	// Close writes what remains and the end of the container, and frees the encoder. It does not close the underlying
	// writer. A second Close does nothing.
	Close() error
}

// Options are the settings of the Opus encoder. The zero value means the defaults.
type Options struct {
	Tags           []string // NAME=VALUE; comments behind that of the encoder, altogether at most 32 KiB
	OpusBitrate    int      // bits per second, 6,000 to 510,000; 0 means 48,000
	OpusComplexity int      // 1 (fast) to 10 (slow); 0 means 5
}

var errClosed = errors.New("encode: write after close")

// New returns an encoder that writes format f to w. It fails for an unknown format and for Options out of range. What
// is passed to w.Write is valid until that returns.
func New(f speech.Format, w io.Writer, o Options) (Encoder, error) {
	switch f {
	case speech.PCM16:
		return &pcm{w: w}, nil
	case speech.WAV:
		return &pcm{w: w, header: true}, nil
	case speech.Opus:
		return newOpus(w, o)
	default:
		return nil, fmt.Errorf("encode: no encoder for %q", f)
	}
}

// pcm writes samples, after a WAV header if wanted.
type pcm struct {
	w      io.Writer
	header bool // still to be written
	buf    []byte
	err    error
}

func (e *pcm) Write(samples []int16) error {
	if e.err != nil {
		return e.err
	}
	if len(samples) == 0 {
		return nil // the header leaves together with audio
	}
	e.buf = e.buf[:0]
	e.putHeader()
	start := len(e.buf)
	e.buf = slices.Grow(e.buf, 2*len(samples))[:start+2*len(samples)]
	for i, s := range samples {
		binary.LittleEndian.PutUint16(e.buf[start+2*i:], uint16(s))
	}
	return e.flush()
}

func (e *pcm) Close() error {
	if e.err != nil {
		if errors.Is(e.err, errClosed) {
			return nil
		}
		return e.err
	}
	e.buf = e.buf[:0]
	e.putHeader()
	if err := e.flush(); err != nil {
		return err
	}
	e.err = errClosed
	return nil
}

func (e *pcm) putHeader() {
	if e.header {
		header := wav.Header(wav.Streaming)
		e.buf = append(e.buf, header[:]...)
		e.header = false
	}
}

func (e *pcm) flush() error {
	if len(e.buf) > 0 {
		e.err = write(e.w, e.buf)
	}
	return e.err
}

// write is w.Write that insists on the whole of p.
func write(w io.Writer, p []byte) error {
	n, err := w.Write(p)
	if err == nil && n < len(p) {
		err = io.ErrShortWrite
	}
	return err
}
