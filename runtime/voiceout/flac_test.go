package voiceout

import (
	"bytes"
	"io"
	"log"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	flacdecoder "github.com/mewkiz/flac"
)

// unpacked is what a decoder of FLAC that is not ours reads; it checks the sums of every frame.
func unpacked(t testing.TB, stream []byte) (samples []int16, blocks []int) {
	t.Helper()
	log.SetOutput(io.Discard) // on which it says that it has never seen 24 kHz
	defer log.SetOutput(os.Stderr)
	d, err := flacdecoder.New(bytes.NewReader(stream))
	if err != nil {
		t.Fatal(err)
	}
	for {
		f, err := d.ParseNext()
		if err == io.EOF {
			return samples, blocks
		}
		if err != nil {
			t.Fatalf("frame %d: %v", len(blocks), err)
		}
		blocks = append(blocks, len(f.Subframes[0].Samples))
		for _, v := range f.Subframes[0].Samples {
			samples = append(samples, int16(v))
		}
	}
}

func TestFLACKeepsEverySample(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	made := func(n int, f func(i int) float64) []int16 {
		s := make([]int16, n)
		for i := range s {
			s[i] = int16(max(-32768, min(32767, f(i))))
		}
		return s
	}
	square := func(i int) float64 { return float64(1-i/50%2*2) * 40_000 }
	sounds := map[string][]int16{
		"nothing":                    nil,
		"one sample":                 {-7},
		"two":                        {1, 2},
		"less than a predictor has":  {100, -100, 50},
		"seven":                      {1, 2, 4, 8, 16, 32, 64},
		"silence":                    make([]int16, 3*frame),
		"a constant":                 slices.Repeat([]int16{-12_345}, frame+9),
		"a slope":                    made(2*frame, func(i int) float64 { return float64(i*8 - 16_000) }),
		"a parabola":                 made(frame, func(i int) float64 { return float64(i*i)/60 - 30_000 }),
		"noise at full scale":        made(2*frame, func(int) float64 { return float64(r.IntN(1<<16) - 1<<15) }),
		"quiet noise":                made(2*frame, func(int) float64 { return float64(r.IntN(5) - 2) }),
		"a square at full scale":     made(frame, square),
		"a click in silence":         made(frame, func(i int) float64 { return map[bool]float64{true: -32768}[i == 1000] }),
		"from silence to full scale": made(frame, func(i int) float64 { return float64(i) / frame * square(i) }),
		"a tone":                     made(3*frame+17, func(i int) float64 { return 20_000 * math.Sin(float64(i)*.2) }),
		"one less than a block":      speech(t, frame-1),
		"a block":                    speech(t, frame),
		"one more":                   speech(t, frame+1),
		"speech":                     speech(t, 40*frame),
	}
	for name, want := range sounds {
		t.Run(name, func(t *testing.T) {
			stream := whole(t, Format{Container: FLAC}, want)
			got, blocks := unpacked(t, stream)
			if !slices.Equal(got, want) {
				t.Fatalf("%d samples are not the %d that were written", len(got), len(want))
			}
			for i, n := range blocks {
				if n != frame && i != len(blocks)-1 {
					t.Errorf("block %d has %d samples, want %d", i, n, frame)
				}
			}
			if most := 2*len(want) + 20*len(blocks) + 100; len(stream) > most {
				t.Errorf("%d samples became %d bytes, want at most %d", len(want), len(stream), most)
			}
		})
	}
}

func TestFLACMakesSpeechSmaller(t *testing.T) {
	want := speech(t, 50*frame)
	got := len(whole(t, Format{Container: FLAC}, want))
	t.Logf("%.1f %% of the bytes", float64(got)/float64(2*len(want))*100)
	if got > len(want)*2*65/100 {
		t.Errorf("%d samples of speech became %d bytes, want at most 65 %% of theirs", len(want), got)
	}
}

func TestFLACAtEveryRate(t *testing.T) {
	for _, rate := range Rates() {
		in := speech(t, 5*frame+9)
		got, _ := unpacked(t, whole(t, Format{Container: FLAC, Rate: rate}, in))
		want := floats(whole(t, Format{Rate: rate}, in))
		if !slices.EqualFunc(got, want, func(a int16, b float64) bool { return float64(a) == b }) {
			t.Errorf("%d Hz: %d samples are not the %d of PCM", rate, len(got), len(want))
		}
	}
}

func TestFLACNumbersItsFrames(t *testing.T) {
	for n, want := range map[uint64][]byte{
		0: {0}, 0x7F: {0x7F}, 0x80: {0xC2, 0x80}, 0x7FF: {0xDF, 0xBF}, 0x800: {0xE0, 0xA0, 0x80},
		0xFFFF: {0xEF, 0xBF, 0xBF}, 0x10000: {0xF0, 0x90, 0x80, 0x80},
		0x1FFFFF: {0xF7, 0xBF, 0xBF, 0xBF}, 0x200000: {0xF8, 0x88, 0x80, 0x80, 0x80},
		0x7FFFFFFF: {0xFD, 0xBF, 0xBF, 0xBF, 0xBF, 0xBF},
	} {
		if got := appendNumber(nil, n); !bytes.Equal(got, want) {
			t.Errorf("frame %#x is numbered %x, want %x", n, got, want)
		}
	}
	// 11 s of silence need a number of two bytes, and 3 minutes one of three.
	e, err := New(Format{Container: FLAC})
	if err != nil {
		t.Fatal(err)
	}
	var stream []byte
	for range 2100 {
		b, err := e.Write(make([]int16, frame))
		if err != nil {
			t.Fatal(err)
		}
		stream = append(stream, b...)
	}
	if got, _ := unpacked(t, stream); len(got) != 2100*frame {
		t.Errorf("%d samples, want %d", len(got), 2100*frame)
	}
}

func FuzzFLAC(f *testing.F) {
	f.Add([]byte{0, 0, 1, 2, 0xff, 0x7f, 0, 0x80})
	f.Add(bytes.Repeat([]byte{1, 0}, 100))
	f.Fuzz(func(t *testing.T, b []byte) {
		want := make([]int16, len(b)/2)
		for i := range want {
			want[i] = int16(b[2*i]) | int16(b[2*i+1])<<8
		}
		if got, _ := unpacked(t, whole(t, Format{Container: FLAC, Rate: EngineRate}, want)); !slices.Equal(got, want) {
			t.Errorf("%v came back as %v", want, got)
		}
	})
}
