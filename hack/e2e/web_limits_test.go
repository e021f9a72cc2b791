//go:build e2e

package e2e

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	cdpage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// traffic counts what a page loads, but not what the page before it still does.
type traffic struct {
	mu       sync.Mutex
	requests []string
	bytes    float64 // of bodies as they were sent, which is compressed
}

func (b *tab) count() *traffic {
	b.t.Helper()
	c, heads := &traffic{}, map[network.RequestID]float64{}
	var page cdp.LoaderID
	chromedp.Listen(b.ctx, func(ev any) {
		c.mu.Lock()
		defer c.mu.Unlock()
		switch e := ev.(type) {
		case *network.EventRequestWillBeSent:
			if e.Type == network.ResourceTypeDocument {
				page = e.LoaderID
			}
			if e.LoaderID != page && e.LoaderID != "" { // a preflight has none
				return
			}
			heads[e.RequestID] = 0
			if strings.HasPrefix(e.Request.URL, "http") {
				c.requests = append(c.requests, e.Request.Method+" "+strings.TrimPrefix(e.Request.URL, b.base))
			}
		case *network.EventResponseReceived:
			if _, own := heads[e.RequestID]; own {
				heads[e.RequestID] = e.Response.EncodedDataLength
			}
		case *network.EventLoadingFinished:
			if head, own := heads[e.RequestID]; own {
				c.bytes += e.EncodedDataLength - head
			}
		}
	})
	return c
}

// onNewDocument has a script run before those of every page that is opened from now on.
func (b *tab) onNewDocument(script string) {
	b.t.Helper()
	if _, err := chromedp.Call(b.ctx, cdpage.AddScriptToEvaluateOnNewDocument,
		cdpage.AddScriptToEvaluateOnNewDocumentParams{Source: script}); err != nil {
		b.t.Fatal(err)
	}
}

const watchShifts = `window.shifts = 0; new PerformanceObserver((l) => { for (const e of l.getEntries()) if (!e.hadRecentInput) window.shifts += e.value; }).observe({type: 'layout-shift', buffered: true});`

// TestFirstLoad: the playground and the sign-in load no byte and no request above their budgets, and nothing moves
// while they do.
func TestFirstLoad(t *testing.T) {
	p, b, org := portalTab(t)
	for _, page := range []struct {
		signedIn bool
		address  string
		kb       float64
		requests int
	}{{true, "/app/" + org + "/playground", 60, 10}, {false, "/signin", 25, 10}} {
		from := b
		if !page.signedIn {
			from = openTab(t, p.portalBase+"/docs/")
		}
		if _, err := chromedp.Call(from.ctx, network.SetCacheDisabled,
			network.SetCacheDisabledParams{CacheDisabled: true}); err != nil {
			t.Fatal(err)
		}
		if page.signedIn { // a first visit has no key yet
			b.wait("a key", `Object.keys(sessionStorage).some((slot) => slot.startsWith('swar.play.'))`)
			b.get(`(sessionStorage.clear(), '')`, new(string))
		}
		from.onNewDocument(watchShifts)
		c := from.count()
		from.do(chromedp.Navigate(p.portalBase + page.address))
		from.wait("the page", `document.querySelector('h1')`)
		from.rest()
		var shifts float64
		from.get(`window.shifts`, &shifts)
		c.mu.Lock()
		t.Logf("%s: %d requests, %.1f KB, layout shift %.4f", page.address, len(c.requests), c.bytes/1000, shifts)
		if len(c.requests) > page.requests || len(c.requests) < 4 || c.bytes/1000 > page.kb || c.bytes < 10_000 ||
			shifts >= 0.02 {
			t.Errorf("%s: %d requests (at most %d), %.1f KB (at most %.0f), layout shift %.4f (below 0.02):\n%s",
				page.address, len(c.requests), page.requests, c.bytes/1000, page.kb, shifts,
				strings.Join(c.requests, "\n"))
		}
		c.mu.Unlock()
	}
}

