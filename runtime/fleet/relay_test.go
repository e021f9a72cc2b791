package fleet_test

import (
	"io"
	"net"
	"sync"
	"testing"
)

// conns are connections that go through a relay, so that they can be cut as a network does.
type conns struct {
	mu  sync.Mutex
	all []net.Conn
}

func (c *conns) add(conn net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all = append(c.all, conn)
}

func (c *conns) cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, conn := range c.all {
		conn.Close()
	}
}

// relay hands what comes in on l to address, until the test ends.
func relay(t *testing.T, l net.Listener, address string) *conns {
	t.Helper()
	c := &conns{}
	var running sync.WaitGroup
	running.Go(func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", address)
			if err != nil {
				in.Close()
				continue
			}
			c.add(in)
			c.add(out)
			for _, way := range [][2]net.Conn{{in, out}, {out, in}} {
				running.Go(func() {
					_, _ = io.Copy(way[0], way[1])
					way[0].Close()
				})
			}
		}
	})
	t.Cleanup(func() {
		l.Close()
		c.cut()
		running.Wait()
	})
	return c
}
