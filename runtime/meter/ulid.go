package meter

import (
	"crypto/rand"
	"encoding/base32"
	"encoding/binary"
	"time"
)

// crockford is base 32 without letters that look like digits, in lower case as in all ids of the API.
var crockford = base32.NewEncoding("0123456789abcdefghjkmnpqrstvwxyz").WithPadding(base32.NoPadding)

// newEventID returns evt_ and a ULID: 48 bits of milliseconds and 80 random bits, so that ids sort by time and never meet.
func newEventID(t time.Time) string {
	var b [20]byte // 128 bits are 26 characters of five bits when two zero bits stand in front; here 32 of them do
	binary.BigEndian.PutUint64(b[2:], uint64(t.UnixMilli()))
	_, _ = rand.Read(b[10:]) // never fails
	var text [32]byte
	crockford.Encode(text[:], b[:])
	return "evt_" + string(text[6:])
}

// newSource returns the name of a new source: src_ and 130 random bits.
func newSource() string {
	var b [20]byte
	_, _ = rand.Read(b[:])
	return "src_" + crockford.EncodeToString(b[:])[:26]
}
