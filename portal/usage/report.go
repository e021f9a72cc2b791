package usage

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/swar-tts/swar/portal/cursor"
	"github.com/swar-tts/swar/runtime/meter"
)

// Refusal is the answer to a question that cannot be answered as it is. Its text is part of the API.
type Refusal struct {
	Text string
}

func (r *Refusal) Error() string { return r.Text }

// The refusals.
var (
	ErrBackwards = &Refusal{"from must not be after to"}
	ErrTooWide   = &Refusal{fmt.Sprintf("the range must be at most %d days", maxDays)}
	ErrLimit     = &Refusal{fmt.Sprintf("limit must be at most %d", maxRequests)}
	ErrNoLimit   = &Refusal{"limit must be at least 1"}
	ErrSplit     = &Refusal{"split must be key, voice or endpoint"}
	ErrCursor    = &Refusal{cursor.ErrInvalid.Error()}
)

const (
	maxDays     = 400
	defaultDays = 30
)

// Reports answers questions about usage. Who may ask is the caller's business. It is safe for concurrent use.
type Reports struct {
	store Store
	rates Rates
}

// NewReports returns the reports of store.
func NewReports(store Store, rates Rates) (*Reports, error) {
	if err := rates.check(); err != nil {
		return nil, err
	}
	return &Reports{store: store, rates: rates}, nil
}

// Rate returns the present price of a minute of audio, in paise.
func (r *Reports) Rate() int64 { return r.rates.at(monthOf(meter.DateOf(time.Now()))) }

// Query asks for the usage of an organisation.
type Query struct {
	OrgID     string // required
	ProjectID string // empty: all of them
	// the days that From..To touches are reported as a whole; To is exclusive. Zero: the last 30 days
	From, To time.Time
	Split    Split
}

// Usage is the answer to a [Query].
type Usage struct {
	OrgID, ProjectID string
	From, To         time.Time // of the query, or the default
	Total            Figures
	ByDay            []DayFigures // oldest first; every day of the range, also without usage
	ByKey            []KeyFigures // most frames first
	ByVoice          []NamedFigures
	ByEndpoint       []NamedFigures
	// as Query.Split says: the 8 with the most frames, most first, and [Other] if there are more
	Series []Series
}

// Figures is usage added up.
type Figures struct {
	Requests  int64 // that have ended
	Errors    int64 // of these, by our fault
	Cancelled int64 // of these, by the client
	Frames    int64 // decoded, 80 ms each
	Billed    int64 // of these, the billed ones
	Chars     int64 // code points of normalised text
	Paise     int64 // for the billed frames of each month, rounded half up once a month

	TTFAP50, TTFAP95 *float64 // milliseconds from the worker to the first frame, within 1 %; nil without one
	RTF              *float64 // all synthesis time by all audio time; nil without audio
}

// DayFigures is the usage of a day in India.
type DayFigures struct {
	Date string
	Figures
}

// KeyFigures is the usage with a key. All playground keys of a project are one, with the id [PlaygroundKey].
type KeyFigures struct {
	ProjectID, KeyID, Prefix string
	Figures
}

// NamedFigures is the usage of a voice or an endpoint.
type NamedFigures struct {
	Name string
	Figures
}

// Usage adds up what q asks for.
func (r *Reports) Usage(ctx context.Context, q Query) (Usage, error) {
	first, last, err := q.days()
	if err != nil {
		return Usage{}, err
	}
	shards, err := r.store.Shards(ctx, q.OrgID, first.Format(time.DateOnly), last.Format(time.DateOnly))
	if err != nil {
		return Usage{}, err
	}
	rates, err := r.ratesOf(ctx)
	if err != nil {
		return Usage{}, err
	}
	u := Usage{OrgID: q.OrgID, ProjectID: q.ProjectID, From: q.From, To: q.To}
	for day := first; !day.After(last); day = day.AddDate(0, 0, 1) {
		u.ByDay = append(u.ByDay, DayFigures{Date: day.Format(time.DateOnly)})
	}
	sum := newAccounts(q.ProjectID, newSeries(q.Split, u.ByDay))
	for i := range shards {
		d := &shards[i]
		if err := sum.add(d); err != nil {
			return Usage{}, fmt.Errorf("usage of %s on %s from %s: %w", d.OrgID, d.Date, d.Source, err)
		}
	}
	paise := make([]int64, len(sum.months))
	for i, month := range sum.months {
		paise[i], _ = rates.at(month)
	}
	sum.figures(&u, paise)
	u.Series = sum.series.largest()
	return u, nil
}

// days fills in the default range and returns its first and last day, as midnights in India.
func (q *Query) days() (first, last time.Time, err error) {
	if q.To.IsZero() {
		q.To = time.Now().UTC()
	}
	if q.From.IsZero() {
		q.From = midnight(q.To.Add(-1)).AddDate(0, 0, 1-defaultDays)
	}
	switch {
	case !slices.Contains([]Split{"", SplitKey, SplitVoice, SplitEndpoint}, q.Split):
		return first, last, ErrSplit
	case q.From.After(q.To):
		return first, last, ErrBackwards
	case q.To.Sub(q.From) > maxDays*24*time.Hour:
		return first, last, ErrTooWide
	}
	first, last = midnight(q.From), midnight(q.To.Add(-1))
	if last.Before(first) { // an empty range at midnight
		last = first
	}
	return first, last, nil
}

func midnight(t time.Time) time.Time {
	t = t.In(meter.India)
	return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, meter.India)
}

// rateTable has the rate of each month.
type rateTable struct {
	rates  Rates
	closed map[string]int64
}

func (r *Reports) ratesOf(ctx context.Context) (rateTable, error) {
	months, err := r.store.ClosedMonths(ctx)
	if err != nil {
		return rateTable{}, err
	}
	t := rateTable{rates: r.rates, closed: map[string]int64{}}
	for _, m := range months {
		t.closed[m.Month] = m.Rate
	}
	return t, nil
}

// at returns the rate of month, and whether it is fixed.
func (t rateTable) at(month string) (paise int64, closed bool) {
	if rate, ok := t.closed[month]; ok {
		return rate, true
	}
	return t.rates.at(month), false
}
