package encode

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/wav"
)

// What others make of our files. Where a program is missing its test is skipped, and says so.

// run runs a program and returns what it wrote to standard output and to standard error.
func run(t *testing.T, name string, args ...string) (stdout []byte, stderr string) {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("SKIPPED: %s is not installed, so nobody but us has read this audio", name)
	}
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(t.Context(), path, args...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s %s: %v\n%s%s", name, strings.Join(args, " "), err, &out, &errs)
	}
	return out.Bytes(), errs.String()
}

// file writes the encoded samples to a file and returns its path.
func file(t *testing.T, f speech.Format, pcm []int16, blocks ...int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "speech."+string(f))
	if err := os.WriteFile(path, encoded(t, f, pcm, blocks...).all(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func samples(b []byte) []int16 {
	pcm := make([]int16, len(b)/2)
	for i := range pcm {
		pcm[i] = int16(binary.LittleEndian.Uint16(b[2*i:]))
	}
	return pcm
}

func TestOpusinfoHasNothingToSay(t *testing.T) {
	pcm := voice(750 * frame)
	for _, n := range edges[:11] {
		t.Run(strconv.Itoa(n), func(t *testing.T) {
			out, errs := run(t, "opusinfo", file(t, speech.Opus, pcm[:n], oneThenFour(n)...))
			all := string(out) + errs
			for _, bad := range []string{"WARNING", "ERROR", "Warning", "Error", "negative", "corrupt"} {
				if strings.Contains(all, bad) {
					t.Errorf("opusinfo says:\n%s", all)
				}
			}
			for _, want := range []string{"Pre-skip: 312", "Original sample rate: 24000", "Channels: 1", "ENCODER=swar",
				"SYNTHETIC=1", "MODEL=क", "20.0ms (max),   20.0ms (avg),   20.0ms (min)", "Logical stream 1 ended"} {
				if !strings.Contains(all, want) {
					t.Errorf("opusinfo does not say %q:\n%s", want, all)
				}
			}
		})
	}
}

func TestOpusdecReturnsEverySample(t *testing.T) {
	pcm := voice(750 * frame)
	for _, n := range edges {
		t.Run(strconv.Itoa(n), func(t *testing.T) {
			for _, tt := range []struct {
				blocks     []int
				rate, want int
			}{
				{oneThenFour(n), speech.SampleRate, n},
				{[]int{n}, 48000, 2 * n}, // what an Opus decoder works at
			} {
				out, errs := run(t, "opusdec", "--no-dither", "--rate", strconv.Itoa(tt.rate),
					file(t, speech.Opus, pcm[:n], tt.blocks...), "-")
				if got := len(out) / 2; got != tt.want {
					t.Errorf("%d samples at %d Hz, want %d\n%s", got, tt.rate, tt.want, errs)
				}
			}
		})
	}
}

// TestDecodedSpeechIsAligned: the decoder's delay must be cut off at the start and nowhere else.
func TestDecodedSpeechIsAligned(t *testing.T) {
	pcm := voice(100 * frame)
	out, _ := run(t, "opusdec", "--no-dither", "--rate", "24000",
		file(t, speech.Opus, pcm, oneThenFour(len(pcm))...), "-")
	got := samples(out)
	if len(got) != len(pcm) {
		t.Fatalf("%d samples, want %d", len(got), len(pcm))
	}
	for _, part := range []struct{ from, to int }{{0, 10 * frame}, {45 * frame, 55 * frame},
		{90 * frame, 100 * frame}} {
		lag, likeness := offset(pcm[part.from:part.to], got[part.from:part.to])
		t.Logf("samples %d to %d: offset %d, likeness %.4f", part.from, part.to, lag, likeness)
		if lag < -1 || lag > 1 || likeness < 0.95 {
			t.Errorf("samples %d to %d are off by %d (likeness %.3f), want at most 1", part.from, part.to,
				lag, likeness)
		}
	}
}

// offset returns by how many samples b lags behind a where they correlate best, and how well.
func offset(a, b []int16) (lag int, likeness float64) {
	const most = 1000
	likeness = -1
	for l := -most; l <= most; l++ {
		var ab, aa, bb float64
		for i := most; i < len(a)-most; i++ {
			x, y := float64(a[i]), float64(b[i+l])
			ab, aa, bb = ab+x*y, aa+x*x, bb+y*y
		}
		if c := ab / math.Sqrt(aa*bb); c > likeness {
			lag, likeness = l, c
		}
	}
	return lag, likeness
}

func TestFfprobeSeesTheDuration(t *testing.T) {
	pcm := voice(750 * frame)
	for _, n := range []int{frame, frame + 1, 5 * frame, 100 * frame, 750 * frame} {
		for _, f := range []speech.Format{speech.WAV, speech.Opus} {
			t.Run(fmt.Sprint(f, " ", n), func(t *testing.T) {
				out, errs := run(t, "ffprobe", "-v", "warning", "-show_entries",
					"format=duration:stream=codec_name,sample_rate,channels", "-of", "default=nw=1",
					file(t, f, pcm[:n], oneThenFour(n)...))
				t.Logf("%s%s", out, errs)
				codec := map[speech.Format]string{speech.WAV: "codec_name=pcm_s16le\nsample_rate=24000\nchannels=1\n",
					speech.Opus: "codec_name=opus\nsample_rate=48000\nchannels=1\n"}[f]
				if !strings.Contains(string(out), codec) {
					t.Errorf("ffprobe says %s, want %s", out, codec)
				}
				_, text, _ := strings.Cut(string(out), "duration=")
				got, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
				if err != nil {
					t.Fatalf("ffprobe gives no duration: %s", out)
				}
				want := float64(n) / speech.SampleRate
				if f == speech.Opus {
					want += 312.0 / 48000 // ffprobe counts the pre-skip, also of what opusenc writes
				}
				if math.Abs(got-want) > 0.0001 {
					t.Errorf("duration %v s, want %v", got, want)
				}
			})
		}
	}
}

func TestFfmpegDecodesEverySample(t *testing.T) {
	pcm := voice(100 * frame)
	for _, n := range []int{1, 480, frame, frame + 1, 100 * frame} {
		t.Run(strconv.Itoa(n), func(t *testing.T) {
			wav, errs := run(t, "ffmpeg", "-v", "warning", "-i", file(t, speech.WAV, pcm[:n], n), "-f", "s16le", "-")
			if want := encoded(t, speech.PCM16, pcm[:n], n).all(); !bytes.Equal(wav, want) {
				// it warns about the unknown length
				t.Errorf("%d bytes from the streamed WAV, want the %d that were written\n%s", len(wav), len(want), errs)
			}
			opus, errs := run(t, "ffmpeg", "-v", "warning", "-i", file(t, speech.Opus, pcm[:n], oneThenFour(n)...),
				"-f", "s16le", "-")
			if got := len(opus) / 2; got != 2*n || errs != "" {
				t.Errorf("%d samples at 48 kHz from Opus, want %d\n%s", got, 2*n, errs)
			}
		})
	}
}

func TestSoxReadsAnExactWAV(t *testing.T) {
	pcm := voice(3 * frame)
	body := encoded(t, speech.PCM16, pcm, len(pcm)).all()
	header := wav.Header(uint32(len(body)))
	path := filepath.Join(t.TempDir(), "exact.wav")
	if err := os.WriteFile(path, append(header[:], body...), 0o600); err != nil {
		t.Fatal(err)
	}
	out, errs := run(t, "sox", path, "-t", "raw", "-")
	if !bytes.Equal(out, body) || errs != "" {
		t.Errorf("sox returns %d bytes, want the %d that were written\n%s", len(out), len(body), errs)
	}
}

// TestFfprobeReadsTheTags: of Ogg/Opus, and of WAV, whether its length is known or not.
func TestFfprobeReadsTheTags(t *testing.T) {
	pcm := voice(3 * frame)
	tags := speech.Metadata{Service: "Asha Bank", Model: "m", RequestID: "req_1"}.Tags()
	var ogg writes
	e, err := New(speech.Opus, &ogg, Options{Tags: tags})
	if err == nil {
		err = errors.Join(e.Write(pcm), e.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	samples := encoded(t, speech.PCM16, pcm, len(pcm)).all()
	const comment = "comment=SYNTHETIC=1; SERVICE=Asha Bank; MODEL=m; REQUEST_ID=req_1"
	for name, tt := range map[string]struct {
		file []byte
		want []string
	}{
		"ogg":          {ogg.all(), tags},
		"exact WAV":    {append(wav.HeaderWithTags(uint32(len(samples)), tags), samples...), []string{comment, "encoder=swar"}},
		"streamed WAV": {append(wav.HeaderWithTags(wav.Streaming, tags), samples...), []string{comment, "encoder=swar"}},
	} {
		path := filepath.Join(t.TempDir(), "audio")
		if err := os.WriteFile(path, tt.file, 0o600); err != nil {
			t.Fatal(err)
		}
		out, errs := run(t, "ffprobe", "-v", "warning", "-show_entries", "format_tags:stream_tags", "-of",
			"default=noprint_wrappers=1", path)
		for _, want := range tt.want {
			if !strings.Contains(strings.ReplaceAll(string(out), "TAG:", ""), want+"\n") {
				t.Errorf("%s: ffprobe does not tell %s:\n%s%s", name, want, out, errs)
			}
		}
		if strings.HasSuffix(name, "WAV") {
			out, errs := run(t, "ffmpeg", "-v", "warning", "-i", path, "-f", "s16le", "-")
			if !bytes.Equal(out, samples) {
				t.Errorf("%s: ffmpeg returns %d bytes, want %d\n%s", name, len(out), len(samples), errs)
			}
		}
	}
}
