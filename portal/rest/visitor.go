package rest

import (
	lru "container/list"
	"context"
	"crypto/sha256"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/swar-tts/swar/portal/signin"
	"github.com/swar-tts/swar/portal/tenant"
	"github.com/swar-tts/swar/runtime/ident"
)

// What one user may take. It is far more than a person or a script that does its work needs, and keeps one user from taking the portal
// away from the others.
const (
	userRate   = 10  // requests a second in the long run
	userBurst  = 100 // requests at once, before that counts
	userActive = 16  // requests at the same time, so that slow bodies of a MiB cannot pile up

	maxVisitors = 10_000           // users whose counts are kept, some hundred bytes each; the one seen longest ago gives way
	joinPause   = 5 * time.Second  // between looks for new invitations of a user who is busy
	maxToken    = 16 << 10         // bytes: no issuer's tokens come near it
	exportTime  = 10 * time.Minute // an export must be done after this time
)

// signedIn lets h answer who has signed in. Roles are not looked up here and nowhere kept: each rule reads them from the store in the
// transaction in which it needs them, so that a member who was removed is out with the next request.
func (s *Server) signedIn(h handler) handler {
	return func(c *call) error {
		user, err := s.who(c)
		if err != nil {
			return err
		}
		c.user = user
		c.visitor = s.visitors.get(user.ID)
		if !s.cfg.Operator {
			if !c.visitor.enter() {
				return errTooMany
			}
			defer c.visitor.leave()
			if err := s.join(c.ctx(), c.visitor, user); err != nil {
				return err
			}
		}
		if c.query, err = parseQuery(c.r.URL.RawQuery); err != nil {
			return err
		}
		return h(c)
	}
}

// who finds out whose request it is.
func (s *Server) who(c *call) (tenant.User, error) {
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

// join follows new invitations of user.
func (s *Server) join(ctx context.Context, v *visitor, user tenant.User) error {
	if !v.joinDue() {
		return nil
	}
	if err := s.cfg.Tenancy.Join(ctx, user); err != nil {
		return err
	}
	v.joined()
	return nil
}

// visitor is what is kept about a user between requests.
type visitor struct {
	id     string
	tokens *rate.Limiter

	mu        sync.Mutex
	active    int
	exporting bool
	joinedAt  time.Time
}

// enter counts a request, unless there are too many. Who enters must leave.
func (v *visitor) enter() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.active >= userActive || !v.tokens.Allow() {
		return false
	}
	v.active++
	return true
}

func (v *visitor) leave() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.active--
}

// export runs write, one at a time.
func (v *visitor) export(write func() error) error {
	if !v.setExporting(true) {
		return errTooMany
	}
	defer v.setExporting(false)
	return write()
}

// setExporting reports whether that is a change.
func (v *visitor) setExporting(to bool) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	changed := v.exporting != to
	v.exporting = to
	return changed
}

func (v *visitor) joinDue() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.joinedAt.IsZero() || time.Since(v.joinedAt) >= joinPause
}

func (v *visitor) joined() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.joinedAt = time.Now()
}

// visitors are the users seen last. It is safe for concurrent use.
type visitors struct {
	most int

	mu    sync.Mutex
	byID  map[string]*lru.Element
	order *lru.List // of *visitor, the one seen last in front
}

func newVisitors(most int) *visitors {
	return &visitors{most: most, byID: make(map[string]*lru.Element), order: lru.New()}
}

// get returns the visitor with an id.
func (v *visitors) get(id string) *visitor {
	v.mu.Lock()
	defer v.mu.Unlock()
	if e := v.byID[id]; e != nil {
		v.order.MoveToFront(e)
		return e.Value.(*visitor)
	}
	if v.order.Len() >= v.most {
		oldest := v.order.Remove(v.order.Back()).(*visitor)
		delete(v.byID, oldest.id)
	}
	found := &visitor{id: id, tokens: rate.NewLimiter(userRate, userBurst)}
	v.byID[id] = v.order.PushFront(found)
	return found
}
