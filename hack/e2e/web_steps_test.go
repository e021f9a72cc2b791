//go:build e2e

package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TestKeyInTheSignIn: the link below the sign-in leads to the page that takes an API key.
func TestKeyInTheSignIn(t *testing.T) {
	p := startPortal(t, t.TempDir())
	p.firstKey()
	b := openTab(t, p.portalBase+"/signin")
	b.do(chromedp.WaitVisible(".after a"), chromedp.Click(".after a"))
	b.wait("the page that takes a key", `location.search === '?with=key' && document.activeElement.matches('input[type=password]')`)
}

// TestSignInSaysWhatWorks: where no mail leaves, the page asks for no address that would get nothing, and says where a
// link comes from.
func TestSignInSaysWhatWorks(t *testing.T) {
	if isFleet(t) {
		t.Skip("the page is the same")
	}
	p := startPortal(t, t.TempDir())
	p.firstKey()
	for _, tt := range []struct {
		ways, says string
		asks       bool
	}{
		{`{"email":true,"links":true,"mail":"smtp","providers":[]}`, "", true},
		{`{"email":true,"links":true,"mail":"printed","providers":[]}`, "printed in the terminal", true},
		{`{"email":false,"links":true,"mail":"none","providers":[]}`, "swar signin-link ADDRESS", false},
		{`{"email":false,"links":false,"mail":"none","providers":[]}`, "Use an API key, or ask its administrator", false},
	} {
		b := openTab(t, "about:blank")
		b.onNewDocument(fmt.Sprintf(`const ask = window.fetch; window.fetch = (address, init) => address === '/auth/v1/ways' ? Promise.resolve(new Response(%q)) : ask(address, init);`, tt.ways))
		b.do(chromedp.Navigate(p.portalBase+"/signin"), chromedp.WaitVisible(".after a"))
		var shown struct {
			Note string
			Asks bool
		}
		b.get(`({Note: document.querySelector('.note')?.innerText ?? '', Asks: !!document.querySelector('input[type=email]')})`, &shown)
		if (tt.says == "") != (shown.Note == "") || !strings.Contains(shown.Note, tt.says) || shown.Asks != tt.asks {
			t.Errorf("%s: the page shows %+v", tt.ways, shown)
		}
	}
}

// TestTakesOutliveOtherPages: takes, figures, settings and events are there when somebody comes back from another page.
// What speaks, and how it ended, is said in words.
func TestTakesOutliveOtherPages(t *testing.T) {
	_, b, org := portalTab(t)
	b.write("textarea", "Namaste!")
	b.write(".play-side input[type=range]", "0.7")
	said := func(what string) {
		t.Helper()
		b.wait("it is said: "+what, fmt.Sprintf(`document.querySelector('.play-main [role=status][data-said]').textContent.startsWith(%q)`, what))
	}
	b.get(`(document.querySelector('.play-button').click(), '')`, new(string))
	said("Speaking")
	b.wait("it is over", `document.querySelector('.play-takes li')`)
	said("Finished, ")
	b.get(`(document.querySelector('nav.main a[href$="/keys"]').click(), '')`, new(string))
	b.wait("the keys", `document.querySelector('h1').textContent === 'API keys' && document.querySelector('tr[data-key]')`)
	b.get(`(document.querySelector('nav.main a[href$="/playground"]').click(), '')`, new(string))
	b.wait("the playground", `document.querySelector('textarea')`)
	var kept struct {
		Takes               int
		Events, Temperature string
	}
	b.get(`({Takes: document.querySelectorAll('.play-takes li').length, Events: document.querySelector('#tab-events .num').textContent, Temperature: document.querySelector('.play-side output').textContent})`, &kept)
	if kept.Takes != 1 || kept.Events == "0" || kept.Temperature != "0.70" {
		t.Errorf("kept is %+v, want one take, its events, and 0.70", kept)
	}
	b.do(chromedp.Click(".play-takes li button"))
	b.wait("the take of before is heard", `document.querySelector('.play-button').dataset.state === 'playing'`)
	said("Speaking")
	b.do(chromedp.KeyEvent(kb.Escape))
	said("Stopped after ")
	b.write("textarea", "Namaste! "+sentence)
	if again := b.play(); again.Underruns != "0" {
		t.Errorf("a take after the way back has %s underruns", again.Underruns)
	}
	b.wait("both takes", `document.querySelectorAll('.play-takes li').length === 2`)
	_ = org
}

