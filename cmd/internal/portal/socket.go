package portal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/swar-tts/swar/portal/rest"
	"github.com/swar-tts/swar/portal/signin"
	"github.com/swar-tts/swar/portal/tenant"
	"github.com/swar-tts/swar/runtime/answer"
)

// maxSocketPath is the longest path of a socket that every system takes.
const maxSocketPath = 103

// socket answers commands on this machine: the portal's API as the operator, and what only operators may.
type socket struct {
	tenancy  *tenant.Service
	portal   *Portal
	voices   Voices
	log      *slog.Logger
	http     *http.Server
	listener net.Listener
}

// openSocket listens on the socket at path, whose folder only this server uses.
func openSocket(
	ctx context.Context, path string, api rest.Config, p *Portal, voices Voices, log *slog.Logger,
) (*socket, error) {
	if len(path) > maxSocketPath {
		return nil, fmt.Errorf("the path %s is too long for a socket (%d bytes, at most %d); choose a shorter --data",
			path, len(path), maxSocketPath)
	}
	api.Verifier, api.Operator = nil, true
	handler, err := rest.New(api)
	if err != nil {
		return nil, err
	}
	s := &socket{tenancy: api.Tenancy, portal: p, voices: voices, log: log}
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) { // that a killed server has left
		return nil, fmt.Errorf("opening the socket for commands: %w", err)
	}
	if s.listener, err = new(net.ListenConfig).Listen(ctx, "unix", path); err != nil {
		return nil, fmt.Errorf("opening the socket for commands: %w", err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(err, s.listener.Close())
	}
	s.http = &http.Server{
		Handler: s.routes(handler), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	return s, nil
}

// SocketIn is the path of the socket for commands of the server that works on a folder.
func SocketIn(folder string) string { return shortest(filepath.Join(folder, "admin.sock")) }

// shortest is path, or the same relative to the working folder if that is shorter.
func shortest(path string) string {
	here, err := os.Getwd()
	if err != nil {
		return path
	}
	full, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	if relative, err := filepath.Rel(here, full); err == nil && len(relative) < len(path) {
		return relative
	}
	return path
}

// run answers until ctx ends.
func (s *socket) run(ctx context.Context) error {
	stopped := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(stopped)
		stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		if s.http.Shutdown(stopping) != nil {
			s.http.Close()
		}
	})
	err := s.http.Serve(ownerListener{s.listener, s.log})
	if !stop() {
		<-stopped
	}
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return fmt.Errorf("the socket for commands: %w", err)
}

// close closes a socket that does not run, or no longer does.
func (s *socket) close() error {
	if err := s.listener.Close(); !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}

// ownerListener takes connections only of who may run this server.
type ownerListener struct {
	net.Listener
	log *slog.Logger
}

// Accept implements [net.Listener].
func (l ownerListener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if u, ok := c.(*net.UnixConn); ok && isOurs(u) {
			return c, nil
		}
		l.log.Warn("rejected another user of this machine on the socket for commands")
		c.Close()
	}
}

// operatorPage is how many organisations one answer lists.
const operatorPage = 500

