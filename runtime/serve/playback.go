package serve

import (
	"time"

	"github.com/swar-tts/swar/runtime/speech"
)

// playback reckons until when what the network has taken will sound, for a client that plays it as it comes.
type playback struct{ until time.Time }

func (p *playback) took(frames int, now time.Time) {
	if p.until.Before(now) {
		p.until = now
	}
	p.until = p.until.Add(time.Duration(frames) * speech.FrameDuration)
}

func (p *playback) left(now time.Time) time.Duration { return max(p.until.Sub(now), 0) }

// pause returns how long a client may read nothing: stallLimit, plus, if it has read before, the playing time of what
// it has read. A client that reads as it plays needs nothing until then, and its system may announce room only when
// much of a large buffer has been read, which for Opus can be half a minute. A client that has never read gets no such
// extension.
type pause struct {
	playback
	reads bool // it took something after a write had waited: without a reader that ends no more
}

// longWrite is longer than a network needs for a message while there is room at the other end.
const longWrite = time.Second

func (p *pause) limit(now time.Time) time.Duration {
	if !p.reads {
		return stallLimit
	}
	return stallLimit + p.left(now)
}

// wrote records the successful end of a write of this many frames, which began then.
func (p *pause) wrote(frames int, began, now time.Time) {
	p.reads = p.reads || now.Sub(began) >= longWrite
	p.took(frames, now)
}
