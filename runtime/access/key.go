package access

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"strings"
	"unsafe"

	"github.com/swar-tts/swar/runtime/ident"
)

// A key is a prefix, 32 random characters (190 bits) and a checksum of 6 characters over both, all of them in
// [0-9A-Za-z]. The prefix lets scanners find leaked keys, underscores let a double click select all of it, and the
// checksum tells a typing error or junk from a key without a look-up. The scheme is the one that GitHub described for
// its tokens in 2021.
const (
	LivePrefix       = "swar_live_" // of keys that are valid until they are revoked
	PlaygroundPrefix = "swar_play_" // of short-lived keys for browsers

	// Pattern is a regular expression that finds keys, for secret scanners.
	Pattern = `swar_(live|play)_[0-9A-Za-z]{38}`
)

const (
	randomChars = 32
	checkChars  = 6 // enough for 32 bits
	hintChars   = 6
	keyLen      = len(LivePrefix) + randomChars + checkChars

	base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
)

// Hash is the SHA-256 of a key. It is what is stored of a key, and enough to recognise one. Keys are random, so that
// a slow hash would only make requests slow.
type Hash [sha256.Size]byte

// New makes a key with LivePrefix or PlaygroundPrefix. Nothing but the caller holds the key: it is shown once and
// kept nowhere.
func New(prefix string) (key string, h Hash) {
	b := make([]byte, 0, keyLen)
	b = append(b, prefix...)
	b = appendRandom(b, randomChars)
	b = appendChecksum(b, crc32.ChecksumIEEE(b))
	return string(b), sha256.Sum256(b)
}

// Parse reports whether key is well formed, and its prefix. It looks nothing up and allocates nothing, so that junk
// costs nothing.
func Parse(key string) (prefix string, ok bool) {
	switch {
	case len(key) != keyLen:
		return "", false
	case strings.HasPrefix(key, LivePrefix):
		prefix = LivePrefix
	case strings.HasPrefix(key, PlaygroundPrefix):
		prefix = PlaygroundPrefix
	default:
		return "", false
	}
	for i := len(prefix); i < keyLen; i++ {
		if !isBase62(key[i]) {
			return "", false
		}
	}
	body, want := key[:keyLen-checkChars], key[keyLen-checkChars:]
	var buf [checkChars]byte
	if string(appendChecksum(buf[:0], crc32.ChecksumIEEE(bytesOf(body)))) != want {
		return "", false
	}
	return prefix, true
}

// HashOf returns the hash of a presented key, well formed or not.
func HashOf(key string) Hash { return sha256.Sum256(bytesOf(key)) }

// KeyHint returns the visible part of a well-formed key. That is its prefix and 6 of its random characters; the other
// 26 are 154 bits. swar_live_abcdef… → swar_live_abcdef. The 26 characters that stay hidden are 154 bits.
func KeyHint(key string) string { return key[:len(LivePrefix)+hintChars] }

// KeyID returns the identifier of the key: "key_" and the first 130 bits of the hash. So one record is found alike by
// the key that a client presents and by the identifier that a person clicks on. It is safe to log.
func (h Hash) KeyID() string { return ident.Of("key_", h) }

// String returns the hash in hexadecimal.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// MarshalText writes the hash in hexadecimal, so that it is a string in JSON.
func (h Hash) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// UnmarshalText reads what MarshalText writes.
func (h *Hash) UnmarshalText(text []byte) error {
	if len(text) != 2*len(h) {
		return fmt.Errorf("a hash of a key has %d characters, want %d", len(text), 2*len(h))
	}
	if _, err := hex.Decode(h[:], text); err != nil {
		return fmt.Errorf("reading the hash of a key: %w", err)
	}
	return nil
}

// appendRandom appends n characters, each of the 62 equally likely.
func appendRandom(b []byte, n int) []byte {
	var pool [64]byte
	for {
		rand.Read(pool[:]) // never fails: since Go 1.24 the program ends instead
		for _, r := range pool {
			if r >= 4*62 { // the rest of 256 would make the first characters likelier
				continue
			}
			if b = append(b, base62[r%62]); n == 1 {
				return b
			}
			n--
		}
	}
}

// bytesOf returns the bytes of s, to be read only. A conversion would copy the key to the heap for every request,
// because the compiler does not know that hashing only reads.
func bytesOf(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }

// appendChecksum appends the CRC-32 of IEEE 802.3.
func appendChecksum(b []byte, sum uint32) []byte {
	var digits [checkChars]byte
	for i := checkChars - 1; i >= 0; i-- {
		digits[i] = base62[sum%62]
		sum /= 62
	}
	return append(b, digits[:]...)
}

func isBase62(c byte) bool {
	isDigit := '0' <= c && c <= '9'
	letter := c | 0x20 // in lower case
	return isDigit || 'a' <= letter && letter <= 'z'
}