// TestNothingToSay: a text that cannot be spoken says so before Play, and what of a text is not spoken is named.
func TestNothingToSay(t *testing.T) {
	_, b, _ := portalTab(t)
	b.write("textarea", "\U0001F600\U0001F600")
	b.wait("why it cannot be played", `document.querySelector('.play-button').disabled && document.querySelector('#play-reason')?.textContent === 'There is nothing to speak in this text.'`)
	b.write("textarea", "Namaste \u4f60\u597d")
	b.wait("what is left out", `document.querySelector('[data-unspoken]')?.textContent.includes('\u4f60') && !document.querySelector('.play-button').disabled`)
}

// TestLongNames: a name without a space makes a menu neither wider than it is nor lie beneath the page.
func TestLongNames(t *testing.T) {
	_, b, org := portalTab(t)
	b.get(fmt.Sprintf(inPortal, fmt.Sprintf(`await api('PATCH', '/orgs/%s', {name: 'A'.repeat(80)}); return '';`, org)),
		new(string))
	b.open(org, "playground")
	b.do(chromedp.Click(".side .org"))
	var hidden []string
	b.get(`(() => {
	const list = document.querySelector('.side .menu-list'), found = [];
	if (list.scrollWidth > list.clientWidth) found.push('scrolls sideways');
	for (const item of list.children) {
		const r = item.getBoundingClientRect();
		for (const x of [r.left + 2, r.right - 2]) if (!list.contains(document.elementFromPoint(x, (r.top + r.bottom) / 2))) found.push(item.textContent + ' is covered');
	}
	return found;
})()`, &hidden)
	if len(hidden) > 0 {
		t.Errorf("the menu: %q", hidden)
	}
}

// TestStatementOnPaper: what is printed says what it is, of when, and whose frames it bills; on white.
func TestStatementOnPaper(t *testing.T) {
	_, b, org := portalTab(t)
	b.furnish(org)
	b.wait("usage has come", fmt.Sprintf(`await `+inPortal,
		fmt.Sprintf(`return (await api('GET', '/usage?org_id=%s')).totals.requests === 5;`, org)))
	b.open(org, "billing")
	b.do(chromedp.Click("tr[data-month] button"))
	b.wait("whose frames", `document.querySelector('[data-by-key] tbody tr')`)
	var sheet struct {
		Title, Bill string
		Sum         int
	}
	b.get(`(() => {
	const n = (text) => Number(text.replaceAll(',', '')), facts = [...document.querySelectorAll('.sheet dl > div')];
	return {
		Title: document.querySelector('.sheet h3').textContent, Bill: facts.find((f) => f.querySelector('dt').textContent.startsWith('Frames')).querySelector('dd').textContent.replaceAll(',', ''),
		Sum: [...document.querySelectorAll('[data-by-key] tbody tr')].reduce((sum, r) => sum + n(r.lastChild.textContent), 0),
	};
})()`, &sheet)
	if fmt.Sprint(sheet.Sum) != sheet.Bill || !strings.HasPrefix(sheet.Title, "Statement for ") {
		t.Errorf("the sheet shows %+v", sheet)
	}
	if _, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia,
		emulation.SetEmulatedMediaParams{Media: "print"}); err != nil {
		t.Fatal(err)
	}
	var paper string
	if b.get(`getComputedStyle(document.querySelector('dialog')).backgroundColor`,
		&paper); paper != "rgb(255, 255, 255)" {
		t.Errorf("the paper is %s", paper)
	}
}

