package signin_test

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"github.com/swar-tts/swar/portal/signin"
)

const idpURL = "https://login.example.org/realms/tts"

// idp is an issuer out there, reached without a network. Its documents can be changed at any time.
type idp struct {
	mu        sync.Mutex
	keys      []any // published, as JSON
	header    http.Header
	documents map[string]string // by address, instead of the usual ones
	fail      bool
	hang      bool
	fetches   map[string]int // by address
}

func newIDP(keys ...testKey) *idp {
	p := &idp{header: http.Header{}, documents: map[string]string{}, fetches: map[string]int{}}
	p.publish(keys...)
	return p
}

func (p *idp) publish(keys ...testKey) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.keys = nil
	for _, k := range keys {
		p.keys = append(p.keys, jose.JSONWebKey{Key: k.private.Public(), KeyID: k.id, Use: "sig"})
	}
}

func (p *idp) set(change func(*idp)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change(p)
}

// count returns how often the keys were fetched since the last call.
func (p *idp) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := p.fetches[idpURL+"/keys"]
	clear(p.fetches)
	return n
}

// requests returns how often a document was asked for.
func (p *idp) requests(address string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.fetches[address]
}

// RoundTrip implements [http.RoundTripper]. An answer takes a tenth of a second.
func (p *idp) RoundTrip(r *http.Request) (*http.Response, error) {
	p.mu.Lock()
	p.fetches[r.URL.String()]++
	hang, fail := p.hang, p.fail
	p.mu.Unlock()
	if hang {
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	time.Sleep(100 * time.Millisecond)
	if fail {
		return nil, errors.New("connection refused")
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	body, ok := p.documents[r.URL.String()]
	switch {
	case ok:
	case r.URL.String() == idpURL+"/.well-known/openid-configuration":
		body = fmt.Sprintf(`{"issuer":%q,"jwks_uri":%q}`, idpURL, idpURL+"/keys")
	case r.URL.String() == idpURL+"/keys":
		text, err := json.Marshal(map[string]any{"keys": p.keys})
		if err != nil {
			return nil, err
		}
		body = string(text)
	default:
		return &http.Response{StatusCode: http.StatusNotFound, Status: "404 Not Found", Body: http.NoBody, Request: r},
			nil
	}
	return &http.Response{StatusCode: http.StatusOK, Header: p.header.Clone(),
		Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
}

func (p *idp) trust(t *testing.T, change func(*signin.External)) *signin.Trust {
	t.Helper()
	e := signin.External{Issuer: idpURL, Audiences: []string{"portal"}}
	if change != nil {
		change(&e)
	}
	trust, err := signin.NewTrust([]signin.External{e}, &http.Client{Transport: p}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return trust
}

// testKey is a key that signs.
type testKey struct {
	id        string
	algorithm jose.SignatureAlgorithm
	private   crypto.Signer
}

var (
	rsaKeys = sync.OnceValue(func() (keys [2]*rsa.PrivateKey) {
		for i := range keys {
			keys[i], _ = rsa.GenerateKey(rand.Reader, 2048)
		}
		return keys
	})
	rsaA = func() testKey { return testKey{"a", jose.RS256, rsaKeys()[0]} }
	rsaB = func() testKey { return testKey{"b", jose.RS256, rsaKeys()[1]} }
)

func ecKey(id string) testKey {
	key, _ := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	return testKey{id, jose.ES256, key}
}

func edKey(id string) testKey {
	_, key, _ := ed25519.GenerateKey(rand.Reader)
	return testKey{id, jose.EdDSA, key}
}

// goodClaims are those of a token that is good now, for an hour.
func goodClaims() map[string]any {
	now := time.Now().Unix()
	return map[string]any{
		"iss": idpURL, "aud": "portal", "sub": "user-1", "email": "Asha@Example.org", "email_verified": true,
		"iat": now, "exp": now + 3600, "auth_time": now - 60,
	}
}

func (k testKey) sign(t *testing.T, claims map[string]any, change func(*jose.SignerOptions)) string {
	t.Helper()
	options := &jose.SignerOptions{}
	if change != nil {
		change(options)
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: k.algorithm,
		Key: jose.JSONWebKey{Key: k.private, KeyID: k.id}}, options)
	if err != nil {
		t.Fatal(err)
	}
	token, err := jwt.Signed(signer).Claims(claims).Serialize()
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func (k testKey) token(t *testing.T) string { t.Helper(); return k.sign(t, goodClaims(), nil) }

func TestTrustChecksClaims(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		provider := newIDP(rsaA())
		trust := provider.trust(t, func(e *signin.External) { e.Audiences = []string{"portal", "cli"} })
		verify(t, trust, rsaA().token(t), nil) // so that no time passes from here on
		time.Sleep(time.Until(time.Now().Truncate(time.Second).Add(time.Second)))
		now := time.Now().Unix()
		for _, tt := range []struct {
			name   string
			change map[string]any // nil removes
			want   error
		}{
			{"nothing wrong", nil, nil},
			{"the other audience", map[string]any{"aud": "cli"}, nil},
			{"audience as a list", map[string]any{"aud": []string{"portal"}}, nil},
			{"several audiences, asked for by us", map[string]any{"aud": []string{"api", "portal"}, "azp": "portal"}, nil},
			{"no auth_time", map[string]any{"auth_time": nil}, nil},
			{"auth_time a minute ahead", map[string]any{"auth_time": now + 60}, nil},
			{"exp a minute ago", map[string]any{"exp": now - 60, "iat": now - 3660}, nil},
			{"iat a minute ahead", map[string]any{"iat": now + 60}, nil},
			{"nbf a minute ahead", map[string]any{"nbf": now + 60}, nil},
			{"times with fractions", map[string]any{"iat": float64(now) - 0.5, "exp": float64(now) + 10.5}, nil},
			{"exp 61 s ago", map[string]any{"exp": now - 61, "iat": now - 3661}, signin.ErrExpiredToken},
			{"exp long ago", map[string]any{"exp": 1}, signin.ErrExpiredToken},
			{"expired and for another audience", map[string]any{"exp": now - 61, "aud": "shop"}, signin.ErrInvalidToken},
			{"expired and not verified", map[string]any{"exp": now - 61, "email_verified": false}, signin.ErrInvalidToken},
			{"iat 61 s ahead", map[string]any{"iat": now + 61}, signin.ErrInvalidToken},
			{"nbf 61 s ahead", map[string]any{"nbf": now + 61}, signin.ErrInvalidToken},
			{"auth_time 61 s ahead", map[string]any{"auth_time": now + 61}, signin.ErrInvalidToken},
			{"auth_time as text", map[string]any{"auth_time": "today"}, signin.ErrInvalidToken},
			{"no exp", map[string]any{"exp": nil}, signin.ErrInvalidToken},
			{"no iat", map[string]any{"iat": nil}, signin.ErrInvalidToken},
			{"no sub", map[string]any{"sub": nil}, signin.ErrInvalidToken},
			{"empty sub", map[string]any{"sub": ""}, signin.ErrInvalidToken},
			{"sub of 255 bytes", map[string]any{"sub": strings.Repeat("s", 255)}, nil},
			{"sub of 256 bytes", map[string]any{"sub": strings.Repeat("s", 256)}, signin.ErrInvalidToken},
			{"no aud", map[string]any{"aud": nil}, signin.ErrInvalidToken},
			{"another audience", map[string]any{"aud": "shop"}, signin.ErrInvalidToken},
			{"several audiences, asked for by another", map[string]any{"aud": []string{"api", "portal"}, "azp": "api"}, signin.ErrInvalidToken},
			{"several audiences, asked for by nobody", map[string]any{"aud": []string{"api", "portal"}}, signin.ErrInvalidToken},
			{"another issuer", map[string]any{"iss": "https://evil.example"}, signin.ErrInvalidToken},
			{"the issuer with a slash", map[string]any{"iss": idpURL + "/"}, signin.ErrInvalidToken},
			{"no issuer", map[string]any{"iss": nil}, signin.ErrInvalidToken},
			{"no email", map[string]any{"email": nil}, signin.ErrInvalidToken},
			{"email that is none", map[string]any{"email": "asha"}, signin.ErrInvalidToken},
			{"email as a list", map[string]any{"email": []string{"asha@example.org"}}, signin.ErrInvalidToken},
			{"email not verified", map[string]any{"email_verified": false}, signin.ErrInvalidToken},
			{"no email_verified", map[string]any{"email_verified": nil}, signin.ErrInvalidToken},
			{"email_verified as text", map[string]any{"email_verified": "true"}, signin.ErrInvalidToken},
			{"email_verified as a number", map[string]any{"email_verified": 1}, signin.ErrInvalidToken},
			{"an address that only looks like another", map[string]any{"email": "as\u212Aa@example.org"}, signin.ErrInvalidToken},
		} {
			claims := goodClaims()
			for name, value := range tt.change {
				if claims[name] = value; value == nil {
					delete(claims, name)
				}
			}
			id, err := trust.Verify(t.Context(), rsaA().sign(t, claims, nil))
			if tt.want != nil {
				if !errors.Is(err, tt.want) || id != (signin.Identity{}) {
					t.Errorf("%s: got %+v and error %v, want %v", tt.name, id, err, tt.want)
				}
				continue
			}
			want := signin.Identity{Issuer: idpURL, Subject: claims["sub"].(string), Email: "asha@example.org"}
			if err != nil || id != want {
				t.Errorf("%s: got %+v and error %v, want %+v", tt.name, id, err, want)
			}
		}
	})
}

func TestTrustReadsAnotherClaim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		trust := newIDP(rsaA()).trust(t, func(e *signin.External) { e.EmailClaim = "upn" })
		claims := goodClaims()
		claims["upn"] = "ravi@example.org"
		if id, err := trust.Verify(t.Context(), rsaA().sign(t, claims, nil)); err != nil ||
			id.Email != "ravi@example.org" {
			t.Errorf("got %+v (%v)", id, err)
		}
		if _, err := trust.Verify(t.Context(), rsaA().token(t)); !errors.Is(err, signin.ErrInvalidToken) {
			t.Errorf("without it: %v", err)
		}
	})
}

