package signin

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4/jwt"
)

// EmulatorConfig accepts tokens of the Firebase Auth emulator, which anyone can create.
type EmulatorConfig struct {
	AcceptUnsigned bool   // must be true, so that an address alone does not disable signatures
	Address        string // host:port of the emulator; must be on this machine
	Project        string // must begin with demo-, which no project of the real service does
	Listen         string // host:port on which this server listens; must be on this machine too
}

// Emulator verifies, for development, everything about a token of the Firebase Auth emulator but its signature, which
// it has not. It is a [Verifier].
type Emulator struct{ checker checker }

// NewEmulator refuses a configuration that would let strangers sign in.
func NewEmulator(cfg EmulatorConfig) (*Emulator, error) {
	switch {
	case !cfg.AcceptUnsigned:
		return nil, errors.New("the Firebase Auth emulator does not sign its tokens; accept unsigned tokens explicitly, or remove its address")
	case !strings.HasPrefix(cfg.Project, "demo-"):
		return nil, fmt.Errorf("project %q: unsigned tokens are accepted only for projects whose name begins with demo-", cfg.Project)
	}
	for _, a := range []struct{ what, address string }{{"the emulator", cfg.Address}, {"this server", cfg.Listen}} {
		if host, _, err := net.SplitHostPort(a.address); err != nil || !isLoopback(host) {
			return nil, fmt.Errorf("%s at %q is not on 127.0.0.1 or localhost; unsigned tokens are accepted only on one machine", a.what, a.address)
		}
	}
	preset := Firebase(cfg.Project)
	return &Emulator{checker{issuer: preset.Issuer, audiences: preset.Audiences, emailClaim: "email"}}, nil
}

// Verify implements [Verifier].
func (e *Emulator) Verify(_ context.Context, token string) (Identity, error) {
	standard, claims, err := readUnsigned(token)
	if err != nil {
		return Identity{}, fmt.Errorf("%w: %w", ErrInvalidToken, err)
	}
	return e.checker.identity(standard, claims, time.Now())
}

// readUnsigned reads a token by hand, because no library does that to tokens without a signature.
func readUnsigned(token string) (standard jwt.Claims, claims map[string]json.RawMessage, err error) {
	parts := strings.Split(token, ".")
	if len(token) > maxToken || len(parts) != 3 || parts[2] != "" {
		return standard, nil, errors.New("not a token of the emulator")
	}
	var header struct {
		Algorithm string `json:"alg"`
	}
	for _, part := range []struct {
		text string
		into []any
	}{{parts[0], []any{&header}}, {parts[1], []any{&standard, &claims}}} {
		text, err := base64.RawURLEncoding.Strict().DecodeString(part.text)
		if err != nil {
			return standard, nil, err
		}
		for _, into := range part.into {
			if err := json.Unmarshal(text, into); err != nil {
				return standard, nil, err
			}
		}
	}
	if header.Algorithm != "none" {
		return standard, nil, fmt.Errorf("algorithm %.20q of a token without signature", header.Algorithm)
	}
	return standard, claims, nil
}
