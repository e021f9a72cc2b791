//go:build cgo && !nomp3

package voiceout

/*
#cgo pkg-config: lame
#include <lame.h>
*/
import "C"

import (
	"errors"
	"fmt"
	"runtime"
	"unsafe"
)

const hasLAME = true

// LAMEVersion returns the version of the linked libmp3lame, "" where there is none.
func LAMEVersion() string { return C.GoString(C.get_lame_short_version()) }

// lame is one encoder of the C library. Its memory is freed by free, or when it is forgotten.
type lame struct {
	c       *C.lame_global_flags
	cleanup runtime.Cleanup
}

func newLAME(rate, bitrate int) (*lame, error) {
	c := C.lame_init()
	if c == nil {
		return nil, errors.New("mp3: libmp3lame has no memory for an encoder")
	}
	l := &lame{c: c}
	l.cleanup = runtime.AddCleanup(l, func(c *C.lame_global_flags) { C.lame_close(c) }, c)
	for _, code := range []C.int{
		C.lame_set_num_channels(c, 1), C.lame_set_mode(c, C.MONO),
		C.lame_set_in_samplerate(c, C.int(rate)), C.lame_set_out_samplerate(c, C.int(rate)),
		C.lame_set_VBR(c, C.vbr_off), C.lame_set_brate(c, C.int(bitrate/1000)), C.lame_set_quality(c, 7),
		C.lame_set_disable_reservoir(c, 1), // each frame can be decoded alone
		C.lame_set_bWriteVbrTag(c, 0),      // a stream has no header that is written at the end
		C.lame_init_params(c),
	} {
		if code < 0 {
			l.free()
			return nil, fmt.Errorf("mp3: libmp3lame does not encode %d bit/s at %d Hz (code %d)", bitrate, rate, code)
		}
	}
	C.lame_set_write_id3tag_automatic(c, 0)
	return l, nil
}

// encode appends what samples give to dst.
func (l *lame) encode(dst []byte, samples []int16) ([]byte, error) {
	if len(samples) == 0 {
		return dst, nil
	}
	// lame.h: 1.25 bytes for each sample and 7200, in the worst case.
	all, room := grow(dst, len(samples)*5/4+7200)
	pcm := (*C.short)(unsafe.Pointer(&samples[0]))
	n := C.lame_encode_buffer(l.c, pcm, pcm, C.int(len(samples)), (*C.uchar)(unsafe.Pointer(&room[0])),
		C.int(len(room)))
	runtime.KeepAlive(l) // its cleanup must not free what C still uses
	if n < 0 {
		return dst, fmt.Errorf("mp3: libmp3lame failed with code %d", n)
	}
	return all[:len(dst)+int(n)], nil
}

// flush appends the last frames.
func (l *lame) flush(dst []byte) ([]byte, error) {
	all, room := grow(dst, 7200)
	n := C.lame_encode_flush(l.c, (*C.uchar)(unsafe.Pointer(&room[0])), C.int(len(room)))
	runtime.KeepAlive(l)
	if n < 0 {
		return dst, fmt.Errorf("mp3: libmp3lame failed with code %d at the end", n)
	}
	return all[:len(dst)+int(n)], nil
}

// free may be called more than once. No other method may be called after it.
func (l *lame) free() {
	if l.c != nil {
		l.cleanup.Stop()
		C.lame_close(l.c)
		l.c = nil
	}
}
