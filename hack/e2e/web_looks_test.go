//go:build e2e

package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TestHeadings: after each navigation the heading of the page has the focus, and the window is called by page and
// organisation.
func TestHeadings(t *testing.T) {
	if isFleet(t) {
		t.Skip("the pages are the same")
	}
	_, b, org := portalTab(t)
	b.open(org, "playground")
	for _, language := range []string{"en", "hi"} {
		b.get(fmt.Sprintf(`(localStorage.setItem('swar.language', %q), '')`, language), new(string))
		b.open(org, "playground")
		for _, page := range append(portalPages[1:], portalPages[0]) {
			b.get(fmt.Sprintf(`(document.querySelector('nav.main a[href$="/%s"]').click(), '')`, page), new(string))
			b.wait(page, fmt.Sprintf(`location.pathname.endsWith('/%s') && document.activeElement.matches('h1')`, page))
			var got []string
			b.get(`[document.title, document.querySelector('h1').textContent, document.documentElement.lang]`, &got)
			if want := got[1] + " · My organisation · Swar"; got[0] != want || got[2] != language {
				t.Errorf("%s, %s: the title is %q, want %q, in the language %q", page, language, got[0], want, got[2])
			}
		}
	}
}

// TestReducedMotionAndZoom: who wants no motion sees none, and at twice the size nothing is cut off.
func TestReducedMotionAndZoom(t *testing.T) {
	if isFleet(t) {
		t.Skip("the pages are the same")
	}
	_, b, org := portalTab(t)
	b.furnish(org)
	media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-reduced-motion",
		Value: "reduce"}}}
	if _, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, media); err != nil {
		t.Fatal(err)
	}
	// a window of 1280 at 200 %
	zoomed := emulation.SetDeviceMetricsOverrideParams{Width: 640, Height: 450, DeviceScaleFactor: 2}
	if _, err := chromedp.Call(b.ctx, emulation.SetDeviceMetricsOverride, zoomed); err != nil {
		t.Fatal(err)
	}
	addresses := []string{"/", "/docs/", "/docs/api", "/app/" + org + "/keys?new=1"}
	for _, page := range portalPages {
		addresses = append(addresses, "/app/"+org+"/"+page)
	}
	for _, address := range addresses {
		b.do(chromedp.Navigate(b.base+address), chromedp.WaitVisible("h1, pre"))
		b.rest()
		var found []string
		b.get(`(() => {
	const found = [];
	for (const el of document.querySelectorAll('*')) for (const pseudo of [null, '::before', '::after']) {
		const s = getComputedStyle(el, pseudo);
		const moves = (names, times) => names !== 'none' && times.split(',').some((t) => parseFloat(t) > 0);
		if (moves(s.animationName, s.animationDuration) || moves(s.transitionProperty, s.transitionDuration)) found.push('moves: ' + el.outerHTML.slice(0, 80));
	}
	const wide = document.documentElement.scrollWidth - innerWidth;
	if (wide > 0) found.push(wide + ' px wider than the window');
	return [...new Set(found)];
})()`, &found)
		for _, f := range found {
			t.Errorf("%s: %s", address, f)
		}
	}
}

