package serve

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/gorilla/websocket"

	"github.com/swar-tts/swar/runtime/synth/synthtest"
)

func newOutbox() *outbox { return &outbox{wake: make(chan struct{}, 1)} }

func textMessage(s string) message { return message{kind: websocket.TextMessage, data: []byte(s)} }

// takeNow takes what there is, or "" when there is nothing.
func takeNow(o *outbox) (m message) {
	m, _, _ = o.tryTake()
	return m
}

// TestOutboxKeepsOrderAndCounts compares a long life with a plain slice.
func TestOutboxKeepsOrderAndCounts(t *testing.T) {
	o, random := newOutbox(), rand.New(rand.NewPCG(1, 2))
	var want []string
	for i := range 10_000 {
		switch n := random.IntN(20); {
		case n < 10+i/1000%2: // grows in every other thousand
			s := fmt.Sprint(i)
			if err := o.put(noWait, textMessage(s), maxUnsent); err != nil {
				t.Fatal(err)
			}
			want = append(want, s)
		case n == 19:
			s := fmt.Sprint("next ", i)
			m := textMessage(s)
			m.of = &utterance{}
			o.putNext(m)
			want = append([]string{s}, want...)
		case len(want) > 0:
			m := takeNow(o)
			if string(m.data) != want[0] {
				t.Fatalf("took %q, want %q", m.data, want[0])
			}
			o.sent(m)
			want = want[1:]
		}
		size := 0
		for _, s := range want {
			size += len(s)
		}
		if o.size != size {
			t.Fatalf("%d bytes are counted, want %d", o.size, size)
		}
	}
	if cap(o.queue) > 4*len(want)+64 {
		t.Errorf("room for %d messages is held for %d", cap(o.queue), len(want))
	}
}

func TestOutboxLimit(t *testing.T) {
	const room = 10
	tests := map[string]struct {
		before string
		add    string
		fits   bool
	}{
		"one below":                            {"12345", "1234", true},
		"exactly":                              {"12345", "12345", true},
		"one above":                            {"12345", "123456", false},
		"more than all room, when it is empty": {"", "12345678901", true},
		"nothing, when it is over-full":        {"12345678901", "", false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			o := newOutbox()
			if tt.before != "" {
				if err := o.put(noWait, textMessage(tt.before), room); err != nil {
					t.Fatal(err)
				}
			}
			if err := o.put(noWait, textMessage(tt.add), room); (err == nil) != tt.fits {
				t.Errorf("put = %v, want that it fits: %v", err, tt.fits)
			}
			if !tt.fits {
				o.sent(takeNow(o)) // only what has been sent makes room
				if err := o.put(noWait, textMessage(tt.add), room); err != nil {
					t.Errorf("put = %v when there is room again", err)
				}
			}
		})
	}
}

func TestOutboxDropsAnUtterance(t *testing.T) {
	o, a, b := newOutbox(), &utterance{}, &utterance{}
	of := func(u *utterance, s string) message {
		m := textMessage(s)
		m.of = u
		return m
	}
	for _, m := range []message{of(a, "a1"), of(b, "b1"), textMessage("pong"), of(a, "a2"), of(b, "b2")} {
		if err := o.put(noWait, m, maxUnsent); err != nil {
			t.Fatal(err)
		}
	}
	o.drop(a)
	if err := o.put(noWait, of(a, "a3"), maxUnsent); err != errShut {
		t.Errorf("put of a dropped utterance = %v, want %v", err, errShut)
	}
	o.putNext(of(a, "a4"))
	last := of(a, "")
	last.late = func() []byte { return []byte("cancelled") }
	if err := o.put(noWait, last, maxUnsent); err != nil {
		t.Errorf("put of the late event = %v", err)
	}
	var got []string
	for m := takeNow(o); m.kind != 0; m = takeNow(o) {
		if m.late != nil {
			m.data = m.late()
		}
		got = append(got, string(m.data))
	}
	if want := "[b1 pong b2 cancelled]"; fmt.Sprint(got) != want {
		t.Errorf("sent %v, want %s", got, want)
	}
}

