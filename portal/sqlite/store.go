// Package sqlite stores the portal in one SQLite file, for a portal on one machine.
//
// There is one connection that writes, and a few that read beside it, each from one state of the database
// (write-ahead log). Every commit is on the disk when it returns. Several processes may have the file open, one of
// them as the server; the others are commands.
//
// Next to the file there are FILE-wal and FILE-shm, which belong to it, and two lock files. Copying the file alone
// while it is in use gives a broken copy: [Store.Backup] gives a whole one.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"time"

	_ "modernc.org/sqlite" // the driver

	"github.com/swar-tts/swar/portal/signin"
	"github.com/swar-tts/swar/portal/tenant"
	"github.com/swar-tts/swar/portal/usage"
)

// ErrServed means that a server has the database open, which no other may then.
var ErrServed = errors.New("is in use by another server: stop it")

// Config says where and how a [Store] is kept.
type Config struct {
	Path string // of the database file; its folder is made if it is missing. Required
	// this process is the server, of which there is only one; commands work beside it and leave this false
	Server bool
	// read the whole file when opening, which takes some 12 s a GB, and refuse one that is damaged
	Check    bool
	Readers  int           // concurrent reads, each with up to 16 MB; 0 means 4
	BusyWait time.Duration // longest wait for another process that writes; 0 means 5 s
}

// Store keeps everything that the portal stores. It is safe for concurrent use.
type Store struct {
	cfg     Config
	db      *sql.DB
	locks   []*os.File
	writer  chan *conn // holds the idle writing connection; nil stands for one to be opened
	readers chan *conn // likewise the reading ones
	closing sync.Once
	closed  chan struct{} // closed by Close

	// For tests: step is called at each step of a transaction, and fails it; prepared gets each statement.
	step     func(step string) error
	prepared func(query string)

	mu      sync.Mutex
	changed chan struct{} // closed and replaced when this process has changed keys
}

var (
	_ tenant.Store = (*Store)(nil)
	_ usage.Store  = (*Store)(nil)
	_ signin.Store = (*Store)(nil)
)

// Open opens the database or creates one, and migrates an older one. Older versions of this program cannot read it
// any more. It refuses a file that something else has made, that a newer version has made, and, as the server, one
// that another server uses. ctx bounds opening alone.
func Open(ctx context.Context, cfg Config) (*Store, error) {
	if cfg.Readers == 0 {
		cfg.Readers = 4
	}
	if cfg.BusyWait == 0 {
		cfg.BusyWait = 5 * time.Second
	}
	var err error
	if cfg.Path, err = filepath.Abs(cfg.Path); err != nil {
		return nil, fmt.Errorf("database: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(cfg.Path), 0o700); err != nil {
		return nil, fmt.Errorf("database: %w", err)
	}
	locks, err := lock(cfg.Path, cfg.Server)
	if err != nil {
		return nil, err
	}
	s := &Store{
		cfg: cfg, locks: locks, closed: make(chan struct{}), changed: make(chan struct{}),
		writer: make(chan *conn, 1), readers: make(chan *conn, cfg.Readers),
	}
	if err := s.open(ctx); err != nil {
		_ = s.release()
		return nil, err
	}
	return s, nil
}

func (s *Store) open(ctx context.Context) error {
	if err := makePrivate(s.cfg.Path); err != nil {
		return fmt.Errorf("database: %w", err)
	}
	var err error
	if s.db, err = openFile(s.cfg.Path); err != nil {
		return err
	}
	w, err := s.connect(ctx, false)
	if err != nil {
		return err
	}
	if err := s.retryBusy(ctx, func() error { return s.prepare(ctx, w) }); err != nil {
		w.close()
		return err
	}
	s.writer <- w
	for range cap(s.readers) {
		s.readers <- nil
	}
	return nil
}

// makePrivate creates the file for its owner alone, or removes the rights of all others: it contains users, usage and
// bills. It never opens an existing file: closing it would drop the locks that other connections of this process have
// on it.
func makePrivate(path string) error {
	old, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
		if err == nil {
			err = f.Close()
		}
		if errors.Is(err, os.ErrExist) { // another process was faster
			return nil
		}
		return err
	}
	if err == nil && old.Mode().Perm()&0o077 != 0 {
		err = os.Chmod(path, old.Mode().Perm()&0o700)
	}
	return err
}

// openFile opens a database file that exists.
func openFile(path string) (*sql.DB, error) {
	name := url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(path), RawQuery: "mode=rw&_dqs=0"}
	db, err := sql.Open("sqlite", name.String())
	if err != nil {
		return nil, fmt.Errorf("database: %w", err)
	}
	return db, nil
}

// Close implements [tenant.Store]. It waits for what is being done.
func (s *Store) Close() error {
	var err error
	s.closing.Do(func() {
		close(s.closed)
		// The writer is closed last, so that it is the one that folds the write-ahead log into the file.
		for range cap(s.readers) {
			if c := <-s.readers; c != nil {
				c.close()
			}
		}
		if c := <-s.writer; c != nil {
			c.close()
		}
		err = s.release()
	})
	return err
}

// release lets go of what no connection holds.
func (s *Store) release() error {
	var err error
	if s.db != nil {
		err = s.db.Close()
	}
	for _, f := range s.locks {
		_ = f.Close()
	}
	return err
}
