package access

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/swar-tts/swar/internal/testenv/clocktest"
)

// entry is a live key of org_1.
func entry() (key string, e Entry) {
	key, hash := New(LivePrefix)
	return key, Entry{Hash: hash, OrgID: "org_1", ProjectID: "prj_1", KeyPrefix: KeyHint(key)}
}

// playground is a key of a browser that lives for a while.
func playground(life time.Duration) (key string, e Entry) {
	key, hash := New(PlaygroundPrefix)
	return key, Entry{
		Hash: hash, OrgID: "org_1", ProjectID: "prj_1", KeyPrefix: KeyHint(key), Playground: true,
		ExpiresAt: time.Now().Add(life),
	}
}

func filled(entries ...Entry) *KeyCache { return filledAt(time.Now, entries...) }

func filledAt(now func() time.Time, entries ...Entry) *KeyCache {
	r := NewKeyCache(KeyCacheConfig{})
	r.now = now
	r.Replace(entries)
	r.PortalBack()
	return r
}

func wantGrant(t *testing.T, r Keyring, key string, want error) Grant {
	t.Helper()
	return wantCredentials(t, r, Credentials{Key: key}, want)
}

func wantCredentials(t *testing.T, r Keyring, p Credentials, want error) Grant {
	t.Helper()
	g, err := r.Grant(t.Context(), p)
	if !errors.Is(err, want) {
		t.Errorf("Grant = %v, want %v", err, want)
	}
	if err != nil && g.KeyID != "" {
		t.Errorf("Grant = %+v beside %v", g, err)
	}
	return g
}

func ended(g Grant) bool {
	select {
	case <-g.Ended:
		return true
	default:
		return false
	}
}

func TestKeyCacheGrantsWhatTheEntrySays(t *testing.T) {
	key, e := entry()
	e.Voices = []string{"raj"}
	browserKey, browser := playground(time.Hour)
	r := filled(e, browser)
	g := wantGrant(t, r, key, nil)
	if g.KeyID != e.Hash.KeyID() || g.KeyPrefix != KeyHint(key) || g.OrgID != "org_1" || g.ProjectID != "prj_1" {
		t.Errorf("grant = %+v, want what %+v says", g, e)
	}
	if g.Playground || !slices.Equal(g.Voices, e.Voices) || g.Allows("anjura") || !g.Allows("raj") {
		t.Errorf("grant = %+v, want it to allow raj only", g)
	}
	if g.Ended == nil || ended(g) {
		t.Error("a live key has no way to end, or has ended")
	}
	if g := wantGrant(t, r, browserKey, nil); !g.Playground || !g.Allows("anjura") {
		t.Errorf("grant = %+v, want one of a playground key for every voice", g)
	}
}

func TestKeyCacheRefuses(t *testing.T) {
	key, e := entry()
	boundKey, bound := playground(time.Hour)
	bound.Origin = "https://app.example"
	stranger, _ := entry()
	r := filled(e, bound)
	tests := map[string]struct {
		p    Credentials
		want error
	}{
		"a key without an origin works anywhere":         {Credentials{Key: key, Origin: "https://any.example"}, nil},
		"and without the header":                         {Credentials{Key: key}, nil},
		"a bound key works for its origin":               {Credentials{Key: boundKey, Origin: "https://app.example"}, nil},
		"not for another one":                            {Credentials{Key: boundKey, Origin: "https://app.example.evil"}, ErrInvalidKey},
		"not for another scheme":                         {Credentials{Key: boundKey, Origin: "http://app.example"}, ErrInvalidKey},
		"not for another port":                           {Credentials{Key: boundKey, Origin: "https://app.example:8443"}, ErrInvalidKey},
		"not for a page of no origin":                    {Credentials{Key: boundKey, Origin: "null"}, ErrInvalidKey},
		"not without the header, as outside of browsers": {Credentials{Key: boundKey}, ErrInvalidKey},
		"an unknown key":                                 {Credentials{Key: stranger}, ErrInvalidKey},
		"junk":                                           {Credentials{Key: "junk"}, ErrInvalidKey},
		"nothing":                                        {Credentials{}, ErrInvalidKey},
		"the hash of a key":                              {Credentials{Key: e.Hash.String()}, ErrInvalidKey},
		"the identifier of a key":                        {Credentials{Key: e.Hash.KeyID()}, ErrInvalidKey},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) { wantCredentials(t, r, tt.p, tt.want) })
	}
}