func TestTrustChecksSignatures(t *testing.T) {
	ec, ed, ecOther := ecKey("ec"), edKey("ed"), ecKey("ec")
	small, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Fatal(err)
	}
	weak := testKey{"weak", jose.RS256, small}
	p384key, _ := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	p384 := testKey{"p384", jose.ES384, p384key}
	nameless := func(k testKey) testKey { k.id = ""; return k }
	as := func(k testKey, id string) testKey { k.id = id; return k }
	public, err := json.Marshal(jose.JSONWebKey{Key: rsaA().private.Public(), KeyID: "a"})
	if err != nil {
		t.Fatal(err)
	}
	typ := func(typ string) func(*jose.SignerOptions) {
		return func(o *jose.SignerOptions) { o.WithType(jose.ContentType(typ)) }
	}

	synctest.Test(t, func(t *testing.T) {
		provider := newIDP(rsaA(), rsaB(), ec, ed, weak, p384)
		only := provider.trust(t, nil)
		all := provider.trust(t, func(e *signin.External) { e.Algorithms = []string{"RS256", "ES256", "EdDSA"} })
		unsigned := token64(t, map[string]any{"alg": "none"}) + "." + token64(t, goodClaims()) + "."
		symmetric := func() string {
			signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.HS256,
				Key: jose.JSONWebKey{Key: bytes.Repeat(public, 2), KeyID: "a"}}, nil)
			if err != nil {
				t.Fatal(err)
			}
			token, err := jwt.Signed(signer).Claims(goodClaims()).Serialize()
			if err != nil {
				t.Fatal(err)
			}
			return token
		}()
		embedded := func() string {
			signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256,
				Key: jose.JSONWebKey{Key: ecOther.private, KeyID: "ec"}}, &jose.SignerOptions{EmbedJWK: true})
			if err != nil {
				t.Fatal(err)
			}
			token, err := jwt.Signed(signer).Claims(goodClaims()).Serialize()
			if err != nil {
				t.Fatal(err)
			}
			return token
		}()
		good := rsaA().token(t)
		parts := strings.Split(good, ".")
		others := goodClaims()
		others["email"] = "ravi@example.org"
		for _, tt := range []struct {
			name          string
			token         string
			byOnly, byAll bool
		}{
			{"RS256", good, true, true},
			{"ES256", ec.token(t), false, true},
			{"EdDSA", ed.token(t), false, true},
			{"no key id", nameless(rsaB()).token(t), true, true},
			{"type JWT", rsaA().sign(t, goodClaims(), typ("JWT")), true, true},
			{"type jwt", rsaA().sign(t, goodClaims(), typ("jwt")), true, true},
			{"an access token", rsaA().sign(t, goodClaims(), typ("at+jwt")), false, false},
			{"the key of another id", as(rsaA(), "b").token(t), false, false},
			{"the key id of another kind of key", as(rsaA(), "ec").token(t), false, false},
			{"a key that is not published", as(ecOther, "ec").token(t), false, false},
			{"a key that the token brings along", embedded, false, false},
			{"a weak key", weak.token(t), false, false},
			{"another curve", p384.token(t), false, false},
			{"HS256 with what is public", symmetric, false, false},
			{"no signature", unsigned, false, false},
			{"a signature cut off", parts[0] + "." + parts[1] + ".", false, false},
			{"the signature of other claims", parts[0] + "." + token64(t, others) + "." + parts[2], false, false},
			{"two parts", parts[0] + "." + parts[1], false, false},
			{"four parts", good + ".x", false, false},
			{"an API key", "swar_live_abcdefgh", false, false},
			{"nothing", "", false, false},
			{"too much", strings.Repeat("a", 1<<20), false, false},
		} {
			for _, v := range []struct {
				name  string
				trust *signin.Trust
				want  bool
			}{{"RS256 only", only, tt.byOnly}, {"all algorithms", all, tt.byAll}} {
				_, err := v.trust.Verify(t.Context(), tt.token)
				if v.want != (err == nil) || !v.want && !errors.Is(err, signin.ErrInvalidToken) {
					t.Errorf("%s, %s: got error %v, want it taken: %v", tt.name, v.name, err, v.want)
				}
				if err != nil && len(tt.token) > 20 && strings.Contains(err.Error(), tt.token[len(tt.token)-20:]) {
					t.Errorf("%s: the error holds the token: %v", tt.name, err)
				}
			}
		}
	})
}

