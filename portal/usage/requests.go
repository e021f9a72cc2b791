package usage

import (
	"context"

	"github.com/swar-tts/swar/portal/cursor"
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

// Requests returns the rows that q selects, after the position of an earlier page's Next. An empty position means the
// newest. A limit of 0 means 50.
func (r *Reports) Requests(ctx context.Context, q RequestQuery, after string) (Page, error) {
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
	if q.After, err = cursor.Parse(after); err != nil {
		return Page{}, ErrCursor
	}
	limit := q.Limit
	q.Limit++ // one more shows whether there is another page
	rows, err := r.store.Requests(ctx, q)
	if err != nil {
		return Page{}, err
	}
	if len(rows) <= limit {
		return Page{Requests: rows}, nil
	}
	return Page{Requests: rows[:limit], Next: rows[limit-1].Place().String()}, nil
}

// RTF is the synthesis time by the audio time, to thousandths; nil without audio.
func (r Request) RTF() *float64 { return ratio(r.Synthus, r.Frames*frameMicros) }
