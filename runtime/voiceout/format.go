package voiceout

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/swar-tts/swar/runtime/resample"
	"github.com/swar-tts/swar/runtime/stretch"
)

// EngineRate is the rate of the samples that an [Encoder] takes, in Hz.
const EngineRate = 24_000

// Speeds outside these are refused.
const (
	MinSpeed = stretch.MinSpeed
	MaxSpeed = stretch.MaxSpeed
)

// Bit rates outside these are refused, in bits per second.
const (
	MinBitrate = 32_000
	MaxBitrate = 192_000
)

// A Container is what the samples are packed in.
type Container string

// The containers. Raw is none; MP3, Ogg and FLAC have an encoding of their own.
const (
	Raw  Container = "raw"
	WAV  Container = "wav"
	MP3  Container = "mp3"
	Ogg  Container = "ogg" // of Opus
	FLAC Container = "flac"
)

// An Encoding is what one sample becomes in [Raw] and [WAV].
type Encoding string

// The encodings, all of one channel, and little-endian.
const (
	S16   Encoding = "s16le"
	F32   Encoding = "f32le" // from -1 to 1
	MuLaw Encoding = "mulaw" // G.711
	ALaw  Encoding = "alaw"  // G.711
)

// Rates are the sample rates that there are, in Hz.
func Rates() []int { return slices.Clone(rates) }

var (
	rates       = []int{8000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000}
	mp3Bitrates = []int{32_000, 40_000, 48_000, 56_000, 64_000, 80_000, 96_000, 112_000, 128_000, 160_000, 192_000}
)

// A Format is what a turn of speech leaves as. The zero value is 24 kHz PCM. Formats can be compared after
// [Format.Check].
type Format struct {
	Container Container // "" means Raw
	Encoding  Encoding  // of Raw and WAV; "" means S16
	Rate      int       // Hz; 0 means 24,000, and 8,000 for MuLaw and ALaw. Ogg keeps none: Opus decodes at any rate
	Bitrate   int       // bits per second, of MP3 and Ogg; 0 means 64,000 (MP3 above 24 kHz: 128,000) and 48,000
	Speed     float64   // how many times as fast as the engine has spoken; 0 means 1
}

// A FieldError says which field of a [Format] cannot be had, and what can.
type FieldError struct {
	// "format", "container", "encoding", "rate", "bitrate" or "speed"; dialects put their own word for it here
	Field   string
	Got     string
	Offered string // "8000, 16000 or 24000", "0.5 to 2"
}

func (e *FieldError) Error() string {
	return fmt.Sprintf("%s: %q is not offered; use %s", e.Field, e.Got, e.Offered)
}

// words are what clients call formats.
var words = map[string]Format{
	"pcm": {Encoding: S16}, "pcm16": {Encoding: S16}, "linear16": {Encoding: S16}, "s16le": {Encoding: S16}, "pcm_s16le": {Encoding: S16},
	"f32le": {Encoding: F32}, "pcm_f32le": {Encoding: F32},
	"mulaw": {Encoding: MuLaw}, "ulaw": {Encoding: MuLaw}, "pcm_mulaw": {Encoding: MuLaw},
	"alaw": {Encoding: ALaw}, "pcm_alaw": {Encoding: ALaw},
	"wav": {Container: WAV}, "mp3": {Container: MP3}, "opus": {Container: Ogg}, "flac": {Container: FLAC},
}

// Parse returns the format for a client's name of it, in any case. Names are pcm, linear16, mulaw, wav, mp3, opus,
// flac and their like. With offered, only these words are taken; every error is a [FieldError] of the field "format"
// that names them.
func Parse(word string, offered ...string) (Format, error) {
	if len(offered) == 0 {
		offered = []string{"pcm", "mulaw", "alaw", "wav", "mp3", "opus", "flac"}
		if f, ok := words[strings.ToLower(word)]; ok {
			return f, nil
		}
	}
	if i := slices.IndexFunc(offered, func(o string) bool { return strings.EqualFold(o, word) }); i >= 0 {
		if f, ok := words[strings.ToLower(offered[i])]; ok {
			return f, nil
		}
	}
	return Format{}, &FieldError{"format", word, Or(offered)}
}

// Or lists words as a sentence does: a, b or c.
func Or(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}

// OrNumbers is [Or] of numbers.
func OrNumbers(numbers []int) string {
	each := make([]string, len(numbers))
	for i, n := range numbers {
		each[i] = strconv.Itoa(n)
	}
	return Or(each)
}

// CheckSpeed returns a [FieldError] for a speed that is not within low and high.
func CheckSpeed(speed, low, high float64) error {
	if speed >= low && speed <= high {
		return nil
	}
	return &FieldError{"speed", strconv.FormatFloat(speed, 'g', -1, 64), fmt.Sprintf("%g to %g", low, high)}
}

