package rest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"github.com/swar-tts/swar/portal/tenant"
)

// TestContract asks a running server everything that the tables of the API promise. {org}, {prj}, {key}, {other} and
// {vr} stand for identifiers; a member of want that ends with ? may have any value.
func TestContract(t *testing.T) {
	g := newRig(t)
	listener := httptest.NewServer(g.server)
	defer listener.Close()
	org, prj := g.world()
	other := ok[orgAnswer](g, stranger, "POST", "/portal/v1/orgs", `{"name":"Other"}`)
	key := ok[createdKeyAnswer](g, owner, "POST", "/portal/v1/keys", `{"project_id":"`+prj+`","name":"first"}`)
	vr := ok[keyAnswer](g, member, "POST", "/portal/v1/voice-requests",
		`{"org_id":"`+org+`","voice_name":"M","language":"hi","use_case":"u"}`)
	g.book(org, prj, key.Row.ID, nil)
	fill := strings.NewReplacer("{org}", org, "{prj}", prj, "{key}", key.Row.ID, "{vr}", vr.ID,
		"{other}", other.ID, "{other_prj}", other.Projects[0].ID, "{unknown}", strings.Repeat("0", 26))

	for _, tt := range []struct {
		what, as, request, body string
		status                  int
		want                    string
	}{
		{"me: user, organisations with projects and role, pricing, voices, model", viewer, "GET /me", "", 200,
			`{"user":{"id?":0,"email":"viewer@example.org"},"orgs":[{"id":"{org}","name":"Swar","role":"viewer","created_at?":0,
			 "projects":[{"id":"{prj}","org_id":"{org}","name":"Default","created_at?":0}]}],
			 "pricing":{"currency":"INR","paise_per_minute":20,"inr_per_minute":0.2},"voices?":0,"model":"espeak-ng-hinglish"}`},
		{"a new organisation: the caller becomes owner", stranger, "POST /orgs", `{"name":"Third"}`, 200,
			`{"id?":0,"name":"Third","role":"owner","created_at?":0,"projects?":0}`},
		{"a rename", owner, "PATCH /orgs/{org}", `{"name":"Swar 2"}`, 200, `{"id":"{org}","name":"Swar 2","role":"owner","created_at?":0,"projects?":0}`},
		{"a rename by a member", member, "PATCH /orgs/{org}", `{"name":"x"}`, 403, `{"error":"owners only"}`},
		{"a rename by a stranger", stranger, "PATCH /orgs/{org}", `{"name":"x"}`, 403, `{"error":"not a member"}`},
		{"a change of nothing", owner, "PATCH /orgs/{org}", `{}`, 400, `{"error":"name is required"}`},
		{"a disclosure", owner, "PATCH /orgs/{org}", `{"disclosure":" Yeh AI hai. "}`, 200,
			`{"id":"{org}","name":"Swar 2","role":"owner","created_at?":0,"projects?":0,"disclosure":"Yeh AI hai."}`},
		{"a disclosure and a rename", owner, "PATCH /orgs/{org}", `{"disclosure":"","name":"Swar"}`, 200,
			`{"id":"{org}","name":"Swar","role":"owner","created_at?":0,"projects?":0,"disclosure":""}`},
		{"null is absence of a disclosure, too", owner, "PATCH /orgs/{org}", `{"disclosure":null,"inherit_disclosure":null,"name":"Swar 2"}`, 200,
			`{"id":"{org}","name":"Swar 2","role":"owner","created_at?":0,"projects?":0,"disclosure":""}`},
		{"a disclosure that is taken back", owner, "PATCH /orgs/{org}", `{"inherit_disclosure":true}`, 200,
			`{"id":"{org}","name":"Swar 2","role":"owner","created_at?":0,"projects?":0}`},
		{"a disclosure that is set and taken back", owner, "PATCH /orgs/{org}", `{"disclosure":"a","inherit_disclosure":true}`, 400,
			`{"error":"disclosure: contradicts inherit_disclosure; send one of them"}`},
		{"a disclosure that is not taken back", owner, "PATCH /orgs/{org}", `{"inherit_disclosure":false}`, 400,
			`{"error":"inherit_disclosure: must be true, or left out"}`},
		{"a disclosure that is not heard", owner, "PATCH /orgs/{org}", `{"disclosure":"..."}`, 400,
			`{"error":"disclosure: must have a letter or a digit, or be empty"}`},
		{"a disclosure of another type", owner, "PATCH /orgs/{org}", `{"disclosure":false}`, 400, `{"error":"disclosure: must be a string"}`},
		{"a disclosure by a member", member, "PATCH /orgs/{org}", `{"disclosure":""}`, 403, `{"error":"owners only"}`},
		{"members with role and state", viewer, "GET /orgs/{org}/members", "", 200, `{"members?":0}`},
		{"members for a stranger", stranger, "GET /orgs/{org}/members", "", 403, `{"error":"not a member"}`},
		{"an invitation", owner, "POST /orgs/{org}/members", `{"email":"New@Example.org"}`, 200,
			`{"email":"new@example.org","role":"member","state":"invited","invited_at?":0,"invited_by":"owner@example.org"}`},
		{"an invitation with a role", owner, "POST /orgs/{org}/members", `{"email":"v2@example.org","role":"viewer"}`, 200,
			`{"email":"v2@example.org","role":"viewer","state":"invited","invited_at?":0,"invited_by":"owner@example.org"}`},
		{"an invitation by a member", member, "POST /orgs/{org}/members", `{"email":"x@example.org"}`, 403, `{"error":"owners only"}`},
		{"an invitation with an unknown role", owner, "POST /orgs/{org}/members", `{"email":"x@y","role":"king"}`, 400, `{"error":"role must be owner, member or viewer"}`},
		{"an invitation to no address", owner, "POST /orgs/{org}/members", `{"email":"x"}`, 400, `{"error":"email: not a valid address"}`},
		{"a change of role", owner, "PATCH /orgs/{org}/members/v2@example.org", `{"role":"member"}`, 200,
			`{"email":"v2@example.org","role":"member","state":"invited","invited_at?":0,"invited_by":"owner@example.org"}`},
		{"a change of role of the last owner", owner, "PATCH /orgs/{org}/members/owner@example.org", `{"role":"viewer"}`, 400, `{"error":"the last owner cannot be demoted"}`},
		{"a removal", owner, "DELETE /orgs/{org}/members/v2@example.org", "", 200,
			`{"email":"v2@example.org","role":"member","state":"invited","invited_at?":0,"invited_by":"owner@example.org"}`},
		{"a removal of nobody", owner, "DELETE /orgs/{org}/members/v2@example.org", "", 404, `{"error":"not found"}`},
		{"a removal by a member", member, "DELETE /orgs/{org}/members/viewer@example.org", "", 403, `{"error":"owners only"}`},
		{"a removal of the last owner", owner, "DELETE /orgs/{org}/members/owner@example.org", "", 400, `{"error":"the last owner cannot be removed"}`},
		{"a new project", member, "POST /projects", `{"org_id":"{org}","name":"Two"}`, 200, `{"id?":0,"org_id":"{org}","name":"Two","created_at?":0}`},
		{"a new project by a viewer", viewer, "POST /projects", `{"org_id":"{org}","name":"Two"}`, 403, `{"error":"viewers may only read"}`},
		{"a new project elsewhere", member, "POST /projects", `{"org_id":"{other}","name":"Two"}`, 403, `{"error":"not a member"}`},
		{"a rename of a project", member, "PATCH /projects/{prj}", `{"name":"One"}`, 200, `{"id":"{prj}","org_id":"{org}","name":"One","created_at?":0}`},
		{"a rename of an unknown project", member, "PATCH /projects/prj_{unknown}", `{"name":"One"}`, 404, `{"error":"not found"}`},
		{"a lexicon that nobody has changed", viewer, "GET /projects/{prj}/lexicon", "", 200, `{"id?":0,"project_id":"{prj}","version":0,"entries":[]}`},
		{"a lexicon", member, "PUT /projects/{prj}/lexicon", `{"entries":[{"word":" Zepto ","spoken":"ज़ेप्टो","lang":"hi"},{"word":"A","spoken":"b","lang":null}]}`, 200,
			`{"id?":0,"project_id":"{prj}","version":1,"entries":[{"word":"Zepto","spoken":"ज़ेप्टो","lang":"hi"},{"word":"A","spoken":"b"}],"updated_at?":0,"updated_by":"member@example.org"}`},
		{"a lexicon for a viewer", viewer, "GET /projects/{prj}/lexicon", "", 200,
			`{"id?":0,"project_id":"{prj}","version":1,"entries":[{"word":"Zepto","spoken":"ज़ेप्टो","lang":"hi"},{"word":"A","spoken":"b"}],"updated_at?":0,"updated_by":"member@example.org"}`},
		{"a lexicon by a viewer", viewer, "PUT /projects/{prj}/lexicon", `{"entries":[]}`, 403, `{"error":"viewers may only read"}`},
		{"a lexicon of a foreign project", member, "GET /projects/{other_prj}/lexicon", "", 404, `{"error":"not found"}`},
		{"a change of a lexicon of a foreign project", member, "PUT /projects/{other_prj}/lexicon", `{"entries":[]}`, 404, `{"error":"not found"}`},
		{"a lexicon without entries", member, "PUT /projects/{prj}/lexicon", `{}`, 400, `{"error":"entries is required"}`},
		{"entries that are no list", member, "PUT /projects/{prj}/lexicon", `{"entries":{}}`, 400, `{"error":"entries: must be an array of objects"}`},
		{"an entry that is no object", member, "PUT /projects/{prj}/lexicon", `{"entries":[{"word":"a","spoken":"b"},1]}`, 400, `{"error":"entries: entry 2: must be an object"}`},
		{"an entry of another type", member, "PUT /projects/{prj}/lexicon", `{"entries":[{"word":"a","spoken":1}]}`, 400, `{"error":"entries: entry 1 (a): spoken must be a string"}`},
		{"an entry that is spoken as nothing", member, "PUT /projects/{prj}/lexicon", `{"entries":[{"word":"a","spoken":"b"},{"word":"Zepto","spoken":" "}]}`, 400, `{"error":"entries: entry 2 (Zepto): spoken is empty"}`},
		{"a file of a lexicon", viewer, "POST /projects/{prj}/lexicon/file", `{"format":"pls","text":"<lexicon><lexeme><grapheme>a</grapheme><alias>b</alias></lexeme><lexeme><grapheme>c</grapheme><phoneme>d</phoneme></lexeme></lexicon>"}`, 200,
			`{"entries":[{"word":"a","spoken":"b"}],"dropped":[{"line":1,"word":"c","reason":"it has phonemes and no alias; write how it sounds in Devanagari or Latin letters"}]}`},
		{"a file of another format", viewer, "POST /projects/{prj}/lexicon/file", `{"format":"json","text":"{}"}`, 400, `{"error":"text: the format must be csv or pls"}`},
		{"a file for a foreign project", viewer, "POST /projects/{other_prj}/lexicon/file", `{"format":"csv","text":"a,b"}`, 404, `{"error":"not found"}`},
		{"keys, never the key itself", viewer, "GET /keys?org_id={org}", "", 200,
			`{"keys":[{"id":"{key}","org_id":"{org}","project_id":"{prj}","kind":"live","name":"first","prefix?":0,"voices":[],"created_at?":0,"created_by":"owner@example.org"}]}`},
		{"keys of a project", viewer, "GET /keys?org_id={org}&project_id={prj}&kind=playground", "", 200, `{"keys":[]}`},
		{"keys without an organisation", viewer, "GET /keys", "", 400, `{"error":"org_id is required"}`},
		{"keys of another organisation", viewer, "GET /keys?org_id={other}", "", 403, `{"error":"not a member"}`},
		{"keys of a project of another organisation", viewer, "GET /keys?org_id={org}&project_id={other_prj}", "", 404, `{"error":"not found"}`},
		{"keys of another kind", viewer, "GET /keys?org_id={org}&kind=gold", "", 400, `{"error":"kind must be live or playground"}`},
		{"a new key: the full key and its row", member, "POST /keys", `{"project_id":"{prj}","name":"k","voices":["raj"]}`, 200, `{"key?":0,"row?":0}`},
		{"a new key for an unknown voice", member, "POST /keys", `{"project_id":"{prj}","name":"k","voices":["rani"]}`, 400, `{"error":"unknown voice 'rani'; see /v1/voices"}`},
		{"a new key by a viewer", viewer, "POST /keys", `{"project_id":"{prj}","name":"k"}`, 403, `{"error":"viewers may only read"}`},
		{"a new key in a foreign project", member, "POST /keys", `{"project_id":"{other_prj}","name":"k"}`, 404, `{"error":"not found"}`},
		{"a change of a key", member, "PATCH /keys/{key}", `{"voices":["raj"]}`, 200,
			`{"id":"{key}","org_id":"{org}","project_id":"{prj}","kind":"live","name":"first","prefix?":0,"voices":["raj"],"created_at?":0,"created_by":"owner@example.org"}`},
		{"a disclosure of a key", owner, "PATCH /keys/{key}", `{"disclosure":"AI."}`, 200, `{"id":"{key}","org_id":"{org}","project_id":"{prj}","kind":"live","name":"first","prefix?":0,"voices":["raj"],"created_at?":0,"created_by":"owner@example.org","disclosure":"AI."}`},
		{"a disclosure of a key by a member", member, "PATCH /keys/{key}", `{"disclosure":""}`, 403, `{"error":"owners only"}`},
		{"a disclosure of a key that is taken back", owner, "PATCH /keys/{key}", `{"inherit_disclosure":true}`, 200, `{"id":"{key}","org_id":"{org}","project_id":"{prj}","kind":"live","name":"first","prefix?":0,"voices":["raj"],"created_at?":0,"created_by":"owner@example.org"}`},
		{"a change of an unknown key", member, "PATCH /keys/key_{unknown}", `{}`, 404, `{"error":"not found"}`},
		{"a playground key", member, "POST /playground-key", `{"project_id":"{prj}"}`, 200, `{"key?":0,"expires_in_s":7200,"row?":0}`},
		{"usage with its defaults", viewer, "GET /usage?org_id={org}", "", 200,
			`{"org_id":"{org}","from?":0,"to?":0,"timezone":"Asia/Kolkata","totals?":0,"ttfa_p50_ms?":0,"ttfa_p95_ms?":0,"rtf_avg?":0,"by_day?":0,"by_key?":0,"by_voice?":0,"by_endpoint?":0}`},
		{"usage from later to sooner", viewer, "GET /usage?org_id={org}&from=2&to=1", "", 400, `{"error":"from must not be after to"}`},
		{"usage of 400 days", viewer, "GET /usage?org_id={org}&from=0&to=34560000", "", 200,
			`{"org_id":"{org}","from?":0,"to?":0,"timezone":"Asia/Kolkata","totals?":0,"ttfa_p50_ms":null,"ttfa_p95_ms":null,"rtf_avg":null,"by_day?":0,"by_key":[],"by_voice":[],"by_endpoint":[]}`},
		{"usage of more", viewer, "GET /usage?org_id={org}&from=0&to=34560000.000001", "", 400, `{"error":"the range must be at most 400 days"}`},
		{"usage of another organisation", viewer, "GET /usage?org_id={other}", "", 403, `{"error":"not a member"}`},
		{"usage of a foreign project", viewer, "GET /usage?org_id={org}&project_id={other_prj}", "", 404, `{"error":"not found"}`},
		{"requests", viewer, "GET /requests?org_id={org}&limit=500", "", 200, `{"requests?":0}`},
		{"too many requests at once", viewer, "GET /requests?org_id={org}&limit=501", "", 400, `{"error":"limit must be at most 500"}`},
		{"requests of another organisation", viewer, "GET /requests?org_id={other}", "", 403, `{"error":"not a member"}`},
		{"billing", viewer, "GET /billing?org_id={org}", "", 200,
			`{"org_id":"{org}","currency":"INR","paise_per_minute":20,"timezone":"Asia/Kolkata","months":[{"month?":0,"status":"open","requests":1,"billed_frames":750,
			 "audio_s":60,"minutes":1,"paise_per_minute":20,"amount_paise":20,"amount_inr":0.2}]}`},
		{"billing of another organisation", viewer, "GET /billing?org_id={other}", "", 403, `{"error":"not a member"}`},
		{"voice requests of all organisations", viewer, "GET /voice-requests", "", 200, `{"voice_requests?":0}`},
		{"voice requests of another organisation", viewer, "GET /voice-requests?org_id={other}", "", 403, `{"error":"not a member"}`},
		{"a voice request", member, "POST /voice-requests", `{"org_id":"{org}","voice_name":"Meera","language":"hi-IN","use_case":"stories","hours":0,"notes":"n"}`, 200,
			`{"id?":0,"org_id":"{org}","voice_name":"Meera","language":"hi-IN","use_case":"stories","hours":0,"notes":"n","status":"submitted","created_at?":0,
			 "created_by":"member@example.org","updated_at?":0,"moves":[]}`},
		{"a voice request by a viewer", viewer, "POST /voice-requests", `{"org_id":"{org}","voice_name":"M","language":"hi","use_case":"u"}`, 403, `{"error":"viewers may only read"}`},
		{"a voice request of endless hours", member, "POST /voice-requests", `{"org_id":"{org}","voice_name":"M","language":"hi","use_case":"u","hours":1e999}`, 400, `{"error":"hours: must be in [0, 10000]"}`},
		{"a withdrawal by a viewer", viewer, "DELETE /voice-requests/{vr}", "", 403, `{"error":"viewers may only read"}`},
		{"a withdrawal", member, "DELETE /voice-requests/{vr}", "", 200,
			`{"id":"{vr}","org_id":"{org}","voice_name":"M","language":"hi","use_case":"u","status":"withdrawn","created_at?":0,"created_by":"member@example.org","updated_at?":0,"moves?":0}`},
		{"a withdrawal, again", member, "DELETE /voice-requests/{vr}", "", 400, `{"error":"a voice request cannot move from withdrawn to withdrawn"}`},
		{"the audit log for a member", member, "GET /orgs/{org}/audit", "", 403, `{"error":"owners only"}`},
		{"the audit log with a bad limit", owner, "GET /orgs/{org}/audit?limit=501", "", 400, `{"error":"limit must be at most 500"}`},
		{"a revocation by a viewer", viewer, "DELETE /keys/{key}", "", 403, `{"error":"viewers may only read"}`},
		{"a revocation by a stranger", stranger, "DELETE /keys/{key}", "", 404, `{"error":"not found"}`},
		{"a revocation", member, "DELETE /keys/{key}", "", 200,
			`{"id":"{key}","org_id":"{org}","project_id":"{prj}","kind":"live","name":"first","prefix?":0,"voices":["raj"],"created_at?":0,"created_by":"owner@example.org","revoked_at?":0}`},
		{"a change of a revoked key", member, "PATCH /keys/{key}", `{"name":"x"}`, 400, `{"error":"key is revoked"}`},
	} {
		t.Run(tt.what, func(t *testing.T) {
			method, path, _ := strings.Cut(fill.Replace(tt.request), " ")
			r, err := http.NewRequestWithContext(t.Context(), method, listener.URL+"/portal/v1"+path,
				strings.NewReader(fill.Replace(tt.body)))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Authorization", "Bearer token-of-"+tt.as)
			res, err := listener.Client().Do(r)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			b, err := io.ReadAll(res.Body)
			if err != nil {
				t.Fatal(err)
			}
			got := reply{res.StatusCode, res.Header, string(b)}
			if err := like(fill.Replace(tt.want), got.body); got.status != tt.status || err != nil {
				t.Errorf("answered %d %s, want %d: %v", got.status, got.body, tt.status, err)
			}
			if (got.header.Get("X-Error-Code") != "") != (tt.status != 200) || got.header.Get("X-Request-Id") == "" ||
				got.header.Get("Cache-Control") != "no-store" {
				t.Errorf("headers: %v", got.header)
			}
			if err := described(r, got); err != nil {
				t.Errorf("not as described: %v", err)
			}
		})
	}
}

