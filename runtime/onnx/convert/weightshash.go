package convert

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"maps"
	"math"
	"slices"
)

// hashedWeights takes the hash of weights that lie in no file, as they are read.
type hashedWeights struct {
	Weights
	sums map[string][sha256.Size]byte // by name
}

// Floats implements [Weights].
func (w *hashedWeights) Floats(name string, shape ...int) ([]float32, error) {
	values, err := w.Weights.Floats(name, shape...)
	if _, known := w.sums[name]; err != nil || known { // the flow's weights are read for two graphs
		return values, err
	}
	sum := sha256.New()
	sum.Write(fmt.Appendf(nil, "%d\n", len(values)))
	var block []byte
	for part := range slices.Chunk(values, 4096) {
		block = block[:0]
		for _, v := range part {
			block = binary.LittleEndian.AppendUint32(block, math.Float32bits(v))
		}
		sum.Write(block)
	}
	w.sums[name] = [sha256.Size]byte(sum.Sum(nil))
	return values, nil
}

// sum returns the SHA-256 of a line for each weight, in the order of their names: its name, and the SHA-256 of how
// many values it has and of these, in little-endian float32. So it does not depend on the order in which graphs read
// their weights.
func (w *hashedWeights) sum() string {
	all := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(w.sums)) {
		all.Write(fmt.Appendf(nil, "%s %x\n", name, w.sums[name]))
	}
	return hex.EncodeToString(all.Sum(nil))
}
