// Package access turns a presented API key into a grant: what its holder may do.
package access

import (
	"context"
	"errors"
	"slices"
)

// The two ways in which a key is refused. Their texts are part of the API.
var (
	ErrMissingKey = errors.New("missing x-api-key")
	ErrInvalidKey = errors.New("invalid api key")
)

// Grant is what a key allows. It is a value; a later change of the key makes a new grant.
type Grant struct {
	KeyID  string   // safe to log; never the key itself
	Voices []string // empty means every voice
}

// Allows reports whether the grant covers voice.
func (g Grant) Allows(voice string) bool {
	return len(g.Voices) == 0 || slices.Contains(g.Voices, voice)
}

// Keyring knows the keys. It is safe for concurrent use.
type Keyring interface {
	// Grant returns what key allows, or ErrInvalidKey. It is called on every request and must not block on a network.
	Grant(ctx context.Context, key string) (Grant, error)
}
