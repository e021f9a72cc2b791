package serve

import (
	"github.com/go-json-experiment/json"

	"github.com/swar-tts/swar/runtime/speech"
)

// The events of a socket, in the order in which a client meets them. Every one of an utterance carries its request_id.

type startEvent struct {
	Type       string        `json:"type"`
	RequestID  string        `json:"request_id"`
	Voice      string        `json:"voice"`
	Format     speech.Format `json:"format"` // the one in effect
	Chunks     int           `json:"chunks"`
	Normalized string        `json:"normalized"`
	Unspoken   string        `json:"unspoken,omitzero"`
	Seed       int64         `json:"seed"`
	QueueMS    float64       `json:"queue_ms"`
	Model      string        `json:"model"`
}

type chunkEvent struct {
	Type        string  `json:"type"`
	RequestID   string  `json:"request_id"`
	Chunk       int     `json:"chunk"`
	Text        string  `json:"text"`
	Tokens      int     `json:"tokens"`
	AudioStartS float64 `json:"audio_start_s"`
	CharStart   int     `json:"char_start"`
	CharEnd     int     `json:"char_end"`
}

type firstAudioEvent struct {
	Type      string  `json:"type"`
	RequestID string  `json:"request_id"`
	Chunk     int     `json:"chunk"`
	MS        float64 `json:"ms"`
}

type chunkEndEvent struct {
	Type          string  `json:"type"`
	RequestID     string  `json:"request_id"`
	Chunk         int     `json:"chunk"`
	Frames        int     `json:"frames"`
	AudioS        float64 `json:"audio_s"`
	PrefillMS     float64 `json:"prefill_ms"`
	PrefillCached bool    `json:"prefill_cached"`
	EOS           bool    `json:"eos"`
}

type endEvent struct {
	Type             string  `json:"type"`
	RequestID        string  `json:"request_id"`
	AudioS           float64 `json:"audio_s"`
	Frames           int     `json:"frames"`
	Chunks           int     `json:"chunks"`
	TTFAMS           float64 `json:"ttfa_ms"`
	WallMS           float64 `json:"wall_ms"`
	RTF              float64 `json:"rtf"`
	Seed             int64   `json:"seed"`
	QueueMS          float64 `json:"queue_ms"`
	LeadingSilenceMS float64 `json:"leading_silence_ms"`
	BilledFrames     int     `json:"billed_frames"`
}

type cancelledEvent struct {
	Type         string  `json:"type"`
	RequestID    string  `json:"request_id"`
	Frames       int     `json:"frames"` // sent; the next three follow from it
	AudioS       float64 `json:"audio_s"`
	Chunk        int     `json:"chunk"`
	CharsSpoken  int     `json:"chars_spoken"`
	BilledFrames int     `json:"billed_frames"` // decoded, so at least Frames
}

type errorEvent struct {
	Type       string `json:"type"`
	RequestID  string `json:"request_id"`
	Error      string `json:"error"`
	Status     int    `json:"status"`
	Code       string `json:"code"`
	RetryAfter int    `json:"retry_after,omitzero"` // seconds
}

type pongEvent struct {
	Type      string `json:"type"`
	RequestID string `json:"request_id,omitzero"`
}

// errorEventOf tells the client of err, which ends the utterance called id or refuses the message that would have become it.
func errorEventOf(id string, err error) errorEvent {
	f := failureOf(err)
	e := errorEvent{Type: "error", RequestID: id, Error: f.text, Status: f.status, Code: f.code}
	if f.retry {
		e.RetryAfter = 1
	}
	return e
}

func encodeEvent(event any) []byte {
	text, err := json.Marshal(event)
	if err != nil {
		panic(err) // our own types: they hold nothing that JSON cannot say
	}
	return text
}
