package serve

import (
	"net"
	"testing"
)

// sizedConn remembers the buffer that it was asked to have.
type sizedConn struct {
	net.Conn
	writeBuffer int
}

func (c *sizedConn) SetWriteBuffer(bytes int) error {
	c.writeBuffer = bytes
	return nil
}

// oneConn is a listener that accepts a connection of the test.
type oneConn struct {
	net.Listener
	conn net.Conn
}

func (l oneConn) Accept() (net.Conn, error) { return l.conn, nil }

func TestKernelHoldsLittleOfAnAnswer(t *testing.T) {
	conn := &sizedConn{}
	if _, err := WrapListener(oneConn{conn: conn}).Accept(); err != nil {
		t.Fatal(err)
	}
	// Linux doubles what it is asked for, and takes more when a third is free.
	third := float64(2*conn.writeBuffer) / 3
	for of, rate := range map[string]float64{"pcm16": 48_000, "opus": 48_000 / 8} { // bytes a second
		if got := third / rate; got == 0 || got >= holdLimit.Seconds() {
			t.Errorf("a player of %s takes a third of %d bytes in %.1f s, want less than %v", of, 2*conn.writeBuffer,
				got, holdLimit)
		}
	}
	plain, other := net.Pipe() // has no buffer to be set
	defer plain.Close()
	defer other.Close()
	if _, err := WrapListener(oneConn{conn: plain}).Accept(); err != nil {
		t.Fatal(err)
	}
}
