package serve

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/gorilla/websocket"

	"github.com/swar-tts/swar/runtime/synth/synthtest"
)

// newTestOutbox returns an outbox with so much room.
func newTestOutbox(limit int64) *outbox {
	o := newOutbox(newSpoolBudget(limit))
	return &o
}

func textOf(u *utterance, s string) message {
	return message{kind: websocket.TextMessage, data: []byte(s), of: u}
}

// takeNow takes what there is, or "" when there is nothing.
func takeNow(o *outbox) (m message) {
	m, _, _ = o.tryTake()
	return m
}

// takeAll takes and sends everything there is, and shows it.
func takeAll(o *outbox) string {
	var all []string
	for m := takeNow(o); m.kind != 0 && m.kind != websocket.CloseMessage; m = takeNow(o) {
		if m.late != nil {
			for _, f := range m.late() {
				all = append(all, string(f.data))
			}
		} else {
			all = append(all, string(m.data))
		}
		o.sent(m)
	}
	return strings.Join(all, " ")
}

// TestOutboxKeepsOrderAndCounts compares a long life with a plain slice.
func TestOutboxKeepsOrderAndCounts(t *testing.T) {
	o, u, random := newTestOutbox(1<<20), &utterance{}, rand.New(rand.NewPCG(1, 2))
	var want []string
	hasNext := false
	for i := range 10_000 {
		switch n := random.IntN(20); {
		case n < 10+i/1000%2: // grows in every other thousand
			s := fmt.Sprint(i)
			if err := o.put(nil, textOf(u, s)); err != nil {
				t.Fatal(err)
			}
			want = append(want, s)
		case n == 19 && !hasNext:
			s := fmt.Sprint("next ", i)
			o.putNext(textOf(u, s))
			want, hasNext = append([]string{s}, want...), true
		case len(want) > 0:
			m := takeNow(o)
			if string(m.data) != want[0] {
				t.Fatalf("took %q, want %q", m.data, want[0])
			}
			o.sent(m)
			want, hasNext = want[1:], false
		}
		size := 0
		for _, s := range want {
			size += len(s)
		}
		if used := o.spool.budget.use().bytes; used != int64(size) {
			t.Fatalf("%d bytes are counted, want %d", used, size)
		}
	}
}

func TestOutboxAnswersOvertake(t *testing.T) {
	o, u := newTestOutbox(1<<20), &utterance{}
	for _, s := range []string{"a1", "a2", "a3"} {
		if err := o.put(nil, textOf(u, s)); err != nil {
			t.Fatal(err)
		}
	}
	first := takeNow(o)
	o.answer(nil, pongEvent{Type: "pong", RequestID: "1"})
	o.answer(nil, pongEvent{Type: "pong", RequestID: "2"})
	o.sent(first)
	o.putNext(textOf(u, "right behind a1"))
	o.putPong("p1")
	o.putPong("p2")
	want := `p2 right behind a1 {"type":"pong","request_id":"1"} {"type":"pong","request_id":"2"} a2 a3`
	if got := takeAll(o); got != want {
		t.Errorf("sent %s\nwant %s", got, want)
	}
	if used := o.spool.budget.use().bytes; used != 0 {
		t.Errorf("%d bytes are counted when nothing waits", used)
	}
}

func TestOutboxLimitsAnswers(t *testing.T) {
	answer := func(n int) string { return strings.Repeat("x", n-len(`""`)) } // of n bytes as JSON
	tests := map[string]struct {
		before, add int
		fits        bool
	}{
		"one below":                            {answerRoom - 10, 9, true},
		"exactly":                              {answerRoom - 10, 10, true},
		"one above":                            {answerRoom - 10, 11, false},
		"more than all room, when it is empty": {0, answerRoom + 1, true},
		"a little, when it is over-full":       {answerRoom + 1, 2, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			o := newTestOutbox(0)
			if tt.before > 0 {
				o.answer(noWait, answer(tt.before))
			}
			o.answer(noWait, answer(tt.add))
			if got := o.answers.len() == 2 || tt.before == 0; got != tt.fits {
				t.Errorf("it fits: %v, want %v", got, tt.fits)
			}
			if !tt.fits {
				before := takeNow(o)
				o.answer(noWait, answer(tt.add))
				if o.answers.len() != 0 {
					t.Error("there is room while the answer before is being sent")
				}
				o.sent(before) // only what has been sent makes room
				if o.answer(noWait, answer(tt.add)); o.answers.len() != 1 {
					t.Error("there is no room when the answer before has been sent")
				}
			}
		})
	}
}

func TestOutboxDropsAnUtterance(t *testing.T) {
	o, a, b := newTestOutbox(1<<20), &utterance{}, &utterance{}
	for _, m := range []message{textOf(a, "a1"), textOf(b, "b1"), textOf(a, "a2")} {
		if err := o.put(nil, m); err != nil {
			t.Fatal(err)
		}
	}
	o.putNext(textOf(a, "next of a"))
	o.drop(a)
	if err := o.put(nil, textOf(a, "a3")); !errors.Is(err, errStopped) {
		t.Errorf("put of a dropped utterance = %v, want %v", err, errStopped)
	}
	o.putNext(textOf(a, "a4"))
	o.putLast(a, func() []frame { return []frame{{data: []byte("cancelled")}} })
	o.drop(a) // twice is once
	if err := o.put(nil, textOf(b, "b2")); err != nil {
		t.Fatal(err)
	}
	if got, want := takeAll(o), "b1 cancelled b2"; got != want {
		t.Errorf("sent %s, want %s", got, want)
	}
	if used := o.spool.budget.use().bytes; used != 0 {
		t.Errorf("%d bytes are counted when nothing waits", used)
	}
}

