package tenant

import "crypto/rand"

// newID returns prefix and 130 random bits. Identifiers do not tell when they were made: in order of time, all new records of a
// database that is spread by key would go to one place.
func newID(prefix string) string {
	const alphabet = "0123456789abcdefghjkmnpqrstvwxyz" // Douglas Crockford's base 32
	var b [26]byte
	rand.Read(b[:])
	for i := range b {
		b[i] = alphabet[b[i]%32]
	}
	return prefix + string(b[:])
}
