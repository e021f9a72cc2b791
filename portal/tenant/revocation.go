package tenant

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"
)

// ErrNotStored is the answer to a revocation that the store could not write. The key is refused from then on, and the
// write is retried; until it is stored, a restart would make the key valid again, so the caller must not report
// success.
var ErrNotStored = fmt.Errorf("the key is refused from now on, but that is not stored yet: %w", ErrUnavailable)

const (
	rightsTime     = 5 * time.Second // for reading who may revoke a key when the store takes no changes
	minRevokeRetry = time.Second     // wait before a revocation is tried again; doubled after each failure
	maxRevokeRetry = 10 * time.Second
	lastRevokeTime = 2 * time.Second // for the last try, when the server stops
)

// revocation is one that was decided.
type revocation struct {
	keyID string
	actor User
	at    time.Time
}

// revocations are those that the store has not written yet. It is safe for concurrent use.
type revocations struct {
	wake chan struct{} // holds a token when there is a new one

	mu      sync.Mutex
	waiting map[string]revocation // by id of the key
}

func newRevocations() *revocations {
	return &revocations{wake: make(chan struct{}, 1), waiting: make(map[string]revocation)}
}

// add keeps r, unless the same key waits already.
func (w *revocations) add(r revocation) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, waits := w.waiting[r.keyID]; waits {
		return
	}
	w.waiting[r.keyID] = r
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

func (w *revocations) done(keyID string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.waiting, keyID)
}

func (w *revocations) all() []revocation {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Collect(maps.Values(w.waiting))
}

// RevokeKey ends a key at once and for ever. Revoking it again changes nothing and returns the same row.
//
// When the store takes no changes, such as on a full disk, the key is refused all the same if Config.Refuse is set,
// [Service.Run] stores that as soon as it can, and the error is [ErrNotStored], beside the key as it will be.
func (s *Service) RevokeKey(ctx context.Context, actor User, id string) (Key, error) {
	now := s.now()
	key, err := update(ctx, s, func(tx Tx) (Key, error) {
		key, err := writableKey(tx, actor, id)
		if err != nil || key.Revoked() {
			return key, err
		}
		return endKey(tx, now, actor, key)
	})
	if s.cfg.Refuse == nil || !isFault(err) {
		return key, err
	}
	reading, cancel := context.WithTimeout(context.WithoutCancel(ctx), rightsTime)
	defer cancel()
	key, unknown := view(reading, s, func(r Reader) (Key, error) { return writableKey(r, actor, id) })
	switch {
	case isFault(unknown):
		return Key{}, err // the actor's rights are unknown
	case unknown != nil, key.Revoked(): // it was stored after all
		return key, unknown
	}
	s.cfg.Refuse(key)
	s.unstored.add(revocation{id, actor, now})
	s.cfg.Log.Warn("a key is refused, but its revocation is not stored yet; it is tried again until it is",
		"key", id, "error", err)
	key.RevokedAt = now
	return key, fmt.Errorf("%w: %w", ErrNotStored, err)
}

// isFault reports whether err is a failure of the store, not a refusal of a rule or the end of the caller.
func isFault(err error) bool {
	_, isRefusal := errors.AsType[*Refusal](err)
	return err != nil && !isRefusal && !errors.Is(err, ErrClosed) && !errors.Is(err, context.Canceled)
}

// endKey writes the end of a live key or of one for the playground.
func endKey(tx Tx, now time.Time, actor User, key Key) (Key, error) {
	if key.Kind == Live {
		org, err := tx.Org(key.OrgID)
		if err != nil {
			return Key{}, err
		}
		org.ActiveKeys--
		tx.PutOrg(org)
	}
	return revoke(tx, now, actor, key), nil
}

// Run stores revocations that the store could not take, until ctx ends, and then tries once more. It returns nil.
func (s *Service) Run(ctx context.Context) error {
	for wait := time.Duration(0); ; {
		var again <-chan time.Time // never, while nothing waits
		if wait > 0 {
			again = time.After(wait)
		}
		select {
		case <-s.unstored.wake:
			wait = minRevokeRetry
		case <-again:
			if wait = min(2*wait, maxRevokeRetry); s.storeRevocations(ctx) == 0 {
				wait = 0
			}
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastRevokeTime)
			defer cancel()
			if s.storeRevocations(last) > 0 {
				s.logUnstored()
			}
			return nil
		}
	}
}

// storeRevocations tries all that wait, and returns how many still do.
func (s *Service) storeRevocations(ctx context.Context) (left int) {
	for _, r := range s.unstored.all() {
		err := s.store.Update(ctx, func(tx Tx) error {
			key, err := tx.Key(r.keyID)
			if errors.Is(err, ErrNotFound) || err == nil && key.Revoked() {
				return nil
			} else if err != nil {
				return err
			}
			_, err = endKey(tx, r.at, r.actor, key)
			return err
		})
		if err != nil {
			left++
			continue
		}
		s.unstored.done(r.keyID)
		s.cfg.Log.Info("the revocation of a key is stored now", "key", r.keyID)
	}
	return left
}

// logUnstored logs what a restart will undo.
func (s *Service) logUnstored() {
	var ids []string
	for _, r := range s.unstored.all() {
		ids = append(ids, r.keyID)
	}
	slices.Sort(ids)
	s.cfg.Log.Error("the store has not accepted the revocation of keys: they will be valid again after the next start; "+
		"revoke them then", "keys", ids)
}
