package recording

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/swar-tts/swar/runtime/internal/ogg"
)

// TestFormats reads a second of 440 Hz at half of full scale in each format; the second channel of those with two
// is half as loud.
func TestFormats(t *testing.T) {
	for _, tt := range []struct {
		file, format   string
		rate, channels int
		level          float64 // of the mean
		slack          float64 // seconds more or less
	}{
		{"mono24.flac", "FLAC", 24000, 1, .5, 0},
		{"stereo44.flac", "FLAC", 44100, 2, .375, 0},
		{"mono24.mp3", "MP3", 24000, 1, .475, .15},
		{"stereo44.mp3", "MP3", 44100, 2, .375, .15},
		{"mono16.opus", "Ogg Opus", 48000, 1, .5, .0001},
		{"stereo48.opus", "Ogg Opus", 48000, 2, .375, .0001},
		{"mono24.ogg", "Ogg Vorbis", 24000, 1, .5, .01},
		{"mono24.m4a", "MP4 (m4a, 3gp)", 24000, 1, .5, .1},
	} {
		t.Run(tt.file, func(t *testing.T) {
			if tt.file == "mono24.ogg" || tt.file == "mono24.m4a" {
				needFFmpeg(t)
			}
			path := filepath.Join("testdata", tt.file)
			r, err := Read(t.Context(), path)
			if err != nil {
				t.Fatal(err)
			}
			data, _ := os.ReadFile(path)
			if sum := sha256.Sum256(data); r.SHA256 != hex.EncodeToString(sum[:]) {
				t.Errorf("SHA-256 %s", r.SHA256)
			}
			if r.Format != tt.format || r.Rate != tt.rate || r.Channels != tt.channels {
				t.Errorf("%s, %d Hz, %d channels; want %s, %d, %d", r.Format, r.Rate, r.Channels, tt.format, tt.rate,
					tt.channels)
			}
			if math.Abs(r.Seconds-1) > tt.slack || math.Abs(float64(len(r.Samples))/24000-r.Seconds) > 1/24000. {
				t.Errorf("%.4f s, %d samples", r.Seconds, len(r.Samples))
			}
			level, rest := fit(r.Samples[6000:18000], 440)
			if math.Abs(level-tt.level) > .02 || rest > level/50 {
				t.Errorf("440 Hz at %.3f, and beside it %.4f; want %.3f", level, rest, tt.level)
			}
			if has(r, Mixed) != (tt.channels > 1) || has(r, Broken) || !has(r, TooShort) {
				t.Errorf("findings %v", r.Findings)
			}
			if tt.slack == 0 && tt.channels == 1 {
				want := tone(440, .5, 24000, 24000)
				for i, v := range r.Samples {
					if math.Abs(float64(v-want[i])) > 1./(1<<15) {
						t.Fatalf("sample %d is %g, want %g", i, v, want[i])
					}
				}
			}
		})
	}
}

func TestTheRecordedRateOfOpusIsLookedAt(t *testing.T) {
	b := slices.Clone(read1(t, "mono16.opus"))
	binary.LittleEndian.PutUint32(b[40:], 8000)
	checksum(b, 0)
	if r, err := readBytes(t, b); err != nil || !has(r, LowRate) {
		t.Errorf("a voice note of 8 kHz: %v, %v", r, err)
	}
	if r, err := readBytes(t, read1(t, "mono16.opus")); err != nil || has(r, LowRate) {
		t.Errorf("a voice note of 16 kHz: %v, %v", r, err)
	}
}

func TestTheGainOfOpusIsApplied(t *testing.T) {
	b := slices.Clone(read1(t, "mono16.opus"))
	binary.LittleEndian.PutUint16(b[44:], 0xffff-6*256+1) // -6 dB
	checksum(b, 0)
	r, err := readBytes(t, b)
	if err != nil {
		t.Fatal(err)
	}
	if level, _ := fit(r.Samples[6000:18000], 440); math.Abs(level-.2506) > .01 {
		t.Errorf("half of full scale less 6 dB is %.3f, want 0.251", level)
	}
}

