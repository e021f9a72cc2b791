//go:build e2e

package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/gorilla/websocket"
)

// patience is how long a page may take for anything: far above what it takes on a busy machine.
const patience = 30 * time.Second

// wait is until a script is true, also where the page goes to another address meanwhile.
func (b *tab) wait(what, script string) {
	b.t.Helper()
	look := `(async () => {
	for (const end = performance.now() + 500; performance.now() < end; await new Promise((go) => setTimeout(go, 25))) if (` + script + `) return true;
	return false;
})()`
	for end := time.Now().Add(patience); time.Now().Before(end) && b.ctx.Err() == nil; {
		if done, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool](look, chromedp.EvalAwaitPromise)); err == nil &&
			done {
			return
		}
	}
	b.t.Fatalf("%s: not after %v; the page shows %q", what, patience, b.shown())
}

// shown is what can be read on the page, or in what is open on it, and what has the focus.
func (b *tab) shown() (text string) {
	b.t.Helper()
	b.get(`location.pathname + ' ' + (document.querySelector('dialog, .menu-list') ?? document.querySelector('#main') ?? document.body).innerText.slice(0, 600) + ' | ' + document.activeElement.outerHTML.slice(0, 200)`, &text)
	return text
}

// open shows a page of the organisation, as the navigation does.
func (b *tab) open(org, page string) {
	b.t.Helper()
	b.do(chromedp.Navigate(b.base + "/app/" + org + "/" + page))
	b.wait(page, `document.querySelector('#main h1') && !document.querySelector('.sk')`)
}

// portalTab is a tab of the owner of a new organisation.
func portalTab(t *testing.T) (p *portal, b *tab, org string) {
	t.Helper()
	p = startPortal(t, t.TempDir())
	p.firstKey()
	printed := p.printed()
	if isFleet(t) {
		printed = p.swar("setup-link")
	}
	b = openTab(t, setupLink.FindString(printed))
	return p, b, b.enter()
}

// speakWith speaks with a key and returns the status.
func (p *portal) speakWith(key string) int {
	p.t.Helper()
	resp, err := p.begin(key, "Namaste!")
	if err != nil {
		p.t.Fatal(err)
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		p.t.Fatal(err)
	}
	return resp.StatusCode
}

// socketWith speaks on a socket, which stays open.
func (p *portal) socketWith(key string) *websocket.Conn {
	p.t.Helper()
	conn, _, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(p.base, "http")+"/v1/tts/stream",
		http.Header{"X-Api-Key": {key}})
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { conn.Close() })
	if err := conn.WriteJSON(map[string]any{"type": "speak", "text": sentence, "request_id": "r1"}); err != nil {
		p.t.Fatal(err)
	}
	if _, _, err := conn.ReadMessage(); err != nil {
		p.t.Fatal(err)
	}
	return conn
}

// closeCode reads a socket to its end.
func closeCode(t *testing.T, conn *websocket.Conn) int {
	t.Helper()
	if err := conn.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	for {
		if _, _, err := conn.ReadMessage(); err != nil {
			var closed *websocket.CloseError
			if !errors.As(err, &closed) {
				t.Fatalf("the socket ends with %v", err)
			}
			return closed.Code
		}
	}
}

