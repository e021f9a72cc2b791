//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

func body(t *testing.T, fields map[string]any) string {
	t.Helper()
	b, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// curl speaks with the request's fields into a file and returns its path.
func curl(t *testing.T, s *server, name string, fields map[string]any) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	run(t, "curl", "-sS", "--fail", "-H", "content-type: application/json", "-d", body(t, fields), "-o", path,
		s.base+"/v1/tts")
	return path
}

func TestFormatsOpenInOtherPrograms(t *testing.T) {
	s := start(t)
	fields := func(format string, stream bool) map[string]any {
		return map[string]any{"text": sentence, "seed": 7, "format": format, "stream": stream}
	}
	pcm, err := os.ReadFile(curl(t, s, "a.pcm", fields("pcm16", true)))
	if err != nil {
		t.Fatal(err)
	}
	samples := len(pcm) / 2
	if samples < 24000 || len(pcm)%3840 != 0 {
		t.Fatalf("%d bytes of pcm, want whole frames and more than a second", len(pcm))
	}
	for _, stream := range []bool{true, false} {
		wav := curl(t, s, "a.wav", fields("wav", stream))
		t.Run(fmt.Sprintf("wav stream=%v in ffprobe", stream), func(t *testing.T) {
			got := run(t, "ffprobe", "-v", "error", "-count_packets", "-show_entries",
				"stream=codec_name,sample_rate,channels", "-of", "csv=p=0", wav)
			if strings.TrimSpace(strings.Split(got, "\n")[0]) != "pcm_s16le,24000,1" &&
				!strings.HasPrefix(got, "pcm_s16le,24000,1") {
				t.Errorf("ffprobe says %q", got)
			}
			decoded := filepath.Join(t.TempDir(), "d.raw")
			run(t, "ffmpeg", "-v", "error", "-i", wav, "-f", "s16le", "-y", decoded)
			if info, err := os.Stat(decoded); err != nil || info.Size() != int64(len(pcm)) {
				t.Errorf("ffmpeg decodes %v bytes (%v), want %d", info.Size(), err, len(pcm))
			}
		})
		opus := curl(t, s, "a.opus", fields("opus", stream))
		t.Run(fmt.Sprintf("opus stream=%v in opusinfo and opusdec", stream), func(t *testing.T) {
			if got := run(t, "opusinfo", opus); strings.Contains(strings.ToLower(got), "warning") {
				t.Errorf("opusinfo warns:\n%s", got)
			}
			decoded := filepath.Join(t.TempDir(), "d.raw")
			run(t, "opusdec", "--quiet", "--rate", "24000", opus, decoded)
			if info, err := os.Stat(decoded); err != nil || info.Size() != int64(len(pcm)) {
				t.Errorf("opusdec gives %d samples (%v), want %d", info.Size()/2, err, samples)
			}
		})
	}
}

// TestAudioSounds measures with sox what an ear would notice first.
func TestAudioSounds(t *testing.T) {
	s := start(t)
	level := map[string]float64{}
	for _, voice := range []string{"anjura", "raj"} {
		wav := curl(t, s, voice+".wav", map[string]any{"text": sentence, "voice": voice, "stream": false, "seed": 1})
		stat := soxStat(t, wav)
		level[voice] = 20 * math.Log10(stat["RMS     amplitude"])
		if peak := max(stat["Maximum amplitude"], -stat["Minimum amplitude"]); peak >= .99 || peak < .1 {
			t.Errorf("%s: peak %.3f, want loud and not clipped", voice, peak)
		}
		if d := stat["Length (seconds)"]; d < 3 || d > 9 {
			t.Errorf("%s: %.2f s for the sentence", voice, d)
		}
		t.Logf("%s: %.2f s, RMS %.1f dBFS, peak %.2f", voice, stat["Length (seconds)"], level[voice],
			stat["Maximum amplitude"])
	}
	if d := math.Abs(level["anjura"] - level["raj"]); d > 2 {
		t.Errorf("the voices differ by %.1f dB", d)
	}
}

func soxStat(t *testing.T, file string) map[string]float64 {
	t.Helper()
	stat := map[string]float64{}
	for line := range strings.Lines(run(t, "sox", file, "-n", "stat")) {
		name, value, _ := strings.Cut(line, ":")
		if f, err := strconv.ParseFloat(strings.TrimSpace(value), 64); err == nil {
			stat[strings.TrimSpace(name)] = f
		}
	}
	return stat
}
