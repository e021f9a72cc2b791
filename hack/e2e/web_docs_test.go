//go:build e2e

package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TestDocumentationInTheBrowser: a heading is found from the keyboard, an example is copied as it stands, the chosen
// theme holds, and nothing is wanted from elsewhere.
func TestDocumentationInTheBrowser(t *testing.T) {
	p := startPortal(t, t.TempDir())
	b := openTab(t, p.portalBase+"/docs/")
	b.wait("the documentation", `document.querySelector('h1')`)
	b.do(chromedp.KeyEvent("/"))
	b.wait("the search", `document.activeElement.matches('input')`)
	b.write("input[type=search]", "trying again")
	b.wait("what is found", `document.querySelector('#found a')`)
	b.do(chromedp.KeyEvent(kb.ArrowDown))
	var focused string
	if b.get(`document.activeElement.getAttribute('href')`, &focused); focused != "/docs/api#trying-again" {
		t.Errorf("the search leads to %s", focused)
	}
	b.do(chromedp.KeyEvent(kb.Enter))
	b.wait("the section", `document.querySelector('#trying-again') && document.readyState === 'complete'`)
	var title string
	if b.get(`document.title`, &title); title != "The synthesis API · Swar documentation" {
		t.Errorf("Enter leads to %q", title)
	}

	var selected string
	b.get(`(() => {
	const pre = document.querySelector('pre'), button = pre.parentElement.querySelector('button');
	Object.defineProperty(navigator, 'clipboard', {value: {writeText: async (text) => { window.copied = text; }}});
	button.click();
	return new Promise((go) => setTimeout(() => go(window.copied), 0));
})()`, &selected)
	if !strings.HasPrefix(selected, "curl -sS ") || strings.Contains(selected, "Copy") {
		t.Errorf("what is copied is %q", selected)
	}

	var colours []string
	b.get(`(async () => {
	const all = [];
	for (const theme of ['dark', 'light']) {
		localStorage.setItem('swar.theme', theme);
		const frame = await fetch(location.pathname).then((r) => r.text());
		document.documentElement.dataset.theme = theme;
		all.push(getComputedStyle(document.body).backgroundColor, String(frame.includes('/assets/theme-')));
	}
	return all;
})()`, &colours)
	if strings.Join(colours, " ") != "rgb(19, 19, 17) true rgb(250, 249, 246) true" {
		t.Errorf("themes are %q", colours)
	}
	b.do(chromedp.Navigate(p.portalBase + "/"))
	b.wait("the landing page", `document.querySelector('.hero')`)
	var theme string
	if b.get(`document.documentElement.dataset.theme`, &theme); theme != "light" {
		t.Errorf("the landing page forgets the theme: %q", theme)
	}
}

// TestDocumentationIsSearched: without signing in, what a newcomer types leads to the page that answers it, with the
// sentence that was hit; Escape ends the search.
func TestDocumentationIsSearched(t *testing.T) {
	p := startPortal(t, t.TempDir())
	b := openTab(t, p.portalBase+"/docs/fleet")
	b.wait("the documentation", `document.querySelector('h1')`)
	var loaded int
	const indexes = `performance.getEntriesByType('resource').filter((r) => r.name.endsWith('/docs/search.json')).length`
	if b.get(indexes, &loaded); loaded != 0 {
		t.Error("the index is loaded before anybody searches")
	}
	for query, want := range map[string]string{
		"python": "/docs/api", "503": "/docs/api", "nginx": "/docs/proxy", "rotate": "/docs/portal",
		"price": "/docs/portal", "कुंजी": "/docs/portal"} {
		b.do(chromedp.KeyEvent("/"))
		b.write("input[type=search]", query)
		b.wait("results for "+query, fmt.Sprintf(`[...document.querySelectorAll('#found li:nth-child(-n+3) a')]
			.some((a) => a.pathname === %q) && document.querySelector('#found mark')`, want))
		b.do(chromedp.KeyEvent(kb.Escape))
		b.wait("the end of the search", `document.querySelector('#found').hidden && document.activeElement === document.body`)
	}
	if b.get(indexes, &loaded); loaded != 1 {
		t.Errorf("the index was loaded %d times, want once", loaded)
	}
	b.do(chromedp.KeyEvent("/"))
	b.write("input[type=search]", "qqzzxx")
	b.wait("the answer that there is nothing", `document.querySelector('#found').textContent === 'No results for “qqzzxx”.'`)
}

// TestDocumentationHasAMenuOnPhones: the list of pages is one tap away, closes with Escape, and is beside the text
// where there is room.
func TestDocumentationHasAMenuOnPhones(t *testing.T) {
	p := startPortal(t, t.TempDir())
	b := openTab(t, p.portalBase+"/docs/")
	b.do(chromedp.EmulateViewport(360, 780), chromedp.Navigate(p.portalBase+"/docs/api"))
	b.wait("the documentation", `document.querySelector('h1')`)
	const seen = `(() => { const r = document.querySelector('#pages [aria-current]').getBoundingClientRect(); return r.width > 0 && r.top >= 0 && r.bottom <= innerHeight; })()`
	b.wait("no list of pages", `!`+seen)
	b.do(chromedp.Click(".menu"))
	b.wait("the list of pages", seen)
	b.wait("headings of the page", `document.querySelector('#pages a[href="#errors"]').offsetHeight >= 40`)
	b.do(chromedp.KeyEvent(kb.Escape))
	b.wait("the list to close", `!document.querySelector('#pages:popover-open')`)
	b.do(chromedp.Click(".menu"), chromedp.Click(`#pages a[href="#errors"]`))
	b.wait("the heading", `location.hash === '#errors' && !document.querySelector('#pages:popover-open')`)
	var wide bool
	if b.get(`document.documentElement.scrollWidth <= 360`, &wide); !wide {
		t.Error("the page is wider than the phone")
	}
	b.do(chromedp.EmulateViewport(1280, 800))
	b.wait("the list beside the text", seen+` && getComputedStyle(document.querySelector('.menu')).display === 'none'`)
}
