package voiceout

import (
	"fmt"
	"testing"
)

func needsMP3(t *testing.T) {
	t.Helper()
	if !Supports(MP3) {
		t.Skip("SKIPPED: this program was built without libmp3lame")
	}
}

var mp3s = []Format{
	{Rate: 8000}, {Rate: 16_000}, {Rate: 22_050, Bitrate: 32_000}, {Rate: 22_050, Bitrate: 128_000}, {}, {Bitrate: 48_000}, {Rate: 32_000},
	{Rate: 44_100, Bitrate: 32_000}, {Rate: 44_100}, {Rate: 44_100, Bitrate: 192_000}, {Rate: 48_000, Bitrate: 64_000},
}

// TestMP3IsFramesAndNothingElse walks over the frames: each has the rate and the bit rate that were asked for, and needs no
// bits of another one.
func TestMP3IsFramesAndNothingElse(t *testing.T) {
	needsMP3(t)
	for _, f := range mp3s {
		f.Container = MP3
		f, err := f.Check()
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []int{0, 1, frame, 10*frame + 5} {
			stream, count := whole(t, f, speech(t, n)), 0
			for rest := stream; len(rest) > 0; count++ {
				if len(rest) < 6 || rest[0] != 0xFF || rest[1]&0xE0 != 0xE0 || rest[1]>>1&3 != 1 || rest[3]>>6 != 3 {
					t.Fatalf("%s: frame %d begins with %x, which is no frame of MP3 with one channel", f, count, rest[:min(6, len(rest))])
				}
				if rate := mp3Rate(rest); rate != f.Rate {
					t.Fatalf("%s: frame %d has %d Hz", f, count, rate)
				}
				begin, width := 4, 8 // where main_data_begin is, and its bits
				if rest[1]>>3&3 == 3 {
					width = 9
				}
				if rest[1]&1 == 0 {
					begin = 6 // behind a checksum
				}
				if back := (int(rest[begin])<<8 | int(rest[begin+1])) >> (16 - width); back != 0 {
					t.Fatalf("%s: frame %d needs %d bytes of those before", f, count, back)
				}
				size := frameBytes(f.Rate, f.Bitrate, rest)
				if size > len(rest) {
					t.Fatalf("%s: frame %d has %d bytes of %d", f, count, len(rest), size)
				}
				rest = rest[size:]
			}
			each := mp3Samples(f.Rate)
			samples := (n*f.Rate + EngineRate - 1) / EngineRate
			if more := count*each - samples; n > 0 && more < 529 || more > 1105+2*1152 {
				t.Errorf("%s: %d samples have become %d frames of %d, which is %d more", f, samples, count, each, more)
			}
		}
	}
}

func mp3Rate(header []byte) int {
	rate := []int{44_100, 48_000, 32_000}[header[2]>>2&3]
	switch header[1] >> 3 & 3 {
	case 0: // MPEG 2.5
		return rate / 4
	case 2:
		return rate / 2
	}
	return rate
}

// TestMP3SoundsLikeSpeech decodes with a decoder that is not LAME's.
func TestMP3SoundsLikeSpeech(t *testing.T) {
	needsMP3(t)
	in := speech(t, 15*frame)
	want := floats(whole(t, Format{}, in))
	for _, f := range mp3s {
		if f.Rate == 8000 { // of MPEG 2.5, which this decoder does not know
			continue
		}
		f.Container = MP3
		t.Run(fmt.Sprint(f), func(t *testing.T) { sounds(t, decoded(t, "speech.mp3", whole(t, f, in)), want) })
	}
}
