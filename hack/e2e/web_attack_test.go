//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/chromedp"
)

// strangers are the origins of somebody else's page: another port of the same site, whose requests carry cookies of
// SameSite=Strict, and another site.
func strangers(t *testing.T) []string {
	t.Helper()
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, `<!doctype html><title>A prize</title><link rel=icon href="data:,"><p>You have won.`)
	}))
	t.Cleanup(page.Close)
	return []string{page.URL, strings.Replace(page.URL, "127.0.0.1", "evil.test", 1)}
}

// forge sends what a page can send without asking: forms of each kind and fetches with the visitor's cookies. It
// answers what it could read of the answers.
const forge = `(async (base, paths) => {
	const read = [];
	for (const path of paths) {
		for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/json'])
			for (const mode of ['no-cors', 'cors'])
				for (const body of ['{}', '{"email":"mallory@example.org","role":"owner","name":"x"}']) try {
					const r = await fetch(base + path, {method: 'POST', mode, credentials: 'include', headers: {'content-type': type}, body});
					const text = await r.text();
					if (text.includes('id_token') || r.ok && text) read.push(path + ': ' + text);
				} catch {}
		for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data']) {
			const frame = Object.assign(document.createElement('iframe'), {name: 'f' + Math.random()});
			const form = Object.assign(document.createElement('form'), {method: 'post', enctype: type, action: base + path, target: frame.name});
			form.append(Object.assign(document.createElement('input'), {name: '{"email":"mallory@example.org","x":"', value: '"}'}));
			document.body.append(frame, form);
			const loaded = new Promise((go) => { frame.onload = go; setTimeout(go, 2000); });
			form.submit();
			await loaded;
			frame.remove();
		}
	}
	return read;
})(%s, %s)`

// TestStrangersChangeNothing: with the owner signed in beside it, somebody else's page can neither end the session, nor
// use it, nor read anything.
func TestStrangersChangeNothing(t *testing.T) {
	p := startPortal(t, t.TempDir())
	p.firstKey()
	printed := p.printed()
	if isFleet(t) {
		printed = p.swar("setup-link")
	}
	b := openTab(t, setupLink.FindString(printed), chromedp.Flag("host-resolver-rules", "MAP evil.test 127.0.0.1"))
	org := b.enter()
	b.open(org, "members")
	const state = `return JSON.stringify([await api('GET', '/me'), await api('GET', '/orgs/%[1]s/members'), (await api('GET', '/orgs/%[1]s/audit')).events?.length, (await api('GET', '/keys?org_id=%[1]s'))].map((v) => v?.keys ? v.keys.map((k) => k.id) : v));`
	var before, after string
	b.get(fmt.Sprintf(inPortal, fmt.Sprintf(state, org)), &before)
	paths := []string{"/auth/v1/refresh", "/auth/v1/logout", "/auth/v1/setup", "/auth/v1/verify", "/portal/v1/orgs",
		"/portal/v1/orgs/" + org + "/members", "/portal/v1/keys",
		"/portal/v1/projects", "/portal/v1/playground-key", "/portal/v1/voice-requests"}
	list, err := json.Marshal(paths)
	if err != nil {
		t.Fatal(err)
	}
	for _, origin := range strangers(t) {
		evil := b.another(origin + "/prize")
		var read []string
		evil.get(fmt.Sprintf(forge, quoted(p.portalBase), list), &read)
		if len(read) > 0 {
			t.Errorf("%s: a stranger read %q", origin, read)
		}
	}
	b.get(fmt.Sprintf(inPortal, fmt.Sprintf(state, org)), &after)
	if before != after || before == "" {
		t.Errorf("a stranger changed\n%s\nto\n%s", before, after)
	}
	b.do(chromedp.Reload())
	b.wait("still signed in", `document.querySelector('tr[data-member="asha@example.org"]')`)
}

// TestStrangersFrameNothing: no page of ours is shown inside somebody else's, where clicks could be led.
func TestStrangersFrameNothing(t *testing.T) {
	p := startPortal(t, t.TempDir())
	p.firstKey()
	origins := strangers(t)
	b := openTab(t, p.portalBase+"/signin", chromedp.Flag("host-resolver-rules", "MAP evil.test 127.0.0.1"))
	for _, origin := range origins {
		evil := b.another(origin)
		var mu sync.Mutex
		refused := map[string]bool{}
		chromedp.Listen(evil.ctx, func(ev any) {
			if e, ok := ev.(*log.EventEntryAdded); ok && strings.Contains(e.Entry.Text, "frame-ancestors") {
				mu.Lock()
				defer mu.Unlock()
				refused[e.Entry.Text] = true
			}
		})
		if _, err := chromedp.Call(evil.ctx, log.Enable, cdp.Empty{}); err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{"/", "/app/", "/signin", "/setup", "/docs/"} {
			mu.Lock()
			clear(refused)
			mu.Unlock()
			for _, kind := range []string{"iframe", "object", "embed"} {
				var loaded bool
				evil.get(fmt.Sprintf(`new Promise((go) => {
	const f = document.createElement(%q);
	f.onload = f.onerror = () => go(true);
	f[f.tagName === 'OBJECT' ? 'data' : 'src'] = %q;
	document.body.append(f);
	setTimeout(() => go(false), 2000);
})`, kind, p.portalBase+path), &loaded)
			}
			eventually(t, "the browser says that "+path+" must not be framed", 5*time.Second, func() bool {
				mu.Lock()
				defer mu.Unlock()
				return len(refused) > 0
			})
		}
	}
}

