//go:build e2e

package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// press presses the button of the page with a label.
func (b *tab) press(label string) {
	b.t.Helper()
	find := fmt.Sprintf(`[...document.querySelectorAll('#main button')].find((e) => e.textContent.trim() === %q && !e.disabled)`, label)
	b.wait("the button "+label, find)
	b.get(`(`+find+`.click(), '')`, new(string))
}

const (
	words     = "#main textarea"
	tryField  = "#main input:not([type=file])"
	isSaved   = `document.querySelector('#main textarea').value === %q && document.querySelector('#main').innerText.includes(%q)`
	chooseOne = `(() => {
	const input = document.querySelector('#main input[type=file]'), all = new DataTransfer();
	all.items.add(new File([%q], %q));
	input.files = all.files;
	return input.dispatchEvent(new Event('change', {bubbles: true}));
})()`
)

// tries shows what a text becomes with what is saved, which routers of a fleet know within a second.
func (b *tab) tries(label, text, want string) {
	b.t.Helper()
	b.write(tryField, text)
	shows := fmt.Sprintf(`[...document.querySelectorAll('#main [role=status] bdi')].some((e) => e.textContent === %q)`,
		want)
	for range 5 {
		b.press(label)
		b.wait("an answer", fmt.Sprintf(`[...document.querySelectorAll('#main button')].some((e) => e.textContent.trim() === %q && !e.disabled)`, label))
		var done bool
		if b.get(fmt.Sprintf(`(async () => {
	for (let i = 0; i < 10; i++, await new Promise((go) => setTimeout(go, 50))) if (%s) return true;
	return false;
})()`, shows), &done); done {
			return
		}
	}
	b.t.Errorf("%q is not shown as %q; the page shows %q", text, want, b.shown())
}

