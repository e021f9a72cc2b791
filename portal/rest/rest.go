// Package rest is the HTTP adapter of the portal. It serves /portal/v1 over the rules of tenancy and the reports of
// usage.
package rest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"slices"

	"github.com/swar-tts/swar/portal/signin"
	"github.com/swar-tts/swar/portal/tenant"
	"github.com/swar-tts/swar/portal/usage"
	"github.com/swar-tts/swar/runtime/answer"
	"github.com/swar-tts/swar/runtime/speech"
)

// Config says what to serve.
type Config struct {
	Tenancy  *tenant.Service     // required
	Reports  *usage.Reports      // required
	Verifier signin.Verifier     // tells who a token belongs to; required unless Operator is set
	Mailer   Mailer              // nil: invitations are not mailed, and wait until the invited sign in by themselves
	Model    func() speech.Model // what GET /portal/v1/me tells of
	Log      *slog.Logger        // required

	// Operator makes whoever calls the operator, without a token and without limits. It is for a listener that only
	// those can reach who run the server, such as a socket in a folder of theirs.
	Operator bool

	// AwaitKey returns when those who check keys know that k was created, changed or revoked, so that a client can
	// use a new key at once and rely on the end of an old one. Implementations give up after a while: the change is
	// made, whoever has heard of it. Nil waits for nobody.
	AwaitKey func(ctx context.Context, k tenant.Key)

	// Origins are the pages that may call besides those of the server itself, such as https://portal.example.org.
	Origins []string

	// TLS says that clients reach the server over TLS, which a proxy may end. Browsers are then told to use nothing
	// else.
	TLS bool
}

// Mailer sends invitations. Implementations queue: whoever invites waits for the answer.
type Mailer interface {
	// Invite queues the mail of an invitation that r asks for. It is not called again for the same invitation when it
	// fails; an owner can invite again.
	Invite(r *http.Request, i tenant.Invitation) error
}

// Server answers the portal's API. It is safe for concurrent use, and starts nothing.
//
// It sets the deadlines of bodies and answers itself. The [http.Server] around it needs only a ReadHeaderTimeout and
// an IdleTimeout.
type Server struct {
	cfg     Config
	limits  *recent[userLimit]
	joins   *recent[lastJoin]
	handler http.Handler
}

// New checks cfg and returns a server.
func New(cfg Config) (*Server, error) {
	isComplete := cfg.Tenancy != nil && cfg.Reports != nil && cfg.Log != nil
	if knowsUsers := cfg.Verifier != nil; !isComplete || knowsUsers == cfg.Operator {
		return nil, errors.New("rest: Tenancy, Reports, Log, and either Verifier or Operator are required")
	}
	cfg.Origins = slices.Clone(cfg.Origins)
	for _, o := range cfg.Origins {
		if u, err := url.Parse(o); err != nil || u.Host == "" || u.Scheme+"://"+u.Host != o {
			return nil, fmt.Errorf("rest: the origin %q is not of the form https://portal.example.org", o)
		}
	}
	if cfg.AwaitKey == nil {
		cfg.AwaitKey = func(context.Context, tenant.Key) {}
	}
	s := &Server{cfg: cfg, limits: newRecent(maxUsers, newUserLimit), joins: newRecent(maxUsers, newLastJoin)}
	s.handler = s.common(s.routes())
	return s, nil
}

// ServeHTTP implements [http.Handler]. Paths begin with /portal/v1.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// Off is what stands under /portal when there is no portal. Any page may read that.
func Off() http.Handler {
	refusing := (&Server{}).common(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		answer.Refuse(w, failed(http.StatusNotFound, "portal_disabled", "portal is disabled"))
	}))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Access-Control-Allow-Origin", "*")
		w.Header().Set("Access-Control-Expose-Headers", exposedHeaders)
		if r.Method == http.MethodOptions {
			maps.Copy(w.Header(), preflightHeaders)
		}
		refusing.ServeHTTP(w, r)
	})
}
