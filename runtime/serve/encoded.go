package serve

import (
	"context"
	"errors"

	"github.com/swar-tts/swar/runtime/dialect"
	"github.com/swar-tts/swar/runtime/speech"
)

// noEncoders is a server that writes the native formats alone.
type noEncoders struct{}

// Encodes implements [dialect.Encoders].
func (noEncoders) Encodes(dialect.Audio) bool { return false }

// NewEncoder implements [dialect.Encoders].
func (noEncoders) NewEncoder(dialect.Audio, []string) (dialect.Encoder, error) {
	return nil, errors.New("this server has no encoders")
}

// encode lets d write the audio of u as a, and returns the native format in which it must be spoken for that.
func (d *delivery) encode(a dialect.Audio, u speech.Utterance) speech.Format {
	if native, ok := a.Native(); ok {
		return native
	}
	d.speaker = &encoded{speaker: d.speaker, begin: func() *pcmEncoder { return d.server.newEncoder(a, u) }}
	return speech.PCM16
}

// newEncoder returns what writes PCM16 of u as a. It is made while the engine speaks its first frame: making one for
// MP3 takes 1 ms. It must be closed.
func (s *Server) newEncoder(a dialect.Audio, u speech.Utterance) *pcmEncoder {
	tags := speech.Metadata{Service: u.Service, Model: s.cfg.Speaker.Model().ID, RequestID: u.RequestID}.Tags()
	e := &pcmEncoder{made: make(chan struct{})}
	go func() {
		defer close(e.made)
		e.encoder, e.err = s.cfg.Encoders.NewEncoder(a, tags)
	}()
	return e
}

// pcmEncoder encodes PCM16.
type pcmEncoder struct {
	made    chan struct{} // closed when encoder or err is there
	encoder dialect.Encoder
	err     error
	samples []int16
}

// Close returns the rest, and frees the encoder.
func (e *pcmEncoder) Close() ([]byte, error) {
	if err := e.await(); err != nil {
		return nil, err
	}
	return e.encoder.Close()
}

func (e *pcmEncoder) await() error {
	if <-e.made; e.err != nil {
		return &speech.EngineError{Text: "engine error", Err: e.err}
	}
	return nil
}

// write encodes samples as bytes.
func (e *pcmEncoder) write(data []byte) ([]byte, error) {
	if err := e.await(); err != nil {
		return nil, err
	}
	e.samples = e.samples[:0]
	for i := 0; i+1 < len(data); i += 2 {
		e.samples = append(e.samples, int16(uint16(data[i])|uint16(data[i+1])<<8))
	}
	return e.encoder.Write(e.samples)
}

// encoded encodes the samples of a speaker, which must speak PCM16. It speaks once.
type encoded struct {
	speaker speaking
	begin   func() *pcmEncoder
	encoder *pcmEncoder // nil before a worker speaks
	chunk   int         // of the last audio
}

// Speak implements [speaking].
func (e *encoded) Speak(ctx context.Context, u speech.Utterance, turn speech.Turn,
	sink speech.Sink) (speech.Stats, error) {
	st, err := e.speaker.Speak(ctx, u, turn, encodedSink{sink, e})
	if e.encoder == nil {
		return st, err
	}
	defer func() { _, _ = e.encoder.Close() }() // which frees it, however speaking has ended
	if err != nil {
		return st, err
	}
	rest, err := e.encoder.Close()
	if err == nil && len(rest) > 0 {
		err = sink.Audio(speech.Audio{Chunk: e.chunk, Data: rest})
	}
	return st, err
}

// encodedSink is the sink of the speaker of an encoded.
type encodedSink struct {
	speech.Sink
	*encoded
}

// Start implements [speech.Sink].
func (k encodedSink) Start(s speech.Start) error {
	k.encoder = k.begin()
	return k.Sink.Start(s)
}

// Audio implements [speech.Sink]. Frames whose audio the encoder holds back pass without data, so that they count.
func (k encodedSink) Audio(a speech.Audio) (err error) {
	k.chunk = a.Chunk
	if a.Data, err = k.encoder.write(a.Data); err != nil {
		return err
	}
	return k.Sink.Audio(a)
}
