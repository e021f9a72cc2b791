package signin

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"strings"

	"github.com/swar-tts/swar/runtime/ident"
)

// secret is what only the holder knows. hash is what is stored of it: secrets of 256 bits need no slow hash.
type (
	secret [32]byte
	hash   [32]byte
)

// String hides the secret when a value that holds it is printed.
func (secret) String() string { return "(secret)" }

// MarshalText writes a hash as it is stored.
func (h hash) MarshalText() ([]byte, error) { return []byte(encode(h[:])), nil }

// UnmarshalText is the inverse of MarshalText.
func (h *hash) UnmarshalText(text []byte) error {
	if !decode(string(text), h[:]) {
		return errors.New("not a hash")
	}
	return nil
}

func newSecret() (s secret) {
	rand.Read(s[:]) // never fails
	return s
}

func (s secret) hash() hash { return sha256.Sum256(s[:]) }

// derive makes of s another secret, the same for the same salt.
func (s secret) derive(salt []byte) (d secret) {
	mac := hmac.New(sha256.New, s[:])
	mac.Write(salt)
	mac.Sum(d[:0])
	return d
}

// encode writes bytes for addresses and cookies.
func encode(parts ...[]byte) string {
	var all []byte
	for _, p := range parts {
		all = append(all, p...)
	}
	return base64.RawURLEncoding.EncodeToString(all)
}

// decode is the inverse. It reports whether text is exactly what encode makes of parts as long as these, which it
// fills.
func decode(text string, parts ...[]byte) bool {
	n := 0
	for _, p := range parts {
		n += len(p)
	}
	if len(text) != base64.RawURLEncoding.EncodedLen(n) {
		return false
	}
	all, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil {
		return false
	}
	for _, p := range parts {
		all = all[copy(p, all):]
	}
	return true
}

// The letters of codes: 32 that are not taken for one another. There is no 0 and O, and no 1 and I.
const (
	codeLetters = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"
	codeLength  = 8
)

func newCode() string {
	var random [codeLength]byte
	rand.Read(random[:])
	for i, b := range random {
		random[i] = codeLetters[b%32]
	}
	return string(random[:])
}

// showCode writes a code as people read it best.
func showCode(code string) string { return code[:4] + "-" + code[4:] }

// cleanCode normalises a typed code: "2ahb e6zn" → "2AHBE6ZN". It returns "" for anything else.
func cleanCode(s string) string {
	code := strings.ToUpper(strings.NewReplacer("-", "", " ", "", "\u00a0", "", "\u2011", "", "\u2013",
		"").Replace(strings.TrimSpace(s)))
	if len(code) != codeLength || strings.Trim(code, codeLetters) != "" {
		return ""
	}
	return code
}

// subject is the name of an address in tokens: always the same for the same address, also after the store was lost.
func subject(email string) string {
	return ident.Of("usr_", sha256.Sum256([]byte("swar subject "+email)))
}
