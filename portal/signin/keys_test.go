package signin_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"github.com/swar-tts/swar/portal/signin"
)

func published(b *browser) (ids []string) {
	for _, k := range b.do(request(http.MethodGet, "/oauth2/jwks", "")).fields["keys"].([]any) {
		ids = append(ids, k.(map[string]any)["kid"].(string))
	}
	return ids
}

func keyOf(t *testing.T, token string) string {
	t.Helper()
	tok, err := jwt.ParseSigned(token, []jose.SignatureAlgorithm{jose.RS256})
	if err != nil {
		t.Fatal(err)
	}
	return tok.Headers[0].KeyID
}

// Over more than a year, with two processes: whoever has a list of keys that is up to a week old can check every token.
func TestKeyRotation(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		issuers := []*signin.Issuer{w.issuer, w.another(nil)}
		b := w.browser()
		var lists [][]string
		signedOn := map[string][]int{}
		for day := range 400 {
			b.handler = issuers[day%2]
			lists = append(lists, published(b))
			if n := len(lists[day]); n < 1 || n > 2 {
				t.Errorf("day %d: %d keys", day, n)
			}
			token := b.signIn(w, "asha@example.org", "").get("id_token")
			id := keyOf(t, token)
			signedOn[id] = append(signedOn[id], day)
			if old := max(0, day-7); !slices.Contains(lists[old], id) {
				t.Errorf("day %d: signed with a key that was not published a week before", day)
			}
			time.Sleep(time.Hour)
			for i, issuer := range issuers {
				if _, err := issuer.Verify(t.Context(), token); err != nil {
					t.Errorf("day %d: process %d: %v", day, i, err)
				}
			}
			time.Sleep(23 * time.Hour)
		}
		if len(signedOn) != 5 {
			t.Errorf("%d keys have signed", len(signedOn))
		}
		for _, days := range signedOn {
			first, last := days[0], days[len(days)-1]
			if len(days) != last-first+1 || last-first > 97 || last != 399 && last-first < 89 {
				t.Errorf("a key signed on %d days from %d to %d", len(days), first, last)
			}
			for day, list := range lists {
				// A week before it signs and a week after.
				key := slices.IndexFunc(list, func(id string) bool { return signedOn[id][0] == first })
				if wantThere := day >= max(0, first-7) && day < last+7; wantThere && key < 0 {
					t.Errorf("day %d: the key that signs from day %d to %d is not published", day, first, last)
				} else if !wantThere && key >= 0 && day > last+7 {
					t.Errorf("day %d: the key that signed from day %d to %d is still published", day, first, last)
				}
			}
		}
	})
}

// A server that was away for a year begins anew, and all processes agree on the one key.
func TestKeysAfterAYear(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		before := published(w.browser())
		time.Sleep(365 * 24 * time.Hour)
		var mu sync.Mutex
		var seen [][]string
		var wg sync.WaitGroup
		for range 3 {
			b := w.browser()
			b.handler = w.another(nil)
			wg.Go(func() {
				ids := published(b)
				mu.Lock()
				defer mu.Unlock()
				seen = append(seen, ids)
			})
		}
		wg.Wait()
		for _, ids := range seen {
			if len(ids) != 1 || ids[0] == before[0] || ids[0] != seen[0][0] {
				t.Errorf("before %v, after it %v", before, seen)
			}
		}
		got := w.browser().signIn(w, "asha@example.org", "")
		if id := keyOf(t, got.get("id_token")); id != seen[0][0] {
			t.Errorf("signed with %s, want %s", id, seen[0][0])
		}
	})
}

// Keys of another process that this one has not seen yet are found when a token names them.
func TestKeysOfAnotherProcess(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		token := w.browser().signIn(w, "asha@example.org", "").get("id_token")
		verify(t, w.issuer, token, nil)
		// The store is wiped, and another process makes a key that signs at once.
		w.store.UpdateSignin(t.Context(), "keys",
			func([]byte) ([]byte, time.Time, error) { return nil, time.Time{}, nil })
		other := w.browser()
		other.handler = w.another(nil)
		next := other.signIn(w, "asha@example.org", "").get("id_token")
		time.Sleep(time.Minute)
		w.store.trace()
		for range 50 {
			verify(t, w.issuer, next, nil)
		}
		if steps := w.store.trace(); len(steps) != 1 {
			t.Errorf("the store was asked %d times", len(steps))
		}
		verify(t, w.issuer, token, signin.ErrInvalidToken)
	})
}

