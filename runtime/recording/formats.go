package recording

import (
	"bytes"
	"io"
)

const headBytes = 64 // enough to know a format by

// otherKind is the error of a decoder of ours before the first sample, for a file that ffmpeg may be able to read.
type otherKind string

func (e otherKind) Error() string { return string(e) }

// recognise returns the name of the format that begins with head, "" where it is unknown, and what decodes it, nil
// where nothing of ours does. at returns four bytes of another place.
func recognise(head []byte, at func(int64) []byte) (name string, own func(*sound, io.Reader) error) {
	is := func(offset int, magic string) bool {
		return len(head) >= offset && bytes.HasPrefix(head[offset:], []byte(magic))
	}
	switch {
	case (is(0, "RIFF") || is(0, "RF64") || is(0, "BW64")) && is(8, "WAVE"):
		return "WAV", decodeWAV
	case is(0, "fLaC"), is(0, "ID3") && bytes.Equal(at(id3Bytes(head)), []byte("fLaC")):
		return "FLAC", decodeFLAC
	case is(0, "OggS"):
		switch {
		case is(28, "OpusHead"):
			return "Ogg Opus", decodeOpus
		case is(28, "\x01vorbis"):
			return "Ogg Vorbis", nil
		}
		return "Ogg", nil
	case is(0, "ID3"), isMP3(head):
		return "MP3", decodeMP3
	case is(4, "ftyp"):
		return "MP4 (m4a, 3gp)", nil
	case is(0, "\x1a\x45\xdf\xa3"):
		return "Matroska (webm)", nil
	case is(0, "#!AMR"):
		return "AMR", nil
	case is(0, "FORM") && is(8, "AIF"):
		return "AIFF", nil
	case is(0, "caff"):
		return "CAF", nil
	case is(0, "\x30\x26\xb2\x75\x8e\x66\xcf\x11"):
		return "ASF (wma)", nil
	}
	return "", nil
}

// id3Bytes is the length of the ID3v2 tag at the beginning, whose size has seven bits a byte.
func id3Bytes(head []byte) int64 {
	if len(head) < 10 {
		return 0
	}
	size := int64(0)
	for _, b := range head[6:10] {
		size = size<<7 | int64(b&0x7f)
	}
	return 10 + size
}
