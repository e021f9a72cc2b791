package rest

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/gorilla/mux"

	"github.com/swar-tts/swar/portal/signin"
	"github.com/swar-tts/swar/runtime/access"
)

// openRoutes are the only ones that answer without a token. A new route must be put here or ask for one.
var openRoutes = []string{"GET /portal/v1/openapi.json", "HEAD /portal/v1/openapi.json"}

// eachRoute returns every method and path that is served, in order.
func eachRoute(t *testing.T, g *rig) []string {
	t.Helper()
	var all []string
	err := g.server.routes().Walk(func(route *mux.Route, _ *mux.Router, _ []*mux.Route) error {
		path, err := route.GetPathTemplate()
		if err != nil {
			return err
		}
		for method := range strings.SplitSeq(g.do(nobody, "PURGE", path, "").header.Get("Allow"), ", ") {
			all = append(all, method+" "+path)
		}
		return nil
	})
	if err != nil || len(all) < 40 {
		t.Fatalf("%d routes, %v", len(all), err)
	}
	slices.Sort(all)
	return all
}

func TestEveryRouteWantsATokenUnlessListed(t *testing.T) {
	g := newRig(t)
	live, _ := access.New(access.LivePrefix)
	var open []string
	for _, route := range eachRoute(t, g) {
		method, path, _ := strings.Cut(route, " ")
		if method == http.MethodOptions {
			continue
		}
		for _, tt := range []struct {
			what, authorization, key string
			code, text, challenge    string
		}{
			{"nothing", "", "", "missing_token", "missing bearer token", "Bearer"},
			{"another scheme", "Basic eDp5", "", "missing_token", "missing bearer token", "Bearer"},
			{"an empty token", "Bearer ", "", "missing_token", "missing bearer token", "Bearer"},
			{"a bad token", "Bearer nonsense", "", "invalid_token", "invalid token", badToken},
			{"an endless token", "Bearer token-of-" + strings.Repeat("x", maxToken), "", "invalid_token", "invalid token", badToken},
			{"an expired token", "bearer old", "", "token_expired", "token expired", badToken},
			{"an API key as a token", "Bearer " + live, "", "invalid_token", "invalid token", badToken},
			{"an API key", "", live, "invalid_token", "invalid token", badToken},
		} {
			got := g.doAs(tt.authorization, tt.authorization != "", method, path, "{}", "X-Api-Key", tt.key)
			if got.status == http.StatusOK {
				open = append(open, route)
				continue
			}
			if method == http.MethodHead {
				got.body = `{"error":"` + tt.text + `"}` // a real server leaves it out
			}
			got.wantError(t, 401, tt.code, tt.text)
			if got.header.Get("WWW-Authenticate") != tt.challenge {
				t.Errorf("%s with %s: WWW-Authenticate is %q, want %q", route, tt.what,
					got.header.Get("WWW-Authenticate"), tt.challenge)
			}
		}
	}
	if got := slices.Compact(open); !slices.Equal(got, openRoutes) {
		t.Errorf("open without a token: %v, want %v", got, openRoutes)
	}
}

// TestDescriptionAndRoutesAreTheSame holds the list of operations against the handlers, both ways.
func TestDescriptionAndRoutesAreTheSame(t *testing.T) {
	g := newRig(t)
	var doc struct {
		OpenAPI string
		Paths   map[string]map[string]json.RawMessage
	}
	got := g.do(nobody, "GET", "/portal/v1/openapi.json", "")
	if err := json.Unmarshal([]byte(got.body), &doc); err != nil || !strings.HasPrefix(doc.OpenAPI, "3.1") {
		t.Fatalf("the description is of version %q, %v", doc.OpenAPI, err)
	}
	var described, issuer []string
	for path, operations := range doc.Paths {
		for method := range operations {
			if strings.HasPrefix(path, "/auth/") {
				issuer = append(issuer, path)
			} else {
				described = append(described, strings.ToUpper(method)+" "+path)
			}
		}
	}
	served := slices.DeleteFunc(eachRoute(t, g), func(route string) bool {
		// which are what HTTP makes of GET
		return strings.HasPrefix(route, "OPTIONS") || strings.HasPrefix(route, "HEAD")
	})
	slices.Sort(described)
	if !slices.Equal(described, served) {
		t.Errorf("described are\n%v\nserved are\n%v", described, served)
	}
	slices.Sort(issuer)
	paths := append(signin.Paths(), signin.MethodsPath)
	slices.Sort(paths)
	served = slices.DeleteFunc(paths, func(path string) bool { return !strings.HasPrefix(path, "/auth/v1/") })
	if !slices.Equal(issuer, served) {
		t.Errorf("of the issuer are described %v, served %v", issuer, served)
	}
}

