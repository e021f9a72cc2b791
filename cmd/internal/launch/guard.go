package launch

import (
	"bytes"
	"container/list"
	"crypto/tls"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// Limits of the connections of one server, where the process may open enough files for them.
const (
	maxWaiting = 1024 // connections between requests, or with an incomplete request header
	headerTime = 5 * time.Second
	maxHeader  = 16 << 10 // bytes of a request header: keys, tokens and cookies need a quarter of that
	slop       = 4 << 10  // that net/http reads beyond maxHeader before it refuses
)

// guard bounds what strangers cost who connect and send nothing, or a header without an end.
//
// net/http parses a header while it arrives, and keeps up to twenty times what was sent. A guarded connection collects
// the header first and gives it to net/http whole, so that an unfinished one costs its own bytes. When too many
// connections wait, the one that has waited longest is closed, of the address that has most of them: a request that
// arrives at once is answered however many others wait.
type guard struct {
	limit int // connections that may wait
	open  int // connections that there may be

	mu      sync.Mutex
	count   int              // open connections
	waiting list.List        // of *guardedConn, oldest first
	from    map[string]int   // how many wait, by address
	closed  map[string]int64 // by reason
}

// Why the guard closes connections.
const (
	closedWaiting = "waiting" // too many are without a request
	closedFull    = "full"    // no file descriptor is left
)

func newGuard(files int) *guard {
	open := files - min(files/2, 256) // the rest is for engines, logs and the store
	return &guard{limit: min(maxWaiting, open), open: open, from: map[string]int{}, closed: map[string]int64{}}
}

// guardedListener accepts connections for a guard.
type guardedListener struct {
	net.Listener
	guard *guard
}

// full is the response when the connection limit is reached.
var full = []byte("HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Type: application/json\r\nRetry-After: 1\r\n" +
	"Access-Control-Allow-Origin: *\r\nContent-Length: 16\r\n\r\n{\"error\":\"busy\"}")

// Accept implements [net.Listener].
func (l *guardedListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if _, isTLS := conn.(*tls.Conn); isTLS { // which net/http must see; its clients show a certificate
			return conn, nil
		}
		c := &guardedConn{Conn: conn, guard: l.guard, address: addressOf(conn)}
		c.isHeader.Store(true)
		if l.guard.admit(c) {
			return c, nil
		}
		_ = conn.SetWriteDeadline(time.Now().Add(time.Second))
		_, _ = conn.Write(full) // it fits into the buffer of a new connection
		_ = conn.Close()
	}
}

func addressOf(conn net.Conn) string {
	host, _, err := net.SplitHostPort(conn.RemoteAddr().String())
	if err != nil {
		return ""
	}
	return host
}

// admit counts a new connection and reports whether there is room for it.
func (g *guard) admit(c *guardedConn) bool {
	g.mu.Lock()
	var evicted *guardedConn
	isFull := g.count >= g.open
	if isFull {
		evicted = g.evictLocked()
	}
	if isFull && evicted == nil {
		g.closed[closedFull]++
		g.mu.Unlock()
		return false
	}
	g.count++
	g.mu.Unlock()
	evicted.shut()
	g.wait(c)
	return true
}

// wait adds a connection to the list of those without a request.
func (g *guard) wait(c *guardedConn) {
	g.mu.Lock()
	if c.place != nil || c.closed {
		g.mu.Unlock()
		return
	}
	c.place = g.waiting.PushBack(c)
	g.from[c.address]++
	var evicted *guardedConn
	if g.waiting.Len() > g.limit {
		evicted = g.evictLocked()
	}
	g.mu.Unlock()
	evicted.shut()
}

// evictLocked takes the connection out that has waited longest, of the address with most of them; nil if none waits.
func (g *guard) evictLocked() *guardedConn {
	most := 0
	for _, n := range g.from {
		most = max(most, n)
	}
	for e := g.waiting.Front(); e != nil; e = e.Next() {
		if c := e.Value.(*guardedConn); g.from[c.address] == most {
			g.leaveLocked(c)
			g.closed[closedWaiting]++
			return c
		}
	}
	return nil
}

