package serve

import (
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"github.com/swar-tts/swar/runtime/speech"
)

// message is something to be sent. Those of an utterance name it, so that they can be taken back when it is cancelled.
type message struct {
	kind   int // as websocket has them
	data   []byte
	block  *block        // what data lies in, when it is to be used again
	of     *utterance    // nil for what concerns the connection or no utterance that has begun
	frames int           // that data adds to the client's audio
	late   func() []byte // makes data when everything before has been sent; nil for most
}

func (m *message) recycle() {
	if m.block != nil {
		m.block.free()
	}
}

// outbox is what waits to be sent on one socket: many put in, one goroutine takes out. It is bounded, and whoever puts in more than
// the client takes waits. The zero value is ready, but for wake.
type outbox struct {
	wake chan struct{} // has room for one: something has come while the taker waited

	mu      sync.Mutex
	queue   []message // waiting from head on
	head    int
	size    int           // bytes of what waits and of the message that is being sent
	moved   chan struct{} // closed when size falls; nil while nobody waits for that
	pong    *message      // answers the newest ping; earlier ones need no answer any more
	closing *message      // the last message; nothing is put in after it
	dead    bool          // nobody takes out any more
}

// errShut is what putting in returns when there is no use in it. The reason lies with whoever shut the socket.
var errShut = errors.New("socket is closing")

// put adds m. While more than room bytes would wait it blocks, until done closes or the client has taken nothing for holdLimit, which
// is [speech.ErrClientSlow]. It takes over m.data also when it fails.
func (o *outbox) put(done <-chan struct{}, m message, room int) error {
	var stall *time.Timer
	for {
		moved, err := o.tryPut(m, room)
		if moved == nil {
			return err
		}
		if stall == nil {
			stall = time.NewTimer(holdLimit)
			defer stall.Stop()
		}
		select {
		case <-moved:
			stall.Reset(holdLimit)
		case <-stall.C:
			m.recycle()
			return speech.ErrClientSlow
		case <-done:
			m.recycle()
			return errShut
		}
	}
}

// tryPut adds m, or returns what to wait for before it is tried again.
func (o *outbox) tryPut(m message, room int) (moved <-chan struct{}, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.dead || o.closing != nil, m.of != nil && m.of.dropped && m.late == nil:
		m.recycle()
		return nil, errShut
	case o.size > 0 && o.size+len(m.data) > room:
		if o.moved == nil {
			o.moved = make(chan struct{})
		}
		return o.moved, nil
	}
	if len(o.queue) == cap(o.queue) && o.head > len(o.queue)/2 {
		o.queue = slices.Delete(o.queue, 0, o.head)
		o.head = 0
	}
	o.queue = append(o.queue, m)
	o.size += len(m.data)
	o.wakeLocked()
	return nil, nil
}

// putPong answers a protocol ping, ahead of all else.
func (o *outbox) putPong(payload string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.pong = &message{kind: websocket.PongMessage, data: []byte(payload)}
	o.wakeLocked()
}

// close makes frame the last message, after what is waiting, or with purge instead of it. Only the first close counts, except that a
// later one may still purge.
func (o *outbox) close(frame []byte, purge bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closing == nil {
		o.closing = &message{kind: websocket.CloseMessage, data: frame}
	}
	if purge {
		o.removeLocked(func(message) bool { return true })
	}
	o.wakeLocked()
}

// kill ends the taking out: the connection is of no use any more.
func (o *outbox) kill() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.dead = true
	o.pong = nil
	o.removeLocked(func(message) bool { return true })
	o.wakeLocked()
}

// drop takes back what waits of u, and takes in nothing more of it but a late event.
func (o *outbox) drop(u *utterance) {
	o.mu.Lock()
	defer o.mu.Unlock()
	u.dropped = true
	o.removeLocked(func(m message) bool { return m.of == u })
}

// take returns what to send next, or a ping when its time has come, and false when there is nothing left to send ever. The caller gives
// back what it took with sent. Only one goroutine may take.
func (o *outbox) take(ping <-chan time.Time) (message, bool) {
	for {
		select {
		case <-ping: // also when there is always something to send
			return message{kind: websocket.PingMessage}, true
		default:
		}
		if m, ok, over := o.tryTake(); ok || over {
			return m, ok
		}
		select {
		case <-ping:
			return message{kind: websocket.PingMessage}, true
		case <-o.wake:
		}
	}
}

func (o *outbox) tryTake() (m message, ok, over bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.dead:
		return message{}, false, true
	case o.pong != nil:
		m, o.pong = *o.pong, nil
		return m, true, false
	case o.head < len(o.queue):
		m = o.queue[o.head]
		o.queue[o.head] = message{}
		o.head++
		o.settleLocked()
		return m, true, false
	case o.closing != nil:
		return *o.closing, true, false
	}
	return message{}, false, false
}

// sent gives m back: the client has taken it, and what it took up is free again.
func (o *outbox) sent(m message) {
	o.mu.Lock()
	if m.kind == websocket.TextMessage || m.kind == websocket.BinaryMessage { // control frames are not counted
		o.size -= len(m.data)
	}
	o.movedLocked()
	o.mu.Unlock()
	m.recycle()
}

// putNext adds m ahead of what waits, however full it is. Only the goroutine that takes may call it.
func (o *outbox) putNext(m message) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.dead || m.of.dropped {
		return
	}
	if o.head > 0 {
		o.head--
		o.queue[o.head] = m
	} else {
		o.queue = slices.Insert(o.queue, 0, m)
	}
	o.size += len(m.data)
}

func (o *outbox) removeLocked(which func(message) bool) {
	waiting := slices.DeleteFunc(o.queue[o.head:], func(m message) bool {
		if !which(m) {
			return false
		}
		o.size -= len(m.data)
		m.recycle()
		return true
	})
	o.queue = o.queue[:o.head+len(waiting)]
	o.settleLocked()
	o.movedLocked()
}

// settleLocked starts the queue over when it is empty. A long one is not kept, because most sockets are idle most of the time.
func (o *outbox) settleLocked() {
	if o.head < len(o.queue) {
		return
	}
	o.queue, o.head = o.queue[:0], 0
	if cap(o.queue) > 8 {
		o.queue = nil
	}
}

func (o *outbox) movedLocked() {
	if o.moved != nil {
		close(o.moved)
		o.moved = nil
	}
}

func (o *outbox) wakeLocked() {
	select {
	case o.wake <- struct{}{}:
	default: // it is awake, or will look anyway
	}
}
