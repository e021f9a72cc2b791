package rest

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/swar-tts/swar/portal/tenant"
	"github.com/swar-tts/swar/runtime/meter"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestGolden goes through every endpoint once and compares the answers, in which only what is random is replaced, with
// files.
func TestGolden(t *testing.T) {
	written := make(map[string]bool)
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(400*24*time.Hour + 123*time.Millisecond) // away from the turn of the century at which bubbles begin
		g := newRig(t)
		s := &scrubber{seen: make(map[string]string)}
		step := func(name, as, method, path, body string, headers ...string) reply {
			t.Helper()
			time.Sleep(time.Second)
			got := g.do(as, method, path, body, headers...)
			if got.status != http.StatusOK {
				t.Fatalf("%s: %d %s", name, got.status, got.body)
			}
			if written[name] {
				t.Fatalf("%s is there twice", name)
			}
			written[name] = true
			golden(t, name, s.scrub(got.body))
			return got
		}

		step("me_new", owner, "GET", "/portal/v1/me", "")
		org := decoded[orgAnswer](t, step("org_create", owner, "POST", "/portal/v1/orgs", `{"name":" Swar Labs "}`,
			"Idempotency-Key", "org"))
		at, prj := "/portal/v1/orgs/"+org.ID, org.Projects[0].ID
		step("org_create_replayed", owner, "POST", "/portal/v1/orgs", `{"name":" Swar Labs "}`,
			"Idempotency-Key", "org")
		step("org_rename", owner, "PATCH", at, `{"name":"स्वर"}`)
		step("member_invite", owner, "POST", at+"/members", `{"email":"Member@Example.org"}`)
		ok[any](g, owner, "POST", at+"/members", `{"email":"viewer@example.org","role":"viewer"}`)
		ok[any](g, member, "GET", "/portal/v1/me", "")
		step("members", viewer, "GET", at+"/members", "")
		step("member_role", owner, "PATCH", at+"/members/"+viewer, `{"role":"member"}`)
		step("member_remove", owner, "DELETE", at+"/members/"+viewer, "")
		project := decoded[keyAnswer](t, step("project_create", member, "POST", "/portal/v1/projects",
			`{"org_id":"`+org.ID+`","name":"IVR"}`))
		step("project_rename", member, "PATCH", "/portal/v1/projects/"+project.ID, `{"name":"Phone"}`)

		create := `{"project_id":"` + prj + `","name":"server","voices":["raj"]}`
		key := decoded[createdKeyAnswer](t, step("key_create", member, "POST", "/portal/v1/keys", create,
			"Idempotency-Key", "key"))
		step("key_create_replayed", member, "POST", "/portal/v1/keys", create, "Idempotency-Key", "key")
		step("key_update", member, "PATCH", "/portal/v1/keys/"+key.Row.ID, `{"name":"server 2","voices":[]}`)
		if err := g.store.Touch(t.Context(), map[string]time.Time{key.Row.ID: time.Now()}); err != nil {
			t.Fatal(err)
		}
		old := ok[createdKeyAnswer](g, owner, "POST", "/portal/v1/keys", `{"project_id":"`+project.ID+`","name":"old"}`)
		step("key_revoke", owner, "DELETE", "/portal/v1/keys/"+old.Row.ID, "")
		step("keys", owner, "GET", "/portal/v1/keys?org_id="+org.ID, "")
		play := step("playground_key", member, "POST", "/portal/v1/playground-key", `{"project_id":"`+prj+`"}`,
			"Origin", "https://portal.example.org", "Idempotency-Key", "play")
		time.Sleep(time.Minute)
		step("playground_key_replayed", member, "POST", "/portal/v1/playground-key", `{"project_id":"`+prj+`"}`,
			"Idempotency-Key", "play")
		step("keys_playground", owner, "GET",
			"/portal/v1/keys?org_id="+org.ID+"&project_id="+prj+"&kind=playground", "")

		g.book(org.ID, prj, key.Row.ID, nil)
		time.Sleep(time.Hour)
		g.book(org.ID, prj, key.Row.ID, func(e *meter.Event) {
			e.Status, e.Error, e.Voice, e.Frames, e.Billed, e.TTFAus, e.Synthus, e.Seed = meter.Failed, "engine error",
				"raj", 0, 0, 0, 0, -1<<63
		})
		time.Sleep(24 * time.Hour)
		g.book(org.ID, prj, decoded[createdKeyAnswer](t, play).Row.ID, func(e *meter.Event) {
			e.Playground, e.Endpoint, e.Format, e.Status, e.Frames, e.Billed, e.PrefillCached = true, "ws", "pcm16",
				meter.Cancelled, 10, 10, true
		})
		span := fmt.Sprintf("&from=%d&to=%d.5", time.Now().Add(-48*time.Hour).Unix(),
			time.Now().Add(time.Minute).Unix())
		step("usage", viewerOf(g, at), "GET", "/portal/v1/usage?org_id="+org.ID+span, "")
		for _, split := range []string{"key", "voice", "endpoint"} {
			step("usage_by_"+split, viewerOf(g, at), "GET", "/portal/v1/usage?split="+split+"&org_id="+org.ID+span, "")
		}
		step("usage_empty", owner, "GET", fmt.Sprintf("/portal/v1/usage?org_id=%s&project_id=%s&from=%[3]d&to=%[3]d",
			org.ID, project.ID, time.Now().Unix()), "")
		step("requests", owner, "GET", "/portal/v1/requests?org_id="+org.ID+"&limit=2", "")
		step("requests_filtered", owner, "GET",
			"/portal/v1/requests?org_id="+org.ID+"&status=ok&voice=anjura&endpoint=rest&min_ttfa_ms=41.26&key_id="+key.Row.ID, "")
		step("requests_none", owner, "GET", "/portal/v1/requests?org_id="+org.ID+"&key_id=none", "")
		step("billing", owner, "GET", "/portal/v1/billing?org_id="+org.ID, "")
		step("usage.csv", owner, "GET", "/portal/v1/usage?format=csv&org_id="+org.ID+span, "")
		step("requests.csv", owner, "GET", "/portal/v1/requests?format=csv&org_id="+org.ID, "")
		step("billing.csv", owner, "GET", "/portal/v1/billing?format=csv&org_id="+org.ID, "")

		wish := `{"org_id":"` + org.ID + `","voice_name":"Meera","language":"hi-IN","use_case":"stories","hours":2.5,"notes":"studio"}`
		vr := decoded[keyAnswer](t, step("voice_request_create", member, "POST", "/portal/v1/voice-requests", wish))
		time.Sleep(time.Second)
		if _, err := g.tenancy.MoveVoiceRequest(t.Context(), tenant.Operator(), vr.ID, tenant.Reviewing); err != nil {
			t.Fatal(err)
		}
		step("voice_requests", owner, "GET", "/portal/v1/voice-requests", "")
		step("voice_request_withdraw", member, "DELETE", "/portal/v1/voice-requests/"+vr.ID, "")
		step("voice_requests_of_org", owner, "GET", "/portal/v1/voice-requests?org_id="+org.ID, "")
		step("audit", owner, "GET", at+"/audit?limit=6", "")
		step("me", owner, "GET", "/portal/v1/me", "")
	})
	files, err := os.ReadDir("testdata/golden")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if name := strings.TrimSuffix(f.Name(), ".json"); !written[name] {
			t.Errorf("nothing is compared with %s", f.Name())
		}
	}
}

