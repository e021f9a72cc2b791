// Package dataplane is the portal's side of its connection with front ends. It sends keys as they change and receives
// usage.
//
// A [Feed] follows the store, and a [Server] sends its state to any number of clients over gRPC; runtime/dataplane has
// the client, which keeps an [access.KeyCache] up to date and ships usage to the portal. If both are one process,
// [Local] does the same without gRPC. All front ends acknowledge what they have applied, so that the portal can answer
// a key change when it holds everywhere.
package dataplane

import (
	"time"

	"github.com/swar-tts/swar/portal/tenant"
	"github.com/swar-tts/swar/runtime/access"
)

// entryOf returns the entry of k for front ends.
func entryOf(k tenant.Key) access.Entry {
	if k.Revoked() {
		return ended(k.Hash)
	}
	return access.Entry{
		Hash: k.Hash, OrgID: k.OrgID, ProjectID: k.ProjectID, KeyPrefix: k.Prefix,
		Playground: k.Kind == tenant.Playground,
		Voices:     k.Voices, Origin: k.Origin, ExpiresAt: k.ExpiresAt,
		Disclosure: k.Disclosure.Or(k.OrgDisclosure),
	}
}

func ended(h access.Hash) access.Entry { return access.Entry{Hash: h, Revoked: true} }

// expired reports whether nobody needs to know of e any more.
func expired(e access.Entry, now time.Time) bool {
	k := tenant.Key{ExpiresAt: e.ExpiresAt}
	if e.Playground {
		k.Kind = tenant.Playground
	}
	return k.Expired(now)
}
