package main

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

// admin answers commands on this machine: the portal's API as the operator, and what only operators may.
type admin struct {
	tenancy *tenant.Service
	issuer  *signin.Issuer // nil: nobody signs in by e-mail
	log     *slog.Logger
	http    *http.Server
	path    string
	socket  net.Listener
}

// openAdmin listens on the socket at path, whose folder only this server uses. issuer is nil where nobody signs in by
// e-mail.
func openAdmin(
	ctx context.Context, path string, portal rest.Config, issuer *signin.Issuer, log *slog.Logger,
) (*admin, error) {
	path = shortest(path)
	if len(path) > maxSocketPath {
		return nil, fmt.Errorf("the path %s is too long for a socket (%d bytes, at most %d); choose a shorter --data", path, len(path), maxSocketPath)
	}
	portal.Verifier, portal.Operator = nil, true
	api, err := rest.New(portal)
	if err != nil {
		return nil, err
	}
	a := &admin{tenancy: portal.Tenancy, issuer: issuer, log: log, path: path}
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) { // that a killed server has left
		return nil, fmt.Errorf("opening the socket for commands: %w", err)
	}
	if a.socket, err = new(net.ListenConfig).Listen(ctx, "unix", path); err != nil {
		return nil, fmt.Errorf("opening the socket for commands: %w", err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(err, a.socket.Close())
	}
	a.http = &http.Server{
		Handler: a.routes(api), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	return a, nil
}

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
func (a *admin) run(ctx context.Context) error {
	stopped := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(stopped)
		stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		if a.http.Shutdown(stopping) != nil {
			a.http.Close()
		}
	})
	err := a.http.Serve(ownerListener{a.socket, a.log})
	if !stop() {
		<-stopped
	}
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return fmt.Errorf("the socket for commands: %w", err)
}

// close is for an admin that does not run.
func (a *admin) close() error { return a.socket.Close() }

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
		l.log.Warn("another user of this machine was turned away from the socket for commands")
		c.Close()
	}
}

// operatorPage is how many organisations one answer lists.
const operatorPage = 500

func (a *admin) routes(api http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/portal/v1/", api)
	mux.HandleFunc("GET /operator/v1/orgs", a.answer(func(r *http.Request) (any, error) {
		orgs, err := a.tenancy.Orgs(r.Context(), tenant.Operator(), r.URL.Query().Get("after"), operatorPage)
		list := orgList{Orgs: make([]orgRow, 0, len(orgs))}
		for _, o := range orgs {
			m, err := a.tenancy.Org(r.Context(), tenant.Operator(), o.ID)
			if err != nil {
				return nil, err
			}
			row := orgRow{ID: o.ID, Name: o.Name, CreatedAt: o.CreatedAt, CreatedBy: o.CreatedBy, ActiveKeys: &o.ActiveKeys, Owners: &o.Owners}
			for _, p := range m.Projects {
				row.Projects = append(row.Projects, projectRow{ID: p.ID, Name: p.Name})
			}
			list.Orgs = append(list.Orgs, row)
		}
		if len(orgs) == operatorPage {
			list.Next = orgs[len(orgs)-1].ID
		}
		return list, err
	}))
	mux.HandleFunc("POST /operator/v1/voice-requests/{id}/{status}", a.answer(func(r *http.Request) (any, error) {
		v, err := a.tenancy.MoveVoiceRequest(r.Context(), tenant.Operator(), r.PathValue("id"), tenant.VoiceStatus(r.PathValue("status")))
		return voiceRow{ID: v.ID, OrgID: v.OrgID, VoiceName: v.VoiceName, Language: v.Language, Status: string(v.Status), CreatedAt: v.CreatedAt, CreatedBy: v.CreatedBy}, err
	}))
	mux.HandleFunc("POST /operator/v1/orgs/{org}/members/{email}/unbind", a.answer(func(r *http.Request) (any, error) {
		m, err := a.tenancy.Unbind(r.Context(), tenant.Operator(), r.PathValue("org"), r.PathValue("email"))
		return memberRow{Email: m.Email, Role: string(m.Role), State: string(m.State), InvitedAt: m.InvitedAt, JoinedAt: m.JoinedAt}, err
	}))
	mux.HandleFunc("GET /operator/v1/signing-keys", a.answer(func(r *http.Request) (any, error) {
		return a.signingKeys(func() ([]signin.SigningKey, error) { return a.issuer.SigningKeys(r.Context()) })
	}))
	mux.HandleFunc("POST /operator/v1/signing-keys/rotate", a.answer(func(r *http.Request) (any, error) {
		atOnce := r.URL.Query().Get("now") == "true"
		return a.signingKeys(func() ([]signin.SigningKey, error) { return a.issuer.RotateKeys(r.Context(), atOnce) })
	}))
	return mux
}

// errNoIssuer is a server without signing keys.
var errNoIssuer = &tenant.Refusal{
	Kind: tenant.Invalid, Code: "no_issuer",
	Text: "this server signs nobody in by e-mail, so that it has no keys for signing",
}

// signingKeys returns what get does, as commands show it.
func (a *admin) signingKeys(get func() ([]signin.SigningKey, error)) (any, error) {
	if a.issuer == nil {
		return nil, errNoIssuer
	}
	keys, err := get()
	list := signingKeyList{Keys: make([]signingKeyRow, 0, len(keys))}
	for _, k := range keys {
		list.Keys = append(list.Keys, signingKeyRow{k.ID, string(k.State), k.CreatedAt, k.SignsFrom, k.EndsAt})
	}
	return list, err
}

// answer writes what h returns as JSON, refusals as the portal's API does.
func (a *admin) answer(h func(*http.Request) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v, err := h(r)
		if err != nil {
			answer.Refuse(w, a.failureOf(r, err))
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(v) // if the command is gone, there is nobody to tell
	}
}

// failureOf is what a command is told of an error. Who runs one may read the log, too, and so is told all.
func (a *admin) failureOf(r *http.Request, err error) answer.Failure {
	if refusal, ok := errors.AsType[*tenant.Refusal](err); ok {
		status := map[tenant.Kind]int{tenant.Invalid: 400, tenant.Forbidden: 403, tenant.Missing: 404}[refusal.Kind]
		return answer.Failure{Status: status, Code: refusal.Code, Text: refusal.Text}
	}
	if rotating := signin.ErrRotating; errors.Is(err, rotating) {
		return answer.Failure{Status: http.StatusBadRequest, Code: "rotation_pending", Text: rotating.Error()}
	}
	a.log.Error("a command failed", "path", r.Pattern, "error", err)
	return answer.Failure{Status: http.StatusInternalServerError, Code: "internal_error", Text: err.Error()}
}
