package firestore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"cloud.google.com/go/firestore"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/swar-tts/swar/portal/usage"
	"github.com/swar-tts/swar/runtime/meter"
)

// Limits of one transaction. Firestore accepts 500 writes, of which a document with increments counts as two, and 10
// MiB; the emulator accepts 4 MiB.
const (
	maxEvents = 160     // each writes at most a row, its increments and a shard; and there is the position
	maxBytes  = 3 << 20 // of cells; rows are short
)

// Apply implements [usage.Store]. A batch that is too large for one transaction is booked in several, each with the
// position after it. So a failure may leave the first part of such a batch stored, and the next attempt continues from
// there.
func (s *Store) Apply(ctx context.Context, b usage.Batch) error {
	ctx, end, err := s.begin(ctx, s.cfg.Timeout)
	if err != nil {
		return err
	}
	defer end()
	give, err := s.turns.take(ctx, "source "+b.Source) // another one would be refused or wait
	if err != nil {
		return s.fault(ctx, "waiting for the batch before", err)
	}
	defer give()
	for first := true; ; first = false {
		var more bool
		// The position shows whether a commit whose answer was lost is stored, so no mark is needed.
		err := s.attempts(ctx, "booking usage", nil, func(ctx context.Context, tx *firestore.Transaction) (err error) {
			more, err = s.book(ctx, tx, b, first)
			return err
		})
		if err != nil || !more {
			return err
		}
	}
}

// book books what fits into one transaction, and reports whether there is more.
func (s *Store) book(ctx context.Context, tx *firestore.Transaction, b usage.Batch, first bool) (more bool, err error) {
	if len(b.Events) == 0 {
		return false, nil
	}
	at, closed, err := s.readBooks(tx, b)
	if err != nil {
		return false, s.fault(ctx, "reading how far usage is booked", err)
	}
	part, more := cut(b, at.Seq, maxEvents)
	if !first && at.Seq >= part.Events[len(part.Events)-1].Seq {
		return false, nil // another one has booked all of it since
	}
	k, err := usage.Aggregate(part, at, closed)
	if err != nil || k.Empty() {
		return false, err
	}
	keys := make([]usage.ShardKey, len(k.Shards))
	for i := range keys {
		keys[i] = k.Shards[i].Key
	}
	old, err := s.readShards(tx, keys)
	if err != nil {
		return false, s.fault(ctx, "reading usage", err)
	}
	folded, size, err := fold(k, old)
	for n := len(part.Events); err == nil && size > maxBytes && n > 1; {
		n /= 2
		part, more = cut(b, at.Seq, n)
		if k, err = usage.Aggregate(part, at, closed); err == nil {
			folded, size, err = fold(k, old)
		}
	}
	if err != nil {
		return false, err
	}
	return more, s.writeBooking(tx, k, folded)
}

// cut returns b without what would make it more than n new events behind position.
func cut(b usage.Batch, position int64, n int) (part usage.Batch, more bool) {
	known := min(max(position+1-b.Events[0].Seq, 0), int64(len(b.Events)))
	most := int(known) + n
	if most >= len(b.Events) {
		return b, false
	}
	b.Events = b.Events[:most]
	return b, true
}

// readBooks reads the position of the batch's source and which of its months are closed.
func (s *Store) readBooks(tx *firestore.Transaction, b usage.Batch) (at usage.Position, closed []string, err error) {
	months := b.Months()
	refs := []*firestore.DocumentRef{s.doc("sources", b.Source)}
	for _, m := range months {
		refs = append(refs, s.doc("months", m))
	}
	docs, err := tx.GetAll(refs)
	if err != nil {
		return at, nil, err
	}
	if docs[0].Exists() {
		var d sourceDoc
		if err := docs[0].DataTo(&d); err != nil {
			return at, nil, err
		}
		at = usage.Position{Source: d.Source, Seq: d.Position, Mark: d.Mark}
	}
	for i, m := range months {
		if docs[i+1].Exists() {
			closed = append(closed, m)
		}
	}
	return at, closed, nil
}

