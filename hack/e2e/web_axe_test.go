//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

const axeFile = "../../portal/web/node_modules/axe-core/axe.min.js"

// A look is one way of looking at a page.
type look struct {
	theme, language string
	width           int64
}

// pairwise are looks in which every two values of two of the three meet.
var pairwise = []look{{"light", "en", 320}, {"light", "hi", 390}, {"light", "en", 1440}, {"dark", "hi", 320},
	{"dark", "en", 390}, {"dark", "hi", 1440}}

// looks are all of them with SWAR_E2E_WEB=full, else those that page number i gets: over all pages each comes up.
func looks(i int) (all []look) {
	if os.Getenv("SWAR_E2E_WEB") != "full" {
		return []look{pairwise[i%len(pairwise)], pairwise[(i+3)%len(pairwise)]}
	}
	for _, theme := range []string{"light", "dark"} {
		for _, language := range []string{"en", "hi"} {
			for _, width := range []int64{320, 390, 1440} {
				all = append(all, look{theme, language, width})
			}
		}
	}
	return all
}

// TestAxe finds nothing to complain about on any page, nor anything that is wider than the window.
func TestAxe(t *testing.T) {
	axe, err := os.ReadFile(axeFile)
	if err != nil {
		t.Skipf("axe-core is not installed (npm ci in portal/web): accessibility is NOT TESTED: %v", err)
	}
	_, b, org := portalTab(t)
	b.furnish(org)
	out := openTab(t, b.base+"/signin")
	type page struct {
		tab     *tab
		address string
	}
	pages := []page{{b, "/"}, {b, "/docs/"}, {b, "/docs/api"}, {b, "/app/" + org + "/nothing"},
		{b, "/app/" + org + "/keys?new=1"}, {b, "/app/" + org + "/billing"}, {out, "/signin"}, {out, "/setup#x"},
		{out, "/app/?with=key"}}
	for _, name := range portalPages {
		pages = append(pages, page{b, "/app/" + org + "/" + name})
	}
	for i, p := range pages {
		for _, l := range looks(i) {
			p.tab.look(l)
			p.tab.do(chromedp.Navigate(p.tab.base + p.address))
			p.tab.wait(p.address, `document.querySelector('h1') && !document.querySelector('.sk')`)
			p.tab.axe(string(axe), fmt.Sprintf("%s, %s, %s, %d px", p.address, l.theme, l.language, l.width))
		}
	}
	b.forgive("404") // the page that is not there
}

// TestAxeOnWhatOpens looks at what no address opens: a take that was heard, its events, menus, and what stands in front
// of a page.
func TestAxeOnWhatOpens(t *testing.T) {
	if isFleet(t) {
		t.Skip("the pages are the same")
	}
	axe, err := os.ReadFile(axeFile)
	if err != nil {
		t.Skipf("axe-core is not installed (npm ci in portal/web): accessibility is NOT TESTED: %v", err)
	}
	_, b, org := portalTab(t)
	b.furnish(org)
	b.wait("the requests are listed", fmt.Sprintf(`(await `+inPortal+`)`,
		fmt.Sprintf(`return (await api('GET', '/requests?org_id=%s')).requests.length === 5;`, org)))
	click := func(what string) string { return fmt.Sprintf(`document.querySelector(%q).click()`, what) }
	press := func(key, more string) string {
		return fmt.Sprintf(`document.body.dispatchEvent(new KeyboardEvent('keydown', {key: %q, bubbles: true, %s}))`,
			key, more)
	}
	opened := `document.querySelector('dialog[open], .menu-list')`
	for _, what := range []struct{ page, do, until string }{
		{"playground", click(".play-button"), `document.querySelector('.play-button').dataset.state === 'playing'`},
		{"playground", click("#tab-events"), `document.querySelector('#panel-events').checkVisibility()`},
		{"playground", press("k", "ctrlKey: true"), opened}, {"playground", press("?", ""), opened}, {"playground", click(".account"), opened}, {"playground", click(".org"), opened},
		{"playground", click(".play-main .menu button"), opened},
		{"keys", click("tr[data-key] .menu button"), opened}, {"requests", click("[data-request]"), `document.querySelector('dialog .timing')`},
		{"billing", click("tr[data-month] button"), opened}, {"members", click("[data-create]"), opened}, {"voices", click("[data-create]"), opened},
		{"usage", click("#main .card header .btn"), `document.querySelector('.days')`},
	} {
		for _, l := range []look{{"light", "en", 1440}, {"dark", "hi", 390}} {
			b.look(l)
			b.open(org, what.page)
			b.rest()
			b.get(`(`+what.do+`, '')`, new(string))
			b.wait(what.page+": "+what.do, what.until)
			b.axe(string(axe), fmt.Sprintf("%s after %s, %s, %s, %d px", what.page, what.do, l.theme,
				l.language, l.width))
		}
	}
}

// TestAxeOnNewKey looks at a key that was just made, and at the question of who closes its dialog.
func TestAxeOnNewKey(t *testing.T) {
	axe, err := os.ReadFile(axeFile)
	if err != nil {
		t.Skipf("axe-core is not installed (npm ci in portal/web): accessibility is NOT TESTED: %v", err)
	}
	_, b, org := portalTab(t)
	for _, l := range []look{{"light", "en", 1440}, {"dark", "hi", 390}} {
		b.look(l)
		b.open(org, "keys")
		b.do(chromedp.Click("[data-create]"))
		b.wait("the form", `document.activeElement.matches('dialog input')`)
		b.write("dialog input", "ivr")
		b.do(chromedp.KeyEvent(kb.Enter))
		b.wait("the key", `document.querySelector('[data-secret]')`)
		b.get(`([...document.querySelectorAll('dialog [role=tab]')].find((x) => x.textContent === 'Python').click(), '')`, new(string))
		b.do(chromedp.KeyEvent(kb.Escape))
		b.wait("the question", `document.querySelector('.leaving') && document.querySelectorAll('.lines').length === 2`)
		b.rest()
		b.axe(string(axe), fmt.Sprintf("a new key, %s, %s, %d px", l.theme, l.language, l.width))
		b.do(chromedp.Click(".leaving .bad"))
	}
}

func (b *tab) look(l look) {
	b.t.Helper()
	size := emulation.SetDeviceMetricsOverrideParams{Width: l.width, Height: 900, DeviceScaleFactor: 1,
		Mobile: l.width < 900}
	if _, err := chromedp.Call(b.ctx, emulation.SetDeviceMetricsOverride, size); err != nil {
		b.t.Fatal(err)
	}
	var done bool
	b.get(fmt.Sprintf(`(localStorage.setItem('swar.theme', %q), localStorage.setItem('swar.language', %q), true)`,
		l.theme, l.language), &done)
}

func (b *tab) axe(script, where string) {
	b.t.Helper()
	if _, err := chromedp.Run(b.ctx, chromedp.Evaluate[json.RawMessage](script+";0")); err != nil {
		b.t.Fatal(err)
	}
	var findings []string
	b.get(`axe.run(document, {resultTypes: ['violations']}).then((r) => r.violations.flatMap((v) => v.nodes.map((n) => v.id + ' (' + v.impact + '): ' + n.html.slice(0, 160) + ' ' + n.failureSummary.slice(0, 300))))`, &findings)
	for _, f := range findings {
		b.t.Errorf("%s: %s", where, f)
	}
	var wide int
	if b.get(`document.documentElement.scrollWidth - innerWidth`, &wide); wide > 0 {
		b.t.Errorf("%s: %d px wider than the window", where, wide)
	}
}
