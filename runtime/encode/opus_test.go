package encode

import (
	"bytes"
	"io"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/swar-tts/swar/runtime/speech"
)

// edges are the lengths around every border: packet, frame, page.
var edges = []int{
	0, 1, 479, 480, 481, 1919, 1920, 1921, 5 * frame, 100 * frame, 750 * frame,
	480 - 156, 480 - 156 + 1, 480 - 156 - 1, // where the look-ahead just fits into the last packet
	255*480 - 1, 255 * 480, 255*480 + 1,
}

func TestOpusStreamsAreWellFormed(t *testing.T) {
	pcm := voice(slices.Max(edges))
	for _, n := range edges {
		t.Run(strconv.Itoa(n), func(t *testing.T) {
			for name, blocks := range map[string][]int{"in one go": {n}, "one frame, then four": oneThenFour(n)} {
				w := encoded(t, speech.Opus, pcm[:n], blocks...)
				s := parse(t, w.all())
				s.check(t, n)
				if len(w) > len(blocks)+1 {
					t.Errorf("%s: %d writes for %d blocks", name, len(w), len(blocks))
				}
				if first := parse(t, w[0]); len(first.pages) < 3 {
					t.Errorf("%s: the first write has %d pages, want the headers and audio", name, len(first.pages))
				}
			}
		})
	}
}

func TestEveryBlockIsAPage(t *testing.T) {
	w := encoded(t, speech.Opus, voice(13*frame), oneThenFour(13*frame)...)
	var got [][]int // packets of the pages of each write
	sequence := 0
	for _, p := range w {
		var packets []int
		for len(p) > 0 {
			size := 27 + int(p[26])
			n := 0
			for _, l := range p[27:size] {
				size += int(l)
				if l < 255 {
					n++
				}
			}
			packets = append(packets, n)
			p = p[size:]
			sequence++
		}
		got = append(got, packets)
	}
	want := [][]int{{1, 1, 4}, {16}, {16}, {16}, {1}}
	if !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("packets of the pages of each write: %d, want %d", got, want)
	}
}

func TestABlockThatFillsNoPacketIsKept(t *testing.T) {
	var w writes
	e, err := New(speech.Opus, &w, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	for i, n := range []int{0, 1, 478} {
		if err := e.Write(voice(n)); err != nil || len(w) != 0 {
			t.Fatalf("block %d: %v, %d writes", i, err, len(w))
		}
	}
	if err := e.Write(voice(1)); err != nil || len(w) != 1 {
		t.Errorf("the sample that fills the packet: %v, %d writes, want 1", err, len(w))
	}
}

// TestTheEndIsPaddedWithSilence: what is left of earlier samples would leak into the last ones that are heard.
func TestTheEndIsPaddedWithSilence(t *testing.T) {
	for _, n := range []int{1, 479, 481, frame, 2*frame + 1} {
		pcm := voice(n)
		got := parse(t, encoded(t, speech.Opus, pcm, n).all()).packets
		silence := make([]int16, 4*packetSamples)
		want := parse(t, encoded(t, speech.Opus, append(pcm, silence...), n+len(silence)).all()).packets
		if !slices.EqualFunc(got, want[:len(got)], bytes.Equal) {
			t.Errorf("%d samples do not end as they do before silence", n)
		}
	}
}

func TestStreamsHaveSerialNumbersOfTheirOwn(t *testing.T) {
	seen := map[uint32]bool{}
	for range 100 {
		seen[parse(t, encoded(t, speech.Opus, nil).all()).pages[0].serial] = true
	}
	if len(seen) < 99 { // two of a hundred that are equal by chance: once in a million runs
		t.Errorf("%d serial numbers for 100 streams", len(seen))
	}
}

func TestBitRateIsKept(t *testing.T) {
	const seconds = 10
	pcm := voice(seconds * speech.SampleRate)
	for _, want := range []int{0, 24_000, 48_000, 96_000} {
		var w counter
		e, err := New(speech.Opus, &w, Options{OpusBitrate: want})
		if err != nil {
			t.Fatal(err)
		}
		for rest := pcm; len(rest) > 0; rest = rest[4*frame:] {
			if len(rest) < 4*frame {
				break
			}
			if err := e.Write(rest[:4*frame]); err != nil {
				t.Fatal(err)
			}
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		if want == 0 {
			want = 48_000
		}
		if got := 8 * int(w) / seconds; got < want*7/10 || got > want*13/10 {
			t.Errorf("%d bit/s, want about %d", got, want)
		}
	}
}

func TestEncodersDoNotDisturbOneAnother(t *testing.T) {
	pcm := voice(50 * frame)
	want := parse(t, encoded(t, speech.Opus, pcm, len(pcm)).all()).packets
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			var w writes
			e, err := New(speech.Opus, &w, Options{})
			if err != nil {
				t.Error(err)
				return
			}
			for rest := pcm; len(rest) > 0; rest = rest[frame:] {
				if err := e.Write(rest[:frame]); err != nil {
					t.Error(err)
				}
			}
			if err := e.Close(); err != nil {
				t.Error(err)
			}
			var got [][]byte
			for i, p := range w {
				size := 0
				if i == 0 {
					size = bytes.LastIndex(p, []byte("OggS"))
				}
				lacing := p[size+27 : size+27+int(p[size+26])]
				body := p[size+27+len(lacing):]
				for _, n := range lacing { // packets of this signal are shorter than 255 bytes
					got = append(got, body[:n])
					body = body[n:]
				}
			}
			if !slices.EqualFunc(got, want, bytes.Equal) {
				t.Error("other packets than alone")
			}
		})
	}
	wg.Wait()
}

// TestEncodersDoNotLeak watches the memory of the process, because Go does not see that of C. An encoder takes about 43
// kB there.
func TestEncodersDoNotLeak(t *testing.T) {
	tests := map[string]func(Encoder) error{
		"closed":           Encoder.Close,
		"forgotten":        func(Encoder) error { return nil },
		"forgotten midway": func(e Encoder) error { return e.Write(make([]int16, 700)) },
		"closed twice":     func(e Encoder) error { _ = e.Close(); return e.Close() },
	}
	for name, end := range tests {
		t.Run(name, func(t *testing.T) {
			open := func(n int) {
				for range n {
					e, err := New(speech.Opus, io.Discard, Options{})
					if err != nil {
						t.Fatal(err)
					}
					if err := end(e); err != nil {
						t.Fatal(err)
					}
				}
				runtime.GC()
				runtime.GC()
			}
			open(200)
			before := resident(t)
			for range 50 {
				open(100)
			}
			// 5,000 encoders that leak are 215 MB.
			if grown := resident(t) - before; grown > 70<<20 {
				t.Errorf("the process grew by %d MB", grown>>20)
			}
		})
	}
}

// resident returns the bytes of memory that the process occupies.
func resident(t *testing.T) int {
	statm, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Skipf("SKIPPED: no /proc/self/statm to see leaks in: %v", err)
	}
	pages, err := strconv.Atoi(strings.Fields(string(statm))[1])
	if err != nil {
		t.Fatal(err)
	}
	return pages * os.Getpagesize()
}