func TestFetches(t *testing.T) {
	bogus := func(t *testing.T, n int) string {
		k := ecKey(fmt.Sprint("bogus", n))
		return k.token(t)
	}
	allow := func(e *signin.External) { e.Algorithms = []string{"RS256", "ES256"} }
	for _, tt := range []struct {
		name string
		test func(t *testing.T, p *idp, trust *signin.Trust)
	}{
		{"a hundred first tokens at once make one fetch", func(t *testing.T, p *idp, trust *signin.Trust) {
			token := rsaA().token(t)
			var wg sync.WaitGroup
			for range 100 {
				wg.Go(func() {
					if _, err := trust.Verify(t.Context(), token); err != nil {
						t.Error(err)
					}
				})
			}
			wg.Wait()
			wantFetches(t, p, 1)
		}},
		{"made-up key ids make one fetch a minute", func(t *testing.T, p *idp, trust *signin.Trust) {
			verify(t, trust, rsaA().token(t), nil)
			wantFetches(t, p, 1)
			for i := range 600 { // ten minutes
				var wg sync.WaitGroup
				for range 3 {
					wg.Go(func() { verify(t, trust, bogus(t, i), signin.ErrInvalidToken) })
				}
				wg.Wait()
				time.Sleep(time.Second)
			}
			if n := p.count(); n < 9 || n > 10 {
				t.Errorf("%d fetches in ten minutes", n)
			}
			start := time.Now()
			verify(t, trust, rsaA().token(t), nil)
			if time.Since(start) > 0 {
				t.Error("a good token waited for them")
			}
		}},
		{"made-up key ids come first, before there is any key", func(t *testing.T, p *idp, trust *signin.Trust) {
			for i := range 100 {
				verify(t, trust, bogus(t, i), signin.ErrInvalidToken)
			}
			wantFetches(t, p, 1)
		}},
		{"a new key is found", func(t *testing.T, p *idp, trust *signin.Trust) {
			verify(t, trust, rsaA().token(t), nil)
			p.publish(rsaA(), rsaB())
			time.Sleep(time.Minute)
			p.count()
			verify(t, trust, rsaB().token(t), nil)
			verify(t, trust, rsaA().token(t), nil)
			wantFetches(t, p, 1)
		}},
		{"a key that was withdrawn is good for max-age and no longer", func(t *testing.T, p *idp, trust *signin.Trust) {
			p.set(func(p *idp) { p.header.Set("Cache-Control", "public, max-age=600, must-revalidate") })
			verify(t, trust, rsaA().token(t), nil)
			p.publish(rsaB())
			time.Sleep(10*time.Minute - time.Microsecond)
			verify(t, trust, rsaA().token(t), nil)
			time.Sleep(time.Microsecond)
			verify(t, trust, rsaA().token(t), signin.ErrInvalidToken)
			verify(t, trust, rsaB().token(t), nil)
		}},
		{"while the issuer is away its keys are good for a day more", func(t *testing.T, p *idp, trust *signin.Trust) {
			verify(t, trust, rsaA().token(t), nil)
			fresh := time.Now().Add(time.Hour)
			p.set(func(p *idp) { p.hang = true })
			time.Sleep(time.Hour)
			verify(t, trust, rsaA().token(t), nil) // waits once
			start := time.Now()
			for time.Now().Before(fresh.Add(24*time.Hour - 10*time.Minute)) {
				before := time.Now()
				verify(t, trust, rsaA().token(t), nil)
				if time.Since(before) > 0 {
					t.Fatalf("after %s a token waited for an issuer that is known to be away", time.Since(start))
				}
				time.Sleep(7 * time.Minute)
			}
			time.Sleep(time.Until(fresh.Add(24*time.Hour - time.Microsecond)))
			verify(t, trust, rsaA().token(t), nil)
			time.Sleep(time.Microsecond)
			verify(t, trust, rsaA().token(t), signin.ErrUnavailable)
			p.set(func(p *idp) { p.hang = false })
			time.Sleep(time.Minute)
			verify(t, trust, rsaA().token(t), nil)
		}},
		{"while the issuer is away it is asked once a minute", func(t *testing.T, p *idp, trust *signin.Trust) {
			verify(t, trust, rsaA().token(t), nil)
			p.set(func(p *idp) { p.fail = true; p.documents[idpURL+"/keys"] = "" })
			time.Sleep(time.Hour)
			p.set(func(p *idp) { p.fail = false })
			p.count()
			for range 600 {
				verify(t, trust, rsaA().token(t), nil)
				time.Sleep(time.Second)
			}
			if n := p.count(); n < 9 || n > 10 {
				t.Errorf("%d fetches in ten minutes", n)
			}
		}},
		{"an issuer that was never reached is asked every five seconds", func(t *testing.T, p *idp, trust *signin.Trust) {
			p.set(func(p *idp) { p.documents[idpURL+"/keys"] = "{" })
			for range 60 {
				verify(t, trust, rsaA().token(t), signin.ErrUnavailable)
				time.Sleep(time.Second)
			}
			if n := p.count(); n < 10 || n > 12 {
				t.Errorf("%d fetches in a minute", n)
			}
			p.set(func(p *idp) { clear(p.documents) })
			time.Sleep(5 * time.Second)
			verify(t, trust, rsaA().token(t), nil)
		}},
		{"a fetch is bounded, and a caller who leaves does not wait", func(t *testing.T, p *idp, trust *signin.Trust) {
			p.set(func(p *idp) { p.hang = true })
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			start := time.Now()
			if _, err := trust.Verify(ctx, rsaA().token(t)); !errors.Is(err, context.DeadlineExceeded) ||
				time.Since(start) != time.Second {
				t.Errorf("got %v after %s", err, time.Since(start))
			}
			if _, err := trust.Verify(t.Context(), rsaA().token(t)); !errors.Is(err, signin.ErrUnavailable) ||
				time.Since(start) != 10*time.Second {
				t.Errorf("got %v after %s", err, time.Since(start))
			}
		}},
		{"a caller who leaves does not take the fetch along", func(t *testing.T, p *idp, trust *signin.Trust) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
			defer cancel()
			if _, err := trust.Verify(ctx, rsaA().token(t)); !errors.Is(err, context.DeadlineExceeded) {
				t.Error(err)
			}
			verify(t, trust, rsaA().token(t), nil)
			wantFetches(t, p, 1)
		}},
		{"Run fetches before the keys are old, and nobody waits", func(t *testing.T, p *idp, trust *signin.Trust) {
			go trust.Run(t.Context())
			time.Sleep(time.Second)
			wantFetches(t, p, 1)
			for range 24 * 60 {
				before := time.Now()
				verify(t, trust, rsaA().token(t), nil)
				if time.Since(before) > 0 {
					t.Fatal("a token waited")
				}
				time.Sleep(time.Minute)
			}
			if n := p.count(); n < 28 || n > 32 {
				t.Errorf("%d fetches a day, want one every 48 minutes", n)
			}
		}},
		{"Run goes on when the issuer is away", func(t *testing.T, p *idp, trust *signin.Trust) {
			p.set(func(p *idp) { p.fail = true })
			go trust.Run(t.Context())
			time.Sleep(10 * time.Minute)
			p.set(func(p *idp) { p.fail = false })
			time.Sleep(61 * time.Second)
			before := time.Now()
			verify(t, trust, rsaA().token(t), nil)
			if time.Since(before) > 0 {
				t.Error("a token waited")
			}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newIDP(rsaA())
				tt.test(t, p, p.trust(t, allow))
			})
		})
	}
}

