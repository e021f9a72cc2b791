//go:build !cgo || nomp3

package voiceout

import "errors"

const hasLAME = false

// LAMEVersion returns "": this program was built without libmp3lame.
func LAMEVersion() string { return "" }

var errNoLAME = errors.New("mp3: this program was built without libmp3lame; build it with cgo and without the tag nomp3")

// lame stands for the encoder of the C library.
type lame struct{}

func newLAME(int, int) (*lame, error) { return nil, errNoLAME }

func (*lame) encode(dst []byte, _ []int16) ([]byte, error) { return dst, errNoLAME }

func (*lame) flush(dst []byte) ([]byte, error) { return dst, errNoLAME }

func (*lame) free() {}
