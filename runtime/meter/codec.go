package meter

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"
)

// The layout of an encoded event. Numbers are varints as in encoding/binary, signed ones zigzag; strings are a
// uvarint length and bytes. It is binary because an event is written while its client waits for the end. Measured
// against JSON: 0.16 µs instead of 2.1, 256 bytes instead of 600, and no allocation.
//
//	byte     version, 1
//	uvarint  Seq
//	byte     flags: 1 final, 2 playground, 4 prefill cached
//	varint   Start in microseconds since 1970, then At less Start
//	strings  ID, Date, OrgID, ProjectID, KeyID, KeyPrefix, RequestID, Endpoint, Voice, Format, Status, Error
//	varints  Frames, Billed, Chars, Chunks, TTFAus, Queueus, Wallus, Synthus, Seed
const eventVersion = 1

const (
	flagFinal = 1 << iota
	flagPlayground
	flagCached
)

var errEvent = errors.New("usage event: the bytes are damaged")

// AppendBinary appends the encoded event to b. It implements [encoding.BinaryAppender] and never fails.
func (e *Event) AppendBinary(b []byte) ([]byte, error) {
	b = append(b, eventVersion)
	b = binary.AppendUvarint(b, uint64(e.Seq))
	var flags byte
	if e.Kind == Final {
		flags |= flagFinal
	}
	if e.Playground {
		flags |= flagPlayground
	}
	if e.PrefillCached {
		flags |= flagCached
	}
	b = append(b, flags)
	start := e.Start.UnixMicro()
	b = binary.AppendVarint(b, start)
	b = binary.AppendVarint(b, e.At.UnixMicro()-start)
	for _, s := range [...]string{
		e.ID, e.Date, e.OrgID, e.ProjectID, e.KeyID, e.KeyPrefix, e.RequestID, e.Endpoint, e.Voice, e.Format,
		string(e.Status), e.Error,
	} {
		b = binary.AppendUvarint(b, uint64(len(s)))
		b = append(b, s...)
	}
	for _, n := range [...]int64{
		e.Frames, e.Billed, int64(e.Chars), int64(e.Chunks), e.TTFAus, e.Queueus, e.Wallus, e.Synthus, e.Seed,
	} {
		b = binary.AppendVarint(b, n)
	}
	return b, nil
}

// MarshalBinary returns the encoded event. It implements [encoding.BinaryMarshaler] and never fails.
func (e *Event) MarshalBinary() ([]byte, error) { return e.AppendBinary(nil) }

// UnmarshalBinary reads what AppendBinary wrote. It keeps nothing of b. It implements [encoding.BinaryUnmarshaler].
func (e *Event) UnmarshalBinary(b []byte) error {
	if len(b) == 0 {
		return errEvent
	}
	if b[0] != eventVersion {
		return fmt.Errorf("usage event: version %d; this program reads version %d", b[0], eventVersion)
	}
	r := reader{b: b[1:]}
	*e = Event{Seq: int64(r.uvarint())}
	flags := r.byte()
	if flags&flagFinal != 0 {
		e.Kind = Final
	}
	e.Playground = flags&flagPlayground != 0
	e.PrefillCached = flags&flagCached != 0
	start := r.varint()
	e.Start = time.UnixMicro(start).UTC()
	e.At = time.UnixMicro(start + r.varint()).UTC()
	for _, s := range [...]*string{
		&e.ID, &e.Date, &e.OrgID, &e.ProjectID, &e.KeyID, &e.KeyPrefix, &e.RequestID, &e.Endpoint, &e.Voice,
		&e.Format, (*string)(&e.Status), &e.Error,
	} {
		*s = r.string()
	}
	var chars, chunks int64
	for _, n := range [...]*int64{&e.Frames, &e.Billed, &chars, &chunks, &e.TTFAus, &e.Queueus, &e.Wallus, &e.Synthus,
		&e.Seed} {
		*n = r.varint()
	}
	e.Chars, e.Chunks = int(chars), int(chunks)
	if r.broken || len(r.b) != 0 {
		return errEvent
	}
	return nil
}

// reader reads what may be damaged. After the first fault it returns zeros.
type reader struct {
	b      []byte
	broken bool
}

func (r *reader) fail() { r.b, r.broken = nil, true }

func (r *reader) byte() byte {
	if len(r.b) == 0 {
		r.fail()
		return 0
	}
	c := r.b[0]
	r.b = r.b[1:]
	return c
}

func (r *reader) uvarint() uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 {
		r.fail()
		return 0
	}
	r.b = r.b[n:]
	return v
}

func (r *reader) varint() int64 {
	u := r.uvarint()
	return int64(u>>1) ^ -int64(u&1)
}

func (r *reader) string() string {
	n := r.uvarint()
	if n > uint64(len(r.b)) {
		r.fail()
		return ""
	}
	s := string(r.b[:n])
	r.b = r.b[n:]
	return s
}
