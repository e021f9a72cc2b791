// Package cursor names places in lists that are read page by page, from the newest entry to the oldest.
package cursor

import (
	"cmp"
	"encoding/base64"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/swar-tts/swar/runtime/ident"
)

// Cursor is the place of one entry. A list goes by At and then ID, both descending. The zero value is the newest end.
type Cursor struct {
	At time.Time // in UTC, whole microseconds
	ID string
}

// ErrInvalid refuses a text that no [Cursor.String] has made. Its words are part of the API.
var ErrInvalid = errors.New("cursor: not valid")

// IsZero reports whether c is the newest end.
func (c Cursor) IsZero() bool { return c.ID == "" }

// Compare orders cursors from the oldest entry to the newest. It is less than 0 if c is older than other: a list has
// c behind it.
func (c Cursor) Compare(other Cursor) int {
	return cmp.Or(c.At.Compare(other.At), cmp.Compare(c.ID, other.ID))
}

// String writes c so that a client can hand it back, who need not know what it holds. The zero value is the empty
// text.
func (c Cursor) String() string {
	if c.IsZero() {
		return ""
	}
	return base64.RawURLEncoding.EncodeToString([]byte(strconv.FormatInt(c.At.UnixMicro(), 10) + " " + c.ID))
}

// Parse is the inverse of String. It fails with ErrInvalid.
func Parse(s string) (Cursor, error) {
	if s == "" {
		return Cursor{}, nil
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(s)
	if err != nil {
		return Cursor{}, ErrInvalid
	}
	at, id, _ := strings.Cut(string(b), " ")
	us, err := strconv.ParseInt(at, 10, 64)
	if err != nil || !ident.Valid(id) {
		return Cursor{}, ErrInvalid
	}
	return Cursor{At: time.UnixMicro(us).UTC(), ID: id}, nil
}
