// Package npy reads NumPy's array files: the golden numbers that tests compare with.
package npy

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
)

// Array is an array in C order. One of Floats and Ints is set, by the type of the file.
type Array struct {
	Shape  []int
	Floats []float32
	Ints   []int64
}

// Read reads the file at path.
func Read(path string) (Array, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return Array{}, err
	}
	a, err := Parse(data)
	if err != nil {
		return Array{}, fmt.Errorf("%s: %w", path, err)
	}
	return a, nil
}

// Parse reads a version 1 file of little-endian float32 or int64 in C order, and refuses everything else.
func Parse(data []byte) (Array, error) {
	const prefix = "\x93NUMPY\x01\x00"
	if !bytes.HasPrefix(data, []byte(prefix)) || len(data) < len(prefix)+2 {
		return Array{}, errors.New("npy: not a version 1 file")
	}
	n := int(binary.LittleEndian.Uint16(data[len(prefix):]))
	data = data[len(prefix)+2:]
	if len(data) < n {
		return Array{}, errors.New("npy: truncated header")
	}
	header, body := string(data[:n]), data[n:]
	if !strings.Contains(header, "'fortran_order': False") {
		return Array{}, errors.New("npy: not in C order")
	}
	_, rest, _ := strings.Cut(header, "'shape': (")
	dims, _, ok := strings.Cut(rest, ")")
	if !ok {
		return Array{}, errors.New("npy: no shape")
	}
	var a Array
	count := 1
	for dim := range strings.SplitSeq(dims, ",") {
		if dim = strings.TrimSpace(dim); dim == "" {
			continue
		}
		d, err := strconv.Atoi(dim)
		if err != nil || d < 0 || d > 0 && count > math.MaxInt32/d {
			return Array{}, fmt.Errorf("npy: shape (%s)", dims)
		}
		a.Shape = append(a.Shape, d)
		count *= d
	}
	switch {
	case strings.Contains(header, "'descr': '<f4'") && len(body) == 4*count:
		a.Floats = make([]float32, count)
		for i := range a.Floats {
			a.Floats[i] = math.Float32frombits(binary.LittleEndian.Uint32(body[4*i:]))
		}
	case strings.Contains(header, "'descr': '<i8'") && len(body) == 8*count:
		a.Ints = make([]int64, count)
		for i := range a.Ints {
			a.Ints[i] = int64(binary.LittleEndian.Uint64(body[8*i:]))
		}
	default:
		return Array{}, fmt.Errorf("npy: %d bytes are not float32 or int64 of shape %v", len(body), a.Shape)
	}
	return a, nil
}
