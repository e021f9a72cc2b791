package portal

import (
	"context"
	"io"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/swar-tts/swar/portal/rest"
	"github.com/swar-tts/swar/portal/signin"
	"github.com/swar-tts/swar/runtime/metrics"
)

// Site is the server that a portal is part of.
type Site struct {
	Address  string                         // that it listens on
	ClientIP func(*http.Request) netip.Addr // of the client
	Mails    io.Writer                      // where mails are printed that have no server, if they may be
	Metrics  *metrics.Registry
	Version  string // of this build
	Voices   Voices // of a server that speaks itself
	Pages    bool   // whether the pages of the portal are beside it
}

// home is where people are led who have signed in with a link.
func (s Site) home() string {
	if s.Pages {
		return "/app/"
	}
	return "/"
}

// signInPath is where those are led who are invited.
func (s Site) signInPath() string {
	if s.Pages {
		return "/signin"
	}
	return "/"
}

// Voices gives access to the voices in a server's bundle.
type Voices struct {
	Bundle string // its folder; empty where no voices can change
	Read   func(context.Context) (VoiceChange, error)
}

// Handler answers for the portal over HTTP: its API and the pages of signing in.
type Handler struct {
	api     http.Handler
	signIn  map[string]http.Handler // by path; without e-mail only the list of sign-in methods
	origins func() []string         // nil without a portal
	public  string                  // where people reach the server, empty without a portal
}

// Off returns what answers for a server without a portal.
func Off() *Handler { return &Handler{api: rest.Off()} }

// Handler makes the ways into the portal: those over HTTP, which it returns, and the socket for commands. They run with
// the portal. It is called once, before Run.
func (p *Portal) Handler(ctx context.Context, s Site) (*Handler, error) {
	signIn, log := &p.config.SignIn, p.config.Log
	auth, err := signIn.authenticator(ctx, p.records, p, s, log)
	if err != nil {
		return nil, err
	}
	config := rest.Config{
		Tenancy: p.tenancy, Reports: p.reports, Model: p.config.Model, Log: log,
		Verifier: auth.verifier, Mailer: auth, AwaitKey: p.AwaitKey,
		Origins: signIn.origins, TLS: strings.HasPrefix(signIn.publicURL, "https://"),
	}
	api, err := rest.New(config)
	if err != nil {
		return nil, err
	}
	p.issuer, p.mail = auth.issuer, auth.mail
	p.addresses = signIn.addresses(s.Address)
	if p.socket, err = openSocket(ctx, SocketIn(p.config.Store.Data), config, p, s.Voices, log); err != nil {
		return nil, err
	}
	p.works = append(append(p.works, auth.works()...), p.socket.run)
	m := s.Metrics.RegisterPortal(p.difference.Load)
	if auth.outbox != nil {
		s.Metrics.RegisterMails(auth.outbox.Counts)
	}
	h := &Handler{api: timed(api, m), signIn: make(map[string]http.Handler), origins: auth.methods.Origins,
		public: auth.methods.PublicURL}
	h.signIn[signin.MethodsPath] = timed(auth.methods, m)
	if auth.issuer != nil {
		pages := timed(auth.issuer, m)
		for _, path := range signin.Paths() {
			h.signIn[path] = pages
		}
	}
	return h, nil
}

// Origins returns the origins of the sign-in providers that pages call. Without a portal there are none.
func (h *Handler) Origins() []string {
	if h.origins == nil {
		return nil
	}
	return h.origins()
}

// PublicURL is where people reach the server, empty without a portal.
func (h *Handler) PublicURL() string { return h.public }

// Wrap answers what is the portal's, and lets other answer everything else.
func (h *Handler) Wrap(other http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path := r.URL.Path
		signIn, isSignIn := h.signIn[path]
		switch isAPI := path == "/portal" || strings.HasPrefix(path, "/portal/"); {
		case isAPI:
			h.api.ServeHTTP(w, r)
		case isSignIn:
			signIn.ServeHTTP(w, r)
		default:
			other.ServeHTTP(w, r)
		}
	})
}

// timed counts the answers of h.
func timed(h http.Handler, m *metrics.Portal) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		begun, kept := time.Now(), &keptStatus{ResponseWriter: w, status: http.StatusOK}
		defer func() { m.RecordRequest(r.Method, kept.status, time.Since(begun)) }()
		h.ServeHTTP(kept, r)
	})
}

// keptStatus remembers the status of an answer.
type keptStatus struct {
	http.ResponseWriter
	status int
}

func (k *keptStatus) WriteHeader(status int) {
	k.status = status
	k.ResponseWriter.WriteHeader(status)
}

// Unwrap lets [http.ResponseController] reach deadlines.
func (k *keptStatus) Unwrap() http.ResponseWriter { return k.ResponseWriter }