// TestLexiconPage: words are added, changed, imported and taken out, a change of somebody else is not overwritten,
// viewers read only, and all of it in Hindi.
func TestLexiconPage(t *testing.T) {
	p, b, org := portalTab(t)
	var project string
	b.get(fmt.Sprintf(inPortal, fmt.Sprintf(`
	await api('POST', '/orgs/%[1]s/members', {email: 'ravi@example.org', role: 'viewer'});
	return (await api('GET', '/me')).orgs.find((o) => o.id === %[1]q).projects[0].id;`, org)), &project)
	entries := func() (all string) {
		t.Helper()
		b.get(fmt.Sprintf(inPortal, fmt.Sprintf(`
	const l = await api('GET', '/projects/%s/lexicon');
	return l.version + ' ' + l.entries.map((e) => e.word + '=' + e.spoken + (e.lang ? '/' + e.lang : '')).join(' ');`, project)), &all)
		return all
	}
	save := func(text, version, want string) {
		t.Helper()
		b.write(words, text)
		b.press("Save")
		b.wait("it is saved", fmt.Sprintf(isSaved, text, version))
		if got := entries(); got != want {
			t.Errorf("the portal has %q, want %q", got, want)
		}
	}

	b.open(org, "lexicon")
	b.tries("Preview", "Zepto se", "Zepto se")
	save("Zepto, ज़ेप्टो\n", "Version 1, saved by", "1 Zepto=ज़ेप्टो")
	b.tries("Preview", "Zepto se aaya.", "ज़ेप्टो se aaya.")
	save("Zepto, ज़ेप्टोओ\n\"Tata, Sky\", टाटा स्काय, hi\n", "Version 2, saved by",
		"2 Zepto=ज़ेप्टोओ Tata, Sky=टाटा स्काय/hi")

	b.write(words, "Zepto\n")
	b.press("Save")
	b.wait("what is wrong", `document.querySelector('#main [role=alert], #main .err')?.textContent.includes('line 1 has 1 columns')`)
	b.forgive("400")
	b.open(org, "lexicon")

	const pls = `<lexicon version="1.0"><lexeme><grapheme>Ola</grapheme><alias>ओला</alias></lexeme><lexeme><grapheme>Uber</grapheme><phoneme>u</phoneme></lexeme></lexicon>`
	b.get(fmt.Sprintf(chooseOne, pls, "names.pls"), new(bool))
	b.press("Add these words")
	b.wait("what was left out", `[...document.querySelectorAll('#main [role=status] li')].some((e) => e.textContent.includes('Uber') && e.textContent.includes('phonemes'))`)
	b.wait("the words are there to be saved",
		fmt.Sprintf(`document.querySelector(%q).value.endsWith('Ola, ओला\n')`, words))
	b.get(fmt.Sprintf(chooseOne, "word,spoken\nKirana,किराना\nZEPTO,ज़ेप्टो दो\n", "more.csv"), new(bool))
	b.press("Add these words")
	b.wait("those of CSV, too, one of them in its place",
		fmt.Sprintf(`document.querySelector(%q).value.endsWith('Kirana, किराना\n')`, words))
	if got := entries(); !strings.HasPrefix(got, "2 ") {
		t.Errorf("an import that nobody has saved became %q", got)
	}
	b.press("Save")
	b.wait("the import is saved", `document.querySelector('#main').innerText.includes('Version 3, saved by')`)
	if got := entries(); got != "3 ZEPTO=ज़ेप्टो दो Tata, Sky=टाटा स्काय/hi Ola=ओला Kirana=किराना" {
		t.Errorf("the portal has %q", got)
	}

	// Somebody else was faster.
	b.get(fmt.Sprintf(inPortal, fmt.Sprintf(`await api('PUT', '/projects/%s/lexicon', {entries: [{word: 'Blinkit', spoken: 'ब्लिंकिट'}]}); return true;`, project)), new(bool))
	b.write(words, "Zepto, x y\n")
	b.press("Save")
	b.wait("the conflict", `document.querySelector('#main').innerText.includes('changed meanwhile')`)
	b.forgive("412")
	if got := entries(); got != "4 Blinkit=ब्लिंकिट" {
		t.Errorf("a change of somebody else became %q", got)
	}
	b.press("Reload and discard my changes")
	b.wait("what the other has saved", fmt.Sprintf(isSaved, "Blinkit, ब्लिंकिट\n", "Version 4, saved by"))
	save("", "Version 5, saved by", "5 ")
	b.tries("Preview", "Zepto hai.", "Zepto hai.")
	save("Zepto, ज़ेप्टो\n", "Version 6, saved by", "6 Zepto=ज़ेप्टो")

	guest := openTab(t, p.portalBase+"/signin")
	guest.do(chromedp.WaitVisible("input[type=email]"))
	guest.write("input[type=email]", "ravi@example.org")
	before := strings.Count(p.printed(), codeMark)
	guest.do(chromedp.Click("form button[type=submit]"), chromedp.WaitVisible(".codein"))
	guest.write(".codein", p.codeAfter(before))
	guest.do(chromedp.WaitVisible("textarea"))
	guest.open(org, "lexicon")
	guest.wait("viewers read only", `document.querySelector('#main textarea').readOnly && document.querySelector('#main textarea').value === 'Zepto, ज़ेप्टो\n' &&
	!document.querySelector('#main input[type=file]') && [...document.querySelectorAll('#main form button')].every((e) => e.disabled) && document.querySelector('#main').innerText.includes('You have read-only access')`)

	b.get(`(localStorage.setItem('swar.language', 'hi'), '')`, new(string))
	b.open(org, "lexicon")
	b.wait("in Hindi", `document.querySelector('#main h1').textContent.includes('उच्चारण सूची') && document.querySelector('#main').innerText.includes('शब्द, हर लाइन में एक (1 सहेजे हुए)')`)
	b.tries("देखें क्या बोला जाएगा", "Zepto par hai.", "ज़ेप्टो par hai.")
	b.write(words, "Zepto, ज़ेप्टो\nOla, ओला\n")
	b.press("सहेजें")
	b.wait("it is saved, in Hindi", `document.querySelector('#main').innerText.includes('संस्करण 7')`)
}
