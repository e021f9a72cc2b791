package sqlite

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/swar-tts/swar/portal/cursor"
	"github.com/swar-tts/swar/portal/usage"
	"github.com/swar-tts/swar/runtime/meter"
)

// Whatever is asked for, and along whichever index, the answer is what the port says.
func TestRequestsOfRandomQueries(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	pick := func(of ...string) string { return of[rng.IntN(len(of))] }
	noon := time.Date(2026, 11, 15, 6, 30, 0, 0, time.UTC)
	ttfas := []int64{0, 1, slow - 1, slow, slow + 1, verySlow - 1, verySlow, verySlow + 1}
	var rows []usage.Request
	for i := range 600 {
		rows = append(rows, usage.Request{
			ID: fmt.Sprintf("evt_%03d", i), Date: "2026-11-15", OrgID: pick("org_a", "org_a", "org_b"),
			ProjectID: pick("prj_a", "prj_b"),
			KeyID:     pick("key_a", "key_b", "key_c"),
			RequestID: pick("a", "b", "c", "d"), Voice: pick("raj", "anjura"),
			Endpoint: pick("rest", "ws"),
			Status:   meter.Status(pick("ok", "ok", "error", "running")),
			Start:    noon.Add(time.Duration(rng.IntN(200)) * time.Microsecond),
			TTFAus:   ttfas[rng.IntN(len(ttfas))],
		})
	}
	s := open(t, Config{})
	for part := range slices.Chunk(rows, 300) {
		if err := s.ImportUsage(t.Context(), usage.Dump{Requests: part}); err != nil {
			t.Fatal(err)
		}
	}
	slices.SortFunc(rows, func(a, b usage.Request) int {
		return cmp.Or(b.Start.Compare(a.Start),
			cmp.Compare(b.ID, a.ID))
	})
	moment := func() time.Time {
		if rng.IntN(2) == 0 {
			return time.Time{}
		}
		return noon.Add(time.Duration(rng.IntN(220_000)-10_000) * time.Nanosecond)
	}
	found := 0
	for range 1000 {
		q := usage.RequestQuery{
			OrgID: pick("org_a", "org_b"), ProjectID: pick("", "", "prj_a"), KeyID: pick("", "", "key_b"),
			Voice: pick("", "", "raj"), RequestID: pick("", "", "a"),
			Endpoint: pick("", "", "ws"), Status: meter.Status(pick("", "", "ok", "error", "running")), From: moment(),
			To: moment(), Limit: 1 + rng.IntN(30),
		}
		if rng.IntN(2) == 0 {
			q.MinTTFAus = ttfas[rng.IntN(len(ttfas))]
		}
		if rng.IntN(2) == 0 {
			last := rows[rng.IntN(len(rows))]
			q.After = cursor.Cursor{At: last.Start.Add(time.Duration(rng.IntN(3)-1) * 500), ID: last.ID}
		}
		var want []string
		for _, r := range rows {
			if q.Selects(r) && len(want) < q.Limit {
				want = append(want, r.ID)
			}
		}
		page, err := s.Requests(t.Context(), q)
		var got []string
		for _, r := range page {
			got = append(got, r.ID)
		}
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("%+v: %v, %v; want %v", q, got, err, want)
		}
		found += len(got)
	}
	if found < 1000 {
		t.Errorf("1000 queries found %d rows: too few to show anything", found)
	}
}

// Of several filters, the index of the one that leaves the fewest rows is taken.
func TestNarrowest(t *testing.T) {
	s := open(t, Config{})
	var d usage.Dump
	for i := range 300 {
		r := usage.Request{
			ID: fmt.Sprint("evt_", i), OrgID: "org_a", Start: time.UnixMicro(int64(i)), ProjectID: "prj_a",
			KeyID: "key_a", Voice: "raj", Endpoint: "rest",
			Status: meter.OK, TTFAus: 1,
		}
		switch i {
		case 6:
			r.RequestID = "mine"
		case 7:
			r.ProjectID = "prj_rare"
		case 8:
			r.Endpoint = "rare"
		case 9:
			r.Status, r.TTFAus = meter.Failed, verySlow
		}
		d.Requests = append(d.Requests, r)
	}
	if err := s.ImportUsage(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		q    usage.RequestQuery
		want string
	}{
		"nothing asked for":           {usage.RequestQuery{}, "requests_of_org"},
		"one filter":                  {usage.RequestQuery{Voice: "raj"}, "requests_of_voice"},
		"all alike":                   {usage.RequestQuery{Voice: "raj", KeyID: "key_a"}, "requests_of_key"},
		"a rare project":              {usage.RequestQuery{ProjectID: "prj_rare", Voice: "raj", KeyID: "key_a"}, "requests_of_project"},
		"a rare endpoint":             {usage.RequestQuery{ProjectID: "prj_a", Endpoint: "rare"}, "requests_of_endpoint"},
		"an id":                       {usage.RequestQuery{KeyID: "key_a", RequestID: "mine"}, "requests_of_request_id"},
		"failures":                    {usage.RequestQuery{ProjectID: "prj_a", Status: meter.Failed}, "requests_not_ok"},
		"what went well has no index": {usage.RequestQuery{Status: meter.OK}, "requests_of_org"},
		"very slow ones":              {usage.RequestQuery{Voice: "raj", MinTTFAus: verySlow}, "requests_very_slow"},
		"slow ones":                   {usage.RequestQuery{MinTTFAus: slow}, "requests_slow"},
		"not so slow ones":            {usage.RequestQuery{MinTTFAus: slow - 1}, "requests_of_org"},
		"at no time":                  {usage.RequestQuery{Voice: "raj", ProjectID: "prj_a", From: time.UnixMicro(400)}, "requests_of_voice"},
	} {
		tt.q.OrgID = "org_a"
		start, _ := end(tt.q)
		err := s.read(t.Context(), func(c *conn) error {
			w, err := narrowest(c, tt.q, tt.q.From.UnixMicro(), start)
			if err == nil && w.page != pageOf(tt.want) {
				t.Errorf("%s: reads %s\nwant along %s", name, w.page, tt.want)
			}
			return err
		})
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// pageOf returns the query of a page along an index.
func pageOf(index string) string {
	for _, w := range append([]indexPath{everything}, indexPaths...) {
		if strings.Contains(w.page, "INDEXED BY "+index+" ") {
			return w.page
		}
	}
	return "no index " + index
}
