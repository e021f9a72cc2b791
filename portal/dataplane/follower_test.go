package dataplane

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/swar-tts/swar/portal/memstore"
	"github.com/swar-tts/swar/portal/tenant"
	"github.com/swar-tts/swar/runtime/access"
	router "github.com/swar-tts/swar/runtime/dataplane"
	"github.com/swar-tts/swar/runtime/dataplane/wire"
	"github.com/swar-tts/swar/runtime/grpcauth"
	"github.com/swar-tts/swar/runtime/grpcauth/grpcauthtest"
	"github.com/swar-tts/swar/runtime/speech"
)

// awaiting calls AwaitKey and returns how long that took, once it has ended.
func awaiting(ctx context.Context, f *Feed, k tenant.Key) <-chan time.Duration {
	took := make(chan time.Duration, 1)
	go func() {
		begin := time.Now()
		f.AwaitKey(ctx, k)
		took <- time.Since(begin)
	}()
	return took
}

// newest is the position of everything that f has.
func (f *Feed) newest() wire.Position {
	f.mu.Lock()
	defer f.mu.Unlock()
	return wire.Position{Epoch: f.epoch, Sequence: f.sequence}
}

func TestAwaitingAChangeOfAKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, s := runFeed(t)
		self := f.follow("this process")
		_, k := newKey()
		limited := k
		limited.Voices = []string{"raj"}
		disclosed, silent := k, k
		disclosed.OrgDisclosure = speech.Disclosure{Set: true, Text: "AI"}
		silent.OrgDisclosure, silent.Disclosure = disclosed.OrgDisclosure, speech.Disclosure{Set: true}
		for _, step := range []struct {
			name string
			k    tenant.Key
			tell telling
		}{
			{"that comes with all others", k, telling{[]tenant.Key{k}, true}},
			{"that may speak with one voice only", limited, telling{[]tenant.Key{limited}, false}},
			{"that may speak with all voices again", k, telling{[]tenant.Key{k}, false}},
			{"whose organisation discloses", disclosed, telling{[]tenant.Key{disclosed}, false}},
			{"that does not, as the only one", silent, telling{[]tenant.Key{silent}, false}},
			{"that is revoked", revoked(k), telling{[]tenant.Key{revoked(k)}, false}},
			{"that comes", k, telling{[]tenant.Key{k}, false}},
			{"that is no longer among all", revoked(k), telling{nil, true}},
		} {
			took := awaiting(t.Context(), f, step.k)
			time.Sleep(100 * time.Millisecond)
			s.told <- telling{newKeys(1), false}
			synctest.Wait()
			if len(took) > 0 {
				t.Errorf("a key %s: the store has not told of it, and it is no longer awaited", step.name)
			}
			f.acknowledge(self.id, f.newest())
			s.told <- step.tell
			time.Sleep(100 * time.Millisecond)
			synctest.Wait()
			if len(took) > 0 {
				t.Errorf("a key %s: it is not acknowledged, and no longer awaited", step.name)
			}
			f.acknowledge(self.id, f.newest())
			if got := <-took; got != 200*time.Millisecond {
				t.Errorf("a key %s: awaited for %v, want 200 ms", step.name, got)
			}
			if got := <-awaiting(t.Context(), f, step.k); got != 0 {
				t.Errorf("a key %s: awaited once more for %v", step.name, got)
			}
		}
	})
}

// TestWhoIsAwaited: in each case a key changes when two follow the feed, of whom one acknowledges at once.
func TestWhoIsAwaited(t *testing.T) {
	for name, tt := range map[string]struct {
		do   func(f *Feed, other *follower)
		want time.Duration
		late bool // that is logged
	}{
		"nobody else":          {func(f *Feed, w *follower) { f.unfollow(w) }, 0, false},
		"one who acknowledges": {func(f *Feed, w *follower) { f.acknowledge(w.id, f.newest()) }, 0, false},
		"one who does so just in time": {func(f *Feed, w *follower) {
			time.Sleep(awaitLimit - 1)
			f.acknowledge(w.id, f.newest())
		}, awaitLimit - 1, false},
		"one who does so too late": {func(f *Feed, w *follower) {
			time.Sleep(awaitLimit + 1)
			f.acknowledge(w.id, f.newest())
		}, awaitLimit, true},
		"one who never does": {func(*Feed, *follower) {}, awaitLimit, true},
		"one who leaves": {func(f *Feed, w *follower) {
			time.Sleep(awaitLimit / 2)
			f.unfollow(w)
		}, awaitLimit / 2, false},
		"one who has not got so far": {func(f *Feed, w *follower) {
			at := f.newest()
			at.Sequence--
			f.acknowledge(w.id, at)
		}, awaitLimit, true},
		"one who acknowledges what never was": {func(f *Feed, w *follower) {
			at := f.newest()
			at.Sequence++
			f.acknowledge(w.id, at)
		}, awaitLimit, true},
		"one who acknowledges what another feed said": {func(f *Feed, w *follower) {
			at := f.newest()
			at.Epoch++
			f.acknowledge(w.id, at)
		}, awaitLimit, true},
		"one who comes later": {func(f *Feed, w *follower) {
			f.follow("late")
			f.acknowledge(w.id, f.newest())
		}, 0, false},
		"one who nobody knows acknowledges": {func(f *Feed, w *follower) {
			f.acknowledge(0, f.newest())
			f.acknowledge(w.id+1, f.newest())
		}, awaitLimit, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, s := runFeed(t)
				var log lines
				f.log = slog.New(slog.NewTextHandler(&log, nil))
				quick, other := f.follow("quick"), f.follow("other")
				_, k := newKey()
				s.told <- telling{[]tenant.Key{k}, true}
				synctest.Wait()
				f.acknowledge(quick.id, f.newest())
				took := awaiting(t.Context(), f, k)
				synctest.Wait()
				tt.do(f, other)
				if got := <-took; got != tt.want {
					t.Errorf("awaited for %v, want %v", got, tt.want)
				}
				if got := strings.Contains(log.String(), "process=other"); got != tt.late {
					t.Errorf("that somebody is late was logged: %v, want %v\n%s", got, tt.late, &log)
				}
			})
		})
	}
}