func (s *Store) readShards(tx *firestore.Transaction, keys []usage.ShardKey) (map[usage.ShardKey]usage.Shard, error) {
	refs := make([]*firestore.DocumentRef, len(keys))
	for i, k := range keys {
		refs[i] = s.shard(k)
	}
	docs, err := tx.GetAll(refs)
	if err != nil {
		return nil, err
	}
	old := map[usage.ShardKey]usage.Shard{}
	for i, doc := range docs {
		if !doc.Exists() {
			continue
		}
		var d shardDoc
		if err := doc.DataTo(&d); err != nil {
			return nil, err
		}
		if old[keys[i]], err = d.shard(); err != nil {
			return nil, err
		}
	}
	return old, nil
}

func fold(k usage.BatchChange, old map[usage.ShardKey]usage.Shard) (folded []usage.Shard, size int, err error) {
	for _, c := range k.Shards {
		shard, err := c.Fold(old[c.Key])
		if err != nil {
			return nil, 0, fmt.Errorf("firestore: shard of %s, %s, %s: %w", c.Key.OrgID, c.Key.Source, c.Key.Date, err)
		}
		folded = append(folded, shard)
		size += len(shard.Cells)
	}
	return folded, size, nil
}

func (s *Store) writeBooking(tx *firestore.Transaction, k usage.BatchChange, folded []usage.Shard) error {
	for _, shard := range folded {
		d, err := newShardDoc(shard)
		if err != nil {
			return err
		}
		if err := tx.Set(s.shard(shard.ShardKey), d); err != nil {
			return err
		}
	}
	for _, r := range k.Requests {
		d := s.newRequestFields(r)
		d["frames"], d["billed"] = firestore.Increment(r.Frames), firestore.Increment(r.Billed)
		if err := tx.Set(s.request(r.OrgID, r.ID), d, firestore.MergeAll); err != nil {
			return err
		}
	}
	return tx.Set(s.doc("sources", k.Position.Source), sourceDoc{k.Position.Source, k.Position.Seq, k.Position.Mark})
}

// Shards implements [usage.Store].
func (s *Store) Shards(ctx context.Context, orgID, from, to string) ([]usage.Shard, error) {
	ctx, end, err := s.begin(ctx, s.cfg.Timeout)
	if err != nil {
		return nil, err
	}
	defer end()
	docs, err := s.in(shardsOfOrg, orgID).within(">=", from).within("<=", to).collect(ctx, nil)
	if err != nil {
		return nil, s.fault(ctx, "reading usage", err)
	}
	return shardsOf(docs)
}

// Days implements [usage.Store].
func (s *Store) Days(ctx context.Context, orgID, from, to string) ([]usage.Day, error) {
	ctx, end, err := s.begin(ctx, s.cfg.Timeout)
	if err != nil {
		return nil, err
	}
	defer end()
	find := s.in(shardsOfOrg, orgID).within(">=", from).within("<=", to).selected("date", "requests", "frames",
		"billed")
	docs, err := find.collect(ctx, nil)
	if err != nil {
		return nil, s.fault(ctx, "reading usage", err)
	}
	shards, err := shardsOf(docs)
	return usage.DaysOf(shards), err
}

// scanned is how many rows are read at once where a filter is finished here.
const scanned = 500

// Requests implements [usage.Store]. The index finds rows that took at least a step of [slowSteps] to the first
// frame; the rest of that filter is done here.
func (s *Store) Requests(ctx context.Context, q usage.RequestQuery) (rows []usage.Request, err error) {
	ctx, end, err := s.begin(ctx, s.cfg.Timeout)
	if err != nil {
		return nil, err
	}
	defer end()
	find := s.in(requestsPage, q.OrgID).like("project_id", q.ProjectID).like("key_id", q.KeyID).like("voice", q.Voice).
		like("endpoint", q.Endpoint).like("status", string(q.Status)).like("request_id", q.RequestID)
	size := q.Limit
	if q.MinTTFAus > 0 {
		size = scanned
		if steps := slowSteps(q.MinTTFAus); len(steps) > 0 {
			find = find.with("slower_than_ms", steps[len(steps)-1])
		}
	}
	// Bounds are whole microseconds, as stored times are: rounding up keeps what is at or behind them.
	if !q.From.IsZero() {
		find = find.within(">=", ceil(q.From))
	}
	if !q.To.IsZero() {
		find = find.within("<", ceil(q.To))
	}
	switch {
	case q.After.IsZero():
	case exact(q.After.At).Equal(q.After.At):
		find = find.behind(exact(q.After.At), q.After.ID)
	default: // between two microseconds
		find = find.behind(ceil(q.After.At), "")
	}
	enough := errors.New("enough")
	err = find.pages(ctx, size, func(docs []*firestore.DocumentSnapshot) error {
		found, err := read[requestDoc](docs)
		if err != nil {
			return err
		}
		for _, d := range found {
			if r := d.request(); r.TTFAus >= q.MinTTFAus {
				rows = append(rows, r)
			}
			if len(rows) == q.Limit {
				return enough
			}
		}
		return nil
	})
	if err != nil && err != enough { //nolint:errorlint // it is not wrapped
		return nil, s.fault(ctx, "reading the request log", err)
	}
	return rows, nil
}

