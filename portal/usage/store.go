package usage

import (
	"context"
	"time"

	"github.com/swar-tts/swar/portal/cursor"
	"github.com/swar-tts/swar/runtime/meter"
)

// Store keeps usage. It is safe for concurrent use, also by several processes on one database. Implementations hold
// no rule: what an event changes is worked out by [Aggregate] and [ShardChange.Fold], inside the store's transaction.
type Store interface {
	// Apply books b exactly once, in one transaction: it reads the position of b.Source (zero for an unknown one) and
	// which of [Batch.Months] are closed, passes both to [Aggregate], and writes the result: the shards, each merged
	// into the stored one; the requests, added to the stored ones; and the new position. Either all of it is stored or
	// nothing.
	//
	// The error is that of Book, such as a *meter.GapError or *meter.ForkError, or a failure of the store, after
	// which the caller tries again.
	Apply(ctx context.Context, b Batch) error

	// Shards returns the shards of an organisation for the days from..to, both inclusive and formatted as 2026-11-21,
	// in order of date.
	Shards(ctx context.Context, orgID, from, to string) ([]Shard, error)

	// Days returns the totals of the same shards, one for each day that has any, in order of date. It does not read
	// cells.
	Days(ctx context.Context, orgID, from, to string) ([]Day, error)

	// Requests returns rows of the request log, newest first: by Start and then ID, both descending.
	Requests(ctx context.Context, q RequestQuery) ([]Request, error)

	// ClosedMonths returns every closed month, oldest first.
	ClosedMonths(ctx context.Context) ([]ClosedMonth, error)

	// CloseMonth closes a month for every organisation. A closed month stays as it is: closing twice, also from two
	// processes at once, is no error and the first one counts. No Apply books on the month once CloseMonth has
	// returned.
	CloseMonth(ctx context.Context, m ClosedMonth) error

	// Compare returns, for each organisation that has usage on a day, what its shards and what its requests add up to
	// at one moment.
	Compare(ctx context.Context, date string) ([]Comparison, error)

	// MergeShards merges the shards of each organisation on a day into one, that of [MergedSource], by [Merge], and
	// returns how many fewer there are. It may use any number of transactions, each of which keeps every sum: so it may
	// stop at any moment, run in two processes at once, and meet an Apply of the same shards. A store with a size limit
	// leaves shards that would exceed it together.
	MergeShards(ctx context.Context, date string) (fewer int, err error)

	// SweepRequests deletes the request rows of all days before date, and returns how many. It may delete in several
	// steps.
	SweepRequests(ctx context.Context, date string) (int, error)
}

// Batch is a batch of events on the day on which it is booked.
type Batch struct {
	meter.Batch
	Today string // such as 2026-11-21, in India: where events go whose own month is closed

	Skipped map[int64]string // numbers of events that are not booked, each with the reason
}

// ShardKey names a shard: the usage of one organisation on one day, as one source has reported it. Each shard has one
// writer, its source, so that sources do not wait for one another. Shards of past days are merged, for sources come and
// go; later reports for such a day begin a new one.
type ShardKey struct {
	OrgID  string
	Source string
	Date   string
}

// MergedSource is the source of merged shards. No log has this name, so that no source writes to them again.
const MergedSource = "merged"

// Shard is stored usage. A store keeps the numbers in columns that it can add up, and Cells as they are.
type Shard struct {
	ShardKey
	Totals
	Cells []byte // by project, key, voice and endpoint; see cells.go
}

// Totals are the numbers that bills are made of.
type Totals struct {
	Requests int64 // that have ended
	Frames   int64 // decoded, 80 ms each
	Billed   int64 // of these, the billed ones
}

// Add adds o.
func (t *Totals) Add(o Totals) {
	t.Requests += o.Requests
	t.Frames += o.Frames
	t.Billed += o.Billed
}

// Day is the usage of an organisation on one day.
type Day struct {
	Date string
	Totals
}

// DaysOf adds shards up by date. They must be in the order of their dates, as the days are then.
func DaysOf(shards []Shard) []Day {
	var days []Day
	for _, s := range shards {
		if n := len(days); n == 0 || days[n-1].Date != s.Date {
			days = append(days, Day{Date: s.Date})
		}
		days[len(days)-1].Add(s.Totals)
	}
	return days
}

// Running is the status of a request whose final event has not come yet.
const Running meter.Status = "running"

// Request is a row of the request log. There is no text in it.
type Request struct {
	// the event's; with a date behind it for what was booked on another day because its own month was closed
	ID     string
	Date   string // on which it is booked
	Source string

	OrgID, ProjectID, KeyID, KeyPrefix string
	Playground                         bool

	Start                              time.Time // UTC, whole microseconds
	RequestID, Endpoint, Voice, Format string
	Status                             meter.Status // Running until it has ended
	Error                              string

	Frames, Billed                   int64 // in a Booking: to be added to the stored row's; all else replaces it
	Chars, Chunks                    int
	TTFAus, Queueus, Wallus, Synthus int64 // as in meter.Event
	PrefillCached                    bool
	Seed                             int64
}

// RequestQuery selects requests of one organisation. Zero fields select everything.
type RequestQuery struct {
	OrgID     string // required
	ProjectID string
	KeyID     string
	Voice     string
	Endpoint  string
	Status    meter.Status
	RequestID string        // exactly; several requests may have one id, because clients choose it
	MinTTFAus int64         // at least
	From, To  time.Time     // of Start; From is inclusive, To exclusive
	After     cursor.Cursor // the last row of the page before
	Limit     int           // required, at least 1
}

// Selects reports whether r is one of the rows that q asks for, leaving its limit aside.
func (q RequestQuery) Selects(r Request) bool {
	like := func(want, got string) bool { return want == "" || want == got }
	isOfWhom := q.OrgID == r.OrgID && like(q.ProjectID, r.ProjectID) && like(q.KeyID, r.KeyID)
	isOfWhat := like(q.Voice, r.Voice) && like(q.Endpoint, r.Endpoint) && r.TTFAus >= q.MinTTFAus
	isThatOne := like(q.RequestID, r.RequestID)
	isAfter := q.From.IsZero() || !r.Start.Before(q.From)
	isBefore := q.To.IsZero() || r.Start.Before(q.To)
	isBehind := q.After.IsZero() || r.Place().Compare(q.After) < 0
	isInPage := isThatOne && isAfter && isBefore && isBehind
	return isOfWhom && isOfWhat && isInPage && like(string(q.Status), string(r.Status))
}

// Place is the position of r in the log.
func (r Request) Place() cursor.Cursor { return cursor.Cursor{At: r.Start, ID: r.ID} }

// ClosedMonth is a month whose bills no longer change: neither its usage nor its rate.
type ClosedMonth struct {
	Month    string // such as 2026-11
	Rate     int64  // paise a minute
	ClosedAt time.Time
}

// Comparison is the two ways of adding up the usage of an organisation on a day. They are equal, or something is
// broken.
type Comparison struct {
	OrgID    string
	Date     string
	Shards   Totals
	Requests Totals // rows that are not Running, and the frames of all rows
}
