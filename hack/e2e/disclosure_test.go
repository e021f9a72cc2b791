//go:build e2e

package e2e

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"
)

// TestADisclosureReachesEveryRouter: what the portal has answered is what all routers have spoken, also of a key that
// was made before, and audio names the service.
func TestADisclosureReachesEveryRouter(t *testing.T) {
	f := startWholeFleet(t, "--disclosure", "Router ki awaaz.", "--disclosure-required", "--service-name", "Asha Bank")
	p := f.sites[0]
	token, org, _ := f.owner()
	keys := p.want(http.MethodGet, "/portal/v1/keys?org_id="+org, token, nil)["keys"].([]any)
	key := keys[0].(map[string]any)["id"].(string)
	for _, step := range []struct {
		name, path string
		change     map[string]any
		want       string
	}{
		{"the routers'", "", nil, "Router ki awaaz."},
		{"the organisation's", "/portal/v1/orgs/" + org, map[string]any{"disclosure": "Company ki awaaz."}, "Company ki awaaz."},
		{"the key's", "/portal/v1/keys/" + key, map[string]any{"disclosure": "Machine hai."}, "Machine hai."},
		{"none, which routers do not allow", "/portal/v1/keys/" + key, map[string]any{"disclosure": ""}, "Router ki awaaz."},
		{"the organisation's again", "/portal/v1/keys/" + key, map[string]any{"inherit_disclosure": true}, "Company ki awaaz."},
	} {
		if step.path != "" {
			p.want(http.MethodPatch, step.path, token, step.change)
		}
		for i, site := range f.sites {
			got := site.want(http.MethodPost, "/v1/normalize", f.key, map[string]any{"text": "namaste"})
			if got["disclosure"] != step.want || got["normalized"] != step.want+" namaste" {
				t.Errorf("%s: router %d speaks %v", step.name, i, got)
			}
		}
	}
	file := filepath.Join(t.TempDir(), "speech.ogg")
	request := body(t, map[string]any{"text": "namaste", "format": "opus", "request_id": "e2e-label"})
	headers := run(t, "curl", "-sS", "-D", "-", "-H", "x-api-key: "+f.key, "-o", file, p.base+"/v1/tts", "-d", request)
	for _, want := range []string{"X-Synthetic: 1\r\n", "X-Service: Asha Bank\r\n"} {
		if !strings.Contains(headers, want) {
			t.Errorf("the answer has no %q:\n%s", want, headers)
		}
	}
	tags := run(t, "ffprobe", "-v", "error", "-show_entries", "stream_tags", "-of", "default=noprint_wrappers=1", file)
	for _, want := range []string{"SYNTHETIC=1", "SERVICE=Asha Bank", "REQUEST_ID=e2e-label", "MODEL="} {
		if !strings.Contains(tags, want) {
			t.Errorf("ffprobe does not tell %s:\n%s", want, tags)
		}
	}
	f.settled()
}