// viewerOf makes the viewer a member of the organisation at a path, again.
func viewerOf(g *rig, at string) string {
	ok[any](g, owner, "POST", at+"/members", `{"email":"viewer@example.org","role":"viewer"}`)
	return viewer
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", "golden", name)
	if !strings.HasSuffix(name, ".csv") {
		file += ".json"
		var b bytes.Buffer
		if err := json.Indent(&b, []byte(got), "", "  "); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got = b.String() + "\n"
	}
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs from its golden file (-update writes it anew):\n%s\nwant\n%s", name, got, want)
	}
}

// scrubber replaces what is random by numbers in the order of appearance, of the same form.
type scrubber struct{ seen map[string]string }

var random = regexp.MustCompile(`\b(org|prj|key|vr|aud|usr)_[0-9a-hjkmnp-tv-z]{26}\b|\bswar_(live|play)_[0-9A-Za-z]{38}\b|\bswar_(live|play)_[0-9A-Za-z]{6}\b|"next_cursor":"[^"]*"`)

func (s *scrubber) scrub(body string) string {
	return random.ReplaceAllStringFunc(body, func(found string) string {
		if strings.HasPrefix(found, `"next_cursor"`) {
			return `"next_cursor":"CURSOR"`
		}
		if strings.Contains(found, "aaaaaa") && strings.HasPrefix(found, "swar_") {
			return found // made up by a test
		}
		if s.seen[found] == "" {
			end := strings.LastIndexByte(found, '_') + 1
			s.seen[found] = fmt.Sprintf("%s%0*d", found[:end], len(found)-end, len(s.seen)+1)
		}
		return s.seen[found]
	})
}