func TestDescriptionIsValid(t *testing.T) {
	doc, err := openapi3.NewLoader().LoadFromData(description)
	if err != nil {
		t.Fatal(err)
	}
	if err := doc.Validate(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestUnknownPaths(t *testing.T) {
	g := newRig(t)
	for _, path := range []string{
		"/portal/v1", "/portal/v1/", "/portal/v1/me/", "/portal/v1/orgs/", "/portal/v1/orgs/x/", "/portal/v1/orgs/x/members/", "/portal/v1/orgs/x/y",
		"/portal/v1/orgs//members", "/portal//v1/me", "//portal/v1/me", "/portal/v1/../v1/me", "/portal/v1/ME", "/portal/v1/m%65", "/portal/v2/me", "/v1/tts", "/",
		"/portal/v1/keys/a/b",
	} {
		g.do(owner, "GET", path, "").wantError(t, 404, "not_found", "not found")
		g.do(nobody, "POST", path, "").wantError(t, 404, "not_found", "not found")
	}
}

func TestWrongMethods(t *testing.T) {
	g := newRig(t)
	for path, allow := range map[string]string{
		"/portal/v1/me":               "GET, HEAD, OPTIONS",
		"/portal/v1/orgs":             "POST, OPTIONS",
		"/portal/v1/orgs/x":           "PATCH, OPTIONS",
		"/portal/v1/orgs/x/members":   "GET, HEAD, POST, OPTIONS",
		"/portal/v1/orgs/x/members/y": "DELETE, PATCH, OPTIONS",
		"/portal/v1/keys":             "GET, HEAD, POST, OPTIONS",
	} {
		for _, method := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "TRACE", "get"} {
			if slices.Contains(strings.Split(allow, ", "), method) {
				continue
			}
			got := g.do(owner, method, path, "{}")
			if method == http.MethodHead {
				got.body = `{"error":"method not allowed"}`
			}
			got.wantError(t, 405, "method_not_allowed", "method not allowed")
			if got.header.Get("Allow") != allow {
				t.Errorf("%s %s: Allow is %q, want %q", method, path, got.header.Get("Allow"), allow)
			}
		}
	}
}

// TestUnusualIdentifiers sends what is no identifier where one belongs. The answers are those for unknown ones, and no
// store sees it.
func TestUnusualIdentifiers(t *testing.T) {
	g := newRig(t)
	org, _ := g.world()
	for _, id := range []string{"x", "ORG", "%2F", "a%2Fb", "..%2F..", "%00", "%FF", "a%20b", strings.Repeat("a", 65),
		"org_%E0%A4%86"} {
		g.do(owner, "PATCH", "/portal/v1/orgs/"+id, `{"name":"n"}`).wantError(t, 403, "not_member", "not a member")
		g.do(owner, "DELETE", "/portal/v1/keys/"+id, "").wantError(t, 404, "not_found", "not found")
		g.do(owner, "DELETE", "/portal/v1/orgs/"+org+"/members/"+id, "").wantError(t, 404, "not_found", "not found")
	}
	ok[any](g, owner, "POST", "/portal/v1/orgs/"+org+"/members", `{"email":"a/b+c@example.org"}`)
	ok[any](g, owner, "DELETE", "/portal/v1/orgs/"+org+"/members/a%2Fb+c%40example.org", "")
}

func TestHEAD(t *testing.T) {
	g := newRig(t)
	org, _ := g.world()
	for _, path := range []string{"/portal/v1/me", "/portal/v1/keys?org_id=" + org, "/portal/v1/openapi.json"} {
		get, head := g.do(owner, "GET", path, ""), g.do(owner, "HEAD", path, "")
		if head.status != 200 || head.header.Get("Content-Length") != get.header.Get("Content-Length") {
			t.Errorf("HEAD %s: %d %v, want what GET says: %v", path, head.status, head.header, get.header)
		}
	}
}

// TestNothingTellsWhatThereIs compares what a stranger is told of what there is and of what there is not, down to the
// headers.
func TestNothingTellsWhatThereIs(t *testing.T) {
	g := newRig(t)
	org, prj := g.world()
	key := ok[createdKeyAnswer](g, owner, "POST", "/portal/v1/keys", `{"project_id":"`+prj+`","name":"k"}`).Row.ID
	vr := ok[keyAnswer](g, owner, "POST", "/portal/v1/voice-requests",
		`{"org_id":"`+org+`","voice_name":"M","language":"hi","use_case":"u"}`).ID
	mine := ok[orgAnswer](g, stranger, "POST", "/portal/v1/orgs", `{"name":"Mine"}`)
	unknown := strings.Repeat("0", 26)
	there := strings.NewReplacer("{org}", org, "{prj}", prj, "{key}", key, "{vr}", vr, "{email}", member)
	absent := strings.NewReplacer("{org}", "org_"+unknown, "{prj}", "prj_"+unknown, "{key}", "key_"+unknown, "{vr}",
		"vr_"+unknown, "{email}", "no@example.org")
	asked := map[string]bool{}
	for _, tt := range []struct{ route, path, body string }{
		{"PATCH /orgs/{org}", "", `{"name":"n"}`},
		{"GET /orgs/{org}/members", "", ""},
		{"POST /orgs/{org}/members", "", `{"email":"{email}"}`},
		{"PATCH /orgs/{org}/members/{email}", "", `{"role":"viewer"}`},
		{"DELETE /orgs/{org}/members/{email}", "", ""},
		{"GET /orgs/{org}/audit", "", ""},
		{"POST /projects", "", `{"org_id":"{org}","name":"n"}`},
		{"PATCH /projects/{id}", "/projects/{prj}", `{"name":"n"}`},
		{"GET /projects/{id}/lexicon", "/projects/{prj}/lexicon", ""},
		{"PUT /projects/{id}/lexicon", "/projects/{prj}/lexicon", `{"entries":[]}`},
		{"POST /projects/{id}/lexicon/file", "/projects/{prj}/lexicon/file", `{"format":"csv","text":"a,b"}`},
		{"GET /keys", "/keys?org_id={org}", ""},
		{"GET /keys", "/keys?org_id=" + mine.ID + "&project_id={prj}", ""},
		{"POST /keys", "", `{"project_id":"{prj}","name":"n"}`},
		{"PATCH /keys/{id}", "/keys/{key}", `{"name":"n"}`},
		{"DELETE /keys/{id}", "/keys/{key}", ""},
		{"POST /playground-key", "", `{"project_id":"{prj}"}`},
		{"GET /usage", "/usage?org_id={org}", ""},
		{"GET /usage", "/usage?org_id=" + mine.ID + "&project_id={prj}", ""},
		{"GET /requests", "/requests?org_id={org}&project_id={prj}", ""},
		{"GET /requests", "/requests?org_id=" + mine.ID + "&project_id={prj}", ""},
		{"GET /billing", "/billing?org_id={org}", ""},
		{"GET /voice-requests", "/voice-requests?org_id={org}", ""},
		{"POST /voice-requests", "", `{"org_id":"{org}","voice_name":"M","language":"hi","use_case":"u"}`},
		{"DELETE /voice-requests/{id}", "/voice-requests/{vr}", ""},
		{"GET /me", "", ""},
		{"POST /orgs", "", `{"name":""}`},
		{"GET /openapi.json", "", ""},
	} {
		asked[tt.route] = true
		method, path, _ := strings.Cut(tt.route, " ")
		if tt.path != "" {
			path = tt.path
		}
		a := g.do(stranger, method, there.Replace("/portal/v1"+path), there.Replace(tt.body), "X-Request-Id", "same")
		b := g.do(stranger, method, absent.Replace("/portal/v1"+path), absent.Replace(tt.body), "X-Request-Id", "same")
		ah, _ := json.Marshal(a.header)
		bh, _ := json.Marshal(b.header)
		if a.status != b.status || a.body != b.body || string(ah) != string(bh) {
			t.Errorf("%s: what there is answers %d %s %s, what there is not %d %s %s", tt.route, a.status, ah, a.body,
				b.status, bh, b.body)
		}
	}
	for _, route := range eachRoute(t, g) {
		if r := strings.Replace(route, "/portal/v1", "", 1); !asked[r] && !strings.HasPrefix(r, "OPTIONS") &&
			!strings.HasPrefix(r, "HEAD") {
			t.Errorf("%s is not in the table of this test", r)
		}
	}
}

func TestOff(t *testing.T) {
	g := newRig(t)
	g.server.handler = Off()
	for _, path := range []string{"/portal/v1/me", "/portal/v1/nothing", "/portal"} {
		r := g.doOff(path)
		if r.status != 404 || r.body != `{"error":"portal is disabled"}` ||
			r.header.Get("X-Error-Code") != "portal_disabled" {
			t.Errorf("%s: %d %s, want 404 portal is disabled", path, r.status, r.body)
		}
		if r.header.Get("X-Request-Id") == "" || r.header.Get("Access-Control-Allow-Origin") != "*" ||
			r.header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: the headers are %v, want those of every answer", path, r.header)
		}
	}
	w, asked := httptest.NewRecorder(), httptest.NewRequest(http.MethodOptions, "/portal/v1/me", nil)
	Off().ServeHTTP(w, asked)
	if w.Code != http.StatusNoContent || w.Header().Get("Access-Control-Allow-Methods") == "" {
		t.Errorf("a page that asks how it may call is answered %d %v", w.Code, w.Header())
	}
}
