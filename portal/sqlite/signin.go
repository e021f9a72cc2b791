package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

// UpdateSignin implements [signin.Store].
func (s *Store) UpdateSignin(ctx context.Context, id string,
	change func(old []byte) (record []byte, expires time.Time, err error)) error {
	return s.write(ctx, func(c *conn) error {
		old, err := c.signinRecord(id)
		if err != nil {
			return s.fault(err)
		}
		record, expires, err := change(old)
		switch {
		case err != nil:
			return err
		case len(record) == 0:
			_, err = c.exec(`DELETE FROM signin WHERE id = ?`, id)
		default:
			_, err = c.exec(`INSERT OR REPLACE INTO signin (id, record, expires_at) VALUES (?, ?, ?)`, id, record,
				expires.UnixMicro())
		}
		return s.fault(err)
	})
}

// ReadSignin implements [signin.Store].
func (s *Store) ReadSignin(ctx context.Context, id string) (record []byte, err error) {
	err = s.read(ctx, func(c *conn) (err error) {
		record, err = c.signinRecord(id)
		return err
	})
	return record, s.ended(ctx, err)
}

func (c *conn) signinRecord(id string) (record []byte, err error) {
	err = c.row(`SELECT record FROM signin WHERE id = ?`, []any{id}, &record)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return record, err
}

// SweepSignin implements [signin.Store].
func (s *Store) SweepSignin(ctx context.Context, now time.Time) (int, error) {
	return s.sweep(ctx, `DELETE FROM signin WHERE rowid IN (SELECT rowid FROM signin WHERE expires_at <= ? LIMIT ?)`,
		now.UnixMicro())
}