func TestJunkIsJudgedWithoutALookUp(t *testing.T) {
	r := NewKeyCache(KeyCacheConfig{}) // away, so that a look-up could not tell
	key, _ := entry()
	wantGrant(t, r, key, ErrUnavailable)
	wantGrant(t, r, key[:len(key)-1]+"_", ErrInvalidKey)
}

func TestRevocation(t *testing.T) {
	keyA, a := entry()
	keyB, b := entry()
	r := filled(a, b)
	grantA, grantB := wantGrant(t, r, keyA, nil), wantGrant(t, r, keyB, nil)
	a.Revoked = true
	r.Apply([]Entry{a})
	if !ended(grantA) {
		t.Error("the grant of a revoked key has not ended")
	}
	if ended(grantB) {
		t.Error("the grant of another key has ended")
	}
	wantGrant(t, r, keyA, ErrInvalidKey)
	wantGrant(t, r, keyB, nil)
	r.Apply([]Entry{a}) // told again
	r.Replace([]Entry{a, b})
	wantGrant(t, r, keyA, ErrInvalidKey)
	if ended(grantB) {
		t.Error("a key that stays has ended")
	}
	r.Replace(nil)
	wantGrant(t, r, keyB, ErrInvalidKey)
	if !ended(grantB) {
		t.Error("a key that is gone has not ended")
	}
	if n, _ := r.Size(); n != 0 {
		t.Errorf("%d keys are held, want 0", n)
	}
}

func TestChangesReachLaterGrantsOnly(t *testing.T) {
	key, e := entry()
	r := filled(e)
	before := wantGrant(t, r, key, nil)
	e.Voices = []string{"raj"}
	r.Apply([]Entry{e})
	after := wantGrant(t, r, key, nil)
	if !before.Allows("anjura") || after.Allows("anjura") {
		t.Errorf("voices before %v, after %v, want all and raj", before.Voices, after.Voices)
	}
	if ended(before) || before.Ended != after.Ended {
		t.Error("a change of voices has ended the grant, or lost its end")
	}
	e.Revoked = true
	r.Apply([]Entry{e})
	if !ended(before) {
		t.Error("a grant from before a change did not end with the key")
	}
}

func TestExpiry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const life = 2 * time.Hour
		key, e := playground(life)
		r := filled(e)
		g := wantGrant(t, r, key, nil)
		time.Sleep(life - 1)
		synctest.Wait()
		wantGrant(t, r, key, nil)
		if ended(g) {
			t.Error("the grant ended before its time")
		}
		time.Sleep(time.Nanosecond)
		wantGrant(t, r, key, ErrInvalidKey) // also when no timer has run yet
		synctest.Wait()
		if !ended(g) {
			t.Error("the grant of an expired key has not ended")
		}
		if n, _ := r.Size(); n != 0 {
			t.Errorf("%d keys are held, want none that has expired", n)
		}
		r.Apply([]Entry{e})
		if n, _ := r.Size(); n != 0 {
			t.Error("an expired key was taken in")
		}
	})
}

// TestExpiryWhenTheClockIsSet: a key ends two hours after it was made, also where the portal tells of it again.
func TestExpiryWhenTheClockIsSet(t *testing.T) {
	for _, by := range []time.Duration{time.Hour, -time.Hour, 1000 * time.Hour, -1000 * time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			key, e := playground(2 * time.Hour)
			clock := clocktest.New(t)
			r := filledAt(clock.Now, e)
			g := wantGrant(t, r, key, nil)
			time.Sleep(30 * time.Minute)
			clock.Set(by)
			wantGrant(t, r, key, nil)
			r.Replace([]Entry{e})
			wantGrant(t, r, key, nil)
			time.Sleep(90*time.Minute - 1)
			synctest.Wait()
			if wantGrant(t, r, key, nil); ended(g) {
				t.Errorf("by %v: the key ended before its time", by)
			}
			time.Sleep(time.Nanosecond)
			wantGrant(t, r, key, ErrInvalidKey)
			if synctest.Wait(); !ended(g) {
				t.Errorf("by %v: the grant of an expired key has not ended", by)
			}
		})
	}
}

// TestAPlaygroundKeyFromTheFuture was made while the clock of the portal stood there.
func TestAPlaygroundKeyFromTheFuture(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		key, e := playground(10_000 * time.Hour)
		r := filled(e)
		time.Sleep(PlaygroundLife - 1)
		wantGrant(t, r, key, nil)
		time.Sleep(time.Nanosecond)
		wantGrant(t, r, key, ErrInvalidKey)
	})
}

