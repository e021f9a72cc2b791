package dataplane

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/swar-tts/swar/portal/tenant"
	"github.com/swar-tts/swar/runtime/access"
	"github.com/swar-tts/swar/runtime/dataplane/wire"
)

var quiet = slog.New(slog.DiscardHandler)

// tape is a store that tells what a test wants it to.
type tape struct {
	tenant.Store
	told  chan telling
	fail  chan error
	calls chan struct{} // of WatchKeys

	lexicons     chan []tenant.Lexicon
	lexiconCalls atomic.Int64
}

type telling struct {
	keys []tenant.Key
	full bool
}

func newTape() *tape {
	return &tape{told: make(chan telling), fail: make(chan error), calls: make(chan struct{}, 100),
		lexicons: make(chan []tenant.Lexicon)}
}

func (s *tape) WatchLexicons(ctx context.Context, update func([]tenant.Lexicon, bool) error) error {
	for {
		select {
		case l := <-s.lexicons:
			if err := update(l, s.lexiconCalls.Add(1) == 1); err != nil {
				return err
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (s *tape) WatchKeys(ctx context.Context, update func([]tenant.Key, bool) error) error {
	s.calls <- struct{}{}
	for {
		select {
		case t := <-s.told:
			if err := update(t.keys, t.full); err != nil {
				return err
			}
		case err := <-s.fail:
			return err
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// newKey is a live key of org_1.
func newKey() (secret string, k tenant.Key) {
	secret, hash := access.New(access.LivePrefix)
	return secret, tenant.Key{
		ID: hash.KeyID(), OrgID: "org_1", ProjectID: "prj_1", Kind: tenant.Live, Name: "key",
		Prefix: access.KeyHint(secret), Hash: hash,
		CreatedAt: time.Now(), CreatedBy: "owner@example.com",
	}
}

func newKeys(n int) []tenant.Key {
	keys := make([]tenant.Key, n)
	for i := range keys {
		_, keys[i] = newKey()
	}
	return keys
}

func revoked(k tenant.Key) tenant.Key {
	k.RevokedAt = time.Now()
	return k
}

// runFeed runs a feed on a tape in the test's bubble, until the test ends.
func runFeed(t *testing.T) (*Feed, *tape) {
	t.Helper()
	s := newTape()
	f := NewFeed(s, quiet)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- f.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("Run = %v, want nil", err)
		}
	})
	return f, s
}

// read is what a reader has made of a feed.
type read struct {
	t *testing.T
	reader
	known map[access.Hash]access.Entry
}

func newRead(t *testing.T, f *Feed) *read {
	return &read{t: t, reader: reader{feed: f}, known: map[access.Hash]access.Entry{}}
}

// once takes in one update, which must come without anything else happening.
func (r *read) once() wire.Update {
	r.t.Helper()
	u, growth := r.tryNext()
	if growth != nil {
		r.t.Fatal("there is nothing new")
	}
	r.at, r.stale, r.reported = u.Position, u.Stale, true
	if u.Full {
		clear(r.known)
	}
	for _, e := range u.Keys {
		if e.Revoked {
			delete(r.known, e.Hash)
		} else {
			r.known[e.Hash] = e
		}
	}
	return u
}

func (r *read) wantNothing() {
	r.t.Helper()
	if u, growth := r.tryNext(); growth == nil {
		r.t.Errorf("there is something new: %+v", u)
	}
}

func (r *read) wantKnown(keys ...tenant.Key) {
	r.t.Helper()
	want := map[access.Hash]access.Entry{}
	for _, k := range keys {
		want[k.Hash] = entryOf(k)
	}
	if !maps.EqualFunc(r.known, want, func(a, b access.Entry) bool {
		return a.Hash == b.Hash &&
			slices.Equal(a.Voices, b.Voices)
	}) {
		r.t.Errorf("%d keys are known, want these %d: %v", len(r.known), len(want), want)
	}
}

func TestReadersFollow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, s := runFeed(t)
		early := newRead(t, f)
		early.wantNothing()
		_, a := newKey()
		_, b := newKey()
		s.told <- telling{[]tenant.Key{a, b}, true}
		synctest.Wait()
		if u := early.once(); !u.Full || u.Stale || u.Epoch != f.epoch {
			t.Errorf("the first update is %+v, want everything", u)
		}
		early.wantKnown(a, b)
		early.wantNothing()

		_, c := newKey()
		s.told <- telling{[]tenant.Key{c}, false}
		a.Voices = []string{"raj"}
		s.told <- telling{[]tenant.Key{a}, false}
		s.told <- telling{[]tenant.Key{revoked(b)}, false}
		synctest.Wait()
		if u := early.once(); u.Full || len(u.Keys) != 3 {
			t.Errorf("three changes are told as %+v", u)
		}
		early.wantKnown(a, c)

		late := newRead(t, f)
		late.once()
		late.wantKnown(a, c)
		if late.at != early.at {
			t.Errorf("positions %v and %v of readers who know the same", late.at, early.at)
		}
	})
}

func TestNothingIsToldThatIsNoChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, s := runFeed(t)
		_, a := newKey()
		_, stranger := newKey()
		s.told <- telling{[]tenant.Key{a}, true}
		synctest.Wait()
		r := newRead(t, f)
		r.once()
		used := a
		used.LastUsedAt, used.Name = time.Now(), "another name"
		s.told <- telling{[]tenant.Key{used, a}, false}
		s.told <- telling{[]tenant.Key{revoked(stranger)}, false}
		s.told <- telling{[]tenant.Key{a}, true}
		synctest.Wait()
		r.wantNothing()
	})
}