// TestSignOutLeavesNothing: what was typed is gone, and the playground's key is dead.
func TestSignOutLeavesNothing(t *testing.T) {
	p, b, _ := portalTab(t)
	b.write("textarea", "Secret OTP 999111 for Ravi")
	b.wait("the playground's key", `Object.keys(sessionStorage).some((k) => k.startsWith('swar.play.'))`)
	b.do(chromedp.Click("textarea"))
	b.wait("the socket", `document.querySelector('[data-socket=open]')`)
	var key string
	b.get(`JSON.parse(sessionStorage.getItem(Object.keys(sessionStorage).find((k) => k.startsWith('swar.play.')))).key`,
		&key)
	b.do(chromedp.Click(".side .account"), chromedp.Click("[data-sign-out]"))
	b.wait("signed out", `location.pathname === '/signin' && document.querySelector('input[type=email]')`)
	var kept string
	if b.get(`JSON.stringify(sessionStorage)`, &kept); kept != "{}" {
		t.Errorf("the tab keeps %s", kept)
	}
	var status int
	if b.get(fmt.Sprintf(`fetch(%q + '/v1/normalize', {method: 'POST', headers: {'x-api-key': %q}, body: '{"text":"Namaste"}'}).then((r) => r.status)`, p.base, key), &status); status != http.StatusUnauthorized {
		t.Errorf("the key of who has signed out is answered with %d", status)
	}
	b.forgive("401")
}

// slowSignOut delays the answers that end keys by a second, so that what still runs in the page uses keys that have
// ended; and, where the window says so, new keys, previews before they are sent, and sockets as they open.
const slowSignOut = `
const ask = window.fetch, later = (ms) => new Promise((go) => setTimeout(go, ms ?? 0));
window.fetch = async (address, init) => {
	const path = new URL(address, location.href).pathname;
	if (path === '/v1/normalize') await later(window.slowPreview);
	const answer = await ask(address, init);
	if (path === '/auth/v1/logout' || init?.method === 'DELETE') await later(1000);
	if (path !== '/portal/v1/playground-key') return answer;
	localStorage.minted = (await answer.clone().json()).key;
	await later(window.slowKey);
	return answer;
};
window.WebSocket = class extends WebSocket {
	set onopen(told) { super.onopen = () => { localStorage.opened = 'yes'; setTimeout(told, window.slowSocket ?? 0); }; }
	close(code) { localStorage.closed = code; super.close(code); }
};`

// typedAndOut signs out right after a key press, when the preview has yet to be asked for.
const typedAndOut = `(async () => {
	const field = document.querySelector('textarea');
	field.value += ' Namaste!';
	field.dispatchEvent(new Event('input', {bubbles: true}));
	document.querySelector('.side .account').click();
	for (let i = 0; i < 2; i++) await new Promise(requestAnimationFrame);
	await new Promise((go) => setTimeout(go, 20));
	document.querySelector('[data-sign-out]').click();
	return '';
})()`

// TestSignOutStopsWhatRuns: what the page still does with its key as somebody signs out ends before the key does, and
// nothing follows.
func TestSignOutStopsWhatRuns(t *testing.T) {
	for _, tt := range []struct{ what, slow, until string }{
		{"a preview waits for the next key press, a socket opens", `window.slowSocket = 300`, `localStorage.opened`},
		{"a preview is on its way", `window.slowPreview = 300`, `true`},
		{"a key is being made", `sessionStorage.clear(); window.slowKey = 500`, `localStorage.minted`},
	} {
		t.Run(tt.what, func(t *testing.T) {
			p, b, org := portalTab(t)
			b.get(`(localStorage.removeItem('minted'), '')`, new(string))
			b.onNewDocument(slowSignOut + tt.slow)
			b.do(chromedp.Navigate(b.base + "/app/" + org + "/playground"))
			b.wait("the page", `document.querySelector('textarea') && (localStorage.minted || Object.keys(sessionStorage).some((k) => k.startsWith('swar.play.')))`)
			if tt.until == `localStorage.opened` {
				b.do(chromedp.Focus("textarea"))
			}
			b.wait("it runs", tt.until)
			b.get(typedAndOut, new(string))
			b.wait("signed out", `location.pathname === '/signin' && document.querySelector('input[type=email]')`)
			var left struct{ Session, Key, Opened, Closed string }
			b.get(`({Session: JSON.stringify(sessionStorage), Key: localStorage.minted ?? '', Opened: localStorage.opened ?? '', Closed: localStorage.closed ?? ''})`, &left)
			if left.Session != "{}" || left.Opened != "" && left.Closed != "1000" {
				t.Errorf("left is %+v, want an empty session, and a socket that the page has closed", left)
			}
			if left.Key == "" {
				return
			}
			if res := p.speakWith(left.Key); res != http.StatusUnauthorized {
				t.Errorf("a key that was being made is answered with %d", res)
			}
		})
	}
}