// TestGraceWhenTheClockIsSet: keys are good for as long without the portal.
func TestGraceWhenTheClockIsSet(t *testing.T) {
	for _, by := range []time.Duration{time.Hour, -time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			key, e := playground(2 * time.Hour)
			clock := clocktest.New(t)
			r := filledAt(clock.Now, e)
			r.PortalLost()
			clock.Set(by)
			time.Sleep(time.Minute - 1)
			wantGrant(t, r, key, nil)
			time.Sleep(time.Nanosecond)
			wantGrant(t, r, key, ErrUnavailable)
		})
	}
}

func TestLastUseWhenTheClockIsPutBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		key, e := playground(2 * time.Hour)
		clock := clocktest.New(t)
		r := filledAt(clock.Now, e)
		wantGrant(t, r, key, nil)
		clock.Set(-time.Hour)
		time.Sleep(time.Minute)
		wantGrant(t, r, key, nil)
		if at, want := r.LastUsed()[e.Hash.KeyID()], r.now(); !at.Equal(want.UTC().Truncate(time.Microsecond)) {
			t.Errorf("last used at %v, want %v", at, want)
		}
	})
}

func TestExpiryCanMove(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		key, e := playground(20 * time.Minute)
		begin := time.Now()
		r := filled(e)
		g := wantGrant(t, r, key, nil)
		e.ExpiresAt = begin.Add(90 * time.Minute)
		r.Apply([]Entry{e})
		time.Sleep(time.Hour)
		wantGrant(t, r, key, nil)
		e.ExpiresAt = begin.Add(61 * time.Minute)
		r.Apply([]Entry{e})
		time.Sleep(time.Minute)
		synctest.Wait()
		if !ended(g) {
			t.Error("the grant outlived an expiry that was brought forward")
		}
		wantGrant(t, r, key, ErrInvalidKey)
	})
}

func TestPortalAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		key, e := entry()
		newKey, fresh := entry()
		r := NewKeyCache(KeyCacheConfig{})
		wantCheck := func(want error) {
			t.Helper()
			if err := r.Check(); !errors.Is(err, want) {
				t.Errorf("Check = %v, want %v", err, want)
			}
		}
		wantGrant(t, r, key, ErrUnavailable)
		wantCheck(ErrUnavailable)
		select {
		case <-r.Ready():
			t.Error("a cache is ready before it was filled")
		default:
		}
		r.Replace([]Entry{e})
		wantGrant(t, r, key, ErrUnavailable) // known since a while ago, as far as the cache can tell
		r.PortalBack()
		<-r.Ready()
		g := wantGrant(t, r, key, nil)
		wantGrant(t, r, newKey, ErrInvalidKey)
		wantCheck(nil)

		r.PortalLost()
		wantGrant(t, r, key, nil)
		wantGrant(t, r, newKey, ErrUnavailable) // it may have been made since
		wantGrant(t, r, "junk", ErrInvalidKey)
		if n, current := r.Size(); n != 1 || current {
			t.Errorf("Size = %d, %v, want 1, false", n, current)
		}
		time.Sleep(time.Minute - 1)
		r.PortalLost() // again: the first one counts
		wantGrant(t, r, key, nil)
		wantCheck(nil)
		time.Sleep(time.Nanosecond)
		wantGrant(t, r, key, ErrUnavailable)
		wantCheck(ErrUnavailable)
		if ended(g) {
			t.Error("what runs was ended because the portal is away")
		}

		r.Apply([]Entry{fresh})
		r.PortalBack()
		wantGrant(t, r, key, nil)
		wantGrant(t, r, newKey, nil)
		wantCheck(nil)
		if n, current := r.Size(); n != 2 || !current {
			t.Errorf("Size = %d, %v, want 2, true", n, current)
		}
	})
}

