package signin_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/swar-tts/swar/portal/signin"
)

// owners is who was made the first owner of which organisation.
type owners struct {
	mu   sync.Mutex
	made map[string]string // by organisation
	took string            // an address that is a member's
	fail error
}

func (o *owners) own(_ context.Context, org, email string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.fail != nil {
		return o.fail
	}
	if email == o.took {
		return signin.ErrTaken
	}
	if first := o.made[org]; first != "" && first != email {
		return signin.ErrOwned
	}
	if o.made == nil {
		o.made = map[string]string{}
	}
	o.made[org] = email
	return nil
}

func setupToken(t *testing.T, w *world) string {
	t.Helper()
	link, ends, err := w.issuer.NewSetupLink(t.Context(), "org_1")
	if err != nil {
		t.Fatal(err)
	}
	if want := time.Now().Add(24 * time.Hour); !ends.Equal(want) {
		t.Errorf("the link ends at %v, want %v", ends, want)
	}
	token, ok := strings.CutPrefix(link, serverURL+"/setup#")
	if !ok || len(token) != 43 { // 256 bits
		t.Fatalf("the link is %s", link)
	}
	return token
}

func (b *browser) setup(token, email, session string) reply {
	b.t.Helper()
	return b.post("/auth/v1/setup", map[string]string{"token": token, "email": email, "session": session})
}

func TestSettingUp(t *testing.T) {
	var o owners
	inWorld(t, func(c *signin.Config) { c.ClaimOrg, c.Home = o.own, "/app/" }, func(t *testing.T, w *world) {
		token := setupToken(t, w)
		b := w.browser()
		got := b.setup(token, " Asha@Example.org ", "cookie")
		want(t, "setting up", got, http.StatusOK, "")
		if o.made["org_1"] != "asha@example.org" || got.get("next") != "/app/" || got.get("refresh_token") != "" {
			t.Errorf("owners %v, answer %s", o.made, got.body)
		}
		if id, err := w.issuer.Verify(t.Context(), got.get("id_token")); err != nil || id.Email != "asha@example.org" {
			t.Errorf("identity %+v, %v", id, err)
		}
		if value(b, "__Host-swar_refresh") == "" || value(b, "swar_session") != "1" {
			t.Errorf("cookies %v", b.cookies)
		}
		want(t, "refreshing", b.post("/auth/v1/refresh", map[string]string{}), http.StatusOK, "")
		if record := string(readRecord(w.store, "setup")); strings.Contains(record, token) || record == "" {
			t.Errorf("the store holds %s", record)
		}
		program := w.browser().setup(token, "asha@example.org", "")
		if want(t, "once more, from a program", program, http.StatusOK, ""); program.get("refresh_token") == "" {
			t.Errorf("answer %s", program.body)
		}
		want(t, "somebody else", w.browser().setup(token, "eve@example.org", ""), http.StatusBadRequest, "bad_link")
	})
}

func TestWhichSetupLinksAreGood(t *testing.T) {
	for name, tt := range map[string]struct {
		do   func(t *testing.T, w *world, token string) string // returns what is sent
		code string
	}{
		"a new one": {func(_ *testing.T, _ *world, token string) string { return token }, ""},
		"one of a day but a nanosecond": {func(_ *testing.T, _ *world, token string) string {
			time.Sleep(24*time.Hour - time.Nanosecond)
			return token
		}, ""},
		"one of a day": {func(_ *testing.T, _ *world, token string) string {
			time.Sleep(24 * time.Hour)
			return token
		}, "bad_link"},
		"an older one": {func(t *testing.T, w *world, token string) string { setupToken(t, w); return token }, "bad_link"},
		"another one":  {func(_ *testing.T, _ *world, token string) string { return strings.Repeat("A", len(token)) }, "bad_link"},
		"a part of it": {func(_ *testing.T, _ *world, token string) string { return token[1:] }, "bad_link"},
		"none":         {func(*testing.T, *world, string) string { return "" }, "bad_link"},
		"one used now": {func(_ *testing.T, w *world, token string) string {
			w.browser().setup(token, "me@example.org", "")
			return token
		}, ""},
		"used long ago": {func(_ *testing.T, w *world, token string) string {
			w.browser().setup(token, "me@example.org", "")
			time.Sleep(time.Minute)
			return token
		}, "bad_link"},
	} {
		t.Run(name, func(t *testing.T) {
			var o owners
			inWorld(t, func(c *signin.Config) { c.ClaimOrg = o.own }, func(t *testing.T, w *world) {
				status := http.StatusOK
				token := tt.do(t, w, setupToken(t, w))
				if tt.code != "" {
					status = http.StatusBadRequest
				}
				want(t, name, w.browser().setup(token, "me@example.org", ""), status, tt.code)
			})
		})
	}
}

