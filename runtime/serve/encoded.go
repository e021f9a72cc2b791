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
func (d *delivery) encode(a dialect.Audio, u speech.Utterance) (speech.Format, error) {
	if native, ok := a.Native(); ok {
		return native, nil
	}
	encoder, err := d.server.newEncoder(a, u)
	if err != nil {
		return "", err
	}
	d.speaker = &encoded{speaker: d.speaker, encoder: encoder}
	return speech.PCM16, nil
}

// newEncoder returns what writes PCM16 of u as a.
func (s *Server) newEncoder(a dialect.Audio, u speech.Utterance) (*pcmEncoder, error) {
	tags := speech.Metadata{Service: u.Service, Model: s.cfg.Speaker.Model().ID, RequestID: u.RequestID}.Tags()
	encoder, err := s.cfg.Encoders.NewEncoder(a, tags)
	if err != nil {
		return nil, &speech.EngineError{Text: "engine error", Err: err}
	}
	return &pcmEncoder{Encoder: encoder}, nil
}

// pcmEncoder encodes PCM16.
type pcmEncoder struct {
	dialect.Encoder
	samples []int16
}

// write is Write for samples as bytes.
func (e *pcmEncoder) write(data []byte) ([]byte, error) {
	e.samples = e.samples[:0]
	for i := 0; i+1 < len(data); i += 2 {
		e.samples = append(e.samples, int16(uint16(data[i])|uint16(data[i+1])<<8))
	}
	return e.Write(e.samples)
}

// encoded encodes the samples of a speaker, which must speak PCM16. It speaks once.
type encoded struct {
	speaker speaking
	encoder *pcmEncoder
	chunk   int // of the last audio
}

// Speak implements [speaking].
func (e *encoded) Speak(ctx context.Context, u speech.Utterance, turn speech.Turn, sink speech.Sink) (speech.Stats, error) {
	defer func() { _, _ = e.encoder.Close() }() // which frees it, however speaking ends
	st, err := e.speaker.Speak(ctx, u, turn, encodedSink{sink, e})
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

// Audio implements [speech.Sink]. Frames whose audio the encoder holds back pass without data, so that they count.
func (k encodedSink) Audio(a speech.Audio) (err error) {
	k.chunk = a.Chunk
	if a.Data, err = k.encoder.write(a.Data); err != nil {
		return err
	}
	return k.Sink.Audio(a)
}
