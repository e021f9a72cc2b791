package storetest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/swar-tts/swar/portal/tenant"
	"github.com/swar-tts/swar/runtime/lexicon"
)

func makeLexicon(projectID, orgID string) tenant.Lexicon {
	return tenant.Lexicon{
		ProjectID: projectID, OrgID: orgID, Version: 3, UpdatedAt: at(7), UpdatedBy: "asha@example.org",
		Entries: []lexicon.Entry{{Word: "Zepto", Spoken: "ज़ेप्टो", Lang: "hi"}, {Word: `A<&'">`, Spoken: "a"}},
	}
}

func readLexicon(t *testing.T, s tenant.Store, projectID string) tenant.Lexicon {
	t.Helper()
	return read(t, s, func(r tenant.Reader) (tenant.Lexicon, error) { return r.Lexicon(projectID) })
}

func testLexicon(t *testing.T, s tenant.Store) {
	largest := makeLexicon("prj_a", "org_a")
	largest.Entries = nil
	for i := range lexicon.MaxEntries {
		word := fmt.Sprintf("%04d", i)
		largest.Entries = append(largest.Entries, lexicon.Entry{
			Word:   word + strings.Repeat("𑆀", lexicon.MaxWord-len(word)),
			Spoken: strings.Repeat("𑆀", lexicon.MaxSpoken), Lang: "hi",
		})
	}
	for name, l := range map[string]tenant.Lexicon{
		"every field": makeLexicon("prj_a", "org_a"), "no field": {ProjectID: "prj_a", OrgID: "org_a"}, "the largest": largest,
	} {
		update(t, s, func(tx tenant.Tx) { tx.PutLexicon(l) })
		same(t, name, readLexicon(t, s, "prj_a"), l)
	}
	mine := makeLexicon("prj_a", "org_a")
	update(t, s, func(tx tenant.Tx) { tx.PutLexicon(mine) })
	mine.Entries[0].Spoken = "changed"
	readLexicon(t, s, "prj_a").Entries[1].Spoken = "changed"
	same(t, "a copy", readLexicon(t, s, "prj_a"), makeLexicon("prj_a", "org_a"))
}

// lexiconWatch is a call of WatchLexicons and the versions that it has told.
type lexiconWatch struct {
	stop    context.CancelFunc
	ended   chan error
	mu      sync.Mutex
	known   map[string]int64
	changed chan struct{} // closed and replaced at each call
}

func watchLexicons(t *testing.T, s tenant.Store) *lexiconWatch {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	w := &lexiconWatch{stop: stop, ended: make(chan error, 1), changed: make(chan struct{})}
	go func() {
		w.ended <- s.WatchLexicons(ctx, func(lexicons []tenant.Lexicon, full bool) error {
			w.mu.Lock()
			defer w.mu.Unlock()
			if full {
				w.known = map[string]int64{}
			} else if w.known == nil {
				t.Error("the first call of a watcher is not full")
			}
			for _, l := range lexicons {
				w.known[l.ProjectID] = l.Version
			}
			close(w.changed)
			w.changed = make(chan struct{})
			return nil
		})
	}()
	t.Cleanup(stop)
	return w
}

// await waits until the watcher knows exactly these.
func (w *lexiconWatch) await(t *testing.T, want map[string]int64) {
	t.Helper()
	timeout := time.After(waitLimit)
	for {
		w.mu.Lock()
		known, changed := w.known, w.changed
		done := known != nil && fmt.Sprint(known) == fmt.Sprint(want)
		w.mu.Unlock()
		if done {
			return
		}
		select {
		case <-changed:
		case err := <-w.ended:
			t.Fatalf("the watcher of lexicons ended with %v", err)
		case <-timeout:
			t.Fatalf("the watcher knows %v, want %v", known, want)
		}
	}
}

func testLexiconWatch(t *testing.T, s tenant.Store) { testSharedLexicons(t, s, s) }

// testSharedLexicons watches a while b changes.
func testSharedLexicons(t *testing.T, a, b tenant.Store) {
	put := func(project string, version int64) {
		l := makeLexicon(project, "org_a")
		l.Version = version
		update(t, b, func(tx tenant.Tx) { tx.PutLexicon(l) })
	}
	put("prj_a", 1)
	w := watchLexicons(t, a)
	w.await(t, map[string]int64{"prj_a": 1})
	put("prj_b", 1)
	w.await(t, map[string]int64{"prj_a": 1, "prj_b": 1})
	put("prj_a", 2)
	w.await(t, map[string]int64{"prj_a": 2, "prj_b": 1})
	w.stop()
	if err := <-w.ended; !errors.Is(err, context.Canceled) {
		t.Errorf("watching ended with %v, want context.Canceled", err)
	}
	broken := errors.New("broken")
	if err := a.WatchLexicons(t.Context(), func([]tenant.Lexicon, bool) error { return broken }); !errors.Is(err,
		broken) {
		t.Errorf("watching ended with %v, want the error of update", err)
	}
}

// testSharedEntries has both portals add entries to one lexicon at once, each with the version that it has read.
func testSharedEntries(t *testing.T, a, b tenant.Store) {
	const writers = 10
	rules, made := newService(t, a)
	portals := []*tenant.Service{rules, tenant.New(tenant.Config{}, b)}
	project := made.Projects[0].ID
	watches := []*lexiconWatch{watchLexicons(t, a), watchLexicons(t, b)}
	var refused atomic.Int64
	together(writers, func(i int) {
		entry := lexicon.Entry{Word: fmt.Sprintf("word%d", i), Spoken: "a"}
		for portal := portals[i%2]; ; refused.Add(1) {
			l, err := portal.Lexicon(t.Context(), asha, project)
			if err == nil {
				_, err = portal.PutLexicon(t.Context(), asha, project, append(l.Entries, entry), &l.Version)
			}
			if !errors.Is(err, tenant.ErrLexiconChanged) {
				if err != nil {
					t.Errorf("adding %s: %v", entry.Word, err)
				}
				return
			}
		}
	})
	l := readLexicon(t, b, project)
	words := map[string]bool{}
	for _, e := range l.Entries {
		words[e.Word] = true
	}
	if len(words) != writers || l.Version != writers {
		t.Errorf("version %d has %d of %d entries, after %d refusals", l.Version, len(words), writers, refused.Load())
	}
	for _, w := range watches {
		w.await(t, map[string]int64{project: writers})
	}
}
