package storetest

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/swar-tts/swar/portal/tenant"
)

// watch is a call of WatchKeys and what it has told so far.
type watch struct {
	stop  context.CancelFunc
	ended chan error

	mu      sync.Mutex
	known   map[string]tenant.Key
	calls   int
	changed chan struct{} // closed and replaced at each call
}

func startWatch(t *testing.T, s tenant.Store) *watch {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	w := &watch{stop: stop, ended: make(chan error, 1), known: map[string]tenant.Key{}, changed: make(chan struct{})}
	go func() {
		w.ended <- s.WatchKeys(ctx, func(keys []tenant.Key, full bool) error {
			w.mu.Lock()
			defer w.mu.Unlock()
			if w.calls == 0 && !full {
				t.Error("the first call of a watcher is not full")
			}
			if full {
				clear(w.known)
			}
			for _, k := range keys {
				if old, ok := w.known[k.ID]; ok && old.Revoked() && !k.Revoked() {
					t.Errorf("%s went back from revoked to active", k.ID)
				}
				w.known[k.ID] = k
			}
			w.calls++
			close(w.changed)
			w.changed = make(chan struct{})
			return nil
		})
	}()
	t.Cleanup(stop)
	return w
}

// await waits until what the watcher has been told fulfils enough.
func (w *watch) await(t *testing.T, what string, enough func(known map[string]tenant.Key) bool) {
	t.Helper()
	timeout := time.After(waitLimit)
	for {
		w.mu.Lock()
		done, changed, n := w.calls > 0 && enough(w.known), w.changed, len(w.known)
		w.mu.Unlock()
		if done {
			return
		}
		select {
		case <-changed:
		case err := <-w.ended:
			t.Fatalf("the watcher ended before it saw %s: %v", what, err)
		case <-timeout:
			t.Fatalf("the watcher, who knows %d keys, did not see %s", n, what)
		}
	}
}

// wait waits for the end of WatchKeys and returns its error.
func (w *watch) wait(t *testing.T) error {
	t.Helper()
	select {
	case err := <-w.ended:
		return err
	case <-time.After(waitLimit):
		t.Fatal("the watcher did not end")
		return nil
	}
}

// end ends the watcher by its context.
func (w *watch) end(t *testing.T) {
	t.Helper()
	w.stop()
	if err := w.wait(t); !errors.Is(err, context.Canceled) {
		t.Errorf("the watcher ended with %v, want context.Canceled", err)
	}
}

func active(k tenant.Key) bool { return k.ID != "" && !k.Revoked() }

func testWatch(t *testing.T, s tenant.Store) { watching(t, s, s) }

// watching writes with one store and watches with the other.
func watching(t *testing.T, writer, watcher tenant.Store) {
	revoked, expired := makeActiveKey("key_revoked", "org_a"), makeActiveKey("key_expired", "org_a")
	revoked.RevokedAt, expired.ExpiresAt = at(-1), at(-1)
	update(t, writer, func(tx tenant.Tx) {
		tx.PutKey(makeActiveKey("key_a", "org_a"))
		tx.PutKey(makeActiveKey("key_b", "org_b"))
		tx.PutKey(revoked)
		tx.PutKey(expired)
	})
	w := startWatch(t, watcher)
	w.await(t, "what was there before",
		func(known map[string]tenant.Key) bool { return active(known["key_a"]) && active(known["key_b"]) })
	w.mu.Lock()
	same(t, "a watched key", w.known["key_a"], makeActiveKey("key_a", "org_a"))
	if k, ok := w.known["key_revoked"]; ok && !k.Revoked() {
		t.Error("a revoked key was told as active")
	}
	w.mu.Unlock()

	update(t, writer, func(tx tenant.Tx) { tx.PutKey(makeActiveKey("key_c", "org_a")) })
	w.await(t, "a new key", func(known map[string]tenant.Key) bool { return active(known["key_c"]) })

	changed := makeActiveKey("key_a", "org_a")
	changed.Name, changed.Voices = "new name", nil
	update(t, writer, func(tx tenant.Tx) { tx.PutKey(changed) })
	w.await(t, "a changed key", func(known map[string]tenant.Key) bool {
		return known["key_a"].Name == "new name" && len(known["key_a"].Voices) == 0
	})

	changed.RevokedAt = at(1)
	update(t, writer, func(tx tenant.Tx) { tx.PutKey(changed) })
	w.await(t, "a revoked key", func(known map[string]tenant.Key) bool { return known["key_a"].Revoked() })

	err := writer.Update(t.Context(), func(tx tenant.Tx) error {
		tx.PutKey(makeActiveKey("key_never", "org_a"))
		return tenant.ErrTooManyKeys
	})
	if !errors.Is(err, tenant.ErrTooManyKeys) {
		t.Fatal(err)
	}
	update(t, writer, func(tx tenant.Tx) {
		for i := range 50 {
			tx.PutKey(makeActiveKey(fmt.Sprintf("key_%02d", i), "org_a"))
		}
	})
	w.await(t, "fifty keys of one transaction", func(known map[string]tenant.Key) bool {
		for i := range 50 {
			if !active(known[fmt.Sprintf("key_%02d", i)]) {
				return false
			}
		}
		return true
	})
	w.mu.Lock()
	if _, ok := w.known["key_never"]; ok {
		t.Errorf("a watcher was told of a key that was never stored; it knows %s", sortedIDs(w.known))
	}
	w.mu.Unlock()
	w.end(t)
}

