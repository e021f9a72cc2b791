//go:build e2e

package e2e

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

// idp is an OpenID provider whose one person is signed in already. It checks what the page has to send.
type idp struct {
	*httptest.Server
	t    *testing.T
	key  *rsa.PrivateKey
	life time.Duration // of an ID token

	unverified bool // what it says of the address

	mu     sync.Mutex
	asked  url.Values // of the last authorization
	issued int
}

const oidcClient = "swar-pages"

func newIDP(t *testing.T, life time.Duration) *idp {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	p := &idp{t: t, key: key, life: life}
	mux := http.NewServeMux()
	p.Server = httptest.NewServer(mux)
	t.Cleanup(p.Close)
	mux.HandleFunc("/.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"issuer":%q,"authorization_endpoint":%q,"token_endpoint":%q,"jwks_uri":%q}`, p.URL,
			p.URL+"/authorize", p.URL+"/token", p.URL+"/jwks")
	})
	mux.HandleFunc("/jwks", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: &key.PublicKey, KeyID: "1",
			Algorithm: "RS256", Use: "sig"}}})
	})
	mux.HandleFunc("/authorize", p.authorize)
	mux.HandleFunc("/token", p.token)
	return p
}

// issuers writes the file that names this provider to a server.
func (p *idp) issuers() string {
	p.t.Helper()
	file := filepath.Join(p.t.TempDir(), "issuers.json")
	text := fmt.Sprintf(`[{"issuer":%q,"audiences":[%q],"name":"Test login"}]`, p.URL, oidcClient)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
	return file
}

func (p *idp) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	p.mu.Lock()
	p.asked = q
	p.mu.Unlock()
	to, err := url.Parse(q.Get("redirect_uri"))
	if err != nil || q.Get("response_type") != "code" || q.Get("client_id") != oidcClient ||
		q.Get("code_challenge_method") != "S256" || !strings.Contains(q.Get("scope"), "openid") {
		p.t.Errorf("the page asks for %v", q)
		return
	}
	to.RawQuery = url.Values{"code": {"once"}, "state": {q.Get("state")}}.Encode()
	http.Redirect(w, r, to.String(), http.StatusFound)
}

func (p *idp) token(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Access-Control-Allow-Origin", "*")
	p.mu.Lock()
	defer p.mu.Unlock()
	challenge := sha256.Sum256([]byte(r.FormValue("code_verifier")))
	if base64.RawURLEncoding.EncodeToString(challenge[:]) != p.asked.Get("code_challenge") ||
		r.FormValue("redirect_uri") != p.asked.Get("redirect_uri") || r.FormValue("code") != "once" {
		http.Error(w, `{"error":"invalid_grant"}`, http.StatusBadRequest)
		return
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.RS256, Key: p.key},
		(&jose.SignerOptions{}).WithHeader("kid", "1").WithType("JWT"))
	if err != nil {
		p.t.Error(err)
		return
	}
	now := time.Now()
	claims := map[string]any{
		"iss": p.URL, "aud": oidcClient, "sub": "ravi", "email": "ravi@example.org", "email_verified": !p.unverified, "nonce": p.asked.Get("nonce"),
		"iat": now.Unix(), "exp": now.Add(p.life).Unix(),
	}
	token, err := jwt.Signed(signer).Claims(claims).Serialize()
	if err != nil {
		p.t.Error(err)
		return
	}
	p.issued++
	fmt.Fprintf(w, `{"access_token":"x","token_type":"Bearer","id_token":%q,"expires_in":%d}`, token,
		int(p.life.Seconds()))
}

// TestOpenIDConnect: with PKCE through another provider to the playground, and round again when the token has ended,
// with what was typed kept. The token is nowhere but in memory, and the code in no address.
func TestOpenIDConnect(t *testing.T) {
	idp := newIDP(t, time.Hour)
	p := startPortal(t, t.TempDir(), "--issuers", idp.issuers())
	p.firstKey()
	if !isFleet(t) {
		p.swar("orgs", "invite", "ravi@example.org", "--role", "owner")
	}
	b := openTab(t, p.portalBase+"/signin")
	b.mayAsk(strings.TrimPrefix(idp.URL, "http://"))
	b.do(chromedp.WaitVisible(".btn.wide"), chromedp.Click(".btn.wide"), chromedp.WaitVisible("#main h1"))
	var kept, address string
	if b.get(`JSON.stringify([localStorage, sessionStorage, location.href, history.length, document.cookie])`,
		&kept); strings.Contains(kept, "eyJ") || strings.Contains(kept, "code=") {
		t.Errorf("the token or its code is kept in the page: %s", kept)
	}
	if b.get(`location.pathname`, &address); !strings.HasPrefix(address, "/app/") {
		t.Errorf("signed in, the page is %s", address)
	}
	b.do(chromedp.Reload(), chromedp.WaitVisible("#main h1"))
	idp.mu.Lock()
	defer idp.mu.Unlock()
	if idp.issued != 2 {
		t.Errorf("%d tokens were issued, want one for the first page and one for the next", idp.issued)
	}
}

// TestOpenIDConnectUnverified: an address that the provider has not verified is nobody's, and the page says so.
func TestOpenIDConnectUnverified(t *testing.T) {
	idp := newIDP(t, time.Hour)
	idp.unverified = true
	p := startPortal(t, t.TempDir(), "--issuers", idp.issuers())
	p.firstKey()
	b := openTab(t, p.portalBase+"/signin")
	b.mayAsk(strings.TrimPrefix(idp.URL, "http://"))
	b.do(chromedp.WaitVisible(".btn.wide"), chromedp.Click(".btn.wide"))
	b.wait("the reason", `document.querySelector('.wrong, .note[data-why]')?.textContent.includes('verified at the sign-in provider')`)
}
