package serve

import (
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

// message is a message to send. Messages of an utterance name it, so that they can be removed when it is stopped.
type message struct {
	kind   int // as websocket has them; audio is binary, whatever it is sent as
	data   []byte
	block  *block // what data lies in, when it is to be used again
	of     sender // nil for an answer, and for what concerns the connection
	frames int    // that data adds to the client's audio
	last   bool   // the last message of its sender: it is sent even when all others were removed

	late func() []frame // makes what is sent instead of data, when all before has been sent
}

// frame is what leaves as one message of WebSocket.
type frame struct {
	kind int
	data []byte
}

// sender is what messages belong to: an utterance.
type sender interface {
	// outbound is guarded by the mutex of the outbox.
	outbound() *outgoing

	// delivered counts a message that has been written. It returns the event that must follow at once, or nil. The
	// goroutine that writes calls it.
	delivered(message) []byte
}

// outgoing is the state of a sender in an outbox.
type outgoing struct {
	dropped     bool // nothing of it may be sent any more but its last message
	unsentAudio int  // messages of audio that wait, or are being sent
	pace
}

// pace is for a sender whose audio is to leave as it sounds.
type pace struct {
	ahead time.Duration // audio leaves at most this much earlier; 0: at once
	playback
}

// wait returns for how long m, which is the sender's, must wait.
func (p *pace) wait(m *message) time.Duration {
	if p.ahead == 0 || m.kind != websocket.BinaryMessage {
		return 0
	}
	return max(p.left(time.Now())-p.ahead, 0)
}

func (p *pace) leaves(m *message) {
	if p.ahead > 0 {
		p.took(m.frames, time.Now())
	}
}

// size is the memory that m holds.
func (m *message) size() int {
	if m.block != nil {
		return m.block.size()
	}
	return len(m.data)
}

// outbox queues the messages of one socket: many writers, one reader. Messages of utterances wait in order, with memory
// of the spool; answers to messages overtake them, or a client would get an error only after all audio before it.
type outbox struct {
	wake  chan struct{} // has room for one: something has come while the taker waited
	spool spool

	mu         sync.Mutex
	spoken     fifo[message] // of utterances
	answers    fifo[message]
	answerSize int           // bytes, with the one that is being sent
	answered   chan struct{} // closed when answerSize decreases; nil if no writer waits for that
	next       *message      // must follow what has just been sent
	pong       *message      // answers the newest ping; earlier ones need no answer any more
	closing    *message      // the last message; nothing is put in after it
	dead       bool          // the reader has stopped
	wait       time.Duration // for which the first of spoken must wait; only for the goroutine that takes
}

func newOutbox(b *spoolBudget) outbox {
	return outbox{wake: make(chan struct{}, 1), spool: spool{budget: b}}
}

// put adds m, which is an utterance's. It waits for room as [spool.reserve] does, and returns errStopped when there is
// no use in m any more. It takes over m.data also when it fails.
func (o *outbox) put(done <-chan struct{}, m message) error {
	err := o.spool.reserve(done, m.size())
	if err != nil {
		m.free()
		return err
	}
	if !o.tryPut(m) {
		o.giveBack(m, false)
		return errStopped
	}
	return nil
}

func (o *outbox) tryPut(m message) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.dead || o.closing != nil || m.of.outbound().dropped {
		return false
	}
	o.spoken.push(m)
	if m.kind == websocket.BinaryMessage {
		m.of.outbound().unsentAudio++
	}
	o.wakeLocked()
	return true
}

// putLast adds the last message of an utterance, which needs no room, behind all else of it.
func (o *outbox) putLast(u sender, late func() []frame) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.dead || o.closing != nil {
		return
	}
	o.spoken.push(message{kind: websocket.TextMessage, of: u, late: late, last: true})
	o.wakeLocked()
}

// answer adds an event that overtakes what is spoken. While answerRoom of them wait it blocks, until done closes.
func (o *outbox) answer(done <-chan struct{}, event any) {
	o.answerWith(done, message{kind: websocket.TextMessage, data: encodeEvent(event)})
}

// answerWith is answer for a message without an utterance.
func (o *outbox) answerWith(done <-chan struct{}, m message) {
	for {
		answered := o.tryAnswer(m)
		if answered == nil {
			return
		}
		select {
		case <-answered:
		case <-done:
			return
		}
	}
}

// tryAnswer adds m, or returns what to wait for before it is tried again.
func (o *outbox) tryAnswer(m message) (answered <-chan struct{}) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.dead || o.closing != nil:
		return nil
	case o.answerSize > 0 && o.answerSize+len(m.data) > answerRoom:
		if o.answered == nil {
			o.answered = make(chan struct{})
		}
		return o.answered
	}
	o.answers.push(m)
	o.answerSize += len(m.data)
	o.wakeLocked()
	return nil
}

