// Package dataplane joins the portal to the processes that serve speech: keys go out to them as they change, usage comes in.
//
// In the portal a [Feed] follows the store, and a [Server] hands what it knows to any number of clients over gRPC. In
// a process that serves speech, a [Client] keeps an [access.KeyCache] up to date and takes usage to the portal. Where
// both are one process, [Local] does the same without gRPC.
package dataplane

import (
	"time"

	"github.com/swar-tts/swar/portal/tenant"
	"github.com/swar-tts/swar/runtime/access"
)

// position is how far a reader of a feed has got. Positions mean something within an epoch only, which is one feed in one process.
type position struct {
	epoch    uint64 // 0: nothing was read yet
	sequence uint64 // of the last change
}

// update is what a feed has to say.
type update struct {
	position                // after it
	full     bool           // keys are all there are; otherwise they are changes, oldest first
	stale    bool           // the store is not heard: there may be changes that nobody here knows of
	keys     []access.Entry // of those that ended, only the hash
}

// take makes cache know what u says.
func take(cache *access.KeyCache, u update) {
	switch {
	case u.full:
		cache.Replace(u.keys)
	case len(u.keys) > 0:
		cache.Apply(u.keys)
	}
	if u.stale {
		cache.Away()
	} else {
		cache.Back()
	}
}

// entryOf is what those who check keys have to know of k.
func entryOf(k tenant.Key) access.Entry {
	if k.Revoked() {
		return ended(k.Hash)
	}
	return access.Entry{
		Hash: k.Hash, OrgID: k.OrgID, ProjectID: k.ProjectID, KeyPrefix: k.Prefix, Playground: k.Kind == tenant.Playground,
		Voices: k.Voices, Origin: k.Origin, ExpiresAt: k.ExpiresAt,
	}
}

func ended(h access.Hash) access.Entry { return access.Entry{Hash: h, Revoked: true} }

func expired(e access.Entry, now time.Time) bool {
	return !e.ExpiresAt.IsZero() && !now.Before(e.ExpiresAt)
}
