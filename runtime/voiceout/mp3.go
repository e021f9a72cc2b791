package voiceout

import "encoding/binary"

// mp3 makes frames of a constant bit rate. Only where frames are so long that the stream would be more than 80 ms
// longer than what was spoken, at 8 kHz, a frame with a tag comes first.
//
// The encoder looks ahead by 576 samples, for which it begins with as much silence: a whole frame of MPEG 2, that is
// below 32 kHz. Since no frame needs another one's bits, that frame is left out: speech is heard 24 ms sooner at 24
// kHz. At the end it makes more frames than are needed, of which only those are kept that hold what was spoken. An
// end that is quiet may fall into them: then the stream is as long as what was spoken, and not longer by what encoder
// and decoder look ahead.
type mp3 struct {
	lame          *lame
	rate, bitrate int
	skip          int    // frames at the beginning that are left out
	tagged        bool   // a tag has decoders leave out what encoder and decoder look ahead
	fresh         []byte // of the encoder, with half a frame at its end

	frames  int // put out
	samples int // put in
	loud    int // samples until behind the last one that is not quiet
}

// mp3MostExtra is how many milliseconds longer than spoken a stream may be.
const mp3MostExtra = 80

// quiet is the level below which nobody misses a sample: -50 dBFS.
const quiet = 100

func newMP3(rate, bitrate int) (sink, error) {
	l, err := newLAME(rate, bitrate)
	if err != nil {
		return nil, err
	}
	return &mp3{
		lame: l, rate: rate, bitrate: bitrate, skip: 576 / mp3Samples(rate),
		tagged: (mp3Lag(rate)+mp3Samples(rate))*1000 > mp3MostExtra*rate,
	}, nil
}

func (m *mp3) write(dst []byte, samples []int16) (_ []byte, err error) {
	for i, s := range samples {
		if s > quiet || s < -quiet {
			m.loud = m.samples + i + 1
		}
	}
	m.samples += len(samples)
	m.fresh, err = m.lame.encode(m.fresh, samples)
	return m.put(dst, -1), err
}

func (m *mp3) close(dst []byte) (_ []byte, err error) {
	defer m.lame.free()
	m.fresh, err = m.lame.flush(m.fresh)
	each := mp3Samples(m.rate)
	needed := m.samples
	switch {
	case m.tagged:
		needed += mp3Lag(m.rate)
	case m.loud > 0:
		needed = max(needed, m.loud+mp3Lag(m.rate))
	}
	return m.put(dst, max(1, (needed+each-1)/each)), err
}

// put appends the whole frames that there are, until there are most in all; -1: all.
func (m *mp3) put(dst []byte, most int) []byte {
	rest := m.fresh
	for len(rest) >= 4 && m.frames != most {
		size := frameBytes(m.rate, m.bitrate, rest)
		if size > len(rest) {
			break
		}
		if m.skip > 0 {
			m.skip--
		} else {
			if m.frames == 0 && m.tagged {
				dst = appendMP3Tag(dst, rest[:size], mp3Lag(m.rate)-mp3DecoderDelay)
			}
			dst = append(dst, rest[:size]...)
			m.frames++
		}
		rest = rest[size:]
	}
	m.fresh = m.fresh[:copy(m.fresh, rest)]
	return dst
}

// appendMP3Tag appends a frame of silence that is like one of the stream, with the tag Info in it. It names no number
// of frames, which a stream does not know, and 4 GB of data, without which ffmpeg takes the tag for audio. Decoders
// that know the tag leave out this frame, delay and what they delay themselves.
func appendMP3Tag(dst, like []byte, delay int) []byte {
	const (
		sideInfo  = 9 // bytes, of one channel of MPEG 2
		hasBytes  = 2 // the flag
		toDelay   = 21
		delayBits = 12 // and as many of padding
	)
	at := len(dst)
	dst = append(dst, like[:4]...)
	dst = append(dst, make([]byte, sideInfo)...)
	dst = append(dst, "Info\x00\x00\x00"...)
	dst = append(dst, hasBytes)
	dst = binary.BigEndian.AppendUint32(dst, 0xFFFF_FFFF)
	name := len(dst)
	dst = append(append(dst, "LAME"...), LAMEVersion()...)
	dst = append(dst, make([]byte, at+len(like)-len(dst))...)
	dst[name+toDelay], dst[name+toDelay+1] = byte(delay>>(delayBits-8)), byte(delay<<(16-delayBits))
	return dst
}

// frameBytes is the length of a frame, whose header says whether it has one byte more.
func frameBytes(rate, bitrate int, header []byte) int {
	return mp3Samples(rate)/8*bitrate/rate + int(header[2]>>1&1)
}

// mp3Samples is the length of a frame of MPEG 1, and below 32 kHz of MPEG 2 and 2.5.
func mp3Samples(rate int) int {
	if rate >= 32_000 {
		return 1152
	}
	return 576
}

// mp3Lag is how many samples after its place a sound is heard: what encoder and decoder look ahead, less what is left
// out.
func mp3Lag(rate int) int { return 576 + mp3DecoderDelay - 576/mp3Samples(rate)*mp3Samples(rate) }

// mp3DecoderDelay is what every decoder looks ahead, in samples.
const mp3DecoderDelay = 529
