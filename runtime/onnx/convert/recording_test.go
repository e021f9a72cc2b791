package convert

import (
	"bytes"
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"slices"
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
	put("RIFF", uint32(36+len(samples)), "WAVE", "fmt ", uint32(16), kind, channels, rate, rate*uint32(frame),
		frame, bits)
	put("LIST", uint32(3), "abc\x00") // an odd chunk is filled up
	put("data", uint32(size), samples)
	return b.Bytes()
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
	for name, samples := range map[string][]float64{"a sample too few": tone(1919, 1),
		"silence": make([]float64, 4800)} {
		if _, err := endOnPause(samples); err == nil {
			t.Errorf("%s was taken for a voice", name)
		}
	}
}

// TestARecordingThatNeedsNothingStaysAsItIs holds the samples to the integers of the file: a bundle is the same
// from whichever version.
func TestARecordingThatNeedsNothingStaysAsItIs(t *testing.T) {
	const n = 4800
	var raw []byte
	var sound []float64
	for i := range n {
		v := int16(i*7919) | 0x3000
		raw = binary.LittleEndian.AppendUint16(raw, uint16(v))
		sound = append(sound, float64(v)/(1<<15))
	}
	path := filepath.Join(t.TempDir(), "voice.wav")
	if err := os.WriteFile(path, riff(1, 1, sampleRate, 16, raw, len(raw)), 0o644); err != nil {
		t.Fatal(err)
	}
	got, r, err := ReadRecording(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	want, err := endOnPause(sound)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("the samples are not those of the file: %v", err)
	}
	if r.Format != "WAV, 16 bits" || r.Seconds != n/24000. || len(r.SHA256) != 64 {
		t.Errorf("%s of %g s, %s", r.Format, r.Seconds, r.SHA256)
	}
}
