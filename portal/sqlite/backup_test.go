package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/swar-tts/swar/portal/tenant"
)

func TestBackupIsWholeAndRestores(t *testing.T) {
	folder := t.TempDir()
	path, copied := filepath.Join(folder, "portal.db"), filepath.Join(folder, "backup.db")
	s := open(t, Config{Path: path, Server: true})
	putOrg(t, s, "org_a")
	if err := s.Backup(t.Context(), copied); err != nil {
		t.Fatal(err)
	}
	putOrg(t, s, "org_b")
	if in, err := os.Stat(copied); err != nil || in.Mode().Perm() != 0o600 {
		t.Errorf("the backup has the rights %v, %v; want 0600", in.Mode(), err)
	}
	if left, _ := filepath.Glob(copied + ".*"); len(left) > 0 {
		t.Errorf("%v is left of the backup", left)
	}
	wantOrgs(t, open(t, Config{Path: copied, Check: true}), "org_a")

	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	aside, err := Restore(t.Context(), path, copied)
	if err != nil {
		t.Fatal(err)
	}
	wantOrgs(t, open(t, Config{Path: path, Server: true, Check: true}), "org_a")
	wantOrgs(t, open(t, Config{Path: aside, Check: true}), "org_a", "org_b")
}

func TestBackupUnderWrites(t *testing.T) {
	// Every change adds an organisation and a project of it, so that a copy from between two moments would show one
	// without the other.
	s := open(t, Config{})
	var wg sync.WaitGroup
	var written, stop atomic.Int64
	wg.Go(func() {
		for i := int64(0); stop.Load() == 0; i++ {
			err := s.Update(t.Context(), func(tx tenant.Tx) error {
				tx.PutOrg(tenant.Org{ID: fmt.Sprintf("org_%06d", i), Name: strings.Repeat("x", 2000)})
				tx.PutProject(tenant.Project{ID: fmt.Sprintf("prj_%06d", i), OrgID: "org"})
				return nil
			})
			if err != nil {
				t.Errorf("Update: %v", err)
				return
			}
			written.Store(i + 1)
		}
	})
	for i := range 5 {
		for before := written.Load(); written.Load() < before+20; {
			if t.Failed() {
				break
			}
			runtime.Gosched()
		}
		before := written.Load()
		copied := filepath.Join(t.TempDir(), "backup.db")
		if err := s.Backup(t.Context(), copied); err != nil {
			t.Fatalf("backup %d: %v", i, err)
		}
		c := open(t, Config{Path: copied})
		var orgs, projects int64
		err := c.View(t.Context(), func(r tenant.Reader) error {
			o, err1 := r.Orgs("", 1_000_000)
			p, err2 := r.Projects("org")
			orgs, projects = int64(len(o)), int64(len(p))
			return errors.Join(err1, err2)
		})
		if err != nil || orgs != projects || orgs < before {
			t.Errorf("backup %d has %d organisations and %d projects, %v; want as many of both, at least %d", i, orgs,
				projects, err, before)
		}
	}
	stop.Store(1)
	wg.Wait()
}

