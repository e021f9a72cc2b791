package access

import (
	"log/slog"
	"path/filepath"
	"testing"

	"github.com/swar-tts/swar/runtime/lexicon"
)

func TestGrantsHaveTheLexiconOfTheirProject(t *testing.T) {
	c := NewKeyCache(KeyCacheConfig{})
	key, hash := New(LivePrefix)
	c.Replace([]Entry{{Hash: hash, OrgID: "org_1", ProjectID: "prj_1"}})
	c.PortalBack()
	version := func(c *KeyCache) int64 {
		t.Helper()
		g, err := c.Grant(t.Context(), Credentials{Key: key})
		if err != nil {
			t.Fatal(err)
		}
		if g.Lexicon != nil && g.Lexicon.ID() != "lex_1" {
			t.Errorf("the lexicon is %s", g.Lexicon.ID())
		}
		return g.Lexicon.Version()
	}
	entries := []lexicon.Entry{{Word: "a", Spoken: "b"}}
	for _, step := range []struct {
		what string
		told []ProjectLexicon
		all  bool
		want int64
	}{
		{"nothing", nil, true, 0},
		{"its own", []ProjectLexicon{{"prj_1", 1, entries}, {"prj_2", 9, entries}}, true, 1},
		{"another one", []ProjectLexicon{{"prj_2", 10, entries}}, false, 1},
		{"a change", []ProjectLexicon{{"prj_1", 2, entries}}, false, 2},
		{"no entries", []ProjectLexicon{{"prj_1", 3, nil}}, false, 0},
		{"entries again", []ProjectLexicon{{"prj_1", 4, entries}}, false, 4},
		{"all but its own", []ProjectLexicon{{"prj_2", 10, entries}}, true, 0},
		{"once more", []ProjectLexicon{{"prj_1", 5, entries}}, false, 5},
	} {
		c.SetLexicons(step.told, step.all)
		if got := version(c); got != step.want {
			t.Errorf("after %s the version is %d, want %d", step.what, got, step.want)
		}
	}
	file := filepath.Join(t.TempDir(), "keys")
	NewKeySnapshot(c, file, slog.New(slog.DiscardHandler)).save(0)
	again := NewKeyCache(KeyCacheConfig{})
	NewKeySnapshot(again, file, slog.New(slog.DiscardHandler))
	if got := version(again); got != 5 {
		t.Errorf("from the copy comes version %d, want 5", got)
	}
	if n := testing.AllocsPerRun(100, func() { _, _ = c.Grant(t.Context(), Credentials{Key: key}) }); n > 0 {
		t.Errorf("a grant takes %v allocations", n)
	}
}