// TestStolenSecrets: a setup link that was used opens nothing, a key of the playground works on no other page, and the
// token of somebody who was removed reads nothing more.
func TestStolenSecrets(t *testing.T) {
	p := startPortal(t, t.TempDir())
	p.firstKey()
	printed := p.printed()
	if isFleet(t) {
		printed = p.swar("setup-link")
	}
	link := setupLink.FindString(printed)
	b := openTab(t, link, chromedp.Flag("host-resolver-rules", "MAP evil.test 127.0.0.1"))
	org := b.enter()

	thief := openTab(t, link)
	thief.wait("the form of the setup link, or what to do instead",
		`document.querySelector('input[type=email], [role=alert], .err')`)
	var asks bool
	if thief.get(`!!document.querySelector('input[type=email]')`, &asks); asks {
		thief.write("input[type=email]", "mallory@example.org")
		thief.do(chromedp.Click("form button[type=submit]"))
	}
	thief.wait("what to do instead", `document.body.innerText.includes('run swar setup-link')`)
	thief.forgive("400")
	var cookies string
	if thief.get(`document.cookie`, &cookies); strings.Contains(cookies, "swar_session=1") {
		t.Error("a link that was used signs in")
	}

	b.do(chromedp.WaitVisible("textarea"))
	b.wait("a key of the playground", `Object.keys(sessionStorage).some((k) => k.startsWith('swar.play.'))`)
	var key string
	b.get(`JSON.parse(sessionStorage[Object.keys(sessionStorage).find((k) => k.startsWith('swar.play.'))]).key`, &key)
	var spoke int
	b.get(fmt.Sprintf(`fetch(%s + '/v1/normalize', {method: 'POST', headers: {'x-api-key': %s}, body: '{"text":"ek"}'}).then((r) => r.status)`, quoted(p.base), quoted(key)), &spoke)
	if spoke != http.StatusOK {
		t.Fatalf("the key does not work on its own page: %d", spoke)
	}
	for _, origin := range strangers(t) {
		evil := b.another(origin)
		var got []string
		evil.get(fmt.Sprintf(`(async (base, key) => {
	const done = [];
	for (const [path, body] of [['/v1/normalize', '{"text":"ek"}'], ['/v1/tts', '{"text":"ek"}'], ['/v1/voices', undefined]]) try {
		const r = await fetch(base + path, {method: body ? 'POST' : 'GET', headers: {'x-api-key': key}, body});
		if (r.ok) done.push(path);
	} catch {}
	done.push(...await new Promise((go) => {
		const ws = new WebSocket(base.replace('http', 'ws') + '/v1/tts/stream', ['tts.v1', 'key.' + key]);
		ws.onopen = () => { ws.send('{"text":"ek","voice":"anjura"}'); };
		ws.onmessage = (e) => { if (typeof e.data !== 'string' || JSON.parse(e.data).type !== 'error') go(['the socket: ' + e.data]); };
		ws.onclose = () => go([]);
	}));
	return done;
})(%s, %s)`, quoted(p.base), quoted(key)), &got)
		if len(got) > 0 {
			t.Errorf("%s: a stolen key works on %q", origin, got)
		}
	}

	var token string
	b.get(fmt.Sprintf(inPortal, fmt.Sprintf(`await api('POST', '/orgs/%s/members', {email: 'ravi@example.org', role: 'owner'}); return '';`, org)), &token)
	ravi := openTab(t, p.portalBase+"/signin")
	ravi.do(chromedp.WaitVisible("input[type=email]"))
	ravi.write("input[type=email]", "ravi@example.org")
	before := strings.Count(p.printed(), codeMark)
	ravi.do(chromedp.Click("form button[type=submit]"), chromedp.WaitVisible(".codein"))
	ravi.write(".codein", p.codeAfter(before))
	ravi.do(chromedp.WaitVisible("textarea"))
	ravi.wait("the preview, which nobody gets any more after the removal", `document.querySelector('.play-chunks li')`)
	ravi.get(fmt.Sprintf(inPortal, `return id_token;`), &token)
	reads := func(path string) int {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.portalBase+"/portal/v1"+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+token)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		return resp.StatusCode
	}
	ofOrg := []string{"/orgs/" + org + "/members", "/orgs/" + org + "/audit", "/keys?org_id=" + org,
		"/usage?org_id=" + org, "/billing?org_id=" + org, "/requests?org_id=" + org}
	for _, path := range ofOrg {
		if status := reads(path); status != http.StatusOK {
			t.Errorf("an owner reads %s: %d", path, status)
		}
	}
	var removed string
	b.get(fmt.Sprintf(inPortal, fmt.Sprintf(`await api('DELETE', '/orgs/%s/members/ravi@example.org'); return 'removed';`, org)), &removed)
	for _, path := range ofOrg {
		if status := reads(path); status != http.StatusForbidden && status != http.StatusNotFound {
			t.Errorf("with the token of somebody who was removed, %s: %d", path, status)
		}
	}
}

// quoted is s as a string of JavaScript.
func quoted(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}
