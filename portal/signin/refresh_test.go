package signin_test

import (
	"fmt"
	"maps"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/swar-tts/swar/portal/signin"
)

func TestRefresh(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		b := w.browser()
		got := b.signIn(w, "asha@example.org", "")
		signedIn := claimsOf(t, got.get("id_token"))["auth_time"]
		tokens := map[string]bool{}
		for range 5 {
			tokens[got.get("refresh_token")] = true
			time.Sleep(20 * 24 * time.Hour)
			got = b.refresh(got.get("refresh_token"))
			want(t, "refreshing", got, http.StatusOK, "")
			id, err := w.issuer.Verify(t.Context(), got.get("id_token"))
			if err != nil || id.Email != "asha@example.org" {
				t.Errorf("identity %+v (%v)", id, err)
			}
			if claims := claimsOf(t, got.get("id_token")); claims["auth_time"] != signedIn ||
				claims["iat"] == signedIn {
				t.Errorf("auth_time %v, want that of the sign-in, %v; iat %v", claims["auth_time"], signedIn,
					claims["iat"])
			}
		}
		if len(tokens) != 5 || tokens[got.get("refresh_token")] {
			t.Error("tokens were repeated")
		}
	})
}

func TestRefreshExpires(t *testing.T) {
	const day = 24 * time.Hour
	for _, tt := range []struct {
		name   string
		pauses []time.Duration // each followed by a refresh, the last of which is looked at
		status int
	}{
		{"just within 30 days", []time.Duration{30*day - time.Microsecond}, http.StatusOK},
		{"after 30 days", []time.Duration{30 * day}, http.StatusBadRequest},
		{"30 days after a refresh", []time.Duration{20 * day, 30 * day}, http.StatusBadRequest},
		{"just within 180 days", []time.Duration{29 * day, 29 * day, 29 * day, 29 * day, 29 * day, 29 * day, 6*day - time.Microsecond}, http.StatusOK},
		{"after 180 days", []time.Duration{29 * day, 29 * day, 29 * day, 29 * day, 29 * day, 29 * day, 6 * day}, http.StatusBadRequest},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inWorld(t, nil, func(t *testing.T, w *world) {
				b := w.browser()
				got := b.signIn(w, "asha@example.org", "")
				for _, pause := range tt.pauses {
					time.Sleep(pause)
					got = b.refresh(got.get("refresh_token"))
				}
				if got.status != tt.status {
					t.Errorf("got %d %s, want %d", got.status, got.body, tt.status)
				}
			})
		})
	}
}

func TestReuseEndsTheFamily(t *testing.T) {
	for _, tt := range []struct {
		name      string
		rotations int
		after     time.Duration
		status    int
	}{
		{"the token before, within 10 s: two tabs", 1, 10*time.Second - time.Microsecond, http.StatusOK},
		{"the token before, after 10 s", 1, 10 * time.Second, http.StatusBadRequest},
		{"the token before that, at once", 2, 0, http.StatusBadRequest},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inWorld(t, nil, func(t *testing.T, w *world) {
				b := w.browser()
				first := b.signIn(w, "asha@example.org", "").get("refresh_token")
				bystander := w.browser().signIn(w, "asha@example.org", "").get("refresh_token")
				newest := first
				for range tt.rotations {
					newest = b.refresh(newest).get("refresh_token")
				}
				time.Sleep(tt.after)
				again := b.refresh(first)
				if again.status != tt.status {
					t.Errorf("the old token: got %d %s, want %d", again.status, again.body, tt.status)
				}
				if tt.status == http.StatusOK && again.get("refresh_token") != newest {
					t.Error("the same token was answered with another one, and one of two tabs will be signed out")
				}
				want := http.StatusBadRequest // both the thief and the person
				if tt.status == http.StatusOK {
					want = http.StatusOK
				}
				if got := b.refresh(newest); got.status != want {
					t.Errorf("the newest token then: got %d, want %d", got.status, want)
				}
				if logged := strings.Contains(w.log.String(),
					"used a second time"); logged != (tt.status != http.StatusOK) {
					t.Errorf("logged: %v", logged)
				}
				if got := b.refresh(bystander); got.status != http.StatusOK {
					t.Errorf("another sign-in of the same person: got %d", got.status)
				}
			})
		})
	}
}

// However many tabs refresh at once, in two processes, they are all given the same token, and it works.
func TestRefreshAtOnce(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		b := w.browser()
		first := b.signIn(w, "asha@example.org", "").get("refresh_token")
		issuers := []*signin.Issuer{w.issuer, w.another(nil)}
		var mu sync.Mutex
		got := map[string]int{}
		var wg sync.WaitGroup
		for i := range 20 {
			one := &browser{t, issuers[i%2], b.from, maps.Clone(b.cookies)}
			wg.Go(func() {
				r := one.refresh(first)
				mu.Lock()
				defer mu.Unlock()
				got[r.get("refresh_token")]++
			})
		}
		wg.Wait()
		if len(got) != 1 || got[""] > 0 {
			t.Errorf("%d different answers, %d of them refusals", len(got), got[""])
		}
		for next := range got {
			want(t, "the new token", b.refresh(next), http.StatusOK, "")
		}
	})
}

