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

// Config configures the API.
type Config struct {
	Tenancy  *tenant.Service     // required
	Reports  *usage.Reports      // required
	Verifier signin.Verifier     // identifies the user of a token; required unless Operator is set
	Mailer   Mailer              // nil: invitations are not mailed, and wait until the invited sign in by themselves
	Model    func() speech.Model // the model in GET /portal/v1/me
	Log      *slog.Logger        // required

	// Operator makes every caller the operator, without a token and without limits. It is for a listener that only the
	// server's user can reach, such as a socket in a private folder.
	Operator bool

	// AwaitKey returns when all front ends have applied the creation, change or revocation of k, so that a client can
	// use a new key at once and rely on a revocation. Implementations give up after a while: the change is stored in
	// any case. Nil does not wait.
	AwaitKey func(ctx context.Context, k tenant.Key)

	// Origins are the pages that may call, besides those of the server itself, such as https://portal.example.org.
	Origins []string

	// TLS means that clients reach the server over TLS, which a proxy may terminate. Browsers then get
	// Strict-Transport-Security.
	TLS bool
}

// Mailer sends invitations. Implementations queue: the caller waits for the answer.
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

// Off serves /portal when there is no portal. Any page may read it.
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
