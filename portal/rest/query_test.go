package rest

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/swar-tts/swar/portal/cursor"
	"github.com/swar-tts/swar/portal/tenant"
	"github.com/swar-tts/swar/portal/usage"
	"github.com/swar-tts/swar/runtime/ident"
	"github.com/swar-tts/swar/runtime/meter"
)

func TestTimes(t *testing.T) {
	for text, want := range map[string]string{
		"0":                            "1970-01-01T00:00:00Z",
		"1":                            "1970-01-01T00:00:01Z",
		"01":                           "1970-01-01T00:00:01Z",
		"1.5":                          "1970-01-01T00:00:01.5Z",
		"1763700000.000001":            "2025-11-21T04:40:00.000001Z",
		"1763700000.0000019":           "2025-11-21T04:40:00.000001Z",
		"1763700000.12345678901234567": "2025-11-21T04:40:00.123456Z",
		"253402300799.999999":          "9999-12-31T23:59:59.999999Z",
		"253402300800":                 "",
		"9999999999999":                "",
		"":                             "",
		"-1":                           "",
		"+1":                           "",
		"1.":                           "",
		".5":                           "",
		"1e9":                          "",
		"0x10":                         "",
		"1_000":                        "",
		"NaN":                          "",
		"Inf":                          "",
		"1.5.5":                        "",
		"१":                            "",
		"1\t":                          "",
		"1.123456789012345678901":      "",
		"2025-11-21T00:00:00Z":         "",
	} {
		at, ok := parseTime(text)
		if got := at.Format(time.RFC3339Nano); ok != (want != "") || ok && got != want {
			t.Errorf("%q is %s, %v; want %q", text, got, ok, want)
		}
	}
}

func TestQueries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newRig(t)
		org, prj := g.world()
		for query, text := range map[string]string{
			"":                       "org_id is required",
			"org_id=":                "org_id is required",
			"org_id={org}&org_id=x":  "not a member",
			"org_id=x&org_id={org}":  "",
			"org_id={org}&unknown=1": "",
			"org_id={org}&project_id=&limit=&from=&to=&status=&cursor=&format=": "",
			"org_id={org}&project_id={prj}":                                     "",
			"org_id={org}&limit=1":                                              "",
			"org_id={org}&limit=499":                                            "",
			"org_id={org}&limit=500":                                            "",
			"org_id={org}&limit=501":                                            "limit must be at most 500",
			"org_id={org}&limit=99999999999999999999":                           "limit must be at most 500",
			"org_id={org}&limit=0500":                                           "",
			"org_id={org}&limit=0":                                              "limit must be at least 1",
			"org_id={org}&limit=-1":                                             "limit must be at least 1",
			"org_id={org}&limit=1.0":                                            "limit: must be an integer",
			"org_id={org}&limit=x":                                              "limit: must be an integer",
			"org_id={org}&from=x":                                               "from: must be unix seconds",
			"org_id={org}&to=1e9":                                               "to: must be unix seconds",
			"org_id={org}&from=2&to=1.5":                                        "from must not be after to",
			"org_id={org}&from=2&to=2":                                          "",
			"org_id={org}&min_ttfa_ms=12.5":                                     "",
			"org_id={org}&min_ttfa_ms=-1":                                       "min_ttfa_ms: must be milliseconds",
			"org_id={org}&status=running":                                       "",
			"org_id={org}&status=good":                                          "status must be ok, cancelled, error, timeout or running",
			"org_id={org}&format=xml":                                           "format must be json or csv",
			"org_id={org}&cursor=!":                                             "cursor: not valid",
			"org_id={org}&cursor=AAAA":                                          "cursor: not valid",
			"org_id={org}&voice=%FF":                                            "voice: not valid",
			"org_id={org}&voice=%00":                                            "voice: not valid",
			"org_id={org}&%FF=%FF":                                              "query: not valid",
			"org_id={org}&voice=%zz":                                            "query: not valid",
			"org_id={org};voice=raj":                                            "query: not valid",
			"org_id={org}&voice=" + strings.Repeat("x", maxValue):               "",
			"org_id={org}&voice=" + strings.Repeat("x", 1+maxValue):             "voice: not valid",
			"org_id={org}&x=" + strings.Repeat("&", maxQuery):                   "query: not valid",
		} {
			time.Sleep(time.Second)
			query = strings.NewReplacer("{org}", org, "{prj}", prj).Replace(query)
			got := g.do(viewer, "GET", "/portal/v1/requests?"+query, "")
			switch {
			case text == "" && got.status != 200:
				t.Errorf("%s: %d %s", query, got.status, got.body)
			case text == "not a member":
				got.wantError(t, 403, "not_member", text)
			case text != "":
				got.wantError(t, 400, got.header.Get("X-Error-Code"), text)
			}
		}
	})
}

// TestPages walks through logs page by page and meets every row once.
func TestPages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newRig(t)
		org, prj := g.world()
		for i := range 7 {
			time.Sleep(time.Millisecond)
			g.book(org, prj, "key_x", nil)
			if _, err := g.tenancy.UpdateOrg(t.Context(), tenant.Operator(), org,
				tenant.OrgChange{Name: new(fmt.Sprint("name ", i))}); err != nil {
				t.Fatal(err)
			}
		}
		type page struct {
			Requests, Entries []struct {
				ID        string
				RequestID string `json:"request_id"`
			}
			Next string `json:"next_cursor"`
		}
		for path, want := range map[string]int{"/portal/v1/requests?org_id=" + org + "&": 7,
			"/portal/v1/orgs/" + org + "/audit?": 13} {
			seen, pages := map[string]bool{}, 0
			for cursor := ""; ; {
				time.Sleep(time.Second)
				p := ok[page](g, owner, "GET", path+"limit=3&cursor="+url.QueryEscape(cursor), "")
				for _, row := range append(p.Requests, p.Entries...) {
					if seen[row.ID+row.RequestID] {
						t.Errorf("%s: %+v comes twice", path, row)
					}
					seen[row.ID+row.RequestID] = true
				}
				if cursor = p.Next; cursor == "" {
					break
				}
				if pages++; pages > 10 {
					t.Fatalf("%s: the pages have no end", path)
				}
			}
			if len(seen) != want {
				t.Errorf("%s: %d rows, want %d", path, len(seen), want)
			}
		}
	})
}

