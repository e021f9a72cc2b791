//go:build e2e

package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TestStop: after Stop no sample is played, nothing that still comes is kept, and the page shows what is billed.
func TestStop(t *testing.T) {
	_, b, org := portalTab(t)
	b.onNewDocument(`
window.told = [];
window.AudioWorkletNode = class extends AudioWorkletNode {
	constructor(...given) {
		super(...given);
		this.port.addEventListener('message', (e) => window.told.push([e.data.type, e.data.played ?? 0]));
	}
};`)
	b.open(org, "playground")
	b.write("textarea", strings.Repeat(sentence+" ", 20))
	b.do(chromedp.Click(".play-button"))
	b.wait("it plays", `document.querySelector('.play-button').dataset.state === 'playing'`)
	b.do(chromedp.KeyEvent(kb.Escape))
	b.wait("what is billed", `document.querySelector('.play-button').dataset.state === 'idle' && Number(document.querySelector('[data-billed]')?.dataset.billed) > 0`)
	var got struct {
		Silent, Cancelled bool
		After             int
	}
	b.do(chromedp.Click("#tab-events"))
	b.get(`(async () => {
	await new Promise((go) => setTimeout(go, 500));
	const stopped = window.told.findIndex(([type]) => type === 'stopped');
	return {
		Silent: stopped >= 0, After: window.told.length - stopped - 1,
		Cancelled: [...document.querySelectorAll('.play-events tbody button')].some((b) => b.textContent === 'cancelled'),
	};
})()`, &got)
	if !got.Silent || got.After != 0 {
		t.Errorf("stopped %v, and the worklet told %d times of more", got.Silent, got.After)
	}
	if !got.Cancelled {
		t.Error("the events do not show that the server has stopped, too")
	}
}

// TestLongestText: 4,000 characters are read; one more turns the counter red and Play off, and is not asked for in
// vain.
func TestLongestText(t *testing.T) {
	_, b, _ := portalTab(t)
	count := func(n int) string {
		return fmt.Sprintf(`document.querySelector('#play-count .num').textContent.startsWith('%d /')`, n)
	}
	longest := string([]rune(strings.Repeat("काम ₹9 ", 600))[:3999]) + "।"
	b.write("textarea", "  "+longest+"\n")
	b.wait("all of it is read", count(4000)+` && !document.querySelector('.play-button').disabled && document.querySelectorAll('.play-chunks li').length > 10`)
	b.write("textarea", longest+"।")
	b.wait("Play is off", count(4001)+` && document.querySelector('.play-button').disabled && document.querySelector('#play-reason').textContent.includes('longer than 4000')`)
	b.wait("the preview says so, too", `document.querySelector('.play-empty')?.textContent.includes('longer than 4000')`)
	var red bool
	b.get(`(() => { const [r, g] = getComputedStyle(document.querySelector('#play-count .num')).color.match(/\d+/g).map(Number); return r > 2 * g; })()`, &red)
	if !red {
		t.Error("the counter is not red")
	}
	b.get(`(dispatchEvent(new KeyboardEvent('keydown', {key: 'Enter', ctrlKey: true})), '')`, new(string))
	var idle bool
	if b.get(`document.querySelector('.play-button').dataset.state === 'idle'`, &idle); !idle {
		t.Error("Ctrl+Enter speaks what Play does not")
	}
}

// TestTakesAreCompared: A and B are heard by their keys, unless single keys are switched off; g and a letter lead to a
// page alone.
func TestTakesAreCompared(t *testing.T) {
	if isFleet(t) {
		t.Skip("the page is the same")
	}
	_, b, _ := portalTab(t)
	b.write("textarea", "Namaste!")
	b.play()
	b.play()
	b.get(`(() => { const rows = document.querySelectorAll('.play-takes li'); rows[0].querySelectorAll('[aria-pressed]')[0].click(); rows[1].querySelectorAll('[aria-pressed]')[1].click(); document.querySelector('h1').focus(); return ''; })()`, new(string))
	b.wait("both are chosen", `document.querySelectorAll('.play-takes li [aria-pressed=true]').length === 2`)
	heard := func() (n int) { b.get(`window.taken.length`, &n); return n }
	before := heard()
	for _, key := range []string{"a", "b"} {
		b.do(chromedp.KeyEvent(key))
		before++
		b.wait("take "+key, fmt.Sprintf(`window.taken.length === %d && document.querySelector('.play-button').dataset.state === 'idle'`, before))
	}
	b.do(chromedp.KeyEvent("g"), chromedp.KeyEvent("b"))
	b.wait("billing", `location.pathname.endsWith('/billing')`)
	if heard() != before {
		t.Error("g b has played a take")
	}
}

// TestExamples: they are a row of buttons, and a menu on a phone.
func TestExamples(t *testing.T) {
	if isFleet(t) {
		t.Skip("the page is the same")
	}
	_, b, _ := portalTab(t)
	b.do(chromedp.Click(`//*[@class="chip"][text()="Bank"]`))
	b.wait("the example of a bank", `document.querySelector('textarea').value.startsWith('A/C ')`)
	b.look(look{"light", "en", 390})
	b.do(chromedp.Click(".play-main .menu button"), chromedp.Click(".menu-list button:nth-child(2)"))
	b.wait("the example of a code", `!document.querySelector('.menu-list') && document.querySelector('textarea').value.includes('OTP 482913')`)
}

// TestBothSidesAreLinked: a span is marked on both sides, and its kind told, where the caret stands or the focus is.
func TestBothSidesAreLinked(t *testing.T) {
	if isFleet(t) {
		t.Skip("the page is the same")
	}
	_, b, _ := portalTab(t)
	b.write("textarea", "Total ₹499 hai.")
	b.wait("the preview", `document.querySelector('.play-chunks [data-span]')`)
	linked := `document.querySelectorAll('[data-span="0"].on').length === 2 && document.querySelector('[aria-labelledby=play-spoken] [role=status]').textContent === 'amount'`
	b.get(`(() => { const t = document.querySelector('textarea'); t.focus(); t.setSelectionRange(7, 7); return ''; })()`, new(string))
	b.do(chromedp.KeyEvent(kb.ArrowRight))
	b.wait("by the caret", linked)
	b.get(`(() => { const t = document.querySelector('textarea'); t.setRangeText('Kul', 0, 5); t.setSelectionRange(6, 6); t.dispatchEvent(new Event('input', {bubbles: true})); return ''; })()`, new(string))
	b.wait("by the caret, when the preview comes",
		linked+` && document.querySelector('.play-chunks li p')?.textContent.startsWith('Kul ')`)
	b.get(`(document.querySelector('textarea').blur(), '')`, new(string))
	b.wait("no longer", `!document.querySelector('[data-span].on')`)
	b.get(`(document.querySelector('.play-chunks [data-span]').focus(), '')`, new(string))
	b.wait("by the focus", linked)

	b.get(`(navigator.clipboard.writeText = async (text) => void (window.copied = text), '')`, new(string))
	b.do(chromedp.Click(`section[aria-labelledby=play-spoken] header button`))
	b.wait("what will be spoken is copied", `window.copied === [...document.querySelectorAll('.play-chunks li p')].map((p) => p.textContent).join('').trim() && window.copied.includes('चार सौ निन्यानबे रुपये')`)
	b.do(chromedp.Click(`.head .btn`))
	b.wait("the list of keys, by its button", `document.querySelector('dialog[open]')?.textContent.includes('Ctrl')`)
}
