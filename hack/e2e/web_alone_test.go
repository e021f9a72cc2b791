//go:build e2e

package e2e

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// TestPlaygroundWithoutThePortal: with --portal off there are a playground and the documentation. A key is pasted and
// stays in memory; an open server asks for none.
func TestPlaygroundWithoutThePortal(t *testing.T) {
	if isFleet(t) {
		t.Skip("a router has no pages")
	}
	const key = "a-key-of-the-command-line"
	s := start(t, "--workers", "1", "--api-key", key)
	b := openTab(t, s.base+"/app/")
	b.do(chromedp.WaitVisible("input[type=password]"))
	b.write("input[type=password]", "another one")
	b.do(chromedp.Click("form button[type=submit]"), chromedp.WaitVisible("[data-code=invalid_key]"))
	b.forgive("401")
	b.write("input[type=password]", key)
	b.do(chromedp.Click("form button[type=submit]"), chromedp.WaitVisible("textarea"))
	b.write("textarea", "Namaste!")
	if got := b.play(); len(got.Samples) < 1920 || got.Underruns != "0" {
		t.Errorf("%d samples were played, %s underruns", len(got.Samples), got.Underruns)
	}
	var kept string
	if b.get(`JSON.stringify([localStorage, sessionStorage, location.href, document.cookie]) + document.documentElement.outerHTML`, &kept); strings.Contains(kept, key) {
		t.Error("the key is kept in the page")
	}
	if strings.Contains(s.output(), key) {
		t.Error("the key is in the log")
	}
	b.do(chromedp.Navigate(s.base+"/docs/"), chromedp.WaitVisible("h1"))

	open := openTab(t, start(t, "--workers", "1").base+"/app/")
	open.do(chromedp.WaitVisible("textarea"))
	open.write("textarea", "Namaste!")
	if got := open.play(); len(got.Samples) < 1920 {
		t.Errorf("on an open server %d samples were played", len(got.Samples))
	}
}

// TestWithoutScripts: the landing page and the documentation are whole, and the pages that need scripts say so in both
// languages.
func TestWithoutScripts(t *testing.T) {
	p := startPortal(t, t.TempDir())
	p.firstKey()
	b := openTab(t, p.portalBase+"/favicon.svg")
	if _, err := chromedp.Call(b.ctx, emulation.SetScriptExecutionDisabled,
		emulation.SetScriptExecutionDisabledParams{Value: true}); err != nil {
		t.Fatal(err)
	}
	for path, wants := range map[string][]string{
		"/welcome":   {"curl -sS", "₹1,24,999.50"},
		"/docs/":     {"Quick start", "curl -sS"},
		"/docs/api":  {"The synthesis API", "text_too_long"},
		"/app/":      {"This page needs JavaScript", "JavaScript चाहिए"},
		"/signin":    {"This page needs JavaScript", "JavaScript चाहिए"},
		"/setup":     {"This page needs JavaScript", "JavaScript चाहिए"},
		"/auth/link": {"This page needs JavaScript", "JavaScript चाहिए"},
	} {
		b.do(chromedp.Navigate(p.portalBase + path))
		text, err := chromedp.Run(b.ctx, chromedp.Evaluate[string](`document.documentElement.innerText`))
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range wants {
			if !strings.Contains(text, want) {
				t.Errorf("%s does not say %q without scripts", path, want)
			}
		}
	}
}

