package firestore

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"sync"
	"time"

	"cloud.google.com/go/firestore"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/swar-tts/swar/portal/tenant"
)

const (
	maxAttempts  = 25
	firstPause   = 20 * time.Millisecond
	longestPause = time.Second

	markLife = time.Hour // far longer than any transaction is tried
)

// transact runs change in a transaction until it is committed, and never commits it twice.
//
// That needs care if the answer to a commit is lost: its writes may be stored or not. So each transaction creates a
// document of its own, its mark, with the rest of its writes. When a commit fails, the transaction is rolled back,
// after which it cannot be applied any more, and the next attempt first looks for the mark. If it exists, the work is
// done.
//
// An error of change is returned as it is, unless it is a temporary one of Firestore: then change is called again.
func (s *Store) transact(ctx context.Context, doing string,
	change func(context.Context, *firestore.Transaction) error) error {
	return s.attempts(ctx, doing, &mark{doc: s.client.Collection("commits").Doc(rand.Text())}, change)
}

// attempts is transact with a mark or, if change itself detects a stored commit, without one.
func (s *Store) attempts(ctx context.Context, doing string, m *mark,
	change func(context.Context, *firestore.Transaction) error) error {
	refusals := 0 // of commits, one after the other
	for attempt := 1; ; attempt++ {
		t := try{mark: m, change: change, number: attempt}
		err := s.client.RunTransaction(ctx, t.run, firestore.MaxAttempts(1))
		if t.panicked != nil {
			panic(t.panicked)
		}
		if err == nil || t.stored {
			return nil
		}
		if m != nil && status.Code(err) == codes.AlreadyExists && t.ran == nil { // only the mark is created so
			return s.fault(ctx, doing, m.isOf(ctx, attempt))
		}
		// A refused commit may have been applied: Firestore's client resends it when the answer is lost, and then gets
		// "no such transaction". So another attempt looks. Two refusals in a row are real: the first was not stored.
		again := passes(err)
		if t.committed && refused(err) {
			refusals++
			again = refusals == 1
		} else {
			refusals = 0
		}
		if !again || attempt == maxAttempts || ctx.Err() != nil || pause(ctx, attempt) != nil {
			if t.ran != nil {
				return t.ran
			}
			return s.fault(ctx, doing, err)
		}
	}
}

// refused reports whether Firestore found something wrong with a request.
func refused(err error) bool {
	code := status.Code(err)
	return code == codes.InvalidArgument || code == codes.FailedPrecondition || code == codes.NotFound
}

// snapshot calls view with a transaction that sees one state of the database, and returns its error as it is.
func (s *Store) snapshot(ctx context.Context, doing string,
	view func(context.Context, *firestore.Transaction) error) error {
	for attempt := 1; ; attempt++ {
		t := try{change: view}
		err := s.client.RunTransaction(ctx, t.run, firestore.ReadOnly)
		switch {
		case t.panicked != nil:
			panic(t.panicked)
		case t.committed || t.ran != nil: // how the transaction ends does not matter: it has read one state
			return t.ran
		case !passes(err) || attempt == maxAttempts || pause(ctx, attempt) != nil:
			return s.fault(ctx, doing, err)
		}
	}
}

// mark is the document by which a transaction is known to have been committed. It holds the number of the attempt.
type mark struct {
	doc  *firestore.DocumentRef
	last int // attempt in which change was called last; 0 if it was not
}

const markAttempt = "attempt"

// isOf returns nil if the stored mark is that of an attempt. If it is of an earlier one, that one came through after
// it was given up, and what the change has handed out since then is not what is stored.
func (m *mark) isOf(ctx context.Context, attempt int) error {
	doc, err := m.doc.Get(ctx)
	if err != nil {
		return err
	}
	return isOf(doc, attempt)
}

func isOf(doc *firestore.DocumentSnapshot, attempt int) error {
	n, err := doc.DataAt(markAttempt)
	if err == nil && n != int64(attempt) {
		return fmt.Errorf("the change was made, but its result came too late; look again: %w", tenant.ErrUnavailable)
	}
	return err
}

// try is one attempt.
type try struct {
	*mark
	change func(context.Context, *firestore.Transaction) error
	number int

	ran       error // what change returned
	committed bool  // change has succeeded, so that a commit is sent
	stored    bool  // an earlier attempt turned out to have been committed
	panicked  any
}

func (t *try) run(ctx context.Context, tx *firestore.Transaction) (err error) {
	if t.mark != nil && t.last > 0 {
		switch doc, err := tx.Get(t.doc); {
		case err == nil:
			if err := isOf(doc, t.last); err != nil {
				return err
			}
			t.stored = true
			return errStored
		case status.Code(err) != codes.NotFound:
			return err
		}
	}
	// A panic must not get past RunTransaction, which would leave the transaction open and what it has read locked.
	defer func() {
		if p := recover(); p != nil {
			t.panicked, err = p, errPanicked
		}
	}()
	if t.mark != nil {
		t.last = t.number // from here on what an earlier attempt has handed out is no more
	}
	if t.ran = t.change(ctx, tx); t.ran != nil {
		return t.ran
	}
	t.committed = true
	if t.mark == nil {
		return nil
	}
	return tx.Create(t.doc, map[string]any{markAttempt: t.number, "expire_at": time.Now().Add(markLife)})
}

var (
	errStored   = errors.New("firestore: the transaction had been committed")
	errPanicked = errors.New("firestore: the change panicked")
)

// retry calls read again while it fails in a way that passes.
func retry(ctx context.Context, read func() error) error {
	for attempt := 1; ; attempt++ {
		err := read()
		again := passes(err) && status.Code(err) != codes.Aborted
		if err == nil || !again || attempt >= 5 || pause(ctx, attempt) != nil {
			return err
		}
	}
}

// pause waits before another attempt: longer each time, and for a random time, so that two writers that collided once
// do not collide again.
func pause(ctx context.Context, attempt int) error {
	most := min(longestPause, firstPause<<min(attempt, 10))
	select {
	case <-time.After(most/4 + mathrand.N(most*3/4)):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// turns makes transactions of this process that would meet in Firestore wait for one another here, which is faster
// than conflicts are.
type turns struct {
	mu     sync.Mutex
	queues map[string]chan struct{} // each holds a token while a caller has the turn
	length map[string]int           // how many have or want it
}

// take waits for the turn of name and returns what gives it back.
func (t *turns) take(ctx context.Context, name string) (give func(), err error) {
	t.mu.Lock()
	if t.queues == nil {
		t.queues, t.length = map[string]chan struct{}{}, map[string]int{}
	}
	queue, ok := t.queues[name]
	if !ok {
		queue = make(chan struct{}, 1)
		t.queues[name] = queue
	}
	t.length[name]++
	t.mu.Unlock()
	leave := func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.length[name]--; t.length[name] == 0 {
			delete(t.queues, name)
			delete(t.length, name)
		}
	}
	select {
	case queue <- struct{}{}:
		return func() { <-queue; leave() }, nil
	case <-ctx.Done():
		leave()
		return nil, ctx.Err()
	}
}
