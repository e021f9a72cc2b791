package onnx

import (
	"cmp"
	"time"

	"github.com/swar-tts/swar/runtime/onnx/internal/model"
	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/synth"
)

// pace is how far the audio of an utterance is ahead of who listens to it. It belongs to a worker, which changes it
// only while it has no task with the scheduler.
type pace struct {
	first  time.Time // when the first frames were ready
	frames int
}

// count counts frames that were decoded.
func (p *pace) count(frames int, now time.Time) {
	if p.frames == 0 {
		p.first = now
	}
	p.frames += frames
}

// ample is how much audio a stream has left when it yields to all others.
const ample = time.Second

// limits are the times that the order of runs depends on. They follow from what runs take on this machine.
type limits struct {
	pressing time.Duration // with less audio left, a stream must not wait for company
	scarce   time.Duration // with less it is starving
	absence  time.Duration // how long a stream is expected back after a decode: what encoding and sending a group takes
	maxWait  time.Duration // whoever has waited longer, and was overtaken too often, comes first
}

// mostOvertaken is how many runs of new streams may come before a stream that is starving: two of each, to read its
// text and decode.
const mostOvertaken = 2 * model.MaxBatch

// leastLimits are those of a machine that is fast enough for them: eight streams take 60 ms for four steps and 25 ms
// for each decode.
var leastLimits = limits{
	pressing: 150 * time.Millisecond,
	scarce:   300 * time.Millisecond,
	absence:  2 * time.Millisecond,
	maxWait:  time.Second,
}

// runTimes is what runs take.
type runTimes struct {
	step   time.Duration // of one stream
	steps  time.Duration // of as many streams as there may be, up to [model.MaxBatch]
	decode time.Duration // of a group of frames
}

// limits returns limits for so many streams and runners. A stream that is not pressing can be overtaken by the steps
// of a group and by two decodes without a gap. Nobody waits longer than the time in which all streams draw and
// decode two groups of frames each.
func (r runTimes) limits(streams, runners int) limits {
	const groups = 2
	draw := synth.GroupFrames * r.steps
	batches := (streams + model.MaxBatch - 1) / model.MaxBatch
	round := (time.Duration(batches)*draw + time.Duration(streams)*r.decode) / time.Duration(runners)
	l := limits{
		pressing: min(max(leastLimits.pressing, draw+2*r.decode), ample),
		absence:  max(leastLimits.absence, r.step/4),
		maxWait:  max(leastLimits.maxWait, groups*round),
	}
	l.scarce = min(max(leastLimits.scarce, 2*l.pressing), ample)
	return l
}

// urgency orders what waits. The policy, the most urgent first:
//
//	overdue  starving, and overtaken by too many new streams for too long: they could keep it waiting for ever.
//	silent   nothing of the utterance has sounded: prefill, first draw, first decode. The listener waits for exactly this.
//	starving less than scarce is left to play: the listener would soon hear a gap.
//	playing  by how little is left.
//	ahead    more than ample is left. They run when nobody else waits, and keep the processor busy that long.
//
// Within a class, a decode or a prefill that is not pressing comes after the steps: so streams come to their steps at
// the same time, and those can be shared. Nobody waits long for that, because a stream has to decode after four
// steps. Otherwise the one with the least audio comes first, and among equals the one that has waited longer.
type urgency struct {
	class    class
	alone    bool // something else than a step, which can wait for the steps of others
	buffered time.Duration
	arrival  uint64
}

type class int

const (
	overdue class = iota
	silent
	starving
	playing
	ahead
)

// urgency returns how much an utterance at this pace needs its next run, which is a step or not. late says that its
// wait was too long.
func (p *pace) urgency(now time.Time, step, late bool, l *limits) urgency {
	if p.frames == 0 {
		return urgency{class: silent}
	}
	u := urgency{class: playing, buffered: time.Duration(p.frames)*speech.FrameDuration - now.Sub(p.first)}
	switch {
	case u.buffered > ample:
		u.class = ahead
	case u.buffered < l.scarce && late:
		u.class = overdue
	case u.buffered < l.scarce:
		u.class = starving
	}
	u.alone = u.buffered >= l.pressing && !step
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
