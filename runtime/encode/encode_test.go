package encode

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/wav"
)

const frame = speech.FrameSamples

var formats = []speech.Format{speech.PCM16, speech.WAV, speech.Opus}

// voice returns n samples that change like speech: a gliding tone with harmonics and breath, in syllables.
func voice(n int) []int16 {
	r := rand.New(rand.NewPCG(7, 8))
	pcm := make([]int16, n)
	phase := 0.0
	for i := range pcm {
		t := float64(i) / speech.SampleRate
		phase += 2 * math.Pi * (150 + 60*math.Sin(3*t) + 25*math.Sin(17*t)) / speech.SampleRate
		loud := math.Abs(math.Sin(2*math.Pi*1.7*t + 0.4))
		pcm[i] = int16(9000 * loud * (math.Sin(phase) + 0.5*math.Sin(2*phase+1) + 0.3*math.Sin(5*phase) +
			0.1*r.NormFloat64()))
	}
	return pcm
}

// writes records what is passed to each Write.
type writes [][]byte

func (w *writes) Write(p []byte) (int, error) {
	*w = append(*w, bytes.Clone(p))
	return len(p), nil
}

func (w writes) all() []byte { return bytes.Join(w, nil) }

// encoded returns what each Write of the blocks, and then Close, wrote.
func encoded(t testing.TB, f speech.Format, pcm []int16, blocks ...int) writes {
	t.Helper()
	var w writes
	e, err := New(f, &w, Options{Tags: []string{"SYNTHETIC=1", "MODEL=क"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range blocks {
		if err := e.Write(pcm[:n]); err != nil {
			t.Fatalf("writing %d samples: %v", n, err)
		}
		pcm = pcm[n:]
	}
	if len(pcm) > 0 {
		t.Fatalf("%d samples were not written", len(pcm))
	}
	if err := e.Close(); err != nil {
		t.Fatalf("closing: %v", err)
	}
	return w
}

// oneThenFour is how the service delivers n samples: one frame, then four at a time.
func oneThenFour(n int) (blocks []int) {
	for size := frame; n > 0; size = 4 * frame {
		blocks = append(blocks, min(size, n))
		n -= min(size, n)
	}
	return blocks
}

func TestSamplesAreLittleEndian(t *testing.T) {
	w := encoded(t, speech.PCM16, []int16{0, 1, -1, 256, math.MaxInt16, math.MinInt16}, 2, 0, 4)
	want := writes{{0, 0, 1, 0}, {0xff, 0xff, 0, 1, 0xff, 0x7f, 0, 0x80}}
	if !slices.EqualFunc(w, want, bytes.Equal) {
		t.Errorf("wrote %x, want %x", w, want)
	}
}

func TestWAVHeaderLeavesWithTheFirstSamples(t *testing.T) {
	header := wav.Header(wav.Streaming)
	tests := map[string]struct {
		blocks []int
		want   []int // bytes of each Write
	}{
		"no block at all":    {nil, []int{44}},
		"only empty blocks":  {[]int{0, 0}, []int{44}},
		"an empty one first": {[]int{0, 3, 2}, []int{44 + 6, 4}},
		"frames":             {[]int{frame, 4 * frame}, []int{44 + speech.FrameBytes, 4 * speech.FrameBytes}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			n := 0
			for _, b := range tt.blocks {
				n += b
			}
			pcm := voice(n)
			w := encoded(t, speech.WAV, pcm, tt.blocks...)
			if got := lengths(w); !slices.Equal(got, tt.want) {
				t.Errorf("wrote blocks of %d bytes, want %d", got, tt.want)
			}
			samples, ok := bytes.CutPrefix(w.all(), header[:])
			if want := encoded(t, speech.PCM16, pcm, n).all(); !ok || !bytes.Equal(samples, want) {
				t.Error("what was written is not a header and the samples")
			}
		})
	}
}

func lengths(w writes) []int {
	var n []int
	for _, p := range w {
		n = append(n, len(p))
	}
	return n
}

func TestNewRefuses(t *testing.T) {
	tests := map[string]struct {
		format speech.Format
		o      Options
		want   string // "" means that it is fine
	}{
		"an unknown format":          {"mp3", Options{}, `no encoder for "mp3"`},
		"no format":                  {"", Options{}, "no encoder"},
		"one below the bit rates":    {speech.Opus, Options{OpusBitrate: 5_999}, "bit rate 5999"},
		"the lowest bit rate":        {speech.Opus, Options{OpusBitrate: 6_000}, ""},
		"the highest bit rate":       {speech.Opus, Options{OpusBitrate: 510_000}, ""},
		"one above the bit rates":    {speech.Opus, Options{OpusBitrate: 510_001}, "bit rate 510001"},
		"a negative bit rate":        {speech.Opus, Options{OpusBitrate: -1}, "bit rate -1"},
		"the lowest complexity":      {speech.Opus, Options{OpusComplexity: 1}, ""},
		"the highest complexity":     {speech.Opus, Options{OpusComplexity: 10}, ""},
		"one above the complexities": {speech.Opus, Options{OpusComplexity: 11}, "complexity 11"},
		"a negative complexity":      {speech.Opus, Options{OpusComplexity: -1}, "complexity -1"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			e, err := New(tt.format, io.Discard, tt.o)
			if tt.want == "" {
				if err != nil {
					t.Fatal(err)
				}
				if err := e.Close(); err != nil {
					t.Error(err)
				}
			} else if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("New = %v, want an error with %q", err, tt.want)
			}
		})
	}
}

