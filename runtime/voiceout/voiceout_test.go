package voiceout

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/swar-tts/swar/runtime/recording"
	"github.com/swar-tts/swar/runtime/wav"
)

const frame = EngineRate * 80 / 1000

// spoken is a sentence and a half that espeak-ng has said, at 24 kHz.
var spoken = sync.OnceValues(func() ([]int16, error) {
	r, err := recording.Read(context.Background(), "../../docs/samples/order.ogg")
	if err != nil {
		return nil, err
	}
	samples := make([]int16, len(r.Samples))
	for i, v := range r.Samples {
		samples[i] = int16(max(-32768, min(32767, math.Round(float64(v)*32768))))
	}
	return samples, nil
})

// speech returns n samples of speech.
func speech(t testing.TB, n int) []int16 {
	t.Helper()
	all, err := spoken()
	if err != nil {
		t.Skipf("SKIPPED: there is no speech to encode: %v", err)
	}
	for len(all) < n {
		all = append(slices.Clip(all), all...)
	}
	return all[:n]
}

// each is every kind of format that was built in.
func each() []Format {
	var all []Format
	for _, f := range []Format{
		{}, {Encoding: F32}, {Encoding: MuLaw}, {Encoding: ALaw}, {Rate: 8000}, {Rate: 44_100}, {Container: WAV}, {Container: WAV, Encoding: MuLaw, Rate: 22_050},
		{Container: WAV, Rate: 16_000, Speed: 1.25}, {Speed: .7},
		{Container: MP3}, {Container: MP3, Rate: 44_100}, {Container: MP3, Rate: 22_050, Bitrate: 32_000}, {Container: Ogg}, {Container: FLAC}, {Container: FLAC, Rate: 22_050},
	} {
		if Supports(f.Container) || f.Container == "" {
			all = append(all, f)
		}
	}
	return all
}

// encoded returns what each Write of blocks, and then Close, returned.
func encoded(t testing.TB, f Format, samples []int16, block func(n int) int) (parts [][]byte) {
	t.Helper()
	e, err := New(f, "SYNTHETIC=1")
	if err != nil {
		t.Fatal(err)
	}
	add := func(b []byte, err error) {
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, bytes.Clone(b))
	}
	for i := 0; len(samples) > 0; i++ {
		n := min(block(i), len(samples))
		add(e.Write(samples[:n]))
		samples = samples[n:]
	}
	add(e.Close())
	return parts
}

func frames(int) int { return frame }

func whole(t testing.TB, f Format, samples []int16) []byte {
	t.Helper()
	return bytes.Join(encoded(t, f, samples, frames), nil)
}

func TestHowSamplesAreCutDoesNotMatter(t *testing.T) {
	samples := speech(t, 6*frame+345)
	r := rand.New(rand.NewPCG(1, 2))
	for _, f := range each() {
		want := whole(t, f, samples)
		for name, block := range map[string]func(int) int{
			"one and then four": func(i int) int { return frame * min(4, 1+3*i) },
			"at once":           func(int) int { return len(samples) },
			"at random":         func(int) int { return r.IntN(3 * frame) },
			"one more":          func(int) int { return frame + 1 },
			"a few":             func(int) int { return 77 },
		} {
			got := bytes.Join(encoded(t, f, samples, block), nil)
			if f.Container == Ogg {
				sameSerial(got, want)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("%+v: cut %s there are other bytes: %d, want %d", f, name, len(got), len(want))
			}
		}
	}
}

func TestFirstBytesLeaveEarly(t *testing.T) {
	samples := speech(t, 12*frame)
	for _, f := range each() {
		within := 1 // frames
		if f.Container == MP3 || f.Container == FLAC {
			within = 2
		}
		size := 0
		for _, part := range encoded(t, f, samples, frames)[:within] {
			size += len(part)
		}
		if size < 200 {
			t.Errorf("%+v: %d bytes leave with the first %d frames", f, size, within)
		}
	}
}

func TestNothingIsASoundToo(t *testing.T) {
	for _, f := range each() {
		parts := encoded(t, f, nil, frames)
		if f.Container == WAV {
			f, _ = f.Check()
			if want := f.sound().AppendHeader(nil, wav.Streaming); !bytes.Equal(parts[0], want) {
				t.Errorf("%+v: without samples there is %x, want %x", f, parts[0], want)
			}
		}
	}
}

