package client

import (
	"encoding/json"
	"fmt"
	"time"
)

// Event is a message of the server over a WebSocket: one of the *…Event types of this package. Each utterance has them
// in this order: start; then for every chunk: chunk, audio, words if requested, chunk end; then end. First audio comes
// once, right after the first audio. Flushed comes between chunks of an utterance with [Conn.Append]. Cancelled and
// error end an utterance instead of end. Utterances of one connection never interleave.
type Event interface {
	// About returns the part that all events have.
	About() Head
}

// Head is the part that all events have.
type Head struct {
	RequestID string // the utterance; "" for what concerns none
	// the event as it was received, with whatever this package does not know; nil for audio of a Conn
	JSON json.RawMessage
}

// About implements [Event].
func (h Head) About() Head { return h }

// StartEvent reports that a worker was assigned.
type StartEvent struct {
	Head
	Voice      string
	Format     Format // the one in effect
	Chunks     int
	Normalized string // exactly what will be spoken
	Disclosure string // what Normalized begins with that is not the client's; a space follows it
	Unspoken   string // characters that the model cannot speak and that were left out, each once
	Seed       int64
	Queue      time.Duration // spent waiting for the worker
	Model      string
	WordTimes  bool // each chunk has a WordsEvent; false if they were not requested or the server has no word times
	Fed        bool // opened by [Conn.Append]: Normalized and Chunks cover its first sentence
}

// ChunkEvent reports the beginning of a chunk.
type ChunkEvent struct {
	Head
	Chunk      int // from 0
	Text       string
	Tokens     int
	AudioStart time.Duration // where it begins in the audio of the utterance
	CharStart  int           // code points into StartEvent.Normalized
	CharEnd    int           // exclusive
}

// AudioEvent is audio: 80 ms at first, then up to 320 ms at a time.
type AudioEvent struct {
	Head
	Data []byte // in the format of StartEvent; belongs to the caller
}

// FirstAudioEvent reports the time to the first audio, from the server's receipt of the request.
type FirstAudioEvent struct {
	Head
	Chunk int
	After time.Duration
}

// WordsEvent has the time of each word of a chunk. It comes before the ChunkEndEvent.
type WordsEvent struct {
	Head
	Chunk     int
	Words     []Word // none where nothing is known
	Estimated bool   // false for times from the model; true for estimates from text and audio
}

// Word is a word of StartEvent.Normalized, without the marks around it.
type Word struct {
	Text       string
	CharStart  int           // code points into StartEvent.Normalized
	CharEnd    int           // exclusive
	Start, End time.Duration // in the audio of the utterance
}

// ChunkEndEvent reports the end of a chunk.
type ChunkEndEvent struct {
	Head
	Chunk         int
	Frames        int
	Length        time.Duration
	Prefill       time.Duration
	PrefillCached bool
	EOS           bool // false if the chunk was cut at its limit
}

// EndEvent reports the end of an utterance.
type EndEvent struct {
	Head
	Frames         int
	Length         time.Duration
	Chunks         int
	TTFA           time.Duration // worker assigned to first frame decoded
	Wall           time.Duration
	RTF            float64 // synthesis time per second of audio
	Seed           int64
	Queue          time.Duration
	LeadingSilence time.Duration
	BilledFrames   int
	FinishedBy     string // "idle" where the server has finished it, because nothing was fed any more; "" otherwise
}

// FlushedEvent reports that the audio of everything before a [Conn.Flush] was sent.
type FlushedEvent struct {
	Head
	Length  time.Duration // of the audio of the utterance so far
	CharEnd int           // where that ends, in code points of the normalised text
}

// CancelledEvent reports an utterance that [Conn.Cancel] ended.
type CancelledEvent struct {
	Head
	Frames       int           // that were sent
	Length       time.Duration // of those
	Chunk        int           // the last one that was begun
	CharsSpoken  int           // code points of StartEvent.Normalized that were played, about
	BilledFrames int           // that were decoded: at least Frames
}

// ErrorEvent reports an utterance that was refused or failed; no more events of it follow. The connection stays open.
type ErrorEvent struct {
	Head
	Err *Error
}

// UnknownEvent is an event that this package does not know. Ignore it: servers may add some.
type UnknownEvent struct {
	Head
	Type string
}