func TestSettingUpIsRefused(t *testing.T) {
	o := owners{made: map[string]string{"org_1": "first@example.org"}}
	inWorld(t, func(c *signin.Config) { c.ClaimOrg = o.own }, func(t *testing.T, w *world) {
		b := w.browser()
		want(t, "where there is an owner", b.setup(setupToken(t, w), "me@example.org", ""),
			http.StatusBadRequest, "bad_link")
		want(t, "without an address", b.setup(setupToken(t, w), "me", ""), http.StatusBadRequest, "bad_request")
		want(t, "for another session", b.setup(setupToken(t, w), "me@example.org", "none"), http.StatusBadRequest,
			"bad_request")
		r := request(http.MethodPost, "/auth/v1/setup", `{}`)
		r.Header.Set("Sec-Fetch-Site", "cross-site")
		want(t, "from a page of another server", b.do(r), http.StatusForbidden, "cross_origin")
	})
	inWorld(t, nil, func(t *testing.T, w *world) {
		want(t, "where nothing is set up", w.browser().setup(setupToken(t, w), "me@example.org", ""),
			http.StatusBadRequest, "bad_link")
	})
}

func TestASetupLinkMakesNobodySomebodyElse(t *testing.T) {
	o := owners{took: "member@example.org"}
	inWorld(t, func(c *signin.Config) { c.ClaimOrg = o.own }, func(t *testing.T, w *world) {
		w.browser().signIn(w, "alice@example.org", "token")
		time.Sleep(179 * 24 * time.Hour) // sessions of her may live for so long
		token := setupToken(t, w)
		for _, email := range []string{"alice@example.org", "Alice@Example.org", "member@example.org"} {
			want(t, email, w.browser().setup(token, email, ""), http.StatusBadRequest, "address_taken")
		}
		if len(o.made) > 0 {
			t.Errorf("owners %v", o.made)
		}
		got := w.browser().setup(token, "new@example.org", "")
		want(t, "an address that nobody knows", got, http.StatusOK, "")
		if claims := tokenClaims(t, got.get("id_token")); claims["email_verified"] != false {
			t.Errorf("claims %v of an address that no mail has reached", claims)
		}
		again := w.browser().refresh(got.get("refresh_token"))
		if claims := tokenClaims(t, again.get("id_token")); claims["email_verified"] != false {
			t.Errorf("after a refresh: claims %v", claims)
		}
		mailed := w.browser().signIn(w, "new@example.org", "token")
		if claims := tokenClaims(t, mailed.get("id_token")); claims["email_verified"] != true {
			t.Errorf("after a mail: claims %v", claims)
		}
		for _, token := range []string{got.get("id_token"), mailed.get("id_token")} {
			if id, err := w.issuer.Verify(t.Context(), token); err != nil || id.Email != "new@example.org" {
				t.Errorf("identity %+v, %v", id, err)
			}
		}
	})
}

// tokenClaims reads an ID token without checking it.
func tokenClaims(t *testing.T, token string) (claims map[string]any) {
	t.Helper()
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		t.Fatalf("%q is not a token", token)
	}
	b, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err == nil {
		err = json.Unmarshal(b, &claims)
	}
	if err != nil {
		t.Fatal(err)
	}
	return claims
}

func TestASetupLinkOutlivesAFault(t *testing.T) {
	o := owners{fail: errors.New("disk full")}
	inWorld(t, func(c *signin.Config) { c.ClaimOrg = o.own }, func(t *testing.T, w *world) {
		token := setupToken(t, w)
		want(t, "with a fault", w.browser().setup(token, "typo@example.org", ""), http.StatusServiceUnavailable,
			"unavailable")
		o.fail = nil
		want(t, "after it", w.browser().setup(token, "me@example.org", ""), http.StatusOK, "")
	})
}

func TestFiveTriesAMinuteToSetUp(t *testing.T) {
	inWorld(t, func(c *signin.Config) { c.ClaimOrg = (&owners{}).own }, func(t *testing.T, w *world) {
		token := setupToken(t, w)
		for range 5 {
			want(t, "a wrong one", w.browser().setup("x", "me@example.org", ""), http.StatusBadRequest, "bad_link")
		}
		got := w.browser().setup(token, "me@example.org", "")
		want(t, "the sixth", got, http.StatusTooManyRequests, "too_many_tries")
		if got.header.Get("Retry-After") != "60" {
			t.Errorf("Retry-After is %q", got.header.Get("Retry-After"))
		}
		elsewhere := w.browser()
		elsewhere.from = "198.51.100.7:1"
		want(t, "from elsewhere", elsewhere.setup(token, "me@example.org", ""), http.StatusOK, "")
		time.Sleep(time.Minute)
		want(t, "a minute later", w.browser().setup(token, "other@example.org", ""), http.StatusBadRequest, "bad_link")
	})
}

// Of many who use a link at once only one becomes the owner.
func TestRacingToSetUp(t *testing.T) {
	var o owners
	inWorld(t, func(c *signin.Config) { c.ClaimOrg = o.own }, func(t *testing.T, w *world) {
		token := setupToken(t, w)
		var mu sync.Mutex
		done := map[int]int{}
		var wg sync.WaitGroup
		for i := range 10 {
			b := w.browser()
			b.from = "198.51.100." + string(rune('0'+i)) + ":1"
			wg.Go(func() {
				got := b.setup(token, string(rune('a'+i))+"@example.org", "")
				mu.Lock()
				defer mu.Unlock()
				done[got.status]++
			})
		}
		wg.Wait()
		if done[http.StatusOK] != 1 || done[http.StatusBadRequest] != 9 || len(o.made) != 1 {
			t.Errorf("answers %v, owners %v", done, o.made)
		}
	})
}
