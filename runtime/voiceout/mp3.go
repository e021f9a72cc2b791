package voiceout

// mp3 makes frames of a constant bit rate, without a header of the whole.
//
// The encoder looks ahead by 576 samples, for which it begins with as much silence: a whole frame of MPEG 2, that is below 32
// kHz. Since no frame needs another one's bits, that frame is left out: speech is heard 24 ms sooner at 24 kHz.
type mp3 struct {
	lame          *lame
	rate, bitrate int
	skipped       bool // the first frame is left out already, or need not be
	fresh         []byte
}

func newMP3(rate, bitrate int) (sink, error) {
	l, err := newLAME(rate, bitrate)
	if err != nil {
		return nil, err
	}
	return &mp3{lame: l, rate: rate, bitrate: bitrate, skipped: mp3Samples(rate) > 576}, nil
}

func (m *mp3) write(dst []byte, samples []int16) ([]byte, error) {
	if m.skipped {
		return m.lame.encode(dst, samples)
	}
	var err error
	m.fresh, err = m.lame.encode(m.fresh, samples)
	return m.skip(dst), err
}

func (m *mp3) close(dst []byte) ([]byte, error) {
	defer m.lame.free()
	if m.skipped {
		return m.lame.flush(dst)
	}
	var err error
	m.fresh, err = m.lame.flush(m.fresh)
	return m.skip(dst), err
}

// skip appends what follows the first frame, once that is there.
func (m *mp3) skip(dst []byte) []byte {
	if len(m.fresh) < 4 {
		return dst
	}
	first := frameBytes(m.rate, m.bitrate, m.fresh)
	if len(m.fresh) < first {
		return dst
	}
	dst = append(dst, m.fresh[first:]...)
	m.skipped, m.fresh = true, nil
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