// A key that is refused stays so, whatever the store says, until it says the same.
func TestARefusedKeyIsNotGoodAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, s := runFeed(t)
		keys := newKeys(3)
		a, b, c := keys[0], keys[1], keys[2]
		f.Refuse(c.Hash) // before anything is known of it
		s.told <- telling{keys, true}
		synctest.Wait()
		r := newRead(t, f)
		r.once()
		r.wantKnown(a, b)
		f.Refuse(a.Hash)
		if u := r.once(); u.Full || u.Stale || len(u.Keys) != 1 {
			t.Errorf("the end of a key is told as %+v", u)
		}
		r.wantKnown(b)
		a.Voices = []string{"raj"}
		s.told <- telling{[]tenant.Key{a}, false}
		s.told <- telling{keys, true}
		synctest.Wait()
		r.wantNothing()
		late := newRead(t, f)
		late.once()
		late.wantKnown(b)
		s.told <- telling{[]tenant.Key{revoked(a)}, false}
		synctest.Wait()
		r.wantNothing()
		f.Refuse(a.Hash)
		synctest.Wait()
		r.wantNothing()

		s.fail <- errors.New("disk full")
		synctest.Wait()
		r.once()
		f.Refuse(b.Hash) // also while the store is not heard
		if u := r.once(); !u.Stale || len(u.Keys) != 1 {
			t.Errorf("the end of a key without the store is told as %+v", u)
		}
		r.wantKnown()
	})
}

func TestAFullTellingIsToldAsItsDifference(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, s := runFeed(t)
		keys := newKeys(10)
		s.told <- telling{keys, true}
		synctest.Wait()
		r := newRead(t, f)
		r.once()
		_, fresh := newKey()
		after := append(slices.Clone(keys[3:]), fresh)
		s.told <- telling{after, true}
		synctest.Wait()
		if u := r.once(); u.Full || len(u.Keys) != 4 {
			t.Errorf("three keys less and one more are told as %+v", u)
		}
		r.wantKnown(after...)
	})
}

func TestResuming(t *testing.T) {
	tests := map[string]struct {
		missed int
		move   func(*wire.Position)
		full   bool
	}{
		"nothing was missed":          {0, nil, false},
		"one change was":              {1, nil, false},
		"as many as are remembered":   {maxChanges, nil, false},
		"one more than that":          {maxChanges + 1, nil, true},
		"far more":                    {5*maxChanges + 7, nil, true},
		"the epoch is another":        {1, func(p *wire.Position) { p.Epoch++ }, true},
		"nothing is known yet":        {1, func(p *wire.Position) { *p = wire.Position{} }, true},
		"the position has never been": {1, func(p *wire.Position) { p.Sequence += 10 }, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, s := runFeed(t)
				keys := newKeys(10)
				s.told <- telling{slices.Clone(keys), true}
				synctest.Wait()
				before := newRead(t, f)
				before.once()
				for i := range tt.missed {
					keys[0].Voices = []string{fmt.Sprint(i)}
					s.told <- telling{slices.Clone(keys[:1]), false}
				}
				synctest.Wait()
				r := newRead(t, f)
				r.at, r.known = before.at, before.known
				if tt.move != nil {
					tt.move(&r.at)
				}
				u := r.once() // there is one even without news: it says that all is well
				if u.Full != tt.full || u.Stale {
					t.Errorf("full = %v, stale = %v, want %v, false", u.Full, u.Stale, tt.full)
				}
				if !tt.full && len(u.Keys) != tt.missed {
					t.Errorf("%d changes are told, want %d", len(u.Keys), tt.missed)
				}
				r.wantKnown(keys...)
				if len(f.changes) > 2*maxChanges {
					t.Errorf("%d changes are kept", len(f.changes))
				}
			})
		})
	}
}

func TestTheStoreGoesAwayAndComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, s := runFeed(t)
		_, a := newKey()
		_, b := newKey()
		s.told <- telling{[]tenant.Key{a, b}, true}
		synctest.Wait()
		r := newRead(t, f)
		r.once()
		s.fail <- errors.New("disk on fire")
		synctest.Wait()
		if u := r.once(); !u.Stale || u.Full || len(u.Keys) > 0 {
			t.Errorf("the loss of the store is told as %+v", u)
		}
		r.wantNothing()
		late := newRead(t, f)
		if u := late.once(); !u.Stale || !u.Full {
			t.Errorf("a reader who comes later is told %+v, want what is known, as stale", u)
		}
		for range 10 {
			s.fail <- errors.New("still on fire")
		}
		begin := time.Now()
		for len(s.calls) > 0 {
			<-s.calls
		}
		s.fail <- errors.New("still on fire")
		<-s.calls
		if wait := time.Since(begin); wait < maxRetry/2 || wait > maxRetry {
			t.Errorf("the store is tried again after %v, want %v to %v", wait, maxRetry/2, maxRetry)
		}
		r.wantNothing()
		s.told <- telling{[]tenant.Key{b}, true}
		synctest.Wait()
		if u := r.once(); u.Stale || u.Full || len(u.Keys) != 1 {
			t.Errorf("the return of the store is told as %+v", u)
		}
		r.wantKnown(b)
	})
}

func TestExpiredKeysAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, s := runFeed(t)
		_, live := newKey()
		s.told <- telling{[]tenant.Key{live}, true}
		for range 5 {
			keys := newKeys(minPurge)
			for i := range keys {
				keys[i].Kind, keys[i].ExpiresAt = tenant.Playground, time.Now().Add(time.Hour)
			}
			s.told <- telling{keys, false}
			time.Sleep(time.Hour)
		}
		synctest.Wait()
		r := newRead(t, f)
		r.once()
		r.wantKnown(live)
		if len(f.keys) > 2*minPurge+1 {
			t.Errorf("%d keys are kept, of which one is good", len(f.keys))
		}
	})
}

func TestFeedEndsWithItsStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newTape()
		f := NewFeed(s, quiet)
		ended := make(chan error)
		go func() { ended <- f.Run(t.Context()) }()
		s.fail <- tenant.ErrClosed
		if err := <-ended; !errors.Is(err, tenant.ErrClosed) {
			t.Errorf("Run = %v, want %v", err, tenant.ErrClosed)
		}
	})
}

// TestASlowReaderHoldsUpNobody: it does not read at all while others do.
func TestASlowReaderHoldsUpNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, s := runFeed(t)
		keys := newKeys(5)
		s.told <- telling{slices.Clone(keys), true}
		synctest.Wait()
		slow, quick := newRead(t, f), newRead(t, f)
		slow.once()
		quick.once()
		for i := range 3 * maxChanges {
			keys[i%5].Voices = []string{fmt.Sprint(i)}
			s.told <- telling{[]tenant.Key{keys[i%5]}, false}
			synctest.Wait()
			if u := quick.once(); u.Full || len(u.Keys) != 1 {
				t.Fatalf("change %d is told as %+v", i, u)
			}
		}
		if u := slow.once(); !u.Full {
			t.Errorf("a reader who missed everything is told %+v", u)
		}
		slow.wantKnown(keys...)
		quick.wantKnown(keys...)
	})
}

func TestWhatAnEntryHoldsOfAKey(t *testing.T) {
	_, k := newKey()
	k.Kind, k.Voices, k.Origin, k.ExpiresAt = tenant.Playground, []string{"raj"}, "https://app.example", time.Now()
	e := entryOf(k)
	if e.Hash != k.Hash || e.KeyPrefix != k.Prefix || e.OrgID != k.OrgID || e.ProjectID != k.ProjectID {
		t.Errorf("%+v became %+v, which is another key", k, e)
	}
	if !e.Playground || !slices.Equal(e.Voices, k.Voices) || e.Origin != k.Origin {
		t.Errorf("%+v became %+v, which may do other things", k, e)
	}
	if !e.ExpiresAt.Equal(k.ExpiresAt) || e.Revoked {
		t.Errorf("%+v became %+v, which ends at another time", k, e)
	}
	if e := entryOf(revoked(k)); !e.Revoked || e.Hash != k.Hash || e.OrgID != "" {
		t.Errorf("a revoked key became %+v, want no more than its hash", e)
	}
}
