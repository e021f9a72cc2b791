package main_test

import (
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
)

// TestThePagesAreServedBesideTheAPI: what the pages name is there and never changes, no page is let out of its policy, and / is JSON for all.
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
	for _, path := range []string{"/app/", "/setup"} {
		resp, page := fetch(path)
		policy := resp.Header.Get("Content-Security-Policy")
		if resp.StatusCode != http.StatusOK || !strings.Contains(policy, "require-trusted-types-for 'script'") || resp.Header.Get("Cache-Control") != "no-cache" {
			t.Errorf("%s: status %d, policy %q", path, resp.StatusCode, policy)
		}
		assets := regexp.MustCompile(`/assets/[^"]+`).FindAllString(page, -1)
		if len(assets) != 3 {
			t.Fatalf("%s names %q, want three files", path, assets)
		}
		for _, asset := range assets {
			if resp, body := fetch(asset); resp.StatusCode != http.StatusOK || body == "" || !strings.Contains(resp.Header.Get("Cache-Control"), "immutable") {
				t.Errorf("%s: status %d, %d bytes", asset, resp.StatusCode, len(body))
			}
		}
	}
	if resp, body := fetch("/"); !strings.HasPrefix(resp.Header.Get("Content-Type"), "application/json") || !strings.Contains(body, `"service"`) {
		t.Errorf("/ is %s: %.100s", resp.Header.Get("Content-Type"), body)
	}
	for _, path := range []string{"/assets/", "/assets/none.js", "/assets/..%2fapp.html", "/app/none"} {
		if resp, _ := fetch(path); resp.StatusCode != http.StatusNotFound {
			t.Errorf("%s: status %d, want 404", path, resp.StatusCode)
		}
	}
}
