//go:build !cgo || noopus

package encode

import "errors"

// HasOpus reports whether this program was built with libopus.
const HasOpus = false

// OpusVersion returns "": this program was built without libopus.
func OpusVersion() string { return "" }

var errNoOpus = errors.New("opus: this program was built without libopus; build it with cgo and without the tag noopus")

// libopus stands for the encoder of the C library.
type libopus struct{}

func newLibopus(int, int) (*libopus, error) { return nil, errNoOpus }

func (*libopus) lookahead() (int, error) { return 0, errNoOpus }

func (*libopus) encode(dst []byte, _ *[packetSamples]int16) ([]byte, error) { return dst, errNoOpus }

func (*libopus) free() {}