// TestDamagedFiles cuts every format off at several places, and changes bytes of it: what comes is a part, said to
// be one, or an error.
func TestDamagedFiles(t *testing.T) {
	for _, name := range []string{"stereo44.flac", "mono24.mp3", "mono16.opus", "stereo48.opus"} {
		whole := read1(t, name)
		for _, part := range []float64{.9, .6} {
			r, err := readBytes(t, whole[:int(part*float64(len(whole)))])
			switch {
			case err != nil && !strings.HasSuffix(name, ".opus"): // which may be one page
				t.Errorf("%.0f %% of %s: %v", part*100, name, err)
			case err == nil && r.Seconds > part+.2:
				t.Errorf("%.0f %% of %s have %.2f s", part*100, name, r.Seconds)
			case err == nil && !has(r, Broken) && !strings.HasSuffix(name, ".mp3"): // which does not say how long it is
				t.Errorf("%.0f %% of %s: findings %v", part*100, name, r.Findings)
			}
		}
		random := rand.New(rand.NewPCG(5, 6))
		for range 60 {
			b := slices.Clone(whole)
			for range 1 + random.IntN(4) {
				b[random.IntN(len(b))] ^= byte(1 + random.IntN(255))
			}
			if r, err := readBytes(t, b); err == nil && r.Seconds > 3 {
				t.Errorf("%s damaged has %.0f s", name, r.Seconds)
			}
		}
	}
}

// TestADecoderThatPanics keeps what was decoded before: this byte makes the decoder look behind its tables.
func TestADecoderThatPanics(t *testing.T) {
	b := slices.Clone(read1(t, "mono24.mp3"))
	b[2832] ^= 108
	r, err := readBytes(t, b)
	if err != nil || !has(r, Broken) || r.Seconds < .2 || r.Channels != 1 {
		t.Errorf("got %+v, %v; want the beginning, said to be damaged", r, err)
	}
}

func TestStreamsOfOgg(t *testing.T) {
	one, other := read1(t, "mono16.opus"), read1(t, "stereo48.opus")
	t.Run("chained", func(t *testing.T) {
		if _, err := readBytes(t, slices.Concat(one, other)); err == nil ||
			!strings.Contains(err.Error(), "chained Ogg") {
			t.Errorf("two streams, one after the other: %v", err)
		}
	})
	t.Run("something behind the end", func(t *testing.T) {
		if r, err := readBytes(t, slices.Concat(one, make([]byte, 5000))); err != nil || has(r, Broken) {
			t.Errorf("%v, %v", r, err)
		}
	})
	t.Run("pages of another stream", func(t *testing.T) {
		b := slices.Clone(one)
		at := pages(b)
		foreign := slices.Clone(b[at[2]:at[3]])
		foreign[5] = 0
		binary.LittleEndian.PutUint32(foreign[14:], 99)
		checksum(foreign, 0)
		if r, err := readBytes(t, slices.Concat(b[:at[2]], foreign, b[at[2]:])); err != nil || has(r, Broken) ||
			r.Seconds != 1 {
			t.Errorf("%v, %v", r, err)
		}
	})
	t.Run("a lost page", func(t *testing.T) {
		at := pages(other)
		b := slices.Concat(other[:at[2]], other[at[3]:])
		if _, err := readBytes(t, b); err == nil || !strings.Contains(err.Error(), "page 2 is missing") {
			t.Errorf("%v", err)
		}
	})
	t.Run("a stream that was cut out of a longer one", func(t *testing.T) {
		b := slices.Clone(one)
		for _, at := range pages(b)[2:] {
			binary.LittleEndian.PutUint64(b[at+6:], binary.LittleEndian.Uint64(b[at+6:])+48000*3600)
			checksum(b, at)
		}
		if r, err := readBytes(t, b); err != nil || math.Abs(r.Seconds-1) > .03 {
			t.Errorf("%v, %v", r, err)
		}
	})
	t.Run("three channels", func(t *testing.T) {
		b := slices.Clone(one)
		b[37] = 3
		checksum(b, 0)
		if _, err := readBytes(t, b); err == nil || !strings.Contains(err.Error(), "it has 3 channels, want 1 or 2") {
			t.Errorf("%v", err)
		}
	})
}