// TestKeyFromTheKeyboard: g k, c, a name, Enter; the key that is shown speaks, the page sees its first request, and
// what was shown is gone with the dialog. Revoked by typing its name, it ends the socket that speaks with it.
func TestKeyFromTheKeyboard(t *testing.T) {
	p, b, org := portalTab(t)
	b.do(chromedp.KeyEvent("g"), chromedp.KeyEvent("k"))
	b.wait("the keys", `location.pathname.endsWith('/keys') && document.querySelector('[data-create]')`)
	b.do(chromedp.KeyEvent("c"))
	b.wait("the dialog", `document.activeElement.matches('dialog input')`)
	b.write("dialog input", "ivr <b>production</b>") // the c is typed into it, too, which no keyboard does
	b.do(chromedp.KeyEvent(kb.Enter))
	var key string
	b.wait("the key", `document.querySelector('[data-secret]')`)
	b.get(`document.querySelector('[data-secret]').textContent`, &key)
	if !keyPattern.MatchString(key) {
		t.Fatalf("the key is shown as %q", key)
	}
	var line string
	b.get(`document.querySelector('dialog pre').textContent`, &line)
	shell := exec.Command("sh", "-c", strings.Replace(line, "curl -sS", "curl -sS --fail-with-body", 1))
	shell.Dir = t.TempDir()
	if out, err := shell.CombinedOutput(); err != nil {
		t.Fatalf("the line that is shown: %v\n%s\n%s", err, line, out)
	}
	if audio, err := os.ReadFile(filepath.Join(shell.Dir, "take.wav")); err != nil ||
		!bytes.HasPrefix(audio, []byte("RIFF")) {
		t.Fatalf("the line that is shown made %d bytes, %v", len(audio), err)
	}
	b.wait("the first request lights up", `document.querySelector('.wait .dot.on')`)
	b.do(chromedp.KeyEvent(kb.Escape))
	b.wait("the dialog is closed", `!document.querySelector('dialog') && document.querySelectorAll('tr[data-key]').length === 2`)
	var kept string
	if b.get(`document.documentElement.outerHTML + JSON.stringify([localStorage, sessionStorage, location.href])`,
		&kept); strings.Contains(kept, key) {
		t.Error("the key is still in the page when its dialog is closed")
	}

	conn := p.socketWith(key)
	b.do(chromedp.Click(`tr[data-key] .menu button`))
	b.do(chromedp.Click(".menu-list .danger"))
	b.wait("the question", `document.activeElement.matches('dialog input')`)
	b.do(chromedp.KeyEvent("ivr <b>production"), chromedp.KeyEvent(kb.Enter))
	b.wait("half the name is not enough", `document.querySelector('dialog button[type=submit]').disabled`)
	b.do(chromedp.KeyEvent("</b>"), chromedp.KeyEvent(kb.Enter))
	b.wait("it is revoked, and the focus is where the page begins",
		`document.querySelector('tr.rev') && document.activeElement.matches('main h1')`)
	if code := closeCode(t, conn); code != 1008 {
		t.Errorf("the socket of a revoked key closes with %d, want 1008", code)
	}
	if resp := p.speakWith(key); resp != 401 {
		t.Errorf("the revoked key speaks with status %d", resp)
	}
	var found string
	b.write(".lk input", "log line: "+key+" …")
	b.get(`document.querySelector('.leak [role=status]').textContent`, &found)
	if !strings.Contains(found, "ivr <b>production</b>") || !strings.Contains(found, "revoked already") {
		t.Errorf("of the key that was found the page says %q", found)
	}
	_ = org
}

// TestFocusAfterAQuickRevoke: an item of a menu is pressed before the menu has been painted; the focus is not lost.
func TestFocusAfterAQuickRevoke(t *testing.T) {
	_, b, org := portalTab(t)
	b.open(org, "keys?new")
	b.wait("the dialog", `document.activeElement.matches('dialog input')`)
	b.write("dialog input", "quick")
	b.do(chromedp.KeyEvent(kb.Enter))
	b.wait("the key", `document.querySelector('[data-secret]')`)
	b.do(chromedp.Click("dialog input[type=checkbox]"), chromedp.KeyEvent(kb.Escape))
	b.wait("the dialog is closed", `!document.querySelector('dialog') && document.querySelectorAll('tr[data-key]').length === 2`)
	var pressed bool
	b.get(`(async () => {
	document.querySelector('tr[data-key] .menu button').click();
	for (let i = 0; i < 20 && !document.querySelector('.menu-list'); i++) await null;
	document.querySelector('.menu-list .danger').click();
	return true;
})()`, &pressed)
	b.wait("the question", `document.activeElement.matches('dialog input')`)
	b.do(chromedp.KeyEvent("quick"), chromedp.KeyEvent(kb.Enter))
	b.wait("it is revoked, and the focus is where the page begins",
		`document.querySelector('tr.rev') && document.activeElement.matches('main h1')`)
}

