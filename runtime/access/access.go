// Package access turns a presented API key into a grant: what its holder may do.
//
// A [Static] keyring is fixed at start-up, a [KeyCache] holds the keys of the portal, a [KeySnapshot] saves them for
// the next process, and a [Guard] before any keyring makes guessing slow.
package access

import (
	"context"
	"errors"
	"net/netip"
	"slices"

	"github.com/swar-tts/swar/runtime/lexicon"
	"github.com/swar-tts/swar/runtime/speech"
)

// Why a request gets no grant. The texts are part of the API.
var (
	ErrMissingKey = errors.New("missing x-api-key")
	// unknown, revoked, expired, or not for this origin: the text is the same
	ErrInvalidKey  = errors.New("invalid api key")
	ErrUnavailable = errors.New("portal unavailable") // the key may be valid, but cannot be checked; try again
)

// Credentials is what a request shows of who it is.
type Credentials struct {
	Key    string
	Origin string     // the header of that name, which browsers send; empty without one
	IP     netip.Addr // of the client; the zero value when it is not known
}

// Grant is what a key allows. It is a value; a later change of the key makes a new grant.
type Grant struct {
	KeyID      string   // safe to log; never the key itself
	KeyPrefix  string   // how people recognise the key
	OrgID      string   // who is billed; empty for static keys, which are not billed
	ProjectID  string   // of OrgID
	Playground bool     // a short-lived key of a browser
	Voices     []string // empty means every voice; shared, not to be changed

	// Disclosure is what is spoken before every text; the server's own where it sets nothing.
	Disclosure speech.Disclosure

	// Lexicon is that of the project; nil where it has no entries.
	Lexicon *lexicon.Lexicon

	// Ended is closed when the key is revoked or expires: what runs on for long must stop then. Nil means never.
	Ended <-chan struct{}
}

// Allows reports whether the grant covers voice.
func (g Grant) Allows(voice string) bool {
	return len(g.Voices) == 0 || slices.Contains(g.Voices, voice)
}

// Keyring knows the keys. It is safe for concurrent use.
type Keyring interface {
	// Grant returns what the key of creds allows, or [ErrInvalidKey] or [ErrUnavailable]. It is called on every request
	// and must not block on a network. It may delay refusals.
	Grant(ctx context.Context, creds Credentials) (Grant, error)
}
