//go:build peers

package signin_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/swar-tts/swar/portal/signin"
)

// The page of a link in a real browser, with its policy in force.
func TestPeerBrowser(t *testing.T) {
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("SKIPPED: the page of links was not opened, because chromium is missing (Debian: apt-get install chromium)")
	}
	mails, log := make(chan signin.Mail, 1), &logBuffer{}
	outbox := signin.NewOutbox("", mailerFunc(func(m signin.Mail) error { mails <- m; return nil }), newLog(log))
	done := make(chan struct{})
	go func() { defer close(done); outbox.Run(t.Context()) }()
	t.Cleanup(func() { <-done })
	server := httptest.NewUnstartedServer(nil)
	url := "http://" + server.Listener.Addr().String()
	issuer, err := signin.New(signin.Config{URL: url, Log: newLog(log), Home: "/home"}, newStore(), outbox)
	if err != nil {
		t.Fatal(err)
	}
	server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/home" {
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, `<h1 id="home">home</h1>`)
			return
		}
		issuer.ServeHTTP(w, r)
	})
	server.Start()
	defer server.Close()

	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(chromium), chromedp.NoSandbox,
		chromedp.DisableGPU,
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true),
		chromedp.UserDataDir(t.TempDir()))
	ctx, cancel := chromedp.NewExecAllocator(t.Context(), options...)
	defer cancel()
	ctx, cancel = chromedp.NewContext(ctx)
	defer cancel()
	do := func(action chromedp.Action[chromedp.Void]) {
		t.Helper()
		within, cancel := context.WithTimeout(ctx, 20*time.Second)
		defer cancel()
		if _, err := chromedp.Run(within, action); err != nil {
			t.Fatal(err)
		}
	}
	wantScript := func(what, script, want string) {
		t.Helper()
		if got, err := chromedp.Run(ctx, chromedp.Evaluate[string](script, chromedp.EvalAwaitPromise)); err != nil ||
			!strings.Contains(got, want) {
			t.Errorf("%s: got %q (%v), want %q", what, got, err, want)
		}
	}
	linkIn := func(m signin.Mail) string { return regexp.MustCompile(`http\S+/auth/link#\S+`).FindString(m.Text) }
	const text = `document.getElementById('text').textContent`

	if _, err := chromedp.Run(ctx, chromedp.Navigate(url+"/home")); err != nil {
		// the first one starts the browser, which lives as long as its context
		t.Fatal(err)
	}
	wantScript("asking", `fetch('/auth/v1/email-link', {method: 'POST', body: '{"email": "asha@example.org"}'}).then(a => String(a.status))`, "202")
	link := linkIn(<-mails)
	do(chromedp.Navigate(link))
	do(chromedp.WaitVisible("#go"))
	wantScript("the address without the token", `location.href + '|'`, url+"/auth/link|")
	wantScript("the style sheet", `getComputedStyle(document.getElementById('go')).backgroundColor`,
		"rgb(11, 107, 114)")
	do(chromedp.Click("#go"))
	do(chromedp.WaitVisible("#home"))
	wantScript("what scripts see of the cookies", `'[' + document.cookie + ']'`, "[swar_session=1]")
	wantScript("refreshing", `fetch('/auth/v1/refresh', {method: 'POST'}).then(a => String(a.status))`, "200")

	do(chromedp.Navigate(url + "/auth/link"))
	wantScript("a page without a token", text, "This link has expired or was already used.")

	do(chromedp.Navigate(url + "/home"))
	elsewhere := &browser{t, issuer, "192.0.2.1:1", map[string]*http.Cookie{}}
	elsewhere.ask("asha@example.org")
	do(chromedp.Navigate(linkIn(<-mails)))
	do(chromedp.Click("#go"))
	do(chromedp.Poll[chromedp.Void](text + `.includes('This is not the browser')`))
}
