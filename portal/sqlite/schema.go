package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"
	"strconv"
)

// applicationID marks a file as ours in its header: "Swar".
const applicationID = 0x53776172

// What is put behind the name of the database file.
const (
	openLock   = "-open.lock"
	serverLock = "-server.lock"
)

// migrations are the steps by which the schema has come about. Once released, one is never changed: there are files
// that have taken it.
//
//go:embed migrations/*.sql
var migrations embed.FS

// steps returns the migrations in order; the first one makes version 1.
func steps() []string {
	names, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		panic(err) // the pattern is a constant
	}
	all := make([]string, len(names))
	for i, name := range names {
		text, err := migrations.ReadFile(name)
		if err != nil {
			panic(err) // it is embedded
		}
		all[i] = string(text)
	}
	return all
}

// prepare checks the database and migrates it to this version. It can be repeated.
func (s *Store) prepare(ctx context.Context, w *conn) error {
	version, err := recognise(ctx, w.sql, s.cfg.Path)
	if err != nil {
		return err
	}
	var mode string
	if err := w.sql.QueryRowContext(ctx, "PRAGMA journal_mode = WAL").Scan(&mode); err != nil {
		return err
	}
	if mode != "wal" {
		return fmt.Errorf("database %s: its file system has no write-ahead log (mode %s); use a local disk",
			s.cfg.Path, mode)
	}
	if s.cfg.Check {
		if err := check(ctx, w.sql, s.cfg.Path); err != nil {
			return err
		}
	}
	all := steps()
	for ; version < len(all); version++ {
		if err := migrate(ctx, w.sql, version, all[version]); err != nil {
			return fmt.Errorf("bringing it to version %d: %w", version+1, err)
		}
	}
	// A write test now, so that an unwritable database is reported at start. Beginning a transaction alone would not
	// show it.
	if _, err := w.exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	defer w.rollback()
	_, err = w.exec("PRAGMA user_version = " + strconv.Itoa(version))
	return err
}

// recognise returns the version of the database, 0 for an empty file, or an error for one that is not ours or too new.
func recognise(ctx context.Context, c *sql.Conn, path string) (version int, err error) {
	// All of it at one moment, since another process may be making the database.
	if _, err := c.ExecContext(ctx, "BEGIN"); err != nil {
		return 0, err
	}
	defer c.ExecContext(context.WithoutCancel(ctx), "ROLLBACK") //nolint:errcheck // it only reads
	var application, tables int
	for query, to := range map[string]*int{
		"PRAGMA application_id": &application, "PRAGMA user_version": &version, "SELECT count(*) FROM sqlite_schema": &tables,
	} {
		if err := c.QueryRowContext(ctx, query).Scan(to); err != nil {
			return 0, err
		}
	}
	if application == 0 && version == 0 && tables == 0 {
		return 0, nil
	}
	if application != applicationID {
		return 0, fmt.Errorf("database %s was not made by this program: use another path", path)
	}
	if known := len(steps()); version > known {
		return 0, fmt.Errorf("database %s was made by a newer version of this program (its schema is %d, this one knows %d): use that version, or restore a backup made before it", path, version, known)
	}
	return version, nil
}

// migrate takes one step, atomically, unless another process has taken it.
func migrate(ctx context.Context, c *sql.Conn, from int, step string) error {
	if _, err := c.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	//nolint:errcheck // fails when there is nothing to take back
	defer c.ExecContext(context.WithoutCancel(ctx), "ROLLBACK")
	var version int
	if err := c.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil || version != from {
		return err
	}
	script := step + "\nPRAGMA application_id = " + strconv.Itoa(applicationID) + ";\nPRAGMA user_version = " +
		strconv.Itoa(from+1) + ";\nCOMMIT;"
	_, err := c.ExecContext(ctx, script)
	return err
}

// check reads the whole database and fails if anything in it is damaged.
func check(ctx context.Context, c *sql.Conn, path string) error {
	var first string
	if err := c.QueryRowContext(ctx, "PRAGMA integrity_check(1)").Scan(&first); err != nil {
		return explain(path, 0, err)
	}
	if first != "ok" {
		return fmt.Errorf("database %s is damaged; restore the last backup with swar restore (%s)", path, first)
	}
	return nil
}
