package rest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/swar-tts/swar/portal/memstore"
	"github.com/swar-tts/swar/portal/signin"
	"github.com/swar-tts/swar/portal/tenant"
)

func (g *rig) doOff(path string) reply {
	w := httptest.NewRecorder()
	g.server.ServeHTTP(w, httptest.NewRequestWithContext(g.t.Context(), http.MethodGet, path, http.NoBody))
	return reply{w.Code, w.Result().Header, w.Body.String()}
}

func TestHeadersOfEveryAnswer(t *testing.T) {
	g := newRig(t, func(c *Config) { c.TLS = true })
	for what, got := range map[string]reply{
		"an answer":      g.do(owner, "GET", "/portal/v1/me", ""),
		"a refusal":      g.do(nobody, "GET", "/portal/v1/me", ""),
		"no such path":   g.do(owner, "GET", "/portal/v1/x", ""),
		"a wrong method": g.do(owner, "PUT", "/portal/v1/me", ""),
		"a preflight":    g.do(nobody, "OPTIONS", "/portal/v1/me", ""),
		"a defect":       g.doAs("Bearer panic", true, "GET", "/portal/v1/me", ""),
	} {
		for name, want := range map[string]string{
			"Cache-Control":             "no-store",
			"Content-Security-Policy":   "default-src 'self'; frame-ancestors 'none'",
			"Referrer-Policy":           "no-referrer",
			"Vary":                      "Origin",
			"X-Content-Type-Options":    "nosniff",
			"Strict-Transport-Security": "max-age=31536000",
			"Etag":                      "",
		} {
			if got.header.Get(name) != want {
				t.Errorf("%s: %s is %q, want %q", what, name, got.header.Get(name), want)
			}
		}
	}
	g = newRig(t)
	if h := g.do(owner, "GET", "/portal/v1/me", "").header.Get("Strict-Transport-Security"); h != "" {
		t.Errorf("without TLS a browser is told %q", h)
	}
}

func TestRequestIDs(t *testing.T) {
	g := newRig(t)
	for sent, kept := range map[string]bool{
		"mine-1": true, strings.Repeat("x", 128): true, strings.Repeat("x", 129): false, "": false, "a b": false, "नमस्ते": false,
	} {
		got := g.do(owner, "GET", "/portal/v1/me", "", "X-Request-Id", sent).header.Get("X-Request-Id")
		if got == "" || (got == sent) != kept {
			t.Errorf("the id %q became %q", sent, got)
		}
	}
}

func TestCORS(t *testing.T) {
	const known = "https://portal.example.org"
	g := newRig(t, func(c *Config) { c.Origins = []string{known} })
	for _, tt := range []struct {
		origin string
		want   string
	}{{known, known}, {known + ":444", ""}, {"http://portal.example.org", ""}, {"https://evil.example.org", ""},
		{"null", ""}, {"", ""}} {
		for method, status := range map[string]int{"GET": 401, "OPTIONS": 204} {
			got := g.do(nobody, method, "/portal/v1/me", "", "Origin", tt.origin)
			if got.status != status || got.header.Get("Access-Control-Allow-Origin") != tt.want ||
				got.header.Get("Access-Control-Allow-Credentials") != "" {
				t.Errorf("%s from %q: %d, %v", method, tt.origin, got.status, got.header)
			}
			wantMethods := ""
			if method == "OPTIONS" && tt.want != "" {
				wantMethods = "GET, POST, PUT, PATCH, DELETE, OPTIONS"
			}
			if got.header.Get("Access-Control-Allow-Methods") != wantMethods {
				t.Errorf("%s from %q allows %q, want %q", method, tt.origin,
					got.header.Get("Access-Control-Allow-Methods"), wantMethods)
			}
		}
	}
	for _, bad := range []string{"*", "null", "portal.example.org", "https://portal.example.org/", "https://",
		"https://a b"} {
		cfg := g.server.cfg
		cfg.Origins = []string{bad}
		if _, err := New(cfg); err == nil {
			t.Errorf("the origin %q is taken", bad)
		}
	}
}

func TestNewWantsEverything(t *testing.T) {
	whole := newRig(t).server.cfg
	for what, remove := range map[string]func(*Config){
		"Tenancy":  func(c *Config) { c.Tenancy = nil },
		"Reports":  func(c *Config) { c.Reports = nil },
		"Verifier": func(c *Config) { c.Verifier = nil },
		"Log":      func(c *Config) { c.Log = nil },
	} {
		cfg := whole
		remove(&cfg)
		if _, err := New(cfg); err == nil {
			t.Errorf("a server without %s is made", what)
		}
	}
}

