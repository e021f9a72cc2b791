package voiceout

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/swar-tts/swar/runtime/recording"
)

// What others make of our streams. Where a program is missing its test is skipped, and says so.

// run runs a program and returns what it wrote to standard output.
func run(t *testing.T, name string, args ...string) []byte {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("SKIPPED: %s is not installed, so only our own tests have read this audio", name)
	}
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(t.Context(), path, args...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, &errs)
	}
	return out.Bytes()
}

// file writes a file and returns its path.
func file(t *testing.T, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// packed is every format that has a container.
func packed() []Format {
	var all []Format
	for _, f := range []Format{
		{Container: WAV}, {Container: WAV, Encoding: MuLaw}, {Container: WAV, Encoding: ALaw, Rate: 16_000}, {Container: WAV, Encoding: F32, Rate: 44_100},
		{Container: MP3}, {Container: MP3, Rate: 16_000}, {Container: MP3, Rate: 22_050, Bitrate: 32_000}, {Container: MP3, Rate: 22_050, Bitrate: 48_000},
		{Container: MP3, Rate: 32_000}, {Container: MP3, Rate: 44_100, Bitrate: 192_000}, {Container: MP3, Rate: 48_000}, {Container: MP3, Bitrate: 160_000},
		{Container: Ogg}, {Container: Ogg, Rate: 48_000, Bitrate: 192_000}, {Container: Ogg, Bitrate: 32_000},
		{Container: FLAC}, {Container: FLAC, Rate: 8000}, {Container: FLAC, Rate: 44_100}, {Container: FLAC, Rate: 48_000}, {Container: FLAC, Speed: 1.25},
	} {
		if Supports(f.Container) {
			all = append(all, f)
		}
	}
	return all
}

// TestFFmpegDecodesEveryFormat compares what ffmpeg decodes, at 24 kHz, with what was spoken: length, place and sound.
func TestFFmpegDecodesEveryFormat(t *testing.T) {
	samples := speech(t, 15*frame)
	for _, f := range packed() {
		t.Run(fmt.Sprint(f), func(t *testing.T) {
			path := file(t, "speech."+string(f.Container), whole(t, f, samples))
			out := run(t, "ffmpeg", "-v", "error", "-i", path, "-f", "s16le", "-ac", "1", "-ar", "24000", "-")
			sounds(t, floats(out), stretched(t, max(f.Speed, 1), samples))
		})
	}
}

// sounds checks that got is want, but for a lag of at most 80 ms in all.
func sounds(t *testing.T, got, want []float64) {
	t.Helper()
	more := len(got) - len(want)
	if more < -1 || more > frame {
		t.Errorf("%d samples for %d, want at most %d more", len(got), len(want), frame)
	}
	if len(want) <= 2*frame {
		return
	}
	lag, like := alike(got, want)
	if lag < -2 || lag > 0.05*EngineRate || like < .94 { // 8 kHz lose that much
		t.Errorf("it lags by %d samples and is %.3f like what was spoken, want at most 50 ms and at least 0.94",
			lag, like)
	}
}

// alike returns by how many samples got lags behind want, and how alike they then are.
func alike(got, want []float64) (lag int, like float64) {
	like = -1
	for l := -20; l <= 1300; l++ {
		var ab, aa, bb float64
		for i := 4 * frame; i < min(len(want), len(got)-1300) && i < 7*frame; i += 3 {
			a, b := got[i+l], want[i]
			ab, aa, bb = ab+a*b, aa+a*a, bb+b*b
		}
		if c := ab / math.Sqrt(aa*bb+1); c > like {
			lag, like = l, c
		}
	}
	return lag, like
}

// TestBareSamplesAreReadBySox reads them as telephony does.
func TestBareSamplesAreReadBySox(t *testing.T) {
	samples := speech(t, 20*frame)
	for _, f := range []Format{{Encoding: MuLaw}, {Encoding: ALaw}, {Rate: 8000}, {Encoding: F32, Rate: 48_000},
		{Encoding: MuLaw, Rate: 24_000}} {
		f, _ = f.Check()
		kind := map[Encoding][]string{
			S16: {"-e", "signed", "-b", "16"}, F32: {"-e", "float", "-b", "32"}, MuLaw: {"-e", "mu-law", "-b", "8"},
			ALaw: {"-e", "a-law", "-b", "8"},
		}[f.Encoding]
		args := append([]string{"-D", "-t", "raw", "-c", "1", "-r", fmt.Sprint(f.Rate)}, kind...)
		args = append(args, file(t, "speech.raw", whole(t, f, samples)), "-t", "raw", "-e", "signed", "-b", "16", "-")
		got := floats(run(t, "sox", args...))
		want := floats(whole(t, Format{Rate: f.Rate}, samples))
		if len(got) != len(want) {
			t.Fatalf("%s: sox reads %d samples, want %d", f, len(got), len(want))
		}
		var error2, level2 float64
		for i := range got {
			error2, level2 = error2+(got[i]-want[i])*(got[i]-want[i]), level2+want[i]*want[i]
		}
		if db := 10 * math.Log10((error2+1e-9)/level2); db > -33 {
			t.Errorf("%s: what sox reads is off by %.1f dB, want at most -33", f, db)
		}
	}
}

func TestFlacTestsOurs(t *testing.T) {
	for _, n := range []int{1, frame, 10*frame + 11} {
		for _, rate := range []int{8000, 22_050, 24_000, 48_000} {
			stream := whole(t, Format{Container: FLAC, Rate: rate}, speech(t, n))
			run(t, "flac", "-t", "-s", file(t, "speech.flac", stream))
		}
	}
}

// decoded is what the decoders of recordings make of a stream.
func decoded(t *testing.T, name string, stream []byte) []float64 {
	t.Helper()
	r, err := recording.Read(context.Background(), file(t, name, stream))
	if err != nil {
		t.Fatal(err)
	}
	got := make([]float64, len(r.Samples))
	for i, v := range r.Samples {
		got[i] = float64(v) * 32768
	}
	return got
}
