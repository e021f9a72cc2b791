//go:build e2e

package e2e

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TestKeyboardOnly: every page is reached with g and a letter, everything on it with Tab, and what has the focus shows
// it.
func TestKeyboardOnly(t *testing.T) {
	_, b, org := portalTab(t)
	b.furnish(org)
	b.open(org, "settings")
	for page, key := range map[string]string{"playground": "p", "overview": "o", "keys": "k", "requests": "r",
		"usage": "u", "billing": "b", "members": "m", "voices": "v", "lexicon": "l", "audit": "a", "settings": "s"} {
		b.get(`(document.querySelector('h1').focus(), '')`, new(string)) // keys in a field are letters
		b.do(chromedp.KeyEvent("g"), chromedp.KeyEvent(key))
		b.wait(page, `location.pathname.endsWith('/`+page+`') && document.querySelector('h1') && !document.querySelector('.sk')`)
		b.rest()
		var stops int
		b.get(`(() => {
	window.stops = new Set();
	window.unseen = [];
	window.rings = (target) => [target, target.closest('label')].filter(Boolean).some((el) => getComputedStyle(el).outlineStyle === 'solid');
	const note = (e) => {
		window.stops.add(e.target);
		if (!window.rings(e.target) && !e.target.matches('body, h1, main')) window.unseen.push(e.target);
	};
	removeEventListener('focusin', window.note);
	window.note = note;
	addEventListener('focusin', note);
	return document.querySelectorAll('#main a[href], #main button, #main input, #main select, #main textarea, #main [tabindex="0"]').length;
})()`, &stops)
		for range stops + 40 {
			b.do(chromedp.KeyEvent(kb.Tab))
		}
		var missed []string
		b.get(`(() => {
	const reachable = (el) => el.checkVisibility() && !el.disabled && el.tabIndex >= 0 && !(el.type === 'radio' && !el.checked);
	const all = [...document.querySelectorAll('#main a[href], #main button, #main input, #main select, #main textarea')].filter(reachable);
	const unseen = window.unseen.filter((el) => { el.focus(); return el.isConnected && !window.rings(el); }); // a slow browser knows a moment later that keys are used
	return [...all.filter((el) => !window.stops.has(el)).map((el) => 'not reached: ' + el.outerHTML.slice(0, 120)), ...unseen.map((el) => 'shows no focus: ' + el.outerHTML.slice(0, 120)), ...(all.length === 0 ? ['nothing to reach'] : [])];
})()`, &missed)
		for _, m := range missed {
			t.Errorf("%s: %s", page, m)
		}
	}
}
