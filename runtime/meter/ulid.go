package meter

import (
	"crypto/rand"
	"encoding/binary"
	"time"

	"github.com/swar-tts/swar/runtime/ident"
)

// newEventID returns evt_ and a ULID: 48 bits of milliseconds and 80 random bits, so that ids sort by time and never
// meet.
func newEventID(t time.Time) string {
	var b [20]byte // 128 bits are 26 characters of five bits with two leading zero bits; here 32 of them do
	binary.BigEndian.PutUint64(b[2:], uint64(t.UnixMilli()))
	_, _ = rand.Read(b[10:]) // never fails
	return "evt_" + ident.Encode(b[:])[6:]
}

// newSource returns the name of a new source.
func newSource() string { return ident.New("src_") }
