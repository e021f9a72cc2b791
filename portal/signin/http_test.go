package signin_test

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/coreos/go-oidc/v3/oidc"

	"github.com/swar-tts/swar/portal/signin"
)

func request(method, path, body string) *http.Request {
	return httptest.NewRequest(method, serverURL+path, strings.NewReader(body))
}

// claimsOf reads a token without checking it.
func claimsOf(t *testing.T, token string) (claims map[string]any) {
	t.Helper()
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		t.Fatalf("%q is not a token", token)
	}
	text, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err == nil {
		err = json.Unmarshal(text, &claims)
	}
	if err != nil {
		t.Fatal(err)
	}
	return claims
}

// flip changes one letter.
func flip(s string, i int) string {
	letter := "A"
	if s[i] == 'A' {
		letter = "B"
	}
	return s[:i] + letter + s[i+1:]
}

func value(b *browser, cookie string) string {
	if c := b.cookies[cookie]; c != nil {
		return c.Value
	}
	return ""
}

func TestProtocol(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		large := `{"email":"` + strings.Repeat("a", 16<<10) + `"}`
		for _, tt := range []struct {
			name, method, path, body string
			status                   int
			code                     string
		}{
			{"unknown path", http.MethodGet, "/auth/v1/users", "", http.StatusNotFound, "not_found"},
			{"slash at the end", http.MethodPost, "/auth/v1/verify/", "{}", http.StatusNotFound, "not_found"},
			{"two slashes", http.MethodPost, "/auth//v1/verify", "{}", http.StatusNotFound, "not_found"},
			{"wrong method", http.MethodGet, "/auth/v1/verify", "", http.StatusMethodNotAllowed, "method_not_allowed"},
			{"DELETE", http.MethodDelete, "/oauth2/jwks", "", http.StatusMethodNotAllowed, "method_not_allowed"},
			{"body at the limit", http.MethodPost, "/auth/v1/verify", large[:16<<10-1] + "}", http.StatusBadRequest, "bad_request"},
			{"body over the limit", http.MethodPost, "/auth/v1/verify", large[:16<<10] + "}", http.StatusRequestEntityTooLarge, "body_too_large"},
			{"no JSON", http.MethodPost, "/auth/v1/email-link", "email=a@example.org", http.StatusBadRequest, "bad_request"},
			{"an array", http.MethodPost, "/auth/v1/email-link", "[]", http.StatusBadRequest, "bad_request"},
			{"null", http.MethodPost, "/auth/v1/email-link", "null", http.StatusBadRequest, "bad_request"},
			{"more behind the object", http.MethodPost, "/auth/v1/email-link", `{"email":"a@example.org"} {}`, http.StatusBadRequest, "bad_request"},
			{"not UTF-8", http.MethodPost, "/auth/v1/email-link", `{"email":"a@example.org","x":"` + "\xff" + `"}`, http.StatusBadRequest, "bad_request"},
			{"another case", http.MethodPost, "/auth/v1/email-link", `{"Email":"a@example.org"}`, http.StatusBadRequest, "bad_request"},
			{"a number", http.MethodPost, "/auth/v1/email-link", `{"email":1}`, http.StatusBadRequest, "bad_request"},
			{"null as e-mail", http.MethodPost, "/auth/v1/email-link", `{"email":null}`, http.StatusBadRequest, "bad_request"},
			{"no body", http.MethodPost, "/auth/v1/email-link", "", http.StatusBadRequest, "bad_request"},
			{"unknown fields", http.MethodPost, "/auth/v1/email-link", `{"email":"a@example.org","x":{"y":[1]}}`, http.StatusAccepted, ""},
			{"the last of two", http.MethodPost, "/auth/v1/email-link", `{"email":"a","email":"b@example.org"}`, http.StatusAccepted, ""},
			{"the page", http.MethodGet, "/auth/link", "", http.StatusOK, ""},
			{"the page's head", http.MethodHead, "/auth/link", "", http.StatusOK, ""},
			{"the keys' head", http.MethodHead, "/oauth2/jwks", "", http.StatusOK, ""},
		} {
			got := w.browser().do(request(tt.method, tt.path, tt.body))
			want(t, tt.name, got, tt.status, tt.code)
			if tt.code != "" && (got.get("error") == "" || len(got.fields) != 1) {
				t.Errorf("%s: body %s", tt.name, got.body)
			}
			if tt.status == http.StatusMethodNotAllowed && got.header.Get("Allow") == "" {
				t.Errorf("%s: no Allow", tt.name)
			}
			if got.header.Get("X-Content-Type-Options") != "nosniff" ||
				got.header.Get("Strict-Transport-Security") == "" ||
				got.header.Get("Referrer-Policy") != "no-referrer" || got.header.Get("Cache-Control") == "" {
				t.Errorf("%s: headers %v", tt.name, got.header)
			}
		}
		if got := w.browser().do(request(http.MethodPost, "/oauth2/jwks", "")).header.Get("Allow"); got != "GET, HEAD" {
			t.Errorf("Allow: %q", got)
		}
		if got := w.browser().do(request(http.MethodGet, "/auth/v1/verify", "")).header.Get("Allow"); got != "POST" {
			t.Errorf("Allow: %q", got)
		}
	})
}