func TestRefusals(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	for name, tt := range map[string]struct {
		data []byte
		want string
	}{
		"nothing":            {nil, "no format of sound that is known here: install ffmpeg"},
		"text":               {[]byte("<!doctype html>"), "no format of sound that is known here: install ffmpeg"},
		"an m4a":             {read1(t, "mono24.m4a"), "it is MP4 (m4a, 3gp): install ffmpeg, which may read it, or make a file of it that is read without: ffmpeg -i "},
		"a vorbis":           {read1(t, "mono24.ogg"), "it is Ogg Vorbis: install ffmpeg"},
		"an AMR":             {[]byte("#!AMR\n1234"), "it is AMR: install ffmpeg"},
		"layer II":           {[]byte("ID3\x03\x00\x00\x00\x00\x00\x00\xff\xfd\x90\x00"), "it is MP3 (another layer or none): install ffmpeg"},
		"a silent recording": {wav(t, 24000, 1, make([]float32, 24000)), "it is silent"},
		"opposite channels": {wav(t, 24000, 2, interleave(tone(440, .5, 24000, 24000), tone(440, -.5, 24000, 24000))),
			"its channels cancel one another out"},
		"no sample": {wav(t, 24000, 1, nil), "it holds no sound"},
	} {
		if _, err := readBytes(t, tt.data); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
	if _, err := Read(t.Context(), dir); err == nil || !strings.Contains(err.Error(), "is not a file") {
		t.Errorf("a folder: %v", err)
	}
	if _, err := Read(t.Context(), filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
	for over, want := range map[int64]string{-1: "no format of sound", 0: "no format of sound",
		1: "has 200 MiB, more than 200"} {
		path := filepath.Join(dir, "large")
		if err := errors.Join(os.WriteFile(path, nil, 0o644), os.Truncate(path, MaxBytes+over)); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(t.Context(), path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("a file of 200 MiB and %d bytes: %v, want %q", over, err, want)
		}
	}
}

func TestQuotedNames(t *testing.T) {
	for name, want := range map[string]string{
		"voice.m4a": "voice.m4a", "my voice.m4a": "'my voice.m4a'", "": "''", "-y.m4a": "'-y.m4a'", "a'b": `'a'\''b'`, "a$(b)": "'a$(b)'",
	} {
		if got := quote(name); got != want {
			t.Errorf("%q is quoted as %s, want %s", name, got, want)
		}
	}
}

// TestFindings makes recordings one below, at and one above each limit.
func TestFindings(t *testing.T) {
	speech := func(seconds float64) []float32 { return syllables(int(seconds * 24000)) }
	scaled := func(x []float32, by float64) []float32 {
		for i := range x {
			x[i] *= float32(by)
		}
		return x
	}
	clips := func(runs, length int) []float32 {
		x := speech(10)
		for r := range runs {
			for i := range length {
				x[1000+100*r+i] = 1
			}
		}
		return x
	}
	toLevel := func(db float64) []float32 {
		x := speech(10)
		return scaled(x, math.Pow(10, (db-decibels(power(x)))/20))
	}
	noisy := func(db float64) []float32 { return withNoise(speech(10), db) }
	for name, tt := range map[string]struct {
		data []byte
		want []Kind
	}{
		"a good one":                  {floats(t, speech(10)), nil},
		"a sample less than 3 s":      {floats(t, speech(3)[1:]), []Kind{TooShort}},
		"3 s":                         {floats(t, speech(3)), []Kind{Short}},
		"a sample less than 8 s":      {floats(t, speech(8)[1:]), []Kind{Short}},
		"8 s":                         {floats(t, speech(8)), nil},
		"30 s":                        {floats(t, speech(30)), nil},
		"a sample more than 30 s":     {floats(t, syllables(30*24000+1)), []Kind{Cut}},
		"runs that are none":          {floats(t, clips(50, clipRun-1)), nil},
		"two runs":                    {floats(t, clips(clippedRuns-1, clipRun)), nil},
		"three runs":                  {floats(t, clips(clippedRuns, clipRun)), []Kind{Clipped}},
		"-39.9 dBFS":                  {floats(t, toLevel(-39.9)), nil},
		"-40.1 dBFS":                  {floats(t, toLevel(-40.1)), []Kind{Quiet}},
		"noise 27 dB below":           {floats(t, noisy(27)), nil},
		"noise 23 dB below":           {floats(t, noisy(23)), []Kind{Noisy}},
		"16 kHz":                      {wav(t, 16000, 1, speech(10)), nil},
		"15,999 Hz":                   {wav(t, 15999, 1, speech(10)), []Kind{LowRate}},
		"two channels":                {wav(t, 24000, 2, interleave(speech(10), speech(10))), []Kind{Mixed}},
		"several things at once":      {wav(t, 8000, 2, interleave(clips(9, 9)[:9000], clips(9, 9)[:9000])), []Kind{TooShort, Clipped, LowRate, Mixed}},
		"a file that breaks off":      {floats(t, speech(10))[:400000], []Kind{Broken, Short}},
		"integers of full scale once": {wav(t, 24000, 1, scaled(speech(10), 1/.9)), nil},
	} {
		r, err := readBytes(t, tt.data)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var got []Kind
		for _, f := range r.Findings {
			got = append(got, f.Kind)
			if !strings.HasSuffix(f.Text, ".") {
				t.Errorf("%s: %q is not a sentence", name, f.Text)
			}
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", name, r.Findings, tt.want)
		}
	}
}

func TestItIsCutAtTheQuietestPlace(t *testing.T) {
	x := make([]float32, 40*24000)
	random := rand.New(rand.NewPCG(1, 1))
	for i := range x {
		x[i] = float32(random.Float64() - .5)
	}
	pause := 29*24000 + 24000/3
	clear(x[pause : pause+600]) // 25 ms
	clear(x[28*24000 : 28*24000+9000])
	r, err := readBytes(t, floats(t, x))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(r.Samples); n < pause+480 || n > pause+600 {
		t.Errorf("it is cut after %d samples, want within the pause from %d", n, pause)
	}
	if r.Seconds != 40 {
		t.Errorf("the file has %g s, want 40", r.Seconds)
	}
	pause = 28 * 24000
	for _, most := range []int{40 * 24000, len(r.Samples), len(r.Samples) - 1, pause + 12000, 100} {
		before := len(r.Samples)
		r.Trim(most)
		if n := len(r.Samples); n > most || n < min(before, most)-24000 ||
			most == pause+12000 && (n < pause+480 || n > pause+9000) {
			t.Errorf("%d samples are trimmed to %d: %d are left", before, most, n)
		}
	}
	if len(r.Findings) != 2 || r.Findings[1].Text != "It has 40.0 s: the first 0.00 are used, up to the quietest place before 0.004167 s." {
		t.Errorf("findings %v", r.Findings)
	}
}

func TestAnHourIsRead(t *testing.T) {
	if testing.Short() {
		t.Skip("reads three hours of sound")
	}
	path := filepath.Join(t.TempDir(), "hour.wav")
	for more, want := range map[int]string{-1: "", 0: "", 1: "longer than 60 minutes"} {
		n := MaxSeconds*8000 + more
		head := wavHead(wavPCM, 8000, 1, 8, n)
		if err := os.WriteFile(path, append(head, slices.Repeat([]byte{0x80, 0xff}, n/2+1)[:n]...), 0o644); err != nil {
			t.Fatal(err)
		}
		r, err := Read(t.Context(), path)
		if want == "" && (err != nil || r.Seconds != float64(n)/8000 || len(r.Samples) > UsedSeconds*24000) {
			t.Errorf("an hour and %d samples: %v", more, err)
		}
		if want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("an hour and %d samples: %v, want %q", more, err, want)
		}
	}
}

func TestReadingHeedsTheContext(t *testing.T) {
	ctx, stop := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	stop(why)
	for _, name := range []string{"mono24.flac", "mono24.mp3", "mono16.opus"} {
		if _, err := Read(ctx, filepath.Join("testdata", name)); !errors.Is(err, why) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestFFmpegIsBounded puts programs in the place of ffmpeg that do not behave.
func TestFFmpegIsBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.amr")
	if err := os.WriteFile(path, []byte("#!AMR\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip(err)
	}
	head := wavHead(wavPCM, 8000, 1, 8, 0)
	var octal strings.Builder
	for _, b := range head {
		fmt.Fprintf(&octal, `\%03o`, b)
	}
	header := "printf '" + octal.String() + "'\n"
	for name, tt := range map[string]struct{ script, want string }{
		"it fails":          {"echo 'moov atom not found' >&2; exit 1", "it is AMR, and ffmpeg cannot read it: moov atom not found"},
		"it says nothing":   {"exit 1", "ffmpeg cannot read it: it says nothing"},
		"it never ends":     {header + "while :; do echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; done", "longer than 60 minutes"},
		"it writes no WAV":  {"echo RIFFdataWAVEdata....; exit 0", "ffmpeg cannot read it"},
		"it writes nothing": {header + "exit 0", "it holds no sound"},
	} {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && strings.HasPrefix(name, "it never") {
				t.Skip("reads an hour")
			}
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "ffmpeg"), []byte("#!"+shell+"\n"+tt.script+"\n"),
				0o755); err != nil {
				t.Fatal(err)
			}
			t.Setenv("PATH", dir)
			if _, err := Read(t.Context(), path); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want %q", err, tt.want)
			}
		})
	}
	t.Run("nobody waits for it", func(t *testing.T) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "ffmpeg"), []byte("#!"+shell+"\nread x\n/bin/sleep 100\n"),
			0o755); err != nil {
			t.Fatal(err)
		}
		t.Setenv("PATH", dir)
		ctx, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer stop()
		if _, err := Read(ctx, path); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v", err)
		}
	})
}

