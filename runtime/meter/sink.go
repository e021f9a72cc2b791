// Package meter counts spoken frames and carries the counts to the ledger. Each frame is counted once, whatever
// crashes on the way.
//
// A [Recorder] turns each stream into events, a [Log] keeps them on disk, and a [Shipper] sends them from there to a
// [Sink] until the sink has them. The sink may get an event more than once; it recognises repeats by their numbers.
package meter

import (
	"context"
	"fmt"
)

// Batch is a run of events of one source. Seq rises by one from each event to the next.
type Batch struct {
	Source string // names the log that numbered the events
	Events []Event

	// Copied is the number of the last event that the sink may have from another source, because the log was copied; 0
	// for none. Up to it, the sink looks each event up and leaves out duplicates.
	Copied int64
}

// Sink takes usage in. It is safe for concurrent use.
type Sink interface {
	// Send hands over b. When it returns nil, every event of b is stored permanently, and none of them counts twice,
	// however often and in whatever batches they are sent. A *[GapError] means that b does not begin, or does not end,
	// where the sink can continue, and a *[ForkError] that another log has reported under the same source; nothing of b
	// was stored then. After any other error b must be sent again. The sink does not keep b.Events.
	Send(ctx context.Context, b Batch) error
}

// GapError is the error for a batch that is not the next one of its source. Events are missing before it, or it ends
// before the last event that the sink has.
type GapError struct {
	Want   int64 // the number of the event that the sink wants next
	Copies bool  // the sink heeds Batch.Copied
}

func (e *GapError) Error() string {
	return fmt.Sprintf("usage events are out of order: event %d is the next one", e.Want)
}

// ForkError is the error for a batch with another event under a known number. Two logs are then copies of one folder.
type ForkError struct {
	Seq int64 // the number of the last event that the sink has
}

func (e *ForkError) Error() string {
	return fmt.Sprintf("usage event %d differs from the one that was reported under this number: the usage log was copied", e.Seq)
}
