//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/swar-tts/swar/internal/testenv/peerstest"
)

// issuersFile names one provider to a server.
func issuersFile(t *testing.T, issuer, name string) string {
	t.Helper()
	text, err := json.Marshal([]map[string]any{{"issuer": issuer, "audiences": []string{oidcClient}, "name": name}})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "issuers.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func hostOf(issuer string) string {
	host, _, _ := strings.Cut(strings.TrimPrefix(issuer, "http://"), "/")
	return host
}

const (
	isIn      = `location.pathname.startsWith('/app/') && document.querySelector('#main h1') && !document.querySelector('.sk')`
	isOut     = `location.pathname === '/signin' && document.querySelector('.btn.wide')`
	isRefused = `location.pathname === '/signin' && document.querySelector('.wrong, .note[data-why]')`
)

// forgiveProvider overlooks what the provider's own pages complain of, and what they load from elsewhere.
func (b *tab) forgiveProvider(hosts ...string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.others = append(b.others, hosts...)
	b.complaints = slices.DeleteFunc(b.complaints, func(c string) bool {
		return slices.ContainsFunc(hosts, func(host string) bool { return strings.Contains(c, "//"+host+"/") })
	})
}

// goToProvider opens the page of signing in and presses the button of the one provider there is.
func (b *tab) goToProvider(at, loginField string) {
	b.t.Helper()
	b.do(chromedp.Navigate(at + "/signin"))
	b.wait("the button of the provider", isOut)
	b.do(chromedp.Click(".btn.wide"), chromedp.WaitVisible(loginField))
}

// found names an organisation, as who belongs to none is asked to.
func (b *tab) found() {
	b.t.Helper()
	b.wait("the question for a name", `document.querySelector('#main form input')`)
	b.write("#main form input", "Peers")
	b.do(chromedp.Click("#main form button[type=submit]"))
	b.wait("the organisation", `location.pathname.startsWith('/app/org_') && document.querySelector('.side .account')`)
}

// signOut leaves by the menu, and checks that the pages of the organisation are closed then.
func (b *tab) signOut(at string) {
	b.t.Helper()
	b.do(chromedp.Click(".side .account"), chromedp.Click("[data-sign-out]"))
	b.wait("signed out", isOut)
	b.do(chromedp.Navigate(at + "/app/"))
	b.wait("the pages are closed", isOut)
}

// keepsNothing fails where a token or a code of a provider is kept in the page or its address.
func (b *tab) keepsNothing() {
	b.t.Helper()
	var kept string
	if b.get(`JSON.stringify([localStorage, sessionStorage, location.href, document.cookie])`,
		&kept); strings.Contains(kept, "eyJ") || strings.Contains(kept, "code=") {
		b.t.Errorf("the token or its code is kept in the page: %s", kept)
	}
}

// TestPeerOIDCProvider signs in with oidc-provider: through its pages, again without them for the next page, as
// somebody whose address is not verified, and not at all.
func TestPeerOIDCProvider(t *testing.T) {
	issuer := peerstest.OIDCProvider(t, "../peers/oidc.mjs")
	p := startPortal(t, t.TempDir(), "--issuers", issuersFile(t, issuer, "Company login"))
	p.firstKey()
	b := openTab(t, p.portalBase+"/signin")
	defer b.forgiveProvider(hostOf(issuer), "fonts.googleapis.com")
	login := func(email string) {
		t.Helper()
		b.goToProvider(p.portalBase, "input[name=login]")
		b.write("input[name=login]", email)
		b.write("input[name=password]", "any")
		b.do(chromedp.Click("button[type=submit]"))
		b.wait("the question of consent", `document.body.innerText.includes('Continue') && !document.querySelector('input[name=login]')`)
	}

	b.goToProvider(p.portalBase, "input[name=login]")
	b.do(chromedp.Evaluate[chromedp.Void](`[...document.links].find((a) => /cancel/i.test(a.textContent)).click()`))
	b.wait("what became of it", isRefused)
	var said string
	if b.get(`document.querySelector('.wrong, .note[data-why]').textContent`,
		&said); !strings.Contains(said, "did not sign you in") {
		t.Errorf("who has cancelled reads %q", said)
	}

	login("asha@example.org")
	b.do(chromedp.Click("button[type=submit]"))
	b.found()
	b.keepsNothing()
	b.do(chromedp.Reload())
	b.wait("she is in again, without a question", isIn)
	b.keepsNothing()
	b.signOut(p.portalBase)
}

