package recording

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/swar-tts/swar/runtime/internal/ogg"
)

// wavHead is the header of so many bytes of sound.
func wavHead(kind uint16, rate, channels, bits, size int) []byte {
	width := (bits + 7) / 8
	le := binary.LittleEndian
	b := append([]byte("RIFF"), 0, 0, 0, 0)
	b = append(b, "WAVEfmt \x10\x00\x00\x00"...)
	b = le.AppendUint16(b, kind)
	b = le.AppendUint16(b, uint16(channels))
	b = le.AppendUint32(b, uint32(rate))
	b = le.AppendUint32(b, uint32(rate*channels*width))
	b = le.AppendUint16(b, uint16(channels*width))
	b = le.AppendUint16(b, uint16(bits))
	b = append(b, "data"...)
	b = le.AppendUint32(b, uint32(size))
	le.PutUint32(b[4:], uint32(len(b)-8+size))
	return b
}

// wav is a file of 16 bits.
func wav(t testing.TB, rate, channels int, samples []float32) []byte {
	t.Helper()
	b := wavHead(wavPCM, rate, channels, 16, 2*len(samples))
	for _, v := range samples {
		b = binary.LittleEndian.AppendUint16(b, uint16(int16(max(-32768, min(32767, math.Round(float64(v)*32768))))))
	}
	return b
}