func TestOutboxEnds(t *testing.T) {
	frame := []byte("close")
	t.Run("a close waits for what is before it", func(t *testing.T) {
		o := newOutbox()
		o.put(noWait, textMessage("end"), maxUnsent)
		o.close(frame, false)
		o.close([]byte("second"), false)
		if err := o.put(noWait, textMessage("late"), maxUnsent); err != errShut {
			t.Errorf("put after close = %v, want %v", err, errShut)
		}
		first, second := takeNow(o), takeNow(o)
		if string(first.data) != "end" || string(second.data) != "close" || second.kind != websocket.CloseMessage {
			t.Errorf("sent %q and %q, want end and close", first.data, second.data)
		}
	})
	t.Run("or takes its place", func(t *testing.T) {
		o := newOutbox()
		o.put(noWait, textMessage("audio"), maxUnsent)
		o.close(frame, true)
		if m := takeNow(o); m.kind != websocket.CloseMessage || o.size != 0 {
			t.Errorf("sent %q with %d bytes counted, want the close and none", m.data, o.size)
		}
	})
	t.Run("pongs overtake everything, and only the newest is sent", func(t *testing.T) {
		o := newOutbox()
		o.put(noWait, textMessage("audio"), maxUnsent)
		o.putPong("1")
		o.putPong("2")
		first, second := takeNow(o), takeNow(o)
		if string(first.data) != "2" || string(second.data) != "audio" {
			t.Errorf("sent %q and %q, want pong 2 and audio", first.data, second.data)
		}
	})
	t.Run("a dead one takes nothing and wakes who waits", func(t *testing.T) {
		o := newOutbox()
		o.put(noWait, textMessage("12345"), 5)
		waited := make(chan error)
		go func() { waited <- o.put(nil, textMessage("6"), 5) }()
		o.kill()
		if err := <-waited; err != errShut {
			t.Errorf("put = %v, want %v", err, errShut)
		}
		o.putNext(message{of: &utterance{}})
		if _, ok := o.take(nil); ok {
			t.Error("something was taken from a dead outbox")
		}
	})
}

// TestOutboxAllocatesNothing holds that a block of audio costs a copy and nothing else.
func TestOutboxAllocatesNothing(t *testing.T) {
	o, u := newOutbox(), &utterance{}
	each := testing.AllocsPerRun(1000, func() {
		b := newBlock(15360)
		if err := o.put(nil, message{kind: websocket.BinaryMessage, data: b.bytes, block: b, of: u, frames: 4}, maxUnsent); err != nil {
			t.Fatal(err)
		}
		m, _ := o.take(nil)
		o.sent(m)
	})
	if each != 0 {
		t.Errorf("%v allocations a block, want none", each)
	}
}

// TestWSCountsEveryMessageOnce lets many clients do what clients do, at random, and then compares the books: every utterance and every
// message that was refused is counted exactly once, no worker is lost, and nobody is left.
func TestWSCountsEveryMessageOnce(t *testing.T) {
	l := newWarmLocal(t, 3, synthtest.Config{})
	g := newWSRig(t, l, quiet)
	var clients sync.WaitGroup
	const n, each = 12, 40
	for i := range n {
		s, sent := g.connect(), make(chan struct{})
		leave := func() {
			s.conn.WriteMessage(websocket.CloseMessage, websocket.FormatCloseMessage(websocket.CloseNormalClosure, ""))
		}
		clients.Go(func() {
			for m, err := s.try(); err == nil; m, err = s.try() { // up to the answer to the close
				if m.id() == "last" && (m.typ() == "end" || m.typ() == "error" || m.typ() == "cancelled") {
					<-sent
					leave()
				}
			}
			s.conn.Close()
		})
		clients.Go(func() {
			defer close(sent)
			random := rand.New(rand.NewPCG(uint64(i), 1))
			for j := range each {
				switch random.IntN(6) {
				case 0:
					s.conn.WriteMessage(websocket.BinaryMessage, []byte("noise"))
				case 1:
					s.conn.WriteMessage(websocket.TextMessage, []byte(`{"text":"","request_id":"empty"}`))
				case 2:
					s.conn.WriteMessage(websocket.TextMessage, []byte(`{"text":"Order 12 May ko aayega.","format":"opus"}`))
				default:
					s.conn.WriteMessage(websocket.TextMessage, fmt.Appendf(nil, `{"text":%q,"request_id":"%d"}`, line, j%7))
				}
				switch random.IntN(8) {
				case 0:
					s.conn.WriteMessage(websocket.TextMessage, []byte(`{"type":"cancel"}`))
				case 1:
					s.conn.WriteMessage(websocket.TextMessage, fmt.Appendf(nil, `{"type":"cancel","request_id":"%d"}`, random.IntN(7)))
				case 2:
					s.conn.WriteMessage(websocket.TextMessage, []byte(`{"type":"ping"}`))
				}
			}
			s.conn.WriteMessage(websocket.TextMessage, []byte(`{"text":"Dhanyavaad.","request_id":"last"}`))
			if i%2 == 0 {
				leave() // in the middle of it all; the others stay to the end
			}
		})
	}
	clients.Wait()
	waitFor(t, g.server)
	var counted float64
	for _, status := range []any{200, 400, 503, "cancelled"} {
		counted += g.counted("ws", status)
		t.Logf("%v with status %v", g.counted("ws", status), status)
	}
	if counted != n*(each+1) {
		t.Errorf("%v messages are counted, want %d", counted, n*(each+1))
	}
	if c := l.Capacity(); c.Busy != 0 || c.Queued != 0 || c.Ready != 3 {
		t.Errorf("capacity = %+v, want three idle workers", c)
	}
}