// TestBeingLateIsLoggedOnce, until that is over; nor is the patience of who asks a matter of those who are awaited.
func TestBeingLateIsLoggedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, s := runFeed(t)
		var log lines
		f.log = slog.New(slog.NewTextHandler(&log, nil))
		w := f.follow("router")
		_, k := newKey()
		s.told <- telling{[]tenant.Key{k}, true}
		synctest.Wait()
		begun := f.newest()
		hasty, leave := context.WithTimeout(t.Context(), awaitLimit/2)
		defer leave()
		if got := <-awaiting(hasty, f, k); got != awaitLimit/2 || log.String() != "" {
			t.Errorf("who asks has left after %v, and the log says %q", got, &log)
		}
		wantLines := func(late, again int) {
			t.Helper()
			got, gotAgain := strings.Count(log.String(), "does not acknowledge key changes"),
				strings.Count(log.String(), "key changes again")
			if got != late || gotAgain != again {
				t.Errorf("logged %d and %d times, want %d and %d:\n%s", got, gotAgain, late, again, &log)
			}
		}
		for range 3 {
			<-awaiting(t.Context(), f, k)
		}
		wantLines(1, 0)
		s.told <- telling{newKeys(1), false}
		synctest.Wait()
		f.acknowledge(w.id, begun) // which is enough for what was awaited in vain
		wantLines(1, 1)
		if got := <-awaiting(t.Context(), f, k); got != awaitLimit {
			t.Errorf("awaited for %v, want %v", got, awaitLimit)
		}
		wantLines(2, 1)
		f.acknowledge(w.id, f.newest())
		wantLines(2, 2)
		f.unfollow(w)
		if len(f.followers) != 0 {
			t.Errorf("%d followers are left", len(f.followers))
		}
	})
}

// TestAStoreThatIsNotHeardIsAwaited, for as long as anybody is.
func TestAStoreThatIsNotHeardIsAwaited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, _ := runFeed(t)
		_, k := newKey()
		for _, k := range []tenant.Key{k, revoked(k)} {
			if got := <-awaiting(t.Context(), f, k); got != awaitLimit {
				t.Errorf("a feed that knows nothing was awaited for %v, want %v", got, awaitLimit)
			}
		}
	})
}

// TestManyChangesAtOnceAreAwaited by as many callers: one acknowledgement is enough for all of them.
func TestManyChangesAtOnceAreAwaited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, s := runFeed(t)
		w := f.follow("router")
		keys := newKeys(100)
		s.told <- telling{nil, true}
		all := make([]<-chan time.Duration, len(keys))
		for i, k := range keys {
			all[i] = awaiting(t.Context(), f, k)
			s.told <- telling{[]tenant.Key{k}, false}
		}
		time.Sleep(time.Millisecond)
		f.acknowledge(w.id, f.newest())
		for _, took := range all {
			if got := <-took; got != time.Millisecond {
				t.Fatalf("awaited for %v, want 1 ms", got)
			}
		}
	})
}

func TestTheCacheOfThisProcessIsAwaited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memstore.New()
		secret, k := newKey()
		cache := access.NewKeyCache(access.KeyCacheConfig{})
		feed := NewFeed(store, quiet)
		go func() { _ = Local(t.Context(), feed, cache, quiet) }()
		<-cache.Ready()
		for range 100 {
			put(t, store, k)
			feed.AwaitKey(t.Context(), k)
			g := wantGrant(t, cache, secret, nil)
			k.Voices = []string{"raj"}
			put(t, store, k)
			feed.AwaitKey(t.Context(), k)
			if g := wantGrant(t, cache, secret, nil); g.Allows("anjura") {
				t.Error("a key may still speak with what was taken from it")
			}
			put(t, store, revoked(k))
			feed.AwaitKey(t.Context(), revoked(k))
			wantGrant(t, cache, secret, access.ErrInvalidKey)
			select {
			case <-g.Ended:
			default:
				t.Error("what runs on a revoked key is not told to stop")
			}
			secret, k = newKey()
		}
	})
}

