package usage

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/swar-tts/swar/runtime/meter"
)

// Ledger takes usage in. It implements [meter.Sink] and is safe for concurrent use.
type Ledger struct {
	store   Store
	checker *Checker // nil: every event is believed
}

// NewLedger returns a ledger that books in store.
func NewLedger(store Store) *Ledger { return &Ledger{store: store} }

// Checked returns a ledger that books only what c finds possible. Refused events count as received, so that their
// source continues.
func (l *Ledger) Checked(c *Checker) *Ledger { return &Ledger{l.store, c} }

// Send books b exactly once, however often it comes.
func (l *Ledger) Send(ctx context.Context, b meter.Batch) error {
	now := time.Now()
	batch := Batch{Batch: b, Today: meter.DateOf(now)}
	var err error
	if batch.Skipped, err = copies(ctx, l.store, b); err != nil {
		return err
	}
	var refused map[int64]string
	if l.checker != nil {
		if refused, err = l.checker.check(ctx, batch, l.store, now); err != nil {
			return err
		}
		l.checker.saveRefused(ctx, b, refused, now)
		maps.Copy(batch.Skipped, refused)
	}
	if err := l.store.Apply(ctx, batch); err != nil {
		return err
	}
	if l.checker != nil {
		l.checker.report(ctx, b, refused)
	}
	return nil
}

// copies returns the numbers of the events of b that are booked from another source, of which the log of b is a copy.
// The request log has them. A stream that ran while the log was copied ends in both copies, and the first reported end
// counts.
func copies(ctx context.Context, store Store, b meter.Batch) (map[int64]string, error) {
	booked := map[int64]string{}
	for i := range b.Events {
		e := &b.Events[i]
		if e.Seq > b.Copied {
			break
		}
		rows, err := rowsOf(ctx, store, e)
		if err != nil {
			return nil, err
		}
		for _, r := range rows {
			if r.Source != b.Source && (e.Kind != meter.Final || r.Status != Running) {
				booked[e.Seq] = "booked from the source " + r.Source
			}
		}
	}
	return booked, nil
}

// rowsOf returns the rows of the request log about the stream of e: one for each day on which parts of it are booked.
func rowsOf(ctx context.Context, store Store, e *meter.Event) ([]Request, error) {
	q := RequestQuery{OrgID: e.OrgID, From: e.Start, To: e.Start.Add(time.Microsecond), Limit: maxRequests}
	rows, err := store.Requests(ctx, q)
	return slices.DeleteFunc(rows,
		func(r Request) bool { return r.ID != e.ID && !strings.HasPrefix(r.ID, e.ID+"~") }), err
}