func TestRefreshRefuses(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		b := w.browser()
		token := b.signIn(w, "asha@example.org", "").get("refresh_token")
		stray := w.browser()
		for name, token := range map[string]string{
			"nothing":           "",
			"no prefix":         strings.TrimPrefix(token, "swar_refresh_"),
			"a shorter token":   token[:len(token)-1],
			"another family":    flip(token, len("swar_refresh_")+2),
			"another alphabet":  strings.Replace(token, token[20:21], "+", 1),
			"an ID token":       b.signIn(w, "ravi@example.org", "").get("id_token"),
			"an enormous token": strings.Repeat("A", 10000),
		} {
			want(t, name, stray.refresh(token), http.StatusBadRequest, "bad_refresh_token")
		}
		want(t, "the token itself", b.refresh(token), http.StatusOK, "")
	})
}

func TestLogout(t *testing.T) {
	for _, session := range []string{"token", "cookie"} {
		inWorld(t, nil, func(t *testing.T, w *world) {
			b := w.browser()
			token := b.signIn(w, "asha@example.org", session).get("refresh_token")
			old := value(b, "__Host-swar_refresh") + token
			want(t, "signing out", b.post("/auth/v1/logout", map[string]string{"refresh_token": token}),
				http.StatusOK, "")
			if value(b, "__Host-swar_refresh") != "" || value(b, "swar_session") != "" {
				t.Error("the cookies were not taken away")
			}
			want(t, "refreshing after it", b.refresh(old), http.StatusBadRequest, "bad_refresh_token")
			want(t, "signing out again", b.post("/auth/v1/logout", map[string]string{"refresh_token": old}),
				http.StatusOK, "")
			want(t, "signing out without a token", b.post("/auth/v1/logout", map[string]string{}), http.StatusOK, "")
		})
	}
}

// A page never sees its refresh token, and a program gets no cookie that signs in.
func TestWhereTheRefreshTokenGoes(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		page := w.browser()
		first := page.signIn(w, "asha@example.org", "cookie")
		cookie := page.cookies["__Host-swar_refresh"]
		if strings.Contains(first.body, "swar_refresh_") || cookie == nil || first.get("next") != "/" {
			t.Fatalf("answer %s, cookie %v", first.body, cookie)
		}
		sign := page.cookies["swar_session"]
		if sign == nil || sign.Value != "1" || sign.HttpOnly || !sign.Secure ||
			sign.SameSite != http.SameSiteStrictMode || sign.Path != "/" {
			t.Errorf("the sign for pages is %v", sign)
		} else if sign.MaxAge != cookie.MaxAge {
			t.Errorf("it lives for %d s, the refresh token for %d s", sign.MaxAge, cookie.MaxAge)
		}
		for name, c := range page.cookies {
			if name == "swar_session" {
				continue
			}
			if !c.HttpOnly || !c.Secure || c.SameSite != http.SameSiteStrictMode {
				t.Errorf("cookie %s, want one that no script and no other site uses", c)
			}
			if c.Path != "/" || c.Domain != "" {
				t.Errorf("cookie %s, want one of this host alone", c)
			}
		}
		if cookie.MaxAge != 30*24*3600 {
			t.Errorf("the cookie lives for %d s, want 30 days", cookie.MaxAge)
		}
		second := page.post("/auth/v1/refresh", map[string]string{})
		want(t, "refreshing with the cookie", second, http.StatusOK, "")
		if strings.Contains(second.body, "swar_refresh_") || value(page, "__Host-swar_refresh") == cookie.Value {
			t.Errorf("answer %s, and the cookie was changed: %v", second.body,
				value(page, "__Host-swar_refresh") != cookie.Value)
		}
		bare := page.do(request(http.MethodPost, "/auth/v1/refresh", ""))
		want(t, "refreshing without a body", bare, http.StatusOK, "")

		program := w.browser()
		for _, session := range []string{"", "token"} {
			got := program.signIn(w, fmt.Sprint("ravi", session, "@example.org"), session)
			next := program.refresh(got.get("refresh_token"))
			if got.get("refresh_token") == "" || next.get("refresh_token") == "" ||
				value(program, "__Host-swar_refresh") != "" {
				t.Errorf("session %q: answers %s %s, cookies %v", session, got.body, next.body, program.cookies)
			}
		}

		ended := page.cookies["__Host-swar_refresh"].Value
		page.post("/auth/v1/logout", map[string]string{})
		page.cookies["__Host-swar_refresh"] = &http.Cookie{Name: "__Host-swar_refresh", Value: ended}
		want(t, "a cookie that is not a good", page.post("/auth/v1/refresh", map[string]string{}),
			http.StatusBadRequest, "bad_refresh_token")
		if value(page, "__Host-swar_refresh") != "" || value(page, "swar_session") != "" {
			t.Error("and it was not taken away")
		}
	})
}
