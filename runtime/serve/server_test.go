package serve

import (
	"net"
	"testing"
	"time"
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
	for _, player := range []struct {
		of     string
		rate   float64 // bytes a second
		within time.Duration
	}{
		{"pcm16", 48_000, writeTime},
		{"opus", 48_000 / 8, opusTime},
	} {
		if got := third / player.rate; got == 0 || got >= player.within.Seconds() {
			t.Errorf("a player of %s takes a third of %d bytes in %.1f s, want less than %v", player.of, conn.writeBuffer, got, player.within)
		}
	}
	plain, other := net.Pipe() // has no buffer to be set
	defer plain.Close()
	defer other.Close()
	if _, err := WrapListener(oneConn{conn: plain}).Accept(); err != nil {
		t.Fatal(err)
	}
}
