package cartesia

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/swar-tts/swar/runtime/dialect"
	"github.com/swar-tts/swar/runtime/speech"
)

// These are the objects of a socket and of an event stream. Each of them has the context_id, without which clients
// fail.

func chunk(contextID string, data []byte) []byte {
	const before, after = `{"type":"chunk","data":"`, `","done":false,"status_code":206,"step_time":0`
	m := make([]byte, 0, len(before)+len(after)+maxContextID+base64.StdEncoding.EncodedLen(len(data)))
	m = base64.StdEncoding.AppendEncode(append(m, before...), data)
	return appendContext(append(m, after...), contextID)
}

// timestamps are those of words, in seconds from the start of the context.
func timestamps(contextID string, words []speech.Word) []byte {
	var texts, starts, ends []byte
	for i, w := range words {
		if i > 0 {
			texts, starts, ends = append(texts, ','), append(starts, ','), append(ends, ',')
		}
		texts, starts, ends = append(texts, dialect.JSON(w.Text)...), appendSeconds(starts, w.Start),
			appendSeconds(ends, w.End)
	}
	m := fmt.Appendf(nil,
		`{"type":"timestamps","done":false,"status_code":206,"word_timestamps":{"words":[%s],"start":[%s],"end":[%s]}`,
		texts, starts, ends)
	return appendContext(m, contextID)
}

func appendSeconds(b []byte, at time.Duration) []byte {
	return strconv.AppendFloat(b, at.Round(time.Millisecond).Seconds(), 'f', -1, 64)
}

func flushDone(contextID string, id int) []byte {
	m := fmt.Appendf(nil, `{"type":"flush_done","done":false,"flush_done":true,"flush_id":%d,"status_code":206`, id)
	return appendContext(m, contextID)
}

func done(contextID string) []byte {
	return appendContext([]byte(`{"type":"done","done":true,"status_code":200`), contextID)
}

// failed is the least status of a server that cannot.
const failed = 500

// failure returns the messages about a turn that failed or a message that was rejected. Three clients decide their
// form. The LiveKit plugin for Python takes an error that is done for the end of the turn. The one for Node and the
// client for Python read the member error, and the one for Node raises only a status of 500 and above.
func failure(contextID string, f dialect.Fault) []dialect.Action {
	status, code := dialect.Cartesia.FaultStatus(f)
	if f.Status >= failed {
		status = f.Status // 503 of a busy server is raised, and 429 is not
	}
	title := dialect.Title(status)
	m := fmt.Appendf(nil,
		`{"type":"error","done":false,"status_code":%d,"error_code":"%s","title":%s,"message":%s,"error":%s,"request_id":%s`,
		status, code, dialect.JSON(title), dialect.JSON(f.Text), dialect.JSON(title+": "+f.Text),
		dialect.JSON(f.RequestID))
	all := send(appendContext(m, contextID))
	if status < failed && contextID != "" {
		all = append(all, send(done(contextID))...) // the plugin for Node would wait for ever
	}
	return all
}

// appendContext ends an object with the member context_id, which is null where none is known.
func appendContext(m []byte, contextID string) []byte {
	m = append(m, `,"context_id":`...)
	if contextID == "" {
		return append(m, "null}"...)
	}
	return append(append(m, dialect.JSON(contextID)...), '}')
}

// events frames audio as the event stream of POST /tts/sse.
func events(contextID string, withTimes, normalized bool) *dialect.Framing {
	event := func(name string, data []byte) []byte { return fmt.Appendf(nil, "event: %s\ndata: %s\n\n", name, data) }
	f := &dialect.Framing{
		ContentType: "text/event-stream",
		Audio:       func(data []byte) []byte { return event("chunk", chunk(contextID, data)) },
		End:         func(int) []byte { return event("done", done(contextID)) },
	}
	f.Failed = func(body []byte) []byte {
		head := `{"type":"error","done":true,"status_code":500,` // what fails in the middle
		return event("error", appendContext(slices.Concat([]byte(head), body[1:len(body)-1]), contextID))
	}
	if withTimes {
		f.Words = func(w dialect.Words) []byte {
			words := w.Source
			if normalized {
				words = w.Spoken
			}
			if len(words) == 0 {
				return nil
			}
			return event("timestamps", timestamps(contextID, words))
		}
	}
	return f
}
