package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/swar-tts/swar/portal/tenant"
	"github.com/swar-tts/swar/portal/usage"
	"github.com/swar-tts/swar/runtime/speech"
)

var update = flag.Bool("update", false, "write the files of versions that have none; those that are there never change")

// oldRows fills the tables that came with each version.
var oldRows = []string{
	`INSERT INTO orgs VALUES ('org_old', 'आवाज़', 1700000000123456, 'asha@example.org', 1, 1);
	INSERT INTO projects VALUES ('prj_old', 'org_old', 'Default', 1700000000123456, 'asha@example.org');
	INSERT INTO members VALUES ('org_old', 'asha@example.org', 'owner', 'joined', 1700000000123456, '', 1700000000123456, 'usr_1', NULL);
	INSERT INTO keys VALUES ('key_old', 'org_old', 'prj_old', 'live', 'server', 'swar_live_abcdef', zeroblob(32), '["raj"]', '',
		1700000000123456, 'asha@example.org', NULL, 1700000001000000, NULL, 7);
	UPDATE key_changes SET last = 9;
	INSERT INTO voice_requests VALUES ('vr_old', 'org_old', 'मीरा', 'hi-IN', 'stories', 1.5, '', 'submitted', 1700000000123456, 'asha@example.org', 1700000000123456, '[]');
	INSERT INTO audits VALUES ('org_old', 1700000000123456, 'aud_old', 'asha@example.org', 'org.created', 'org_old', '{"name":"आवाज़"}');
	INSERT INTO answers VALUES ('usr_1', 'retry-1', zeroblob(32), x'7b7d', 1700086400000000);`,
	`INSERT INTO sources VALUES ('src_old', 3);
	INSERT INTO months VALUES ('2023-10', 20, 1700000000123456);
	INSERT INTO shards VALUES ('org_old', '2023-11-15', 'src_old', 3, 30, 20, x'');
	INSERT INTO requests VALUES ('evt_1', 'org_old', 1700000000123456, '2023-11-15', 'src_old', 'prj_old', 'key_old', 'swar_live_abcdef', 0, 'r-1', 'rest',
		'raj', 'wav', 'ok', '', 10, 10, 100, 2, 45000, 0, 900000, 300000, 1, 42);
	INSERT INTO requests VALUES ('evt_2', 'org_old', 1700000001123456, '2023-11-15', 'src_old', 'prj_old', 'key_old', 'swar_live_abcdef', 0, 'r-2', 'ws',
		'raj', 'opus', 'error', 'worker gone', 10, 0, 100, 2, 2500000, 0, 900000, 300000, 1, -42);
	INSERT INTO requests VALUES ('evt_3', 'org_old', 1700000002123456, '2023-11-15', 'src_old', 'prj_old', 'key_old', 'swar_live_abcdef', 1, 'r-3', 'ws',
		'raj', 'opus', 'cancelled', '', 10, 10, 100, 2, 250000, 0, 900000, 300000, 0, 0);`,
	`INSERT INTO signin VALUES ('email:old', x'00ff', 1700086400000000);`,
	`UPDATE orgs SET disclosure = 'यह ए आई है।';
	UPDATE keys SET disclosure = '', org_disclosure = 'यह ए आई है।';`,
	``, // an index alone
	`UPDATE sources SET mark = 'c0ffee';`,
	`INSERT INTO lexicons VALUES ('prj_old', 'org_old', 2, '[{"word":"Zepto","spoken":"ज़ेप्टो"}]', 1700000000123456, 'asha@example.org', 1);`,
}

func oldFile(version int) string {
	return filepath.Join("testdata", fmt.Sprintf("version-%d.db", version))
}

// makeOldFile writes a database of a version, with small pages to be a small file.
func makeOldFile(t *testing.T, path string, version int) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	c, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	run := func(script string) {
		t.Helper()
		if _, err := c.ExecContext(t.Context(), script); err != nil {
			t.Fatal(err)
		}
	}
	run("PRAGMA page_size = 512")
	for i, step := range steps()[:version] {
		if err := migrate(t.Context(), c, i, step); err != nil {
			t.Fatal(err)
		}
		run(oldRows[i])
	}
}

