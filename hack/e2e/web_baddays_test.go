//go:build e2e

package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestOlderBrowser: without <dialog> the pages say one sentence in both languages, and ask for nothing.
func TestOlderBrowser(t *testing.T) {
	p := startPortal(t, t.TempDir())
	p.firstKey()
	b := openTab(t, p.portalBase+"/signin")
	b.onNewDocument(`delete window.HTMLDialogElement;`)
	for _, path := range []string{"/signin", "/app/", "/setup"} {
		b.do(chromedp.Navigate(p.portalBase + path))
		b.wait(path, `document.readyState === 'complete' && getComputedStyle(document.querySelector('#app .old')).opacity === '1'`)
		var said struct {
			English, Hindi, Alone bool
		}
		b.get(`(() => {
	const text = document.querySelector('#app').innerText;
	return {English: text.includes('This page needs a browser of 2022 or newer.'), Hindi: text.includes('2022 या उसके बाद का ब्राउज़र चाहिए'), Alone: !document.querySelector('input, button')};
})()`, &said)
		if !said.English || !said.Hindi || !said.Alone {
			t.Errorf("%s: an older browser is told %+v", path, said)
		}
	}
}

// busySocket refuses the first two utterances for want of a worker.
const busySocket = `
window.refusals = [];
window.WebSocket = class extends WebSocket {
	send(text) {
		const m = JSON.parse(text);
		if (m.type !== 'speak' || window.refusals.length >= 2) return super.send(text);
		window.refusals.push(performance.now());
		setTimeout(() => this.onmessage({data: JSON.stringify({type: 'error', request_id: m.request_id, status: 503, code: 'busy', error: 'all workers are busy', retry_after: 1})}), 5);
	}
};`

// TestBusy: the page says that nothing was billed, tries once by itself when it was told to, and then leaves it to a
// button.
func TestBusy(t *testing.T) {
	_, b, org := portalTab(t)
	b.onNewDocument(busySocket)
	b.open(org, "playground")
	b.write("textarea", sentence)
	b.do(chromedp.Click(".play-button"))
	const said = `document.querySelector('.play-error p')?.textContent === 'All workers are busy. Nothing was billed.'`
	b.wait("the sentence at once", `window.refusals.length === 1 && `+said+` && document.querySelector('.play-error').textContent.includes('Trying again in 1 s')`)
	b.wait("one more try", `window.refusals.length === 2 && `+said+` && !document.querySelector('.play-error').textContent.includes('Trying again')`)
	var waited float64
	if b.get(`window.refusals[1] - window.refusals[0]`, &waited); waited < 1000 {
		t.Errorf("it tried again after %.0f ms, and was told to wait for a second", waited)
	}
	b.do(chromedp.Click(".play-error button"))
	b.wait("a take was heard", `document.querySelector('.play-takes li') && document.querySelector('.play-button').dataset.state === 'idle' && !document.querySelector('.play-error')`)
	var billed int
	b.wait("one request is in the list", fmt.Sprintf(`await `+inPortal,
		fmt.Sprintf(`return (await api('GET', '/requests?org_id=%s')).requests.length === 1;`, org)))
	if b.get(`window.refusals.length`, &billed); billed != 2 {
		t.Errorf("%d utterances were refused", billed)
	}
}

// endedKey closes the socket in the middle of the first utterance, as a server does when the key has ended, and counts
// the keys that the page asks for.
const endedKey = `
window.minted = 0;
const ask = window.fetch;
window.fetch = (address, init) => { if (String(address).endsWith('/portal/v1/playground-key')) window.minted++; return ask(address, init); };
window.cut = false;
window.WebSocket = class extends WebSocket {
	set onmessage(told) {
		let blocks = 0;
		super.onmessage = (e) => {
			if (window.cut || typeof e.data === 'string' || ++blocks < 3) return told(e);
			window.cut = true;
			super.onmessage = null;
			const closed = this.onclose;
			this.onclose = null;
			super.close();
			closed({code: 1008});
		};
	}
};`

