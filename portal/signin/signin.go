// Package signin authenticates people. It checks ID tokens of the issuers that an operator trusts, and is itself an
// issuer that signs people in by e-mail.
package signin

import (
	"context"
	"errors"
)

// Identity is a person as an issuer vouches for them.
type Identity struct {
	Issuer  string // URL
	Subject string // the same for as long as the issuer knows the person; unique within it only
	Email   string // in lower case; the issuer has verified that it is theirs
}

// Verifier returns the user of an ID token. It is safe for concurrent use.
type Verifier interface {
	// Verify fails with ErrExpiredToken for a token that was good once, with ErrInvalidToken for any other that is
	// not good, and with ErrUnavailable when the issuer's keys cannot be had. All three are wrapped with a reason
	// that is for logs and holds no secret.
	Verify(ctx context.Context, token string) (Identity, error)
}

// Why a token is refused. The texts are those of the API.
var (
	ErrInvalidToken = errors.New("invalid token")
	ErrExpiredToken = errors.New("token expired")
	ErrUnavailable  = errors.New("the issuer's keys cannot be read; try again")
)
