package serve

import (
	"sync"
	"time"
)

// patience decides how long reading waits for the client: for ever, until a ping has gone unanswered, or until our close has.
type patience struct {
	conn interface{ SetReadDeadline(time.Time) error }

	mu      sync.Mutex
	pinged  bool // and nothing has come since
	closing bool
}

// pinging must be called before a ping is sent, because the pong may be faster than we are. A ping that follows an unanswered one does
// not prolong the wait for it: it may come in the very moment in which the wait ends.
func (p *patience) pinging() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.pinged {
		return
	}
	p.pinged = true
	p.waitLocked(pongWait)
}

// heard notes that something came from the client. Its being alive counts, not that what it says is a pong.
func (p *patience) heard() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pinged = false
	p.waitLocked(0)
}

// took notes that the client took a message. Its answer to a ping may lie behind as much audio as the network holds, so a client that
// plays while it reads must not be taken for dead.
func (p *patience) took() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.pinged {
		p.waitLocked(pongWait)
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

func (p *patience) waitLocked(d time.Duration) {
	switch {
	case p.closing:
	case d == 0:
		p.conn.SetReadDeadline(time.Time{})
	default:
		p.conn.SetReadDeadline(time.Now().Add(d))
	}
}
