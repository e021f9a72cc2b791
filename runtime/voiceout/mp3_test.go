package voiceout

import (
	"fmt"
	"math"
	"slices"
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

// TestMP3IsFramesAndNothingElse walks over the frames: each has the rate and the bit rate that were asked for, and
// needs no bits of another one.
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
					t.Fatalf("%s: frame %d begins with %x, which is not a frame of MP3 with one channel", f, count,
						rest[:min(6, len(rest))])
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
			if isTagged(f.Rate) {
				count--
			}
			each := mp3Samples(f.Rate)
			samples := (n*f.Rate + EngineRate - 1) / EngineRate
			if more := count*each - samples; more < 0 || more >= mp3Lag(f.Rate)+each {
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

// TestMP3IsAsLongAsSpeech: with a quiet end, as speech has one, a stream is never shorter than what was spoken, and
// less than a frame longer; what is loud to its end is there to its end.
func TestMP3IsAsLongAsSpeech(t *testing.T) {
	needsMP3(t)
	for _, f := range mp3s {
		f.Container = MP3
		f, err := f.Check()
		if err != nil {
			t.Fatal(err)
		}
		for n := 10 * frame; n < 10*frame+9*240; n += 240 {
			quiet := slices.Clone(speech(t, n))
			clear(quiet[n-frame:])
			for i := n - frame; i < n; i += 7 {
				quiet[i] = 20 // noise of a room
			}
			each, samples := mp3Samples(f.Rate), (n*f.Rate+EngineRate-1)/EngineRate
			count := len(mp3Frames(t, f, whole(t, f, quiet)))
			if more := count*each - samples; !isTagged(f.Rate) && (more < 0 || more >= each) {
				t.Errorf("%s: %d samples that end quietly are %d frames of %d, which is %d more", f, samples,
					count, each, more)
			}
			loud := speech(t, n)
			for i := n - 240; i < n; i++ {
				loud[i] = int16(9000 * math.Sin(2*math.Pi*440*float64(i)/EngineRate))
			}
			count = len(mp3Frames(t, f, whole(t, f, loud)))
			if isTagged(f.Rate) {
				count--
			}
			if more := count*each - samples; more < mp3Lag(f.Rate) || more >= mp3Lag(f.Rate)+each {
				t.Errorf("%s: %d samples that end loudly are %d frames of %d, which is %d more", f, samples,
					count, each, more)
			}
		}
	}
}

// TestMP3IsWithin80Milliseconds: what ffmpeg decodes is never shorter than what was spoken, and at most 80 ms longer,
// also of what is loud from its start to its end, whatever is left of the last frame.
func TestMP3IsWithin80Milliseconds(t *testing.T) {
	needsMP3(t)
	for _, f := range mp3s {
		f.Container = MP3
		f, err := f.Check()
		if err != nil {
			t.Fatal(err)
		}
		worst := 0
		for n := 10 * frame; n < 10*frame+mp3Samples(f.Rate)*EngineRate/f.Rate; n += 480 {
			path := file(t, "tone.mp3", whole(t, f, tone(n)))
			got := len(floats(run(t, "ffmpeg", "-v", "error", "-i", path, "-f", "s16le", "-ac", "1", "-")))
			want := (n*f.Rate + EngineRate - 1) / EngineRate
			if got < want {
				t.Errorf("%s: %d samples for %d", f, got, want)
			}
			worst = max(worst, got-want)
		}
		if worst > f.Rate*80/1000 {
			t.Errorf("%s: up to %d ms longer than spoken, want at most 80", f, worst*1000/f.Rate)
		}
	}
}

// isTagged reports whether a stream at a rate begins with a frame that has a tag.
func isTagged(rate int) bool { return rate == 8000 }

// tone is 440 Hz from the first sample on.
func tone(n int) []int16 {
	all := make([]int16, n)
	for i := range all {
		all[i] = int16(9000 * math.Sin(2*math.Pi*440*float64(i)/EngineRate))
	}
	return all
}

// TestMP3At8kHz: a frame has 72 ms there, and what is heard would be 66 ms late. A tag has decoders leave these out.
func TestMP3At8kHz(t *testing.T) {
	needsMP3(t)
	for n := 12 * frame; n < 14*frame; n += 320 {
		samples := slices.Clone(speech(t, n))
		clear(samples[n-frame:])
		path := file(t, "speech.mp3", whole(t, Format{Container: MP3, Rate: 8000}, samples))
		got := floats(run(t, "ffmpeg", "-v", "error", "-i", path, "-f", "s16le", "-ac", "1", "-"))
		want := floats(whole(t, Format{Rate: 8000}, samples))
		if more := len(got) - len(want); more < 0 || more > 576 {
			t.Errorf("%d samples for %d", len(got), len(want))
		}
		if at := loudestAt(got, 160) - loudestAt(want, 160); at < -80 || at > 80 {
			t.Errorf("the loudest 20 ms come %d samples late", at)
		}
	}
}

// loudestAt is where the loudest part of so many samples is.
func loudestAt(x []float64, part int) (at int) {
	most := 0.0
	for i := 0; i+part <= len(x); i += 8 {
		sum := 0.0
		for _, v := range x[i : i+part] {
			sum += v * v
		}
		if sum > most {
			at, most = i, sum
		}
	}
	return at
}

// mp3Frames are those of a stream.
func mp3Frames(t *testing.T, f Format, stream []byte) (all [][]byte) {
	t.Helper()
	for len(stream) > 0 {
		size := frameBytes(f.Rate, f.Bitrate, stream)
		if size > len(stream) {
			t.Fatalf("%s: frame %d has %d bytes of %d", f, len(all), len(stream), size)
		}
		all, stream = append(all, stream[:size]), stream[size:]
	}
	return all
}

// TestMP3HasTheEnd: what is loud to its end is decoded to its end.
func TestMP3HasTheEnd(t *testing.T) {
	needsMP3(t)
	for _, f := range mp3s {
		f.Container = MP3
		n := 10*frame + 240
		path := file(t, "tone.mp3", whole(t, f, tone(n)))
		got := floats(run(t, "ffmpeg", "-v", "error", "-i", path, "-f", "s16le", "-ac", "1", "-ar", "24000", "-"))
		lag := mp3Lag(max(f.Rate, 8000))
		switch {
		case isTagged(f.Rate):
			lag = 0
		case f.Rate == 0:
			lag = mp3Lag(EngineRate)
		default:
			lag = lag * EngineRate / f.Rate
		}
		last := got[n+lag-480 : n+lag-120] // the last 20 ms, but for 5 ms that a filter takes
		var level float64
		for _, v := range last {
			level += v * v / float64(len(last))
		}
		if math.Sqrt(level) < 5000 {
			t.Errorf("%v: the end of a tone has the level %.0f", f, math.Sqrt(level))
		}
	}
}
