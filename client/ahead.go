package client

import (
	"io"
	"sync"
)

// maxAhead bounds what is read ahead of its consumer. Beyond it the connection pushes back.
const maxAhead = 64 << 20

// ahead is an Audio with a goroutine that reads it.
type ahead struct {
	audio   *Audio
	inbox   *inbox
	reading sync.WaitGroup
	rest    []byte
}

func (r *ahead) fill() {
	for {
		buf := make([]byte, 16<<10)
		n, err := r.audio.Read(buf)
		if n > 0 && !r.inbox.put(message{data: buf[:n]}) {
			return
		}
		if err != nil {
			r.inbox.end(err)
			return
		}
	}
}

func (r *ahead) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if len(r.rest) == 0 {
		m, err := r.inbox.take()
		if err != nil {
			return 0, err
		}
		r.rest = m.data
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

func (r *ahead) Close() error {
	r.inbox.shut(errClosed)
	err := r.audio.resp.Body.Close() // makes a Read that is waiting return
	r.reading.Wait()
	return err
}

var _ io.ReadCloser = (*ahead)(nil)

// inbox is what was received and not taken yet.
type inbox struct {
	mu      sync.Mutex
	changed sync.Cond
	queue   []message
	size    int
	err     error // returned after the queue is empty
}

// message is a text message of a WebSocket, or a piece of audio.
type message struct {
	text bool
	data []byte
}

func newInbox() *inbox {
	b := new(inbox)
	b.changed.L = &b.mu
	return b
}

// put adds m, and waits while the queue is full. It returns false when the reader has stopped.
func (b *inbox) put(m message) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for b.size > 0 && b.size+len(m.data) > maxAhead && b.err == nil {
		b.changed.Wait()
	}
	if b.err != nil {
		return false
	}
	b.queue = append(b.queue, m)
	b.size += len(m.data)
	b.changed.Broadcast()
	return true
}

// end sets the error that follows everything in the queue.
func (b *inbox) end(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err == nil {
		b.err = err
	}
	b.changed.Broadcast()
}

// shut is end that forgets what was put.
func (b *inbox) shut(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.queue, b.size, b.err = nil, 0, err
	b.changed.Broadcast()
}

// take waits for a message, or for the end.
func (b *inbox) take() (message, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for len(b.queue) == 0 {
		if b.err != nil {
			return message{}, b.err
		}
		b.changed.Wait()
	}
	m := b.queue[0]
	b.queue[0] = message{}
	b.queue = b.queue[1:]
	b.size -= len(m.data)
	b.changed.Broadcast()
	return m, nil
}