// floats is a file of 32 bits floating point at 24 kHz.
func floats(t testing.TB, samples []float32) []byte {
	t.Helper()
	b := wavHead(wavFloat, 24000, 1, 32, 4*len(samples))
	for _, v := range samples {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	return b
}

func TestSamplesOfWAV(t *testing.T) {
	le := binary.LittleEndian
	f32 := func(v float32) []byte { return le.AppendUint32(nil, math.Float32bits(v)) }
	f64 := func(v float64) []byte { return le.AppendUint64(nil, math.Float64bits(v)) }
	for name, tt := range map[string]struct {
		kind uint16
		bits int
		raw  []byte
		want []float32
	}{
		"8 bits":                    {wavPCM, 8, []byte{0, 64, 128, 192, 255}, []float32{-1, -.5, 0, .5, 127. / 128}},
		"16 bits":                   {wavPCM, 16, []byte{0, 0x80, 0, 0xc0, 0, 0, 0, 0x40, 0xff, 0x7f}, []float32{-1, -.5, 0, .5, 32767. / 32768}},
		"24 bits":                   {wavPCM, 24, []byte{0, 0, 0x80, 0, 0, 0, 0, 0, 0x40, 1, 0, 0}, []float32{-1, 0, .5, 1. / (1 << 23)}},
		"20 bits":                   {wavPCM, 20, []byte{0, 0, 0x80, 0, 0, 0x40}, []float32{-1, .5}},
		"32 bits":                   {wavPCM, 32, []byte{0, 0, 0, 0x80, 0, 0, 0, 0x40, 0, 1, 0, 0}, []float32{-1, .5, 1. / (1 << 23)}},
		"floating point of 32 bits": {wavFloat, 32, slices.Concat(f32(-1.5), f32(.25)), []float32{-1.5, .25}},
		"floating point of 64 bits": {wavFloat, 64, slices.Concat(f64(-1), f64(.1)), []float32{-1, .1}},
		"A-law":                     {wavALaw, 8, []byte{0x55, 0xd5, 0x2a, 0xaa, 0x00}, []float32{-8. / 32768, 8. / 32768, -32256. / 32768, 32256. / 32768, -5504. / 32768}},
		"µ-law":                     {wavMuLaw, 8, []byte{0x00, 0x80, 0x7f, 0xff, 0x0f}, []float32{-32124. / 32768, 32124. / 32768, 0, 0, -16764. / 32768}},
	} {
		r, err := readBytes(t, append(wavHead(tt.kind, 24000, 1, tt.bits, len(tt.raw)), tt.raw...))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !slices.Equal(r.Samples, tt.want) {
			t.Errorf("%s: %v, want %v", name, r.Samples, tt.want)
		}
		if !strings.HasPrefix(r.Format, "WAV, ") {
			t.Errorf("%s is called %s", name, r.Format)
		}
	}
}

func TestContainersOfWAV(t *testing.T) {
	samples := tone(440, .5, 24000, 24000)
	whole := wav(t, 24000, 1, samples)
	body := whole[44:]
	with := func(change func(b []byte) []byte) []byte { return change(slices.Clone(whole)) }
	extensible := slices.Concat(whole[:16], []byte{40, 0, 0, 0, 0xfe, 0xff}, whole[22:36],
		[]byte{22, 0, 16, 0, 4, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0x10, 0, 0x80, 0, 0, 0xaa, 0, 0x38, 0x9b, 0x71}, whole[36:])
	for name, data := range map[string][]byte{
		"plain":                       whole,
		"an extensible format":        extensible,
		"a chunk before":              slices.Concat(whole[:12], []byte("LIST\x03\x00\x00\x00abc\x00"), whole[12:]),
		"a chunk behind":              slices.Concat(whole, []byte("LIST\x03\x00\x00\x00abc\x00")),
		"written to a pipe":           with(func(b []byte) []byte { binary.LittleEndian.PutUint32(b[40:], math.MaxUint32); return b }),
		"written to a pipe by others": with(func(b []byte) []byte { binary.LittleEndian.PutUint32(b[40:], 0); return b }),
		"RF64": with(func(b []byte) []byte {
			copy(b, "RF64")
			binary.LittleEndian.PutUint32(b[40:], math.MaxUint32)
			return b
		}),
		"half a sample behind the last": with(func(b []byte) []byte { binary.LittleEndian.PutUint32(b[40:], uint32(len(body)+1)); return append(b, 0) }),
		"a wrong size of the whole":     with(func(b []byte) []byte { binary.LittleEndian.PutUint32(b[4:], 7); return b }),
	} {
		r, err := readBytes(t, data)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if len(r.Samples) != len(samples) || has(r, Broken) || r.Format != "WAV, 16 bits" {
			t.Errorf("%s: %d samples of %s, %v", name, len(r.Samples), r.Format, r.Findings)
		}
	}
}

func TestHostileWAV(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	sound := make([]byte, 4800)
	for i := range sound {
		sound[i] = byte(i * 7)
	}
	le := binary.LittleEndian
	file := func(change func(b []byte)) []byte {
		b := append(wavHead(wavPCM, 24000, 1, 16, len(sound)), sound...)
		change(b)
		return b
	}
	for name, tt := range map[string]struct {
		data []byte
		want string // "" is read
	}{
		"the least rate":             {file(func(b []byte) { le.PutUint32(b[24:], minRate) }), ""},
		"a rate below":               {file(func(b []byte) { le.PutUint32(b[24:], minRate-1) }), "it has 3999 samples a second: want 4000 to 768000"},
		"no rate":                    {file(func(b []byte) { le.PutUint32(b[24:], 0) }), "it has 0 samples a second"},
		"the greatest rate":          {file(func(b []byte) { le.PutUint32(b[24:], maxRate) }), ""},
		"a rate above":               {file(func(b []byte) { le.PutUint32(b[24:], maxRate+1) }), "768001 samples a second"},
		"the most there is":          {file(func(b []byte) { le.PutUint32(b[24:], math.MaxUint32) }), "4294967295 samples a second"},
		"no channels":                {file(func(b []byte) { le.PutUint16(b[22:], 0) }), "0 channels"},
		"16 channels":                {file(func(b []byte) { le.PutUint16(b[22:], 16); le.PutUint16(b[32:], 32) }), ""},
		"17 channels":                {file(func(b []byte) { le.PutUint16(b[22:], 17); le.PutUint16(b[32:], 34) }), "it has 17 channels: want 1 to 16"},
		"255 channels":               {file(func(b []byte) { le.PutUint16(b[22:], 255); le.PutUint16(b[32:], 510) }), "it has 255 channels"},
		"a rate without divisors":    {file(func(b []byte) { le.PutUint32(b[24:], 767_999) }), "too little in common"},
		"a size of frames that lies": {file(func(b []byte) { le.PutUint16(b[32:], 4) }), "1 channels of 16 bits in 4 bytes"},
		"no size of frames":          {file(func(b []byte) { le.PutUint16(b[32:], 0) }), "install ffmpeg"},
		"no bits":                    {file(func(b []byte) { le.PutUint16(b[34:], 0) }), "1 channels of 0 bits in 2 bytes"},
		"ADPCM":                      {file(func(b []byte) { b[20] = 2 }), "it is WAV (samples of 16 bits and kind 2): install ffmpeg"},
		"a format too short":         {file(func(b []byte) { b[16] = 15 }), "its format takes 15 bytes"},
		"no sound":                   {file(func(b []byte) { copy(b[36:], "dada") }), "it ends before its sound begins"},
		"a chunk that never ends":    {file(func(b []byte) { copy(b[36:], "dada"); le.PutUint32(b[40:], math.MaxUint32-3) }), "it ends before its sound begins"},
		"sound before its format":    {append([]byte("RIFF\x00\x00\x00\x00WAVEdata\x02\x00\x00\x00"), 0, 0), "its sound comes before its format"},
		"a header alone":             {wavHead(wavPCM, 24000, 1, 16, 4800), "it holds no sound"},
		"not a number":               {floats(t, []float32{0, float32(math.NaN())}), "sample 1 is not a finite number"},
		"infinite":                   {floats(t, []float32{float32(math.Inf(-1))}), "sample 0 is not a finite number"},
		"16 times full scale":        {floats(t, []float32{16, -16}), ""},
		"integers in floating point": {floats(t, []float32{0, 16.5}), "sample 1 is 16.5: full scale is 1"},
	} {
		_, err := readBytes(t, tt.data)
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
}

func TestAllRatesAreRead(t *testing.T) {
	for _, rate := range []int{8000, 11025, 12345, 16000, 22050, 24000, 32000, 44100, 48000, 96000} {
		r, err := readBytes(t, wav(t, rate, 1, tone(440, .5, rate, rate)))
		if err != nil {
			t.Errorf("%d Hz: %v", rate, err)
			continue
		}
		level, rest := fit(r.Samples[6000:18000], 440)
		if len(r.Samples) != 24000 || math.Abs(level-.5) > .001 || rest > .0005 {
			t.Errorf("%d Hz: %d samples, 440 Hz at %.4f, and beside it %.5f", rate, len(r.Samples), level, rest)
		}
	}
}

func FuzzWAV(f *testing.F) {
	f.Add(wav(f, 8000, 2, tone(440, .5, 8000, 100)))
	f.Add(floats(f, tone(440, .5, 24000, 50)))
	f.Add(append(wavHead(wavMuLaw, 8000, 1, 8, 100), make([]byte, 50)...))
	f.Fuzz(fuzz)
}

func FuzzOgg(f *testing.F) {
	for _, name := range []string{"mono16.opus", "stereo48.opus"} {
		b := shortOpus(read1(f, name))
		if r, err := readBytes(f, b); err != nil || r.Seconds > .1 || len(b) > 1500 {
			f.Fatalf("a seed of %d bytes: %v", len(b), err)
		}
		f.Add(b)
		f.Add(b[:len(b)-50])
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		// A page with a wrong checksum is not looked into: give it the right one.
		data = slices.Clone(data)
		for at := 0; at+ogg.HeaderSize <= len(data) && string(data[at:at+4]) == "OggS"; {
			n := ogg.HeaderSize + int(data[at+26])
			if at+n > len(data) {
				break
			}
			for _, v := range data[at+ogg.HeaderSize : at+n] {
				n += int(v)
			}
			if at+n > len(data) {
				break
			}
			checksum(data, at)
			at += n
		}
		fuzz(t, data)
	})
}

// shortOpus is a file of the first three packets of another one: what is larger takes minutes to make smaller.
func shortOpus(b []byte) []byte {
	const packets = 3
	at := pages(b)[2]
	size, body := 0, at+ogg.HeaderSize+int(b[at+26])
	for _, n := range b[at+ogg.HeaderSize:][:packets] {
		size += int(n)
	}
	short := slices.Concat(b[:at+ogg.HeaderSize+packets], b[body:body+size])
	short[at+5], short[at+26] = ogg.Last, packets
	checksum(short, at)
	return short
}

// fuzz reads data and looks whether what comes of it is a recording.
func fuzz(t *testing.T, data []byte) {
	t.Setenv("PATH", "/nowhere")
	path := t.TempDir() + "/x"
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	r, err := Read(t.Context(), path)
	if err != nil {
		if strings.Contains(err.Error(), "its decoder failed") {
			t.Fatal(err)
		}
		return
	}
	if len(r.Samples) == 0 || len(r.Samples) > UsedSeconds*24000 || r.Seconds <= 0 {
		t.Fatal(fmt.Sprint(len(r.Samples), " samples of ", r.Seconds, " s"))
	}
	for i, v := range r.Samples {
		if v-v != 0 {
			t.Fatalf("sample %d is %g", i, v)
		}
	}
}
