//go:build e2e

package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// inSight is whether a thing can be seen and pressed where it is.
const inSight = `((e) => { const r = e.getBoundingClientRect(), x = r.left + r.width / 2, y = r.top + r.height / 2;
	return r.width > 0 && e.contains(document.elementFromPoint(x, y)); })(document.querySelector(%q))`

// TestPlayIsInSight: between typing and hearing lies no scrolling, however long the text is.
func TestPlayIsInSight(t *testing.T) {
	_, b, org := portalTab(t)
	for _, size := range [][2]int64{{1440, 900}, {360, 780}} {
		b.do(chromedp.EmulateViewport(size[0], size[1]))
		b.open(org, "playground")
		for _, sentences := range []int{1, 8, 90} {
			text := strings.Repeat("Aapka order ₹1,499 ka hai, OTP 482913 hai. ", sentences)
			b.write("textarea", text)
			b.wait("the preview", fmt.Sprintf(`document.querySelectorAll('.play-chunks li').length >= %d`,
				(sentences+2)/3))
			for _, at := range []string{"0", "innerHeight / 2", "document.body.scrollHeight / 2"} {
				var done bool
				b.get(fmt.Sprintf(`(scrollTo(0, %s), true)`, at), &done)
				b.wait(fmt.Sprintf("Play at %d px of width, %d sentences, scrolled by %s", size[0], sentences, at),
					fmt.Sprintf(inSight, ".play-button"))
			}
		}
	}
}

// TestFiguresAreOneLine: what people look at first is a sentence, and the rest is a press away.
func TestFiguresAreOneLine(t *testing.T) {
	_, b, _ := portalTab(t)
	b.write("textarea", "Namaste!")
	b.play()
	b.wait("the line", `/^\d+ ms to first audio · [\d.]+ paise · \d+ × real time/.test(document.querySelector('.play-line').textContent)`)
	b.wait("no details", `document.querySelector('.play-figures').checkVisibility() === false`)
	b.do(chromedp.Click(".play-line"))
	b.wait("the details", `document.querySelector('.play-figures').checkVisibility()`)
}

// TestProjectStays: who narrows a page to a project finds the next page narrowed to it, and the playground speaks with
// a key of it. Requests tell keys by their names.
func TestProjectStays(t *testing.T) {
	_, b, org := portalTab(t)
	b.furnish(org)
	b.open(org, "requests")
	b.wait("names of keys", `['ivr-production', 'order-updates'].every((n) => [...document.querySelectorAll('.rows .kx')].some((k) => k.textContent === n))`)
	b.open(org, "playground")
	var phone string
	b.get(`(() => { const s = document.querySelector('.controls select'); s.value = [...s.options].find((o) => o.text === 'Phone').value;
		s.dispatchEvent(new Event('change', {bubbles: true})); return s.value; })()`, &phone)
	b.wait("the project in the address", fmt.Sprintf(`location.search === '?project=%s'`, phone))
	b.wait("its name beside the organisation", `document.querySelector('.side .org').textContent.includes('Phone')`)
	b.write("textarea", "Namaste!")
	b.play()
	b.do(chromedp.Click(`nav.main a[href*="/requests"]`))
	b.wait("requests of the project only", fmt.Sprintf(`location.search === '?project=%s' &&
		[...document.querySelectorAll('.rows .kx')].some((k) => k.textContent === 'playground') &&
		![...document.querySelectorAll('.rows .kx')].some((k) => k.textContent === 'ivr-production')`, phone))
}

// TestPagesDoNotMove: what is read does not move when more of the page comes.
func TestPagesDoNotMove(t *testing.T) {
	_, b, org := portalTab(t)
	b.furnish(org)
	b.onNewDocument(watchShifts)
	for _, width := range []int64{1440, 390} {
		b.do(chromedp.EmulateViewport(width, 900))
		for _, page := range portalPages {
			b.open(org, page)
			b.rest()
			var shifts float64
			if b.get(`window.shifts`, &shifts); shifts > 0.05 {
				t.Errorf("%s at %d px: a layout shift of %.3f, want at most 0.05", page, width, shifts)
			}
		}
	}
}

// TestAxisOfScrolledBars: on phones the bars scroll, and the figures of the axis stay beside them.
func TestAxisOfScrolledBars(t *testing.T) {
	_, b, org := portalTab(t)
	b.furnish(org)
	for _, width := range []int64{360, 720} {
		b.do(chromedp.EmulateViewport(width, 800))
		b.open(org, "usage")
		b.wait(fmt.Sprintf("the axis at %d px", width), `(() => {
			const bars = document.querySelector('.cs'), axis = document.querySelectorAll('.axis span');
			const last = document.querySelector('[data-bar="29"]').getBoundingClientRect();
			return axis.length > 1 && bars.scrollWidth > bars.clientWidth && last.right <= innerWidth &&
				[...axis].every((s) => { const r = s.getBoundingClientRect(); return r.left >= 0 && r.right <= bars.getBoundingClientRect().left; });
		})()`)
		b.wait("type that can be read", `[...document.querySelectorAll('.ch text')].every((e) => e.getBoundingClientRect().height >= 10)`)
	}
}
