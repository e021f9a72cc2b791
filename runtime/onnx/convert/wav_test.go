package convert

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"os"
	"runtime"
	"strings"
	"testing"
)

// riff is a wav file of the given format, samples and size of the samples as the header says it.
func riff(kind, channels uint16, rate uint32, bits uint16, samples []byte, size int) []byte {
	var b bytes.Buffer
	put := func(values ...any) {
		for _, v := range values {
			if s, ok := v.(string); ok {
				b.WriteString(s)
			} else if err := binary.Write(&b, binary.LittleEndian, v); err != nil {
				panic(err)
			}
		}
	}
	frame := channels * bits / 8
	put("RIFF", uint32(36+len(samples)), "WAVE", "fmt ", uint32(16), kind, channels, rate, rate*uint32(frame), frame, bits)
	put("LIST", uint32(3), "abc\x00") // an odd chunk is filled up
	put("data", uint32(size), samples)
	return b.Bytes()
}

func pcm(samples ...float64) (b []byte) {
	for _, v := range samples {
		b = binary.LittleEndian.AppendUint16(b, uint16(int16(math.Round(v*32768))))
	}
	return b
}

func writeWAV(t testing.TB, path string, samples []float64) string {
	t.Helper()
	var b []byte
	for _, v := range samples {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(v)))
	}
	if err := os.WriteFile(path, riff(3, 1, sampleRate, 32, b, len(b)), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestDecodeWAV(t *testing.T) {
	half := binary.LittleEndian.AppendUint32(nil, math.Float32bits(.5))
	for name, data := range map[string][]byte{
		"16 bits":                    riff(1, 1, 24000, 16, pcm(.5), 2),
		"floating point":             riff(3, 1, 24000, 32, half, 4),
		"a length that nobody knows": riff(1, 1, 24000, 16, pcm(.5), math.MaxUint32),
	} {
		got, err := decodeWAV(data)
		if err != nil || len(got) != 1 || got[0] != .5 {
			t.Errorf("%s: %v, %v; want one half", name, got, err)
		}
	}
	nan := binary.LittleEndian.AppendUint32(nil, math.Float32bits(float32(math.NaN())))
	for name, tt := range map[string]struct {
		data []byte
		want string
	}{
		"nothing":          {nil, "ffmpeg"},
		"mp3":              {[]byte("ID3 and so on, and on"), "ffmpeg"},
		"two channels":     {riff(1, 2, 24000, 16, pcm(0, 0), 4), "-ac 1"},
		"another rate":     {riff(1, 1, 48000, 16, pcm(0), 2), "-ar 24000"},
		"24 bits":          {riff(1, 1, 24000, 24, make([]byte, 3), 3), "16 bits"},
		"a cut end":        {riff(1, 1, 24000, 16, pcm(0), 4), "truncated: data has 2 bytes of 4"},
		"no samples":       {riff(1, 1, 24000, 16, nil, 0)[:48], "ffmpeg"},
		"not a number":     {riff(3, 1, 24000, 32, nan, 4), "sample 0"},
		"data before form": {append([]byte("RIFF\x00\x00\x00\x00WAVEdata\x02\x00\x00\x00"), 0, 0), "ffmpeg"},
	} {
		if _, err := decodeWAV(tt.data); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want one with %q", name, err, tt.want)
		}
	}
}

func TestEndOnPause(t *testing.T) {
	tone := func(n int, level float64) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = level * math.Sin(float64(i)/10)
		}
		return x
	}
	for name, tt := range map[string]struct {
		samples []float64
		speech  int // samples of speech that stay
	}{
		"speech to the end":               {tone(9600, .5), 9600},
		"a rest of a block":               {tone(9601, .5), 9600},
		"a long silence":                  {append(tone(9600, .5), make([]float64, 24000)...), 9600},
		"a noise 34 dB below the loudest": {append(tone(9600, .5), tone(4800, .5*math.Pow(10, -34./20))...), 14400},
		"a noise 36 dB below the loudest": {append(tone(9600, .5), tone(4800, .5*math.Pow(10, -36./20))...), 9600},
		"longer than 30 s":                {tone(31*sampleRate, .5), 30 * sampleRate},
	} {
		got, err := endOnPause(tt.samples)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		last := 0
		for i, v := range got {
			if v != 0 {
				last = i + 1
			}
		}
		if last > tt.speech || last < tt.speech-4 {
			t.Errorf("%s: the last sound at %d, want %d", name, last, tt.speech)
		}
		if silence := len(got) - tt.speech; len(got)%frameSamples != 0 || silence < 1920 || silence >= 3840 {
			t.Errorf("%s: %d samples, %d of them silent; want 80 ms in whole frames", name, len(got), silence)
		}
		if i := tt.speech - 481; got[i] != tt.samples[i] {
			t.Errorf("%s: the fade begins too early", name)
		}
		if i := tt.speech - 240; math.Abs(got[i]) >= math.Abs(tt.samples[i]) {
			t.Errorf("%s: no fade", name)
		}
	}
	for name, samples := range map[string][]float64{"a sample too few": tone(1919, 1), "silence": make([]float64, 4800)} {
		if _, err := endOnPause(samples); err == nil {
			t.Errorf("%s was taken for a voice", name)
		}
	}
}

func FuzzDecodeWAV(f *testing.F) {
	for _, seed := range wavSeeds() {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		samples, err := decodeWAV(data)
		if err == nil && len(samples) > len(data) {
			t.Errorf("%d samples in %d bytes", len(samples), len(data))
		}
		if err == nil {
			if ended, err := endOnPause(samples); err == nil && len(ended)%frameSamples != 0 {
				t.Errorf("%d samples are not whole frames", len(ended))
			}
		}
	})
}

func wavSeeds() [][]byte {
	return [][]byte{
		riff(1, 1, 24000, 16, pcm(.5, .25), 4), riff(3, 1, 24000, 32, make([]byte, 8), 8), riff(1, 1, 24000, 16, pcm(.1), math.MaxUint32),
		riff(1, 2, 44100, 16, nil, 0), []byte("RIFF"),
	}
}

func TestWAVSeedsReachTheReader(t *testing.T) {
	good, foreign := 0, 0
	for _, s := range wavSeeds() {
		if _, err := decodeWAV(s); err == nil {
			good++
		} else if errors.Is(err, errWAV) {
			foreign++
		}
	}
	if good != 3 || foreign != 2 {
		t.Errorf("%d good and %d foreign seeds, want 3 and 2", good, foreign)
	}
}

func TestADamagedWAVIsRefused(t *testing.T) {
	good := riff(1, 1, 24000, 16, make([]byte, 1000), 1000)
	for n := range good {
		if _, err := decodeWAV(good[:n]); err == nil {
			t.Errorf("%d bytes of %d are accepted", n, len(good))
		}
	}
	var before, after runtime.MemStats
	for at := 0; at < len(good); at += 1 + at/12 {
		for _, b := range []byte{0, '9', 0xff} {
			data := bytes.Clone(good)
			data[at] = b
			runtime.ReadMemStats(&before)
			_, _ = decodeWAV(data) // it may be as good as before
			runtime.ReadMemStats(&after)
			if taken := after.TotalAlloc - before.TotalAlloc; taken > uint64(16*len(data))+1<<20 {
				t.Fatalf("with byte %d as %#x, %d bytes are taken for a file of %d", at, b, taken, len(data))
			}
		}
	}
}
