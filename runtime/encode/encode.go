// Package encode writes frames as bytes that clients can play: bare samples, WAV, or Ogg/Opus.
package encode

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/swar-tts/swar/runtime/speech"
)

// Encoder writes one stream of audio. It is not safe for concurrent use.
//
// Every Write puts what it encodes into one Write of the underlying writer: that is the flush point. After an error every later
// call returns the same error.
type Encoder interface {
	// Write encodes pcm, mono samples at 24 kHz, any number of them.
	Write(pcm []int16) error

	// Close writes what remains and the end of the container, and frees the encoder. It does not close the underlying writer. A
	// second Close does nothing.
	Close() error
}

// Options are the settings of the Opus encoder. The zero value means the defaults.
type Options struct {
	OpusBitrate    int // bits per second, 6,000 to 510,000; 0 means 48,000
	OpusComplexity int // 1 to 10; 0 means 5. From 7 on it costs four times as much
}

var errClosed = errors.New("encode: write after close")

// New returns an encoder that writes format f to w.
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
	e.buf = e.buf[:0]
	e.putHeader()
	for _, s := range samples {
		e.buf = binary.LittleEndian.AppendUint16(e.buf, uint16(s))
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
		header := WAVHeader(WAVStreaming)
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
