package rest

import (
	"crypto/sha256"
	"strings"
	"sync"
	"time"

	"github.com/swar-tts/swar/portal/signin"
	"github.com/swar-tts/swar/portal/tenant"
	"github.com/swar-tts/swar/runtime/ident"
)

const (
	maxToken  = 16 << 10        // bytes: no issuer's tokens come near it
	joinPause = 5 * time.Second // between checks for new invitations of an active user
)

// authenticated requires a signed-in user for h. Roles are neither looked up here nor cached: each rule reads them from
// the store in its transaction, so that a removed member loses access with the next request.
func (s *Server) authenticated(h handler) handler {
	return func(c *call) error {
		user, err := s.userOf(c)
		if err != nil {
			return err
		}
		c.user = user
		return h(c)
	}
}

// userOf finds out whose request it is.
func (s *Server) userOf(c *call) (tenant.User, error) {
	if s.cfg.Operator {
		return tenant.Operator(), nil
	}
	token, ok := bearer(c.r.Header.Get("Authorization"))
	switch {
	case !ok && c.r.Header.Get("X-Api-Key") != "":
		return tenant.User{}, signin.ErrInvalidToken // API keys open nothing here
	case !ok:
		return tenant.User{}, errMissingToken
	case len(token) > maxToken:
		return tenant.User{}, signin.ErrInvalidToken
	}
	identity, err := s.cfg.Verifier.Verify(c.ctx(), token)
	if err != nil {
		return tenant.User{}, err
	}
	return tenant.User{ID: userID(identity), Email: strings.ToLower(identity.Email)}, nil
}

// bearer returns the token of an Authorization header.
func bearer(header string) (token string, ok bool) {
	scheme, token, _ := strings.Cut(strings.TrimSpace(header), " ")
	token = strings.TrimSpace(token)
	return token, strings.EqualFold(scheme, "Bearer") && token != ""
}

// userID is the same for every sign-in of a subject at an issuer.
func userID(i signin.Identity) string {
	sum := sha256.Sum256([]byte(i.Issuer + "\n" + i.Subject)) // an issuer is a URL, which holds no line feed
	return ident.Of("usr_", sum)
}

// lastJoin is when invitations of a user were followed last.
type lastJoin struct {
	mu sync.Mutex
	at time.Time
}

func newLastJoin() *lastJoin { return new(lastJoin) }

// joined follows new invitations of the user before h answers.
func (s *Server) joined(h handler) handler {
	if s.cfg.Operator {
		return h
	}
	return func(c *call) error {
		last := s.joins.of(c.user.ID)
		if last.isDue() {
			if err := s.cfg.Tenancy.Join(c.ctx(), c.user); err != nil {
				return err
			}
			last.done()
		}
		return h(c)
	}
}

func (l *lastJoin) isDue() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.at.IsZero() || time.Since(l.at) >= joinPause
}

func (l *lastJoin) done() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.at = time.Now()
}