func TestClosingTwiceAndWritingAfterwards(t *testing.T) {
	for _, f := range formats {
		t.Run(string(f), func(t *testing.T) {
			var w writes
			e, err := New(f, &w, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(e.Write(voice(frame)), e.Close()); err != nil {
				t.Fatal(err)
			}
			n := len(w)
			if err := e.Close(); err != nil {
				t.Errorf("second Close: %v", err)
			}
			for range 2 {
				if err := e.Write(voice(frame)); !errors.Is(err, errClosed) {
					t.Errorf("Write after Close = %v, want %v", err, errClosed)
				}
			}
			if err := e.Close(); err != nil {
				t.Errorf("third Close: %v", err)
			}
			if len(w) != n {
				t.Errorf("%d writes after Close", len(w)-n)
			}
		})
	}
}

var errDisk = errors.New("disk full")

// broken fails at its call number at, counted from 0: with an error, or by writing all but a byte.
type broken struct {
	calls, at int
	short     bool
}

func (w *broken) Write(p []byte) (int, error) {
	w.calls++
	switch {
	case w.calls != w.at+1:
		return len(p), nil
	case w.short:
		return len(p) - 1, nil
	}
	return 0, errDisk
}

func TestAFailedWriteIsFinal(t *testing.T) {
	pcm := voice(9 * frame)
	for _, f := range formats {
		calls := len(encoded(t, f, pcm, oneThenFour(len(pcm))...))
		for _, short := range []bool{false, true} {
			want := errDisk
			if short {
				want = io.ErrShortWrite
			}
			for at := range calls {
				w := &broken{at: at, short: short}
				e, err := New(f, w, Options{})
				if err != nil {
					t.Fatal(err)
				}
				failed := false
				for rest := pcm; len(rest) > 0; {
					n := min(4*frame, len(rest))
					if len(rest) == len(pcm) {
						n = frame
					}
					err := e.Write(rest[:n])
					if failed = failed || w.calls == at+1; failed != errors.Is(err, want) {
						t.Fatalf("%s: Write = %v, after failing at call %d: %v", f, err, at, failed)
					}
					rest = rest[n:]
				}
				for range 2 {
					if err := e.Close(); !errors.Is(err, want) { // of a Write, or its own
						t.Errorf("%s: Close = %v, want %v of call %d", f, err, want, at)
					}
				}
				if err := e.Write(pcm); !errors.Is(err, want) {
					t.Errorf("%s: Write after all = %v, want %v of call %d", f, err, want, at)
				}
				if w.calls != at+1 {
					t.Errorf("%s: %d calls after call %d failed", f, w.calls-at-1, at)
				}
			}
		}
	}
}

func TestAFailedHeaderAtClose(t *testing.T) {
	for _, f := range []speech.Format{speech.WAV, speech.Opus} {
		e, err := New(f, &broken{}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := e.Close(); !errors.Is(err, errDisk) {
				t.Errorf("%s: Close = %v, want %v", f, err, errDisk)
			}
		}
	}
}

func TestBareSamplesAllocateNothing(t *testing.T) {
	pcm := voice(4 * frame)
	for _, f := range formats {
		e, err := New(f, io.Discard, Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		if err := e.Write(pcm); err != nil {
			t.Fatal(err)
		}
		got := testing.AllocsPerRun(200, func() {
			if err := e.Write(pcm); err != nil {
				t.Fatal(err)
			}
		})
		if got != 0 {
			t.Errorf("%s: %v allocations for each block", f, got)
		}
	}
}

// FuzzBlocks cuts the same audio into blocks by the bytes of cuts, which must change nothing but the pages.
func FuzzBlocks(f *testing.F) {
	for _, seed := range blockSeeds {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, cuts []byte) {
		if len(cuts) > 64 {
			return
		}
		var blocks []int
		total := 0
		for i := 0; i+1 < len(cuts); i += 2 {
			n := int(binary.LittleEndian.Uint16(cuts[i:])) % (3 * frame)
			blocks = append(blocks, n)
			total += n
		}
		pcm := voice(total)
		for _, format := range formats {
			cut, whole := encoded(t, format, pcm, blocks...), encoded(t, format, pcm, total)
			if len(cut) > len(blocks)+1 {
				t.Errorf("%s: %d writes for %d blocks", format, len(cut), len(blocks))
			}
			if format != speech.Opus {
				if !bytes.Equal(cut.all(), whole.all()) {
					t.Errorf("%s: blocks of %d give other bytes", format, blocks)
				}
				continue
			}
			one, other := parse(t, cut.all()), parse(t, whole.all())
			one.check(t, total)
			other.check(t, total)
			if !slices.EqualFunc(one.packets, other.packets, bytes.Equal) {
				t.Errorf("blocks of %d give other packets", blocks)
			}
		}
	})
}

var blockSeeds = [][]byte{
	{}, {0, 0}, {1, 0}, {0xdf, 1, 1, 0}, {0xe0, 1}, {0xe1, 1, 0, 0, 0x7f, 7}, {0x80, 7, 0, 0x1e}, bytes.Repeat([]byte{1, 0}, 32), bytes.Repeat([]byte{0xff, 0x15}, 8),
}

func TestSeedsAreThere(t *testing.T) {
	if len(blockSeeds) == 0 {
		t.Error("the fuzz target has no seeds")
	}
}

func BenchmarkEncode(b *testing.B) {
	const seconds = 10
	pcm := voice(seconds * speech.SampleRate)
	blocks := oneThenFour(len(pcm))
	run := func(name string, f speech.Format, o Options) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			bytes := 0
			for b.Loop() {
				var w counter
				e, err := New(f, &w, o)
				if err != nil {
					b.Fatal(err)
				}
				rest := pcm
				for _, n := range blocks {
					if err := e.Write(rest[:n]); err != nil {
						b.Fatal(err)
					}
					rest = rest[n:]
				}
				if err := e.Close(); err != nil {
					b.Fatal(err)
				}
				bytes = int(w)
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/seconds, "µs/audio-s")
			b.ReportMetric(float64(8*bytes)/seconds/1000, "kbit/s")
		})
	}
	run("pcm16", speech.PCM16, Options{})
	run("wav", speech.WAV, Options{})
	for _, c := range []int{1, 3, 5, 7, 10} {
		run("opus complexity "+string(rune('0'+c/10))+string(rune('0'+c%10)), speech.Opus, Options{OpusComplexity: c})
	}
}

// BenchmarkFirstFrame is what encoding adds to the time to first audio.
func BenchmarkFirstFrame(b *testing.B) {
	pcm := voice(frame)
	for _, f := range formats {
		b.Run(string(f), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				e, err := New(f, io.Discard, Options{})
				if err != nil {
					b.Fatal(err)
				}
				if err := errors.Join(e.Write(pcm), e.Close()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

type counter int

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}