func TestAuditCursorsOfOthers(t *testing.T) {
	g := newRig(t)
	org, _ := g.world()
	for _, cursor := range []string{"x", "!", "MTIz", "MTIzIA", "IGF1ZF8w", "eCBhdWRfMA", "MTIzIGF1ZC8w"} {
		g.do(owner, "GET", "/portal/v1/orgs/"+org+"/audit?cursor="+cursor, "").wantError(t, 400, "bad_cursor",
			"cursor: not valid")
	}
	foreign := cursor.Cursor{ID: "aud_x", At: time.UnixMicro(-5).UTC()}.String() // a place before everything
	if got := ok[struct{ Entries []any }](g, owner, "GET", "/portal/v1/orgs/"+org+"/audit?cursor="+foreign,
		"").Entries; len(got) != 0 {
		t.Errorf("%d entries behind the oldest place", len(got))
	}
}

func TestExports(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newRig(t)
		org, prj := g.world()
		for range 1201 {
			time.Sleep(time.Millisecond)
			g.book(org, prj, "key_x", func(e *meter.Event) { e.Error = `=HYPERLINK("x")` })
		}
		got := g.do(viewer, "GET", "/portal/v1/requests?format=csv&limit=2&org_id="+org, "")
		lines := strings.Count(got.body, "\n")
		if got.status != 200 || lines != 1202 || got.header.Get("Content-Type") != csvType ||
			got.header.Get("Content-Disposition") != `attachment; filename="requests.csv"` {
			t.Errorf("%d lines, want 1202: %d %v", lines, got.status, got.header)
		}
		if strings.Contains(got.body, ",=HYPERLINK") || strings.Contains(got.body, `"=HYPERLINK`) {
			t.Error("a cell of the table is a formula")
		}
		refused := g.do(viewer, "GET", "/portal/v1/requests?format=csv&org_id="+org+"&from=2&to=1", "")
		refused.wantError(t, 400, "bad_range", "from must not be after to")
		if name := refused.header.Get("Content-Disposition"); name != "" {
			t.Errorf("a refusal is to be saved as %s", name)
		}

		limit := g.server.limits.of(userID(must(verifier{}.Verify(t.Context(), "token-of-"+viewer))(t)))
		limit.setExporting(true)
		g.do(viewer, "GET", "/portal/v1/requests?format=csv&org_id="+org, "").wantError(t, 429, "too_many_requests",
			"too many requests")
		limit.setExporting(false)
		if got := g.do(viewer, "GET", "/portal/v1/requests?format=csv&org_id="+org, ""); got.status != 200 {
			t.Errorf("after the other export: %d %s", got.status, got.body)
		}
	})
}

func must[T any](v T, err error) func(t *testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

var seeds = []string{
	"org_id=org_x&from=0&to=1763700000.5&limit=500&cursor=MTIzIGF1ZF8w", "from=253402300800", "limit=-0", "limit=000501", "cursor=%00", "a=%ff&&;", "from=1.&to=.1",
	"min_ttfa_ms=0.001", "org_id=..%2f", "from=999999999999.99999999999999999999",
}

func TestSeedsAreThere(t *testing.T) {
	if len(seeds) < 5 {
		t.Errorf("%d seeds", len(seeds))
	}
}

// FuzzQuery reads queries: nothing panics, and whatever is taken is within its bounds.
func FuzzQuery(f *testing.F) {
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		q, err := parseQuery(raw)
		if err != nil {
			return
		}
		c := &call{query: q}
		if request, _, err := c.requestQuery(); err == nil {
			if request.Limit < 0 || request.Limit > 500 || request.MinTTFAus < 0 || !ident.Valid(request.OrgID) {
				t.Errorf("%q is taken as %+v", raw, request)
			}
			for _, at := range []time.Time{request.From, request.To} {
				if !at.IsZero() && (at.Year() < 1970 || at.Year() > 9999) {
					t.Errorf("%q has the time %v", raw, at)
				}
			}
		}
		if at, ok := parseTime(c.text("from")); ok {
			whole, _, _ := strings.Cut(c.text("from"), ".")
			if strings.TrimLeft(fmt.Sprint(at.Unix()), "0") != strings.TrimLeft(whole, "0") {
				t.Errorf("%q is taken as %v", c.text("from"), at)
			}
		}
		_, _, _ = c.usageQuery()
	})
}

func TestUsageNamesKeys(t *testing.T) {
	u := usage.Usage{ByKey: []usage.KeyFigures{{KeyID: "key_a"}, {KeyID: usage.PlaygroundKey}, {KeyID: "key_gone"}}}
	shape := shapeUsage(u, []tenant.Key{{ID: "key_a", Name: "server"}})
	for i, want := range []string{"server", "Playground", ""} {
		if got := shape.ByKey[i].Name; got != want {
			t.Errorf("key %d is called %q, want %q", i, got, want)
		}
	}
}