func TestTouched(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		keyA, a := entry()
		keyB, b := entry()
		keyC, c := entry()
		_, unused := entry()
		r := filled(a, b, c, unused)
		begin := time.Now().UTC()
		wantGrant(t, r, keyA, nil)
		time.Sleep(500 * time.Millisecond)
		wantGrant(t, r, keyB, nil)
		wantGrant(t, r, keyA, nil) // within the second: not noted
		time.Sleep(500 * time.Millisecond)
		wantGrant(t, r, keyC, nil)
		wantGrant(t, r, keyA, nil)
		wantGrant(t, r, "junk", ErrInvalidKey)
		c.Revoked = true
		r.Apply([]Entry{c})
		want := map[string]time.Time{
			a.Hash.KeyID(): begin.Add(time.Second), b.Hash.KeyID(): begin.Add(500 * time.Millisecond),
			c.Hash.KeyID(): begin.Add(time.Second),
		}
		if got := r.LastUsed(); !maps.Equal(got, want) {
			t.Errorf("touched = %v, want %v", got, want)
		}
		if got := r.LastUsed(); len(got) != 0 {
			t.Errorf("touched again = %v, want nothing", got)
		}
		wantGrant(t, r, keyA, nil)
		if got := r.LastUsed(); len(got) != 1 {
			t.Errorf("touched after another use = %v, want one key", got)
		}
	})
}

// TestKeyCacheUnderChange is for the race detector: everything at once.
func TestKeyCacheUnderChange(t *testing.T) {
	key, e := entry()
	steady := filled(e)
	var changing sync.WaitGroup
	for i := range 4 {
		changing.Go(func() {
			for range 200 {
				_, other := playground(time.Millisecond)
				switch i {
				case 0:
					steady.Apply([]Entry{other})
				case 1:
					steady.Replace([]Entry{e, other})
				case 2:
					steady.LastUsed()
				default:
					steady.PortalLost()
					steady.PortalBack()
				}
			}
		})
	}
	changing.Go(func() {
		for range 2000 {
			wantGrant(t, steady, key, nil)
		}
	})
	changing.Wait()
}

// filledWith returns a cache of n keys, as different from one another as in life, and one of them.
func filledWith(n int) (*KeyCache, string) {
	entries := make([]Entry, n)
	var key string
	for i := range entries {
		key, entries[i] = entry()
		entries[i].OrgID = fmt.Sprintf("org_%026d", i/50)
		entries[i].ProjectID = fmt.Sprintf("prj_%026d", i/10)
		if i%10 == 0 {
			entries[i].Voices = []string{fmt.Sprint("voice-", i)}
		}
		if i%5 == 0 {
			entries[i].Playground, entries[i].ExpiresAt, entries[i].Origin = true, time.Now().Add(time.Hour),
				"https://app.example"
		}
	}
	entries[n-1].Origin = ""
	return filled(entries...), key
}

func TestLookingUpAllocatesNothing(t *testing.T) {
	r, key := filledWith(100)
	stranger, _ := entry()
	for name, key := range map[string]string{"a known key": key, "an unknown key": stranger, "junk": "junk"} {
		if n := testing.AllocsPerRun(100, func() {
			_,
				_ = r.Grant(context.Background(), Credentials{Key: key})
		}); n != 0 {
			t.Errorf("looking up %s allocates %v times, want 0", name, n)
		}
	}
}

func TestTenThousandKeysTakeLessThanTenMegabytes(t *testing.T) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	r, _ := filledWith(10_000)
	runtime.GC()
	runtime.ReadMemStats(&after)
	if n, _ := r.Size(); n != 10_000 {
		t.Fatalf("%d keys are held", n)
	}
	size := int64(after.HeapAlloc) - int64(before.HeapAlloc)
	t.Logf("%d bytes a key", size/10_000)
	if size > 10_000_000 {
		t.Errorf("10,000 keys take %d bytes, want at most 10 MB", size)
	}
	runtime.KeepAlive(r)
}

func BenchmarkGrant(b *testing.B) {
	r, known := filledWith(10_000)
	stranger, _ := entry()
	for _, bb := range []struct {
		name, key string
		want      error
	}{{"known", known, nil}, {"unknown", stranger, ErrInvalidKey}, {"junk", known + "x", ErrInvalidKey}} {
		b.Run(bb.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := r.Grant(b.Context(), Credentials{Key: bb.key}); err != bb.want {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("parallel", func(b *testing.B) {
		b.ReportAllocs()
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				if _, err := r.Grant(context.Background(), Credentials{Key: known}); err != nil {
					b.Fatal(err)
				}
			}
		})
	})
}

func BenchmarkReplace(b *testing.B) {
	entries := make([]Entry, 10_000)
	for i := range entries {
		_, entries[i] = entry()
	}
	b.Run("filling", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			filled(entries...)
		}
	})
	r := filled(entries...)
	b.Run("nothing new", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			r.Replace(entries)
		}
	})
}
