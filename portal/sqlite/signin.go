package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

// UpdateSignin implements [signin.Store].
func (s *Store) UpdateSignin(ctx context.Context, id string, change func(old []byte) (record []byte, expires time.Time, err error)) error {
	return s.write(ctx, func(c *conn) error {
		var old []byte
		err := c.row(`SELECT record FROM signin WHERE id = ?`, []any{id}, &old)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return s.fault(err)
		}
		record, expires, err := change(old)
		switch {
		case err != nil:
			return err
		case len(record) == 0:
			_, err = c.exec(`DELETE FROM signin WHERE id = ?`, id)
		default:
			_, err = c.exec(`INSERT OR REPLACE INTO signin (id, record, expires_at) VALUES (?, ?, ?)`, id, record, expires.UnixMicro())
		}
		return s.fault(err)
	})
}

// SweepSignin implements [signin.Store].
func (s *Store) SweepSignin(ctx context.Context, now time.Time) (int, error) {
	return s.sweep(ctx, `DELETE FROM signin WHERE rowid IN (SELECT rowid FROM signin WHERE expires_at <= ? LIMIT ?)`, now.UnixMicro())
}
