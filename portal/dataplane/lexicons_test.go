package dataplane

import (
	"slices"
	"testing"
	"testing/synctest"

	"github.com/swar-tts/swar/portal/tenant"
	"github.com/swar-tts/swar/runtime/dataplane/wire"
	"github.com/swar-tts/swar/runtime/lexicon"
)

func lexiconOf(project string, version int64) tenant.Lexicon {
	return tenant.Lexicon{ProjectID: project, OrgID: "org_1", Version: version,
		Entries: []lexicon.Entry{{Word: "a", Spoken: "b"}}}
}

// versionsOf is what u says of lexicons: projects and versions.
func versionsOf(u wire.Update) (all bool, versions map[string]int64) {
	versions = map[string]int64{}
	for _, l := range u.Lexicons {
		versions[l.ProjectID] = l.Version
	}
	return u.AllLexicons, versions
}

func TestReadersFollowLexicons(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, s := runFeed(t)
		_, k := newKey()
		s.told <- telling{keys: []tenant.Key{k}, full: true}
		synctest.Wait()
		r := newRead(t, f)
		want := func(u wire.Update, wantAll bool, want map[string]int64) {
			t.Helper()
			if all, got := versionsOf(u); all != wantAll || len(got) != len(want) || got["prj_1"] != want["prj_1"] ||
				got["prj_2"] != want["prj_2"] {
				t.Errorf("told all %v: %v, want all %v: %v", all, got, wantAll, want)
			}
		}
		want(r.once(), false, nil) // nothing is known of them yet
		r.wantNothing()
		s.lexicons <- []tenant.Lexicon{lexiconOf("prj_1", 1), lexiconOf("prj_2", 4)}
		synctest.Wait()
		u := r.once()
		want(u, true, map[string]int64{"prj_1": 1, "prj_2": 4})
		if u.Full || len(u.Keys) > 0 {
			t.Errorf("lexicons came with %d keys", len(u.Keys))
		}
		if e := u.Lexicons[0].Entries; !slices.Equal(e, lexiconOf("prj_1", 1).Entries) {
			t.Errorf("the entries are %v", e)
		}
		r.wantNothing()
		s.lexicons <- []tenant.Lexicon{lexiconOf("prj_1", 1), lexiconOf("prj_2", 4)} // which the store may repeat
		synctest.Wait()
		r.wantNothing()
		s.lexicons <- []tenant.Lexicon{lexiconOf("prj_1", 2)}
		synctest.Wait()
		want(r.once(), false, map[string]int64{"prj_1": 2})
		want(newRead(t, f).once(), true, map[string]int64{"prj_1": 2, "prj_2": 4})
	})
}
