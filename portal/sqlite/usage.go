package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"

	"github.com/swar-tts/swar/portal/usage"
)

// Apply implements [usage.Store].
func (s *Store) Apply(ctx context.Context, b usage.Batch) error {
	return s.write(ctx, func(c *conn) error {
		position, closed, err := readBooks(c, b)
		if err != nil {
			return s.fault(err)
		}
		k, err := usage.Aggregate(b, position, closed)
		if err != nil || k.Empty() {
			return err
		}
		for _, change := range k.Shards {
			if err := s.at("shard"); err != nil {
				return err
			}
			if err := fold(c, change); err != nil {
				return s.fault(err)
			}
		}
		for i := range k.Requests {
			if err := s.at("request"); err != nil {
				return err
			}
			if err := putRequest(c, bookRequest, &k.Requests[i]); err != nil {
				return s.fault(err)
			}
		}
		if err := s.at("position"); err != nil {
			return err
		}
		return s.fault(putPosition(c, k.Position))
	})
}

// readBooks returns what b is booked against.
func readBooks(c *conn, b usage.Batch) (at usage.Position, closed []string, err error) {
	err = c.row(`SELECT position, mark FROM sources WHERE source = ?`, []any{b.Source}, &at.Seq, &at.Mark)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return at, nil, err
	}
	for _, month := range b.Months() {
		err := c.row(`SELECT month FROM months WHERE month = ?`, []any{month}, &month)
		switch {
		case err == nil:
			closed = append(closed, month)
		case !errors.Is(err, sql.ErrNoRows):
			return at, nil, err
		}
	}
	return at, closed, nil
}

func fold(c *conn, change usage.ShardChange) error {
	var old usage.Shard
	k := change.Key
	err := c.row(`SELECT requests, frames, billed, cells FROM shards WHERE org_id = ? AND date = ? AND source = ?`,
		[]any{k.OrgID, k.Date, k.Source}, &old.Requests, &old.Frames, &old.Billed, &old.Cells)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	now, err := change.Fold(old)
	if err != nil {
		return err
	}
	return putShard(c, now)
}

func putShard(c *conn, d usage.Shard) error {
	_, err := c.exec(`INSERT INTO shards (`+shardColumns+`) VALUES (?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT DO UPDATE SET requests = excluded.requests, frames = excluded.frames, billed = excluded.billed, cells = excluded.cells`,
		d.OrgID, d.Date, d.Source, d.Requests, d.Frames, d.Billed, d.Cells)
	return err
}

func putPosition(c *conn, p usage.Position) error {
	_, err := c.exec(`INSERT OR REPLACE INTO sources (source, position, mark) VALUES (?, ?, ?)`, p.Source, p.Seq,
		p.Mark)
	return err
}

// requestColumns are the columns of a row, in the order of putRequest and scanRequest.
const requestColumns = `id, org_id, start, date, source, project_id, key_id, key_prefix, playground, request_id, endpoint, voice, format, status, error,
	frames, billed, chars, chunks, ttfa_us, queue_us, wall_us, synth_us, prefill_cached, seed`

const requestPlaces = `(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`

// bookRequest adds a row of a booking to the one that is stored.
const bookRequest = `INSERT INTO requests (` + requestColumns + `) VALUES ` + requestPlaces + `
	ON CONFLICT (org_id, start, id) DO UPDATE SET date = excluded.date, source = excluded.source, project_id = excluded.project_id,
		key_id = excluded.key_id, key_prefix = excluded.key_prefix, playground = excluded.playground, request_id = excluded.request_id,
		endpoint = excluded.endpoint, voice = excluded.voice, format = excluded.format, status = excluded.status, error = excluded.error,
		frames = frames + excluded.frames, billed = billed + excluded.billed, chars = excluded.chars, chunks = excluded.chunks,
		ttfa_us = excluded.ttfa_us, queue_us = excluded.queue_us, wall_us = excluded.wall_us, synth_us = excluded.synth_us,
		prefill_cached = excluded.prefill_cached, seed = excluded.seed`

// putRequest runs a statement that takes the values of a row.
func putRequest(c *conn, query string, r *usage.Request) error {
	_, err := c.exec(query,
		r.ID, r.OrgID, r.Start.UnixMicro(), r.Date, r.Source, r.ProjectID, r.KeyID, r.KeyPrefix, r.Playground,
		r.RequestID, r.Endpoint, r.Voice,
		r.Format, string(r.Status), r.Error, r.Frames, r.Billed, r.Chars, r.Chunks, r.TTFAus, r.Queueus, r.Wallus,
		r.Synthus, r.PrefillCached, r.Seed)
	return err
}

func scanRequest(rows scanner, r *usage.Request) error {
	return rows.Scan(&r.ID, &r.OrgID, instant{&r.Start}, &r.Date, &r.Source, &r.ProjectID, &r.KeyID, &r.KeyPrefix,
		&r.Playground, &r.RequestID,
		&r.Endpoint, &r.Voice, &r.Format, &r.Status, &r.Error, &r.Frames, &r.Billed, &r.Chars, &r.Chunks, &r.TTFAus,
		&r.Queueus, &r.Wallus,
		&r.Synthus, &r.PrefillCached, &r.Seed)
}

func scanShard(rows scanner, d *usage.Shard) error {
	return rows.Scan(&d.OrgID, &d.Date, &d.Source, &d.Requests, &d.Frames, &d.Billed, &d.Cells)
}

const shardColumns = `org_id, date, source, requests, frames, billed, cells`

func scanMonth(rows scanner, m *usage.ClosedMonth) error {
	return rows.Scan(&m.Month, &m.Rate, instant{&m.ClosedAt})
}

