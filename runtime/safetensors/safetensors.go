// Package safetensors reads and writes files of named tensors in the safetensors format.
package safetensors

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
)

// The limits of a safetensors header. The format allows 100 MB; the largest checkpoint of this family needs 30 kB.
const (
	maxHeader = 8 << 20
	maxRank   = 8
)

// Tensors is an open safetensors file. Its header is checked when it is opened, so that every tensor lies within the
// file and no two share bytes; values are read when they are asked for. It is safe for concurrent use.
type Tensors struct {
	r       io.ReaderAt
	body    int64 // offset of the first value
	entries map[string]entry
}

type entry struct {
	dtype      string
	shape      []int
	begin, end int64 // relative to the body
}

// dtypes holds the bytes of one value of each type that the format knows.
var dtypes = map[string]int64{
	"BOOL": 1, "U8": 1, "I8": 1, "F8_E4M3": 1, "F8_E5M2": 1, "U16": 2, "I16": 2, "F16": 2, "BF16": 2,
	"U32": 4, "I32": 4, "F32": 4, "U64": 8, "I64": 8, "F64": 8,
}

// Open opens the safetensors file at path. The caller closes what it returns.
func Open(path string) (*Tensors, io.Closer, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil {
		var t *Tensors
		if t, err = Read(f, info.Size()); err == nil {
			return t, f, nil
		}
	}
	return nil, nil, errors.Join(fmt.Errorf("%s: %w", path, err), f.Close())
}

// Read reads the header of a safetensors file of the given size. r must stay readable as long as the result is used.
func Read(r io.ReaderAt, size int64) (*Tensors, error) {
	var length [8]byte
	if size < int64(len(length)) {
		return nil, fmt.Errorf("safetensors: %d bytes are too few for the length of a header", size)
	}
	if _, err := r.ReadAt(length[:], 0); err != nil {
		return nil, fmt.Errorf("safetensors: reading the length of the header: %w", err)
	}
	n := binary.LittleEndian.Uint64(length[:])
	if n > maxHeader {
		return nil, fmt.Errorf("safetensors: a header of %d bytes is larger than %d: this is not a safetensors file, or it is damaged", n, maxHeader)
	}
	t := &Tensors{r: r, body: int64(len(length)) + int64(n)}
	if t.body > size {
		return nil, fmt.Errorf("safetensors: truncated: a header of %d bytes in a file of %d", n, size)
	}
	header := make([]byte, n)
	if _, err := r.ReadAt(header, int64(len(length))); err != nil {
		return nil, fmt.Errorf("safetensors: reading the header: %w", err)
	}
	var err error
	if t.entries, err = readHeader(header); err != nil {
		return nil, fmt.Errorf("safetensors: header: %w", err)
	}
	if err := checkLayout(t.entries, size-t.body); err != nil {
		return nil, fmt.Errorf("safetensors: %w", err)
	}
	return t, nil
}

// Names returns the names of all tensors, sorted.
func (t *Tensors) Names() []string { return slices.Sorted(maps.Keys(t.entries)) }

// Shape returns the dimensions of a tensor. The caller must not change them.
func (t *Tensors) Shape(name string) ([]int, bool) {
	e, ok := t.entries[name]
	return e.shape, ok
}

// Floats reads a tensor of 32 or 16 bit floating point numbers as float32. It must have the given shape, where -1
// stands for any size.
func (t *Tensors) Floats(name string, shape ...int) ([]float32, error) {
	e, raw, err := t.read(name, shape)
	if err != nil {
		return nil, err
	}
	var of func(i int) float32
	switch e.dtype {
	case "F32":
		of = func(i int) float32 { return math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:])) }
	case "BF16":
		of = func(i int) float32 { return math.Float32frombits(uint32(binary.LittleEndian.Uint16(raw[2*i:])) << 16) }
	case "F16":
		of = func(i int) float32 { return float16(binary.LittleEndian.Uint16(raw[2*i:])) }
	default:
		return nil, fmt.Errorf("tensor %s is %s, want F32, F16 or BF16", name, e.dtype)
	}
	values := make([]float32, int64(len(raw))/dtypes[e.dtype])
	for i := range values {
		values[i] = of(i)
	}
	return values, nil
}

