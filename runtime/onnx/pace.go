package onnx

import (
	"cmp"
	"time"

	"github.com/swar-tts/swar/runtime/speech"
)

// pace is how far the audio of an utterance is ahead of who listens to it. It belongs to a worker, which changes it only while it
// has no task with the scheduler.
type pace struct {
	first  time.Time // when the first frames were ready
	frames int
}

// sounded counts frames that were decoded.
func (p *pace) sounded(frames int, now time.Time) {
	if p.frames == 0 {
		p.first = now
	}
	p.frames += frames
}

// How much audio a stream has left when it must not wait for company, when it is starving, and when it can wait.
const (
	pressing = 150 * time.Millisecond // four steps of eight streams, 60 ms, and two decodes of 25 ms fit in here
	scarce   = 300 * time.Millisecond
	ample    = time.Second
)

// urgency orders what waits. The policy, the most urgent first:
//
//	silent   nothing of the utterance has sounded: prefill, first draw, first decode. The listener waits for exactly this.
//	starving less than scarce is left to play: the listener would soon hear a gap.
//	playing  by how little is left.
//	ahead    more than ample is left. They run when nobody else waits, and keep the processor busy that long.
//
// Within a class, a decode or a prefill that is not pressing comes after the steps: so streams come to their steps at the same time,
// and those can be shared. Nobody waits long for that, because a stream has to decode after four steps. Otherwise the one with the
// least audio comes first, and among equals the one that has waited longer.
type urgency struct {
	class    class
	alone    bool // something else than a step, which can wait for the steps of others
	buffered time.Duration
	arrival  uint64
}

type class int

const (
	silent class = iota
	starving
	playing
	ahead
)

// urgency returns how much an utterance at this pace needs its next run, which is a step or not.
func (p *pace) urgency(now time.Time, step bool) urgency {
	if p.frames == 0 {
		return urgency{class: silent}
	}
	u := urgency{class: playing, buffered: time.Duration(p.frames)*speech.FrameDuration - now.Sub(p.first)}
	switch {
	case u.buffered < scarce:
		u.class = starving
	case u.buffered > ample:
		u.class = ahead
	}
	u.alone = u.buffered >= pressing && !step
	return u
}

func (u urgency) compare(v urgency) int {
	if u.class == v.class && u.alone != v.alone {
		if v.alone {
			return -1
		}
		return 1
	}
	return cmp.Or(cmp.Compare(u.class, v.class), cmp.Compare(u.buffered, v.buffered), cmp.Compare(u.arrival, v.arrival))
}
