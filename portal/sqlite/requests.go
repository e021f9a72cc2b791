package sqlite

import (
	"context"
	"database/sql"
	"math"
	"strings"
	"time"

	"github.com/swar-tts/swar/portal/usage"
	"github.com/swar-tts/swar/runtime/meter"
)

// Requests implements [usage.Store]. It reads along the index of the filter that leaves the fewest rows, in the order
// of the log, and tries the other filters on the rows on the way. So it is slow only where each filter alone leaves
// many rows and all together few.
func (s *Store) Requests(ctx context.Context, q usage.RequestQuery) ([]usage.Request, error) {
	from := int64(math.MinInt64)
	if !q.From.IsZero() {
		from = microsUp(q.From)
	}
	start, id := end(q)
	var page []usage.Request
	err := s.read(ctx, func(c *conn) error {
		way, err := narrowest(c, q, from, start)
		if err != nil {
			return err
		}
		args := []any{q.OrgID, from, start, id, q.ProjectID, q.KeyID, q.Voice, q.Endpoint, string(q.Status),
			q.MinTTFAus, q.Limit, q.RequestID}
		return c.rows(ctx, way.page, args, func(rows *sql.Rows) error {
			var r usage.Request
			err := scanRequest(rows, &r)
			page = append(page, r)
			return err
		})
	})
	if err != nil {
		return nil, s.ended(ctx, err)
	}
	return page, nil
}

// end returns the place before which rows are wanted: that of the cursor or the end of the time, whichever is earlier.
func end(q usage.RequestQuery) (start int64, id string) {
	start = math.MaxInt64
	if !q.To.IsZero() {
		start = microsUp(q.To)
	}
	if q.After.IsZero() || !q.To.IsZero() && !q.After.At.Before(q.To) {
		return start, ""
	}
	if start = microsUp(q.After.At); start == q.After.At.UnixMicro() {
		id = q.After.ID // else what starts before the cursor does so whatever its id is
	}
	return start, id
}

// microsUp is the first microsecond that is not before t.
func microsUp(t time.Time) int64 {
	us := t.UnixMicro()
	if t.Nanosecond()%1000 != 0 {
		us++
	}
	return us
}

// indexPath is an index to read along.
type indexPath struct {
	page string // the query of a page, which takes every filter
	// counts rows, up to enough: of an organisation, from a start, to a start, that have a value
	count string
	value func(usage.RequestQuery) any // that q asks for; nil if it does not
}

// Slow requests have indexes of their own, since rows above a bound have no order by start.
const (
	slow     = 200_000 // microseconds
	verySlow = 1_000_000
)

// enough is as many rows as it takes no time to count. Filters that leave more are all the same.
const enough = 1000

var everything = indexPath{page: pageQuery("requests_of_org", "", "")}

// indexPaths are the filters with an index. Where two leave equally many rows, or enough, the first one is taken.
var indexPaths = []indexPath{
	newIndexPath("requests_of_request_id", "request_id = ?", "?12", "",
		func(q usage.RequestQuery) any { return text(q.RequestID) }),
	newIndexPath("requests_of_key", "key_id = ?", "?6", "", func(q usage.RequestQuery) any { return text(q.KeyID) }),
	newIndexPath("requests_not_ok", "status = ?", "?9", "status <> 'ok'", func(q usage.RequestQuery) any {
		if q.Status == meter.OK {
			return nil
		}
		return text(string(q.Status))
	}),
	newIndexPath("requests_very_slow", "ttfa_us >= ?", "?10", "ttfa_us >= 1000000",
		func(q usage.RequestQuery) any { return slower(q, verySlow, math.MaxInt64) }),
	newIndexPath("requests_slow", "ttfa_us >= ?", "?10", "ttfa_us >= 200000",
		func(q usage.RequestQuery) any { return slower(q, slow, verySlow) }),
	newIndexPath("requests_of_voice", "voice = ?", "?7", "", func(q usage.RequestQuery) any { return text(q.Voice) }),
	newIndexPath("requests_of_project", "project_id = ?", "?5", "",
		func(q usage.RequestQuery) any { return text(q.ProjectID) }),
	newIndexPath("requests_of_endpoint", "endpoint = ?", "?8", "",
		func(q usage.RequestQuery) any { return text(q.Endpoint) }),
}

func text(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func slower(q usage.RequestQuery, from, to int64) any {
	if q.MinTTFAus < from || q.MinTTFAus >= to {
		return nil
	}
	return q.MinTTFAus
}

// newIndexPath makes the queries that read along an index for a filter. only is the condition of a partial index,
// which the query must repeat.
func newIndexPath(index, filter, arg, only string, value func(usage.RequestQuery) any) indexPath {
	org, and := "", ""
	if index != "requests_of_key" && index != "requests_of_project" { // which are of one organisation anyway
		org = "org_id = ?1 AND "
	}
	if only != "" {
		and = " AND " + only
	}
	return indexPath{
		page: pageQuery(index, strings.Replace(filter, "?", arg, 1)+and, arg),
		count: `SELECT count(*) FROM (SELECT 1 FROM requests INDEXED BY ` + index + ` WHERE ` + org +
			`start >= ?2 AND start <= ?3 AND ` +
			strings.Replace(filter, "?", "?4", 1) + and + ` LIMIT ?5)`,
		value: value,
	}
}

// pageQuery returns the query of a page along an index, with the filter of the argument that the index is for. Its
// arguments are numbered as Requests lists them.
func pageQuery(index, filter, arg string) string {
	filters := []string{"org_id = ?1", "start >= ?2", "(start, id) < (?3, ?4)"}
	for _, f := range []struct{ column, arg string }{
		{"project_id", "?5"}, {"key_id", "?6"}, {"voice", "?7"}, {"endpoint", "?8"}, {"status", "?9"}, {"request_id", "?12"},
	} {
		if f.arg != arg {
			filters = append(filters, "("+f.arg+" = '' OR "+f.column+" = "+f.arg+")")
		}
	}
	if arg != "?10" {
		filters = append(filters, "ttfa_us >= ?10")
	}
	if filter != "" {
		filters = append(filters, filter)
	}
	return `SELECT ` + requestColumns + ` FROM requests INDEXED BY ` + index + ` WHERE ` + strings.Join(filters,
		" AND ") +
		` ORDER BY start DESC, id DESC LIMIT ?11`
}

// narrowest returns the way with the fewest rows for the filters of q.
func narrowest(c *conn, q usage.RequestQuery, from, to int64) (indexPath, error) {
	var given []indexPath
	for _, w := range indexPaths {
		if w.value(q) != nil {
			given = append(given, w)
		}
	}
	switch len(given) {
	case 0:
		return everything, nil
	case 1:
		return given[0], nil
	}
	best, fewest := given[0], int64(math.MaxInt64)
	for _, w := range given {
		var n int64
		if err := c.row(w.count, []any{q.OrgID, from, to, w.value(q), enough}, &n); err != nil {
			return indexPath{}, err
		}
		if n < fewest {
			best, fewest = w, n
		}
	}
	return best, nil
}