func TestOutboxKnowsWhatItOwes(t *testing.T) {
	o, a, b := newTestOutbox(1<<20), &utterance{}, &utterance{}
	audio := func(u *utterance) message {
		return message{kind: websocket.BinaryMessage, data: []byte("audio"), of: u}
	}
	for _, m := range []message{textOf(a, "start"), audio(a), audio(b)} {
		if err := o.put(nil, m); err != nil {
			t.Fatal(err)
		}
	}
	wantOwed := func(when string, wantA, wantB bool) {
		t.Helper()
		if gotA, gotB := o.hasAudioOf(a), o.hasAudioOf(b); gotA != wantA || gotB != wantB {
			t.Errorf("%s: audio of a waits %v and of b %v, want %v and %v", when, gotA, gotB, wantA, wantB)
		}
	}
	o.sent(takeNow(o))
	wantOwed("only an event was sent", true, true)
	m := takeNow(o)
	wantOwed("the audio of a is being sent", true, true)
	o.sent(m)
	wantOwed("the audio of a was sent", false, true)
	o.drop(b)
	wantOwed("the audio of b was dropped", false, false)
}

func TestOutboxEnds(t *testing.T) {
	closing := []byte("close")
	filled := func() (*outbox, *utterance) {
		o, u := newTestOutbox(1<<20), &utterance{}
		if err := o.put(nil, textOf(u, "audio")); err != nil {
			t.Fatal(err)
		}
		o.answer(nil, "answer")
		return o, u
	}
	t.Run("a close waits for what is before it", func(t *testing.T) {
		o, u := filled()
		o.close(closing, false)
		o.close([]byte("second"), false)
		if err := o.put(nil, textOf(u, "late")); !errors.Is(err, errStopped) {
			t.Errorf("put after close = %v, want %v", err, errStopped)
		}
		o.answer(nil, "late")
		o.putLast(u, func() []frame { return []frame{{data: []byte("late")}} })
		if got, want := takeAll(o), `"answer" audio`; got != want {
			t.Errorf("sent %s, want %s", got, want)
		}
		if m := takeNow(o); string(m.data) != "close" || m.kind != websocket.CloseMessage {
			t.Errorf("sent %q at last, want the first close", m.data)
		}
	})
	t.Run("or takes its place", func(t *testing.T) {
		o, _ := filled()
		o.close(closing, true)
		if m := takeNow(o); m.kind != websocket.CloseMessage || o.spool.budget.use().bytes != 0 || o.answerSize != 0 {
			t.Errorf("sent %q with %d bytes of audio and %d of answers counted, want the close and none", m.data,
				o.spool.budget.use().bytes, o.answerSize)
		}
	})
	t.Run("a dead one takes nothing and wakes who waits", func(t *testing.T) {
		o, u := filled()
		o.answer(noWait, strings.Repeat("x", answerRoom-100))
		waited := make(chan struct{})
		go func() {
			o.answer(nil, strings.Repeat("x", answerRoom))
			close(waited)
		}()
		o.kill()
		<-waited
		o.putNext(textOf(u, "next"))
		if _, ok := o.take(nil); ok || o.spool.budget.use().bytes != 0 {
			t.Error("something was taken from a dead outbox, or is counted in it")
		}
	})
}

// TestOutboxAllocatesNothing holds that a block of audio costs a copy and nothing else.
func TestOutboxAllocatesNothing(t *testing.T) {
	o, u := newTestOutbox(1<<20), &utterance{}
	each := testing.AllocsPerRun(1000, func() {
		b := newBlock(15360)
		m := message{kind: websocket.BinaryMessage, data: b.bytes, block: b, of: u, frames: 4}
		if err := o.put(nil, m); err != nil {
			t.Fatal(err)
		}
		m, _ = o.take(nil)
		o.sent(m)
	})
	if each != 0 {
		t.Errorf("%v allocations a block, want none", each)
	}
}

// TestWSCountsEveryMessageOnce lets many clients do what clients do, at random, and then compares the books: every
// utterance and every message that was refused is counted exactly once, no worker is lost, and nobody is left.
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
					s.conn.WriteMessage(websocket.TextMessage,
						[]byte(`{"text":"Order 12 May ko aayega.","format":"opus"}`))
				default:
					s.conn.WriteMessage(websocket.TextMessage,
						fmt.Appendf(nil, `{"text":%q,"request_id":"%d"}`, line, j%7))
				}
				switch random.IntN(8) {
				case 0:
					s.conn.WriteMessage(websocket.TextMessage, []byte(`{"type":"cancel"}`))
				case 1:
					s.conn.WriteMessage(websocket.TextMessage,
						fmt.Appendf(nil, `{"type":"cancel","request_id":"%d"}`, random.IntN(7)))
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