func TestPaths(t *testing.T) {
	want := []string{
		"/.well-known/openid-configuration", "/auth/link", "/auth/link.css", "/auth/link.js", "/auth/v1/email-link", "/auth/v1/logout",
		"/auth/v1/refresh", "/auth/v1/setup", "/auth/v1/verify", "/oauth2/jwks",
	}
	if got := signin.Paths(); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestOtherPagesAreRefused(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		b := w.browser()
		b.signIn(w, "asha@example.org", "cookie")
		for _, tt := range []struct {
			name   string
			header map[string]string
			status int
		}{
			{"a page of another site", map[string]string{"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"}, http.StatusForbidden},
			{"a page of a neighbour", map[string]string{"Sec-Fetch-Site": "same-site", "Origin": "https://evil.example.org"}, http.StatusForbidden},
			{"an old browser, elsewhere", map[string]string{"Origin": "https://evil.example"}, http.StatusForbidden},
			{"a page without origin", map[string]string{"Origin": "null"}, http.StatusForbidden},
			{"our own page", map[string]string{"Sec-Fetch-Site": "same-origin", "Origin": serverURL}, http.StatusOK},
			{"our own page through a proxy that names another host", map[string]string{"Origin": serverURL}, http.StatusOK},
			{"no browser", nil, http.StatusOK},
		} {
			r := request(http.MethodPost, "/auth/v1/refresh", "{}")
			r.Host = "10.0.0.7"
			for k, v := range tt.header {
				r.Header.Set(k, v)
			}
			if got := b.do(r); got.status != tt.status {
				t.Errorf("%s: got %d %s, want %d", tt.name, got.status, got.body, tt.status)
			}
		}
	})
}

// The page runs under a policy that forbids inline scripts and styles, so it must have none.
func TestPage(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		got := w.browser().do(request(http.MethodGet, "/auth/link", ""))
		policy := got.header.Get("Content-Security-Policy")
		for _, part := range []string{"default-src 'none'", "script-src 'self'", "style-src 'self'",
			"connect-src 'self'", "frame-ancestors 'none'", "form-action 'none'"} {
			if !strings.Contains(policy, part) {
				t.Errorf("policy %q lacks %q", policy, part)
			}
		}
		if strings.Contains(policy, "unsafe") || got.header.Get("Content-Type") != "text/html; charset=utf-8" {
			t.Errorf("headers %v", got.header)
		}
		if inline := regexp.MustCompile(`(?i)<script[^>]*>[^<]|<style|\sstyle=|\son\w+=|https?://|<form`).FindString(got.body); inline != "" {
			t.Errorf("the page has %q", inline)
		}
		loaded := regexp.MustCompile(`<(?:link|script|img|iframe|object|embed|audio|video)[^>]* (?:src|href|data)="([^"]+)"`).FindAllStringSubmatch(got.body, -1)
		if len(loaded) != 2 {
			t.Errorf("the page loads %v", loaded)
		}
		for _, l := range loaded {
			if file := w.browser().do(request(http.MethodGet, l[1], "")); file.status != http.StatusOK ||
				file.body == "" {
				t.Errorf("%s: %d", l[1], file.status)
			}
		}
		script, err := os.ReadFile("page/link.js")
		if err != nil {
			t.Fatal(err)
		}
		for _, word := range []string{"location.hash", "history.replaceState", "'click'", "'/auth/v1/verify'",
			"session: 'cookie'"} {
			if !strings.Contains(string(script), word) {
				t.Errorf("the script lacks %s", word)
			}
		}
		if bad := regexp.MustCompile(`innerHTML|eval|document\.write|localStorage|sessionStorage`).Find(script); bad != nil {
			t.Errorf("the script uses %s", bad)
		}
	})
}

