package usage

import (
	"context"
	"encoding/base64"
	"strconv"
	"strings"
	"time"
)

const (
	defaultRequests = 50
	maxRequests     = 500
)

// Page is a part of the request log.
type Page struct {
	Requests []Request // newest first
	Next     string    // asks for the rows behind these; empty if there are none
}

// Requests returns the rows that q selects, behind the cursor that an earlier page gave as Next; an empty one means the newest.
// A limit of 0 means 50.
func (r *Reports) Requests(ctx context.Context, q RequestQuery, cursor string) (Page, error) {
	switch {
	case q.Limit < 0:
		return Page{}, ErrNoLimit
	case q.Limit > maxRequests:
		return Page{}, ErrLimit
	case q.Limit == 0:
		q.Limit = defaultRequests
	}
	if !q.From.IsZero() && !q.To.IsZero() && q.From.After(q.To) {
		return Page{}, ErrBackwards
	}
	var err error
	if q.After, err = parseCursor(cursor); err != nil {
		return Page{}, err
	}
	limit := q.Limit
	q.Limit++ // tells whether there is more
	rows, err := r.store.Requests(ctx, q)
	if err != nil {
		return Page{}, err
	}
	if len(rows) <= limit {
		return Page{Requests: rows}, nil
	}
	last := rows[limit-1]
	return Page{Requests: rows[:limit], Next: Cursor{Start: last.Start, ID: last.ID}.String()}, nil
}

// String writes c as [Page] does in Next.
func (c Cursor) String() string {
	if c.IsZero() {
		return ""
	}
	return base64.RawURLEncoding.EncodeToString([]byte(strconv.FormatInt(c.Start.UnixMicro(), 10) + " " + c.ID))
}

func parseCursor(s string) (Cursor, error) {
	if s == "" {
		return Cursor{}, nil
	}
	b, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil || len(b) > 200 {
		return Cursor{}, ErrCursor
	}
	at, id, ok := strings.Cut(string(b), " ")
	us, err := strconv.ParseInt(at, 10, 64)
	if !ok || err != nil || id == "" {
		return Cursor{}, ErrCursor
	}
	return Cursor{Start: time.UnixMicro(us).UTC(), ID: id}, nil
}

// RTF is the synthesis time by the audio time, to thousandths; nil without audio.
func (r Request) RTF() *float64 { return ratio(r.Synthus, r.Frames*frameMicros) }
