package rest

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/swar-tts/swar/portal/signin"
)

// postbox takes the mails of the issuer.
type postbox chan signin.Mail

func (p postbox) Send(_ context.Context, m signin.Mail) error {
	p <- m
	return nil
}

// TestSignInByScript goes the way of docs/portal.md with the built-in issuer: a link by mail, its code, a token that
// opens the portal, a new one for the next hour. The issuer's answers are held against the description too.
func TestSignInByScript(t *testing.T) {
	g := newRig(t)
	mails := make(postbox, 10)
	log := slog.New(slog.DiscardHandler)
	outbox := signin.NewOutbox("Swar", mails, log)
	issuer, err := signin.New(signin.Config{URL: "http://127.0.0.1:8080", Log: log}, g.store, outbox)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- outbox.Run(ctx) }()
	defer func() { stop(); <-done }()
	g.server.cfg.Verifier = issuer

	var jar []*http.Cookie // a code is good only for who asked for the mail
	post := func(path, body string) reply {
		t.Helper()
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/auth/v1"+path, strings.NewReader(body))
		for _, c := range jar {
			r.AddCookie(c)
		}
		w := httptest.NewRecorder()
		issuer.ServeHTTP(w, r)
		jar = append(w.Result().Cookies(), jar...)
		got := reply{w.Code, w.Result().Header, w.Body.String()}
		if err := described(r, got); err != nil {
			t.Errorf("%s: the answer %d %s is not as described: %v", path, got.status, got.body, err)
		}
		return got
	}
	type session struct {
		IDToken      string `json:"id_token"`
		RefreshToken string `json:"refresh_token"`
		ExpiresIn    int    `json:"expires_in"`
	}
	if got := post("/email-link", `{"email":"Asha@Example.org"}`); got.status != http.StatusAccepted {
		t.Fatalf("asking for a link: %d %s", got.status, got.body)
	}
	code := regexp.MustCompile(`(?m)^[0-9A-Z]{4}-?[0-9A-Z]{4}$`).FindString((<-mails).Text)
	if got := post("/verify", `{"email":"asha@example.org","code":"WRONG-ON"}`); got.status != 400 {
		t.Errorf("a wrong code: %d %s", got.status, got.body)
	}
	got := post("/verify", fmt.Sprintf(`{"email":"asha@example.org","code":%q}`, code))
	if got.status != 200 {
		t.Fatalf("verifying the code %q: %d %s", code, got.status, got.body)
	}
	first := decoded[session](t, got)
	me := decoded[meAnswer](t, g.doAs("Bearer "+first.IDToken, true, "GET", "/portal/v1/me", ""))
	if me.User.Email != "asha@example.org" || first.ExpiresIn != 3600 {
		t.Errorf("signed in as %+v for %d s", me, first.ExpiresIn)
	}
	g.doAs("Bearer "+first.IDToken[:len(first.IDToken)-4]+"AAAA", true, "GET", "/portal/v1/me", "").wantError(t, 401,
		"invalid_token", "invalid token")
	g.doAs("Bearer "+first.RefreshToken, true, "GET", "/portal/v1/me", "").wantError(t, 401, "invalid_token",
		"invalid token")

	second := decoded[session](t, post("/refresh", fmt.Sprintf(`{"refresh_token":%q}`, first.RefreshToken)))
	if again := decoded[meAnswer](t, g.doAs("Bearer "+second.IDToken, true, "GET", "/portal/v1/me",
		"")); again.User != me.User {
		t.Errorf("after a refresh the user is %+v, want %+v", again.User, me.User)
	}
	if got := post("/logout", fmt.Sprintf(`{"refresh_token":%q}`, second.RefreshToken)); got.status != 200 {
		t.Errorf("signing out: %d %s", got.status, got.body)
	}
	if got := post("/refresh", fmt.Sprintf(`{"refresh_token":%q}`, second.RefreshToken)); got.status != 400 &&
		got.status != 401 {
		t.Errorf("a refresh after signing out: %d %s", got.status, got.body)
	}
	for range 3 {
		post("/email-link", `{"email":"asha@example.org"}`)
	}
	for path, body := range map[string]string{"/email-link": `{"email":"x"}`, "/verify": `{}`, "/refresh": `[]`,
		"/logout": strings.Repeat(" ", 17<<10)} {
		if got := post(path, body); got.status < 400 && path != "/logout" {
			t.Errorf("%s %s: %d %s", path, body, got.status, got.body)
		}
	}
}
