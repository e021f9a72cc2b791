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
	model := d.server.cfg.Speaker.Model().ID
	tags := speech.Metadata{Service: u.Service, Model: model, RequestID: u.RequestID}.Tags()
	encoder, err := d.server.cfg.Encoders.NewEncoder(a, tags)
	if err != nil {
		return "", &speech.EngineError{Text: "engine error", Err: err}
	}
	d.speaker = &encoded{speaker: d.speaker, encoder: encoder}
	return speech.PCM16, nil
}

// encoded encodes the samples of a speaker, which must speak PCM16. It speaks once.
type encoded struct {
	speaker speaking
	encoder dialect.Encoder
	chunk   int // of the last audio
	samples []int16
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
	k.samples = k.samples[:0]
	for i := 0; i+1 < len(a.Data); i += 2 {
		k.samples = append(k.samples, int16(uint16(a.Data[i])|uint16(a.Data[i+1])<<8))
	}
	k.chunk = a.Chunk
	if a.Data, err = k.encoder.Write(k.samples); err != nil {
		return err
	}
	return k.Sink.Audio(a)
}
