package usage

import (
	"context"
	"time"

	"github.com/swar-tts/swar/runtime/meter"
)

// Ledger takes usage in. It implements [meter.Sink] and is safe for concurrent use.
type Ledger struct {
	store Store
}

// NewLedger returns a ledger that books in store.
func NewLedger(store Store) *Ledger { return &Ledger{store: store} }

// Send books b exactly once, however often it comes.
func (l *Ledger) Send(ctx context.Context, b meter.Batch) error {
	return l.store.Apply(ctx, Batch{Batch: b, Today: meter.DateOf(time.Now())})
}
