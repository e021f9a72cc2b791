package grpcauth_test

import (
	"testing"

	"github.com/swar-tts/swar/runtime/grpcauth"
	"github.com/swar-tts/swar/runtime/grpcauth/grpcauthtest"
)

func TestPlainTextStaysOnTheMachine(t *testing.T) {
	token := grpcauthtest.Shared(testToken)
	plain, secure := token, token
	plain.Plaintext = true
	secure.Certificates = grpcauthtest.New(t).Open(grpcauth.Router)
	for host, want := range map[string]bool{
		"127.0.0.1": true, "127.3.2.1": true, "::1": true, "localhost": true,
		"10.1.2.3": false, "0.0.0.0": false, "::": false, "portal": false, "localhost.example": false, "": false,
	} {
		if got := grpcauth.IsLoopback(host); got != want {
			t.Errorf("IsLoopback(%q) = %v, want %v", host, got, want)
		}
		for name, tt := range map[string]struct {
			creds grpcauth.Credentials
			want  bool
		}{
			"plain text":            {token, want},
			"plain text on purpose": {plain, true},
			"TLS":                   {secure, true},
		} {
			if _, err := tt.creds.DialOptions(host, grpcauth.Worker); (err == nil) != tt.want {
				t.Errorf("%s to %q: %v, want it ok: %v", name, host, err, tt.want)
			}
			_, err := tt.creds.ServerOptions(grpcauth.IsLoopback(host), quiet,
				grpcauth.Service{Accepts: []grpcauth.Role{grpcauth.Worker}})
			if (err == nil) != tt.want {
				t.Errorf("%s on %q: %v, want it ok: %v", name, host, err, tt.want)
			}
		}
	}
}

func TestCredentials(t *testing.T) {
	token := grpcauthtest.Shared(testToken).Token
	certificates := grpcauthtest.New(t).Open(grpcauth.Router)
	for name, tt := range map[string]struct {
		creds grpcauth.Credentials
		ok    bool
	}{
		"nothing":                     {grpcauth.Credentials{}, false},
		"plain text without a token":  {grpcauth.Credentials{Plaintext: true}, false},
		"a token":                     {grpcauth.Credentials{Token: token}, true},
		"certificates":                {grpcauth.Credentials{Certificates: certificates}, true},
		"both":                        {grpcauth.Credentials{Certificates: certificates, Token: token}, true},
		"certificates and plain text": {grpcauth.Credentials{Certificates: certificates, Plaintext: true}, false},
	} {
		if err := tt.creds.Check(); (err == nil) != tt.ok {
			t.Errorf("%s: %v, want it ok: %v", name, err, tt.ok)
		}
	}
}