func (s *socket) routes(api http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/portal/v1/", api)
	mux.HandleFunc("GET /operator/v1/orgs", s.answer(func(r *http.Request) (any, error) {
		orgs, err := s.tenancy.Orgs(r.Context(), tenant.Operator(), r.URL.Query().Get("after"), operatorPage)
		list := OrgList{Orgs: make([]OrgRow, 0, len(orgs))}
		for _, o := range orgs {
			m, err := s.tenancy.Org(r.Context(), tenant.Operator(), o.ID)
			if err != nil {
				return nil, err
			}
			row := OrgRow{ID: o.ID, Name: o.Name, CreatedAt: o.CreatedAt, CreatedBy: o.CreatedBy,
				ActiveKeys: &o.ActiveKeys, Owners: &o.Owners}
			if o.Disclosure.Set {
				row.Disclosure = &o.Disclosure.Text
			}
			for _, p := range m.Projects {
				row.Projects = append(row.Projects, ProjectRow{ID: p.ID, Name: p.Name})
			}
			list.Orgs = append(list.Orgs, row)
		}
		if len(orgs) == operatorPage {
			list.Next = orgs[len(orgs)-1].ID
		}
		return list, err
	}))
	mux.HandleFunc("POST /operator/v1/voice-requests/{id}/{status}", s.answer(func(r *http.Request) (any, error) {
		v, err := s.tenancy.MoveVoiceRequest(r.Context(), tenant.Operator(), r.PathValue("id"),
			tenant.VoiceStatus(r.PathValue("status")))
		return VoiceRow{ID: v.ID, OrgID: v.OrgID, VoiceName: v.VoiceName, Language: v.Language,
			Status: string(v.Status), CreatedAt: v.CreatedAt, CreatedBy: v.CreatedBy}, err
	}))
	mux.HandleFunc("POST /operator/v1/orgs/{org}/members/{email}/unbind", s.answer(func(r *http.Request) (any, error) {
		m, err := s.tenancy.Unbind(r.Context(), tenant.Operator(), r.PathValue("org"), r.PathValue("email"))
		return MemberRow{Email: m.Email, Role: string(m.Role), State: string(m.State), InvitedAt: m.InvitedAt,
			JoinedAt: m.JoinedAt}, err
	}))
	mux.HandleFunc("POST /operator/v1/setup-link", s.answer(func(r *http.Request) (any, error) {
		return s.portal.SetupLink(r.Context())
	}))
	mux.HandleFunc("POST /operator/v1/signin-link/{email}", s.answer(func(r *http.Request) (any, error) {
		return s.portal.SignInLink(r.Context(), r.PathValue("email"))
	}))
	mux.HandleFunc("GET /operator/v1/signing-keys", s.answer(func(r *http.Request) (any, error) {
		return s.signingKeys(func() ([]signin.SigningKey, error) { return s.portal.issuer.SigningKeys(r.Context()) })
	}))
	mux.HandleFunc("POST /operator/v1/signing-keys/rotate", s.answer(func(r *http.Request) (any, error) {
		atOnce := r.URL.Query().Get("now") == "true"
		return s.signingKeys(func() ([]signin.SigningKey,
			error) {
			return s.portal.issuer.RotateKeys(r.Context(), atOnce)
		})
	}))
	mux.HandleFunc("POST /operator/v1/voices/read", s.answer(func(r *http.Request) (any, error) {
		return s.readVoices(r.Context(), r.URL.Query().Get("bundle"))
	}))
	return mux
}

// readVoices loads the voices of the bundle in a folder, which must be the server's bundle.
func (s *socket) readVoices(ctx context.Context, folder string) (c VoiceChange, err error) {
	own := s.voices.Bundle
	if own == "" {
		return c, &tenant.Refusal{
			Kind: tenant.Invalid, Code: "no_bundle",
			Text: "this server has no bundle whose voices could change: in a fleet, roll out a bundle with other voices",
		}
	}
	if !isSame(own, folder) {
		return c, &tenant.Refusal{
			Kind: tenant.Invalid, Code: "other_bundle", Text: "this server speaks with the bundle in " + own,
		}
	}
	if c, err = s.voices.Read(ctx); err != nil {
		return c, err
	}
	s.log.Info("voices changed", "added", c.Added, "replaced", c.Replaced, "removed", c.Removed)
	return c, nil
}

// isSame reports whether two paths lead to one folder.
func isSame(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(one, other)
}

// errNoIssuer is a server without signing keys.
var errNoIssuer = &tenant.Refusal{
	Kind: tenant.Invalid, Code: "no_issuer",
	Text: "no signing keys: e-mail sign-in is off",
}

// signingKeys returns what get does, as commands show it.
func (s *socket) signingKeys(get func() ([]signin.SigningKey, error)) (any, error) {
	if s.portal.issuer == nil {
		return nil, errNoIssuer
	}
	keys, err := get()
	list := SigningKeyList{Keys: make([]SigningKeyRow, 0, len(keys))}
	for _, k := range keys {
		list.Keys = append(list.Keys, SigningKeyRow{k.ID, string(k.State), k.CreatedAt, k.SignsFrom, k.EndsAt})
	}
	return list, err
}

// answer writes what h returns as JSON, refusals as the portal's API does.
func (s *socket) answer(h func(*http.Request) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v, err := h(r)
		if err != nil {
			answer.Refuse(w, s.failureOf(r, err))
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(v) // the command may have ended
	}
}

// failureOf returns the full error: a user of the socket may read the log, too.
func (s *socket) failureOf(r *http.Request, err error) answer.Failure {
	if refusal, ok := errors.AsType[*tenant.Refusal](err); ok {
		status := map[tenant.Kind]int{tenant.Invalid: 400, tenant.Forbidden: 403, tenant.Missing: 404}[refusal.Kind]
		return answer.Failure{Status: status, Code: refusal.Code, Text: refusal.Text}
	}
	if rotating := signin.ErrRotating; errors.Is(err, rotating) {
		return answer.Failure{Status: http.StatusBadRequest, Code: "rotation_pending", Text: rotating.Error()}
	}
	s.log.Error("a command failed", "path", r.Pattern, "error", err)
	return answer.Failure{Status: http.StatusInternalServerError, Code: "internal_error", Text: err.Error()}
}
