package signin

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// How long keys are kept, and how often they are asked for.
const (
	fetchTime    = 10 * time.Second // bounds one fetch
	staleIfError = 24 * time.Hour   // for which old keys do while there are no new ones
	refetchPause = time.Minute      // between fetches for unknown key ids, which anyone can invent
	firstPause   = 5 * time.Second  // the same while there are no keys at all, and every token is refused
)

// keySet holds the public keys of an issuer. However many tokens come, there is one fetch at a time, and pauses
// between them.
type keySet struct {
	issuer string // for errors
	fetch  func(ctx context.Context) (keys []jose.JSONWebKey, maxAge time.Duration, err error)

	mu      sync.Mutex
	keys    []jose.JSONWebKey
	fetched time.Time // when keys were
	fresh   time.Time // until when they need no fetch
	tried   time.Time // when the last fetch began
	failing error     // of the last fetch
	running chan struct{}
}

// find returns the keys that may have made a signature: those with this id, or all when the token names none.
func (s *keySet) find(ctx context.Context, id, algorithm string) ([]jose.JSONWebKey, error) {
	s.mu.Lock()
	found, now := s.match(id, algorithm), time.Now()
	if len(found) > 0 && (now.Before(s.fresh) || s.failing != nil && now.Before(s.fresh.Add(staleIfError))) {
		if !now.Before(s.fresh) { // no caller waits for an issuer that failed last time
			s.startLocked(now)
		}
		s.mu.Unlock()
		return found, nil
	}
	running := s.startLocked(now)
	s.mu.Unlock()

	if running != nil {
		select {
		case <-running:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch found = s.match(id, algorithm); {
	case len(s.keys) == 0 || !time.Now().Before(s.fresh.Add(staleIfError)):
		return nil, fmt.Errorf("%w: %s: %w", ErrUnavailable, s.issuer, s.failing)
	case len(found) == 0:
		return nil, fmt.Errorf("%w: signed with a key that its issuer does not name", ErrInvalidToken)
	}
	return found, nil
}

// startLocked starts a fetch, unless one is running or the last one was just now. It returns what is closed when the
// fetch is over, or nil.
//
// The fetch serves all waiting and later callers, so it outlives the caller's context. It ends within fetchTime.
func (s *keySet) startLocked(now time.Time) chan struct{} {
	pause := refetchPause
	if len(s.keys) == 0 {
		pause = firstPause
	}
	if s.running != nil || now.Before(s.tried.Add(pause)) {
		return s.running
	}
	return s.fetchLocked(now)
}

func (s *keySet) fetchLocked(now time.Time) chan struct{} {
	done := make(chan struct{})
	s.running, s.tried = done, now
	go func() {
		defer close(done)
		ctx, cancel := context.WithTimeout(context.Background(), fetchTime)
		defer cancel()
		keys, maxAge, err := s.fetch(ctx)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.running, s.failing = nil, err
		if err == nil {
			s.keys, s.fetched = keys, time.Now()
			s.fresh = s.fetched.Add(maxAge)
		}
	}()
	return done
}

// run keeps the keys fresh until ctx ends, so that no request has to wait for them.
func (s *keySet) run(ctx context.Context, log *slog.Logger) {
	for {
		s.mu.Lock()
		running := s.running
		if running == nil {
			running = s.fetchLocked(time.Now())
		}
		s.mu.Unlock()
		<-running

		s.mu.Lock()
		err, wait := s.failing, s.fresh.Sub(s.fetched)*4/5-time.Since(s.fetched)
		s.mu.Unlock()
		if err != nil {
			log.Warn("the keys of an issuer cannot be read; cached ones stay valid for a day", "issuer", s.issuer,
				"error", err)
			wait = refetchPause
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
	}
}

func (s *keySet) match(id, algorithm string) []jose.JSONWebKey {
	var found []jose.JSONWebKey
	for _, k := range s.keys {
		isNamed := id == "" || k.KeyID == id
		isFor := k.Algorithm == "" || k.Algorithm == algorithm
		if isNamed && isFor && fits(k.Key, algorithm) {
			found = append(found, k)
		}
	}
	return found
}

// fits reports whether a key is one for the algorithm, and strong enough.
func fits(key any, algorithm string) bool {
	switch k := key.(type) {
	case *rsa.PublicKey:
		return algorithm == string(jose.RS256) && k.N.BitLen() >= 2048 && k.N.BitLen() <= 8192
	case *ecdsa.PublicKey:
		return algorithm == string(jose.ES256) && k.Curve == elliptic.P256()
	case ed25519.PublicKey:
		return algorithm == string(jose.EdDSA)
	}
	return false
}
