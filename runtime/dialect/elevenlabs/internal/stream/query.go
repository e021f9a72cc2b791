package stream

import (
	"strconv"
	"time"

	"github.com/swar-tts/swar/runtime/dialect"
	"github.com/swar-tts/swar/runtime/dialect/elevenlabs/internal/request"
	"github.com/swar-tts/swar/runtime/speech"
)

// How long a context may go without a message, when nothing of it is left to be spoken.
const (
	defaultIdle = 20 * time.Second
	maxIdle     = 180 * time.Second
)

// settings are what the query of a socket says.
type settings struct {
	order     dialect.Order // of every context, at speed 1
	hasSpeeds bool          // it can be spoken at others, too
	auto      bool          // every message is flushed
	sync      bool          // times count from the start of the context
	idle      time.Duration
}

// Multi opens multi-stream-input.
func Multi(c dialect.Call) (dialect.Socket, error) { return openSocket(c, true) }

// Single opens stream-input.
func Single(c dialect.Call) (dialect.Socket, error) { return openSocket(c, false) }

func openSocket(c dialect.Call, multi bool) (dialect.Socket, error) {
	s := settings{idle: defaultIdle}
	var err error
	if s.order, err = request.Common(c); err != nil {
		return nil, err
	}
	if v := s.order.Utterance.Voice; !c.Allows(v) {
		return nil, speech.VoiceNotAllowed(v)
	}
	faster := s.order.Audio
	faster.Speed = request.MaxSpeed
	s.hasSpeeds = c.Encodes(faster)
	s.order.Utterance.WordTimes = true
	if err = request.NormalizeAs(&s.order.Utterance, c.Query.Get("apply_text_normalization")); err != nil {
		return nil, err
	}
	if s.auto, err = request.Bool(c, "auto_mode"); err != nil {
		return nil, err
	}
	if s.sync, err = request.Bool(c, "sync_alignment"); err != nil {
		return nil, err
	}
	if value := c.Query.Get("inactivity_timeout"); value != "" {
		seconds, err := strconv.Atoi(value)
		if err != nil || seconds < 1 {
			return nil, dialect.Refuse("inactivity_timeout", speech.CodeBadRequest,
				"inactivity_timeout: must be a number of seconds from 1 to 180")
		}
		s.idle = min(time.Duration(min(seconds, 1000))*time.Second, maxIdle)
	}
	if value := c.Query.Get("seed"); value != "" {
		number, err := strconv.ParseFloat(value, 64)
		if err != nil {
			number = -1
		}
		if s.order.Utterance.Seed, err = request.ReadSeed(number); err != nil {
			return nil, err
		}
		s.order.HasSeed = true
	}
	return newSocket(multi, s), nil
}