// TestUsageIsWhatTheAPISays: bars, table, totals, file and bill show what /usage and /billing answer.
func TestUsageIsWhatTheAPISays(t *testing.T) {
	_, b, org := portalTab(t)
	b.furnish(org)
	b.open(org, "usage?range=7d")
	var got, want struct {
		Minutes, Amount, Requests string
		Bars                      int
		Days                      []string
		CSV                       int
	}
	b.get(fmt.Sprintf(inPortal, fmt.Sprintf(`
	const day = 86400, end = (Math.floor((Date.now() / 1000 + 19800) / day) + 1) * day - 19800;
	const u = await api('GET', '/usage?org_id=%s&from=' + (end - 7 * day) + '&to=' + end + '&split=key');
	const n = (v, d) => v.toLocaleString('en-IN', {minimumFractionDigits: d, maximumFractionDigits: d});
	return {
		Minutes: n(u.totals.frames / 750, 1), Amount: '₹' + n(u.totals.amount_paise / 100, 2), Requests: n(u.totals.requests, 0),
		Bars: u.by_day.reduce((sum, _, i) => sum + u.series.filter((s) => s.frames[i] > 0).length, 0),
		Days: u.by_day.map((d) => n(d.frames / 750, 1) + ' ' + d.requests).reverse(), CSV: 1,
	};`, org)), &want)
	b.get(`(async () => {
	const text = (s) => document.querySelector(s).textContent;
	const shown = {Minutes: text('[data-total=minutes]'), Amount: text('[data-total=amount]'), Requests: text('[data-total=requests]'), Bars: document.querySelectorAll('[data-bar] rect').length};
	document.querySelector('#main .card header .btn').click();
	await new Promise((go) => setTimeout(go, 100));
	shown.Days = [...document.querySelectorAll('.days tbody tr')].map((r) => r.children[r.children.length - 3].textContent + ' ' + r.children[r.children.length - 2].textContent);
	const make = URL.createObjectURL.bind(URL), saved = new Promise((ok) => (URL.createObjectURL = (blob) => (ok(blob), make(blob))));
	[...document.querySelectorAll('.controls .btn')].find((b) => b.textContent === 'CSV').click();
	shown.CSV = (await (await saved).text()).startsWith('date,') ? 1 : 0;
	return shown;
})()`, &got)
	if fmt.Sprint(got) != fmt.Sprint(want) || want.Requests != "5" || want.Bars != 2 {
		t.Errorf("the page shows\n%+v, the API says\n%+v", got, want)
	}
	b.open(org, "billing")
	var bill, said string
	b.get(`document.querySelector('tr[data-month] .money').textContent`, &bill)
	b.get(fmt.Sprintf(inPortal, fmt.Sprintf(`return '₹' + (await api('GET', '/billing?org_id=%s')).months[0].amount_inr.toFixed(2);`, org)), &said)
	if bill != said {
		t.Errorf("the bill shows %s, the API says %s", bill, said)
	}
}

// TestMarkupIsText: whatever people call their things, pages show it as text, and make no element of it.
func TestMarkupIsText(t *testing.T) {
	_, b, org := portalTab(t)
	// names that turn the line around are refused
	const evil = `<img src=x onerror=alert(1)><script>1</script>` + " &amp; \"' =1+1 a\u200b\u200fb"
	var done bool
	b.get(fmt.Sprintf(inPortal, fmt.Sprintf(`
	const org = %q, evil = %q, {orgs} = await api('GET', '/me');
	await api('PATCH', '/orgs/' + org, {name: evil});
	const project = await api('POST', '/projects', {org_id: org, name: evil});
	await api('POST', '/keys', {project_id: project.id, name: evil, voices: []});
	await api('POST', '/orgs/' + org + '/members', {email: "ravi+o'brien@example.org", role: 'viewer'});
	await api('POST', '/voice-requests', {org_id: org, voice_name: evil, language: evil.slice(0, 30), use_case: evil, notes: evil});
	return true;`, org, evil)), &done)
	for _, page := range portalPages {
		b.open(org, page)
		var made int
		b.get(`document.querySelectorAll('#app img, #app script, #app [onerror]').length`, &made)
		if made != 0 {
			t.Errorf("%s: %d elements were made of names", page, made)
		}
		var shown bool
		b.get(fmt.Sprintf(`document.body.innerText.includes(%q) || [...document.querySelectorAll('input')].some((i) => i.value.includes(%q))`, "<img src=x onerror=alert(1)>", "<img src=x"), &shown)
		if !shown {
			t.Errorf("%s: the name of the organisation is not shown as it is", page)
		}
	}
	b.open(org, "playground")
	b.write("textarea", evil+" \u202egnp.exe\u2066")
	b.wait("the preview", `document.querySelector('.play-chunks li')`)
	var made int
	if b.get(`document.querySelectorAll('#main img, #main script').length`, &made); made != 0 {
		t.Errorf("%d elements were made of the text", made)
	}
}

