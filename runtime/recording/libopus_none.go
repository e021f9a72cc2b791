//go:build !cgo || noopus

package recording

// libopus stands for the decoder of the C library, which this program was built without.
type libopus struct{}

func newLibopus(int) (*libopus, error) {
	return nil, otherKind("this program was built without libopus")
}

func (*libopus) decode([]float32, []byte) (frames int, err error) { return 0, nil }

func (*libopus) free() {}
