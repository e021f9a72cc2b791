package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/swar-tts/swar/portal/tenant"
)

// conn is a connection with the statements that were prepared on it. It is used by one goroutine at a time.
type conn struct {
	store      *Store
	sql        *sql.Conn
	statements map[string]*sql.Stmt // their texts are constants, so that there are few
	broken     bool                 // in an unknown state
}

// connect opens a connection, for reading only or for everything. One that writes does not wait for other processes:
// retryBusy does, as it heeds its context.
func (s *Store) connect(ctx context.Context, readOnly bool) (c *conn, err error) {
	err = s.retryBusy(ctx, func() error {
		sc, err := s.db.Conn(ctx)
		if err != nil {
			return err
		}
		c = &conn{store: s, sql: sc, statements: map[string]*sql.Stmt{}}
		if err = s.setUp(ctx, sc, readOnly); err != nil {
			_ = sc.Close()
		}
		return err
	})
	return c, err
}

func (s *Store) setUp(ctx context.Context, sc *sql.Conn, readOnly bool) error {
	// With synchronous FULL each commit is synced, so that a power cut loses no confirmed booking. The cache is in KiB;
	// a log that has grown, during a long backup, is cut to 64 MB when it restarts.
	setup := []string{
		"PRAGMA synchronous = FULL", "PRAGMA cache_size = -16384", "PRAGMA journal_size_limit = 67108864", "PRAGMA temp_store = MEMORY",
		"PRAGMA trusted_schema = OFF",
	}
	if readOnly {
		setup = append(setup, "PRAGMA query_only = ON", "PRAGMA busy_timeout = "+milliseconds(s.cfg.BusyWait))
	}
	for _, pragma := range setup {
		if _, err := sc.ExecContext(ctx, pragma); err != nil {
			return err
		}
	}
	return nil
}

// statement returns a prepared statement. What stays prepared is bounded, since queries are constants.
func (c *conn) statement(query string) (*sql.Stmt, error) {
	if st, ok := c.statements[query]; ok {
		return st, nil
	}
	st, err := c.sql.PrepareContext(context.Background(), query)
	if err != nil {
		return nil, err
	}
	c.statements[query] = st
	if c.store.prepared != nil {
		c.store.prepared(query)
	}
	return st, nil
}

// exec runs a statement to its end: writing statements are short, and an interrupt would only undo them.
func (c *conn) exec(query string, args ...any) (int64, error) {
	st, err := c.statement(query)
	if err != nil {
		return 0, err
	}
	res, err := st.ExecContext(context.Background(), args...)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// row reads one row into dest, and fails with sql.ErrNoRows where there is none.
func (c *conn) row(query string, args []any, dest ...any) error {
	st, err := c.statement(query)
	if err != nil {
		return err
	}
	return st.QueryRowContext(context.Background(), args...).Scan(dest...)
}

// rows calls scan for each row.
func (c *conn) rows(ctx context.Context, query string, args []any, scan func(*sql.Rows) error) error {
	st, err := c.statement(query)
	if err != nil {
		return err
	}
	rows, err := st.QueryContext(ctx, args...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

func (c *conn) close() {
	for _, st := range c.statements {
		_ = st.Close()
	}
	_ = c.sql.Close()
}

// take waits for a connection.
func (s *Store) take(ctx context.Context, from chan *conn) (*conn, error) {
	if err := s.usable(ctx); err != nil {
		return nil, err
	}
	select {
	case <-s.closed:
		return nil, tenant.ErrClosed
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case c := <-from:
		if c != nil {
			return c, nil
		}
		c, err := s.connect(ctx, from == s.readers)
		if err != nil {
			from <- nil
			return nil, err
		}
		return c, nil
	}
}

// give puts a connection back, or lets go of one that is of no more use: take opens another.
func (s *Store) give(to chan *conn, c *conn) {
	if c.broken {
		c.close()
		c = nil
	}
	to <- c
}

func (s *Store) usable(ctx context.Context) error {
	select {
	case <-s.closed:
		return tenant.ErrClosed
	default:
		return context.Cause(ctx)
	}
}

// ended returns what to say of err: that ctx has ended, if it has.
func (s *Store) ended(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return s.fault(err)
}

// read calls f with a connection that sees one state of the database. It returns the error of f as it is.
func (s *Store) read(ctx context.Context, f func(*conn) error) error {
	c, err := s.take(ctx, s.readers)
	if err != nil {
		return err
	}
	defer s.give(s.readers, c)
	if _, err := c.exec("BEGIN"); err != nil {
		return s.ended(ctx, err)
	}
	defer c.rollback()
	return f(c)
}

// write calls f in a transaction, and commits what f has written unless it fails or panics or ctx ends. It returns
// the error of f as it is.
func (s *Store) write(ctx context.Context, f func(*conn) error) error {
	c, err := s.take(ctx, s.writer)
	if err != nil {
		return err
	}
	defer s.give(s.writer, c)
	if err := s.begin(ctx, c); err != nil {
		return err
	}
	committed := false
	defer func() {
		if !committed {
			c.rollback()
		}
	}()
	if err := s.at("begun"); err != nil {
		return err
	}
	if err := f(c); err != nil {
		return err
	}
	if err := context.Cause(ctx); err != nil {
		return err
	}
	if err := s.at("commit"); err != nil {
		return err
	}
	if _, err := c.exec("COMMIT"); err != nil {
		return s.fault(err)
	}
	committed = true
	_ = s.at("committed") // too late to fail
	return nil
}

// begin begins to write.
func (s *Store) begin(ctx context.Context, c *conn) error {
	return s.retryBusy(ctx, func() error {
		_, err := c.exec("BEGIN IMMEDIATE")
		return err
	})
}

// retryBusy tries something again while other processes do not let it.
func (s *Store) retryBusy(ctx context.Context, try func() error) error {
	var waited time.Duration
	for wait := time.Millisecond; ; wait = min(2*wait, 50*time.Millisecond) {
		err := try()
		if !isBusy(err) || waited >= s.cfg.BusyWait {
			return s.ended(ctx, err)
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(wait):
			waited += wait
		}
	}
}

// rollback ends the transaction, if the database has not done so itself. A connection that may still be in one is
// discarded.
func (c *conn) rollback() {
	if _, err := c.exec("ROLLBACK"); err != nil {
		c.broken = true
	}
}

// at is called at each step of a transaction, for tests that make one fail or end the process there.
func (s *Store) at(step string) error {
	if s.step == nil {
		return nil
	}
	return s.step(step)
}

// moment is an optional time as it is stored: microseconds since 1970, or NULL.
func moment(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UnixMicro()
}

// instant scans a time, required or optional.
type instant struct{ to *time.Time }

var errNotTime = errors.New("a stored time is not an integer")

// Scan implements [sql.Scanner].
func (i instant) Scan(v any) error {
	switch v := v.(type) {
	case nil:
		*i.to = time.Time{}
	case int64:
		*i.to = time.UnixMicro(v).UTC()
	default:
		return errNotTime
	}
	return nil
}
