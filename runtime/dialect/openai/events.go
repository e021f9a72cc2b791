package openai

import (
	"encoding/base64"
	"fmt"

	"github.com/swar-tts/swar/runtime/dialect"
)

// events frames audio as the event stream of stream_format sse. input is how many code points the text has: what
// OpenAI counts in tokens is counted in code points and in frames of 80 ms here.
func events(input int) *dialect.Framing {
	return &dialect.Framing{
		ContentType: "text/event-stream",
		Audio: func(data []byte) []byte {
			const before, after = `data: {"type":"speech.audio.delta","audio":"`, "\"}\n\n"
			event := make([]byte, 0, len(before)+base64.StdEncoding.EncodedLen(len(data))+len(after))
			event = append(event, before...)
			event = base64.StdEncoding.AppendEncode(event, data)
			return append(event, after...)
		},
		End: func(frames int) []byte {
			const done = `data: {"type":"speech.audio.done","usage":{"input_tokens":%d,"output_tokens":%d,"total_tokens":%d}}` + "\n\n"
			return fmt.Appendf(nil, done, input, frames, input+frames)
		},
		Failed: func(body []byte) []byte { return fmt.Appendf(nil, "data: %s\n\n", body) },
	}
}