// TestNewKeyIsNotLostByAccident: the focus is on Copy, what was copied is said in the dialog, and who closes without
// copying is asked there.
func TestNewKeyIsNotLostByAccident(t *testing.T) {
	_, b, org := portalTab(t)
	b.open(org, "keys")
	b.do(chromedp.Click("[data-create]"))
	b.wait("the form", `document.activeElement.matches('dialog input')`)
	b.write("dialog input", "IVR")
	b.do(chromedp.KeyEvent(kb.Enter))
	b.wait("the focus is on Copy", `document.querySelector('[data-secret]') && document.activeElement === document.querySelector('.secret button')`)
	leaves := func() (asked bool) {
		b.get(`!dispatchEvent(new Event('beforeunload', {cancelable: true}))`, &asked)
		return asked
	}
	if !leaves() {
		t.Error("the browser leaves the page without a question")
	}
	b.do(chromedp.KeyEvent(kb.Escape))
	b.wait("the question", `document.querySelector('dialog .leaving')?.contains(document.activeElement)`)
	b.do(chromedp.KeyEvent(kb.Escape))
	b.wait("it stays", `!document.querySelector('.leaving') && document.querySelector('[data-secret]')`)
	for _, language := range []string{"curl", "Go", "Python", "JavaScript", ".env"} {
		var lines []string
		b.get(fmt.Sprintf(`(async () => {
	[...document.querySelectorAll('dialog [role=tab]')].find((x) => x.textContent === %q).click();
	await new Promise((go) => setTimeout(go, 50));
	return [...document.querySelectorAll('dialog .lines')].flatMap((l) => l.querySelector('button') ? [l.querySelector('pre').textContent] : []);
})()`, language), &lines)
		last := lines[len(lines)-1]
		if isFile := language != "curl" && language != ".env"; isFile &&
			(len(lines) != 2 || strings.Contains(last, "export ") || strings.Contains(last, "swar_live_")) {
			t.Errorf("%s: the parts to copy are %q", language, lines)
		}
	}
	b.get(`(Object.defineProperty(navigator, 'clipboard', {value: {writeText: async () => {}}}), document.querySelector('.secret button').click(), '')`, new(string))
	b.wait("it is said in the dialog", `document.querySelector('dialog .toast').textContent === 'Copied' && document.querySelectorAll('.toast.on').length === 1`)
	var ticked bool
	if b.get(`document.querySelector('dialog input[type=checkbox]').checked`, &ticked); ticked {
		t.Error("copying says that the key is stored")
	}
	b.wait("the browser asks about no key that was copied",
		`dispatchEvent(new Event('beforeunload', {cancelable: true}))`)
	b.do(chromedp.KeyEvent(kb.Escape))
	b.wait("it closes", `!document.querySelector('dialog')`)
}

// TestFiftyKeys: whoever has as many as may be reads so before filling in a form.
func TestFiftyKeys(t *testing.T) {
	_, b, org := portalTab(t)
	var made int
	b.get(fmt.Sprintf(inPortal, fmt.Sprintf(`
	const {orgs} = await api('GET', '/me'), project_id = orgs.find((o) => o.id === %q).projects[0].id;
	let made = 0;
	for (let i = 0; i < 48; i++, made++) await api('POST', '/keys', {project_id, name: 'k' + i, voices: []});
	return made;`, org)), &made)
	b.open(org, "keys")
	b.wait("49 of 50", `document.querySelectorAll('tr[data-key]').length === 49 && !document.querySelector('[data-create]').disabled`)
	b.get(fmt.Sprintf(inPortal, fmt.Sprintf(`
	const {orgs} = await api('GET', '/me');
	await api('POST', '/keys', {project_id: orgs.find((o) => o.id === %q).projects[0].id, name: 'last', voices: []});
	return 1;`, org)), &made)
	b.open(org, "keys")
	b.wait("50 of 50", `document.querySelector('[data-create]').disabled && document.querySelector('.why').textContent.startsWith('50 of 50')`)
}