// TestPagesChangeNothingForPrograms: what a program is answered is the same with pages, beside a portal or not, and
// without pages; they add at most 1.5 MB to swar.
func TestPagesChangeNothingForPrograms(t *testing.T) {
	if isFleet(t) {
		t.Skip("a router has no pages")
	}
	folder := t.TempDir()
	build := func(name string, more ...string) string {
		t.Helper()
		path := filepath.Join(folder, name)
		out, err := exec.CommandContext(t.Context(), "go",
			append(append([]string{"build", "-trimpath", "-o", path}, more...), "../../cmd/swar")...).CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return path
	}
	with, without := build("with"), build("without", "-tags", "noui")
	if grown := size(t, with) - size(t, without); grown <= 0 || grown > 1_500_000 {
		t.Errorf("the pages add %d bytes to swar, want at most 1,500,000", grown)
	}

	answers := map[string]map[string]string{}
	for name, s := range map[string]*server{
		"with pages": startProgram(t, with, "--portal", "off"), "with pages and a portal": startProgram(t, with, "--portal", "on"), "without pages": startProgram(t, without, "--portal", "off"),
	} {
		answers[name] = s.answersToPrograms(t)
		page := s.fetch(t, http.MethodGet, "/app/", "", "text/html")
		if got, want := strings.HasPrefix(page, "404 "), name == "without pages"; got != want {
			t.Errorf("%s: /app/ is answered %.80q", name, page)
		}
	}
	for name, all := range answers {
		for asked, got := range all {
			if want := answers["without pages"][asked]; got != want {
				t.Errorf("%s, %s is answered\n%.800s\nand without pages\n%.800s", name, asked, got, want)
			}
		}
	}
}

func size(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

// startProgram starts a swar serve of one's own with a key.
func startProgram(t *testing.T, path string, flags ...string) *server {
	t.Helper()
	address := freeAddress(t)
	args := append([]string{"serve", "--listen", address, "--data", t.TempDir(), "--workers", "1", "--api-key",
		"a-key-of-the-command-line"}, flags...)
	p := &process{name: filepath.Base(path), probes: "http://" + address, path: path, args: args}
	p.begin(t)
	s := &server{base: "http://" + address, portalBase: "http://" + address, router: p,
		workers: []*process{p}, portal: p}
	s.waitReady(t)
	return s
}

// changing are the parts of answers that are never twice the same, and what tells caches that / is a page for some.
var changing = regexp.MustCompile(`(?im)^Vary: Accept\n|(?:X-Request-Id|Date|Server-Timing|X-Concurrency-Active|X-Concurrency-Listeners|X-Queue-Ms|X-First-Audio-Ms|X-Ttfa-Ms): [^\n]*|"(uptime_s|started_at|version|[a-z_]*ms|rtf|portal)":[^,}]*|127\.0\.0\.1:\d+`)

// answersToPrograms is what a program is told, by what it asks for.
func (s *server) answersToPrograms(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, q := range []struct{ method, path, body, accept string }{
		{"GET", "/", "", ""}, {"GET", "/", "", "*/*"}, {"GET", "/", "", "application/json, text/html;q=0.9"}, {"HEAD", "/", "", ""}, {"POST", "/", "{}", ""},
		{"GET", "/v1/voices", "", ""}, {"GET", "/v1/voices", "", "text/html"}, {"POST", "/v1/normalize", `{"text":"₹499"}`, ""}, {"POST", "/v1/normalize", `{"text":""}`, ""},
		{"POST", "/v1/tts", `{"text":"Namaste!","seed":1,"format":"pcm16"}`, ""}, {"POST", "/v1/tts", `{"text":`, ""}, {"GET", "/v1/tts", "", ""}, {"GET", "/v1/nothing", "", ""},
		{"GET", "/v1/tts/stream", "", ""}, {"OPTIONS", "/v1/tts", "", ""}, {"GET", "/readyz", "", ""}, {"GET", "/nothing", "", ""}, {"GET", "/openapi.json", "", ""}, {"GET", "/asyncapi.json", "", ""},
	} {
		all[fmt.Sprint(q)] = changing.ReplaceAllString(s.fetch(t, q.method, q.path, q.body, q.accept), "")
	}
	return all
}

// fetch is the status, the headers and the body of an answer.
func (s *server) fetch(t *testing.T, method, path, body, accept string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, s.base+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("x-api-key", "a-key-of-the-command-line")
	if accept != "" {
		req.Header.Set("Accept", accept)
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	var head strings.Builder
	if err := resp.Header.Write(&head); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%d %s\n%s", resp.StatusCode, strings.ReplaceAll(head.String(), "\r", ""), got)
}
