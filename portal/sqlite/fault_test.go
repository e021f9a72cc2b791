//go:build unix

package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/swar-tts/swar/portal/tenant"
	"github.com/swar-tts/swar/portal/usage"
	"github.com/swar-tts/swar/runtime/meter"
)

func wantFault(t *testing.T, what string, err error, want string, unavailable bool) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) || errors.Is(err, tenant.ErrUnavailable) != unavailable {
		t.Errorf("%s: %v; want an error with %q, unavailable: %v", what, err, want, unavailable)
	}
}

// fillUp stores organisations until one no longer fits, and returns how many did.
func fillUp(t *testing.T, s *Store, want string) (stored int) {
	t.Helper()
	for ; stored < 100_000; stored++ {
		err := s.Update(t.Context(), func(tx tenant.Tx) error {
			tx.PutOrg(tenant.Org{ID: fmt.Sprintf("org_%06d", stored), Name: strings.Repeat("x", 10_000)})
			return nil
		})
		if err != nil {
			wantFault(t, "a full disk", err, want, true)
			return stored
		}
	}
	t.Fatal("the disk did not get full")
	return 0
}

// worksOn checks that what was stored is there, that reading goes on while nothing can be written, and, once there is
// room, writing too.
func worksOn(t *testing.T, s *Store, stored int, makeRoom func()) {
	t.Helper()
	count := func() (n int) {
		err := s.View(t.Context(), func(r tenant.Reader) error {
			orgs, err := r.Orgs("", 1_000_000)
			n = len(orgs)
			return err
		})
		if err != nil {
			t.Errorf("View: %v", err)
		}
		return n
	}
	if got := count(); got != stored || stored == 0 {
		t.Errorf("with a full disk there are %d organisations, want the %d that were stored", got, stored)
	}
	makeRoom()
	putOrg(t, s, "org_later")
	if got := count(); got != stored+1 {
		t.Errorf("with room again there are %d organisations, want %d", got, stored+1)
	}
}

func TestFullDatabase(t *testing.T) {
	s := open(t, Config{})
	pages := func(n int) {
		c, err := s.take(t.Context(), s.writer)
		if err != nil {
			t.Fatal(err)
		}
		defer s.give(s.writer, c)
		if _, err := c.sql.ExecContext(t.Context(), fmt.Sprintf("PRAGMA max_page_count = %d", n)); err != nil {
			t.Fatal(err)
		}
	}
	pages(500)
	stored := fillUp(t, s, "the disk is full; free some space")
	worksOn(t, s, stored, func() { pages(1_000_000) })
}

func TestBusy(t *testing.T) {
	path := filepath.Join(t.TempDir(), "portal.db")
	mine, other := open(t, Config{Path: path, BusyWait: 20 * time.Millisecond}), open(t, Config{Path: path})
	writing, release, done := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		done <- other.Update(t.Context(), func(tx tenant.Tx) error {
			tx.PutOrg(tenant.Org{ID: "org_other"})
			close(writing)
			<-release
			return nil
		})
	}()
	<-writing
	wantFault(t, "writing", tryPutOrg(t.Context(), mine, "org_mine"),
		"another process has been writing for more than 20ms; try again, or stop it", true)
	wantOrgs(t, mine) // reading goes on

	mine.cfg.BusyWait = time.Hour
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := tryPutOrg(ctx, mine, "org_mine"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a wait whose context ends = %v, want its error", err)
	}
	close(release)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	putOrg(t, mine, "org_mine")
	wantOrgs(t, mine, "org_mine", "org_other")
}