func (g *guard) leaveLocked(c *guardedConn) {
	if c.place == nil {
		return
	}
	g.waiting.Remove(c.place)
	c.place = nil
	if g.from[c.address]--; g.from[c.address] == 0 {
		delete(g.from, c.address)
	}
}

// leave removes a connection from that list: its request has arrived, or it has ended.
func (g *guard) leave(c *guardedConn, gone bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.leaveLocked(c)
	if gone && !c.closed {
		c.closed = true
		g.count--
	}
}

// changed is the [http.Server.ConnState] of a guarded server.
func (g *guard) changed(conn net.Conn, state http.ConnState) {
	c, ok := conn.(*guardedConn)
	if !ok {
		return
	}
	switch state {
	case http.StateIdle:
		c.isHeader.Store(true)
		g.wait(c)
	case http.StateActive, http.StateHijacked:
		c.isHeader.Store(false)
		g.leave(c, false)
	}
}

// counts returns how many connections were closed, by reason.
func (g *guard) counts(reason string) int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.closed[reason]
}

// guardedConn is a connection of a guarded server. Its reader is net/http.
type guardedConn struct {
	net.Conn
	guard   *guard
	address string

	place  *list.Element // in the list of waiting connections; guard.mu guards it
	closed bool          // closed; guard.mu guards it

	isHeader atomic.Bool // what is read next is a request header

	head  []byte // read and not yet given to net/http
	err   error  // that ended the header
	blank blank
}

// Read implements [net.Conn].
func (c *guardedConn) Read(p []byte) (int, error) {
	if len(c.head) == 0 && c.err == nil {
		n, err := c.Conn.Read(p)
		ended := c.blank.in(p[:n])
		if n == 0 || err != nil || ended || !c.isHeader.Load() {
			return n, err
		}
		c.collect(p, n)
	}
	n := copy(p, c.head)
	if c.head = c.head[n:]; len(c.head) > 0 {
		return n, nil
	}
	c.head = nil
	if n > 0 {
		return n, nil
	}
	err := c.err
	c.err = nil
	return 0, err
}

// collect reads on, by way of p, until the header is whole or too large. The first n bytes of p are its beginning.
func (c *guardedConn) collect(p []byte, n int) {
	_ = c.Conn.SetReadDeadline(time.Now().Add(headerTime)) // net/http sets its own once it has the header
	c.head = append(c.head, p[:n]...)
	for len(c.head) <= maxHeader+slop {
		n, err := c.Conn.Read(p)
		c.head = append(c.head, p[:n]...)
		if c.blank.in(p[:n]) {
			return
		}
		if err != nil {
			c.err = err
			return
		}
	}
	// net/http refuses it for its size; to parse one long line costs it less than thousands of short ones.
	for i, b := range c.head {
		if b == '\n' {
			c.head[i] = ' '
		}
	}
}

// Close implements [net.Conn].
func (c *guardedConn) Close() error {
	c.guard.leave(c, true)
	return c.Conn.Close()
}

// CloseWrite ends one direction, where the connection below can.
func (c *guardedConn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// shut closes an evicted connection; nil does nothing.
func (c *guardedConn) shut() {
	if c != nil {
		_ = c.Close()
	}
}

// blank finds the empty line behind a header, also where it is cut between two reads. Lines end with LF or CRLF.
type blank struct{ isLineStart bool }

// in reports whether an empty line ends in p, and remembers how p ends.
func (b *blank) in(p []byte) (found bool) {
	for len(p) > 0 {
		if b.isLineStart && p[0] == '\n' {
			found = true
		}
		if b.isLineStart && (p[0] == '\r' || p[0] == '\n') {
			p = p[1:] // still the start of a line
			continue
		}
		i := bytes.IndexByte(p, '\n')
		if b.isLineStart = i >= 0; !b.isLineStart {
			return found
		}
		p = p[i+1:]
	}
	return found
}
