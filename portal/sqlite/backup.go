package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// Backup writes a consistent copy of the database to a new file while the store is in use. The copy is read through
// for damage and synced before it gets its name, so that what has the name is whole; a file that is there is refused.
// The copy is one file that needs no other beside it.
//
// Reads and writes continue meanwhile, and the write-ahead log grows by what is written.
func (s *Store) Backup(ctx context.Context, path string) (err error) {
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("backup: %s exists: give another name", path)
	}
	// created here, since SQLite would make it readable for all users
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".part-*")
	if err != nil {
		return fmt.Errorf("backup: %w", err)
	}
	part := f.Name()
	defer func() { _ = f.Close() }()
	defer func() {
		if err != nil {
			os.Remove(part)
			err = fmt.Errorf("backup to %s: %w", path, err)
		}
	}()
	if err := s.copyTo(ctx, part); err != nil {
		return err
	}
	if err := checkFile(ctx, part); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	err = os.Link(part, path) // and not Rename, which would replace what has come there meanwhile
	switch {
	case err == nil:
		os.Remove(part)
	case errors.Is(err, os.ErrExist):
		return err
	default: // such as the file system of a stick, which has no links
		if err := os.Rename(part, path); err != nil {
			return err
		}
	}
	return syncFolder(filepath.Dir(path))
}

// copyTo writes the database into an empty file.
func (s *Store) copyTo(ctx context.Context, path string) error {
	c, err := s.take(ctx, s.readers)
	if err != nil {
		return err
	}
	defer s.give(s.readers, c)
	// It only writes to the other file, but that is writing.
	if _, err := c.exec("PRAGMA query_only = OFF"); err != nil {
		return s.fault(err)
	}
	_, err = c.sql.ExecContext(ctx, "VACUUM INTO ?", path)
	if _, off := c.exec("PRAGMA query_only = ON"); off != nil {
		c.broken = true
	}
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return explain(path, s.cfg.BusyWait, err)
}

// checkFile reads a database that no process has open, and fails unless it is a complete database of Swar. It merges a
// log beside it.
func checkFile(ctx context.Context, path string) error {
	db, err := openFile(path)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	c, err := db.Conn(ctx)
	if err != nil {
		return explain(path, 0, err)
	}
	defer func() { _ = c.Close() }()
	version, err := recognise(ctx, c, path)
	if err != nil {
		return explain(path, 0, err)
	}
	if version == 0 {
		return fmt.Errorf("database %s is empty", path)
	}
	return check(ctx, c, path)
}

// Restore replaces the database at path by a backup and returns where the old one is. No process may have it open.
// The old one is a file beside it; there is none if there was none. Restore reads the backup first, and changes
// nothing if it is damaged, of another program or made by a newer version. One of an older version is migrated when
// it is opened.
//
// A backup is what [Store.Backup] has made, but also a copy of the file of a stopped server, or what an earlier
// restore has put aside: a log that is with it, under the same name and -wal, is taken along.
func Restore(ctx context.Context, path, backup string) (aside string, err error) {
	if path, err = filepath.Abs(path); err != nil {
		return "", fmt.Errorf("restore: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", fmt.Errorf("restore: %w", err)
	}
	alone, err := lockExclusive(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = alone.Close() }()
	staged := path + ".restoring"
	removeWithLog(staged) // of a restore that was killed: its log must not come to this one
	defer removeWithLog(staged)
	if err := copyFile(staged, backup); err != nil {
		return "", fmt.Errorf("restore: %w", err)
	}
	if err := copyFile(staged+"-wal", backup+"-wal"); err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("restore: %w", err)
	}
	if err := checkFile(ctx, staged); err != nil {
		if f, ok := errors.AsType[*fault](err); ok && !f.passes { // whose advice would be to restore a backup
			err = fmt.Errorf("it is damaged, or no backup of swar (%w)", f.err)
		}
		return "", fmt.Errorf("restoring %s changed nothing: %w", backup, err)
	}
	if _, err := os.Lstat(path); err == nil {
		if aside, err = linkAside(ctx, path); err != nil {
			return "", fmt.Errorf("restore: keeping the old database aside: %w", err)
		}
	}
	// From here on there is a whole database under the name at every moment: without its log, which is kept aside,
	// the old one is at its last checkpoint.
	for _, log := range []string{path + "-wal", path + "-shm"} {
		if err := os.Remove(log); err != nil && !errors.Is(err, os.ErrNotExist) {
			return aside, fmt.Errorf("restore: %w", err)
		}
	}
	if err := os.Rename(staged, path); err != nil {
		return aside, fmt.Errorf("restore: %w", err)
	}
	if err := syncFolder(filepath.Dir(path)); err != nil {
		return aside, fmt.Errorf("restore: %w", err)
	}
	return aside, nil
}

// linkAside gives a database a second name, and so its log, if a killed process has left one.
func linkAside(ctx context.Context, path string) (string, error) {
	name := path + ".before-restore-" + time.Now().UTC().Format("20060102T150405.000000Z")
	// The log is copied and not linked, as folding it ends with its being cut off.
	err := copyFile(name+"-wal", path+"-wal")
	if err == nil || errors.Is(err, os.ErrNotExist) {
		err = os.Link(path, name)
	}
	if err != nil {
		os.Remove(name + "-wal")
		return "", err
	}
	if foldLog(ctx, path) {
		os.Remove(name + "-wal")
	}
	return name, nil
}

// foldLog writes the log of a database into its file, and reports whether the database was well enough for it.
func foldLog(ctx context.Context, path string) bool {
	db, err := openFile(path)
	if err != nil {
		return false
	}
	var busy, logged, folded int
	err = db.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &logged, &folded)
	return db.Close() == nil && err == nil && busy == 0
}

func removeWithLog(path string) {
	for _, suffix := range []string{"", "-wal", "-shm"} {
		os.Remove(path + suffix)
	}
}

// copyFile writes a copy to the disk.
func copyFile(to, from string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if err == nil {
		err = out.Sync()
	}
	return errors.Join(err, out.Close())
}

func syncFolder(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = d.Close() }()
	return d.Sync()
}