func TestMaxAge(t *testing.T) {
	for _, tt := range []struct {
		control, age string
		want         time.Duration
	}{
		{"", "", time.Hour},
		{"public", "", time.Hour},
		{"max-age=600", "", 10 * time.Minute},
		{"MAX-AGE=600", "", 10 * time.Minute},
		{`private , max-age="600"`, "", 10 * time.Minute},
		{"max-age=1200", "300", 15 * time.Minute},
		{"max-age=1200", "-300", 20 * time.Minute},
		{"max-age=1200", "soon", 20 * time.Minute},
		{"max-age=soon", "", time.Hour},
		{"max-age=99999999999999999999", "", time.Hour},
		{"max-age=1", "", 5 * time.Minute},
		{"max-age=0", "", 5 * time.Minute},
		{"max-age=-5", "", 5 * time.Minute},
		{"no-store, max-age=600", "", 5 * time.Minute},
		{"no-cache", "", 5 * time.Minute},
		{"max-age=86400", "", 24 * time.Hour},
		{"max-age=86401", "", 24 * time.Hour},
		{"max-age=2000000000", "", 24 * time.Hour},
	} {
		synctest.Test(t, func(t *testing.T) {
			p := newIDP(rsaA())
			p.header.Set("Cache-Control", tt.control)
			p.header.Set("Age", tt.age)
			trust := p.trust(t, nil)
			verify(t, trust, rsaA().token(t), nil)
			p.count()
			time.Sleep(tt.want - time.Microsecond)
			verify(t, trust, rsaA().token(t), nil)
			wantFetches(t, p, 0)
			time.Sleep(time.Microsecond)
			verify(t, trust, rsaA().token(t), nil)
			wantFetches(t, p, 1)
			if t.Failed() {
				t.Errorf("that was Cache-Control %q, Age %q", tt.control, tt.age)
			}
		})
	}
}

