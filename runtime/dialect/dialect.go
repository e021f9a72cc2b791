// Package dialect has what all vendor APIs share. It finds keys in requests, writes errors in the vendor's form, and
// maps names of voices.
//
// A dialect is a package below this one. It maps the wire of one vendor to an [Order], and reads and writes nothing
// itself: runtime/serve reads the request, speaks the order and sends the answer, as it does for the native API.
package dialect

import (
	"net/url"

	"github.com/swar-tts/swar/runtime/speech"
)

// Name is the name of a dialect. It is the value of the label endpoint in metrics, logs and bills, and of the flag
// --dialects for those on the listener of the native API.
type Name string

// The dialects.
const (
	OpenAI     Name = "openai"
	Deepgram   Name = "deepgram"
	ElevenLabs Name = "elevenlabs"
	Sarvam     Name = "sarvam"
	Cartesia   Name = "cartesia"
	Vapi       Name = "vapi"
	Jambonz    Name = "jambonz"
	Bridge     Name = "bridge"
	Wyoming    Name = "wyoming" // on a separate listener
)

// Dialect is the API of one vendor.
type Dialect struct {
	Name   Name
	Routes []Route
}

// Route answers one method of one path. Exactly one of Speech, List and Socket is set. A GET answers HEAD, too.
type Route struct {
	Method string
	Path   string // parts in braces match anything but a slash; see [Call.Var]

	// When picks the requests that this route answers, where several APIs share the path: header returns the value of
	// a request header. Nil answers what no other route of the path picks.
	When func(header func(name string) string) bool

	Speech func(Call) (Order, error) // what to speak
	List   func(Call) (any, error)   // what to answer as JSON

	// Socket opens a WebSocket connection; Method is GET. An error is answered as that of any request.
	Socket func(Call) (Socket, error)
}

// Call is one request to a route. It is valid until the route returns.
type Call struct {
	RequestID string                   // of the answer, or of the connection
	Body      []byte                   // of a POST
	Var       func(name string) string // the part of the path that matched {name}
	Query     url.Values
	Header    func(name string) string
	Host      string // that the client has asked, and Target the path and the query, as they came
	Target    string
	Model     speech.Model
	Allows    func(voice string) bool // the key may use it
	Encodes   func(Audio) bool        // the server can write it
}

// Order is what a request asks to have spoken.
type Order struct {
	// Utterance has Text, Voice and what else the vendor's API can say of speaking; the text may be longer than
	// [speech.MaxChars]: it is then spoken in two parts. RequestID, Service, Disclosure and Format are filled in later.
	Utterance speech.Utterance
	HasSeed   bool // Utterance.Seed was asked for

	// Lexicon is the dictionary of pronunciations in the request; empty: the project's lexicon. "none" disables it;
	// other names are refused.
	Lexicon string

	Audio   Audio
	Word    string // what the vendor calls the audio format, for the request log
	Framing *Framing
	Headers map[string]string // of the answer, in addition to those of every answer with audio

	// Buffered has the answer sent when all of it was spoken, with its length. A failure is then always an error, and
	// the header of a WAV has the right lengths.
	Buffered bool
}

// Audio is the output format. Its fields are those of a format of runtime/voiceout, which writes it: dialects describe
// formats without linking the encoders.
type Audio struct {
	Container   Container
	Encoding    Encoding // of Raw and WAV
	Rate        int      // samples per second
	BitRate     int      // bits per second, of MP3 and Ogg
	Speed       float64  // 1 is as spoken
	ContentType string
}

// Container is what samples are packed in.
type Container string

// The containers.
const (
	Raw  Container = "raw" // none
	WAV  Container = "wav"
	MP3  Container = "mp3"
	Ogg  Container = "ogg" // of Opus
	FLAC Container = "flac"
)

// Encoding is what one sample becomes.
type Encoding string

// The encodings.
const (
	S16   Encoding = "s16le"
	F32   Encoding = "f32le"
	MuLaw Encoding = "mulaw"
	ALaw  Encoding = "alaw"
)

// NativeOpus is the bit rate of Opus on the native API.
const NativeOpus = 48_000

// Native returns the native format that equals a byte for byte, if there is one.
func (a Audio) Native() (f speech.Format, ok bool) {
	if a.Rate != speech.SampleRate || a.Speed != 1 {
		return "", false
	}
	switch {
	case a.Container == Raw && a.Encoding == S16:
		return speech.PCM16, true
	case a.Container == WAV && a.Encoding == S16:
		return speech.WAV, true
	case a.Container == Ogg && a.BitRate == NativeOpus:
		return speech.Opus, true
	}
	return "", false
}

// Encoder makes one stream of audio. What its methods return is valid until the next call.
type Encoder interface {
	Write(samples []int16) ([]byte, error) // what can be sent now that samples, at 24 kHz, follow: maybe nothing
	Close() ([]byte, error)                // the rest; it also frees the encoder
}

// Encoders makes what writes audio that the native API has no format for. It is safe for concurrent use.
type Encoders interface {
	Encodes(a Audio) bool
	NewEncoder(a Audio, tags []string) (Encoder, error) // tags are NAME=VALUE, for containers that have comments
}

// Framing puts audio into text, such as the events of an event stream. Every function returns what to send.
type Framing struct {
	ContentType string
	Audio       func(data []byte) []byte
	Words       func(Words) []byte       // behind the audio of a piece of text; nil: words are not asked for
	End         func(frames int) []byte  // last, of a complete answer
	Failed      func(body []byte) []byte // last, of an answer that has failed; body is that of the error
}

// FieldError is a refusal because of one member of a request.
type FieldError struct {
	Refusal *speech.Refusal
	Field   string // the vendor's name of the member
}

func (e *FieldError) Error() string { return e.Refusal.Text }

// Unwrap returns the refusal.
func (e *FieldError) Unwrap() error { return e.Refusal }

// Refuse returns a FieldError.
func Refuse(field string, code speech.Code, text string) error {
	return &FieldError{&speech.Refusal{Code: code, Text: text}, field}
}

// CodeUnsupported refuses what the vendor has and Swar has not.
const CodeUnsupported speech.Code = "unsupported_parameter"

// CodeForbidden refuses what is not signed as it must be.
const CodeForbidden speech.Code = "forbidden"

// NotFoundError reports an unknown object in a path. Its fields are as those of [Fault].
type NotFoundError struct{ Code, Text, Field string }

func (e *NotFoundError) Error() string { return e.Text }