func ceil(t time.Time) time.Time {
	if cut := exact(t); !cut.Equal(t) {
		return cut.Add(time.Microsecond)
	}
	return exact(t)
}

// ClosedMonths implements [usage.Store].
func (s *Store) ClosedMonths(ctx context.Context) ([]usage.ClosedMonth, error) {
	ctx, end, err := s.begin(ctx, s.cfg.Timeout)
	if err != nil {
		return nil, err
	}
	defer end()
	docs, err := s.in(closedMonths, "").collect(ctx, nil)
	if err != nil {
		return nil, s.fault(ctx, "reading closed months", err)
	}
	found, err := read[monthDoc](docs)
	var months []usage.ClosedMonth
	for _, d := range found {
		months = append(months, d.month())
	}
	slices.SortFunc(months, func(a, b usage.ClosedMonth) int { return strings.Compare(a.Month, b.Month) })
	return months, err
}

// CloseMonth implements [usage.Store]. Creating the document meets every booking that has read that there is none.
func (s *Store) CloseMonth(ctx context.Context, m usage.ClosedMonth) error {
	ctx, end, err := s.begin(ctx, s.cfg.Timeout)
	if err != nil {
		return err
	}
	defer end()
	for attempt := 1; ; attempt++ {
		_, err := s.doc("months", m.Month).Create(ctx, newMonthDoc(m))
		switch {
		case status.Code(err) == codes.AlreadyExists:
			return nil
		case err == nil || !passes(err) || attempt == maxAttempts || pause(ctx, attempt) != nil:
			return s.fault(ctx, "closing a month", err)
		}
	}
}

// Compare implements [usage.Store]. Both sides are read in one transaction, so that they are of one moment. It reads
// every row of the day, and Firestore charges a read for each; sums that Firestore adds up itself would need indexes
// on what changes with every record.
func (s *Store) Compare(ctx context.Context, date string) ([]usage.Comparison, error) {
	ctx, end, err := s.begin(ctx, 0) // as long as it takes: a busy day has many rows, and each answer has its own limit
	if err != nil {
		return nil, err
	}
	defer end()
	orgs := map[string]*usage.Comparison{}
	err = s.snapshot(ctx, "comparing usage", func(ctx context.Context, tx *firestore.Transaction) error {
		at := func(orgID string) *usage.Comparison {
			if orgs[orgID] == nil {
				orgs[orgID] = &usage.Comparison{OrgID: orgID, Date: date}
			}
			return orgs[orgID]
		}
		shards, err := s.in(shardsOfDay, "").with("date", date).selected("org_id", "requests", "frames",
			"billed").collect(ctx, tx)
		if err != nil {
			return err
		}
		for _, doc := range shards {
			var d shardDoc
			if err := doc.DataTo(&d); err != nil {
				return err
			}
			at(d.OrgID).Shards.Add(d.totals())
		}
		rows := s.in(requestsOfDay, "").with("date", date).selected("org_id", "status", "frames", "billed")
		return rows.each(tx, func(doc *firestore.DocumentSnapshot) error {
			var d requestDoc
			if err := doc.DataTo(&d); err != nil {
				return err
			}
			sum := usage.Totals{Frames: d.Frames, Billed: d.Billed}
			if meter.Status(d.Status) != usage.Running {
				sum.Requests = 1
			}
			at(d.OrgID).Requests.Add(sum)
			return nil
		})
	})
	if err != nil {
		return nil, s.fault(ctx, "comparing usage", err)
	}
	var all []usage.Comparison
	for _, orgID := range slices.Sorted(maps.Keys(orgs)) {
		all = append(all, *orgs[orgID])
	}
	return all, nil
}

