//go:build e2e

package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// lastLink is the link of the last mail.
func (p *portal) lastLink() string {
	links := mailedLink.FindAllString(p.printed()[:strings.LastIndex(p.printed(), codeMark)], -1)
	return links[len(links)-1]
}

// askForCode types an address, and returns what the mail says.
func (b *tab) askForCode(p *portal, email string) (code, link string) {
	b.t.Helper()
	before := strings.Count(p.printed(), codeMark)
	b.do(chromedp.Navigate(p.portalBase+"/signin"), chromedp.WaitVisible("input[type=email]"))
	b.write("input[type=email]", email)
	b.do(chromedp.Click("form button[type=submit]"), chromedp.WaitVisible(".codein"))
	return p.codeAfter(before), p.lastLink()
}

// TestCodesAndLinksThatAreVoid: five wrong codes, a link in another browser, one that was used: each says what to do
// next, and that works.
func TestCodesAndLinksThatAreVoid(t *testing.T) {
	p := startPortal(t, t.TempDir())
	p.firstKey()
	if isFleet(t) {
		t.Skip("the page and the portal are the same")
	}
	p.swar("orgs", "invite", "asha@example.org", "--role", "owner")
	b := openTab(t, p.portalBase+"/signin")
	b.onNewDocument(fastSeconds)
	code, link := b.askForCode(p, "asha@example.org")

	other := openTab(t, link)
	other.do(chromedp.WaitVisible("#go"), chromedp.Click("#go"))
	other.wait("what to do in another browser",
		`document.querySelector('#text').textContent.includes('Enter the code from the e-mail there.') && document.querySelector('#go').hidden`)
	other.forgive("400")

	b.write(".codein", "AAAA-AAA0") // is no code, which counts as no try
	b.do(chromedp.Click("form button[type=submit]"))
	b.wait("five tries", `document.querySelector('.wrong')?.textContent.endsWith('You have 5 tries left.') && !document.querySelector('form button').disabled`)
	for i, left := range []string{"You have 4 tries left.", "You have 3 tries left.", "You have 2 tries left.",
		"You have 1 try left.", "Request a new code."} {
		b.write(".codein", "AAAA-AAA"+"BCDFG"[i:i+1]) // eight characters are sent by themselves
		b.wait(left, fmt.Sprintf(`document.querySelector('.wrong[data-code=bad_link]')?.textContent.endsWith(%q) && !document.querySelector('form button').disabled`, left))
	}
	var advice string
	if b.get(`document.querySelector('main').innerText`,
		&advice); !strings.Contains(advice, "prints mails in its terminal or log") || strings.Contains(advice, "spam") {
		t.Errorf("where nothing is mailed, the page says %q", advice)
	}
	b.write(".codein", code)
	b.wait("the right one comes too late", `document.querySelector('.wrong[data-code=bad_link]')?.textContent.endsWith('Request a new code.') && !document.querySelector('form button').disabled`)
	b.forgive("400")
	code = b.resend(p)
	b.write(".codein", strings.ToLower(strings.ReplaceAll(code, "-", " ")))
	b.do(chromedp.WaitVisible("textarea"))

	b.do(chromedp.Navigate(link), chromedp.WaitVisible("#go"), chromedp.Click("#go"))
	b.wait("what to do with an old link", `document.querySelector('#text').textContent.includes('Request a new one.') && document.querySelector('#again').checkVisibility()`)
	b.forgive("400")
	b.do(chromedp.Click("#again"))
	b.wait("where to ask", `location.pathname === '/signin' && document.querySelector('input[type=email]')`)
}

// fastSeconds has the seconds of a page's intervals pass a hundred times as fast: a mail may be asked for again after a
// minute.
const fastSeconds = `const every = window.setInterval; window.setInterval = (act, ms, ...more) => every(act, ms === 1000 ? 10 : ms, ...more);`

// resend asks for another mail as soon as that may be, and returns its code.
func (b *tab) resend(p *portal) string {
	b.t.Helper()
	before := strings.Count(p.printed(), codeMark)
	b.wait("another mail may be asked for", `!document.querySelector('.after button').disabled`)
	b.do(chromedp.Click(".after button"))
	b.wait("not at once again", `document.querySelector('.after button').disabled`)
	return p.codeAfter(before)
}

// TestNotInvited: who has proved an address that is not invited reads so, and can come with another one.
func TestNotInvited(t *testing.T) {
	if isFleet(t) {
		t.Skip("the page and the portal are the same")
	}
	provider := newIDP(t, time.Hour)
	p := startPortal(t, t.TempDir(), "--issuers", provider.issuers(), "--invited-only")
	p.firstKey()
	b := openTab(t, p.portalBase+"/signin")
	b.mayAsk(strings.TrimPrefix(provider.URL, "http://"))
	b.do(chromedp.WaitVisible(".btn.wide"), chromedp.Click(".btn.wide"))
	b.wait("the reason", `document.querySelector('[data-code=not_invited]')?.textContent.includes('Ask an owner of your organisation for an invitation.')`)
	b.forgive("403")
	b.do(chromedp.Click("[data-code=not_invited] .btn.primary"))
	b.wait("another address", `location.pathname === '/signin' && document.querySelector('input[type=email]')`)
}