// What is true of the keys in the store is true everywhere five seconds later, on servers that are asked all the time.
func TestChangesOfTheKeysReachEveryServer(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(t *testing.T, w *world, other *signin.Issuer)
		slow   time.Duration // what a read of the store takes
	}{
		"the record is deleted":                        {wipeKeys, 0},
		"the same, and the store is slow":              {wipeKeys, 1900 * time.Millisecond},
		"all keys are replaced on another server":      {rotateNow, 0},
		"the same, and the store is as slow as it may": {rotateNow, 2*time.Second - time.Nanosecond},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, nil, func(t *testing.T, w *world) {
				servers := []*signin.Issuer{w.issuer, w.another(nil), w.another(nil)}
				old := w.browser().signIn(w, "asha@example.org", "")
				for _, s := range servers {
					verify(t, s, old.get("id_token"), nil)
				}
				w.store.slow = tt.slow
				time.Sleep(1234 * time.Millisecond)
				tt.change(t, w, servers[2])
				changed := time.Now()
				time.Sleep(5*time.Second - time.Since(changed))
				for i, s := range servers {
					verify(t, s, old.get("id_token"), signin.ErrInvalidToken)
					b := w.browser()
					b.handler = s
					if i > 0 { // a refresh token is good once
						continue
					}
					next := b.refresh(old.get("refresh_token"))
					want(t, "refreshing", next, http.StatusOK, "")
					for _, s := range servers {
						verify(t, s, next.get("id_token"), nil)
					}
				}
				for _, s := range servers {
					b := w.browser()
					b.handler = s
					if ids := published(b); len(ids) != 1 || ids[0] == keyOf(t, old.get("id_token")) {
						t.Errorf("a server publishes %v", ids)
					}
				}
			})
		})
	}
}

func wipeKeys(t *testing.T, w *world, _ *signin.Issuer) {
	t.Helper()
	nothing := func([]byte) ([]byte, time.Time, error) { return nil, time.Time{}, nil }
	if err := w.store.UpdateSignin(t.Context(), "keys", nothing); err != nil {
		t.Fatal(err)
	}
}

func rotateNow(t *testing.T, _ *world, other *signin.Issuer) {
	t.Helper()
	keys, err := other.RotateKeys(t.Context(), true)
	if err != nil || len(keys) != 1 || keys[0].State != signin.KeySigning {
		t.Fatalf("keys %+v (%v), want one that signs", keys, err)
	}
}

// A server that is asked all the time takes a token of a removed key for less than five seconds, whatever the store
// does.
func TestARemovedKeyIsNotGoodForLong(t *testing.T) {
	for name, disturb := range map[string]func(w *world){
		"the store works":                func(*world) {},
		"the store is away":              func(w *world) { w.store.fail = errors.New("away") },
		"the store is as slow as it may": func(w *world) { w.store.slow = 2*time.Second - time.Nanosecond },
		"the store never answers":        func(w *world) { w.store.slow = time.Hour },
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, nil, func(t *testing.T, w *world) {
				token := w.browser().signIn(w, "asha@example.org", "").get("id_token")
				time.Sleep(5 * time.Second)
				verify(t, w.issuer, token, nil)
				wipeKeys(t, w, nil)
				disturb(w)
				removed, last := time.Now(), time.Duration(0)
				for time.Since(removed) < 20*time.Second {
					if _, err := w.issuer.Verify(t.Context(), token); err == nil {
						last = time.Since(removed)
					}
					time.Sleep(50 * time.Millisecond)
				}
				if last >= 5*time.Second || last == 0 {
					t.Errorf("the token was good for %v after its key was removed, want less than 5 s", last)
				}
			})
		})
	}
}

