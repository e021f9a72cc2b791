package voiceout

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"
)

func TestCheckFillsInAndRefuses(t *testing.T) {
	tests := map[string]struct {
		of    Format
		want  string // of String, or of the error
		field string // of the error, "" for none
	}{
		"nothing":                       {Format{}, "s16le/24000", ""},
		"a law has 8 kHz":               {Format{Encoding: MuLaw}, "mulaw/8000", ""},
		"or the rate that is asked for": {Format{Encoding: ALaw, Rate: 16_000}, "alaw/16000", ""},
		"a law in a WAV":                {Format{Container: WAV, Encoding: ALaw}, "wav/alaw/8000", ""},
		"floats":                        {Format{Encoding: F32, Rate: 44_100}, "f32le/44100", ""},
		"a WAV at twice the speed":      {Format{Container: WAV, Speed: 2}, "wav/s16le/24000/x2", ""},
		"FLAC has no bit rate":          {Format{Container: FLAC, Bitrate: 1}, "flac/24000", ""},
		"nor have samples":              {Format{Bitrate: 48_000}, "s16le/24000", ""},

		"a rate between":          {Format{Rate: 11_025}, "8000, 16000, 22050, 24000, 32000, 44100 or 48000", "rate"},
		"a negative rate":         {Format{Rate: -24_000}, `"-24000"`, "rate"},
		"one below the lowest":    {Format{Rate: 7999}, `"7999"`, "rate"},
		"one above the highest":   {Format{Rate: 48_001}, `"48001"`, "rate"},
		"an unknown encoding":     {Format{Encoding: "s24le"}, "s16le, f32le, mulaw or alaw", "encoding"},
		"an encoding in FLAC":     {Format{Container: FLAC, Encoding: MuLaw}, "none with the container flac", "encoding"},
		"s16le in FLAC":           {Format{Container: FLAC, Encoding: S16}, "flac/24000", ""},
		"an unknown container":    {Format{Container: "aac"}, "raw, wav", "container"},
		"just below the slowest":  {Format{Speed: .499}, `"0.499" is not offered; use 0.5 to 2`, "speed"},
		"the slowest":             {Format{Speed: .5}, "s16le/24000/x0.5", ""},
		"the fastest":             {Format{Speed: 2}, "s16le/24000/x2", ""},
		"just above the fastest":  {Format{Speed: 2.001}, `"2.001"`, "speed"},
		"no number":               {Format{Speed: math.NaN()}, `"NaN"`, "speed"},
		"a speed below nothing":   {Format{Speed: -1}, `"-1"`, "speed"},
		"a speed without a bound": {Format{Speed: math.Inf(1)}, `"+Inf"`, "speed"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) { checks(t, tt.of, tt.want, tt.field) })
	}
}

func checks(t *testing.T, f Format, want, field string) {
	t.Helper()
	got, err := f.Check()
	if field == "" {
		if err != nil || got.String() != want {
			t.Errorf("Check(%+v) = %s, %v, want %s", f, got, err, want)
		}
		if again, err := got.Check(); err != nil || again != got {
			t.Errorf("checked again it is %s, %v", again, err)
		}
		return
	}
	of, ok := errors.AsType[*FieldError](err)
	if !ok || of.Field != field || !strings.Contains(err.Error(), want) {
		t.Errorf("Check(%+v) = %v, want an error of %s with %q", f, err, field, want)
	}
	if e, err := New(f); err == nil || e != nil {
		t.Errorf("New(%+v) = %v, %v, want an error", f, e, err)
	}
}

