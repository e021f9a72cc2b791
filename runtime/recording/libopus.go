//go:build !noopus

package recording

/*
#cgo pkg-config: opus
#include <opus.h>
*/
import "C"

import (
	"errors"
	"fmt"
	"unsafe"
)

// libopus is one decoder of the C library.
type libopus struct {
	c        *C.OpusDecoder
	channels int
}

func newLibopus(channels int) (*libopus, error) {
	var code C.int
	c := C.opus_decoder_create(opusRate, C.int(channels), &code)
	if code != C.OPUS_OK {
		return nil, fmt.Errorf("creating the decoder of Opus: %s", C.GoString(C.opus_strerror(code)))
	}
	return &libopus{c, channels}, nil
}

// decode writes the sound of a packet, opusLongest at most, and returns how many frames that is.
func (l *libopus) decode(dst []float32, packet []byte) (frames int, err error) {
	if len(packet) == 0 || len(packet) >= maxPacket {
		return 0, errors.New("a packet that is not Opus")
	}
	n := C.opus_decode_float(l.c, (*C.uchar)(unsafe.Pointer(&packet[0])), C.opus_int32(len(packet)),
		(*C.float)(unsafe.Pointer(&dst[0])), C.int(len(dst)/l.channels), 0)
	if n < 0 {
		return 0, fmt.Errorf("a packet of Opus: %s", C.GoString(C.opus_strerror(n)))
	}
	return int(n), nil
}

// free must be called once; no other method may be called after it.
func (l *libopus) free() { C.opus_decoder_destroy(l.c) }
