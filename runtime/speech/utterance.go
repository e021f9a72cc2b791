package speech

import (
	"time"

	"github.com/swar-tts/swar/runtime/lexicon"
)

// Format names how audio is written.
type Format string

// The formats of the API.
const (
	WAV   Format = "wav"   // RIFF container around PCM16
	PCM16 Format = "pcm16" // s16le, mono, 24 kHz, no container
	Opus  Format = "opus"  // Ogg/Opus at 48 kbit/s
)

// Valid reports whether f is one of the formats of the API.
func (f Format) Valid() bool { return f == WAV || f == PCM16 || f == Opus }

// Utterance is one request to speak. It is a plain value: the same utterance gives the same audio on the same model.
type Utterance struct {
	RequestID   string  // echoed everywhere; not unique, not an idempotency key
	Service     string  // who speaks, for the metadata of the audio; may be empty
	Disclosure  string  // is spoken before Text; always normalised, whatever is asked for Text
	Text        string  // trimmed, valid UTF-8, with Disclosure at most MaxChars code points
	Voice       string  // one of the model's voices
	Format      Format  // how Audio.Data is written
	Raw         bool    // Text is already what is spoken
	EnDigits    bool    // codes are read with English digit names; ignored when Raw
	Temperature float64 // 0 to MaxTemperature
	Seed        int64   // fixes the noise
	WordTimes   bool    // when each word is heard is asked for; see [Start]
	Speed       float64 // one of the model's [Speeds]; 0 means 1
	SSML        bool    // Text is a document of SSML; Raw is false then

	// Language is that of the message that Text is a piece of, "hi" or "en": sentences of numbers, signs and acronyms
	// alone take it. Empty: Text is the whole message. It is ignored when Raw.
	Language string

	// Case is that of the same message, "upper" or "mixed": short capitals are words in a message in capitals. Empty:
	// Text is the whole message. It is ignored when Raw.
	Case string

	// Lexicon says how words of Text are spoken; nil: as they are written. It is ignored when Raw.
	Lexicon *lexicon.Lexicon
}

// Turn carries the scheduling hints of an utterance, in this process. The zero value is that
// of a lone request that begins with the call.
type Turn struct {
	// QueuedSince is when the request was read, or the turn of the utterance came on its connection: from then on it
	// may wait 2 s for a worker. The zero value means the call of Speak.
	QueuedSince time.Time

	// StartedAt is when audio of a sentence before this one of the same turn was first heard; zero: there is none.
	// What goes on with a turn waits in front of all that does not, and as long as its context lives.
	StartedAt time.Time

	// Session groups the utterances of one connection; empty for a lone request. When the utterance has ended and
	// More says that another of the session is waiting, its worker is kept for that one, provided that nobody else is
	// queueing.
	Session string
	More    func() bool // nil means no
}

// Voice is a voice of the model, as GET /v1/voices shows it.
type Voice struct {
	Name         string `json:"name"`
	Language     string `json:"language"`
	SampleRate   int    `json:"sample_rate"`
	PromptFrames int    `json:"prompt_frames"` // length of the prompt that the model was conditioned on
}

// Model is what an engine speaks with.
type Model struct {
	ID     string
	Voices []Voice
	Speeds Speeds
}

// Speeds are the speeds that an engine supports. At 2 speech takes half the time, with the same pitch. The zero value
// is of an engine that has no other than 1.
type Speeds struct{ Min, Max float64 } // both inclusive

// Has reports whether speed is one of s; 0 means 1.
func (s Speeds) Has(speed float64) bool {
	return speed == 0 || speed == 1 || s.Min > 0 && s.Min <= speed && speed <= s.Max
}

// And returns the speeds that both have.
func (s Speeds) And(other Speeds) Speeds {
	both := Speeds{max(s.Min, other.Min), min(s.Max, other.Max)}
	if both.Min > both.Max || min(s.Min, other.Min) == 0 {
		return Speeds{}
	}
	return both
}

// Voice returns the voice called name.
func (m Model) Voice(name string) (Voice, bool) {
	for _, v := range m.Voices {
		if v.Name == name {
			return v, true
		}
	}
	return Voice{}, false
}

// DefaultVoice returns the name of the voice for requests without one. It is [DefaultVoice], or the first voice of a
// model that does not have it.
func (m Model) DefaultVoice() string {
	if _, ok := m.Voice(DefaultVoice); ok || len(m.Voices) == 0 {
		return DefaultVoice
	}
	return m.Voices[0].Name
}

// Chunk is a piece of spoken text that is synthesised at once.
type Chunk struct {
	Index     int    // from 0
	Text      string // a substring of the normalised text
	Tokens    int    // 1 to MaxChunkTokens, counted by the engine
	CharStart int    // code point offset of Text in the normalised text
	CharEnd   int    // exclusive

	// Silence is how many frames of silence the chunk is; Text is empty then, and Tokens 0.
	Silence int
	Speed   float64 // at which it is spoken, as in [Utterance]; 0: as the utterance
}

// Normalized is a text as it will be spoken.
type Normalized struct {
	Text       string
	Disclosure string  // what Text begins with that is not the client's; a space follows it
	Unspoken   string  // what the model cannot speak and Text leaves out: each character once, in the order of the text
	InputChars int     // code points of the trimmed input, without the disclosure
	Chunks     []Chunk // none when nothing is left to say; the disclosure has chunks of its own, which come first
	Spans      []Span  // of the input
}
