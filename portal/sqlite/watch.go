package sqlite

import (
	"context"
	"database/sql"
	"time"

	"github.com/swar-tts/swar/portal/tenant"
)

// pollEvery is how often a watcher looks for changes by other processes. It reads one number; changes of this process
// wake it.
const pollEvery = 200 * time.Millisecond

// WatchKeys implements [tenant.Store]. It also ends with the failure of a read: then the caller no longer knows what
// was revoked.
func (s *Store) WatchKeys(ctx context.Context, update func(keys []tenant.Key, full bool) error) error {
	return watch(ctx, s, s.keysSince, update)
}

// watch calls update with all records first, and then with changed ones. since returns the records changed after the
// change numbered seen, and the number of the last change; if seen is not such a number, which is so for -1 and after
// an older database was restored, it returns all.
func watch[T any](ctx context.Context, s *Store, since func(ctx context.Context, seen int64) ([]T, int64, error),
	update func(records []T, full bool) error,
) error {
	poll := time.NewTicker(pollEvery)
	defer poll.Stop()
	for seen := int64(-1); ; {
		changed := s.nextChange() // before reading, so that no change falls in between
		records, last, err := since(ctx, seen)
		if err != nil {
			return err
		}
		if full := seen < 0 || last < seen; full || len(records) > 0 {
			if err := s.usable(ctx); err != nil {
				return err
			}
			if err := update(records, full); err != nil {
				return err
			}
		}
		seen = last
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-s.closed:
			return tenant.ErrClosed
		case <-changed:
		case <-poll.C:
		}
	}
}

// keysSince returns the keys changed after the change numbered seen, and the number of the last change. If seen is not
// such a number it returns every key that is not revoked.
func (s *Store) keysSince(ctx context.Context, seen int64) (keys []tenant.Key, last int64, err error) {
	err = s.read(ctx, func(c *conn) error {
		if err := c.row(`SELECT last FROM key_changes WHERE only = 1`, nil, &last); err != nil {
			return err
		}
		query := `SELECT ` + keyColumns + ` FROM keys WHERE changed > ? ORDER BY changed`
		switch {
		case seen == last:
			return nil
		case seen < 0 || last < seen:
			query = `SELECT ` + keyColumns + ` FROM keys WHERE changed > ? AND revoked_at IS NULL ORDER BY changed`
			seen = -1
		}
		return c.rows(ctx, query, []any{seen}, func(rows *sql.Rows) error {
			var k tenant.Key
			err := scanKey(rows, &k)
			keys = append(keys, k)
			return err
		})
	})
	return keys, last, s.ended(ctx, err)
}

// nextChange returns a channel that is closed when this process changes what is watched.
func (s *Store) nextChange() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changed
}

func (s *Store) notifyWatchers() {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.changed)
	s.changed = make(chan struct{})
}