func testSlowWatcher(t *testing.T, s tenant.Store) {
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	told, resume, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	var last tenant.Key
	calls := 0
	go func() {
		ended <- s.WatchKeys(ctx, func(keys []tenant.Key, _ bool) error {
			if calls++; calls == 1 {
				close(told)
				<-resume
			}
			for _, k := range keys {
				if k.ID == "key_a" {
					last = k
				}
			}
			if last.Revoked() {
				stop()
			}
			return nil
		})
	}()
	<-told
	k := makeActiveKey("key_a", "org_a")
	for i := range 100 {
		k.Name = strconv.Itoa(i)
		update(t, s, func(tx tenant.Tx) { tx.PutKey(k) }) // must not wait for the watcher
	}
	k.RevokedAt = at(1)
	update(t, s, func(tx tenant.Tx) { tx.PutKey(k) })
	close(resume)
	select {
	case err := <-ended:
		if !errors.Is(err, context.Canceled) {
			t.Errorf("the watcher ended with %v, want context.Canceled", err)
		}
	case <-time.After(waitLimit):
		t.Fatal("the slow watcher did not see the newest state")
	}
	same(t, "the newest state", last, k)
}

func testManyWatchers(t *testing.T, s tenant.Store) {
	check := ignoreGoroutines(t)
	watchers := make([]*watch, 20)
	for i := range watchers {
		watchers[i] = startWatch(t, s)
	}
	together(10, func(i int) {
		for j := range 5 {
			err := s.Update(t.Context(), func(tx tenant.Tx) error {
				tx.PutKey(makeActiveKey(fmt.Sprintf("key_%d_%d", i, j), "org_a"))
				return nil
			})
			if err != nil {
				t.Errorf("Update: %v", err)
			}
		}
	})
	for _, w := range watchers {
		w.await(t, "all 50 keys", func(known map[string]tenant.Key) bool { return len(known) == 50 })
	}
	for _, w := range watchers {
		w.end(t)
	}
	if err := s.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	check()
}

func testWatchEnds(t *testing.T, s tenant.Store) {
	check := ignoreGoroutines(t)
	w := startWatch(t, s)
	w.await(t, "the first call", func(map[string]tenant.Key) bool { return true })
	w.end(t)
	update(t, s, func(tx tenant.Tx) { tx.PutKey(makeActiveKey("key_a", "org_a")) })
	if w.calls != 1 {
		t.Errorf("after its end the watcher was told something: %d calls, want 1", w.calls)
	}

	reason := errors.New("reason")
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := make(chan error, 1)
	begun := make(chan struct{})
	go func() {
		cause <- s.WatchKeys(ctx, func([]tenant.Key, bool) error { close(begun); return nil })
	}()
	<-begun
	cancel(reason)
	select {
	case err := <-cause:
		if !errors.Is(err, reason) {
			t.Errorf("the watcher ended with %v, want the cause of its context", err)
		}
	case <-time.After(waitLimit):
		t.Fatal("the watcher did not end with its context")
	}

	broken := errors.New("broken")
	if err := s.WatchKeys(t.Context(), func([]tenant.Key, bool) error { return broken }); !errors.Is(err, broken) {
		t.Errorf("a watcher whose first update fails ended with %v, want that error", err)
	}
	later := make(chan error, 1)
	first := make(chan struct{})
	go func() {
		calls := 0
		later <- s.WatchKeys(t.Context(), func([]tenant.Key, bool) error {
			if calls++; calls == 1 {
				close(first)
				return nil
			}
			return broken
		})
	}()
	<-first
	update(t, s, func(tx tenant.Tx) { tx.PutKey(makeActiveKey("key_b", "org_a")) })
	select {
	case err := <-later:
		if !errors.Is(err, broken) {
			t.Errorf("a watcher whose update fails ended with %v, want that error", err)
		}
	case <-time.After(waitLimit):
		t.Fatal("the watcher did not end with its update")
	}
	if err := s.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	check()
}