// TestInsecureName: under a name that is not this machine's and without TLS there is no AudioWorklet and no clipboard;
// everything works, and a line says why TLS is better.
func TestInsecureName(t *testing.T) {
	p := startPortal(t, t.TempDir())
	key := p.firstKey()
	if isFleet(t) {
		t.Skip("the routers of this fleet are known under another name")
	}
	address := strings.Replace(p.portalBase, "127.0.0.1", "swar.test", 1)
	b := openTab(t, address+"/app/?with=key", chromedp.Flag("host-resolver-rules", "MAP swar.test 127.0.0.1"))
	b.do(chromedp.WaitVisible("input[type=password]"))
	b.write("input[type=password]", key)
	b.do(chromedp.Click("form button[type=submit]"), chromedp.WaitVisible("textarea"))
	var secure bool
	if b.get(`isSecureContext || navigator.clipboard !== undefined`, &secure); secure {
		t.Fatal("the page is secure, so that this tests nothing")
	}
	b.wait("the page says that TLS is missing", `document.querySelector('.play-note')?.textContent.includes('TLS')`)
	b.write("textarea", sentence)
	b.do(chromedp.Click(".play-button"))
	b.wait("a take was heard", `document.querySelector('.play-takes li') && document.querySelector('.play-button').dataset.state === 'idle'`)
	var first string
	if b.get(`document.querySelector('[data-figure=first] b').textContent`, &first); first == "–" {
		t.Error("no first sound was measured")
	}
	b.do(chromedp.Click(".play-files .end .btn"))
	b.wait("a field to copy from", `document.querySelector('.copy-field')?.value.includes('/app/')`)
}

// TestServerAway: a bar while the server cannot be reached, with what was typed kept; back again, everything goes on by
// itself.
func TestServerAway(t *testing.T) {
	_, b, org := portalTab(t)
	b.write("textarea", "Yeh draft rehna chahiye")
	offline := func(off bool) {
		t.Helper()
		all := &network.Conditions{Offline: off, DownloadThroughput: -1, UploadThroughput: -1}
		params := network.EmulateNetworkConditionsByRuleParams{MatchedNetworkConditions: []*network.Conditions{all}}
		if _, err := chromedp.Call(b.ctx, network.EmulateNetworkConditionsByRule, params); err != nil {
			t.Fatal(err)
		}
	}
	offline(true)
	b.do(chromedp.KeyEvent("\u001b"))
	b.get(fmt.Sprintf(`(document.querySelector('nav.main a[href="/app/%s/requests"]').click(), '')`, org), new(string))
	b.wait("the bar", `document.querySelector('[data-away]')`)
	offline(false)
	b.wait("it is back", `!document.querySelector('[data-away]') && document.querySelector('h1')?.textContent === 'Requests' && !document.querySelector('.err')`)
	b.wait("it is live", `document.querySelector('[data-live].on') && document.querySelector('.workers .dot.on')`)
	offline(true)
	b.wait("nothing looks alive", `document.querySelector('[data-away]') && document.querySelector('[data-live].off') && document.querySelector('.workers .dot.off')`)
	offline(false)
	b.wait("it is live again", `!document.querySelector('[data-away]') && document.querySelector('[data-live].on')`)
	b.get(fmt.Sprintf(`(document.querySelector('nav.main a[href="/app/%s/playground"]').click(), '')`, org),
		new(string))
	b.wait("the draft", `document.querySelector('textarea')?.value === 'Yeh draft rehna chahiye'`)
	b.mu.Lock()
	b.complaints = nil // of requests that found no server
	b.mu.Unlock()
}

