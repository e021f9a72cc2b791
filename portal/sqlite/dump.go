package sqlite

import (
	"context"

	"github.com/swar-tts/swar/portal/usage"
)

var _ usage.Dumper = (*Store)(nil)

// dumpSize is how many records a part of an export has. Each part is read separately, so that a slow reader does not
// block the write-ahead log.
const dumpSize = 500

// ExportUsage implements [usage.Dumper].
func (s *Store) ExportUsage(ctx context.Context, yield func(usage.Dump) error) error {
	err := export(func(last usage.Position) ([]usage.Position, error) {
		return records(ctx, s,
			func(rows scanner, p *usage.Position) error { return rows.Scan(&p.Source, &p.Seq, &p.Mark) },
			`SELECT source, position, mark FROM sources WHERE source > ? ORDER BY source LIMIT ?`, last.Source, dumpSize)
	}, func(all []usage.Position) error { return yield(usage.Dump{Positions: all}) })
	if err != nil {
		return err
	}
	var row int64 // of the last record
	err = export(func(usage.Shard) ([]usage.Shard, error) {
		return records(ctx, s, func(rows scanner, d *usage.Shard) error { return scanShard(withRow{rows, &row}, d) },
			`SELECT rowid, `+shardColumns+` FROM shards WHERE rowid > ? ORDER BY rowid LIMIT ?`, row, dumpSize)
	}, func(all []usage.Shard) error { return yield(usage.Dump{Shards: all}) })
	if err != nil {
		return err
	}
	row = 0
	err = export(func(usage.Request) ([]usage.Request, error) {
		return records(ctx, s,
			func(rows scanner, r *usage.Request) error { return scanRequest(withRow{rows, &row}, r) },
			`SELECT rowid, `+requestColumns+` FROM requests WHERE rowid > ? ORDER BY rowid LIMIT ?`, row, dumpSize)
	}, func(all []usage.Request) error { return yield(usage.Dump{Requests: all}) })
	if err != nil {
		return err
	}
	return export(func(last usage.ClosedMonth) ([]usage.ClosedMonth, error) {
		return records(ctx, s, scanMonth,
			`SELECT month, rate, closed_at FROM months WHERE month > ? ORDER BY month LIMIT ?`, last.Month, dumpSize)
	}, func(all []usage.ClosedMonth) error { return yield(usage.Dump{Months: all}) })
}

// export reads parts, each behind the last record of the one before, until there is nothing more.
func export[T any](read func(last T) ([]T, error), yield func([]T) error) error {
	var last T
	for {
		part, err := read(last)
		if err != nil || len(part) == 0 {
			return err
		}
		if err := yield(part); err != nil || len(part) < dumpSize {
			return err
		}
		last = part[len(part)-1]
	}
}

// withRow scans the number of a row before the rest of it.
type withRow struct {
	scanner
	number *int64
}

func (r withRow) Scan(dest ...any) error { return r.scanner.Scan(append([]any{r.number}, dest...)...) }

// ImportUsage implements [usage.Dumper]. All of d is stored or nothing.
func (s *Store) ImportUsage(ctx context.Context, d usage.Dump) error {
	return s.write(ctx, func(c *conn) error { return s.fault(put(c, d)) })
}

func put(c *conn, d usage.Dump) error {
	for _, p := range d.Positions {
		if err := putPosition(c, p); err != nil {
			return err
		}
	}
	for _, sh := range d.Shards {
		if err := putShard(c, sh); err != nil {
			return err
		}
	}
	for i := range d.Requests {
		if err := putRequest(c, `INSERT OR REPLACE INTO requests (`+requestColumns+`) VALUES `+requestPlaces,
			&d.Requests[i]); err != nil {
			return err
		}
	}
	for _, m := range d.Months {
		_, err := c.exec(`INSERT OR REPLACE INTO months (month, rate, closed_at) VALUES (?, ?, ?)`, m.Month, m.Rate,
			m.ClosedAt.UnixMicro())
		if err != nil {
			return err
		}
	}
	return nil
}