func TestFaults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newRig(t)
		g.world()
		for _, tt := range []struct {
			what, token string
			fault       error
			status      int
			code, text  string
			retry       string
		}{
			{"the store is away", "token-of-" + owner, tenant.ErrUnavailable, 503, "unavailable", "unavailable; try again", "1"},
			{
				"a revocation is not stored", "token-of-" + owner, fmt.Errorf("%w: disk full", tenant.ErrNotStored), 503, "not_stored",
				"the key is refused from now on, but that is not stored yet; try again", "1",
			},
			{"the store is closed", "token-of-" + owner, tenant.ErrClosed, 503, "unavailable", "unavailable; try again", "1"},
			{"the store is broken", "token-of-" + owner, errors.New("disk of 10.0.0.7 on fire"), 500, "internal_error", "internal error", ""},
			{"the store does not answer", "token-of-" + owner, errStuck, 504, "timeout", "timeout", ""},
			{"the issuer is away", "unlucky", nil, 503, "unavailable", "unavailable; try again", "1"},
			{"the verifier fails", "odd", nil, 500, "internal_error", "internal error", ""},
			{"the verifier panics", "panic", nil, 500, "internal_error", "internal error", ""},
		} {
			time.Sleep(time.Minute)
			g.broken.fault = func(ctx context.Context) error {
				if errors.Is(tt.fault, errStuck) {
					<-ctx.Done()
					return ctx.Err()
				}
				return tt.fault
			}
			began := time.Now()
			got := g.doAs("Bearer "+tt.token, true, "GET", "/portal/v1/me", "")
			got.wantError(t, tt.status, tt.code, tt.text)
			if got.header.Get("Retry-After") != tt.retry {
				t.Errorf("%s: Retry-After is %q, want %q", tt.what, got.header.Get("Retry-After"), tt.retry)
			}
			if took := time.Since(began); tt.fault == errStuck && took != workTime ||
				tt.fault != errStuck && took != 0 {
				t.Errorf("%s: it took %v", tt.what, took)
			}
		}
		for _, words := range [][]string{
			{"level=ERROR", "on fire", "status=500", "path=/portal/v1/me"},
			{"level=ERROR", "a defect of the verifier", "stack="},
			{"level=ERROR", "status=504"},
			{"level=INFO", "status=200", "user_id=usr_"},
		} {
			if !g.logs.has(words...) {
				t.Errorf("no line of the log has %q:\n%s", words, g.logs)
			}
		}
	})
}

var errStuck = errors.New("stuck")

// TestLogsHoldNoSecrets runs through what handles secrets and looks for them in the log.
func TestLogsHoldNoSecrets(t *testing.T) {
	g := newRig(t)
	g.mailer.err = errors.New("the mail server is away")
	org, prj := g.world()
	made := ok[createdKeyAnswer](g, owner, "POST", "/portal/v1/keys", `{"project_id":"`+prj+`","name":"Geheim"}`)
	play := ok[createdKeyAnswer](g, owner, "POST", "/portal/v1/playground-key", `{"project_id":"`+prj+`"}`)
	g.do(owner, "PATCH", "/portal/v1/keys/"+made.Row.ID, `{"name":`)
	g.do(owner, "DELETE", "/portal/v1/orgs/"+org+"/members/"+viewer, "")
	g.doAs("Bearer "+made.Key, true, "GET", "/portal/v1/me", "")
	g.do(nobody, "GET", "/portal/v1/me?token=in-the-query", "", "X-Api-Key", play.Key)
	log := g.logs.String()
	for _, secret := range []string{made.Key, play.Key, "token-of-", "@example.org", "Geheim", "in-the-query"} {
		if strings.Contains(log, secret) {
			t.Errorf("the log holds %q:\n%s", secret, log)
		}
	}
	if !g.logs.has("an invitation was not mailed", "the mail server is away") ||
		!g.logs.has("path=/portal/v1/orgs/{org}/members/{email}", "method=DELETE") {
		t.Errorf("the log lacks lines:\n%s", log)
	}
}

func TestInvitationsAreMailedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newRig(t)
		org, _ := g.world()
		before := len(g.mailer.mails)
		for range 3 {
			ok[any](g, owner, "POST", "/portal/v1/orgs/"+org+"/members", `{"email":"new@example.org"}`,
				"Idempotency-Key", "i")
		}
		ok[any](g, owner, "POST", "/portal/v1/orgs/"+org+"/members", `{"email":"new@example.org"}`)
		if got := g.mailer.mails[before:]; len(got) != 1 || got[0].Email != "new@example.org" || got[0].OrgID != org ||
			got[0].OrgName != "Swar" || got[0].Role != tenant.RoleMember || got[0].InvitedBy != owner {
			t.Errorf("the mails are %+v", got)
		}
		time.Sleep(tenant.MailPause)
		ok[any](g, owner, "POST", "/portal/v1/orgs/"+org+"/members", `{"email":"new@example.org"}`)
		if got := len(g.mailer.mails) - before; got != 2 {
			t.Errorf("%d mails after the pause, want 2", got)
		}
	})
}

// An invitation that no mail can be sent of now stands, and the list does not say that it was mailed.
func TestAnInvitationThatIsNotMailed(t *testing.T) {
	outbox := signin.NewOutbox("", nil, slog.New(slog.DiscardHandler))
	invitations := signin.NewInvitations(memstore.New(), outbox, 0)
	var tooMany error
	for tooMany == nil {
		tooMany = invitations.Mail(t.Context(), signin.Invitation{Email: "new@example.org"})
	}
	for name, tt := range map[string]struct {
		err    error
		status int
	}{
		"sent":             {nil, http.StatusOK},
		"a limit":          {tooMany, http.StatusTooManyRequests},
		"no mail server":   {errors.New("none"), http.StatusOK},
		"what nobody told": {signin.ErrUnavailable, http.StatusOK},
	} {
		t.Run(name, func(t *testing.T) {
			g := newRig(t)
			org, _ := g.world()
			g.mailer.err = tt.err
			got := g.do(owner, "POST", "/portal/v1/orgs/"+org+"/members", `{"email":"new@example.org"}`)
			if got.status != tt.status {
				t.Errorf("got %d %s, want %d", got.status, got.body, tt.status)
			}
			if tt.status != http.StatusOK && (got.header.Get("Retry-After") == "" ||
				!strings.Contains(got.body, "the invitation stands, but was not mailed")) {
				t.Errorf("got %v %s", got.header, got.body)
			}
			list := g.do(owner, "GET", "/portal/v1/orgs/"+org+"/members", "").body
			_, row, found := strings.Cut(list, `"email":"new@example.org"`)
			row, _, _ = strings.Cut(row, "}")
			if mailed := strings.Contains(row, "mailed_at"); !found || mailed != (tt.err == nil) {
				t.Errorf("the list says mailed %v: %s", mailed, list)
			}
		})
	}
}
