// Package voiceout converts the engine's samples to the client's format. It changes speed, sample rate, encoding and
// container. It knows samples and formats only.
//
// An [Encoder] is for one turn, or one context, of a client: everything that it has been given becomes one stream.
package voiceout

import (
	"errors"
	"sync"

	"github.com/swar-tts/swar/runtime/resample"
	"github.com/swar-tts/swar/runtime/stretch"
	"github.com/swar-tts/swar/runtime/wav"
)

// An Encoder makes one stream of a [Format]. It is not safe for concurrent use.
//
// The stream depends on the samples alone, not on how they are cut into calls of Write. Only the serial number of an
// Ogg stream differs each time.
type Encoder struct {
	format  Format
	stretch *stretch.Stretcher // nil at speed 1
	rate    *resample.Stream   // nil at 24 kHz
	sink    sink
	out     []byte
	err     error
	block   [1024]int16 // what the filter has given
}

// A sink appends what samples of the client's rate become.
type sink interface {
	write(dst []byte, samples []int16) ([]byte, error)
	close(dst []byte) ([]byte, error) // once; it also frees what is not Go's
}

var errClosed = errors.New("voiceout: write after close")

// New returns an encoder. tags are NAME=VALUE, for the comments of Ogg and FLAC; the other containers have no place for
// them that every client would skip. It fails as [Format.Check] does.
func New(f Format, tags ...string) (*Encoder, error) {
	f, err := f.Check()
	if err != nil {
		return nil, err
	}
	e := &Encoder{format: f}
	if f.Speed != 1 {
		e.stretch = stretch.New(f.Speed)
	}
	rate := f.Rate
	if f.Container == Ogg {
		rate = EngineRate
	}
	if rate != EngineRate {
		filter, err := filterTo(rate)
		if err != nil {
			return nil, err
		}
		e.rate = filter.Stream()
	}
	if e.sink, err = newSink(f, tags); err != nil {
		return nil, err
	}
	return e, nil
}

func newSink(f Format, tags []string) (sink, error) {
	switch f.Container {
	case MP3:
		return newMP3(f.Rate, f.Bitrate)
	case Ogg:
		return newOpus(f.Bitrate, tags)
	case FLAC:
		return newFLAC(f.Rate, tags), nil
	}
	p := &plain{encode: encoders[f.Encoding]}
	if f.Container == WAV {
		p.header = f.sound().AppendHeader(nil, wav.Streaming)
	}
	return p, nil
}

// filters are made once, and shared.
var filters sync.Map // of rates, each with func() (*resample.Filter, error)

func filterTo(rate int) (*resample.Filter, error) {
	made, _ := filters.LoadOrStore(rate, sync.OnceValues(func() (*resample.Filter, error) {
		return resample.New(EngineRate, rate, shape(rate))
	}))
	return made.(func() (*resample.Filter, error))()
}

// Format returns the format with what New has filled in.
func (e *Encoder) Format() Format { return e.format }

// Write returns the bytes that are ready after samples, which are mono at 24 kHz. There may be none. They are valid
// until the next call. samples are not kept. After an error every later call returns the same one.
func (e *Encoder) Write(samples []int16) ([]byte, error) {
	if e.err != nil {
		return nil, e.err
	}
	e.out = e.out[:0]
	if e.stretch == nil {
		e.resample(samples)
		return e.out, e.err
	}
	for len(samples) > 0 && e.err == nil {
		samples = samples[e.stretch.Push(samples):]
		e.pullStretched()
	}
	return e.out, e.err
}

// Close returns the rest of the stream and frees the encoder; who needs no rest calls it as well. A second Close
// returns nothing.
func (e *Encoder) Close() ([]byte, error) {
	if errors.Is(e.err, errClosed) {
		return nil, nil
	}
	e.out = e.out[:0]
	if e.stretch != nil && e.err == nil {
		e.stretch.End()
		e.pullStretched()
	}
	if e.rate != nil && e.err == nil {
		e.rate.End()
		e.pullResampled()
	}
	failed := e.err
	out, err := e.sink.close(e.out)
	e.err = errClosed
	if failed != nil {
		return nil, failed
	}
	return out, err
}

func (e *Encoder) pullStretched() {
	for e.err == nil {
		hop := e.stretch.Pull()
		if len(hop) == 0 {
			return
		}
		e.resample(hop)
	}
}

func (e *Encoder) resample(samples []int16) {
	if e.rate == nil {
		e.deliver(samples)
		return
	}
	for len(samples) > 0 && e.err == nil {
		samples = samples[e.rate.Push(samples):]
		e.pullResampled()
	}
}

func (e *Encoder) pullResampled() {
	for e.err == nil {
		n := e.rate.Pull(e.block[:])
		if n == 0 {
			return
		}
		e.deliver(e.block[:n])
	}
}

func (e *Encoder) deliver(samples []int16) {
	if len(samples) > 0 && e.err == nil {
		e.out, e.err = e.sink.write(e.out, samples)
	}
}

// SetLengths writes the real lengths into the header of a complete stream of f. It is for buffered answers; streamed
// WAV has 0xFFFFFFFF there. It changes nothing of other containers.
func (f Format) SetLengths(whole []byte) {
	if f.Container == WAV {
		wav.SetLengths(whole, len(whole))
	}
}

// All returns the whole stream of samples, with its lengths.
func All(f Format, samples []int16, tags ...string) ([]byte, error) {
	e, err := New(f, tags...)
	if err != nil {
		return nil, err
	}
	begin, err := e.Write(samples)
	all := append([]byte(nil), begin...)
	end, closing := e.Close()
	all = append(all, end...)
	f.SetLengths(all)
	return all, errors.Join(err, closing)
}