// TestFFmpegOpensNoLists gives it what would have it read other files.
func TestFFmpegOpensNoLists(t *testing.T) {
	needFFmpeg(t)
	secret, _ := filepath.Abs("testdata/mono24.mp3")
	for name, list := range map[string]string{
		"HLS":    "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\nfile://" + secret + "\n#EXT-X-ENDLIST\n",
		"concat": "ffconcat version 1.0\nfile '" + secret + "'\n",
	} {
		if r, err := readBytes(t, []byte(list)); err == nil {
			t.Errorf("%s: %.1f s were read", name, r.Seconds)
		}
	}
}

func needFFmpeg(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("ffmpeg"); err != nil {
		t.Skip("ffmpeg is not installed")
	}
}

func has(r *Recording, k Kind) bool {
	return slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Kind == k })
}

func read1(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func readBytes(t testing.TB, data []byte) (*Recording, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a recording")
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return Read(t.Context(), path)
}

// pages returns where the pages of an Ogg file begin.
func pages(b []byte) (at []int) {
	for i := 0; i+ogg.HeaderSize <= len(b); {
		at = append(at, i)
		n := ogg.HeaderSize + int(b[i+26])
		for _, v := range b[i+ogg.HeaderSize : i+n] {
			n += int(v)
		}
		i += n
	}
	return at
}

// checksum makes the page at a place valid again.
func checksum(b []byte, at int) {
	n := ogg.HeaderSize + int(b[at+26])
	for _, v := range b[at+ogg.HeaderSize : at+n] {
		n += int(v)
	}
	clear(b[at+22 : at+26])
	binary.LittleEndian.PutUint32(b[at+22:], ogg.Checksum(b[at:at+n]))
}

func tone(hz, level float64, rate, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(level * math.Sin(2*math.Pi*hz*float64(i)/float64(rate)))
	}
	return x
}

