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

// pause reckons how long a client may take nothing: stallLimit, and if it has shown that it reads, as long as it still
// plays what was taken besides. A client that reads as it plays needs nothing until then, and its system may say that
// there is room again only when much of a large buffer has been read, which of Opus can be half a minute. One that has
// never read is not waited for that long.
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

// wrote notes that a write of so many frames, which began then, has ended well.
func (p *pause) wrote(frames int, began, now time.Time) {
	p.reads = p.reads || now.Sub(began) >= longWrite
	p.took(frames, now)
}
