package serve

import (
	"context"
	"errors"

	"github.com/swar-tts/swar/runtime/answer"
	"github.com/swar-tts/swar/runtime/speech"
)

// speaking is the part of a [speech.Speaker] that speaks, also one with something behind it.
type speaking interface {
	Speak(ctx context.Context, u speech.Utterance, turn speech.Turn, sink speech.Sink) (speech.Stats, error)
}

// speak lets the speaker speak u into sink.
func (s *Server) speak(ctx context.Context, u speech.Utterance, turn speech.Turn,
	sink speech.Sink) (speech.Stats, error) {
	return speakBy(ctx, s.cfg.Speaker, u, turn, sink)
}

// speakBy lets by speak u into sink. A panic of the speaker becomes an error, and what it had spoken until then is
// counted as ever, so that metrics, log and bill explain one another.
func speakBy(
	ctx context.Context, by speaking, u speech.Utterance, turn speech.Turn, sink speech.Sink,
) (st speech.Stats, err error) {
	seen := counted{Sink: sink}
	err = answer.Try(func() (err error) {
		st, err = by.Speak(ctx, u, turn, &seen)
		return err
	})
	if _, defect := errors.AsType[*answer.PanicError](err); defect {
		st = seen.stats
	}
	if cause := context.Cause(ctx); cause != nil && errors.Is(err, errStopped) {
		err = cause
	}
	return st, err
}

// counted is a sink that knows what it was given.
type counted struct {
	speech.Sink
	stats speech.Stats
}

// Start implements [speech.Sink].
func (c *counted) Start(st speech.Start) error {
	c.stats.Started, c.stats.Normalize, c.stats.Queue = true, st.Normalize, st.Queue
	return c.Sink.Start(st)
}

// Audio implements [speech.Sink].
func (c *counted) Audio(a speech.Audio) error {
	if c.stats.Frames == 0 {
		c.stats.TTFA = a.Prefill + a.FirstFrame
	}
	c.stats.Frames += a.Frames
	return c.Sink.Audio(a)
}

// errNoAudio is an engine that ended without a frame: an answer of 200 without audio would look like success.
var errNoAudio = &speech.EngineError{Text: "engine error", Err: errors.New("no audio came out")}