// Check returns f with what was left out filled in, or a [FieldError]. A bit rate that MP3 does not have at the rate
// (192 kbit/s at 24 kHz) becomes the highest that it has; one that the container does not know becomes 0.
func (f Format) Check() (Format, error) {
	if f.Container == "" {
		f.Container = Raw
	}
	if err := f.fillEncoding(); err != nil {
		return Format{}, err
	}
	if f.Rate == 0 {
		f.Rate = EngineRate
		if f.Encoding == MuLaw || f.Encoding == ALaw {
			f.Rate = 8000
		}
	}
	if !slices.Contains(rates, f.Rate) {
		return Format{}, &FieldError{"rate", strconv.Itoa(f.Rate), OrNumbers(rates)}
	}
	if err := f.fillBitrate(); err != nil {
		return Format{}, err
	}
	if f.Speed == 0 {
		f.Speed = 1
	}
	return f, CheckSpeed(f.Speed, MinSpeed, MaxSpeed)
}

func (f *Format) fillEncoding() error {
	switch f.Container {
	case Raw, WAV:
		if f.Encoding == "" {
			f.Encoding = S16
		}
		all := []string{string(S16), string(F32), string(MuLaw), string(ALaw)}
		if !slices.Contains(all, string(f.Encoding)) {
			return &FieldError{"encoding", string(f.Encoding), Or(all)}
		}
		return nil
	case MP3, Ogg, FLAC:
		if f.Encoding != "" && f.Encoding != S16 {
			return &FieldError{"encoding", string(f.Encoding), fmt.Sprintf("none with the container %s", f.Container)}
		}
		f.Encoding = ""
		if Supports(f.Container) {
			return nil
		}
	}
	var all []string
	for _, c := range []Container{Raw, WAV, MP3, Ogg, FLAC} {
		if Supports(c) {
			all = append(all, string(c))
		}
	}
	return &FieldError{"container", string(f.Container), Or(all)}
}

func (f *Format) fillBitrate() error {
	switch f.Container {
	case MP3:
		if f.Bitrate == 0 {
			f.Bitrate = 64_000
			if f.Rate > 24_000 {
				f.Bitrate = 128_000
			}
		}
		if !slices.Contains(mp3Bitrates, f.Bitrate) {
			return &FieldError{"bitrate", strconv.Itoa(f.Bitrate), OrNumbers(mp3Bitrates)}
		}
		f.Bitrate = min(f.Bitrate, mp3MostBits(f.Rate))
	case Ogg:
		if f.Bitrate == 0 {
			f.Bitrate = 48_000
		}
		if f.Bitrate < MinBitrate || f.Bitrate > MaxBitrate {
			return &FieldError{"bitrate", strconv.Itoa(f.Bitrate), fmt.Sprintf("%d to %d", MinBitrate, MaxBitrate)}
		}
	default:
		f.Bitrate = 0
	}
	return nil
}

// mp3MostBits is the highest bit rate of MPEG 1, 2 and 2.5.
func mp3MostBits(rate int) int {
	switch {
	case rate >= 32_000:
		return MaxBitrate // MPEG 1 has up to 320,000
	case rate >= 16_000:
		return 160_000
	default:
		return 64_000
	}
}

// Supports reports whether this program has an encoder for the container. MP3 and Ogg need C libraries, which the
// build tags nomp3 and noopus exclude.
func Supports(c Container) bool {
	switch c {
	case Raw, WAV, FLAC:
		return true
	case MP3:
		return hasLAME
	case Ogg:
		return hasOpus
	default:
		return false
	}
}

// ContentType returns the media type. Dialects that call bare samples by another name than audio/pcm say so
// themselves, see [Format.L16].
func (f Format) ContentType() string {
	switch f.Container {
	case WAV:
		return "audio/wav"
	case MP3:
		return "audio/mpeg"
	case Ogg:
		return "audio/ogg"
	case FLAC:
		return "audio/flac"
	}
	switch f.Encoding {
	case MuLaw:
		return "audio/mulaw"
	case ALaw:
		return "audio/alaw"
	case F32:
		return "application/octet-stream"
	default:
		return "audio/pcm"
	}
}

// L16 returns the media type audio/l16 with the rate of f, which tells telephony how to play bare s16le samples.
func (f Format) L16() string {
	rate := f.Rate
	if rate == 0 {
		rate = EngineRate
	}
	return fmt.Sprintf("audio/l16;rate=%d;channels=1", rate)
}

// String is for logs: mulaw/8000, wav/s16le/24000, mp3/24000/64000, each with x1.5 behind it where the speed is that.
func (f Format) String() string {
	var parts []string
	if f.Container != Raw && f.Container != "" {
		parts = append(parts, string(f.Container))
	}
	if f.Encoding != "" {
		parts = append(parts, string(f.Encoding))
	}
	parts = append(parts, strconv.Itoa(f.Rate))
	if f.Bitrate != 0 {
		parts = append(parts, strconv.Itoa(f.Bitrate))
	}
	if f.Speed != 0 && f.Speed != 1 {
		parts = append(parts, fmt.Sprintf("x%g", f.Speed))
	}
	return strings.Join(parts, "/")
}

// Time returns when something is heard that the engine speaks at the time native.
func (f Format) Time(native time.Duration) time.Duration {
	if f.Speed == 0 || f.Speed == 1 {
		return native
	}
	return time.Duration(math.Round(float64(native) / f.Speed))
}

// shape is the filter of a rate. 8 kHz is for telephones: it keeps what they carry, to 3.4 kHz, and leaves more room
// above.
func shape(rate int) resample.Shape {
	if rate == 8000 {
		return resample.Shape{Half: 72, Cutoff: .9, Beta: 9}
	}
	return resample.Recorded
}