// Ints reads a tensor of 64 bit integers. It must have the given shape, where -1 stands for any size.
func (t *Tensors) Ints(name string, shape ...int) ([]int64, error) {
	e, raw, err := t.read(name, shape)
	if err != nil {
		return nil, err
	}
	if e.dtype != "I64" {
		return nil, fmt.Errorf("tensor %s is %s, want I64", name, e.dtype)
	}
	values := make([]int64, len(raw)/8)
	for i := range values {
		values[i] = int64(binary.LittleEndian.Uint64(raw[8*i:]))
	}
	return values, nil
}

// Int8s reads a tensor of signed 8 bit integers. It must have the given shape, where -1 stands for any size.
func (t *Tensors) Int8s(name string, shape ...int) ([]int8, error) {
	e, raw, err := t.read(name, shape)
	if err != nil {
		return nil, err
	}
	if e.dtype != "I8" {
		return nil, fmt.Errorf("tensor %s is %s, want I8", name, e.dtype)
	}
	values := make([]int8, len(raw))
	for i, v := range raw {
		values[i] = int8(v)
	}
	return values, nil
}

func (t *Tensors) read(name string, shape []int) (entry, []byte, error) {
	e, ok := t.entries[name]
	if !ok {
		return e, nil, fmt.Errorf("tensor %s is missing", name)
	}
	if !slices.EqualFunc(e.shape, shape, func(got, want int) bool { return got == want || want == -1 }) {
		return e, nil, fmt.Errorf("tensor %s has shape %v, want %v", name, e.shape, shape)
	}
	raw := make([]byte, e.end-e.begin)
	if len(raw) == 0 {
		return e, raw, nil
	}
	if _, err := t.r.ReadAt(raw, t.body+e.begin); err != nil {
		return e, nil, fmt.Errorf("reading tensor %s: %w", name, err)
	}
	return e, raw, nil
}

// readHeader decodes token by token because a map would silently keep the last of two equal names.
func readHeader(header []byte) (map[string]entry, error) {
	if !bytes.HasPrefix(header, []byte("{")) {
		return nil, errors.New("does not begin with {")
	}
	d := json.NewDecoder(bytes.NewReader(header))
	d.DisallowUnknownFields()
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	entries := map[string]entry{}
	described := false
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return nil, err
		}
		name, ok := token.(string)
		if !ok {
			return nil, fmt.Errorf("%v where a name should be", token)
		}
		if name == "__metadata__" {
			if described {
				return nil, errors.New("duplicate __metadata__")
			}
			described = true
			if err := d.Decode(&map[string]string{}); err != nil {
				return nil, fmt.Errorf("__metadata__: %w", err)
			}
			continue
		}
		if _, twice := entries[name]; twice {
			return nil, fmt.Errorf("duplicate tensor %s", name)
		}
		var raw struct {
			Dtype   string  `json:"dtype"`
			Shape   []int64 `json:"shape"`
			Offsets []int64 `json:"data_offsets"`
		}
		if err := d.Decode(&raw); err != nil {
			return nil, fmt.Errorf("tensor %s: %w", name, err)
		}
		if entries[name], err = checkEntry(raw.Dtype, raw.Shape, raw.Offsets); err != nil {
			return nil, fmt.Errorf("tensor %s: %w", name, err)
		}
	}
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	if rest := strings.TrimRight(string(header[d.InputOffset():]), " "); rest != "" {
		return nil, errors.New("something other than spaces follows its closing brace")
	}
	return entries, nil
}

func checkEntry(dtype string, shape, offsets []int64) (entry, error) {
	bytes, ok := dtypes[dtype]
	if !ok {
		return entry{}, fmt.Errorf("unknown dtype %q", dtype)
	}
	if len(shape) > maxRank {
		return entry{}, fmt.Errorf("%d dimensions, more than %d", len(shape), maxRank)
	}
	if len(offsets) != 2 || offsets[0] < 0 || offsets[1] < offsets[0] {
		return entry{}, fmt.Errorf("data_offsets %v are not a begin and an end", offsets)
	}
	e := entry{dtype: dtype, shape: make([]int, len(shape)), begin: offsets[0], end: offsets[1]}
	for i, n := range shape {
		if n < 0 || n > math.MaxInt32 {
			return entry{}, fmt.Errorf("dimension %d in shape %v", n, shape)
		}
		if n > 0 && bytes > math.MaxInt64/n {
			return entry{}, fmt.Errorf("shape %v overflows", shape)
		}
		e.shape[i] = int(n)
		bytes *= n
	}
	if e.end-e.begin != bytes {
		return entry{},
			fmt.Errorf("%d bytes at data_offsets %v, but %s %v has %d", e.end-e.begin, offsets, dtype, shape, bytes)
	}
	return e, nil
}

