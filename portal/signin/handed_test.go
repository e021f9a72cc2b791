package signin_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/swar-tts/swar/portal/signin"
)

// handed returns the token of a link that an operator hands over.
func handed(t *testing.T, w *world, email string) string {
	t.Helper()
	link, ends, err := w.issuer.NewSignInLink(t.Context(), email)
	if err != nil {
		t.Fatal(err)
	}
	token, ok := strings.CutPrefix(link, serverURL+"/auth/link#")
	if !ok || !ends.Equal(time.Now().Add(24*time.Hour)) {
		t.Fatalf("the link is %s, until %v", link, ends)
	}
	return token
}

func TestWhichHandedLinksAreGood(t *testing.T) {
	for name, tt := range map[string]struct {
		do   func(t *testing.T, w *world, token string) string // returns what is sent
		code string
	}{
		"a new one": {func(_ *testing.T, _ *world, token string) string { return token }, ""},
		"of a day but a nanosecond": {func(_ *testing.T, _ *world, token string) string {
			time.Sleep(24*time.Hour - time.Nanosecond)
			return token
		}, ""},
		"of a day":     {func(_ *testing.T, _ *world, token string) string { time.Sleep(24 * time.Hour); return token }, "bad_link"},
		"an older one": {func(t *testing.T, w *world, token string) string { handed(t, w, "asha@example.org"); return token }, "bad_link"},
		"beside one of somebody else": {func(t *testing.T, w *world, token string) string {
			handed(t, w, "ravi@example.org")
			return token
		}, ""},
		"used": {func(_ *testing.T, w *world, token string) string { w.browser().verifyToken(token); return token }, "bad_link"},
		"beside wrong codes": {func(_ *testing.T, w *world, token string) string {
			for range 10 {
				w.browser().verifyCode("asha@example.org", "2222-2222")
			}
			return token
		}, ""},
		"beside a mail": {func(_ *testing.T, w *world, token string) string { w.browser().ask("asha@example.org"); return token }, ""},
		"before a mail that was used": {func(_ *testing.T, w *world, token string) string {
			w.browser().signIn(w, "asha@example.org", "token")
			return token
		}, "bad_link"},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, nil, func(t *testing.T, w *world) {
				status := http.StatusOK
				if tt.code != "" {
					status = http.StatusBadRequest
				}
				token := tt.do(t, w, handed(t, w, "Asha@Example.org"))
				got := w.browser().verifyToken(token)
				want(t, name, got, status, tt.code)
				if tt.code == "" {
					if claims := tokenClaims(t, got.get("id_token")); claims["email"] != "asha@example.org" ||
						claims["email_verified"] != false {
						t.Errorf("claims %v", claims)
					}
				}
			})
		})
	}
}

func TestOnlyWhoMaySignInIsHandedALink(t *testing.T) {
	only := func(_ context.Context, email string) (bool, error) { return email == "asha@example.org", nil }
	inWorld(t, func(c *signin.Config) { c.Allowed = only }, func(t *testing.T, w *world) {
		if _, _, err := w.issuer.NewSignInLink(t.Context(), "ravi@example.org"); !errors.Is(err, signin.ErrNotAllowed) {
			t.Errorf("of somebody who may not sign in: %v", err)
		}
		want(t, "of who may", w.browser().verifyToken(handed(t, w, "asha@example.org")), http.StatusOK, "")
	})
}

// A server without mails, which people reach without TLS.
func TestAServerWithoutMails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, store: &tracedStore{Store: newStore()}, log: &logBuffer{}}
		seedKeys(t, w.store.Store)
		const plain = "http://192.168.1.5:8080"
		if _, err := signin.New(signin.Config{URL: plain}, w.store, newOutbox(&mailSink{}, w.log)); err == nil {
			t.Error("links would be mailed that everybody on the way can read")
		}
		w.issuer = w.another(func(c *signin.Config) { c.URL = plain })
		b := w.browser()
		want(t, "asking for a mail", b.ask("asha@example.org"), http.StatusForbidden, "no_mail")
		link, _, err := w.issuer.NewSignInLink(t.Context(), "asha@example.org")
		if err != nil {
			t.Fatal(err)
		}
		token, ok := strings.CutPrefix(link, plain+"/auth/link#")
		if !ok {
			t.Fatalf("the link is %s", link)
		}
		want(t, "with a link that was handed over", b.verifyToken(token), http.StatusOK, "")
	})
}

func TestPlantedCookies(t *testing.T) {
	t.Run("a neighbour's", func(t *testing.T) {
		inWorld(t, nil, func(t *testing.T, w *world) {
			thief, victim := w.browser(), w.browser()
			thief.ask("thief@example.org")
			mail := w.mails.one(t)
			for name, c := range thief.cookies { // as a sibling domain could set it
				victim.cookies[name] = &http.Cookie{Name: "__Secure-" + strings.TrimPrefix(name, "__Host-"),
					Value: c.Value}
			}
			want(t, "the thief's link", victim.verifyToken(mail.token), http.StatusBadRequest, "other_browser")
		})
	})
	t.Run("without TLS", func(t *testing.T) {
		inWorld(t, func(c *signin.Config) { c.URL = "http://127.0.0.1:8080" }, func(t *testing.T, w *world) {
			b := w.browser()
			b.cookies["swar_browser"] = &http.Cookie{Name: "swar_browser", Value: strings.Repeat("A", 43)}
			b.ask("asha@example.org")
			if c := b.cookies["swar_browser"]; c.Value == strings.Repeat("A", 43) || c.Path != "/auth" {
				t.Errorf("after asking for a link the cookie is %v", c)
			}
		})
	})
}

func TestSeveralRefreshCookies(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		token := w.browser().signIn(w, "asha@example.org", "token").get("refresh_token")
		ask := func(path string, values ...string) reply {
			r := request(http.MethodPost, path, "")
			for _, v := range values {
				r.AddCookie(&http.Cookie{Name: "__Host-swar_refresh", Value: v})
			}
			return w.browser().do(r)
		}
		got := ask("/auth/v1/refresh", "planted", token)
		want(t, "the second is good", got, http.StatusOK, "")
		var next string
		for _, c := range (&http.Response{Header: got.header}).Cookies() {
			if c.Name == "__Host-swar_refresh" {
				next = c.Value
			}
		}
		want(t, "of five the fifth", ask("/auth/v1/refresh", "a", "b", "c", "d", next), http.StatusBadRequest,
			"bad_refresh_token")
		want(t, "signing out", ask("/auth/v1/logout", "planted", next), http.StatusOK, "")
		want(t, "after it", ask("/auth/v1/refresh", next), http.StatusBadRequest, "bad_refresh_token")
	})
}

func TestSigningOutIsTold(t *testing.T) {
	var out []string
	told := func(_ context.Context, email string) error { out = append(out, email); return nil }
	inWorld(t, func(c *signin.Config) { c.SignedOut = told }, func(t *testing.T, w *world) {
		b := w.browser()
		b.signIn(w, "asha@example.org", "cookie")
		for range 2 { // the second time nobody is signed in
			want(t, "signing out", b.post("/auth/v1/logout", map[string]string{}), http.StatusOK, "")
		}
		if len(out) != 1 || out[0] != "asha@example.org" {
			t.Errorf("told of %v", out)
		}
	})
}