func TestGoldenFilesAreAsDescribed(t *testing.T) {
	files, err := filepath.Glob("testdata/golden/*.json")
	if err != nil || len(files) < 25 {
		t.Fatalf("%d golden files, %v", len(files), err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		i := slices.IndexFunc(goldenRoutes, func(r goldenRoute) bool { return strings.HasPrefix(name, r.name) })
		if i < 0 {
			t.Errorf("%s belongs to no operation", file)
			continue
		}
		r, err := http.NewRequestWithContext(t.Context(), goldenRoutes[i].method,
			"http://localhost/portal/v1"+goldenRoutes[i].path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		got := reply{200, http.Header{"Content-Type": {"application/json"}}, string(b)}
		if err := described(r, got); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		for what, wrong := range map[string]string{
			"a member that is not described": strings.Replace(string(b), "{", `{"surprise":1,`, 1),
			"no member at all":               "{}",
			"a list":                         "[]",
		} {
			got.body = wrong
			if err := described(r, got); err == nil {
				t.Errorf("%s with %s is taken for an answer as described", file, what)
			}
		}
		got.body, got.status = string(b), http.StatusTeapot
		if err := described(r, got); err == nil {
			t.Errorf("%s with a status that is not described is taken for an answer as described", file)
		}
	}
}

type goldenRoute struct{ name, method, path string }

// goldenRoutes tell by the beginning of a file's name what it answers; the longer beginnings come first.
var goldenRoutes = []goldenRoute{
	{"org_create", "POST", "/orgs"},
	{"org_rename", "PATCH", "/orgs/x"},
	{"members", "GET", "/orgs/x/members"},
	{"member_invite", "POST", "/orgs/x/members"},
	{"member_role", "PATCH", "/orgs/x/members/y"},
	{"member_remove", "DELETE", "/orgs/x/members/y"},
	{"me", "GET", "/me"},
	{"project_create", "POST", "/projects"},
	{"project_rename", "PATCH", "/projects/x"},
	{"keys", "GET", "/keys"},
	{"key_create", "POST", "/keys"},
	{"key_update", "PATCH", "/keys/x"},
	{"key_revoke", "DELETE", "/keys/x"},
	{"playground_key", "POST", "/playground-key"},
	{"usage", "GET", "/usage"},
	{"requests", "GET", "/requests"},
	{"billing", "GET", "/billing"},
	{"voice_requests", "GET", "/voice-requests"},
	{"voice_request_create", "POST", "/voice-requests"},
	{"voice_request_withdraw", "DELETE", "/voice-requests/x"},
	{"audit", "GET", "/orgs/x/audit"},
}
