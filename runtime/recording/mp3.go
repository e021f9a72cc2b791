package recording

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"

	"github.com/hajimehoshi/go-mp3"
)

// isMP3 reports whether head begins with a frame of layer III.
func isMP3(head []byte) bool {
	if len(head) < 4 || head[0] != 0xff || head[1]&0xe0 != 0xe0 {
		return false
	}
	version, layer := head[1]>>3&3, head[1]>>1&3
	bitrate, rate := head[2]>>4, head[2]>>2&3
	return version != 1 && layer == 1 && bitrate != 0xf && rate != 3
}

// decodeMP3 reads frame by frame. What the decoder does not know, such as rates below 16 kHz, is left to others.
func decodeMP3(s *sound, r io.Reader) error {
	in := bufio.NewReaderSize(r, 1<<16)
	if err := skipID3(in); err != nil {
		return err
	}
	head, err := in.Peek(4)
	if err != nil || !isMP3(head) {
		return otherKind("another layer or none")
	}
	mono := head[3]>>6 == 3
	d, err := mp3.NewDecoder(struct{ io.Reader }{in}) // without the means to seek: it would read all of it twice
	if err != nil {
		return otherKind("a kind that is not read here (" + err.Error() + ")")
	}
	// The decoder gives two channels always, of a mono file the same twice.
	if err := s.begin(d.SampleRate(), 2, 16); err != nil {
		return err
	}
	if mono {
		defer func() { s.channels = 1 }() // also when the decoder panics
	}
	raw, samples := make([]byte, 1<<14), make([]float32, 1<<13)
	for {
		n, err := io.ReadAtLeast(d, raw, 4) // no more: what was decoded before a panic would be lost
		n -= n % 4
		for i := range n / 2 {
			samples[i] = float32(int16(binary.LittleEndian.Uint16(raw[2*i:]))) / (1 << 15)
		}
		if err := s.add(samples[:n/2]); err != nil {
			return err
		}
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			break
		}
		if err != nil {
			if s.frames == 0 {
				return otherKind("a kind that is not read here (" + err.Error() + ")")
			}
			s.broken = "a damaged frame"
			break
		}
	}
	return nil
}

// skipID3 discards the tags at the beginning.
func skipID3(in *bufio.Reader) error {
	for {
		head, _ := in.Peek(10) // fewer are no tag
		if id3Bytes(head) == 0 || string(head[:3]) != "ID3" {
			return nil
		}
		if _, err := in.Discard(int(id3Bytes(head))); err != nil {
			return errors.New("it is damaged: it ends within its tags")
		}
	}
}
