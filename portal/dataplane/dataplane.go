// Package dataplane is the portal's side of its connection with front ends. It sends keys as they change and receives
// usage.
//
// A [Feed] follows the store, and a [Server] hands what it knows to any number of clients over gRPC; runtime/dataplane
// has the client, which keeps an [access.KeyCache] up to date and takes usage to the portal. Where both are one
// process, [Local] does the same without gRPC. All who check keys acknowledge what they have taken in, so that the
// portal can answer about a key when the answer is true everywhere.
package dataplane

import (
	"time"

	"github.com/swar-tts/swar/portal/tenant"
	"github.com/swar-tts/swar/runtime/access"
)

// entryOf is what those who check keys have to know of k.
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

func expired(e access.Entry, now time.Time) bool {
	return !e.ExpiresAt.IsZero() && !now.Before(e.ExpiresAt)
}
