package serve

import (
	"time"

	"github.com/go-json-experiment/json"

	"github.com/swar-tts/swar/runtime/speech"
)

// The events of a socket, in the order in which a client meets them. Every one of an utterance carries its request_id.
// Some are lines of POST /v1/tts/words, too.

type startEvent struct {
	Type       string        `json:"type"`
	RequestID  string        `json:"request_id"`
	Voice      string        `json:"voice"`
	Format     speech.Format `json:"format"` // the one in effect
	Chunks     int           `json:"chunks"`
	Normalized string        `json:"normalized"`
	Disclosure string        `json:"disclosure,omitzero"` // what Normalized begins with
	Unspoken   string        `json:"unspoken,omitzero"`
	Seed       int64         `json:"seed"`
	QueueMS    float64       `json:"queue_ms"`
	Model      string        `json:"model"`
	Timestamps string        `json:"timestamps,omitzero"` // what the events have, if words were requested
	Fed        bool          `json:"fed,omitzero"`        // more text may come than Normalized, and more chunks
}

// startEventOf returns the start event; words were requested or not.
func startEventOf(id string, s speech.Start, wordTimes bool) startEvent {
	e := startEvent{
		Type: "start", RequestID: id,
		Voice: s.Voice, Format: s.Format, Chunks: s.Chunks, Normalized: s.Normalized, Disclosure: s.Disclosure,
		Unspoken: s.Unspoken, Seed: s.Seed, QueueMS: millis(s.Queue), Model: s.Model,
	}
	switch {
	case s.WordTimes:
		e.Timestamps = timestampsOfWords
	case wordTimes: // the worker has no word times
		e.Timestamps = timestampsOfNone
	}
	return e
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

// chunkEventOf returns the event of a chunk that begins after this many frames.
func chunkEventOf(id string, c speech.Chunk, before int) chunkEvent {
	return chunkEvent{
		Type: "chunk", RequestID: id,
		Chunk: c.Index, Text: c.Text, Tokens: c.Tokens,
		AudioStartS: thousandths(speech.Seconds(before)), CharStart: c.CharStart, CharEnd: c.CharEnd,
	}
}

type firstAudioEvent struct {
	Type      string  `json:"type"`
	RequestID string  `json:"request_id"`
	Chunk     int     `json:"chunk"`
	MS        float64 `json:"ms"`
}

type wordsEvent struct {
	Type      string      `json:"type"`
	RequestID string      `json:"request_id"`
	Chunk     int         `json:"chunk"`
	Estimated bool        `json:"estimated"` // false for times from the model
	Words     []wordTimes `json:"words"`
}

type wordTimes struct {
	Word      string  `json:"word"`
	CharStart int     `json:"char_start"`
	CharEnd   int     `json:"char_end"`
	StartS    float64 `json:"start_s"` // in the audio of the utterance
	EndS      float64 `json:"end_s"`
}

func wordsEventOf(id string, end speech.ChunkEnd) wordsEvent {
	e := wordsEvent{Type: "words", RequestID: id, Chunk: end.Chunk, Estimated: !end.ExactWords,
		Words: make([]wordTimes, len(end.Words))}
	for i, w := range end.Words {
		e.Words[i] = wordTimes{w.Text, w.CharStart, w.CharEnd, inThousandths(w.Start), inThousandths(w.End)}
	}
	return e
}

func inThousandths(d time.Duration) float64 { return thousandths(d.Seconds()) }

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

func chunkEndEventOf(id string, e speech.ChunkEnd) chunkEndEvent {
	return chunkEndEvent{
		Type: "chunk_end", RequestID: id,
		Chunk: e.Chunk, Frames: e.Frames, AudioS: thousandths(speech.Seconds(e.Frames)),
		PrefillMS: millis(e.Prefill), PrefillCached: e.PrefillCached, EOS: e.EOS,
	}
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
	FinishedBy       string  `json:"finished_by,omitzero"` // of what was fed, if it was not the client
}

func endEventOf(id string, seed int64, st speech.Stats) endEvent {
	return endEvent{
		Type: "end", RequestID: id,
		AudioS: thousandths(speech.Seconds(st.Frames)), Frames: st.Frames, Chunks: st.Chunks,
		TTFAMS: millis(st.TTFA), WallMS: millis(st.Wall), RTF: thousandths(st.RTF()),
		Seed: seed, QueueMS: millis(st.Queue), LeadingSilenceMS: millis(st.LeadingSilence), BilledFrames: st.Frames,
	}
}

type flushedEvent struct {
	Type      string  `json:"type"`
	RequestID string  `json:"request_id"`
	AudioS    float64 `json:"audio_s"`  // before the flush, as the next
	CharEnd   int     `json:"char_end"` // in the normalised text
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

// errorEventOf returns the event for err, which ends the utterance called id or refuses the message that would have
// become it.
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