// TestFrontEndsAreAwaited: once AwaitKey has returned, a new key works at every front end, and a revoked one at none.
func TestFrontEndsAreAwaited(t *testing.T) {
	ca := grpcauthtest.New(t)
	ofPortal, ofRouter := ca.Open(grpcauth.Portal), ca.Open(grpcauth.Router)
	store := memstore.New()
	p := newPortal(t, store, func(p *portal) { p.cfg.Credentials.Certificates = ofPortal })
	fronts := make([]*front, 4)
	for i := range fronts {
		fronts[i] = newFront(t, p.addr, func(c *router.ClientConfig) { c.Credentials.Certificates = ofRouter })
		<-fronts[i].cache.Ready()
	}
	begin := time.Now()
	for range 50 {
		secret, k := newKey()
		put(t, store, k)
		p.feed.AwaitKey(t.Context(), k)
		for _, f := range fronts {
			f.want(secret, nil)
		}
		k = revoked(k)
		put(t, store, k)
		p.feed.AwaitKey(t.Context(), k)
		for _, f := range fronts {
			f.want(secret, access.ErrInvalidKey)
		}
	}
	if took := time.Since(begin); took > testTimeout {
		t.Errorf("a hundred changes took %v", took)
	}
}

// TestAFrontEndThatStandsStill is awaited for a second and named in the log; one that is gone is not awaited.
func TestAFrontEndThatStandsStill(t *testing.T) {
	var log lines
	store := memstore.New()
	p := newPortal(t, store, func(p *portal) { p.log = slog.New(slog.NewTextHandler(&log, nil)) })
	x := newProxy(t, p.addr)
	quick, slow := newFront(t, p.addr), newFront(t, x.addr)
	<-quick.cache.Ready()
	<-slow.cache.Ready()
	secret, k := newKey()
	put(t, store, k)
	p.feed.AwaitKey(t.Context(), k)
	slow.want(secret, nil)

	x.hold()
	k = revoked(k)
	put(t, store, k)
	if got := <-awaiting(t.Context(), p.feed, k); got < awaitLimit {
		t.Errorf("a front end that stands still was awaited for %v, want %v", got, awaitLimit)
	}
	quick.want(secret, access.ErrInvalidKey)
	if !strings.Contains(log.String(), "does not acknowledge key changes") {
		t.Errorf("the log says nothing of it:\n%s", &log)
	}
	took := awaiting(t.Context(), p.feed, k)
	x.shut()
	if got := <-took; got >= awaitLimit {
		t.Errorf("a front end that is gone was awaited for %v", got)
	}
	x.open()
	slow.await("the return of the portal", slow.current(0))
	slow.want(secret, access.ErrInvalidKey)
}

// TestAnOlderClientIsNotAwaited: it hears of keys as ever, and says nothing.
func TestAnOlderClientIsNotAwaited(t *testing.T) {
	store := memstore.New()
	p := newPortal(t, store)
	options, err := grpcauthtest.Shared(testToken).DialOptions("127.0.0.1", grpcauth.Portal)
	if err != nil {
		t.Fatal(err)
	}
	conn := dial(t, p.addr, options...)
	older := wire.NewDataplaneClient(conn)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	stream, err := older.Keys(ctx, &wire.KeysRequest{})
	if err != nil {
		t.Fatal(err)
	}
	_, k := newKey()
	put(t, store, k)
	if got := <-awaiting(t.Context(), p.feed, k); got >= awaitLimit {
		t.Errorf("awaited for %v", got)
	}
	for {
		u, err := stream.Recv()
		if err != nil {
			t.Fatal(err)
		}
		if u.Follower != 0 {
			t.Fatalf("the client is asked to acknowledge as %d", u.Follower)
		}
		if len(u.Keys) == 1 {
			break
		}
	}
}

func TestFollowersAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, s := runFeed(t)
		_, k := newKey()
		want := func(when string, current, behind int) {
			t.Helper()
			if gotCurrent, gotBehind := f.Followers(); gotCurrent != current || gotBehind != behind {
				t.Errorf("%s: %d are current and %d behind, want %d and %d", when, gotCurrent, gotBehind,
					current, behind)
			}
		}
		want("nobody", 0, 0)
		a, b := f.follow("a"), f.follow("b")
		want("two that know nothing", 0, 2)
		now := func() wire.Position {
			f.mu.Lock()
			defer f.mu.Unlock()
			return wire.Position{Epoch: f.epoch, Sequence: f.sequence}
		}
		f.acknowledge(a.id, now())
		f.acknowledge(b.id, now())
		want("both know all", 2, 0)
		s.told <- telling{[]tenant.Key{k}, true}
		synctest.Wait()
		want("a key is new", 0, 2)
		f.acknowledge(a.id, now())
		want("one has taken it in", 1, 1)
		f.unfollow(b)
		want("the other has left", 1, 0)
	})
}