func TestCheckOfBitrates(t *testing.T) {
	for _, c := range []Container{MP3, Ogg} {
		if !Supports(c) {
			t.Logf("SKIPPED: this program was built without %s", c)
			continue
		}
		tests := map[string]struct {
			of    Format
			want  string
			field string
		}{
			"the lowest":            {Format{Bitrate: 32_000}, "24000/32000", ""},
			"one below the lowest":  {Format{Bitrate: 31_999}, `"31999"`, "bitrate"},
			"the highest":           {Format{Bitrate: 192_000, Rate: 48_000}, "48000/192000", ""},
			"one above the highest": {Format{Bitrate: 192_001, Rate: 48_000}, `"192001"`, "bitrate"},
			"a negative one":        {Format{Bitrate: -64_000}, `"-64000"`, "bitrate"},
		}
		for name, tt := range tests {
			t.Run(string(c)+" "+name, func(t *testing.T) {
				tt.of.Container = c
				if tt.field == "" {
					tt.want = string(c) + "/" + tt.want
				}
				checks(t, tt.of, tt.want, tt.field)
			})
		}
	}
	if Supports(MP3) {
		checks(t, Format{Container: MP3}, "mp3/24000/64000", "")
		checks(t, Format{Container: MP3, Rate: 44_100}, "mp3/44100/128000", "")
		checks(t, Format{Container: MP3, Bitrate: 192_000}, "mp3/24000/160000", "")
		checks(t, Format{Container: MP3, Bitrate: 160_000, Rate: 16_000}, "mp3/16000/160000", "")
		checks(t, Format{Container: MP3, Bitrate: 80_000, Rate: 8000}, "mp3/8000/64000", "")
		checks(t, Format{Container: MP3, Bitrate: 100_000}, "32000, 40000, 48000", "bitrate")
	}
	if Supports(Ogg) {
		checks(t, Format{Container: Ogg}, "ogg/24000/48000", "")
		checks(t, Format{Container: Ogg, Bitrate: 100_000, Rate: 48_000}, "ogg/48000/100000", "")
	}
}

func TestParse(t *testing.T) {
	tests := map[string]struct {
		word    string
		offered []string
		want    Format
		err     string
	}{
		"a word":              {"mp3", nil, Format{Container: MP3}, ""},
		"in capitals":         {"FLAC", nil, Format{Container: FLAC}, ""},
		"a vendor's":          {"linear16", nil, Format{Encoding: S16}, ""},
		"two for one":         {"pcm_mulaw", nil, Format{Encoding: MuLaw}, ""},
		"opus":                {"opus", nil, Format{Container: Ogg}, ""},
		"one that is not":     {"aac", nil, Format{}, `format: "aac" is not offered; use pcm, mulaw, alaw, wav, mp3, opus or flac`},
		"nothing":             {"", nil, Format{}, `format: "" is not offered`},
		"one that is offered": {"Mulaw", []string{"linear16", "mulaw"}, Format{Encoding: MuLaw}, ""},
		"one that is not offered here": {"mp3", []string{"linear16", "mulaw", "alaw"}, Format{},
			`format: "mp3" is not offered; use linear16, mulaw or alaw`},
		"another word for what is offered": {"ulaw", []string{"mulaw"}, Format{}, "use mulaw"},
	}
	for name, tt := range tests {
		got, err := Parse(tt.word, tt.offered...)
		if got != tt.want || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%s: Parse = %+v, %v, want %+v, %q", name, got, err, tt.want, tt.err)
		}
	}
}

func TestContentType(t *testing.T) {
	for want, f := range map[string]Format{
		"audio/pcm": {}, "audio/wav": {Container: WAV, Encoding: MuLaw}, "audio/mpeg": {Container: MP3}, "audio/ogg": {Container: Ogg},
		"audio/flac": {Container: FLAC}, "audio/mulaw": {Encoding: MuLaw}, "audio/alaw": {Encoding: ALaw},
		"application/octet-stream": {Encoding: F32, Container: Raw},
	} {
		if got := f.ContentType(); got != want {
			t.Errorf("%+v is %s, want %s", f, got, want)
		}
	}
	for want, f := range map[string]Format{"audio/l16;rate=24000;channels=1": {},
		"audio/l16;rate=8000;channels=1": {Rate: 8000}} {
		if got := f.L16(); got != want {
			t.Errorf("%+v is %s, want %s", f, got, want)
		}
	}
}

func TestTime(t *testing.T) {
	for speed, want := range map[float64]time.Duration{0: 3 * time.Second, 1: 3 * time.Second,
		2: 1500 * time.Millisecond, .5: 6 * time.Second} {
		if got := (Format{Speed: speed}).Time(3 * time.Second); got != want {
			t.Errorf("at speed %g: %v, want %v", speed, got, want)
		}
	}
}
