package client

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"iter"
	"net/http"
)

// maxLine is what a line of an answer may have in bytes; the longest is a fraction of that.
const maxLine = 512 << 10

var errNoEnd = errors.New("the end event is missing")

// SpeakWords speaks r and yields the events that a [Conn] would. They are a start, and for each chunk its audio and
// then a [WordsEvent] with the time of each word. There is no first audio event. The audio of all [AudioEvent] together
// is in r's Format, which can be WAV here; Buffered and Metadata are ignored. The last event is an [EndEvent]; anything
// else at its place is an error, and a [CutError] if there was audio. Leaving the loop stops the server.
func (c *Client) SpeakWords(ctx context.Context, r Request) iter.Seq2[Event, error] {
	r.Buffered, r.Metadata, r.WordTimes = false, false, false // no fields of its
	return func(yield func(Event, error) bool) {
		if err := checkText(r.Text); err != nil {
			yield(nil, err)
			return
		}
		resp, err := c.call(ctx, http.MethodPost, "/v1/tts/words", r)
		if err != nil {
			yield(nil, err)
			return
		}
		defer resp.Body.Close()
		cut := &CutError{RequestID: resp.Header.Get("X-Request-Id")}
		for lines := bufio.NewReaderSize(resp.Body, maxLine); ; {
			line, err := lines.ReadSlice('\n')
			if err != nil {
				yield(nil, cut.because(ctx, err))
				return
			}
			e, err := parseEvent(bytes.Clone(bytes.TrimSuffix(line, []byte("\n"))))
			if audio, ok := e.(*AudioEvent); ok {
				cut.Bytes += int64(len(audio.Data))
			}
			_, ended := e.(*EndEvent)
			if !yield(e, err) || err != nil || ended {
				return
			}
		}
	}
}

// because returns the reason of a read error: the recorded cause, or err.
func (e *CutError) because(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if e.Err = err; err == io.EOF {
		e.Err = errNoEnd
	}
	return e
}
