package tenant

import (
	"time"

	"github.com/swar-tts/swar/runtime/access"
)

// KeyKind tells what a key is for.
type KeyKind string

// The kinds of keys.
const (
	Live       KeyKind = "live"       // for servers; valid until revoked
	Playground KeyKind = "playground" // for one browser; valid for two hours
)

// Key is an API key, without the key itself, which nobody keeps.
type Key struct {
	ID         string // of Hash: [access.Hash.KeyID]
	OrgID      string
	ProjectID  string
	Kind       KeyKind
	Name       string
	Prefix     string // how people recognise it, such as swar_live_7Fq2kD
	Hash       access.Hash
	Voices     []string // what it may speak with; empty means every voice
	Origin     string   // the only web origin that may use it; empty means any
	CreatedAt  time.Time
	CreatedBy  string    // e-mail
	RevokedAt  time.Time // zero while not revoked
	LastUsedAt time.Time // zero until used; late by up to a minute
	ExpiresAt  time.Time // zero for keys that do not expire
}

// Revoked reports whether the key was revoked. A key that is not may still have expired.
func (k Key) Revoked() bool { return !k.RevokedAt.IsZero() }

// Expired reports whether the key's time is over at now.
func (k Key) Expired(now time.Time) bool { return !k.ExpiresAt.IsZero() && !now.Before(k.ExpiresAt) }
