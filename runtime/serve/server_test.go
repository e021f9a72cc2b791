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

func TestKernelHoldsLittleOfAnAnswer(t *testing.T) {
	s, _ := newServer(t, &script{})
	conn := &sizedConn{}
	if ctx := s.ConnContext(t.Context(), conn); ctx != t.Context() {
		t.Errorf("context %v, want the one that was given", ctx)
	}
	// Linux doubles what it is asked for, and takes more when a third is free.
	const opusPerSecond = 48_000 / 8 // bytes
	third := float64(2*conn.writeBuffer) / 3
	if got := third / opusPerSecond; got == 0 || got >= writeTime.Seconds() {
		t.Errorf("a buffer of %d bytes: a player of Opus takes a third of it in %.1f s, want less than %v", conn.writeBuffer, got, writeTime)
	}
	plain, other := net.Pipe() // has no buffer to be set
	defer plain.Close()
	defer other.Close()
	s.ConnContext(t.Context(), plain)
}