// TestServerReplaced: a page that was open before the server became another one asks for files that are gone. It loads
// itself again, once, with the draft kept; where that does not help, a button does what the page cannot.
func TestServerReplaced(t *testing.T) {
	_, b, org := portalTab(t)
	b.write("textarea", "Yeh draft rehna chahiye")
	var began float64
	b.get(`performance.timeOrigin`, &began)
	block := func(patterns ...*network.BlockPattern) {
		t.Helper()
		if _, err := chromedp.Call(b.ctx, network.SetBlockedURLs,
			network.SetBlockedURLsParams{URLPatterns: patterns}); err != nil {
			t.Fatal(err)
		}
	}
	block(&network.BlockPattern{URLPattern: "*://*:*/assets/all-*.js", Block: true})
	b.get(fmt.Sprintf(`(document.querySelector('nav.main a[href="/app/%s/requests"]').click(), '')`, org), new(string))
	b.wait("loaded again, and a button", fmt.Sprintf(`performance.timeOrigin > %f && document.querySelector('#main .err button')`, began))
	var again float64
	b.get(`performance.timeOrigin`, &again)
	block()
	b.get(`(document.querySelector('#main .err button').click(), '')`, new(string))
	b.wait("requests", `document.querySelector('h1')?.textContent === 'Requests' && !document.querySelector('.err')`)
	b.get(fmt.Sprintf(`(document.querySelector('nav.main a[href="/app/%s/playground"]').click(), '')`, org),
		new(string))
	b.wait("the draft", fmt.Sprintf(`performance.timeOrigin === %f && document.querySelector('textarea')?.value === 'Yeh draft rehna chahiye'`, again))
	b.mu.Lock()
	b.complaints = nil // of the file that was gone
	b.mu.Unlock()
}

// manyRequests answers for the portal's list of requests with 50,000 of them.
const manyRequests = `
const ask = window.fetch;
window.asked = 0;
window.fetch = async (address, init) => {
	const u = new URL(address, location.href);
	if (!u.pathname.endsWith('/portal/v1/requests') || u.searchParams.has('from')) return ask(address, init);
	window.asked++;
	const at = Number(u.searchParams.get('cursor') ?? 0), limit = Number(u.searchParams.get('limit')), all = 50000;
	const row = (i) => ({request_id: 'req_' + i, ts: new Date(1790000000000 - i * 1000).toISOString(), org_id: 'o', project_id: 'p', key_id: 'k', key_prefix: 'swar_live_abc123', endpoint: 'rest',
		voice: 'anjura', format: 'wav', status: 'ok', chars: 40, chunks: 1, audio_s: 2.4, frames: 30, ttfa_ms: 12, queue_ms: 0, wall_ms: 50, rtf: 0.02, prefill_cached: true, seed: i, billed: true, billed_frames: 30, pod: 'x'});
	const requests = Array.from({length: Math.min(limit, all - at)}, (_, i) => row(at + i));
	return new Response(JSON.stringify({requests, ...(at + limit < all && {next_cursor: String(at + limit)})}), {headers: {'content-type': 'application/json'}});
};`

// TestManyRequests: of 50,000 rows at most 60 are in the document, wherever somebody has scrolled to, and all can be
// reached.
func TestManyRequests(t *testing.T) {
	_, b, org := portalTab(t)
	b.onNewDocument(manyRequests)
	b.open(org, "requests?paused=1")
	var got struct {
		Most, Rows, Asked int
		Last              string
	}
	b.get(`(async () => {
	const box = document.querySelector('.rows'), tick = () => new Promise((go) => requestAnimationFrame(() => setTimeout(go, 0)));
	let most = 0;
	for (let stuck = 0, before = 0; stuck < 20; stuck = box.scrollHeight === before ? stuck + 1 : 0) {
		before = box.scrollHeight;
		box.scrollTop = box.scrollHeight;
		await tick();
		most = Math.max(most, document.querySelectorAll('.rr-row').length);
	}
	for (let y = box.scrollHeight; y > 0; y -= 200000) { box.scrollTop = y; await tick(); most = Math.max(most, document.querySelectorAll('.rr-row').length); }
	box.scrollTop = box.scrollHeight;
	await tick(); await tick();
	return {Most: most, Rows: Math.round(box.scrollHeight / 44), Asked: window.asked, Last: [...document.querySelectorAll('[data-request]')].at(-1).dataset.request};
})()`, &got)
	if got.Most > 60 || got.Rows != 50_000 || got.Last != "req_49999" || got.Asked != 250 {
		t.Errorf("at most %d rows were in the document (60), of %d (50,000), the last %s, asked for with %d questions (250)", got.Most, got.Rows, got.Last, got.Asked)
	}
}
