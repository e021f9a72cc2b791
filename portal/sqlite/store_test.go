package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/swar-tts/swar/portal/signin"
	"github.com/swar-tts/swar/portal/storetest"
	"github.com/swar-tts/swar/portal/tenant"
	"github.com/swar-tts/swar/portal/usage"
)

func open(t testing.TB, cfg Config) *Store {
	t.Helper()
	if cfg.Path == "" {
		cfg.Path = filepath.Join(t.TempDir(), "portal.db")
	}
	s, err := Open(t.Context(), cfg)
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return s
}

func openTwo(t *testing.T) (a, b *Store) {
	path := filepath.Join(t.TempDir(), "portal.db")
	return open(t, Config{Path: path, Server: true}), open(t, Config{Path: path})
}

func TestTenant(t *testing.T) {
	plans := newPlans(t)
	storetest.Tenant(t, func(t *testing.T) tenant.Store { return plans.watch(open(t, Config{})) })
	plans.check(20)
}

func TestTenantShared(t *testing.T) {
	storetest.TenantShared(t, func(t *testing.T) (tenant.Store, tenant.Store) { return openTwo(t) })
}

func TestUsage(t *testing.T) {
	plans := newPlans(t)
	storetest.Usage(t, func(t *testing.T) usage.Store { return Faulty{plans.watch(open(t, Config{}))} })
	plans.check(12)
}

func TestUsageDump(t *testing.T) {
	plans := newPlans(t)
	storetest.UsageDump(t, func(t *testing.T) usage.Store { return plans.watch(open(t, Config{})) })
	plans.check(4)
}

func TestSignin(t *testing.T) {
	plans := newPlans(t)
	storetest.Signin(t, func(t *testing.T) signin.Store { return plans.watch(open(t, Config{})) })
	plans.check(3)
}

func TestSigninShared(t *testing.T) {
	storetest.SigninShared(t, func(t *testing.T) (signin.Store, signin.Store) { return openTwo(t) })
}

// plans collects every statement that a suite has run, to see how SQLite goes about it.
type plans struct {
	t       *testing.T
	mu      sync.Mutex
	queries map[string]bool
}

func newPlans(t *testing.T) *plans { return &plans{t: t, queries: map[string]bool{}} }

func (p *plans) watch(s *Store) *Store {
	s.prepared = func(query string) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.queries[query] = true
	}
	return s
}

// check fails for each statement that reads a whole table or sorts a whole result, and if there are fewer than least.
func (p *plans) check(least int) {
	p.t.Helper()
	s := open(p.t, Config{})
	n := 0
	for query := range p.queries {
		n += min(len(checkPlan(p.t, s, query)), 1)
	}
	if n < least {
		p.t.Errorf("the suite ran %d statements with a plan, want at least %d", n, least)
	}
}

// checkPlan returns how SQLite goes about a statement.
func checkPlan(t *testing.T, s *Store, query string) []string {
	t.Helper()
	steps := plan(t, s, query)
	for _, step := range steps {
		switch {
		case step == "USE TEMP B-TREE FOR LAST TERM OF ORDER BY": // of rows with the same time, which are few
		case step == "USE TEMP B-TREE FOR GROUP BY": // nightly sums
		case step == "SCAN (subquery-1)" && strings.Contains(query, "LIMIT ?5)"): // counts what it is given
		case step == "SCAN months": // grows by twelve rows a year
		case strings.HasPrefix(step, "SCAN"), strings.HasPrefix(step, "USE TEMP"):
			t.Errorf("%s\n%s", step, query)
		}
	}
	return steps
}

// The log is read along each index, also along those that the suite has no reason to take.
func TestRequestPlans(t *testing.T) {
	s := open(t, Config{})
	for _, w := range append([]indexPath{everything}, indexPaths...) {
		_, index, _ := strings.Cut(w.page, "INDEXED BY ")
		index, _, _ = strings.Cut(index, " ")
		steps := checkPlan(t, s, w.page)
		if len(steps) == 0 || !strings.HasPrefix(steps[0], "SEARCH requests USING INDEX "+index+" (") ||
			!strings.Contains(steps[0], "start") {
			t.Errorf("a page along %s goes %q, want a search by start", index, steps)
		}
		if w.count != "" {
			checkPlan(t, s, w.count)
		}
	}
}

func plan(t *testing.T, s *Store, query string) (steps []string) {
	t.Helper()
	err := s.read(t.Context(), func(c *conn) error {
		rows, err := c.sql.QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+query, make([]any, parameters(query))...)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var id, parent, unused int
			var step string
			if err := rows.Scan(&id, &parent, &unused, &step); err != nil {
				return err
			}
			steps = append(steps, step)
		}
		return rows.Err()
	})
	if err != nil {
		t.Fatalf("%v\n%s", err, query)
	}
	return steps
}

// parameters returns how many arguments a statement takes.
func parameters(query string) int {
	most, plain := 0, 0
	for i, part := range strings.Split(query, "?") {
		var n int
		if i == 0 {
			continue
		}
		if _, err := fmt.Sscanf(part, "%d", &n); err == nil {
			most = max(most, n)
		} else {
			plain++
		}
	}
	return max(most, plain)
}

