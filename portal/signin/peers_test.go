//go:build peers

package signin_test

import (
	"encoding/base64"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/swar-tts/swar/internal/testenv/peerstest"
	"github.com/swar-tts/swar/portal/signin"
)

// The whole way of a browser through a provider that knows nothing of us: the code flow with PKCE, and the token at the
// end of it.
func TestPeerOIDCProvider(t *testing.T) {
	issuer := peerstest.OIDCProvider(t, "../../hack/peers/oidc.mjs")
	trust, err := signin.NewTrust([]signin.External{{
		Issuer: issuer, Audiences: []string{"rs", "es", "ed"}, Algorithms: []string{"RS256", "ES256", "EdDSA"},
	}}, nil, slog.Default())
	if err != nil {
		t.Fatal(err)
	}
	onlyRSA, err := signin.NewTrust([]signin.External{{Issuer: issuer, Audiences: []string{"rs", "es", "ed"}}}, nil,
		slog.Default())
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		client, email   string
		all, rsa        error
		algorithm, want string
	}{
		{"rs", "Asha@Example.org", nil, nil, "RS256", "asha@example.org"},
		{"es", "asha@example.org", nil, signin.ErrInvalidToken, "ES256", "asha@example.org"},
		{"ed", "asha@example.org", nil, signin.ErrInvalidToken, "EdDSA", "asha@example.org"},
		{"shop", "asha@example.org", signin.ErrInvalidToken, signin.ErrInvalidToken, "RS256", ""},
		{"rs", "unverified@example.org", signin.ErrInvalidToken, signin.ErrInvalidToken, "RS256", ""},
	} {
		t.Run(tt.client+" "+tt.email, func(t *testing.T) {
			token := codeFlow(t, issuer, tt.client, tt.email)
			if header, _, _ := strings.Cut(token,
				"."); !strings.Contains(string(unbase64(t, header)), `"alg":"`+tt.algorithm+`"`) {
				t.Errorf("header %s, want %s", unbase64(t, header), tt.algorithm)
			}
			id, err := trust.Verify(t.Context(), token)
			if !errors.Is(err, tt.all) {
				t.Errorf("all algorithms: got error %v, want %v", err, tt.all)
			}
			if want := (signin.Identity{Issuer: issuer, Subject: tt.email, Email: tt.want}); tt.all == nil &&
				id != want {
				t.Errorf("got %+v, want %+v", id, want)
			}
			verify(t, onlyRSA, token, tt.rsa)
			verify(t, trust, flip(token, len(token)-30), signin.ErrInvalidToken)
		})
	}
}

// codeFlow signs in like a browser and returns the ID token.
func codeFlow(t *testing.T, issuer, client, email string) string {
	t.Helper()
	provider, err := oidc.NewProvider(t.Context(), issuer)
	if err != nil {
		t.Fatal(err)
	}
	config := oauth2.Config{ClientID: client, Endpoint: provider.Endpoint(), RedirectURL: "http://127.0.0.1/callback",
		Scopes: []string{"openid", "email"}}
	config.Endpoint.AuthStyle = oauth2.AuthStyleInParams
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := &http.Client{Jar: jar, CheckRedirect: func(r *http.Request, _ []*http.Request) error {
		if r.URL.Path == "/callback" {
			return http.ErrUseLastResponse
		}
		return nil
	}}
	verifier, state := oauth2.GenerateVerifier(), oauth2.GenerateVerifier()
	answer := fetch(t, browser, http.MethodGet, config.AuthCodeURL(state, oauth2.S256ChallengeOption(verifier)), nil)
	action := regexp.MustCompile(`<form[^>]* action="([^"]+)"`)
	for _, form := range []url.Values{
		{"prompt": {"login"}, "login": {email}, "password": {"any"}},
		{"prompt": {"consent"}},
	} {
		found := action.FindStringSubmatch(answer.body)
		if found == nil {
			t.Fatalf("no form at %s:\n%s", answer.at, answer.body)
		}
		to, err := answer.at.Parse(found[1])
		if err != nil {
			t.Fatal(err)
		}
		answer = fetch(t, browser, http.MethodPost, to.String(), form)
	}
	back, err := url.Parse(answer.location)
	if err != nil || back.Query().Get("state") != state {
		t.Fatalf("sent back to %q (%v)", answer.location, err)
	}
	got, err := config.Exchange(t.Context(), back.Query().Get("code"), oauth2.VerifierOption(verifier))
	if err != nil {
		t.Fatal(err)
	}
	token, _ := got.Extra("id_token").(string)
	return token
}

type fetched struct {
	at       *url.URL
	location string
	body     string
}

func fetch(t *testing.T, client *http.Client, method, address string, form url.Values) fetched {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	resp, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return fetched{resp.Request.URL, resp.Header.Get("Location"), string(body)}
}

// The sign-in by e-mail link of Firebase, as a script does it, with the emulator of Google.
func TestPeerFirebaseEmulator(t *testing.T) {
	const project = peerstest.FirebaseProject
	address := peerstest.FirebaseEmulator(t)
	api := "http://" + address + "/identitytoolkit.googleapis.com/v1/accounts:"
	peerstest.CallJSON(t, api+"sendOobCode?key=any", map[string]any{
		"requestType": "EMAIL_SIGNIN", "email": "asha@example.org", "continueUrl": "http://127.0.0.1/", "canHandleCodeInApp": true,
	})
	codes := peerstest.CallJSON(t, "http://"+address+"/emulator/v1/projects/"+project+"/oobCodes",
		nil)["oobCodes"].([]any)
	if len(codes) != 1 {
		t.Fatalf("codes: %v", codes)
	}
	session := peerstest.CallJSON(t, api+"signInWithEmailLink?key=any", map[string]any{
		"email": "asha@example.org", "oobCode": codes[0].(map[string]any)["oobCode"],
	})
	token, _ := session["idToken"].(string)

	trust, err := signin.NewTrust([]signin.External{signin.Firebase(project)}, http.DefaultClient, slog.Default())
	if err != nil {
		t.Fatal(err)
	}
	verify(t, trust, token, signin.ErrInvalidToken)
	if _, err := signin.NewEmulator(signin.EmulatorConfig{Address: address, Project: project,
		Listen: "127.0.0.1:8080"}); err == nil {
		t.Error("unsigned tokens are accepted without being told to")
	}
	emulator, err := signin.NewEmulator(signin.EmulatorConfig{AcceptUnsigned: true, Address: address, Project: project,
		Listen: "127.0.0.1:8080"})
	if err != nil {
		t.Fatal(err)
	}
	id, err := signin.Verifiers{trust, emulator}.Verify(t.Context(), token)
	want := signin.Identity{Issuer: "https://securetoken.google.com/" + project, Subject: session["localId"].(string),
		Email: "asha@example.org"}
	if err != nil || id != want {
		t.Errorf("got %+v (%v), want %+v", id, err, want)
	}

	// A password is not a proof of an address: the same account with one is verified only because of the link before.
	unproven := peerstest.CallJSON(t, api+"signUp?key=any",
		map[string]any{"email": "owner@example.org", "password": "secret1", "returnSecureToken": true})
	verify(t, emulator, unproven["idToken"].(string), signin.ErrInvalidToken)
}

func unbase64(t *testing.T, s string) []byte {
	t.Helper()
	text, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
