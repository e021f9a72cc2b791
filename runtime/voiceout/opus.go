package voiceout

import (
	"bytes"
	"fmt"

	"github.com/swar-tts/swar/runtime/encode"
)

const hasOpus = encode.HasOpus

// opus makes an Ogg/Opus stream. Each page holds 80 ms, whatever comes at a time: less would cost more in headers,
// and more would wait longer.
type opus struct {
	encoder encode.Encoder
	pages   bytes.Buffer
	fill    int
	page    [EngineRate * 80 / 1000]int16
}

func newOpus(bitrate int, tags []string) (sink, error) {
	o := &opus{}
	var err error
	o.encoder, err = encode.New("opus", &o.pages, encode.Options{OpusBitrate: bitrate, Tags: tags})
	if err != nil {
		return nil, fmt.Errorf("voiceout: %w", err)
	}
	return o, nil
}

func (o *opus) write(dst []byte, samples []int16) ([]byte, error) {
	for len(samples) > 0 {
		n := copy(o.page[o.fill:], samples)
		samples, o.fill = samples[n:], o.fill+n
		if o.fill < len(o.page) {
			break
		}
		o.fill = 0
		if err := o.encoder.Write(o.page[:]); err != nil {
			return dst, err
		}
	}
	return o.take(dst), nil
}

func (o *opus) close(dst []byte) ([]byte, error) {
	err := o.encoder.Write(o.page[:o.fill])
	if closing := o.encoder.Close(); err == nil {
		err = closing
	}
	return o.take(dst), err
}

func (o *opus) take(dst []byte) []byte {
	dst = append(dst, o.pages.Bytes()...)
	o.pages.Reset()
	return dst
}
