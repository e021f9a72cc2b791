package usage

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/swar-tts/swar/runtime/meter"
)

// Months close this long after their end. By then a disconnected server has usually reported; later usage goes on the
// next bill.
const closingGrace = 3 * 24 * time.Hour

// comparedDays is how many past days the nightly comparison looks at: as many as a month waits for its closing.
const comparedDays = 3

// mergedDays is how many past days are checked for shards to merge. Later reports of a source stay separate shards.
const mergedDays = 40

// MaintenanceConfig sets retention times.
type MaintenanceConfig struct {
	Rates     Rates
	Retention int // days that request rows are kept; 0 means 35, and fewer than 7 are refused
}

// Maintenance closes months, deletes old request rows, compares the books and merges the shards of past days. It may
// run in several processes at once.
type Maintenance struct {
	cfg   MaintenanceConfig
	store Store
	log   *slog.Logger
}

// Findings is what one round of upkeep has done and found.
type Findings struct {
	Closed      []string     // months
	Swept       int          // request rows
	Merged      int          // shards that are no more, because they were merged into others
	Differences []Comparison // that are not equal; there must be none
}

// Difference is what a metric shows: how far the two ways of adding up are apart, in requests and frames. It must be 0.
func (f Findings) Difference() int64 {
	var sum int64
	for _, c := range f.Differences {
		a, b := c.Shards, c.Requests
		for _, d := range [...]int64{a.Requests - b.Requests, a.Frames - b.Frames, a.Billed - b.Billed} {
			sum += max(d, -d)
		}
	}
	return sum
}

// NewMaintenance returns the upkeep of store.
func NewMaintenance(cfg MaintenanceConfig, store Store, log *slog.Logger) (*Maintenance, error) {
	if cfg.Retention == 0 {
		cfg.Retention = 35
	}
	if cfg.Retention < 7 {
		return nil, fmt.Errorf("request rows must be kept for at least 7 days, not %d: the books are compared with them", cfg.Retention)
	}
	if err := cfg.Rates.check(); err != nil {
		return nil, err
	}
	return &Maintenance{cfg: cfg, store: store, log: log}, nil
}

// Run does a round at once and then every night at half past two in India, until ctx ends. report gets the result of
// each round.
func (u *Maintenance) Run(ctx context.Context, report func(Findings)) error {
	for {
		f, err := u.Round(ctx)
		if err == nil {
			report(f)
		} else if ctx.Err() == nil {
			u.log.Error("upkeep of usage failed; it is tried again in an hour", "error", err)
		}
		now := time.Now().In(meter.India)
		next := time.Date(now.Year(), now.Month(), now.Day(), 2, 30, 0, 0, meter.India)
		if !next.After(now) {
			next = next.AddDate(0, 0, 1)
		}
		wait := next.Sub(now)
		if err != nil {
			wait = min(wait, time.Hour)
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return nil
		}
	}
}

// Round closes due months, compares the last days, merges the shards of past days and deletes old request rows. Doing
// it twice changes nothing.
func (u *Maintenance) Round(ctx context.Context) (f Findings, err error) {
	now := time.Now()
	if f.Closed, err = u.closeMonths(ctx, now); err != nil {
		return f, fmt.Errorf("closing months: %w", err)
	}
	for back := comparedDays; back >= 1; back-- {
		date := meter.DateOf(now.AddDate(0, 0, -back))
		all, err := u.store.Compare(ctx, date)
		if err != nil {
			return f, fmt.Errorf("comparing the usage of %s: %w", date, err)
		}
		for _, c := range all {
			if c.Shards != c.Requests {
				f.Differences = append(f.Differences, c)
				u.log.Error("usage does not add up: the request log and the totals differ", "org", c.OrgID, "date",
					c.Date, "totals", c.Shards, "request_log", c.Requests)
			}
		}
	}
	for back := mergedDays; back >= 1; back-- {
		date := meter.DateOf(now.AddDate(0, 0, -back))
		merged, err := u.store.MergeShards(ctx, date)
		f.Merged += merged
		if err != nil {
			return f, fmt.Errorf("merging the shards of %s: %w", date, err)
		}
	}
	if f.Swept, err = u.store.SweepRequests(ctx, meter.DateOf(now.AddDate(0, 0, -u.cfg.Retention))); err != nil {
		return f, fmt.Errorf("deleting old request rows: %w", err)
	}
	return f, nil
}

// closeMonths closes every month of the last twelve that is due and open.
func (u *Maintenance) closeMonths(ctx context.Context, now time.Time) ([]string, error) {
	closed, err := u.store.ClosedMonths(ctx)
	if err != nil {
		return nil, err
	}
	var done []string
	local := now.In(meter.India)
	for back := 12; back >= 1; back-- {
		first := time.Date(local.Year(), local.Month()-time.Month(back), 1, 0, 0, 0, 0, meter.India)
		month := first.Format(monthOnly)
		if now.Before(first.AddDate(0, 1, 0).Add(closingGrace)) ||
			slices.ContainsFunc(closed, func(c ClosedMonth) bool { return c.Month == month }) {
			continue
		}
		err := u.store.CloseMonth(ctx,
			ClosedMonth{Month: month, Rate: u.cfg.Rates.at(month), ClosedAt: now.UTC().Truncate(time.Microsecond)})
		if err != nil {
			return done, err
		}
		done = append(done, month)
	}
	return done, nil
}

const monthOnly = "2006-01"
