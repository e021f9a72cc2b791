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

// Keys of another process that this one has not seen yet are found when a token names them, once a minute.
func TestKeysOfAnotherProcess(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		token := w.browser().signIn(w, "asha@example.org", "").get("id_token")
		verify(t, w.issuer, token, nil)
		// The store is wiped, and another process makes a key that signs at once.
		w.store.UpdateSignin(t.Context(), "keys", func([]byte) ([]byte, time.Time, error) { return nil, time.Time{}, nil })
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

func TestKeysWithoutStore(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		token := w.browser().signIn(w, "asha@example.org", "").get("id_token")
		verify(t, w.issuer, token, nil)
		w.store.fail = errors.New("away")
		want(t, "keys that are known", w.browser().do(request(http.MethodGet, "/oauth2/jwks", "")), http.StatusOK, "")
		time.Sleep(59 * time.Minute)
		verify(t, w.issuer, token, nil)
		want(t, "keys that are known, later", w.browser().do(request(http.MethodGet, "/oauth2/jwks", "")), http.StatusOK, "")
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