// TestViewersAskForNothingThatIsRefused: pages that viewers and members may not see say so, and ask for nothing.
func TestViewersAskForNothingThatIsRefused(t *testing.T) {
	p, b, org := portalTab(t)
	for _, role := range []string{"viewer", "member"} {
		email := role + "@example.org"
		b.get(fmt.Sprintf(inPortal, fmt.Sprintf(`await api('POST', '/orgs/%s/members', {email: %q, role: %q}); return '';`, org, email, role)), new(string))
		guest := openTab(t, p.portalBase+"/signin")
		guest.do(chromedp.WaitVisible("input[type=email]"))
		guest.write("input[type=email]", email)
		before := strings.Count(p.printed(), codeMark)
		guest.do(chromedp.Click("form button[type=submit]"), chromedp.WaitVisible(".codein"))
		guest.write(".codein", p.codeAfter(before))
		guest.do(chromedp.WaitVisible("textarea"))
		for _, page := range portalPages { // a request that is refused is a complaint
			guest.open(org, page)
		}
		guest.open(org, "audit")
		guest.wait("who may see it", `document.querySelector('[data-locked]')?.textContent.includes('Owners only') && !document.querySelector('.err')`)
	}
}

var (
	fenced = regexp.MustCompile("(?s)```(\\w+)\n(.*?)```")
	local  = "http://127.0.0.1:8080"
)

// TestExamplesOfTheDocumentationRun: each is copied as it stands, with the server's address and a key in its place, and
// makes a whole file or sound.
func TestExamplesOfTheDocumentationRun(t *testing.T) {
	if isFleet(t) {
		t.Skip("the documentation is the same")
	}
	p := startPortal(t, t.TempDir())
	key := p.firstKey()
	b := openTab(t, p.portalBase+"/docs/api")
	b.wait("examples call this server", fmt.Sprintf(`document.querySelector('pre').textContent.includes(%q) && ![...document.querySelectorAll('pre')].some((e) => e.textContent.includes(%q))`, p.base+"/v1/tts", local))
	api, err := os.ReadFile("../../docs/api.md")
	if err != nil {
		t.Fatal(err)
	}
	ran := map[string]bool{}
	for _, found := range fenced.FindAllStringSubmatch(string(api), -1) {
		language := map[string]string{"python": "Python", "js": "JavaScript", "go": "Go"}[found[1]]
		if language == "" || !strings.Contains(found[2], "take.wav") {
			continue
		}
		ran[language] = true
		t.Run(language, func(t *testing.T) {
			statesItsLength(t, runSnippet(t, language, strings.ReplaceAll(found[2], local, p.base), key))
		})
	}
	if len(ran) != 3 {
		t.Errorf("there are examples in %v, want three languages", ran)
	}
}

// heardSoFar has a page tell how far its sound has come.
const heardSoFar = `
const Old = window.AudioContext;
window.AudioContext = class extends Old { constructor(o) { super(o); window.speaker = this; } };`

// TestSocketExampleSounds: the page of the documentation, in a browser that lets nothing sound before a click.
func TestSocketExampleSounds(t *testing.T) {
	if isFleet(t) {
		t.Skip("the documentation is the same")
	}
	p := startPortal(t, t.TempDir())
	key := p.firstKey()
	socket, err := os.ReadFile("../../docs/websocket.md")
	if err != nil {
		t.Fatal(err)
	}
	var page string
	for _, found := range fenced.FindAllStringSubmatch(string(socket), -1) {
		if found[1] == "html" {
			page = strings.NewReplacer("ws://127.0.0.1:8080", "ws"+strings.TrimPrefix(p.base, "http"), `"KEY"`,
				fmt.Sprintf("%q", key)).Replace(found[2])
		}
	}
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" {
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, page)
		}
	}))
	t.Cleanup(site.Close)
	b := openTab(t, site.URL, chromedp.Flag("autoplay-policy", "document-user-activation-required"))
	b.onNewDocument(heardSoFar)
	b.do(chromedp.Navigate(site.URL))
	press := func(button string) {
		t.Helper()
		b.get(fmt.Sprintf(`(document.querySelector(%q).focus(), '')`, button), new(string))
		b.do(chromedp.KeyEvent(kb.Enter))
	}
	press("#speak")
	b.wait("it sounds", `window.speaker?.state === 'running' && window.speaker.currentTime > 0.3`)
	press("#stop")
	press("#speak")
	b.wait("it can be stopped and begun again", `window.speaker.state === 'running'`)
}
