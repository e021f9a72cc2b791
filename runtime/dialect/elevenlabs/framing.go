package elevenlabs

import (
	"encoding/base64"

	"github.com/swar-tts/swar/runtime/dialect"
	"github.com/swar-tts/swar/runtime/dialect/elevenlabs/internal/letters"
)

// lines frames audio as a line of JSON for each piece of it, and one for each piece of text that was spoken.
func lines() *dialect.Framing {
	return &dialect.Framing{
		ContentType: "application/json",
		Audio:       func(data []byte) []byte { return line(data, nil, nil) },
		Words: func(w dialect.Words) []byte {
			var none *letters.Timed
			return line(nil, none.Add(letters.Written(w)), none.Add(letters.Spoken(w)))
		},
		End:    func(int) []byte { return nil },
		Failed: func(body []byte) []byte { return append(body, '\n') },
	}
}

func line(audio []byte, source, normalized *letters.Timed) []byte {
	const before = `{"audio_base64":"`
	text := make([]byte, 0, len(before)+base64.StdEncoding.EncodedLen(len(audio))+64)
	text = append(text, before...)
	text = base64.StdEncoding.AppendEncode(text, audio)
	return append(appendTimes(text, source, normalized), '\n')
}

// appendTimes ends an object that has begun with a string of audio.
func appendTimes(text []byte, source, normalized *letters.Timed) []byte {
	text = append(text, `","alignment":`...)
	text = append(text, dialect.JSON(source)...)
	text = append(text, `,"normalized_alignment":`...)
	text = append(text, dialect.JSON(normalized)...)
	return append(text, '}')
}

// whole frames audio as one object.
func whole() *dialect.Framing {
	var source, normalized *letters.Timed
	var rest []byte // of the audio: base64 takes three bytes at a time
	text := []byte(`{"audio_base64":"`)
	return &dialect.Framing{
		ContentType: "application/json",
		Audio: func(data []byte) []byte {
			begun := text
			text = nil
			rest = append(rest, data...)
			whole := len(rest) / 3 * 3
			begun = base64.StdEncoding.AppendEncode(begun, rest[:whole])
			rest = append(rest[:0], rest[whole:]...)
			return begun
		},
		Words: func(w dialect.Words) []byte {
			source, normalized = source.Add(letters.Written(w)), normalized.Add(letters.Spoken(w))
			return nil
		},
		End: func(int) []byte {
			return appendTimes(base64.StdEncoding.AppendEncode(text, rest), source, normalized)
		},
		Failed: func(body []byte) []byte { return body },
	}
}
