//go:build e2e

package e2e

import (
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