func TestBadDocuments(t *testing.T) {
	discovery, keys := idpURL+"/.well-known/openid-configuration", idpURL+"/keys"
	good, err := json.Marshal(jose.JSONWebKey{Key: rsaA().private.Public(), KeyID: "a"})
	if err != nil {
		t.Fatal(err)
	}
	private, err := json.Marshal(jose.JSONWebKey{Key: rsaA().private, KeyID: "a"})
	if err != nil {
		t.Fatal(err)
	}
	many := strings.Repeat(`{"kty":"RSA"},`, 99)
	for _, tt := range []struct {
		name, address, document string
		ok                      bool
	}{
		{"the key", keys, `{"keys":[` + string(good) + `]}`, true},
		{"among keys of unknown kinds", keys, `{"keys":[{"kty":"AKP"},{},1,null,{"kty":"oct","k":"AAAA","kid":"a"},` + string(good) + `]}`, true},
		{"for encryption", keys, `{"keys":[` + strings.Replace(string(good), `{`, `{"use":"enc",`, 1) + `]}`, false},
		{"with its private part", keys, `{"keys":[` + string(private) + `]}`, false},
		{"the hundredth key", keys, `{"keys":[` + many + string(good) + `]}`, true},
		{"the hundred and first", keys, `{"keys":[{},` + many + string(good) + `]}`, false},
		{"no keys", keys, `{"keys":[]}`, false},
		{"an empty document", keys, ``, false},
		{"a page", keys, `<!doctype html>`, false},
		{"as long as is allowed", keys, `{"keys":[` + string(good) + `]}` + strings.Repeat(" ", 256<<10-len(good)-11), true},
		{"one byte longer", keys, `{"keys":[` + string(good) + `]}` + strings.Repeat(" ", 256<<10-len(good)-10), false},
		{"discovery of another issuer", discovery, `{"issuer":"https://evil.example","jwks_uri":"` + keys + `"}`, false},
		{"discovery with a slash more", discovery, `{"issuer":"` + idpURL + `/","jwks_uri":"` + keys + `"}`, false},
		{"discovery without keys", discovery, `{"issuer":"` + idpURL + `"}`, false},
		{"discovery to an unsafe address", discovery, `{"issuer":"` + idpURL + `","jwks_uri":"http://login.example.org/realms/tts/keys"}`, false},
		{"discovery to a missing document", discovery, `{"issuer":"` + idpURL + `","jwks_uri":"https://login.example.org/nowhere"}`, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			p := newIDP()
			p.documents[tt.address] = tt.document
			if tt.address == discovery {
				p.publish(rsaA())
			}
			_, err := p.trust(t, nil).Verify(t.Context(), rsaA().token(t))
			if tt.ok != (err == nil) || !tt.ok && !errors.Is(err, signin.ErrUnavailable) {
				t.Errorf("%s: got error %v", tt.name, err)
			}
		})
	}
}

