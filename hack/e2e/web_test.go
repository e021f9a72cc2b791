//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	neturl "net/url"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	cdpage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// tap has the page's worklet hand over the samples that it has played, and collects them.
const tap = `
window.taken = [];
window.AudioWorkletNode = class extends AudioWorkletNode {
	constructor(...given) {
		super(...given);
		this.port.postMessage({type: 'tap'});
		this.port.addEventListener('message', (e) => { if (e.data.tap) window.taken.push(Array.from(e.data.tap)); });
	}
};`

// tab is a page in Chromium, which must not complain.
type tab struct {
	t    *testing.T
	ctx  context.Context
	base string // origin of the pages

	mu         sync.Mutex
	complaints []string
	hosts      map[string]bool
	others     []string // hosts that it may ask beside the server
}

// forgive forgets complaints of requests that were to fail.
func (b *tab) forgive(status string) {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.complaints = slices.DeleteFunc(b.complaints,
		func(c string) bool { return strings.Contains(c, "status of "+status) })
}

// mayAsk lets the page ask one more host.
func (b *tab) mayAsk(host string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.others = append(b.others, host)
}

func openTab(t *testing.T, url string, options ...chromedp.ExecAllocatorOption) *tab {
	t.Helper()
	if _, err := exec.LookPath("chromium"); err != nil {
		t.Skip("chromium is not installed: the web pages are NOT TESTED")
	}
	at, err := neturl.Parse(url)
	if err != nil {
		t.Fatal(err)
	}
	b := &tab{t: t, ctx: browser(t, options...), base: at.Scheme + "://" + at.Host, hosts: map[string]bool{}}
	if _, err := chromedp.Call(b.ctx, cdpage.AddScriptToEvaluateOnNewDocument,
		cdpage.AddScriptToEvaluateOnNewDocumentParams{Source: tap}); err != nil {
		t.Fatal(err)
	}
	if _, err := chromedp.Call(b.ctx, network.Enable, network.EnableParams{}); err != nil {
		t.Fatal(err)
	}
	if _, err := chromedp.Call(b.ctx, log.Enable, cdp.Empty{}); err != nil {
		t.Fatal(err)
	}
	chromedp.Listen(b.ctx, func(ev any) {
		b.mu.Lock()
		defer b.mu.Unlock()
		switch e := ev.(type) {
		case *runtime.EventConsoleAPICalled:
			for _, arg := range e.Args {
				b.complaints = append(b.complaints, string(arg.Value)+arg.Description)
			}
		case *runtime.EventExceptionThrown:
			b.complaints = append(b.complaints, fmt.Sprint(e.ExceptionDetails.Text))
		case *log.EventEntryAdded: // requests that failed, and what the policy of the pages refuses
			b.complaints = append(b.complaints, e.Entry.Text+" "+e.Entry.URL)
		case *network.EventRequestWillBeSent:
			if u, err := neturl.Parse(e.Request.URL); err == nil && (u.Scheme == "http" || u.Scheme == "https") {
				b.hosts[u.Host] = true
			}
		}
	})
	b.do(chromedp.Navigate(url))
	t.Cleanup(func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		most := 1
		if isFleet(t) { // the portal and a router
			most = 2
		}
		for _, host := range b.others {
			delete(b.hosts, host)
		}
		if len(b.complaints) > 0 || len(b.hosts) > most {
			t.Errorf("the page complains: %q, and asked the hosts %v", b.complaints, b.hosts)
		}
	})
	return b
}

func (b *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		b.t.Fatalf("%v; the page shows %q", err, b.shown())
	}
}

// get is the value of a promise in the page.
func (b *tab) get(script string, v any) {
	b.t.Helper()
	text, err := chromedp.Run(b.ctx, chromedp.Evaluate[string]("Promise.resolve("+script+").then(JSON.stringify)",
		chromedp.EvalAwaitPromise))
	if err == nil {
		err = json.Unmarshal([]byte(text), v)
	}
	if err != nil {
		b.t.Fatalf("%s: %v", script, err)
	}
}

// write puts text into a field, as typing does.
func (b *tab) write(field, text string) {
	b.t.Helper()
	var done bool
	b.get(fmt.Sprintf(`(() => {
	const field = document.querySelector(%q);
	Object.getOwnPropertyDescriptor(Object.getPrototypeOf(field), 'value').set.call(field, %q);
	return field.dispatchEvent(new Event('input', {bubbles: true}));
})()`, field, text), &done)
}

