package serve

import (
	"sync"
	"time"

	"github.com/swar-tts/swar/runtime/speech"
)

// patience decides how long reading waits for the client: for ever, until a ping has gone unanswered, or until our close has.
type patience struct {
	conn interface{ SetReadDeadline(time.Time) error }

	mu      sync.Mutex
	pinged  bool      // and nothing has come since
	playing time.Time // until when the audio that was sent sounds
	closing bool
}

// longestPlay is how much audio can be in buffers between us and a client that reads as fast as it plays: 128 KiB here
// and 256 KiB there hold 64 s of Opus.
const longestPlay = 64 * time.Second

// pinging must be called before a ping is sent, because the pong may be faster than we are. A ping that follows an unanswered one does
// not prolong the wait for it: it may come in the very moment in which the wait ends.
func (p *patience) pinging() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.pinged {
		return
	}
	p.pinged = true
	p.waitForPongLocked()
}

// heard notes that something came from the client. Its being alive counts, not that what it says is a pong.
func (p *patience) heard() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pinged = false
	p.waitLocked(0)
}

// took notes that the network took a message with so many frames of audio. A client that plays while it reads answers
// a ping when it has played what lies before that, and must not be taken for dead meanwhile.
func (p *patience) took(frames int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if p.playing.Before(now) {
		p.playing = now
	}
	p.playing = p.playing.Add(time.Duration(frames) * speech.FrameDuration)
	if latest := now.Add(longestPlay); p.playing.After(latest) {
		p.playing = latest
	}
	if p.pinged {
		p.waitForPongLocked()
	}
}

// end notes that we have closed, or are about to: from now on only the client's close counts, and only for closeGrace.
func (p *patience) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waitLocked(closeGrace)
	p.closing = true
}

// ended reports whether the connection is being closed, by us or by the client.
func (p *patience) ended() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.closing
}

func (p *patience) waitForPongLocked() { p.waitLocked(pongWait + max(time.Until(p.playing), 0)) }

func (p *patience) waitLocked(d time.Duration) {
	switch {
	case p.closing:
	case d == 0:
		p.conn.SetReadDeadline(time.Time{})
	default:
		p.conn.SetReadDeadline(time.Now().Add(d))
	}
}
