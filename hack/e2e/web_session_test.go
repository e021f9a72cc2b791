//go:build e2e

package e2e

import (
	"net/url"
	"testing"

	"github.com/chromedp/chromedp"
)

// another is one more tab of the same browser.
func (b *tab) another(address string) *tab {
	b.t.Helper()
	ctx, cancel := chromedp.NewContext(b.ctx)
	b.t.Cleanup(cancel)
	more := &tab{t: b.t, ctx: ctx, base: b.base}
	if err := chromedp.Do(ctx, chromedp.Navigate(address)); err != nil {
		// a tab ends with the context of its first action
		b.t.Fatal(err)
	}
	return more
}

// badDays answers in the place of the server: the first list of keys with a token that has expired, the second with too
// many requests.
const badDays = `
const ask = window.fetch;
window.refreshed = window.refused = 0;
window.fetch = async (address, init) => {
	const path = new URL(address, location.href).pathname, refusals = [[401, 'token_expired', {}], [429, 'too_many_requests', {'retry-after': '1'}]];
	if (path === '/auth/v1/refresh') window.refreshed++;
	if (path !== '/portal/v1/keys' || window.refused >= refusals.length) return ask(address, init);
	const [status, code, more] = refusals[window.refused++];
	return new Response('{"error":"no"}', {status, headers: {'x-error-code': code, ...more}});
};`

// TestTokenExpiredAndTooManyRequests: nobody notices either.
func TestTokenExpiredAndTooManyRequests(t *testing.T) {
	_, b, org := portalTab(t)
	b.onNewDocument(badDays)
	b.open(org, "keys")
	b.wait("the keys", `document.querySelector('tr[data-key]') && window.refused === 2 && window.refreshed === 2 && !document.querySelector('.err')`)
}

// TestTwoTabs have one session, which ends in both.
func TestTwoTabs(t *testing.T) {
	_, b, org := portalTab(t)
	other := b.another(b.base + "/app/" + org + "/usage?range=7d")
	other.wait("the second tab", `document.querySelector('h1')?.textContent === 'Usage'`)
	b.do(chromedp.Click(".side .account"), chromedp.Click("[data-sign-out]"))
	for _, each := range []*tab{b, other} {
		each.wait("both are signed out", `location.pathname === '/signin' && document.querySelector('[data-why=signed_out]')`)
	}
	b.do(chromedp.Navigate(b.base + "/app/" + org + "/usage?range=7d"))
	b.wait("the sign-in knows where to go on",
		`location.pathname === '/signin' && new URLSearchParams(location.search).get('to') === '/app/`+org+`/usage?range=7d'`)
}

// TestNobodyIsLedElsewhere: whatever stands behind to, who signs in stays on this server. The setup link signs in
// without a mail.
func TestNobodyIsLedElsewhere(t *testing.T) {
	p, b, org := portalTab(t)
	b.onNewDocument(`const ask = window.fetch; window.fetch = (address, init) => address === '/auth/v1/verify' || address === '/auth/v1/email-link' ? Promise.resolve(new Response('{"id_token":"x","expires_in":3600}', {headers: {'content-type': 'application/json'}})) : ask(address, init);`)
	for _, to := range []string{"//evil.example/app/", `/\evil.example`, "https://evil.example/app/",
		"/app/..//evil.example", "/app/%2e%2e//evil.example", "/app//evil.example", "%2F%2Fevil.example",
		"javascript:alert(1)"} {
		b.do(chromedp.Navigate(p.portalBase+"/signin?to="+url.QueryEscape(to)),
			chromedp.WaitVisible("input[type=email]"))
		b.write("input[type=email]", "asha@example.org")
		b.do(chromedp.Click("form button[type=submit]"), chromedp.WaitVisible(".codein"))
		b.write(".codein", "aaaabbbb")
		b.wait(to, `location.pathname === '/app/`+org+`/playground' && document.querySelector('textarea')`)
	}
}