// TestMembersComeAndGo: an invited person joins in another browser, is demoted and removed while signed in, and reads
// why each time.
func TestMembersComeAndGo(t *testing.T) {
	p, b, org := portalTab(t)
	b.open(org, "members")
	b.do(chromedp.Click("[data-create]"))
	b.wait("the dialog", `document.activeElement.matches('dialog input')`)
	b.write("dialog input", "ravi@example.org")
	b.do(chromedp.Click("dialog button[type=submit]"))
	b.wait("the link to hand over", `document.querySelector('dialog .secret code')?.textContent.endsWith('/signin')`)
	b.do(chromedp.KeyEvent(kb.Escape))
	b.wait("ravi is invited", `document.querySelector('tr[data-member="ravi@example.org"] .chip.warn')`)
	var last bool
	if b.get(`document.querySelector('tr[data-member="asha@example.org"]').querySelectorAll('select, .menu').length === 0`, &last); !last {
		t.Error("the last owner can be demoted or removed")
	}

	ravi := openTab(t, p.portalBase+"/signin")
	ravi.do(chromedp.WaitVisible("input[type=email]"))
	ravi.write("input[type=email]", "ravi@example.org")
	before := strings.Count(p.printed(), codeMark)
	ravi.do(chromedp.Click("form button[type=submit]"), chromedp.WaitVisible(".codein"))
	code := p.codeAfter(before)
	ravi.write(".codein", " "+strings.ToLower(code[:4])+" - "+code[4:]+"\u00a0")
	ravi.do(chromedp.WaitVisible("textarea"))
	change := func(script string) {
		t.Helper()
		var done bool
		b.get(fmt.Sprintf(inPortal, fmt.Sprintf(script, org)+`; return true;`), &done)
	}
	change(`await api('PATCH', '/orgs/%s/members/ravi@example.org', {role: 'viewer'})`)
	ravi.do(chromedp.Reload(), chromedp.WaitVisible("textarea"))
	ravi.wait("viewers read why", `document.querySelector('.play-button').disabled && document.querySelector('#play-reason').textContent === 'You have read-only access.'`)
	ravi.wait("why there is no preview", `document.querySelector('.play-empty').textContent.includes('You have read-only access.')`)
	if !isFleet(t) { // whose routers make samples where they are told to
		ravi.wait("there are samples", `(await (await fetch('/samples')).json()).voices.includes('anjura')`)
		ravi.do(chromedp.Click(".play-voice button"))
		ravi.wait("viewers hear samples", `document.querySelector('.play-voice audio').currentTime > 0.1`)
	}
	ravi.write("textarea", "Yeh draft rehna chahiye")
	ravi.open(org, "keys")
	ravi.wait("no key can be made, and why", `document.querySelector('[data-create]').disabled && document.querySelector('.why').textContent.includes('read-only')`)
	change(`await api('DELETE', '/orgs/%s/members/ravi@example.org')`)
	ravi.get(`(document.querySelector('nav.main a[href$="/usage"]').click(), '')`, new(string))
	ravi.wait("the reason, where one signs in",
		`location.pathname === '/signin' && document.querySelector('[data-why=removed]')?.textContent.includes('removed you')`)
	ravi.forgive("403")
	var draft string
	if ravi.get(`sessionStorage.getItem('swar.draft')`, &draft); draft != "Yeh draft rehna chahiye" {
		t.Errorf("the draft of who was removed is %q", draft)
	}
	ravi.do(chromedp.Navigate(p.portalBase + "/app/"))
	ravi.wait("who is in no organisation may found one",
		`document.querySelector('h1')?.textContent === 'Name your organisation' || document.querySelector('h1')?.textContent === 'Not found'`)
}