// take is what a press of Play led to.
type take struct {
	Seed, Underruns string
	Samples         []int
}

// play presses Play and waits for the last sample.
func (b *tab) play() (t take) {
	b.t.Helper()
	b.do(chromedp.Click(".play-button"))
	b.get(`(async () => {
	const button = document.querySelector('.play-button'), taken = window.taken.length;
	for (let i = 0; i < 1000 && (button.dataset.state !== 'idle' || window.taken.length === taken); i++) await new Promise((go) => setTimeout(go, 20));
	return {
		Seed: document.querySelector('.play-takes .mono').textContent.split('· ')[1],
		Underruns: document.querySelector('[data-underruns]').dataset.underruns, Samples: window.taken.at(-1) ?? [],
	};
})()`, &t)
	return t
}

var setupLink = regexp.MustCompile(`http://\S+/setup#\S+`)

// TestFromTheFirstStartToSound: the printed link, an e-mail, Play; what the worklet was given is what REST answers with
// that seed. Then the pages of the same server for somebody who has a key, and for nobody.
func TestFromTheFirstStartToSound(t *testing.T) {
	p := startPortal(t, t.TempDir())
	key := p.firstKey()
	printed := p.printed()
	if isFleet(t) { // where it is not printed, because many read logs
		printed = p.swar("setup-link")
	}
	link := setupLink.FindString(printed)
	if link == "" {
		t.Fatalf("no link is printed:\n%s", printed)
	}
	b := openTab(t, link)
	b.do(chromedp.WaitVisible("input[type=email]"))
	b.write("input[type=email]", "asha@example.org")
	b.do(chromedp.Click("form button[type=submit]"), chromedp.WaitVisible("textarea"))
	for i := range 10 {
		text := sentence
		if i > 2 { // the others are short, for they are heard to their end
			text = fmt.Sprintf("Namaste %d!", i)
		}
		b.write("textarea", text)
		b.sameAsREST(text, p, key, b.play())
	}
	var address string
	if b.get(`location.href`, &address); !strings.HasPrefix(address, p.portalBase+"/app/org_") ||
		!strings.HasSuffix(address, "/playground") {
		t.Errorf("the address is %s, and should be the playground's and not hold the token", address)
	}
	b.do(chromedp.Navigate(p.portalBase+"/app/"), chromedp.WaitVisible("textarea")) // the session outlives the page

	again := openTab(t, link)
	again.do(chromedp.WaitVisible("input[type=email]"))
	again.write("input[type=email]", "mallory@example.org")
	again.do(chromedp.Click("form button[type=submit]"), chromedp.WaitVisible("[data-code=bad_link]"))
	again.forgive("400")
	withKey := openTab(t, p.portalBase+"/app/?with=key")
	withKey.do(chromedp.WaitVisible("input[type=password]"))
	withKey.write("input[type=password]", key)
	withKey.do(chromedp.Click("form:has(input[type=password]) button[type=submit]"), chromedp.WaitVisible("textarea"))
	withKey.write("textarea", sentence)
	withKey.sameAsREST(sentence, p, key, withKey.play())
	var kept string
	if withKey.get(`JSON.stringify([localStorage, sessionStorage, location.href, document.cookie])`,
		&kept); strings.Contains(kept, key) {
		t.Errorf("the key is kept in the page: %s", kept)
	}
}

func (b *tab) sameAsREST(text string, p *portal, key string, got take) {
	b.t.Helper()
	body := fmt.Sprintf(`{"text":%q,"voice":"anjura","format":"pcm16","seed":%s}`, text, got.Seed)
	ctx, cancel := context.WithTimeout(b.t.Context(), time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.base+"/v1/tts", strings.NewReader(body))
	if err != nil {
		b.t.Fatal(err)
	}
	req.Header.Set("x-api-key", key)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		b.t.Fatal(err)
	}
	defer resp.Body.Close()
	want, err := io.ReadAll(resp.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	var pcm bytes.Buffer
	for _, s := range got.Samples {
		pcm.Write([]byte{byte(s), byte(s >> 8)})
	}
	if len(want) == 0 || got.Underruns != "0" || sha256.Sum256(pcm.Bytes()) != sha256.Sum256(want) {
		b.t.Errorf("%q, seed %s: the worklet has played %d bytes, REST answers %d, equal %v, %s underruns",
			text, got.Seed, pcm.Len(), len(want), bytes.Equal(pcm.Bytes(), want), got.Underruns)
	}
}