func TestOpenRefuses(t *testing.T) {
	made := func(t *testing.T, statements ...string) string {
		path := filepath.Join(t.TempDir(), "portal.db")
		db, err := sql.Open("sqlite", path)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		for _, s := range statements {
			if _, err := db.ExecContext(t.Context(), s); err != nil {
				t.Fatal(err)
			}
		}
		return path
	}
	newer := fmt.Sprintf("PRAGMA user_version = %d", len(steps())+1)
	ours := fmt.Sprintf("PRAGMA application_id = %d", applicationID)
	for name, tt := range map[string]struct {
		path func(t *testing.T) string
		want string
	}{
		"the database of another program": {func(t *testing.T) string { return made(t, "CREATE TABLE t (x)") }, "was not made by this program: use another path"},
		"one with another mark":           {func(t *testing.T) string { return made(t, "PRAGMA application_id = 7") }, "was not made by this program"},
		"a newer version":                 {func(t *testing.T) string { return made(t, ours, newer) }, "was made by a newer version of this program"},
		"a file that is not a database": {func(t *testing.T) string {
			path := filepath.Join(t.TempDir(), "portal.db")
			if err := os.WriteFile(path, []byte(strings.Repeat("no database at all ", 100)), 0o600); err != nil {
				t.Fatal(err)
			}
			return path
		}, "is damaged; stop the server and restore the last backup with swar restore"},
		"a folder": {func(t *testing.T) string { return t.TempDir() }, "cannot be written"},
		"a path through a file": {func(t *testing.T) string {
			return filepath.Join(made(t, "CREATE TABLE t (x)"), "portal.db")
		}, "not a directory"},
	} {
		path := tt.path(t)
		before, _ := os.ReadFile(path)
		s, err := Open(t.Context(), Config{Path: path})
		if err == nil {
			s.Close()
		}
		if err == nil || !strings.Contains(err.Error(), tt.want) ||
			!strings.Contains(err.Error(), path) && !strings.Contains(path, "portal.db/") {
			t.Errorf("%s: Open = %v, want an error that names the path and says %q", name, err, tt.want)
		}
		if after, _ := os.ReadFile(path); string(after) != string(before) {
			t.Errorf("%s: the file was changed", name)
		}
	}
}

func TestSecondServer(t *testing.T) {
	path := filepath.Join(t.TempDir(), "portal.db")
	first := open(t, Config{Path: path, Server: true})
	if s, err := Open(t.Context(), Config{Path: path, Server: true}); err == nil ||
		!strings.Contains(err.Error(), "is in use by another server: stop it") {
		if err == nil {
			s.Close()
		}
		t.Errorf("a second server: %v, want a refusal", err)
	}
	open(t, Config{Path: path}) // a command works beside it
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	open(t, Config{Path: path, Server: true})
}

func TestFilesArePrivate(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no such rights on Windows")
	}
	folder := filepath.Join(t.TempDir(), "new")
	path := filepath.Join(folder, "portal.db")
	s := open(t, Config{Path: path, Server: true})
	putOrg(t, s, "org_a")
	wantPrivate(t, folder, 5)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	open(t, Config{Path: path})
	wantPrivate(t, folder, 5)
}

// wantPrivate checks the rights of the n files in a folder.
func wantPrivate(t *testing.T, folder string, n int) {
	t.Helper()
	files, err := os.ReadDir(folder)
	if err != nil || len(files) != n {
		t.Errorf("%d files, %v; want %d: %v", len(files), err, n, files)
	}
	for _, f := range files {
		in, err := f.Info()
		if err != nil || in.Mode().Perm() != 0o600 {
			t.Errorf("%s has the rights %v, %v; want 0600", f.Name(), in.Mode(), err)
		}
	}
}

func TestPathsWithOddCharacters(t *testing.T) {
	for _, name := range []string{"a b.db", "100%25.db", "what?mode=ro.db", "a#b.db", "आवाज़.db", "it's.db"} {
		path := filepath.Join(t.TempDir(), name)
		s := open(t, Config{Path: path})
		putOrg(t, s, "org_a")
		if _, err := os.Stat(path); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		copied := filepath.Join(t.TempDir(), name)
		if err := s.Backup(t.Context(), copied); err != nil {
			t.Errorf("%s: Backup: %v", name, err)
		}
	}
}

func TestOpenHeedsItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Open(ctx, Config{Path: filepath.Join(t.TempDir(), "portal.db")}); err == nil ||
		!strings.Contains(err.Error(), "context canceled") {
		t.Errorf("Open with an ended context = %v", err)
	}
}

// putOrg stores an organisation.
func putOrg(t testing.TB, s *Store, id string) {
	t.Helper()
	if err := tryPutOrg(t.Context(), s, id); err != nil {
		t.Fatalf("Update: %v", err)
	}
}

func tryPutOrg(ctx context.Context, s *Store, id string) error {
	return s.Update(ctx, func(tx tenant.Tx) error {
		tx.PutOrg(tenant.Org{ID: id, Name: "Swar"})
		return nil
	})
}

func wantOrgs(t testing.TB, s *Store, want ...string) {
	t.Helper()
	var got []string
	err := s.View(t.Context(), func(r tenant.Reader) error {
		orgs, err := r.Orgs("", 100_000)
		for _, o := range orgs {
			got = append(got, o.ID)
		}
		return err
	})
	if err != nil || strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("organisations are %v, %v; want %v", got, err, want)
	}
}
