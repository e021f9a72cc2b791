//go:build e2e

package e2e

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"math/big"
	"net"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

const proxyName = "tts.test"

// proxy ends TLS under a name of its own, as one before a server in a company does. What is asked before it has
// somewhere to send it is answered 502.
type proxy struct {
	public   string // origin
	spki     string // what Chromium knows its certificate by
	keepHost bool   // whether the server is told under which name it was asked

	api, pages atomic.Pointer[url.URL]
}

func newProxy(t *testing.T, keepHost bool) *proxy {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	cert := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{proxyName},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, cert, cert, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	spki, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(spki)
	x := &proxy{spki: base64.StdEncoding.EncodeToString(sum[:]), keepHost: keepHost}
	s := httptest.NewUnstartedServer(&httputil.ReverseProxy{Rewrite: x.rewrite, FlushInterval: -1})
	s.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
	s.StartTLS()
	t.Cleanup(s.Close)
	_, port, err := net.SplitHostPort(s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	x.public = "https://" + net.JoinHostPort(proxyName, port)
	return x
}

// ofPages are the paths that the chart routes to the portal.
var ofPages = regexp.MustCompile(`^/(app|signin|setup|auth|portal|docs|assets|welcome|openapi\.json|asyncapi\.json|llms\.txt|favicon\.svg|manifest\.webmanifest|robots\.txt|\.well-known|oauth2)(/|$)`)

func (x *proxy) rewrite(r *httputil.ProxyRequest) {
	to := x.api.Load()
	if ofPages.MatchString(r.In.URL.Path) {
		to = x.pages.Load()
	}
	if to == nil {
		return
	}
	r.SetURL(to)
	r.SetXForwarded()
	if x.keepHost {
		r.Out.Host = r.In.Host
	}
}

func (x *proxy) leadTo(t *testing.T, p *portal) {
	t.Helper()
	api, err := url.Parse(p.base)
	if err != nil {
		t.Fatal(err)
	}
	pages, err := url.Parse(p.portalBase)
	if err != nil {
		t.Fatal(err)
	}
	x.api.Store(api)
	x.pages.Store(pages)
}

// TestBehindATLSProxy: a server that knows its public name is used under that alone. Proxies tell the name on, or, as
// some do unless they are told to, do not.
func TestBehindATLSProxy(t *testing.T) {
	for name, keepHost := range map[string]bool{"which tells the name on": true, "which does not": false} {
		t.Run(name, func(t *testing.T) {
			x := newProxy(t, keepHost)
			flags := []string{"--public-url", x.public, "--trust-proxy", "127.0.0.1/32"}
			if isFleet(t) {
				flags = append(flags, "--api-url", x.public)
			}
			p := startPortal(t, t.TempDir(), flags...)
			x.leadTo(t, p)
			key := p.firstKey()
			printed := p.printed()
			if isFleet(t) {
				printed = p.swar("setup-link")
			}
			link := regexp.MustCompile(`https?://\S+/setup#\S+`).FindString(printed)
			if !strings.HasPrefix(link, x.public+"/setup#") {
				t.Fatalf("the setup link is %q", link)
			}
			b := openTab(t, link, chromedp.Flag("host-resolver-rules", "MAP "+proxyName+" 127.0.0.1"),
				chromedp.Flag("ignore-certificate-errors-spki-list", x.spki))
			x.use(b, p, key)
		})
	}
}

// use is somebody's first hour behind the proxy.
func (x *proxy) use(b *tab, p *portal, key string) {
	b.t.Helper()
	t := b.t
	var socket atomic.Value
	chromedp.Listen(b.ctx, func(ev any) {
		if e, ok := ev.(*network.EventWebSocketCreated); ok {
			socket.Store(e.URL)
		}
	})
	org := b.enter()
	b.write("textarea", sentence)
	b.sameAsREST(sentence, p, key, b.play())
	if at, _ := socket.Load().(string); !strings.HasPrefix(at, "wss"+strings.TrimPrefix(x.public, "https")+"/") {
		t.Errorf("the socket is at %q", at)
	}
	x.cookiesAreSecure(b)
	var missing []string
	b.get(`Promise.all(['/welcome', '/app/', '/signin', '/docs/', '/auth/v1/ways', '/portal/v1/me'].map(async (path) => {
	const r = await fetch(path, {headers: {accept: 'text/html'}});
	return r.headers.get('strict-transport-security')?.startsWith('max-age=') ? '' : path + ' ' + r.status;
})).then((all) => all.filter((path) => path))`, &missing)
	b.forgive("401") // of /portal/v1/me without a token
	if len(missing) > 0 {
		t.Errorf("browsers are not told to come by TLS alone by %q", missing)
	}
	for _, page := range []string{"playground", "overview", "keys", "settings", "members"} {
		b.open(org, page)
		var named bool
		if b.get(`document.body.innerText.includes('127.0.0.1') || !isSecureContext`, &named); named {
			t.Errorf("%s shows the server's own address, or is not secure", page)
		}
	}
	var done string
	b.get(fmt.Sprintf(inPortal, fmt.Sprintf(`await api('POST', '/orgs/%s/members', {email: 'ravi@example.org', role: 'viewer'}); return '';`, org)), &done)
	eventually(t, "the invitation is printed with the public name", 10*time.Second, func() bool {
		return strings.Contains(p.printed(), "ravi@example.org") && strings.Contains(p.printed(), x.public+"/signin")
	})
	x.signInAgain(b, p)
	if strings.Contains(p.output(), "cross_origin") {
		t.Error("the server's own pages are taken for those of others")
	}
}

func (x *proxy) cookiesAreSecure(b *tab) {
	b.t.Helper()
	got, err := chromedp.Call(b.ctx, network.GetCookies,
		network.GetCookiesParams{URLs: []string{x.public + "/auth/v1/refresh"}})
	if err != nil {
		b.t.Fatal(err)
	}
	for _, c := range got.Cookies {
		if secret := c.Name != "swar_session"; !c.Secure || c.HTTPOnly != secret ||
			strings.HasPrefix(c.Name, "__Host-") != secret || c.SameSite != network.CookieSameSiteStrict {
			b.t.Errorf("the cookie %s: secure %v, hidden from scripts %v, same site %s", c.Name, c.Secure,
				c.HTTPOnly, c.SameSite)
		}
	}
	if len(got.Cookies) != 2 {
		b.t.Errorf("%d cookies, want the session's and its sign", len(got.Cookies))
	}
}

var mailedLink = regexp.MustCompile(`https?://\S+#[A-Za-z0-9_-]{20,}`)

// signInAgain signs out, and in again with the link of a mail.
func (x *proxy) signInAgain(b *tab, p *portal) {
	b.t.Helper()
	b.do(chromedp.Click(".side .account"), chromedp.Click("[data-sign-out]"))
	b.wait("signed out", `location.pathname === '/signin' && document.querySelector('input[type=email]')`)
	before := strings.Count(p.printed(), codeMark)
	b.write("input[type=email]", "asha@example.org")
	b.do(chromedp.Click("form button[type=submit]"), chromedp.WaitVisible(".codein"))
	p.codeAfter(before)
	all := p.printed()
	links := mailedLink.FindAllString(all[:strings.LastIndex(all, codeMark)], -1)
	if len(links) == 0 || !strings.HasPrefix(links[len(links)-1], x.public+"/") {
		b.t.Fatalf("the links of mails are %q", links)
	}
	b.do(chromedp.Navigate("about:blank"), chromedp.Navigate(links[len(links)-1]))
	b.wait("the button of the link's page", `document.querySelector('#go')`)
	b.do(chromedp.Click("#go"))
	b.wait("in again", `location.pathname.startsWith('/app/org_') && document.querySelector('textarea')`)
}
