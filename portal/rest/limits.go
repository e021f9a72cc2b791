package rest

import (
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// What one user may take. It is far more than a person or a script that does its work needs, and keeps one user from
// taking the portal away from the others.
const (
	userRate   = 10  // requests a second in the long run
	userBurst  = 100 // requests at once, before that counts
	userActive = 16  // requests at the same time, so that slow bodies of a MiB cannot pile up

	exportTime = 10 * time.Minute // an export must be done after this time
)

// userLimit counts what one user takes.
type userLimit struct {
	tokens *rate.Limiter

	mu        sync.Mutex
	active    int
	exporting bool
}

func newUserLimit() *userLimit { return &userLimit{tokens: rate.NewLimiter(userRate, userBurst)} }

// limited applies the request limits of a user to h.
func (s *Server) limited(h handler) handler {
	if s.cfg.Operator {
		return h
	}
	return func(c *call) error {
		limit := s.limits.of(c.user.ID)
		if !limit.enter() {
			return errTooMany
		}
		defer limit.leave()
		return h(c)
	}
}

// enter counts a request, unless there are too many. Who enters must leave.
func (l *userLimit) enter() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.active >= userActive || !l.tokens.Allow() {
		return false
	}
	l.active++
	return true
}

func (l *userLimit) leave() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.active--
}

// export runs write for a user, one at a time.
func (s *Server) export(user string, write func() error) error {
	limit := s.limits.of(user)
	if !limit.setExporting(true) {
		return errTooMany
	}
	defer limit.setExporting(false)
	return write()
}

// setExporting reports whether that is a change.
func (l *userLimit) setExporting(to bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	changed := l.exporting != to
	l.exporting = to
	return changed
}