func TestRotation(t *testing.T) {
	const week = 7 * 24 * time.Hour
	inWorld(t, nil, func(t *testing.T, w *world) {
		states := func() (all []string) {
			t.Helper()
			keys, err := w.issuer.SigningKeys(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, k := range keys {
				all = append(all, string(k.State))
				if (k.State == signin.KeyNext) == k.SignsFrom.IsZero() || !k.EndsAt.After(time.Now()) {
					t.Errorf("key %+v", k)
				}
			}
			return all
		}
		wantStates := func(want ...string) {
			t.Helper()
			if got := states(); !slices.Equal(got, want) {
				t.Errorf("on %s the keys are %v, want %v", time.Now().Format(time.DateTime), got, want)
			}
		}
		wantStates("signing")
		time.Sleep(30 * 24 * time.Hour)
		first := w.browser().signIn(w, "asha@example.org", "").get("id_token")
		keys, err := w.issuer.RotateKeys(t.Context(), false)
		if err != nil || len(keys) != 2 {
			t.Fatalf("keys %+v (%v)", keys, err)
		}
		if !keys[1].SignsFrom.Equal(time.Now().Add(week)) || !keys[0].EndsAt.Equal(time.Now().Add(2*week)) {
			t.Errorf("the new key is %+v, the old one %+v", keys[1], keys[0])
		}
		wantStates("signing", "next")
		if _, err := w.another(nil).RotateKeys(t.Context(), false); !errors.Is(err, signin.ErrRotating) {
			t.Errorf("a second one at once: %v, want %v", err, signin.ErrRotating)
		}
		verify(t, w.issuer, first, nil)
		time.Sleep(week - time.Nanosecond)
		wantStates("signing", "next")
		time.Sleep(time.Nanosecond)
		wantStates("old", "signing")
		if id := keyOf(t, w.browser().signIn(w, "asha@example.org", "").get("id_token")); id != keys[1].ID {
			t.Errorf("signed with %s, want the new key %s", id, keys[1].ID)
		}
		time.Sleep(week - time.Nanosecond)
		wantStates("old", "signing")
		time.Sleep(time.Nanosecond)
		wantStates("signing")
		if _, err := w.issuer.RotateKeys(t.Context(), false); err != nil {
			t.Error(err)
		}
		if keys, err = w.issuer.RotateKeys(t.Context(), true); err != nil || len(keys) != 1 { // also while one waits
			t.Errorf("keys %+v (%v), want one", keys, err)
		}
		time.Sleep(90*24*time.Hour - time.Nanosecond)
		wantStates("signing")
		time.Sleep(time.Nanosecond)
		wantStates("signing", "next") // as ever
	})
}

func TestRotationWithoutStore(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		token := w.browser().signIn(w, "asha@example.org", "").get("id_token")
		w.store.fail = errors.New("disk full")
		for _, atOnce := range []bool{false, true} {
			if _, err := w.issuer.RotateKeys(t.Context(), atOnce); err == nil {
				t.Error("keys are rotated, and nobody knows")
			}
		}
		if _, err := w.issuer.SigningKeys(t.Context()); err == nil {
			t.Error("keys are shown that may not be those that are stored")
		}
		w.store.fail = nil
		time.Sleep(time.Second)
		verify(t, w.issuer, token, nil)
	})
}

// Tokens that name keys that there are not, which anybody can make, do not load the store.
func TestMadeUpKeysDoNotLoadTheStore(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		made := w.another(nil)
		wipeKeys(t, w, nil)
		other := w.browser()
		other.handler = made
		token := other.signIn(w, "asha@example.org", "").get("id_token") // signed with a key that goes
		wipeKeys(t, w, nil)
		good := w.browser().signIn(w, "asha@example.org", "").get("id_token")
		w.store.trace()
		for range 1000 {
			if _, err := w.issuer.Verify(t.Context(), token); !errors.Is(err, signin.ErrInvalidToken) {
				t.Fatal(err)
			}
			verify(t, w.issuer, good, nil)
			time.Sleep(10 * time.Millisecond)
		}
		if steps := len(w.store.trace()); steps > 41 {
			t.Errorf("in 10 s the store was asked %d times, want at most 4 times a second", steps)
		}
		w.store.trace()
		for range 1000 {
			verify(t, w.issuer, good, nil)
			time.Sleep(10 * time.Millisecond)
		}
		if steps := len(w.store.trace()); steps > 6 {
			t.Errorf("with good tokens the store was asked %d times in 10 s, want every 2 s", steps)
		}
	})
}

func TestKeysWithoutStore(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		token := w.browser().signIn(w, "asha@example.org", "").get("id_token")
		verify(t, w.issuer, token, nil)
		w.store.fail = errors.New("away")
		want(t, "keys that are known", w.browser().do(request(http.MethodGet, "/oauth2/jwks", "")), http.StatusOK, "")
		time.Sleep(5*time.Second - time.Nanosecond)
		verify(t, w.issuer, token, nil)
		time.Sleep(time.Nanosecond)
		verify(t, w.issuer, token, signin.ErrUnavailable) // a key that was removed must not be good
		time.Sleep(59 * time.Minute)
		want(t, "keys that are known, later", w.browser().do(request(http.MethodGet, "/oauth2/jwks", "")),
			http.StatusOK, "")
		fresh := w.browser()
		fresh.handler = w.another(nil)
		got := fresh.do(request(http.MethodGet, "/oauth2/jwks", ""))
		want(t, "keys that were never read", got, http.StatusServiceUnavailable, "unavailable")
		if got.header.Get("Cache-Control") != "no-store" {
			t.Errorf("the failure is cached: %v", got.header)
		}
		verify(t, w.another(nil), token, signin.ErrUnavailable)
	})
}

func TestBrokenKeysAreAnError(t *testing.T) {
	for _, record := range []string{"{", `{"keys":[{"kid":"a","pkcs8":"AAAA","created":"2000-01-01T00:00:00Z"}]}`} {
		inWorld(t, nil, func(t *testing.T, w *world) {
			w.store.UpdateSignin(t.Context(), "keys", func([]byte) ([]byte, time.Time, error) {
				return []byte(record), time.Now().Add(time.Hour), nil
			})
			rec := httptest.NewRecorder()
			w.issuer.ServeHTTP(rec, request(http.MethodGet, "/oauth2/jwks", ""))
			if rec.Code != http.StatusServiceUnavailable {
				t.Errorf("got %d", rec.Code)
			}
		})
	}
}
