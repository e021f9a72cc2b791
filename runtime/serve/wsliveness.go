package serve

import (
	"sync"
	"time"
)

// liveness decides how long reading waits for the client: for ever, until a ping has gone unanswered, or until our close has.
type liveness struct {
	conn interface{ SetReadDeadline(time.Time) error }

	mu      sync.Mutex
	pinged  bool // and nothing has come since
	playing playback
	closing bool
}

// pinging must be called before a ping is sent, because the pong may be faster than we are. A ping that follows an unanswered one does
// not prolong the wait for it: it may come in the very moment in which the wait ends.
func (l *liveness) pinging() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.pinged {
		return
	}
	l.pinged = true
	l.waitForPongLocked()
}

// heard notes that something came from the client. Its being alive counts, not that what it says is a pong.
func (l *liveness) heard() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pinged = false
	l.waitLocked(0)
}

// took notes that the network took a message with so many frames of audio. A client that plays while it reads answers
// a ping when it has played what lies before that, and must not be taken for dead meanwhile: buffers of the system hold
// minutes of Opus. One that has died behind so much is found by TCP's own probes.
func (l *liveness) took(frames int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.playing.took(frames, time.Now())
	if l.pinged {
		l.waitForPongLocked()
	}
}

// end notes that we have closed, or are about to: from now on only the client's close counts, and only for closeGrace.
func (l *liveness) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waitLocked(closeGrace)
	l.closing = true
}

// ended reports whether the connection is being closed, by us or by the client.
func (l *liveness) ended() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.closing
}

func (l *liveness) waitForPongLocked() { l.waitLocked(pongWait + l.playing.left(time.Now())) }

func (l *liveness) waitLocked(d time.Duration) {
	switch {
	case l.closing:
	case d == 0:
		l.conn.SetReadDeadline(time.Time{})
	default:
		l.conn.SetReadDeadline(time.Now().Add(d))
	}
}
