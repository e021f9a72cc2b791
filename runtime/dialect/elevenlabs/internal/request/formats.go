package request

import (
	"fmt"
	"strconv"

	"github.com/swar-tts/swar/runtime/dialect"
	"github.com/swar-tts/swar/runtime/speech"
)

const defaultFormat = "mp3_44100_128"

// Formats are the values of output_format.
var Formats = func() map[string]dialect.Audio {
	all := map[string]dialect.Audio{
		"ulaw_8000": {Container: dialect.Raw, Encoding: dialect.MuLaw, Rate: 8000, ContentType: "audio/basic"},
		"alaw_8000": {Container: dialect.Raw, Encoding: dialect.ALaw, Rate: 8000, ContentType: "audio/alaw"},
	}
	for _, rate := range []int{8000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000} {
		of := "_" + strconv.Itoa(rate)
		all["pcm"+of] = dialect.Audio{Container: dialect.Raw, Encoding: dialect.S16, Rate: rate,
			ContentType: "audio/pcm"}
		all["wav"+of] = dialect.Audio{Container: dialect.WAV, Encoding: dialect.S16, Rate: rate,
			ContentType: "audio/wav"}
	}
	for rate, kbits := range map[int][]int{22_050: {32}, 24_000: {48}, 44_100: {32, 64, 96, 128, 192}} {
		for _, k := range kbits {
			all[fmt.Sprintf("mp3_%d_%d", rate, k)] = dialect.Audio{
				Container: dialect.MP3, Rate: rate, BitRate: k * 1000, ContentType: "audio/mpeg",
			}
		}
	}
	for _, k := range []int{32, 64, 96, 128, 192} { // a decoder chooses the rate
		all[fmt.Sprintf("opus_48000_%d", k)] = dialect.Audio{
			Container: dialect.Ogg, Rate: speech.SampleRate, BitRate: k * 1000, ContentType: "audio/ogg",
		}
	}
	return all
}()

// readFormat returns the format of a request, at the speed of the voice.
func readFormat(c dialect.Call) (a dialect.Audio, word string, err error) {
	if word = c.Query.Get("output_format"); word == "" {
		word = defaultFormat
	}
	a, ok := Formats[word]
	if !ok {
		return a, "", dialect.Refuse("output_format", speech.CodeBadFormat,
			"output_format must be such as mp3_44100_128, pcm_24000, wav_24000, opus_48000_64, ulaw_8000 or alaw_8000")
	}
	a.Speed = 1
	if _, isNative := a.Native(); !isNative && !c.Encodes(a) {
		return a, "", dialect.Refuse("output_format", dialect.CodeUnsupported,
			"output_format "+word+" is not supported by this server; ask for pcm_24000 or wav_24000")
	}
	return a, word, nil
}
