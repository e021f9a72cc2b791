//go:build chaos

package chaos

import (
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"
)

// balancer passes connections to routers in turn, as one in a cluster does: it goes by what their probes said some time
// ago, never looks into a connection, and does not try another router where one does not answer.
type balancer struct {
	listener net.Listener
	stale    time.Duration
	running  sync.WaitGroup
	stopping chan struct{}

	mu    sync.Mutex
	ways  []*way
	next  int
	conns map[net.Conn]struct{}
}

// way is one router, as the balancer knows it.
type way struct {
	address string
	router  *process
	in      bool
	seen    []sighting // what it does not know yet, oldest first
}

type sighting struct {
	at    time.Time
	ready bool
}

func newBalancer(t testing.TB, stale time.Duration, routers []*router) *balancer {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	b := &balancer{listener: l, stale: stale, stopping: make(chan struct{}), conns: make(map[net.Conn]struct{})}
	for _, r := range routers {
		w := &way{address: r.address, router: &r.process, in: true}
		b.ways = append(b.ways, w)
		b.running.Go(func() { b.probe(w) })
	}
	b.running.Go(b.accept)
	return b
}

func (b *balancer) close() {
	close(b.stopping)
	b.listener.Close()
	b.mu.Lock()
	for c := range b.conns {
		c.Close()
	}
	b.mu.Unlock()
	b.running.Wait()
}

// probe looks every 100 ms, and believes what it saw when that is old enough.
func (b *balancer) probe(w *way) {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-b.stopping:
			return
		}
		now := time.Now()
		status, _ := w.router.answers("/readyz")
		b.mu.Lock()
		w.seen = append(w.seen, sighting{now, status == http.StatusOK})
		for len(w.seen) > 0 && time.Since(w.seen[0].at) >= b.stale {
			w.in = w.seen[0].ready
			w.seen = w.seen[1:]
		}
		b.mu.Unlock()
	}
}

// knows reports whether it sends clients to a router.
func (b *balancer) knows(address string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, w := range b.ways {
		if w.address == address {
			return w.in
		}
	}
	return false
}

func (b *balancer) pick() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	for range b.ways {
		w := b.ways[b.next%len(b.ways)]
		b.next++
		if w.in {
			return w.address
		}
	}
	return ""
}

func (b *balancer) accept() {
	for {
		in, err := b.listener.Accept()
		if err != nil {
			return
		}
		b.running.Go(func() { b.pass(in) })
	}
}

func (b *balancer) pass(in net.Conn) {
	defer in.Close()
	out, err := net.DialTimeout("tcp", b.pick(), time.Second)
	if err != nil {
		reset(in)
		return
	}
	defer out.Close()
	b.mu.Lock()
	b.conns[in], b.conns[out] = struct{}{}, struct{}{}
	b.mu.Unlock()
	var both sync.WaitGroup
	for _, ends := range [][2]net.Conn{{in, out}, {out, in}} {
		both.Go(func() {
			if _, err := io.Copy(ends[0], ends[1]); err != nil {
				reset(in)
				reset(out)
				return
			}
			_ = ends[0].(*net.TCPConn).CloseWrite()
		})
	}
	both.Wait()
	b.mu.Lock()
	delete(b.conns, in)
	delete(b.conns, out)
	b.mu.Unlock()
}

// reset closes so that the other side sees an error.
func reset(c net.Conn) {
	_ = c.(*net.TCPConn).SetLinger(0)
	_ = c.Close()
}
