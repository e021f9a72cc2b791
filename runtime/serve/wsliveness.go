package serve

import (
	"sync"
	"time"
)

// liveness reckons what the client still plays, and how long it is waited for: by a write, and by reading, which waits
// for ever, until a ping has gone unanswered, or until our close has.
type liveness struct {
	conn interface{ SetReadDeadline(time.Time) error }

	mu      sync.Mutex
	pinged  bool // and nothing has come since
	paused  pause
	closing bool
}

// pinging must be called before a ping is sent, because the pong may arrive before the call returns. A ping after an
// unanswered one does not extend the deadline: it may be sent in the very moment in which the deadline passes.
func (l *liveness) pinging() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.pinged {
		return
	}
	l.pinged = true
	l.waitForPongLocked()
}

// listening notes that something came from the client. Its being alive counts, not that what it says is a pong.
func (l *liveness) touch() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pinged = false
	l.waitLocked(0)
}

// took records that the network accepted m, whose write began then. A client that plays while it reads answers a ping
// only after it has played the audio before that, and must not be disconnected meanwhile: buffers of the system hold
// minutes of Opus. TCP's own probes find a client that died behind so much data.
func (l *liveness) took(m message, began time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.paused.wrote(m.frames, began, time.Now())
	if l.pinged && m.of != nil {
		l.waitForPongLocked()
	}
}

// pauseLimit returns how long a write that begins now may wait for the client.
func (l *liveness) pauseLimit(now time.Time) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.paused.limit(now)
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

func (l *liveness) waitForPongLocked() { l.waitLocked(pongWait + l.paused.left(time.Now())) }

func (l *liveness) waitLocked(d time.Duration) {
	switch {
	case l.closing:
	case d == 0:
		l.conn.SetReadDeadline(time.Time{})
	default:
		l.conn.SetReadDeadline(time.Now().Add(d))
	}
}