// wireEvent has the fields of all events.
type wireEvent struct {
	Type             string  `json:"type"`
	RequestID        string  `json:"request_id"`
	Voice            string  `json:"voice"`
	Format           Format  `json:"format"`
	Normalized       string  `json:"normalized"`
	Disclosure       string  `json:"disclosure"`
	Unspoken         string  `json:"unspoken"`
	Seed             int64   `json:"seed"`
	QueueMS          float64 `json:"queue_ms"`
	Model            string  `json:"model"`
	Chunk            int     `json:"chunk"`
	Chunks           int     `json:"chunks"`
	Text             string  `json:"text"`
	Tokens           int     `json:"tokens"`
	AudioStartS      float64 `json:"audio_start_s"`
	CharStart        int     `json:"char_start"`
	CharEnd          int     `json:"char_end"`
	MS               float64 `json:"ms"`
	Frames           int     `json:"frames"`
	AudioS           float64 `json:"audio_s"`
	PrefillMS        float64 `json:"prefill_ms"`
	PrefillCached    bool    `json:"prefill_cached"`
	EOS              bool    `json:"eos"`
	TTFAMS           float64 `json:"ttfa_ms"`
	WallMS           float64 `json:"wall_ms"`
	RTF              float64 `json:"rtf"`
	LeadingSilenceMS float64 `json:"leading_silence_ms"`
	BilledFrames     int     `json:"billed_frames"`
	CharsSpoken      int     `json:"chars_spoken"`
	Error            string  `json:"error"`
	Status           int     `json:"status"`
	Code             Code    `json:"code"`
	RetryAfter       float64 `json:"retry_after"`
	Timestamps       string  `json:"timestamps"`
	Fed              bool    `json:"fed"`
	FinishedBy       string  `json:"finished_by"`
	Estimated        bool    `json:"estimated"`
	Audio            []byte  `json:"audio"`
	Words            []struct {
		Word      string  `json:"word"`
		CharStart int     `json:"char_start"`
		CharEnd   int     `json:"char_end"`
		StartS    float64 `json:"start_s"`
		EndS      float64 `json:"end_s"`
	} `json:"words"`
}

func (w *wireEvent) words() []Word {
	var words []Word
	for _, of := range w.Words {
		words = append(words, Word{of.Word, of.CharStart, of.CharEnd, seconds(of.StartS), seconds(of.EndS)})
	}
	return words
}

// parseEvent reads a text message. It keeps text.
func parseEvent(text []byte) (Event, error) {
	var w wireEvent
	if err := json.Unmarshal(text, &w); err != nil {
		return nil, fmt.Errorf("reading an event: %w", err)
	}
	h := Head{w.RequestID, text}
	switch w.Type {
	case "start":
		return &StartEvent{h, w.Voice, w.Format, w.Chunks, w.Normalized, w.Disclosure, w.Unspoken, w.Seed,
			millis(w.QueueMS), w.Model, w.Timestamps == "words", w.Fed}, nil
	case "chunk":
		return &ChunkEvent{h, w.Chunk, w.Text, w.Tokens, seconds(w.AudioStartS), w.CharStart, w.CharEnd}, nil
	case "first_audio_ms":
		return &FirstAudioEvent{h, w.Chunk, millis(w.MS)}, nil
	case "audio":
		return &AudioEvent{h, w.Audio}, nil
	case "words":
		return &WordsEvent{h, w.Chunk, w.words(), w.Estimated}, nil
	case "chunk_end":
		return &ChunkEndEvent{h, w.Chunk, w.Frames, seconds(w.AudioS), millis(w.PrefillMS), w.PrefillCached, w.EOS}, nil
	case "end":
		return &EndEvent{h, w.Frames, seconds(w.AudioS), w.Chunks, millis(w.TTFAMS), millis(w.WallMS), w.RTF, w.Seed,
			millis(w.QueueMS), millis(w.LeadingSilenceMS), w.BilledFrames, w.FinishedBy}, nil
	case "flushed":
		return &FlushedEvent{h, seconds(w.AudioS), w.CharEnd}, nil
	case "cancelled":
		return &CancelledEvent{h, w.Frames, seconds(w.AudioS), w.Chunk, w.CharsSpoken, w.BilledFrames}, nil
	case "error":
		return &ErrorEvent{h, &Error{w.Status, w.Code, w.Error, w.RequestID, seconds(w.RetryAfter)}}, nil
	default:
		return &UnknownEvent{h, w.Type}, nil
	}
}