// like compares an answer with a pattern.
func like(pattern, got string) error {
	var p, g any
	if err := json.Unmarshal([]byte(pattern), &p); err != nil {
		return fmt.Errorf("the pattern of the test: %w", err)
	}
	if err := json.Unmarshal([]byte(got), &g); err != nil {
		return err
	}
	return likeValue("", p, g)
}

func likeValue(at string, want, got any) error {
	switch want := want.(type) {
	case map[string]any:
		object, isObject := got.(map[string]any)
		if !isObject || len(object) != len(want) {
			return fmt.Errorf("%s is %v, want the members of %v", at, got, want)
		}
		for name, w := range want {
			name, whatever := strings.CutSuffix(name, "?")
			g, there := object[name]
			if !there {
				return fmt.Errorf("%s.%s is missing", at, name)
			}
			if whatever {
				continue
			}
			if err := likeValue(at+"."+name, w, g); err != nil {
				return err
			}
		}
		return nil
	case []any:
		array, isArray := got.([]any)
		if !isArray || len(array) != len(want) {
			return fmt.Errorf("%s is %v, want %v", at, got, want)
		}
		for i := range want {
			if err := likeValue(fmt.Sprintf("%s[%d]", at, i), want[i], array[i]); err != nil {
				return err
			}
		}
		return nil
	default:
		if !reflect.DeepEqual(want, got) {
			return fmt.Errorf("%s is %v, want %v", at, got, want)
		}
		return nil
	}
}

func TestFiftyKeys(t *testing.T) {
	g := newRig(t)
	org, prj := g.world()
	for range tenant.MaxActiveKeys {
		if _, err := g.tenancy.CreateKey(t.Context(), tenant.Operator(), prj, "k", nil,
			tenant.Idempotency{}); err != nil {
			t.Fatal(err)
		}
	}
	g.do(owner, "POST", "/portal/v1/keys", `{"project_id":"`+prj+`","name":"k"}`).
		wantError(t, 400, "too_many_keys", "organisation has 50 active keys; revoke one first")
	if keys := ok[struct{ Keys []keyAnswer }](g, owner, "GET", "/portal/v1/keys?org_id="+org,
		"").Keys; len(keys) != 50 {
		t.Errorf("%d keys, want 50", len(keys))
	}
}
