package access

import (
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
)

// Static is a keyring that is fixed at start-up. It holds hashes, so that a memory dump shows no key.
type Static struct {
	grants map[Hash]Grant
}

// NewStatic reads entries of the form KEY or KEY=voice,voice. The voices must be among known, where any are. An entry
// that is empty, repeated, holds white space or names an unknown voice is an error that does not print the key.
func NewStatic(entries, known []string) (*Static, error) {
	s := &Static{grants: make(map[Hash]Grant, len(entries))}
	for i, entry := range entries {
		key, list, restricted := strings.Cut(entry, "=")
		if key == "" || strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }) {
			return nil, fmt.Errorf("api key %d: want KEY or KEY=voice,voice in visible ASCII without spaces", i+1)
		}
		sum := HashOf(key)
		if _, ok := s.grants[sum]; ok {
			return nil, fmt.Errorf("api key %d: given twice", i+1)
		}
		g := Grant{KeyID: "static_" + hex.EncodeToString(sum[:4])}
		if restricted {
			for voice := range strings.SplitSeq(list, ",") {
				voice = strings.TrimSpace(voice)
				if len(known) > 0 && !slices.Contains(known, voice) {
					return nil, fmt.Errorf("api key %d: unknown voice %q; known voices: %s", i+1, voice,
						strings.Join(known, ", "))
				}
				g.Voices = append(g.Voices, voice)
			}
		}
		s.grants[sum] = g
	}
	return s, nil
}

// Grant implements [Keyring]. It finds the key by its hash, so that the time reveals nothing about a partly right
// guess.
func (s *Static) Grant(_ context.Context, creds Credentials) (Grant, error) {
	g, ok := s.grants[HashOf(creds.Key)]
	if !ok {
		return Grant{}, ErrInvalidKey
	}
	return g, nil
}