// mergeAtOnce is how many shards one transaction merges. Firestore takes 500 writes, and reads of 100 MB would be too
// many.
const mergeAtOnce = 50

// MergeShards implements [usage.Store].
func (s *Store) MergeShards(ctx context.Context, date string) (fewer int, err error) {
	ctx, end, err := s.begin(ctx, 0) // there may be many organisations, and each answer has its own limit
	if err != nil {
		return 0, err
	}
	defer end()
	docs, err := s.in(shardsOfDay, "").with("date", date).selected("org_id", "source").collect(ctx, nil)
	if err != nil {
		return 0, s.fault(ctx, "looking for shards to merge", err)
	}
	found, err := read[shardDoc](docs)
	if err != nil {
		return 0, err
	}
	sources := map[string][]string{} // by organisation
	for _, d := range found {
		sources[d.OrgID] = append(sources[d.OrgID], d.Source)
	}
	for _, orgID := range slices.Sorted(maps.Keys(sources)) {
		merged, err := s.mergeOrg(ctx, orgID, date, sources[orgID])
		fewer += merged
		if err != nil {
			return fewer, err
		}
	}
	return fewer, nil
}

// mergeOrg merges the shards that sources have reported for an organisation and a day, some at a time. It ends before
// the sum becomes too large for a document.
func (s *Store) mergeOrg(ctx context.Context, orgID, date string, sources []string) (fewer int, err error) {
	if len(sources) < 2 {
		return 0, nil
	}
	others := slices.DeleteFunc(sources, func(source string) bool { return source == usage.MergedSource })
	for some := range slices.Chunk(others, mergeAtOnce) {
		merged := 0
		// Merged shards no longer exist, so a commit whose answer was lost shows itself and needs no mark.
		err := s.attempts(ctx, "merging usage", nil, func(_ context.Context, tx *firestore.Transaction) (err error) {
			merged, err = s.merge(tx, orgID, date, some)
			return err
		})
		if errors.Is(err, errTooManyCells) {
			return fewer, nil
		}
		if err != nil {
			return fewer, err
		}
		fewer += merged
	}
	return fewer, nil
}

// merge adds the shards of some sources to the merged one.
func (s *Store) merge(tx *firestore.Transaction, orgID, date string, sources []string) (fewer int, err error) {
	keys := []usage.ShardKey{{OrgID: orgID, Source: usage.MergedSource, Date: date}}
	for _, source := range sources {
		keys = append(keys, usage.ShardKey{OrgID: orgID, Source: source, Date: date})
	}
	old, err := s.readShards(tx, keys)
	if err != nil {
		return 0, err
	}
	all := slices.Collect(maps.Values(old))
	if len(all) < 2 {
		return 0, nil // another one has merged them
	}
	sum, err := usage.Merge(all)
	if err != nil {
		return 0, err
	}
	d, err := newShardDoc(sum)
	if err != nil {
		return 0, err
	}
	if err := tx.Set(s.shard(sum.ShardKey), d); err != nil {
		return 0, err
	}
	for k := range old {
		if k.Source == usage.MergedSource {
			continue
		}
		if err := tx.Delete(s.shard(k)); err != nil {
			return 0, err
		}
	}
	return len(all) - 1, nil
}

// SweepRequests implements [usage.Store].
func (s *Store) SweepRequests(ctx context.Context, date string) (int, error) {
	ctx, end, err := s.begin(ctx, 0)
	if err != nil {
		return 0, err
	}
	defer end()
	n, err := s.sweep(ctx, s.in(oldRequests, "").within("<", date), nil)
	return n, s.fault(ctx, "deleting old request rows", err)
}

func shardsOf(docs []*firestore.DocumentSnapshot) ([]usage.Shard, error) {
	found, err := read[shardDoc](docs)
	if err != nil {
		return nil, err
	}
	shards := make([]usage.Shard, len(found))
	for i, d := range found {
		if shards[i], err = d.shard(); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(shards, func(a, b usage.Shard) int {
		return cmp.Or(strings.Compare(a.Date, b.Date), strings.Compare(a.Source, b.Source))
	})
	return shards, nil
}
