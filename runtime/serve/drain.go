package serve

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/swar-tts/swar/runtime/access"
	"github.com/swar-tts/swar/runtime/speech"
)

// Drain stops new work on sockets. /readyz answers 503, new sockets are refused, idle ones are closed, and busy ones
// finish their utterances and close when the client has read them. What was queued behind is refused as busy. It
// returns at once, and may be called again. Requests on REST are refused by the speaker, which must be drained, too.
func (s *Server) Drain() {
	s.drainOnce.Do(func() {
		for _, session := range s.sockets.seal(s.draining) {
			session.drain()
		}
	})
}

// Wait drains and returns when all sockets are closed and all answers on REST have been read. When ctx ends first, it
// cuts the remaining streams, closes the remaining sockets, waits until they are closed, which takes about a second,
// and returns an error that wraps the cause of ctx.
func (s *Server) Wait(ctx context.Context) error {
	defer s.sockets.watching.Wait() // which end with the last sockets
	s.Drain()
	noSocket, noAnswer := s.sockets.idle(), s.answers.idle()
	for _, gone := range []<-chan struct{}{noSocket, noAnswer} {
		select {
		case <-gone:
		case <-ctx.Done():
			return s.cut(noSocket, noAnswer, context.Cause(ctx))
		}
	}
	return nil
}

// cut ends what is left, and returns when it has ended.
func (s *Server) cut(noSocket, noAnswer <-chan struct{}, cause error) error {
	sockets, answers := s.sockets.all(), s.answers.all()
	for _, session := range sockets {
		session.cut(speech.ErrDraining)
	}
	for _, d := range answers {
		d.stop(speech.ErrDraining)
	}
	select {
	case <-noSocket:
	case <-time.After(leaveGrace):
		for _, session := range s.sockets.all() {
			session.conn.Close()
		}
		<-noSocket
	}
	<-noAnswer
	return fmt.Errorf("%d sockets and %d answers cut: %w", len(sockets), len(answers), cause)
}

// registry is a set of what is under way. The zero value is empty. It is safe for concurrent use.
type registry[T comparable] struct {
	mu    sync.Mutex
	open  map[T]struct{}
	empty []chan struct{} // closed when there are none left
}

func (r *registry[T]) add(item T) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.addLocked(item)
}

func (r *registry[T]) addLocked(item T) {
	if r.open == nil {
		r.open = make(map[T]struct{})
	}
	r.open[item] = struct{}{}
}

func (r *registry[T]) remove(item T) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.removeLocked(item)
}

func (r *registry[T]) removeLocked(item T) {
	delete(r.open, item)
	r.notifyLocked()
}

func (r *registry[T]) all() []T {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Collect(maps.Keys(r.open))
}

// idle returns a channel that is closed as soon as nothing is under way.
func (r *registry[T]) idle() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	ch := make(chan struct{})
	r.empty = append(r.empty, ch)
	r.notifyLocked()
	return ch
}

func (r *registry[T]) notifyLocked() {
	if len(r.open) > 0 {
		return
	}
	for _, ch := range r.empty {
		close(ch)
	}
	r.empty = nil
}

// sockets are the sessions that are open. The zero value is ready.
type sockets struct {
	watching sync.WaitGroup // a goroutine for each of keys

	registry[*connection]
	keys   map[<-chan struct{}]*audience // by the channel that reports the end of their key; guarded by mu, like sealed
	sealed bool                          // no more are added
}

// audience is the sessions of one key. One goroutine waits for the end of the key for all of them: idle sockets are
// many, and shall cost next to nothing.
type audience struct {
	sessions map[*connection]struct{}
	allLeft  chan struct{} // closed when all have left
}

var errTooManySockets = fmt.Errorf("%s: %w", tooManySockets, speech.ErrBusy)

// add counts c in, unless there are limit sockets already or none may be added any more, which is [speech.ErrDraining].
func (s *sockets) add(c *connection, limit int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.sealed:
		return speech.ErrDraining
	case len(s.open) >= limit:
		return errTooManySockets
	}
	s.addLocked(c)
	s.watchLocked(c)
	return nil
}

func (s *sockets) remove(c *connection) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.removeLocked(c)
	if a := s.keys[c.grant.Ended]; a != nil {
		delete(a.sessions, c)
		if len(a.sessions) == 0 {
			close(a.allLeft)
			delete(s.keys, c.grant.Ended)
		}
	}
}

// watchLocked sees to it that c ends with its key.
func (s *sockets) watchLocked(c *connection) {
	ended := c.grant.Ended
	if ended == nil {
		return
	}
	a := s.keys[ended]
	if a == nil {
		a = &audience{make(map[*connection]struct{}), make(chan struct{})}
		if s.keys == nil {
			s.keys = make(map[<-chan struct{}]*audience)
		}
		s.keys[ended] = a
		s.watching.Go(func() {
			select {
			case <-ended:
				for _, c := range s.dismissed(ended) {
					c.revoke()
				}
			case <-a.allLeft:
			}
		})
	}
	a.sessions[c] = struct{}{}
}

// dismissed returns the sessions of a revoked key. A session that is added with it later is watched anew, and ends at
// once.
func (s *sockets) dismissed(ended <-chan struct{}) []*connection {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.keys[ended]
	if a == nil {
		return nil // the last one left in this moment
	}
	delete(s.keys, ended)
	return slices.Collect(maps.Keys(a.sessions))
}

// seal admits no more sessions, closes sealed in the same moment, and returns the current sessions.
func (s *sockets) seal(sealed chan<- struct{}) []*connection {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sealed = true
	close(sealed)
	return slices.Collect(maps.Keys(s.open))
}

// noWait is closed, so that what waits for it or something else does not wait.
var noWait = func() <-chan struct{} {
	ch := make(chan struct{})
	close(ch)
	return ch
}()

// drain lets finish what has begun, and then closes.
func (c *connection) drain() {
	c.dismiss(speech.ErrDraining)
	c.closeIfIdle()
}

// cut stops what has begun as well, for cause, with an error event, and closes.
func (c *connection) cut(cause error) {
	c.end(cause, c.dismiss(cause)...)
	c.stop(cause)
	c.closeIfIdle()
}

// revoke ends the session because its key has ended: at once, and no answer of the client is waited for long.
func (c *connection) revoke() {
	if c.endsSilent(access.ErrInvalidKey) {
		c.protocol.failed(access.ErrInvalidKey)
	}
	c.cut(access.ErrInvalidKey)
	c.liveness.end()
}

// endsSilent records why the connection ends, and reports whether no utterance will report that.
func (c *connection) endsSilent(why error) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ending = why
	return c.left == 0
}

// closeIfIdle closes unless an utterance has begun: then its end does it.
func (c *connection) closeIfIdle() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closeIfEndingLocked()
}
