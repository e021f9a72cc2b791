//go:build e2e

package e2e

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// firebase stands in for the emulator of Firebase Authentication: it mails nothing and signs nothing, and keeps what
// pages ask.
type firebase struct {
	*httptest.Server
	mu      sync.Mutex
	mailed  string // continue URL
	renewed int
}

const firebaseProject = "demo-swar"

func newFirebase(t *testing.T) *firebase {
	t.Helper()
	f := &firebase{}
	part := func(v any) string {
		text, err := json.Marshal(v)
		if err != nil {
			t.Error(err)
		}
		return base64.RawURLEncoding.EncodeToString(text)
	}
	token := func() string {
		now := time.Now().Unix()
		return part(map[string]string{"alg": "none", "typ": "JWT"}) + "." + part(map[string]any{
			"iss": "https://securetoken.google.com/" + firebaseProject, "aud": firebaseProject, "sub": "meera", "user_id": "meera", "email": "meera@example.org", "email_verified": true,
			"iat": now, "auth_time": now, "exp": now + 3600,
		}) + "."
	}
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Access-Control-Allow-Origin", "*")
		w.Header().Set("Access-Control-Allow-Headers", "content-type")
		f.mu.Lock()
		defer f.mu.Unlock()
		var body struct{ RequestType, Email, ContinueURL, OobCode string }
		if r.Method == http.MethodPost && strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") {
			if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
				t.Error(err)
			}
		}
		switch path := r.URL.Path; {
		case r.Method == http.MethodOptions:
		case r.URL.Query().Get("key") != "web-key":
			t.Errorf("%s came without the web API key", path)
		case strings.HasSuffix(path, "accounts:sendOobCode") && body.RequestType == "EMAIL_SIGNIN" &&
			body.Email == "meera@example.org":
			f.mailed = body.ContinueURL
			fmt.Fprint(w, `{"email":"meera@example.org"}`)
		case strings.HasSuffix(path, "accounts:signInWithEmailLink") && body.Email == "meera@example.org" &&
			body.OobCode == "from-the-mail":
			fmt.Fprintf(w, `{"idToken":%q,"refreshToken":"refresh","expiresIn":"3600","email":"meera@example.org"}`,
				token())
		case strings.HasSuffix(path, "/securetoken.googleapis.com/v1/token") &&
			r.FormValue("grant_type") == "refresh_token" && r.FormValue("refresh_token") == "refresh":
			f.renewed++
			fmt.Fprintf(w, `{"id_token":%q,"refresh_token":"refresh","expires_in":"3600"}`, token())
		default:
			http.Error(w, `{"error":{"message":"INVALID"}}`, http.StatusBadRequest)
		}
	}))
	t.Cleanup(f.Close)
	return f
}

// TestFirebase: a link that Firebase mails leads into the portal, and the next page gets the next token without a mail.
// Signing out asks nothing that this server lacks.
func TestFirebase(t *testing.T) {
	f := newFirebase(t)
	host := strings.TrimPrefix(f.URL, "http://")
	p := startPortal(t, t.TempDir(), "--email-sign-in", "off", "--firebase", firebaseProject, "--firebase-web-api-key",
		"web-key", "--firebase-emulator", host, "--accept-unsigned-tokens")
	p.firstKey()
	b := openTab(t, p.portalBase+"/signin")
	b.mayAsk(host)
	b.do(chromedp.WaitVisible("input[type=email]"))
	b.write("input[type=email]", "meera@example.org")
	b.do(chromedp.Click("form button[type=submit]"))
	b.wait("the mail is on its way", `document.querySelector('.note')?.textContent.includes('meera@example.org')`)
	f.mu.Lock()
	to := f.mailed
	f.mu.Unlock()
	if to != p.portalBase+"/signin" {
		t.Fatalf("the link would lead to %q", to)
	}
	b.do(chromedp.Navigate(to + "?mode=signIn&oobCode=from-the-mail&apiKey=web-key"))
	b.wait("she is in", `location.pathname.startsWith('/app/') && document.querySelector('h1') && !document.querySelector('.sk')`)
	var address string
	if b.get(`location.href`, &address); strings.Contains(address, "oobCode") {
		t.Errorf("the code stays in the address: %s", address)
	}
	b.onNewDocument(slowSignOut + `window.slowPreview = 300`)
	b.do(chromedp.Reload())
	b.wait("she is still in", `document.querySelector('h1') && !document.querySelector('.sk') && !location.pathname.startsWith('/signin')`)
	b.found()
	b.wait("a key", `Object.keys(sessionStorage).some((k) => k.startsWith('swar.play.'))`)
	b.get(typedAndOut, new(string)) // of a server that has no session of its own to end
	b.wait("she is out", `location.pathname === '/signin' && document.querySelector('input[type=email]')`)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.renewed == 0 {
		t.Error("the next page got no token with the refresh token")
	}
}