func TestDocuments(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		got := w.browser().do(request(http.MethodGet, "/.well-known/openid-configuration", ""))
		want := map[string]any{
			"issuer": serverURL, "jwks_uri": serverURL + "/oauth2/jwks", "response_types_supported": []any{"id_token"},
			"subject_types_supported": []any{"public"}, "id_token_signing_alg_values_supported": []any{"RS256"},
			"scopes_supported": []any{"openid", "email"},
			"claims_supported": []any{"iss", "aud", "sub", "exp", "iat", "auth_time", "email", "email_verified"},
		}
		if !reflect.DeepEqual(got.fields, want) {
			t.Errorf("discovery: %s", got.body)
		}
		keys := w.browser().do(request(http.MethodGet, "/oauth2/jwks", ""))
		for _, doc := range []reply{got, keys} {
			if doc.header.Get("Cache-Control") != "public, max-age=3600" ||
				doc.header.Get("Access-Control-Allow-Origin") != "*" {
				t.Errorf("headers %v", doc.header)
			}
		}
		list := keys.fields["keys"].([]any)
		if len(list) != 1 {
			t.Fatalf("%d keys", len(list))
		}
		for name := range list[0].(map[string]any) {
			if !slices.Contains([]string{"kty", "kid", "alg", "use", "n", "e"}, name) {
				t.Errorf("a published key has the field %q", name)
			}
		}
	})
}

// Another implementation of OpenID Connect finds the issuer and takes its tokens, over real sockets and with the real
// clock.
func TestAnotherImplementationVerifies(t *testing.T) {
	w := &world{t: t, store: &tracedStore{Store: newStore()}, mails: &mailSink{}, log: &logBuffer{}}
	w.outbox = newOutbox(w.mails, w.log)
	done := make(chan struct{})
	go func() { defer close(done); w.outbox.Run(t.Context()) }()
	t.Cleanup(func() { <-done })

	server := httptest.NewUnstartedServer(nil)
	url := "http://" + server.Listener.Addr().String()
	w.issuer = w.another(func(c *signin.Config) { c.URL, c.Audience = url, "tests" })
	server.Config.Handler = w.issuer
	server.Start()
	defer server.Close()

	sent := make(chan signin.Mail, 1)
	w.mails.told = sent
	b := w.browser()
	b.ask("asha@example.org")
	token := regexp.MustCompile(`#(\S+)`).FindStringSubmatch((<-sent).Text)[1]
	answer := b.verifyToken(token)
	want(t, "verifying", answer, http.StatusOK, "")

	provider, err := oidc.NewProvider(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	got, err := provider.Verifier(&oidc.Config{ClientID: "tests"}).Verify(t.Context(), answer.get("id_token"))
	if err != nil {
		t.Fatal(err)
	}
	id, err := w.issuer.Verify(t.Context(), answer.get("id_token"))
	if err != nil || got.Subject != id.Subject || got.Issuer != url {
		t.Errorf("%+v and %+v (%v)", got, id, err)
	}
	if _, err := provider.Verifier(&oidc.Config{ClientID: "others"}).Verify(t.Context(),
		answer.get("id_token")); err == nil {
		t.Error("it was taken for another audience")
	}
	for name := range b.cookies {
		if b.cookies[name].Secure || strings.HasPrefix(name, "__Host-") {
			t.Errorf("without encryption the cookie %s would never be sent", name)
		}
	}
}
