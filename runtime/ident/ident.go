// Package ident makes identifiers. They have a prefix for the kind and 26 characters of Crockford's base 32, in lower
// case.
package ident

import (
	"crypto/rand"
	"encoding/base32"
	"strings"
)

const (
	alphabet = "0123456789abcdefghjkmnpqrstvwxyz" // without the letters that look like digits or like one another
	length   = 26                                 // 130 bits
)

var encoding = base32.NewEncoding(alphabet).WithPadding(base32.NoPadding)

// New returns prefix and 130 random bits. Identifiers do not tell when they were made: in order of time, all new
// records of a database that is spread by key would go to one place.
func New(prefix string) string {
	var random [length]byte
	rand.Read(random[:]) // never fails: since Go 1.24 the program ends instead
	id := make([]byte, 0, 32)
	id = append(id, prefix...)
	for _, b := range random {
		id = append(id, alphabet[b%32])
	}
	return string(id)
}

// Of returns prefix and the first 130 bits of a hash: always the same for the same thing.
func Of(prefix string, hash [32]byte) string { return prefix + Encode(hash[:])[:length] }

// maxLength is how long an identifier of ours can be, with room for some to come.
const maxLength = 64

// Valid reports whether s can be an identifier, so that databases see nothing else. It has 1 to 64 lower-case
// letters, digits and underscores.
func Valid(s string) bool {
	return s != "" && len(s) <= maxLength && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789_") == ""
}

// Encode writes bytes, a character for each five bits. The order of texts of one length is that of their bytes.
func Encode(b []byte) string { return encoding.EncodeToString(b) }