// checkLayout checks that the tensors fill the body without overlap, hole or rest, as the format demands.
func checkLayout(entries map[string]entry, body int64) error {
	names := slices.SortedFunc(maps.Keys(entries), func(a, b string) int {
		x, y := entries[a], entries[b]
		if x.begin != y.begin {
			return int(min(max(x.begin-y.begin, -1), 1))
		}
		if x.end != y.end {
			return int(min(max(x.end-y.end, -1), 1)) // an empty tensor before the one that begins where it stands
		}
		return strings.Compare(a, b)
	})
	at := int64(0)
	for _, name := range names {
		e := entries[name]
		switch {
		case e.end > body:
			return fmt.Errorf("truncated: tensor %s ends at byte %d of %d", name, e.end, body)
		case e.begin < at:
			return fmt.Errorf("tensor %s begins at byte %d, inside the one before it", name, e.begin)
		case e.begin > at:
			return fmt.Errorf("%d bytes before tensor %s belong to none", e.begin-at, name)
		}
		at = e.end
	}
	if at < body {
		return fmt.Errorf("%d bytes after the last tensor", body-at)
	}
	return nil
}

// float16 widens an IEEE 754 half.
func float16(h uint16) float32 {
	sign, exponent, fraction := uint32(h>>15)<<31, uint32(h>>10)&0x1f, uint32(h)&0x3ff
	switch exponent {
	case 0:
		v := float32(fraction) * 0x1p-24
		return math.Float32frombits(math.Float32bits(v) | sign)
	case 0x1f:
		return math.Float32frombits(sign | 0xff<<23 | fraction<<13)
	default:
		return math.Float32frombits(sign | (exponent+127-15)<<23 | fraction<<13)
	}
}

// A Tensor is a named array of float32, int64 or int8, in C order. At most one of Floats, Ints and Int8s is set.
type Tensor struct {
	Name   string
	Shape  []int
	Floats []float32
	Ints   []int64
	Int8s  []int8
}

// Write writes a safetensors file with the tensors in the given order.
func Write(w io.Writer, tensors ...Tensor) error {
	type described struct {
		Dtype   string   `json:"dtype"`
		Shape   []int    `json:"shape"`
		Offsets [2]int64 `json:"data_offsets"`
	}
	header, at := map[string]described{}, int64(0)
	for _, t := range tensors {
		d := described{Dtype: "F32", Shape: append([]int{}, t.Shape...)}
		count, bytes := len(t.Floats), int64(4)
		switch {
		case t.Ints != nil:
			d.Dtype, count, bytes = "I64", len(t.Ints), 8
		case t.Int8s != nil:
			d.Dtype, count, bytes = "I8", len(t.Int8s), 1
		}
		if size(t.Shape) != count {
			return fmt.Errorf("tensor %s: %d values for shape %v", t.Name, count, t.Shape)
		}
		if _, twice := header[t.Name]; twice {
			return fmt.Errorf("duplicate tensor %s", t.Name)
		}
		d.Offsets = [2]int64{at, at + bytes*int64(count)}
		at = d.Offsets[1]
		header[t.Name] = d
	}
	text, err := json.Marshal(header)
	if err != nil {
		return err
	}
	text = append(text, bytes.Repeat([]byte(" "), (8-len(text)%8)%8)...) // values begin at a multiple of eight bytes
	if err := binary.Write(w, binary.LittleEndian, uint64(len(text))); err != nil {
		return err
	}
	if _, err := w.Write(text); err != nil {
		return err
	}
	for _, t := range tensors {
		var values any = t.Floats
		switch {
		case t.Ints != nil:
			values = t.Ints
		case t.Int8s != nil:
			values = t.Int8s
		}
		if err := binary.Write(w, binary.LittleEndian, values); err != nil {
			return err
		}
	}
	return nil
}

func size(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}
