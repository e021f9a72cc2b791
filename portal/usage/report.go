package usage

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

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
	ErrCursor    = &Refusal{"cursor: not valid"}
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
	OrgID     string    // required
	ProjectID string    // empty: all of them
	From, To  time.Time // the days that From..To touches are reported as a whole; To is exclusive. Zero: the last 30 days
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
}

// Figures is usage added up.
type Figures struct {
	Requests  int64 // that have ended
	Errors    int64 // of these, by our fault
	Cancelled int64 // of these, by the client
	Frames    int64 // decoded, 80 ms each
	Billed    int64 // those of them that are paid for
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
	var total account
	days, keys, voices, endpoints := accounts{}, accounts{}, accounts{}, accounts{}
	for _, s := range shards {
		all, err := decodeCells(s.Cells)
		if err != nil {
			return Usage{}, fmt.Errorf("usage of %s on %s from %s: %w", s.OrgID, s.Date, s.Source, err)
		}
		for _, c := range all {
			if q.ProjectID != "" && q.ProjectID != c.project {
				continue
			}
			month := monthOf(s.Date)
			total.add(c, month)
			days.at(cellKey{key: s.Date}).add(c, month)
			keys.at(cellKey{project: c.project, key: c.key}).add(c, month)
			voices.at(cellKey{key: c.voice}).add(c, month)
			endpoints.at(cellKey{key: c.endpoint}).add(c, month)
		}
	}
	u := Usage{OrgID: q.OrgID, ProjectID: q.ProjectID, From: q.From, To: q.To, Total: total.figures(rates)}
	for day := first; !day.After(last); day = day.AddDate(0, 0, 1) {
		date := day.Format(time.DateOnly)
		u.ByDay = append(u.ByDay, DayFigures{date, days.at(cellKey{key: date}).figures(rates)})
	}
	for k, a := range keys {
		u.ByKey = append(u.ByKey, KeyFigures{k.project, k.key, a.prefix, a.figures(rates)})
	}
	slices.SortFunc(u.ByKey, func(a, b KeyFigures) int {
		return cmp.Or(cmp.Compare(b.Frames, a.Frames), strings.Compare(a.KeyID, b.KeyID), strings.Compare(a.ProjectID, b.ProjectID))
	})
	u.ByVoice, u.ByEndpoint = voices.named(rates), endpoints.named(rates)
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

// rateTable tells the rate of each month.
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

// account adds cells up.
type account struct {
	counts
	prefix string
	months map[string]int64 // billed frames
}

func (a *account) add(c *cell, month string) {
	a.merge(&c.counts)
	a.prefix = max(a.prefix, c.prefix)
	if a.months == nil {
		a.months = map[string]int64{}
	}
	a.months[month] += c.billed
}

func (a *account) figures(rates rateTable) Figures {
	f := Figures{
		Requests: a.requests, Errors: a.errors, Cancelled: a.cancelled, Frames: a.frames, Billed: a.billed, Chars: a.chars,
		TTFAP50: milliseconds(&a.ttfa, 0.50), TTFAP95: milliseconds(&a.ttfa, 0.95),
	}
	for month, billed := range a.months {
		rate, _ := rates.at(month)
		f.Paise += Paise(billed, rate)
	}
	f.RTF = ratio(a.synthUS, a.frames*frameMicros)
	return f
}

// frameMicros is how long a frame sounds, in microseconds.
const frameMicros = 80_000

// milliseconds rounds a quantile to a tenth.
func milliseconds(s *sketch, q float64) *float64 {
	us, ok := s.quantile(q)
	if !ok {
		return nil
	}
	ms := math.Round(us/100) / 10
	return &ms
}

// ratio rounds a quotient to thousandths.
func ratio(a, b int64) *float64 {
	if b <= 0 {
		return nil
	}
	q := math.Round(1000*float64(a)/float64(b)) / 1000
	return &q
}

// accounts are told apart by some of the fields of a cell's key.
type accounts map[cellKey]*account

func (s accounts) at(k cellKey) *account {
	if s[k] == nil {
		s[k] = &account{}
	}
	return s[k]
}

func (s accounts) named(rates rateTable) []NamedFigures {
	var all []NamedFigures
	for k, a := range s {
		all = append(all, NamedFigures{k.key, a.figures(rates)})
	}
	slices.SortFunc(all, func(a, b NamedFigures) int { return strings.Compare(a.Name, b.Name) })
	return all
}