func schemaOf(t *testing.T, s *Store) (all []string) {
	t.Helper()
	err := s.read(t.Context(), func(c *conn) error {
		return c.rows(t.Context(), `SELECT type || ' ' || name || ' ' || coalesce(sql, '') FROM sqlite_schema ORDER BY 1`, nil, func(rows *sql.Rows) error {
			var line string
			err := rows.Scan(&line)
			all = append(all, line)
			return err
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestMigrateFromEveryVersion(t *testing.T) {
	newest := len(steps())
	for version := 1; version <= newest && *update; version++ {
		if _, err := os.Stat(oldFile(version)); err != nil {
			makeOldFile(t, oldFile(version), version)
		}
	}
	if len(oldRows) != newest {
		t.Fatalf("there are rows for %d versions, want %d", len(oldRows), newest)
	}
	want := schemaOf(t, open(t, Config{}))
	for version := 1; version <= newest; version++ {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "portal.db")
			if err := copyFile(path, oldFile(version)); err != nil {
				t.Fatalf("%v: make it with -update before the version is released", err)
			}
			for range 2 { // the second time there is nothing to do
				s, err := Open(t.Context(), Config{Path: path, Check: true, Server: true})
				if err != nil {
					t.Fatal(err)
				}
				if got := schemaOf(t, s); !slices.Equal(got, want) {
					t.Errorf("the schema is\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
				}
				checkOldRows(t, s, version)
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// checkOldRows checks that what the file of a version holds is there.
func checkOldRows(t *testing.T, s *Store, version int) {
	t.Helper()
	at := time.UnixMicro(1700000000123456).UTC()
	err := s.View(t.Context(), func(r tenant.Reader) error {
		o, err := r.Org("org_old")
		var ours, own speech.Disclosure // before version 4 nothing was set
		if version >= 4 {
			ours, own = speech.Disclosure{Set: true, Text: "यह ए आई है।"}, speech.Disclosure{Set: true}
		}
		want := tenant.Org{
			ID: "org_old", Name: "आवाज़", CreatedAt: at, CreatedBy: "asha@example.org", ActiveKeys: 1, Owners: 1,
			Disclosure: ours,
		}
		if o != want {
			t.Errorf("the organisation is %+v, %v; want %+v", o, err, want)
		}
		if l, err := r.Lexicon("prj_old"); version >= 7 &&
			(err != nil || l.Version != 2 || l.Entries[0].Spoken != "ज़ेप्टो" || l.UpdatedAt != at) {
			t.Errorf("the lexicon is %+v, %v", l, err)
		}
		k, err := r.Key("key_old")
		if !slices.Equal(k.Voices, []string{"raj"}) || k.CreatedAt != at || k.Revoked() || k.Disclosure != own ||
			k.OrgDisclosure != ours {
			t.Errorf("the key is %+v, %v", k, err)
		}
		_, err1 := r.Member("org_old", "asha@example.org")
		_, err2 := r.VoiceRequest("vr_old")
		_, err3 := r.Answer("usr_1", "retry-1")
		a, err4 := r.Audit(tenant.AuditQuery{OrgID: "org_old", Limit: 2})
		if err := errors.Join(err1, err2, err3, err4); err != nil {
			t.Errorf("member, voice request, answer or audit are gone: %v", err)
		}
		if len(a) != 1 || a[0].Detail["name"] != "आवाज़" {
			t.Errorf("the audit is %v", a)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	if _, last, err := s.keysSince(t.Context(), 0); last != 9 || err != nil {
		t.Errorf("the last change of a key is %d, %v; want 9", last, err)
	}
	if version >= 2 {
		all, err := s.Compare(t.Context(), "2023-11-15")
		if want := (usage.Totals{Requests: 3, Frames: 30, Billed: 20}); err != nil || len(all) != 1 ||
			all[0].Shards != want || all[0].Requests != want {
			t.Errorf("usage is %+v, %v; want %+v", all, err, want)
		}
		rows, err := s.Requests(t.Context(), usage.RequestQuery{OrgID: "org_old", MinTTFAus: 200_001, Limit: 9})
		if err != nil || len(rows) != 2 || rows[0].ID != "evt_3" || rows[1].Seed != -42 {
			t.Errorf("slow requests are %+v, %v; want evt_3 and evt_2", rows, err)
		}
	}
	if version >= 3 {
		var got []byte
		err := s.UpdateSignin(t.Context(), "email:old", func(old []byte) ([]byte, time.Time, error) {
			got = old
			return old, time.UnixMicro(1700086400000000), nil
		})
		if err != nil || string(got) != "\x00\xff" {
			t.Errorf("the record of sign-in is %x, %v", got, err)
		}
	}
}

// A step that fails half-way leaves the version before it.
func TestFailedMigration(t *testing.T) {
	s := open(t, Config{})
	c := <-s.writer
	defer func() { s.writer <- c }()
	if err := migrate(t.Context(), c.sql, len(steps()),
		"CREATE TABLE new (x); INSERT INTO nowhere VALUES (1);"); err == nil {
		t.Fatal("a broken step was taken")
	}
	version, err := recognise(t.Context(), c.sql, s.cfg.Path)
	if err != nil || version != len(steps()) {
		t.Errorf("the version is %d, %v; want %d", version, err, len(steps()))
	}
	for _, line := range schemaOf(t, s) {
		if strings.Contains(line, "table new") {
			t.Error("half of the step was taken")
		}
	}
}

func TestOpenTogether(t *testing.T) {
	path := filepath.Join(t.TempDir(), "portal.db")
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			s, err := Open(context.Background(), Config{Path: path})
			if err != nil {
				t.Errorf("Open: %v", err)
				return
			}
			s.Close()
		})
	}
	wg.Wait()
}