// TestPeerUnverified: an address that the provider has not verified is nobody's.
func TestPeerUnverified(t *testing.T) {
	issuer := peerstest.OIDCProvider(t, "../peers/oidc.mjs")
	p := startPortal(t, t.TempDir(), "--issuers", issuersFile(t, issuer, "Company login"))
	p.firstKey()
	b := openTab(t, p.portalBase+"/signin")
	defer b.forgiveProvider(hostOf(issuer), "fonts.googleapis.com")
	b.goToProvider(p.portalBase, "input[name=login]")
	b.write("input[name=login]", "unverified@example.org")
	b.write("input[name=password]", "any")
	b.do(chromedp.Click("button[type=submit]"))
	b.wait("the question of consent", `document.body.innerText.includes('Continue') && !document.querySelector('input[name=login]')`)
	b.do(chromedp.Click("button[type=submit]"))
	b.wait("the refusal", isRefused)
	var said string
	if b.get(`document.querySelector('.wrong, .note[data-why]').textContent`,
		&said); !strings.Contains(said, "verified at the sign-in provider") {
		t.Errorf("who is not verified reads %q", said)
	}
}

// TestPeerKeycloak signs in with Keycloak, whose client is public and whose realm asks for PKCE.
func TestPeerKeycloak(t *testing.T) {
	issuer := peerstest.Keycloak(t, "../peers/realm.json")
	p := startPortal(t, t.TempDir(), "--issuers", issuersFile(t, issuer, "Keycloak"))
	p.firstKey()
	b := openTab(t, p.portalBase+"/signin")
	defer b.forgiveProvider(hostOf(issuer), "fonts.googleapis.com")
	b.goToProvider(p.portalBase, "#username")
	b.write("#username", "kiran")
	b.write("#password", "only for tests")
	b.do(chromedp.Click("#kc-login"))
	b.found()
	b.keepsNothing()
	b.do(chromedp.Reload())
	b.wait("he is in again, without a question", isIn)
	b.signOut(p.portalBase)
}

// TestPeerFirebase signs in with the link that the emulator of Firebase would mail, and gets the next token without
// one.
func TestPeerFirebase(t *testing.T) {
	host := peerstest.FirebaseEmulator(t)
	p := startPortal(t, t.TempDir(), "--email-sign-in", "off", "--firebase", peerstest.FirebaseProject,
		"--firebase-web-api-key", "any", "--firebase-emulator", host, "--accept-unsigned-tokens")
	p.firstKey()
	b := openTab(t, p.portalBase+"/signin")
	b.mayAsk(host)
	b.do(chromedp.WaitVisible("input[type=email]"))
	b.write("input[type=email]", "meera@example.org")
	b.do(chromedp.Click("form button[type=submit]"))
	b.wait("the mail is on its way", `document.querySelector('.note')?.textContent.includes('meera@example.org')`)
	var link string
	eventually(t, "the emulator has a link", 10*time.Second, func() bool {
		codes, _ := peerstest.CallJSON(t, "http://"+host+"/emulator/v1/projects/"+peerstest.FirebaseProject+"/oobCodes",
			nil)["oobCodes"].([]any)
		if len(codes) > 0 {
			link = fmt.Sprint(codes[0].(map[string]any)["oobLink"])
		}
		return link != ""
	})
	b.do(chromedp.Navigate(link))
	b.found()
	b.do(chromedp.Reload())
	b.wait("she is still in", isIn)
	b.do(chromedp.Click(".side .account"), chromedp.Click("[data-sign-out]"))
	b.wait("signed out", `location.pathname === '/signin' && document.querySelector('input[type=email]')`)
	b.do(chromedp.Navigate(link))
	b.wait("a link is good once", isRefused)
	b.forgive("400")
}