// syllables is a tone at 24 kHz that swells and fades four times a second, with pauses as speech has.
func syllables(n int) []float32 {
	x := tone(180, .9, 24000, n)
	for i := range x {
		x[i] *= float32(max(0, math.Sin(2*math.Pi*2*float64(i)/24000)))
	}
	return x
}

// withNoise adds noise so far below the loudest part of x.
func withNoise(x []float32, db float64) []float32 {
	random := rand.New(rand.NewPCG(7, 8))
	loudest := .9 / math.Sqrt2 * .99
	for i := range x {
		x[i] += float32(random.NormFloat64() * loudest * math.Pow(10, -db/20))
	}
	return x
}

func interleave(a, b []float32) []float32 {
	x := make([]float32, 0, 2*len(a))
	for i := range a {
		x = append(x, a[i], b[i])
	}
	return x
}

// fit returns the amplitude of the sine that comes closest to x, and the RMS of what it leaves.
func fit(x []float32, hz float64) (level, rest float64) {
	var ss, cc, sc, xs, xc float64
	w := 2 * math.Pi * hz / 24000
	for i, v := range x {
		s, c := math.Sincos(w * float64(i))
		ss, cc, sc = ss+s*s, cc+c*c, sc+s*c
		xs, xc = xs+float64(v)*s, xc+float64(v)*c
	}
	det := ss*cc - sc*sc
	a, b := (xs*cc-xc*sc)/det, (xc*ss-xs*sc)/det
	for i, v := range x {
		s, c := math.Sincos(w * float64(i))
		d := float64(v) - a*s - b*c
		rest += d * d
	}
	return math.Hypot(a, b), math.Sqrt(rest / float64(len(x)))
}
