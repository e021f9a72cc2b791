package serve

import (
	"context"
	"fmt"
	"net"
	"time"
)

const (
	closingPoll  = 20 * time.Millisecond
	closingStall = 30 * time.Second // as long as a client may leave a write waiting
)

// closing is the connections that are closed, for the server, while the client has not acknowledged all that was
// written. The kernel would look after them, but the network of a container ends with its process, and with it what
// is in the kernel: a client that reads slowly would wait for the rest in vain.
type closing struct {
	stall time.Duration // how long a client may take nothing

	open registry[*net.TCPConn]
}

// close closes conn as soon as the client has everything. For the server it is closed at once.
func (c *closing) close(conn *net.TCPConn) error {
	taken, waits := unacknowledged(conn)
	if !waits || conn.CloseWrite() != nil {
		return conn.Close()
	}
	_ = conn.SetDeadline(time.Unix(1, 0)) // readers and writers shall return now
	c.open.add(conn)
	go func() {
		defer c.open.remove(conn)
		defer func() { _ = conn.Close() }()
		c.await(conn, taken)
	}()
	return nil
}

// await returns when all is acknowledged, or nothing more of it for a while.
func (c *closing) await(conn *net.TCPConn, taken uint64) {
	poll := time.NewTicker(closingPoll)
	defer poll.Stop()
	for last := time.Now(); time.Since(last) < c.stall; <-poll.C {
		now, waits := unacknowledged(conn)
		if !waits {
			return
		}
		if now != taken {
			taken, last = now, time.Now()
		}
	}
}

// wait returns when no such connection is left, or with an error when ctx ends first.
func (c *closing) wait(ctx context.Context) error {
	select {
	case <-c.open.idle():
		return nil
	case <-ctx.Done():
		left := len(c.open.all())
		if left == 0 {
			return nil
		}
		return fmt.Errorf("%d clients had unread data: %w", left, context.Cause(ctx))
	}
}
