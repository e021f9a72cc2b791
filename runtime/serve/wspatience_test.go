package serve

import (
	"testing"
	"testing/synctest"
	"time"
)

// deadlines is a connection that only remembers its read deadline.
type deadlines struct{ last time.Time }

func (d *deadlines) SetReadDeadline(t time.Time) error {
	d.last = t
	return nil
}

func TestPingsDoNotProlongTheWaitForAPong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn := &deadlines{}
		p := patience{conn: conn}
		pinged := time.Now()
		p.pinging()
		want := pinged.Add(pongWait)
		if conn.last != want {
			t.Errorf("deadline %v after the ping, want %v", conn.last.Sub(pinged), pongWait)
		}
		time.Sleep(pongWait) // virtual: the next ping comes just before the wait is over
		p.pinging()
		if conn.last != want {
			t.Errorf("deadline %v after a second ping, want %v as before", conn.last.Sub(pinged), pongWait)
		}
		p.heard()
		if !conn.last.IsZero() {
			t.Errorf("deadline %v after an answer, want none", conn.last)
		}
		p.pinging()
		if want := time.Now().Add(pongWait); conn.last != want {
			t.Errorf("deadline %v for a new ping, want %v", conn.last, want)
		}
	})
}
