package main_test

import (
	"encoding/json"
	"html"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
)

// TestThePagesAreServedBesideTheAPI: what the pages name is there and never changes, and no page is let out of its
// policy.
func TestThePagesAreServedBesideTheAPI(t *testing.T) {
	v := newShell(t).serve("--workers", "1")
	fetch := func(path string) (*http.Response, string) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, v.base+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Accept", "text/html,application/xhtml+xml,*/*;q=0.8")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp, string(body)
	}
	for path, files := range map[string]int{"/": 2, "/app/": 4, "/docs/": 3, "/docs/api": 3} {
		resp, page := fetch(path)
		policy := resp.Header.Get("Content-Security-Policy")
		if resp.StatusCode != http.StatusOK || !strings.Contains(policy, "require-trusted-types-for 'script'") ||
			resp.Header.Get("Cache-Control") != "no-cache" {
			t.Errorf("%s: status %d, policy %q", path, resp.StatusCode, policy)
		}
		assets := regexp.MustCompile(`/assets/[^"]+`).FindAllString(page, -1)
		if len(assets) != files {
			t.Fatalf("%s names %q, want %d files", path, assets, files)
		}
		for _, asset := range assets {
			if resp, body := fetch(asset); resp.StatusCode != http.StatusOK || body == "" ||
				!strings.Contains(resp.Header.Get("Cache-Control"), "immutable") {
				t.Errorf("%s: status %d, %d bytes", asset, resp.StatusCode, len(body))
			}
		}
	}
	for _, path := range []string{"/assets/", "/assets/none.js", "/assets/..%2fapp.html", "/app/none", "/docs/none",
		"/docs/..%2fapp.html"} {
		if resp, _ := fetch(path); resp.StatusCode != http.StatusNotFound {
			t.Errorf("%s: status %d, want 404", path, resp.StatusCode)
		}
	}
}

// TestTheLandingPageSaysWhatIsSaid: the readings that it shows are those of the normaliser, and its voices are those of
// the server.
func TestTheLandingPageSaysWhatIsSaid(t *testing.T) {
	v := newShell(t).serve("--workers", "1")
	page := v.fetch(http.MethodGet, "/", "", "text/html")
	said := regexp.MustCompile(`<span class="said"[^>]*>(.*?)</span></d[td]>`).FindAllStringSubmatch(page, -1)
	if len(said) != 4 || !strings.Contains(page, "/samples/anjura.wav") || !strings.Contains(page, "/samples/raj.wav") {
		t.Fatalf("%d texts, and the page is\n%s", len(said), page)
	}
	plain := func(s []string) string {
		return html.UnescapeString(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(s[1], ""))
	}
	for i := 0; i < len(said); i += 2 {
		body, err := json.Marshal(map[string]string{"text": plain(said[i])})
		if err != nil {
			t.Fatal(err)
		}
		var got struct{ Normalized string }
		if err := json.Unmarshal([]byte(v.fetch(http.MethodPost, "/v1/normalize", string(body), "")),
			&got); err != nil {
			t.Fatal(err)
		}
		if want := plain(said[i+1]); got.Normalized != want {
			t.Errorf("the page says that %q is spoken as\n%q, but it is\n%q", plain(said[i]), want, got.Normalized)
		}
	}
	if root := v.fetch(http.MethodGet, "/", "", "*/*"); !strings.Contains(root, `"endpoints"`) {
		t.Errorf("for programs / is %s", root)
	}
}

// fetch is the body of an answer.
func (v *server) fetch(method, path, body, accept string) string {
	v.t.Helper()
	req, err := http.NewRequestWithContext(v.t.Context(), method, v.base+path, strings.NewReader(body))
	if err != nil {
		v.t.Fatal(err)
	}
	req.Header.Set("Accept", accept)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		v.t.Fatal(err)
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		v.t.Fatalf("%s %s: status %d, %v: %s", method, path, resp.StatusCode, err, got)
	}
	return string(got)
}
