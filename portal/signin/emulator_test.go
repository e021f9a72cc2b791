package signin_test

import (
	"encoding/base64"
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"github.com/swar-tts/swar/portal/signin"
)

func token64(t *testing.T, part any) string {
	t.Helper()
	text, err := json.Marshal(part)
	if err != nil {
		t.Fatal(err)
	}
	return base64.RawURLEncoding.EncodeToString(text)
}

var goodEmulator = signin.EmulatorConfig{AcceptUnsigned: true, Address: "127.0.0.1:9099", Project: "demo-swar",
	Listen: "127.0.0.1:8080"}

func TestEmulatorMustBeMeant(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*signin.EmulatorConfig)
		ok     bool
	}{
		{"all of it", func(*signin.EmulatorConfig) {}, true},
		{"localhost", func(c *signin.EmulatorConfig) { c.Address, c.Listen = "localhost:9099", "[::1]:8080" }, true},
		{"no flag", func(c *signin.EmulatorConfig) { c.AcceptUnsigned = false }, false},
		{"no address", func(c *signin.EmulatorConfig) { c.Address = "" }, false},
		{"another machine", func(c *signin.EmulatorConfig) { c.Address = "192.0.2.1:9099" }, false},
		{"a name that begins like this machine", func(c *signin.EmulatorConfig) { c.Address = "127.0.0.1.example.org:9099" }, false},
		{"a real project", func(c *signin.EmulatorConfig) { c.Project = "swar-prod" }, false},
		{"no project", func(c *signin.EmulatorConfig) { c.Project = "" }, false},
		{"a server for everybody", func(c *signin.EmulatorConfig) { c.Listen = ":8080" }, false},
		{"a server for the network", func(c *signin.EmulatorConfig) { c.Listen = "0.0.0.0:8080" }, false},
		{"a server that says nothing", func(c *signin.EmulatorConfig) { c.Listen = "" }, false},
	} {
		cfg := goodEmulator
		tt.change(&cfg)
		if _, err := signin.NewEmulator(cfg); (err == nil) != tt.ok {
			t.Errorf("%s: got error %v", tt.name, err)
		}
	}
}

func TestEmulatorTokens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		emulator, err := signin.NewEmulator(goodEmulator)
		if err != nil {
			t.Fatal(err)
		}
		claims := func(change map[string]any) map[string]any {
			c := goodClaims()
			c["iss"], c["aud"] = "https://securetoken.google.com/demo-swar", "demo-swar"
			for k, v := range change {
				c[k] = v
			}
			return c
		}
		none := token64(t, map[string]any{"alg": "none", "typ": "JWT"})
		now := time.Now().Unix()
		for _, tt := range []struct {
			name, token string
			want        error
		}{
			{"as the emulator makes it", none + "." + token64(t, claims(nil)) + ".", nil},
			{"expired", none + "." + token64(t, claims(map[string]any{"exp": now - 61})) + ".", signin.ErrExpiredToken},
			{"not verified", none + "." + token64(t, claims(map[string]any{"email_verified": false})) + ".", signin.ErrInvalidToken},
			{"another project", none + "." + token64(t, claims(map[string]any{"aud": "swar-prod"})) + ".", signin.ErrInvalidToken},
			{"another issuer", none + "." + token64(t, claims(map[string]any{"iss": idpURL})) + ".", signin.ErrInvalidToken},
			{"with a signature", none + "." + token64(t, claims(nil)) + ".AAAA", signin.ErrInvalidToken},
			{"another algorithm", token64(t, map[string]any{"alg": "None"}) + "." + token64(t, claims(nil)) + ".", signin.ErrInvalidToken},
			{"two parts", none + "." + token64(t, claims(nil)), signin.ErrInvalidToken},
			{"not base64", none + ".*.", signin.ErrInvalidToken},
			{"not JSON", none + ".AAAA.", signin.ErrInvalidToken},
			{"nothing", "", signin.ErrInvalidToken},
			{"dots", "..", signin.ErrInvalidToken},
			{"signed", rsaA().token(t), signin.ErrInvalidToken},
		} {
			t.Log(tt.name)
			verify(t, emulator, tt.token, tt.want)
		}

		// Without it, nobody takes such a token: neither trust in the same project nor the built-in issuer.
		unsigned := none + "." + token64(t, claims(nil)) + "."
		trust := newIDP(rsaA()).trust(t, func(e *signin.External) { *e = signin.Firebase("demo-swar") })
		verify(t, signin.Verifiers{newWorld(t, nil).issuer, trust}, unsigned, signin.ErrInvalidToken)
		verify(t, signin.Verifiers{trust, emulator}, unsigned, nil)
	})
}