func TestAfterClose(t *testing.T) {
	for _, f := range each() {
		e, err := New(f)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.Write(speech(t, frame)); err != nil {
			t.Error(err)
		}
		if _, err := e.Close(); err != nil {
			t.Error(err)
		}
		for range 2 {
			if b, err := e.Close(); len(b) > 0 || err != nil {
				t.Errorf("%+v: another Close = %d bytes, %v", f, len(b), err)
			}
			if b, err := e.Write(speech(t, frame)); len(b) > 0 || !errors.Is(err, errClosed) {
				t.Errorf("%+v: Write after Close = %d bytes, %v", f, len(b), err)
			}
		}
	}
}

func TestSteadyStateAllocatesNothing(t *testing.T) {
	samples := speech(t, 40*frame)
	for _, f := range each() {
		e, err := New(f)
		if err != nil {
			t.Fatal(err)
		}
		at := 0
		write := func() {
			if _, err := e.Write(samples[at : at+4*frame]); err != nil {
				t.Fatal(err)
			}
			at = (at + 4*frame) % len(samples)
		}
		for range 10 {
			write()
		}
		if got := testing.AllocsPerRun(5, write); got != 0 {
			t.Errorf("%+v: %v allocations for four frames, want none", f, got)
		}
		if _, err := e.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestEveryRateHasItsLength(t *testing.T) {
	for _, rate := range Rates() {
		for _, n := range []int{0, 1, frame - 1, frame, frame + 1, 5*frame + 7} {
			want := 2 * ((n*rate + EngineRate - 1) / EngineRate)
			if got := len(whole(t, Format{Rate: rate}, make([]int16, n))); got != want {
				t.Errorf("%d samples at %d Hz are %d bytes, want %d", n, rate, got, want)
			}
		}
	}
}

func TestAWAVOfKnownLength(t *testing.T) {
	samples := speech(t, 3*frame)
	for _, f := range []Format{{Container: WAV}, {Container: WAV, Encoding: ALaw},
		{Container: WAV, Encoding: F32, Rate: 16_000}} {
		got, err := All(f, samples)
		if err != nil {
			t.Fatal(err)
		}
		f.Container = Raw
		want := whole(t, f, samples)
		f, _ = f.Check()
		want = append(f.sound().AppendHeader(nil, uint32(len(want))), want...)
		if !bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes that begin with %x, want %d with %x", f, len(got), got[:58], len(want), want[:58])
		}
	}
}

// TestNoAliasesAt8kHz sends tones that 8 kHz cannot carry through µ-law, alone and under another one, and looks at
// where they would be folded to.
func TestNoAliasesAt8kHz(t *testing.T) {
	for _, hz := range []float64{4001, 4010, 4030, 4060, 4100, 4500, 5000, 6000, 7000, 9000, 11_000} {
		for _, under := range []float64{0, 3000} {
			tone := make([]int16, EngineRate)
			for i := range tone {
				at := 2 * math.Pi * float64(i) / EngineRate
				tone[i] = int16(math.Round(10_000*math.Sin(hz*at) + under*math.Sin(700*at)))
			}
			law := whole(t, Format{Encoding: MuLaw}, tone)
			got := make([]float64, len(law))
			for i, b := range law {
				got[i] = float64(decodeMuLaw(b))
			}
			folded := math.Mod(hz, 8000)
			folded = min(folded, 8000-folded)
			if db := 20 * math.Log10(level(got[800:7200], folded, 8000)/10_000); db > -50 {
				t.Errorf("%.0f Hz beside %.0f is folded to %.0f Hz with %.1f dB, want at most -50", hz, under,
					folded, db)
			}
		}
	}
}

// level is the amplitude of a frequency in x.
func level(x []float64, hz, rate float64) float64 {
	var sum float64
	var product complex128
	turn, step := complex(1, 0), cmplx.Rect(1, 2*math.Pi*hz/rate)
	along, ahead := complex(1, 0), cmplx.Rect(1, 2*math.Pi/float64(len(x))) // of the window
	for _, v := range x {
		window := 1 - real(along)
		product += complex(v*window, 0) * turn
		sum += window
		turn, along = turn*step, along*ahead
	}
	return 2 * cmplx.Abs(product) / sum
}

func TestWhatTelephonesCarryIsKept(t *testing.T) {
	for _, hz := range []float64{100, 300, 1000, 2000, 3000, 3400} {
		tone := make([]int16, EngineRate)
		for i := range tone {
			tone[i] = int16(math.Round(10_000 * math.Sin(2*math.Pi*hz*float64(i)/EngineRate)))
		}
		got := floats(whole(t, Format{Rate: 8000}, tone))
		if db := 20 * math.Log10(level(got[800:7200], hz, 8000)/10_000); math.Abs(db) > .1 {
			t.Errorf("%.0f Hz has %.2f dB at 8 kHz, want within 0.1", hz, db)
		}
	}
}

func floats(s16 []byte) []float64 {
	got := make([]float64, len(s16)/2)
	for i := range got {
		got[i] = float64(int16(binary.LittleEndian.Uint16(s16[2*i:])))
	}
	return got
}

// loudest is the level of the loudest part of so many samples, in dB.
func loudest(x []float64, part int) float64 {
	most := 0.0
	for at := 0; at+part <= len(x); at += part / 10 {
		sum := 0.0
		for _, v := range x[at : at+part] {
			sum += v * v
		}
		most = max(most, sum)
	}
	return 10 * math.Log10(most/float64(part))
}

func TestTheLevelStaysWhatItIs(t *testing.T) {
	samples := speech(t, 60*frame)
	want := loudest(floats(whole(t, Format{}, samples)), EngineRate/10)
	for _, rate := range Rates() {
		got := loudest(floats(whole(t, Format{Rate: rate}, samples)), rate/10)
		if math.Abs(got-want) > 1 {
			t.Errorf("the loudest 100 ms at %d Hz have %+.2f dB, want within 1", rate, got-want)
		}
	}
	law := whole(t, Format{Encoding: MuLaw}, samples)
	decoded := make([]float64, len(law))
	for i, b := range law {
		decoded[i] = float64(decodeMuLaw(b))
	}
	if got := loudest(decoded, 800); math.Abs(got-want) > 1 {
		t.Errorf("the loudest 100 ms in µ-law have %+.2f dB, want within 1", got-want)
	}
}

// BenchmarkSecond is a second of speech in frames of 80 ms.
func BenchmarkSecond(b *testing.B) {
	samples := speech(b, EngineRate)
	formats := each()
	for _, s := range []float64{.5, .8, 1.2, 2} {
		formats = append(formats, Format{Speed: s})
	}
	for _, f := range formats {
		f, _ = f.Check()
		b.Run(fmt.Sprint(f), func(b *testing.B) {
			b.ReportAllocs()
			e, err := New(f)
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				for at := 0; at < len(samples); at += frame {
					if _, err := e.Write(samples[at:min(at+frame, len(samples))]); err != nil {
						b.Fatal(err)
					}
				}
			}
			if _, err := e.Close(); err != nil {
				b.Fatal(err)
			}
		})
	}
}

// BenchmarkFirstFrame is what the chain adds to the time to first audio.
func BenchmarkFirstFrame(b *testing.B) {
	samples := speech(b, 2*frame)
	for _, f := range each() {
		f, _ = f.Check()
		b.Run(fmt.Sprint(f), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				e, err := New(f)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := e.Write(samples[:frame]); err != nil {
					b.Fatal(err)
				}
				if _, err := e.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// sameSerial gives the pages of an Ogg stream the serial number of another, and its checksums.
func sameSerial(pages, other []byte) {
	for at := 0; at+27 <= min(len(pages), len(other)); {
		copy(pages[at+14:at+18], other[at+14:at+18])
		copy(pages[at+22:at+26], other[at+22:at+26])
		segments := int(pages[at+26])
		size := 27 + segments
		for _, s := range pages[at+27 : min(len(pages), at+27+segments)] {
			size += int(s)
		}
		at += size
	}
}
