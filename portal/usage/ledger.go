package usage

import (
	"context"
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

// Checked returns a ledger that books only what c finds possible. What it refuses counts as taken in, so that its source goes on.
func (l *Ledger) Checked(c *Checker) *Ledger { return &Ledger{l.store, c} }

// Send books b exactly once, however often it comes.
func (l *Ledger) Send(ctx context.Context, b meter.Batch) error {
	now := time.Now()
	batch := Batch{Batch: b, Today: meter.DateOf(now)}
	if l.checker == nil {
		return l.store.Apply(ctx, batch)
	}
	var err error
	if batch.Refused, err = l.checker.check(ctx, b, l.store, now); err != nil {
		return err
	}
	if err := l.store.Apply(ctx, batch); err != nil {
		return err
	}
	l.checker.report(ctx, b, batch.Refused)
	return nil
}
