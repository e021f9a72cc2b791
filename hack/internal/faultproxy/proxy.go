// Package faultproxy is a TCP proxy that makes the network between two programs as bad as a test wants, and changes
// that while connections are open.
package faultproxy

import (
	"context"
	"fmt"
	"io"
	"net"
	"sync"
	"time"
)

// Faults are what one direction suffers, on every connection. The zero value is a good network.
type Faults struct {
	Delay time.Duration // between a byte's coming and its going
	Rate  int           // bytes a second; 0: as many as come
	Stall bool          // bytes are taken, up to some megabytes, and nothing passes, nor that a side has closed
}

// Proxy passes connections on to one address. It is safe for concurrent use.
type Proxy struct {
	target   string
	listener net.Listener
	running  sync.WaitGroup

	mu      sync.Mutex
	faults  [2]Faults     // by direction
	changed chan struct{} // closed and replaced with the faults
	open    map[*link]struct{}
	closed  bool
}

// The directions.
const (
	toTarget = iota
	toClient
)

// dialLimit bounds how long a client waits for the target.
const dialLimit = 5 * time.Second

// Listen returns a proxy for the TCP address target, which listens on a free port of the loopback interface until it is
// closed.
func Listen(target string) (*Proxy, error) {
	l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listening as a proxy: %w", err)
	}
	p := newProxy()
	p.target, p.listener = target, l
	p.running.Go(p.accept)
	return p, nil
}

func newProxy() *Proxy {
	return &Proxy{changed: make(chan struct{}), open: make(map[*link]struct{})}
}

// Addr returns the address to dial in place of the target's.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// Set replaces the faults of both directions, also for what is on its way: what was stalled passes, and waits no longer
// than the new delay.
func (p *Proxy) Set(up, down Faults) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.faults = [2]Faults{toTarget: up, toClient: down}
	close(p.changed)
	p.changed = make(chan struct{})
}

// Cut resets all open connections, and returns how many there were. What was on its way is lost.
func (p *Proxy) Cut() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	for l := range p.open {
		l.cut()
	}
	return len(p.open)
}

// Close cuts all connections, takes no more, and returns when every goroutine of the proxy is gone.
func (p *Proxy) Close() error {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	err := p.listener.Close()
	p.Cut()
	p.running.Wait()
	return err
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return // closed
		}
		p.running.Go(func() {
			target, err := (&net.Dialer{Timeout: dialLimit}).DialContext(context.Background(), "tcp", p.target)
			if err != nil {
				_ = reset(client)
				return
			}
			p.join(client, target)
		})
	}
}

// join passes bytes between two connections, and returns when both are closed.
func (p *Proxy) join(client, target net.Conn) {
	l := &link{ends: [2]net.Conn{toTarget: target, toClient: client}, gone: make(chan struct{})}
	defer l.end(net.Conn.Close)
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return
	}
	p.open[l] = struct{}{}
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.open, l)
	}()
	var both sync.WaitGroup
	for _, direction := range []int{toTarget, toClient} {
		pieces := make(chan piece, maxPieces)
		both.Go(func() { l.receive(1-direction, pieces) })
		both.Go(func() { p.send(l, direction, pieces) })
	}
	both.Wait()
}

// piece is what came at once.
type piece struct {
	data []byte
	came time.Time
}

// What waits in a direction: some megabytes, and not fewer small messages than a delay may hold back.
const (
	maxPieces = 1024
	maxPiece  = 4 << 10
)

// send passes what is received to the end of a direction, with its faults.
func (p *Proxy) send(l *link, direction int, pieces <-chan piece) {
	var free time.Time // when the rate allows the next byte
	for {
		var next piece
		var more bool
		select {
		case next, more = <-pieces:
		case <-l.gone:
			return
		}
		ended := !more
		if ended {
			next.came = time.Now()
		}
		free = p.hold(l, direction, next, free)
		if ended {
			l.closeWrite(direction)
			return
		}
		if _, err := l.ends[direction].Write(next.data); err != nil {
			l.cut()
			return
		}
	}
}

// hold waits as long as the faults of a direction keep back a piece, before which nothing may pass until free. It
// returns until when nothing may pass after it.
func (p *Proxy) hold(l *link, direction int, next piece, free time.Time) time.Time {
	for {
		p.mu.Lock()
		f, changed := p.faults[direction], p.changed
		p.mu.Unlock()
		due := next.came.Add(f.Delay)
		if f.Rate > 0 && free.After(due) {
			due = free
		}
		now := time.Now()
		var wake <-chan time.Time // never, while it stalls
		if !f.Stall {
			if !due.After(now) {
				return allow(f, len(next.data), now)
			}
			wake = time.After(due.Sub(now))
		}
		select {
		case <-wake:
		case <-changed:
		case <-l.gone:
			return free
		}
	}
}

// allow returns from when the next byte may pass, after n have passed now.
func allow(f Faults, n int, now time.Time) time.Time {
	if f.Rate == 0 {
		return now
	}
	return now.Add(time.Duration(n) * time.Second / time.Duration(f.Rate))
}

// link is one connection through the proxy: two, joined.
type link struct {
	ends [2]net.Conn // by the direction in which one writes to it
	gone chan struct{}
	once sync.Once
}

// receive reads from an end until it is closed.
func (l *link) receive(end int, pieces chan<- piece) {
	defer close(pieces)
	buf := make([]byte, maxPiece)
	for {
		n, err := l.ends[end].Read(buf)
		if n > 0 {
			select {
			case pieces <- piece{append([]byte(nil), buf[:n]...), time.Now()}:
			case <-l.gone:
				return
			}
		}
		switch {
		case err == io.EOF:
			return
		case err != nil:
			l.cut()
			return
		}
	}
}

// closeWrite tells an end that nothing more comes.
func (l *link) closeWrite(end int) {
	if c, ok := l.ends[end].(interface{ CloseWrite() error }); ok {
		_ = c.CloseWrite() // it may be closed already
		return
	}
	_ = l.ends[end].Close()
}

// cut resets both ends.
func (l *link) cut() { l.end(reset) }

// end closes both ends, by the function of the first call.
func (l *link) end(closing func(net.Conn) error) {
	l.once.Do(func() {
		close(l.gone)
		for _, c := range l.ends {
			_ = closing(c)
		}
	})
}

// reset closes c so that its other side sees an error, and not the end of a stream.
func reset(c net.Conn) error {
	if tcp, ok := c.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	return c.Close()
}
