package voiceout

// mp3 makes frames of a constant bit rate, without a header of the whole.
//
// The encoder looks ahead by 576 samples, for which it begins with as much silence: a whole frame of MPEG 2, that is
// below 32 kHz. Since no frame needs another one's bits, that frame is left out: speech is heard 24 ms sooner at 24
// kHz. At the end it makes more frames than are needed, of which only those are kept that hold what was spoken. An
// end that is quiet may fall into them: then the stream is as long as what was spoken, and not longer by what encoder
// and decoder look ahead, which is 66 ms at 8 kHz.
type mp3 struct {
	lame          *lame
	rate, bitrate int
	skip          int    // frames at the beginning that are left out
	fresh         []byte // of the encoder, with half a frame at its end

	frames  int // put out
	samples int // put in
	loud    int // samples until behind the last one that is not quiet
}

// quiet is the level below which nobody misses a sample: -50 dBFS.
const quiet = 100

func newMP3(rate, bitrate int) (sink, error) {
	l, err := newLAME(rate, bitrate)
	if err != nil {
		return nil, err
	}
	return &mp3{lame: l, rate: rate, bitrate: bitrate, skip: 576 / mp3Samples(rate)}, nil
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
	if m.loud > 0 {
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
			dst = append(dst, rest[:size]...)
			m.frames++
		}
		rest = rest[size:]
	}
	m.fresh = m.fresh[:copy(m.fresh, rest)]
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
func mp3Lag(rate int) int { return 576 + 529 - 576/mp3Samples(rate)*mp3Samples(rate) }
