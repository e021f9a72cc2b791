package firestore

import (
	"context"
	"fmt"

	"cloud.google.com/go/firestore"

	"github.com/swar-tts/swar/portal/usage"
)

// dumpPage is how many documents are read at once. Shards may be large.
const dumpPage = 300

// ExportUsage implements [usage.Dumper].
func (s *Store) ExportUsage(ctx context.Context, yield func(usage.Dump) error) error {
	ctx, end, err := s.begin(ctx, 0)
	if err != nil {
		return err
	}
	defer end()
	for _, part := range []struct {
		of   shape
		dump func([]*firestore.DocumentSnapshot) (usage.Dump, error)
	}{
		{allSources, func(docs []*firestore.DocumentSnapshot) (d usage.Dump, err error) {
			found, err := read[sourceDoc](docs)
			for _, f := range found {
				d.Positions = append(d.Positions, usage.Position{Source: f.Source, Seq: f.Position, Mark: f.Mark})
			}
			return d, err
		}},
		{closedMonths, func(docs []*firestore.DocumentSnapshot) (d usage.Dump, err error) {
			found, err := read[monthDoc](docs)
			for _, f := range found {
				d.Months = append(d.Months, f.month())
			}
			return d, err
		}},
		{allShards, func(docs []*firestore.DocumentSnapshot) (d usage.Dump, err error) {
			d.Shards, err = shardsOf(docs)
			return d, err
		}},
		{allRequests, func(docs []*firestore.DocumentSnapshot) (d usage.Dump, err error) {
			found, err := read[requestDoc](docs)
			for _, f := range found {
				d.Requests = append(d.Requests, f.request())
			}
			return d, err
		}},
	} {
		var own error // of yield
		err := s.in(part.of, "").pages(ctx, dumpPage, func(docs []*firestore.DocumentSnapshot) error {
			d, err := part.dump(docs)
			if err != nil {
				return err
			}
			own = yield(d)
			return own
		})
		if own != nil {
			return own
		}
		if err != nil {
			return s.fault(ctx, "reading "+part.of.name, err)
		}
	}
	return nil
}

// ImportUsage implements [usage.Dumper].
func (s *Store) ImportUsage(ctx context.Context, d usage.Dump) error {
	ctx, end, err := s.begin(ctx, 0)
	if err != nil {
		return err
	}
	defer end()
	w := importer{s: s, ctx: ctx}
	for _, p := range d.Positions {
		w.set(s.doc("sources", p.Source), sourceDoc{p.Source, p.Seq, p.Mark}, len(p.Source))
	}
	for _, m := range d.Months {
		w.set(s.doc("months", m.Month), newMonthDoc(m), len(m.Month))
	}
	for _, shard := range d.Shards {
		d, err := newShardDoc(shard)
		if err != nil {
			return err
		}
		w.set(s.shard(shard.ShardKey), d, len(d.Cells))
	}
	for _, r := range d.Requests {
		w.set(s.request(r.OrgID, r.ID), s.newRequestFields(r), len(r.Error)+1000)
	}
	w.flush()
	return s.fault(ctx, "storing usage", w.err)
}

// importer writes documents in batches that Firestore takes. After an error it does nothing more.
type importer struct {
	s     *Store
	ctx   context.Context
	batch *firestore.WriteBatch //nolint:staticcheck // see Store.batch
	n     int
	bytes int
	err   error
}

func (w *importer) set(ref *firestore.DocumentRef, data any, size int) {
	if w.n == 400 || w.bytes+size > maxBytes {
		w.flush()
	}
	if w.batch == nil {
		w.batch = w.s.batch()
	}
	w.batch.Set(ref, data)
	w.n++
	w.bytes += size
}

func (w *importer) flush() {
	for attempt := 1; w.n > 0 && w.err == nil; attempt++ {
		_, err := w.batch.Commit(w.ctx)
		if err == nil {
			break
		}
		if !passes(err) || attempt == maxAttempts || pause(w.ctx, attempt) != nil {
			w.err = fmt.Errorf("%d documents: %w", w.n, err)
		}
	}
	w.batch, w.n, w.bytes = nil, 0, 0
}
