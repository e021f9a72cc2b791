package usage

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"slices"
)

var errCells = errors.New("usage shard: the cells are damaged")

// cellReader reads encoded cells one after another. What it reads may be damaged: that is an error, never a panic,
// and never takes more memory than a few times what there is to read. A cellReader that is opened again uses its
// memory again.
type cellReader struct {
	reader
	names  []string
	left   int       // cells
	before [5]uint64 // the names of the cell before
	first  bool      // there is none
}

// open begins to read b. It takes names from known and adds missing ones, because most names are in every shard.
func (r *cellReader) open(b []byte, known map[string]string) error {
	*r = cellReader{names: r.names[:0], first: true}
	if len(b) == 0 {
		return nil
	}
	if b[0] != cellsVersion {
		return fmt.Errorf("usage shard: cells of version %d; this program reads version %d", b[0], cellsVersion)
	}
	r.b = b[1:]
	for i := range r.count(1) {
		text := r.bytes(r.count(1))
		name, ok := known[string(text)]
		if !ok {
			name = string(text)
			known[name] = name
		}
		if i > 0 && name <= r.names[i-1] {
			r.fail()
		}
		if r.broken {
			return errCells
		}
		r.names = append(r.names, name)
	}
	r.left = r.count(16)
	return nil
}

// next reads all of a cell but its two sketches, TTFA and queue, which the caller must read or skip before it calls
// next again. It returns false after the last cell; then close reports whether the data was valid.
func (r *cellReader) next(c *cell) bool {
	if r.left == 0 || r.broken {
		return false
	}
	r.left--
	var at [5]uint64
	for i := range at {
		if at[i] = r.uvarint(); at[i] >= uint64(len(r.names)) {
			r.fail()
			return false
		}
	}
	if !r.first && slices.Compare(at[:4], r.before[:4]) <= 0 { // names are sorted, so that places compare as they do
		r.fail()
		return false
	}
	r.before, r.first = at, false
	c.project, c.key, c.voice, c.endpoint, c.prefix = r.names[at[0]], r.names[at[1]], r.names[at[2]], r.names[at[3]],
		r.names[at[4]]
	for _, n := range [...]*int64{&c.requests, &c.errors, &c.cancelled, &c.frames, &c.billed, &c.chars, &c.synthUS} {
		*n = r.varint()
	}
	return !r.broken
}

// skipSketch skips a sketch and checks only that it ends.
func (r *reader) skipSketch() {
	r.uvarint()
	for numbers := 2 * r.count(2); numbers > 0; {
		rest := r.rest()
		if numbers >= 8 && len(rest) >= 8 { // at most eight numbers end within eight bytes
			numbers -= bits.OnesCount64(^binary.LittleEndian.Uint64(rest) & 0x8080808080808080)
			r.pos += 8
			continue
		}
		if len(rest) == 0 {
			r.fail()
			return
		}
		if rest[0] < 0x80 {
			numbers--
		}
		r.pos++
	}
}

// close returns an error if what was read is not encoded cells from end to end.
func (r *cellReader) close() error {
	if r.broken || r.left != 0 || len(r.rest()) != 0 {
		return errCells
	}
	return nil
}

// reader reads numbers that may be damaged. After the first fault it returns zeros.
//
// It counts where it is instead of cutting b: a slice that is stored anew for each number costs a write barrier while
// garbage is collected, which was a third of the time of a report.
type reader struct {
	b      []byte
	pos    int
	broken bool
}

func (r *reader) fail() { *r = reader{broken: true} }

func (r *reader) rest() []byte { return r.b[r.pos:] }

func (r *reader) uvarint() uint64 {
	if r.pos < len(r.b) && r.b[r.pos] < 0x80 { // most are
		v := r.b[r.pos]
		r.pos++
		return uint64(v)
	}
	return r.longUvarint()
}

func (r *reader) longUvarint() uint64 {
	v, n := binary.Uvarint(r.rest())
	if n <= 0 || n > 1 && r.b[r.pos+n-1] == 0 { // a number has one shortest form
		r.fail()
		return 0
	}
	r.pos += n
	return v
}

func (r *reader) varint() int64 {
	u := r.uvarint()
	return int64(u>>1) ^ -int64(u&1)
}

// count reads the number of things that follow, each of at least size bytes. More than can follow is a fault.
func (r *reader) count(size int) int {
	n := r.uvarint()
	if n > uint64(len(r.rest())/size) {
		r.fail()
		return 0
	}
	return int(n)
}

func (r *reader) bytes(n int) []byte {
	b := r.rest()[:n]
	r.pos += n
	return b
}
