package meter

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
)

// A folder holds these files. Segments are called after their first event, such as 00000000000000000001.wal.
const (
	lockName     = "lock"
	sourceName   = "source"   // the source, its base, and the last event that may be known from another source
	positionName = "position" // the last event that the sink has
	segmentEnd   = ".wal"
	damagedEnd   = ".damaged" // invalid bytes of a segment
)

// A segment is its magic and then records: the length of the event in four bytes, the CRC-32C of length and event in
// four bytes, both little-endian, and the event.
const (
	segmentMagic = "swaruse1"
	recordHead   = 8
	maxRecord    = 64 << 10
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func segmentName(first int64) string { return fmt.Sprintf("%020d%s", first, segmentEnd) }

func appendRecord(b []byte, e *Event) []byte {
	at := len(b)
	b = append(b, make([]byte, recordHead)...)
	b, _ = e.AppendBinary(b)
	seal(b[at:])
	return b
}

// seal writes length and checksum of a record.
func seal(b []byte) {
	binary.LittleEndian.PutUint32(b, uint32(len(b)-recordHead))
	binary.LittleEndian.PutUint32(b[4:], crc32.Update(crc32.Checksum(b[:4], castagnoli), castagnoli, b[recordHead:]))
}

var (
	errShort   = errors.New("the record is longer than that")
	errDamaged = errors.New("no record")
)

// nextRecord reads the record at the beginning of b and returns its length. It returns errShort if b may be the
// beginning of one, and errDamaged if it is not; any other error is a record that this program cannot read.
func nextRecord(b []byte, e *Event) (int, error) {
	if len(b) < recordHead {
		return 0, errShort
	}
	n := binary.LittleEndian.Uint32(b)
	if n == 0 || n > maxRecord {
		return 0, errDamaged
	}
	if len(b) < recordHead+int(n) {
		return 0, errShort
	}
	body := b[recordHead : recordHead+n]
	if crc32.Update(crc32.Checksum(b[:4], castagnoli), castagnoli, body) != binary.LittleEndian.Uint32(b[4:]) {
		return 0, errDamaged
	}
	return recordHead + int(n), e.UnmarshalBinary(body)
}

// findRecord returns where in b, from at on, the next record of an event behind seq begins; len(b) if there is none.
func findRecord(b []byte, at int, seq int64) int {
	var e Event
	for ; at+recordHead < len(b); at++ {
		if b[at+recordHead] != eventVersion { // spares most of the checksums
			continue
		}
		if _, err := nextRecord(b[at:], &e); err == nil && e.Seq > seq {
			return at
		}
	}
	return len(b)
}
