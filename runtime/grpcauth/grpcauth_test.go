package grpcauth

import (
	"crypto/tls"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

const testToken = "a-token-that-nobody-else-has"

func TestTokens(t *testing.T) {
	for name, tt := range map[string]struct {
		token string
		ok    bool
	}{
		"none":                    {"", false},
		"one character too short": {"123456789012345", false},
		"just enough":             {"1234567890123456", true},
		"one character more":      {"12345678901234567", true},
		"with a space":            {"1234567890 123456", false},
		"with a line feed":        {"1234567890123456\n", false},
		"with a letter of Hindi":  {"1234567890123456स", false},
	} {
		if err := CheckToken(tt.token); (err == nil) != tt.ok {
			t.Errorf("%s: CheckToken = %v, want it ok: %v", name, err, tt.ok)
		}
	}
}

func TestPlainTextStaysOnTheMachine(t *testing.T) {
	for host, want := range map[string]bool{
		"127.0.0.1": true, "127.3.2.1": true, "::1": true, "localhost": true,
		"10.1.2.3": false, "0.0.0.0": false, "::": false, "portal": false, "localhost.example": false, "": false,
	} {
		if got := IsLoopback(host); got != want {
			t.Errorf("IsLoopback(%q) = %v, want %v", host, got, want)
		}
		if _, err := Transport(nil, IsLoopback(host)); (err == nil) != want {
			t.Errorf("plain text to %q: %v, want it ok: %v", host, err, want)
		}
		if _, err := Transport(&tls.Config{}, IsLoopback(host)); err != nil {
			t.Errorf("TLS to %q: %v", host, err)
		}
	}
}

func TestAuthorize(t *testing.T) {
	for name, tt := range map[string]struct {
		header []string
		ok     bool
	}{
		"the token":                {[]string{"Bearer " + testToken}, true},
		"the token among others":   {[]string{"Bearer other", "Bearer " + testToken}, true},
		"no header":                {nil, false},
		"an empty header":          {[]string{""}, false},
		"another token":            {[]string{"Bearer another-token-of-some-length"}, false},
		"the token alone":          {[]string{testToken}, false},
		"the token and more":       {[]string{"Bearer " + testToken + "x"}, false},
		"the beginning of a token": {[]string{"Bearer " + testToken[:20]}, false},
	} {
		ctx := metadata.NewIncomingContext(t.Context(), metadata.MD{"authorization": tt.header})
		err := Authorize(ctx, testToken)
		if (err == nil) != tt.ok || err != nil && status.Code(err) != codes.Unauthenticated {
			t.Errorf("%s: Authorize = %v, want it ok: %v", name, err, tt.ok)
		}
	}
	if err := Authorize(t.Context(), testToken); err == nil {
		t.Error("a call without metadata is allowed")
	}
}

func TestTheTokenIsPutOnCalls(t *testing.T) {
	for _, secure := range []bool{false, true} {
		b := Bearer{Token: testToken, Secure: secure}
		got, err := b.GetRequestMetadata(t.Context())
		if err != nil || got["authorization"] != "Bearer "+testToken || b.RequireTransportSecurity() != secure {
			t.Errorf("%+v puts %v, %v and requires TLS: %v", b, got, err, b.RequireTransportSecurity())
		}
	}
}
