package usage

import "context"

// Dumper is a [Store] that can be exported and imported into another store. Both directions may be repeated. It is
// safe for concurrent use, but what is booked while it works may be in the dump by half: stop taking usage in first.
type Dumper interface {
	// ExportUsage calls yield with everything that is stored, in parts of a few hundred records, each record once. It
	// returns the error of yield as it is.
	ExportUsage(ctx context.Context, yield func(Dump) error) error

	// ImportUsage stores the records of d as they are and replaces those with the same key: the source of a position,
	// the ShardKey of a shard, the organisation and ID of a request, and the month of a closed one. It takes at most
	// 500 records, and may store some of them when it fails; importing them again completes it.
	ImportUsage(ctx context.Context, d Dump) error
}

// Dump is a part of what a store holds.
type Dump struct {
	Positions []Position
	Shards    []Shard
	Requests  []Request
	Months    []ClosedMonth
}

// Len returns how many records there are in d.
func (d Dump) Len() int { return len(d.Positions) + len(d.Shards) + len(d.Requests) + len(d.Months) }

// Position is how far a source has been booked.
type Position struct {
	Source string
	Seq    int64  // of its last event
	Mark   string // distinguishes that event from others; empty if an older version booked it
}