// TestRowsByKeys: j, k and Enter go through the requests wherever the focus is, also while new ones come on top;
// switched off, single keys do nothing.
func TestRowsByKeys(t *testing.T) {
	if isFleet(t) {
		t.Skip("the page is the same")
	}
	_, b, org := portalTab(t)
	b.furnish(org)
	b.open(org, "requests")
	b.wait("the requests", `document.querySelectorAll('[data-request]').length === 5`)
	for i, key := range []string{"j", "j", "j", "k"} {
		b.do(chromedp.KeyEvent(key))
		row := []int{0, 1, 2, 1}[i]
		b.wait(fmt.Sprintf("row %d has the focus", row),
			fmt.Sprintf(`document.activeElement === document.querySelectorAll('[data-request]')[%d]`, row))
	}
	// Where the machine is busy the drawer is there between keydown and keypress, and takes the focus; and some hold
	// Enter.
	b.enterKey(input.DispatchKeyEventTypeRawKeyDown, false)
	b.wait("the drawer with the focus", `document.querySelector('dialog.drawer .timing') && document.activeElement.closest('dialog')`)
	b.enterKey(input.DispatchKeyEventTypeChar, false)
	b.enterKey(input.DispatchKeyEventTypeRawKeyDown, true)
	b.enterKey(input.DispatchKeyEventTypeChar, true)
	b.enterKey(input.DispatchKeyEventTypeKeyUp, false)
	b.wait("the drawer stays", `await new Promise((go) => setTimeout(go, 100)).then(() => document.querySelector('dialog.drawer .timing'))`)
	b.do(chromedp.KeyEvent(kb.Enter))
	b.wait("Enter on the cross closes it", `!document.querySelector('dialog') && document.activeElement.matches('[data-request]')`)
	b.do(chromedp.KeyEvent(kb.Enter))
	b.wait("the drawer", `document.querySelector('dialog.drawer .timing')`)
	b.do(chromedp.KeyEvent(kb.Escape))
	b.wait("the row has the focus again", `!document.querySelector('dialog') && document.activeElement.matches('[data-request]')`)

	b.get(`(localStorage.setItem('swar.keys', 'off'), '')`, new(string))
	b.open(org, "requests")
	b.wait("the requests", `document.querySelectorAll('[data-request]').length === 5`)
	for _, key := range []string{"j", "g", "u", "?", "/"} {
		b.do(chromedp.KeyEvent(key))
	}
	var quiet bool
	if b.get(`new Promise((go) => setTimeout(go, 300)).then(() => location.pathname.endsWith('/requests') && !document.querySelector('dialog') && document.activeElement.matches('h1, body'))`, &quiet); !quiet {
		t.Error("single keys do something though they are switched off")
	}
}

// enterKey is one of the events of a press of Enter.
func (b *tab) enterKey(kind input.DispatchKeyEventType, repeat bool) {
	b.t.Helper()
	event := input.DispatchKeyEventParams{Type: kind, Key: "Enter", Code: "Enter", WindowsVirtualKeyCode: 13,
		AutoRepeat: &repeat}
	if kind == input.DispatchKeyEventTypeChar {
		event.Text = "\r"
	}
	if _, err := chromedp.Call(b.ctx, input.DispatchKeyEvent, event); err != nil {
		b.t.Fatal(err)
	}
}

// TestSecretIsGoneWithItsDialog: a key that nobody has copied is asked about; a browser that closes the dialog takes it
// away all the same.
func TestSecretIsGoneWithItsDialog(t *testing.T) {
	if isFleet(t) {
		t.Skip("the page is the same")
	}
	_, b, org := portalTab(t)
	b.open(org, "keys")
	// A microtask after each change of the page, before the next key can be pressed: a key must never miss a dialog
	// that is seen.
	b.get(`(window.late = [], new MutationObserver(() => {
	for (const d of document.querySelectorAll('dialog')) if (!d.open || !d.contains(document.activeElement)) late.push(d.innerText.slice(0, 50));
	const question = document.querySelector('.leaving');
	if (question && !question.contains(document.activeElement)) late.push('the question');
}).observe(document.body, { childList: true, subtree: true }), '')`, new(string))
	b.do(chromedp.Click("[data-create]"))
	b.wait("the dialog", `document.activeElement.matches('dialog input')`)
	b.write("dialog input", "ivr")
	b.do(chromedp.KeyEvent(kb.Enter))
	b.wait("the key", `document.querySelector('[data-secret]')`)
	var key string
	b.get(`document.querySelector('[data-secret]').textContent`, &key)
	for _, asked := range []bool{true, false, true, false, true} { // a browser lets a page keep a dialog only once
		b.do(chromedp.KeyEvent(kb.Escape))
		b.wait("the question, every other time",
			fmt.Sprintf(`!!document.querySelector('.leaving') === %v && document.querySelector('dialog[open] [data-secret]')`, asked))
	}
	b.do(chromedp.Click(".leaving button")) // stays
	b.wait("the dialog keeps the focus", `!document.querySelector('.leaving') && document.activeElement.closest('dialog')`)
	var late []string
	if b.get(`late`, &late); len(late) != 0 {
		t.Errorf("shown before they had the focus: %q", late)
	}
	b.get(`(document.querySelector('dialog').close(), '')`, new(string))
	b.wait("the list", `!document.querySelector('dialog')`)
	b.wait("the button has the focus again", `document.activeElement.matches('[data-create]')`)
	var text string
	if b.get(`document.documentElement.outerHTML`, &text); strings.Contains(text, key) {
		t.Error("the key is in the page still")
	}
}