func TestBackupRefuses(t *testing.T) {
	s := open(t, Config{})
	there := filepath.Join(t.TempDir(), "there")
	if err := os.WriteFile(there, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for name, tt := range map[string]struct {
		ctx  context.Context //nolint:containedctx // of a test case
		path string
		want string
	}{
		"a file that is there": {t.Context(), there, "exists: give another name"},
		"no folder":            {t.Context(), filepath.Join(t.TempDir(), "none", "b"), "no such file or directory"},
		"an ended context":     {ended, filepath.Join(t.TempDir(), "b"), "context canceled"},
	} {
		if err := s.Backup(tt.ctx, tt.path); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: Backup = %v, want %q", name, err, tt.want)
		}
		if left, _ := filepath.Glob(tt.path + "*"); len(left) > 0 && left[0] != there {
			t.Errorf("%s: %v is left", name, left)
		}
	}
	if b, _ := os.ReadFile(there); string(b) != "precious" {
		t.Error("the file that was there was changed")
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Backup(t.Context(), filepath.Join(t.TempDir(), "b")); !errors.Is(err, tenant.ErrClosed) {
		t.Errorf("Backup of a closed store = %v, want ErrClosed", err)
	}
}

func TestRestoreRefusesAndChangesNothing(t *testing.T) {
	folder := t.TempDir()
	good, path := filepath.Join(folder, "good.db"), filepath.Join(folder, "portal.db")
	s := open(t, Config{Path: path})
	for i := range 200 {
		putOrg(t, s, fmt.Sprintf("org_%03d", i))
	}
	if err := s.Backup(t.Context(), good); err != nil {
		t.Fatal(err)
	}
	if _, err := Restore(t.Context(), path, good); err == nil ||
		!strings.Contains(err.Error(), "is in use: stop the server") {
		t.Errorf("Restore of an open database = %v, want a refusal", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	spoilt := func(change func(b []byte) []byte) string {
		name := filepath.Join(t.TempDir(), "backup.db")
		if err := os.WriteFile(name, change(append([]byte(nil), whole...)), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct{ backup, want string }{
		"that is not there":         {filepath.Join(folder, "none"), "no such file or directory"},
		"that is empty":             {spoilt(func([]byte) []byte { return nil }), "is empty"},
		"that is text":              {spoilt(func([]byte) []byte { return []byte(strings.Repeat("text ", 1000)) }), "changed nothing: it is damaged, or no backup of swar (file is not a database"},
		"that was cut off":          {spoilt(func(b []byte) []byte { return b[:len(b)/4096/2*4096] }), "is damaged"},
		"with a page of zeros":      {spoilt(func(b []byte) []byte { clear(b[4096*2 : 4096*3]); return b }), "is damaged"},
		"of another program":        {spoilt(func(b []byte) []byte { b[68] ^= 0xff; return b }), "was not made by this program"},
		"of a newer version":        {spoilt(func(b []byte) []byte { b[63] = 200; return b }), "was made by a newer version"},
		"with a record in disorder": {spoilt(func(b []byte) []byte { return []byte(strings.ReplaceAll(string(b), "org_100", "org_999")) }), "is damaged"},
	} {
		aside, err := Restore(t.Context(), path, tt.backup)
		if err == nil || !strings.Contains(err.Error(), tt.want) || aside != "" {
			t.Errorf("a backup %s: Restore = %q, %v; want %q", name, aside, err, tt.want)
		}
		if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
			t.Errorf("a backup %s: the database was changed (%v)", name, err)
		}
		if left, _ := filepath.Glob(path + ".*"); len(left) > 0 {
			t.Errorf("a backup %s: %v is left", name, left)
		}
	}
	if _, err := Restore(t.Context(), path, good); err != nil {
		t.Errorf("the good backup: %v", err)
	}
}

func TestRestoreWhereNothingIs(t *testing.T) {
	copied, path := filepath.Join(t.TempDir(), "backup.db"), filepath.Join(t.TempDir(), "new", "portal.db")
	s := open(t, Config{})
	putOrg(t, s, "org_a")
	if err := s.Backup(t.Context(), copied); err != nil {
		t.Fatal(err)
	}
	if aside, err := Restore(t.Context(), path, copied); err != nil || aside != "" {
		t.Fatalf("Restore = %q, %v; want nothing aside", aside, err)
	}
	wantOrgs(t, open(t, Config{Path: path, Server: true}), "org_a")
}

// A killed server leaves its log behind. It belongs to the old database, and must neither be lost nor come to the new
// one.
func TestRestoreOverAKilledServer(t *testing.T) {
	folder := t.TempDir()
	path, copied := filepath.Join(folder, "portal.db"), filepath.Join(folder, "backup.db")
	s := open(t, Config{Path: filepath.Join(t.TempDir(), "portal.db")})
	putOrg(t, s, "org_old")
	if err := s.Backup(t.Context(), copied); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		putOrg(t, s, fmt.Sprintf("org_in_the_log_%d", i))
	}
	for _, suffix := range []string{"", "-wal"} { // what is there when the process is gone
		if err := copyFile(path+suffix, s.cfg.Path+suffix); err != nil {
			t.Fatal(err)
		}
	}
	if err := copyFile(path+".restoring-wal", s.cfg.Path+"-wal"); err != nil { // of another restore, which was killed
		t.Fatal(err)
	}
	aside, err := Restore(t.Context(), path, copied)
	if err != nil {
		t.Fatal(err)
	}
	restored := open(t, Config{Path: path, Check: true})
	wantOrgs(t, restored, "org_old")
	all := []string{"org_in_the_log_0", "org_in_the_log_1", "org_in_the_log_2", "org_old"}
	wantOrgs(t, open(t, Config{Path: aside, Check: true}), all...)

	// And back again, from copies as they lie on the disk: of the file of a stopped server, and of a file with its log.
	if err := restored.Close(); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name     string
		from     string
		suffixes []string
		want     []string
	}{
		{"a stopped server", path, []string{""}, []string{"org_old"}},
		{"one with its log", s.cfg.Path, []string{"", "-wal"}, all},
	} {
		copied := filepath.Join(t.TempDir(), "copied.db")
		for _, suffix := range tt.suffixes {
			if err := copyFile(copied+suffix, tt.from+suffix); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := Restore(t.Context(), path, copied); err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		again := open(t, Config{Path: path, Check: true})
		wantOrgs(t, again, tt.want...)
		if err := again.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if left, _ := filepath.Glob(path + ".restoring*"); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
}

// A database that is damaged is what one restores: it must be kept aside with its log, as they are.
func TestRestoreOverADamagedDatabase(t *testing.T) {
	folder := t.TempDir()
	path, copied := filepath.Join(folder, "portal.db"), filepath.Join(folder, "backup.db")
	s := open(t, Config{})
	putOrg(t, s, "org_a")
	if err := s.Backup(t.Context(), copied); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{path: "no database", path + "-wal": "no log", path + "-shm": "no index"} {
		if err := os.WriteFile(name, []byte(strings.Repeat(text, 1000)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	aside, err := Restore(t.Context(), path, copied)
	if err != nil {
		t.Fatal(err)
	}
	wantOrgs(t, open(t, Config{Path: path, Check: true}), "org_a")
	for name, text := range map[string]string{aside: "no database", aside + "-wal": "no log"} {
		if b, err := os.ReadFile(name); err != nil || string(b) != strings.Repeat(text, 1000) {
			t.Errorf("%s was not kept as it was (%d bytes, %v)", filepath.Base(name), len(b), err)
		}
	}
}