// Shards implements [usage.Store].
func (s *Store) Shards(ctx context.Context, orgID, from, to string) ([]usage.Shard, error) {
	return records(ctx, s, scanShard, `SELECT `+shardColumns+` FROM shards
		WHERE org_id = ? AND date BETWEEN ? AND ? ORDER BY date, source`, orgID, from, to)
}

// Days implements [usage.Store].
func (s *Store) Days(ctx context.Context, orgID, from, to string) ([]usage.Day, error) {
	return records(ctx, s, func(rows scanner, d *usage.Day) error {
		return rows.Scan(&d.Date, &d.Requests, &d.Frames, &d.Billed)
	}, `SELECT date, sum(requests), sum(frames), sum(billed) FROM shards
		WHERE org_id = ? AND date BETWEEN ? AND ? GROUP BY date ORDER BY date`, orgID, from, to)
}

// ClosedMonths implements [usage.Store].
func (s *Store) ClosedMonths(ctx context.Context) ([]usage.ClosedMonth, error) {
	return records(ctx, s, scanMonth, `SELECT month, rate, closed_at FROM months ORDER BY month`)
}

// CloseMonth implements [usage.Store].
func (s *Store) CloseMonth(ctx context.Context, m usage.ClosedMonth) error {
	return s.write(ctx, func(c *conn) error {
		_, err := c.exec(`INSERT INTO months (month, rate, closed_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`,
			m.Month, m.Rate, m.ClosedAt.UnixMicro())
		return s.fault(err)
	})
}

// Compare implements [usage.Store].
func (s *Store) Compare(ctx context.Context, date string) ([]usage.Comparison, error) {
	orgs := map[string]usage.Comparison{}
	err := s.read(ctx, func(c *conn) error {
		err := c.rows(ctx,
			`SELECT org_id, sum(requests), sum(frames), sum(billed) FROM shards WHERE date = ? GROUP BY org_id`, []any{date}, func(rows *sql.Rows) error {
				d := usage.Comparison{Date: date}
				err := rows.Scan(&d.OrgID, &d.Shards.Requests, &d.Shards.Frames, &d.Shards.Billed)
				orgs[d.OrgID] = d
				return err
			})
		if err != nil {
			return err
		}
		return c.rows(ctx,
			`SELECT org_id, sum(status <> 'running'), sum(frames), sum(billed) FROM requests WHERE date = ? GROUP BY org_id`, []any{date}, func(rows *sql.Rows) error {
				var orgID string
				var t usage.Totals
				err := rows.Scan(&orgID, &t.Requests, &t.Frames, &t.Billed)
				d := orgs[orgID]
				d.OrgID, d.Date, d.Requests = orgID, date, t
				orgs[orgID] = d
				return err
			})
	})
	if err != nil {
		return nil, s.ended(ctx, err)
	}
	all := make([]usage.Comparison, 0, len(orgs))
	for _, d := range orgs {
		all = append(all, d)
	}
	slices.SortFunc(all, func(a, b usage.Comparison) int { return strings.Compare(a.OrgID, b.OrgID) })
	return all, nil
}

// MergeShards implements [usage.Store], in a transaction for each organisation.
func (s *Store) MergeShards(ctx context.Context, date string) (fewer int, err error) {
	orgs, err := records(ctx, s, func(rows scanner, org *string) error { return rows.Scan(org) },
		`SELECT org_id FROM shards WHERE date = ? GROUP BY org_id HAVING count(*) > 1`, date)
	if err != nil {
		return 0, err
	}
	for _, org := range orgs {
		merged := 0
		err := s.write(ctx, func(c *conn) (err error) {
			merged, err = s.mergeShards(ctx, c, org, date)
			return err
		})
		if err != nil {
			return fewer, err
		}
		fewer += merged
	}
	return fewer, nil
}

func (s *Store) mergeShards(ctx context.Context, c *conn, orgID, date string) (fewer int, err error) {
	var all []usage.Shard
	err = c.rows(ctx, `SELECT `+shardColumns+` FROM shards WHERE org_id = ? AND date = ?`, []any{orgID, date},
		func(rows *sql.Rows) error {
			var d usage.Shard
			err := scanShard(rows, &d)
			all = append(all, d)
			return err
		})
	if err != nil || len(all) < 2 {
		return 0, s.fault(err)
	}
	sum, err := usage.Merge(all)
	if err != nil {
		return 0, err
	}
	if err := s.at("merged"); err != nil {
		return 0, err
	}
	if _, err := c.exec(`DELETE FROM shards WHERE org_id = ? AND date = ?`, orgID, date); err != nil {
		return 0, s.fault(err)
	}
	if err := s.at("shard"); err != nil {
		return 0, err
	}
	return len(all) - 1, s.fault(putShard(c, sum))
}

// SweepRequests implements [usage.Store].
func (s *Store) SweepRequests(ctx context.Context, date string) (int, error) {
	return s.sweep(ctx, `DELETE FROM requests WHERE rowid IN (SELECT rowid FROM requests WHERE date < ? LIMIT ?)`, date)
}

// records reads a list outside a transaction of the caller. The list can be long, so it ends with ctx.
func records[T any](ctx context.Context, s *Store, scan func(scanner, *T) error, query string,
	args ...any) ([]T, error) {
	var all []T
	err := s.read(ctx, func(c *conn) error {
		return c.rows(ctx, query, args, func(rows *sql.Rows) error {
			var v T
			err := scan(rows, &v)
			all = append(all, v)
			return err
		})
	})
	if err == nil {
		err = ctx.Err() // SQLite forgets an interrupt that comes just before a statement begins
	}
	if err != nil {
		return nil, s.ended(ctx, err)
	}
	return all, nil
}