// TestKeyEndsWhileItSpeaks: the page says that its key has ended, asks for one new key, and the next take is whole.
func TestKeyEndsWhileItSpeaks(t *testing.T) {
	_, b, org := portalTab(t)
	b.onNewDocument(endedKey)
	b.open(org, "playground")
	b.wait("a key", `Object.keys(sessionStorage).some((k) => k.startsWith('swar.play.'))`)
	var before, after int
	b.get(`window.minted`, &before)
	b.write("textarea", strings.Repeat(sentence+" ", 5))
	b.do(chromedp.Click(".play-button"))
	b.wait("what happened", `document.querySelector('.play-error p')?.textContent.startsWith('Your playground session expired during speech')`)
	b.write("textarea", sentence)
	b.do(chromedp.Click(".play-error button"))
	b.wait("a take is whole", `document.querySelector('.play-takes li') && document.querySelector('.play-button').dataset.state === 'idle' && !document.querySelector('.play-error')`)
	if b.get(`window.minted`, &after); after != before+1 {
		t.Errorf("%d new keys were asked for", after-before)
	}
}

// yearOfUsage answers for the portal's usage with 400 days of nine keys.
const yearOfUsage = `
const ask = window.fetch;
window.asked = [];
window.fetch = async (address, init) => {
	const u = new URL(address, location.href);
	if (u.pathname !== '/portal/v1/usage') return ask(address, init);
	window.asked.push(u.search);
	const from = Number(u.searchParams.get('from')), to = Number(u.searchParams.get('to')), days = Math.round((to - from) / 86400);
	const by_day = Array.from({length: days}, (_, i) => ({date: new Date((from + 19800 + i * 86400) * 1000).toISOString().slice(0, 10), requests: i + 1, frames: 750 * (i + 1), billed_frames: 750 * (i + 1), amount_paise: 20 * (i + 1), errors: 0, cancelled: 0, ttfa_p50_ms: 12, ttfa_p95_ms: 30}));
	const all = {requests: 80200, frames: 750 * 80200, billed_frames: 750 * 80200, amount_paise: 20 * 80200, errors: 0, cancelled: 0};
	const series = Array.from({length: 9}, (_, k) => ({id: k < 8 ? 'key_' + k : 'other', name: 'Key ' + k, frames: by_day.map((d) => Math.floor(d.frames / 9)), billed_frames: by_day.map((d) => Math.floor(d.frames / 9))}));
	return new Response(JSON.stringify({from, to, totals: all, by_day, by_key: [], by_voice: [], by_endpoint: [], series, ttfa_p50_ms: 12, ttfa_p95_ms: 30}), {headers: {'content-type': 'application/json'}});
};`

// TestYearOfUsage: of 400 days at most 60 are rows at once, all can be reached, and the page asks for them once.
func TestYearOfUsage(t *testing.T) {
	_, b, org := portalTab(t)
	b.onNewDocument(yearOfUsage)
	b.open(org, "usage?range=2025-10-20.2026-11-23")
	b.wait("the chart", `document.querySelectorAll('[data-bar] rect').length > 0`)
	var got struct {
		Most, Rows, Asked int
		First, Last       string
	}
	b.get(`(async () => {
	const tick = () => new Promise((go) => requestAnimationFrame(() => setTimeout(go, 0)));
	[...document.querySelectorAll('#main .card header .btn')].find((b) => b.textContent.trim() === 'Table').click();
	await tick();
	const seen = new Set();
	let most = 0, first = '';
	for (let n = 0; n < 20; n++) {
		const rows = [...document.querySelectorAll('.days tbody tr')];
		most = Math.max(most, rows.length);
		first ||= rows[0].textContent;
		rows.forEach((r) => seen.add(r.cells[0].textContent));
		const older = document.querySelector('[data-older]');
		if (older.disabled) return {Most: most, Rows: seen.size, Asked: window.asked.length, First: first, Last: rows.at(-1).textContent};
		older.click();
		await tick();
	}
})()`, &got)
	if got.Most > 60 || got.Rows != 400 || got.Asked != 2 {
		t.Errorf("at most %d rows (60), %d days in all (400), %d questions (2: the range and the one before it); from %q to %q", got.Most, got.Rows, got.Asked, got.First, got.Last)
	}
}