// putPong answers a protocol ping, ahead of all else.
func (o *outbox) putPong(payload string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.pong = &message{kind: websocket.PongMessage, data: []byte(payload)}
	o.wakeLocked()
}

// putNext adds m, which is an utterance's, ahead of what waits. Only the goroutine that takes may call it.
func (o *outbox) putNext(m message) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.dead && !m.of.outbound().dropped {
		o.spool.overdraw(m.size())
		o.next = &m
	}
}

// close makes frame the last message, after what is waiting, or with purge instead of it. Only the first close
// counts, except that a later one may still purge.
func (o *outbox) close(frame []byte, purge bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closing == nil {
		o.closing = &message{kind: websocket.CloseMessage, data: frame}
	}
	if purge {
		o.purgeLocked()
	}
	o.wakeLocked()
}

// closeBehindAnswers makes frame the last message, after answers that are waiting and instead of what is spoken.
func (o *outbox) closeBehindAnswers(frame []byte) {
	o.close(frame, false)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.dropLocked(func(message) bool { return true })
}

// kill ends the taking out: the connection is of no use any more.
func (o *outbox) kill() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.dead = true
	o.pong = nil
	o.purgeLocked()
	o.wakeLocked()
}

func (o *outbox) purgeLocked() {
	o.dropLocked(func(message) bool { return true })
	for o.answers.len() > 0 {
		o.answerSize -= len(o.answers.pop().data)
	}
	o.answeredLocked()
}

// drop removes the waiting messages of senders except their last ones, and accepts no more from them.
func (o *outbox) drop(all ...sender) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, u := range all {
		u.outbound().dropped = true
	}
	o.dropLocked(func(m message) bool { return !m.last && m.of != nil && m.of.outbound().dropped })
}

func (o *outbox) dropLocked(which func(message) bool) {
	o.spoken.remove(func(m message) bool {
		if !which(m) {
			return false
		}
		if m.kind == websocket.BinaryMessage {
			m.of.outbound().unsentAudio--
		}
		o.giveBack(m, false)
		return true
	})
	if o.next != nil && which(*o.next) {
		o.giveBack(*o.next, false)
		o.next = nil
	}
}

// hasAudioOf reports whether audio of u waits for the client, or is just being sent.
func (o *outbox) hasAudioOf(u sender) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return u.outbound().unsentAudio > 0
}

// take returns what to send next, or a ping when it is due, and false when nothing will follow. The caller returns what
// it took with sent. Only one goroutine may call it.
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
		var due <-chan time.Time
		if o.wait > 0 {
			due = time.After(o.wait)
		}
		select {
		case <-ping:
			return message{kind: websocket.PingMessage}, true
		case <-o.wake:
		case <-due:
		}
	}
}

func (o *outbox) tryTake() (m message, ok, over bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.wait = 0
	switch {
	case o.dead:
		return message{}, false, true
	case o.pong != nil:
		m, o.pong = *o.pong, nil
	case o.next != nil:
		m, o.next = *o.next, nil
	case o.answers.len() > 0:
		m = o.answers.pop()
	case o.spoken.len() > 0:
		next := o.spoken.first()
		pace := &next.of.outbound().pace
		if o.wait = pace.wait(next); o.wait > 0 {
			return message{}, false, false
		}
		m = o.spoken.pop()
		pace.leaves(&m)
	case o.closing != nil:
		m = *o.closing
	default:
		return message{}, false, false
	}
	return m, true, false
}

// sent gives m back: the client has taken it, and what it took up is free again.
func (o *outbox) sent(m message) {
	switch {
	case m.of != nil:
		o.mu.Lock()
		if m.kind == websocket.BinaryMessage {
			m.of.outbound().unsentAudio--
		}
		o.mu.Unlock()
		o.giveBack(m, true)
	case m.kind == websocket.TextMessage, m.kind == websocket.BinaryMessage:
		o.mu.Lock()
		o.answerSize -= len(m.data)
		o.answeredLocked()
		o.mu.Unlock()
	}
}

// giveBack returns the spool memory of m. took reports that the client has read it.
func (o *outbox) giveBack(m message, took bool) {
	o.spool.release(m.size(), took)
	m.free()
}

func (m *message) free() {
	if m.block != nil {
		m.block.free()
	}
}

func (o *outbox) answeredLocked() {
	if o.answered != nil {
		close(o.answered)
		o.answered = nil
	}
}

func (o *outbox) wakeLocked() {
	select {
	case o.wake <- struct{}{}:
	default: // it is awake, or will look anyway
	}
}
