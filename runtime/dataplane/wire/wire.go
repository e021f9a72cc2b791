// Package wire is the protocol of the dataplane. It is generated from dataplane.proto, with conversions to the types
// of both sides.
package wire

import "github.com/swar-tts/swar/runtime/access"

//go:generate ../../../hack/protoc.sh dataplane.proto

// Position is how far a reader of the keys has got. Positions mean something within an epoch only, which is one feed
// in one process.
type Position struct {
	Epoch    uint64 // 0: nothing was read yet
	Sequence uint64 // of the last change
}

// Update is what the portal has to say about keys, and about lexicons.
type Update struct {
	Position                // after it
	Full     bool           // Keys are all there are; otherwise they are changes, oldest first
	Stale    bool           // the store is unreachable: there may be changes that the portal lacks
	Keys     []access.Entry // of those that ended, only the hash

	Lexicons    []access.ProjectLexicon // that are new or have changed
	AllLexicons bool                    // Lexicons are all there are
}

// ApplyTo makes cache know what u says.
func (u Update) ApplyTo(cache *access.KeyCache) {
	if u.AllLexicons || len(u.Lexicons) > 0 { // before the keys, so that none is good without its lexicon
		cache.SetLexicons(u.Lexicons, u.AllLexicons)
	}
	switch {
	case u.Full:
		cache.Replace(u.Keys)
	case len(u.Keys) > 0:
		cache.Apply(u.Keys)
	}
	if u.Stale {
		cache.PortalLost()
	} else {
		cache.PortalBack()
	}
}