func TestReadOnlyFile(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs to give files to another user")
	}
	folder := t.TempDir()
	path := filepath.Join(folder, "portal.db")
	s := open(t, Config{Path: path})
	putOrg(t, s, "org_a")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for dir := folder; dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	files, _ := filepath.Glob(path + "*")
	for _, f := range files {
		if err := os.Chown(f, 65534, 65534); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(path, 0o400); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Seteuid(65534); err != nil {
		t.Fatal(err)
	}
	_, err := Open(t.Context(), Config{Path: path})
	if err := syscall.Seteuid(0); err != nil {
		t.Fatal(err)
	}
	wantFault(t, "opening", err, path+" cannot be written; give the server's user write access to the file and its folder", true)
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	wantOrgs(t, open(t, Config{Path: path}), "org_a")
}

func TestDamagedPage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "portal.db")
	s := open(t, Config{Path: path})
	for i := range 200 {
		putOrg(t, s, fmt.Sprintf("org_%03d", i))
	}
	var root int
	if err := s.read(t.Context(), func(c *conn) error {
		return c.row(`SELECT rootpage FROM sqlite_schema WHERE name = 'orgs'`, nil, &root)
	}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt(make([]byte, 4096), int64(root-1)*4096); err != nil {
		t.Fatal(err)
	}
	f.Close()

	const advice = "is damaged; stop the server and restore the last backup with swar restore"
	s = open(t, Config{Path: path})
	wantFault(t, "reading", s.View(t.Context(), func(r tenant.Reader) error { _, err := r.Org("org_100"); return err }),
		advice, false)
	wantFault(t, "writing", tryPutOrg(t.Context(), s, "org_100"), advice, false)
	wantFault(t, "writing what hides a failed read", s.Update(t.Context(), func(tx tenant.Tx) error {
		_, _ = tx.Org("org_100")
		return nil
	}), advice, false)
	events := makeBatch(1, 10, func(int64) time.Time { return time.Unix(1_800_000_000, 0).UTC() })
	if err := s.Apply(t.Context(), usage.Batch{Batch: meter.Batch{Source: "src_1", Events: events},
		Today: "2027-01-15"}); err != nil {
		t.Errorf("what is not damaged goes on: %v", err)
	}
	if err := s.Backup(t.Context(), filepath.Join(t.TempDir(), "backup.db")); err == nil {
		t.Error("a backup of a damaged database was made")
	}
	if _, err := Open(t.Context(), Config{Path: path, Check: true}); err == nil ||
		!strings.Contains(err.Error(), "is damaged; restore the last backup with swar restore") {
		t.Errorf("Open with Check = %v, want a refusal", err)
	}
}

// A connection whose state nobody knows is replaced.
func TestLostConnection(t *testing.T) {
	s := open(t, Config{Readers: 1})
	putOrg(t, s, "org_a")
	for _, pool := range []chan *conn{s.writer, s.readers} {
		c := <-pool
		if c != nil {
			c.broken = true
			s.give(pool, c)
		} else {
			pool <- nil
		}
	}
	putOrg(t, s, "org_b")
	wantOrgs(t, s, "org_a", "org_b")
}

// A read that is stopped on its way gives its connection back in a state that the next one can use.
func TestStoppedRead(t *testing.T) {
	s := open(t, Config{Readers: 1})
	putOrg(t, s, "org_a")
	// It takes seconds where nothing stops it. SQLite forgets an interrupt that comes just before a statement begins.
	const long = `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 3000000) SELECT i FROM n WHERE i < 0`
	for range 20 {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
		_, err := records(ctx, s, func(scanner, *int) error { return nil }, long)
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("a read whose context ends = %v, want its error", err)
		}
		wantOrgs(t, s, "org_a")
	}
}

func TestOpenDuringRestore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "portal.db")
	restoring, err := lockExclusive(path)
	if err != nil {
		t.Fatal(err)
	}
	if s, err := Open(t.Context(), Config{Path: path}); err == nil ||
		!strings.Contains(err.Error(), "is being restored: wait until it is complete") {
		if err == nil {
			s.Close()
		}
		t.Errorf("Open during a restore = %v, want a refusal", err)
	}
	restoring.Close()
	open(t, Config{Path: path})
}
