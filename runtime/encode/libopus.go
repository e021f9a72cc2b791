//go:build !noopus

package encode

/*
#cgo pkg-config: opus
#include <opus.h>

static int swar_set_bitrate(OpusEncoder *e, opus_int32 v) { return opus_encoder_ctl(e, OPUS_SET_BITRATE(v)); }
static int swar_set_complexity(OpusEncoder *e, opus_int32 v) { return opus_encoder_ctl(e, OPUS_SET_COMPLEXITY(v)); }
static int swar_get_lookahead(OpusEncoder *e, opus_int32 *v) { return opus_encoder_ctl(e, OPUS_GET_LOOKAHEAD(v)); }
*/
import "C"

import (
	"fmt"
	"runtime"
	"unsafe"

	"github.com/swar-tts/swar/runtime/speech"
)

// HasOpus reports whether this program was built with libopus.
const HasOpus = true

// OpusVersion returns the name and version of the linked libopus.
func OpusVersion() string { return C.GoString(C.opus_get_version_string()) }

// libopus is one encoder of the C library. Its memory is freed by free, or when it is forgotten.
type libopus struct {
	c       *C.OpusEncoder
	cleanup runtime.Cleanup
}

func newLibopus(bitrate, complexity int) (*libopus, error) {
	var code C.int
	c := C.opus_encoder_create(speech.SampleRate, 1, C.OPUS_APPLICATION_AUDIO, &code)
	if code != C.OPUS_OK {
		return nil, fmt.Errorf("opus: creating the encoder: %s", opusError(code))
	}
	l := &libopus{c: c}
	l.cleanup = runtime.AddCleanup(l, func(c *C.OpusEncoder) { C.opus_encoder_destroy(c) }, c)
	if code := C.swar_set_bitrate(c, C.opus_int32(bitrate)); code != C.OPUS_OK {
		l.free()
		return nil, fmt.Errorf("opus: bit rate %d: %s", bitrate, opusError(code))
	}
	if code := C.swar_set_complexity(c, C.opus_int32(complexity)); code != C.OPUS_OK {
		l.free()
		return nil, fmt.Errorf("opus: complexity %d: %s", complexity, opusError(code))
	}
	return l, nil
}

// lookahead returns by how many samples at 24 kHz the decoder's output lags behind the input.
func (l *libopus) lookahead() (int, error) {
	var n C.opus_int32
	if code := C.swar_get_lookahead(l.c, &n); code != C.OPUS_OK {
		return 0, fmt.Errorf("opus: asking for the look-ahead: %s", opusError(code))
	}
	return int(n), nil
}

// encode appends the packet of one packetSamples block to dst.
func (l *libopus) encode(dst []byte, pcm *[packetSamples]int16) ([]byte, error) {
	n := len(dst)
	dst = append(dst, make([]byte, maxPacket)...)
	size := C.opus_encode(l.c, (*C.opus_int16)(unsafe.Pointer(&pcm[0])), packetSamples,
		(*C.uchar)(unsafe.Pointer(&dst[n])), maxPacket)
	runtime.KeepAlive(l) // its cleanup must not free what C still uses
	if size < 0 {
		return dst[:n], fmt.Errorf("opus: encoding: %s", opusError(size))
	}
	return dst[:n+int(size)], nil
}

// free may be called more than once. No other method may be called after it.
func (l *libopus) free() {
	if l.c != nil {
		l.cleanup.Stop()
		C.opus_encoder_destroy(l.c)
		l.c = nil
	}
}

func opusError(code C.int) string { return C.GoString(C.opus_strerror(code)) }