func TestNewTrustRefuses(t *testing.T) {
	good := signin.External{Issuer: idpURL, Audiences: []string{"portal"}}
	with := func(change func(*signin.External)) []signin.External {
		e := good
		change(&e)
		return []signin.External{e}
	}
	for _, tt := range []struct {
		name    string
		issuers []signin.External
		ok      bool
	}{
		{"one", []signin.External{good}, true},
		{"none", nil, true},
		{"one on this machine", with(func(e *signin.External) { e.Issuer = "http://127.0.0.1:5556/dex" }), true},
		{"Firebase", []signin.External{signin.Firebase("swar-prod")}, true},
		{"twice the same", []signin.External{good, good}, false},
		{"no address", with(func(e *signin.External) { e.Issuer = "" }), false},
		{"no encryption", with(func(e *signin.External) { e.Issuer = "http://login.example.org" }), false},
		{"keys without encryption", with(func(e *signin.External) { e.JWKSURL = "http://login.example.org/keys" }), false},
		{"another kind of address", with(func(e *signin.External) { e.JWKSURL = "file:///etc/keys" }), false},
		{"no audience", with(func(e *signin.External) { e.Audiences = nil }), false},
		{"an empty audience", with(func(e *signin.External) { e.Audiences = []string{"portal", ""} }), false},
		{"symmetric signatures", with(func(e *signin.External) { e.Algorithms = []string{"HS256"} }), false},
		{"no signatures", with(func(e *signin.External) { e.Algorithms = []string{"RS256", "none"} }), false},
	} {
		if _, err := signin.NewTrust(tt.issuers, nil, slog.New(slog.DiscardHandler)); (err == nil) != tt.ok {
			t.Errorf("%s: got error %v", tt.name, err)
		}
	}
	preset := signin.Firebase("swar-prod")
	if preset.Issuer != "https://securetoken.google.com/swar-prod" || preset.Audiences[0] != "swar-prod" ||
		!strings.HasPrefix(preset.JWKSURL, "https://www.googleapis.com/") {
		t.Errorf("preset %+v", preset)
	}
}

// Several verifiers: each has its own tokens, and a fault of the one whose token it is does not look like a bad token.
func TestVerifiers(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		p := newIDP(rsaA())
		all := signin.Verifiers{w.issuer, p.trust(t, nil)}
		own := w.browser().signIn(w, "ravi@example.org", "").get("id_token")
		for token, email := range map[string]string{own: "ravi@example.org", rsaA().token(t): "asha@example.org"} {
			if id, err := all.Verify(t.Context(), token); err != nil || id.Email != email {
				t.Errorf("got %+v (%v), want %s", id, err, email)
			}
		}
		verify(t, all, "nonsense", signin.ErrInvalidToken)
		verify(t, signin.Verifiers{}, own, signin.ErrInvalidToken)
		// A token that says it is of the built-in issuer and is signed by the other one is good for neither.
		forged := goodClaims()
		maps.Copy(forged, map[string]any{"iss": serverURL, "aud": "swar"})
		verify(t, all, rsaA().sign(t, forged, nil), signin.ErrInvalidToken)
		time.Sleep(2 * time.Hour)
		verify(t, all, own, signin.ErrExpiredToken)
		p.set(func(p *idp) { p.fail = true })
		away := signin.Verifiers{p.trust(t, nil), w.issuer}
		verify(t, away, rsaA().token(t), signin.ErrUnavailable)
	})
}

func verify(t *testing.T, v signin.Verifier, token string, want error) {
	t.Helper()
	if _, err := v.Verify(t.Context(), token); !errors.Is(err, want) {
		t.Errorf("got error %v, want %v", err, want)
	}
}

func wantFetches(t *testing.T, p *idp, want int) {
	t.Helper()
	if got := p.count(); got != want {
		t.Errorf("%d fetches, want %d", got, want)
	}
}
