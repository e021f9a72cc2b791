package dialect

import (
	"time"

	"github.com/swar-tts/swar/runtime/speech"
)

// Socket is the state of one WebSocket connection in a vendor's protocol. Client messages and speech events go in,
// actions come out. It has no clock, no goroutine and no connection: runtime/serve has these, and calls its methods
// one at a time.
//
// What is fed and spoken is a context. A vendor that has no contexts has one, named "". A context has turns: one, or
// with [Feed.FlushEnds] one after the other. Each turn has one encoder, one bill, one metric and one line in the log.
type Socket interface {
	// Open returns what the server sends first.
	Open() []Action

	// Read returns what a message of the client asks for, in order. What it returns shares nothing with the message.
	Read(Message) []Action

	// Write sends an event of a context: only messages, and a [Close] after them. It is called when the event leaves:
	// an event that a cancel has overtaken is never written, and the events of a context come in order.
	Write(context string, e Event) []Action
}

// MaxContexts is how many contexts of a connection may be open. One more fails as busy.
const MaxContexts = 32

// Action is something that a [Socket] wants done: a [Message], [Begin], [Append], [Flush], [Finish], [Cancel],
// [Reject], [Note] or [Close].
type Action interface{ action() }

// Message is a message of a socket. As an action it is an answer: it is sent ahead of audio that waits.
type Message struct {
	Binary bool
	Data   []byte // UTF-8 unless Binary
}

// Begin opens a context. For an open one it sets how the next turn is spoken.
type Begin struct {
	Context string
	Order   Order // without Text, Framing, Headers and Buffered
	Feed    Feed
}

// Feed says how the text of a context arrives.
type Feed struct {
	FlushEnds bool // a flush ends the turn, and the next text begins another one
	// SourceWords: events also have the words as written; Order.Utterance.WordTimes requests words at all
	SourceWords bool
	Delay       time.Duration // after which text without an end is spoken; 0: it waits for its end or a flush
	// Idle: the context is finished when no action has named it for this long and nothing is left to be spoken; 0:
	// never
	Idle time.Duration
	Lead time.Duration // how much audio may be unsent before a further sentence is started; 0: 30 s
	// SilentInterrupts: clients do not always report an interruption: sent audio counts for Lead until it can have been
	// played
	SilentInterrupts bool
	// audio is sent at most so far ahead of its sounding; 0: as fast as the client takes it
	Pace time.Duration
}

// Append feeds text to a context. An empty text only keeps the context from idling. What is appended to a context that
// is over is ignored.
type Append struct {
	Context string
	Text    string
	Piece   bool // white space around messages was lost; see session.Piece
}

// Flush has everything spoken that was appended. [Flushed] comes behind its audio, also when there was nothing.
type Flush struct {
	Context string
	Tag     any
}

// Finish has everything spoken that was appended, and ends the context with [Ended].
type Finish struct{ Context string }

// Cancel drops everything of a context that was not sent, turns that wait included, and stops its bill. One [Cancelled]
// follows in any case. A context without [Feed.FlushEnds] is over then.
type Cancel struct{ Context string }

// Reject counts a message that cannot be served, and has [Rejected] written. Nothing ends.
type Reject struct {
	Context string
	Err     error // a [FieldError], another [speech.Refusal] or what else the native API has a status for
}

// Note is written to the server's log. Its value may be what a caller pressed, such as a key. It is nothing that is
// spoken.
type Note struct{ Text, Value string }

// Close closes the connection with a code and a reason of at most 123 bytes.
type Close struct {
	Code   int
	Reason string
	Drain  bool          // every context is finished before, and all of it spoken and sent; no message is read any more
	After  time.Duration // it waits this long, and messages are still read; a close that comes before counts
}

func (Message) action() {}
func (Begin) action()   {}
func (Append) action()  {}
func (Flush) action()   {}
func (Finish) action()  {}
func (Cancel) action()  {}
func (Reject) action()  {}
func (Note) action()    {}
func (Close) action()   {}

// Event is an event of a context: [Started], [Sound], [Words], [Flushed], [Ended], [Cancelled], [Failed] or [Rejected].
// A turn has Started first, then Sound and Words, with Flushed between them, and one of the others last; with
// [Feed.FlushEnds] Flushed is the last one. A turn without anything pronounceable has neither Started nor Sound.
type Event interface{ event() }

// Started reports that a worker speaks the first sentence of a turn.
type Started struct {
	RequestID   string // of the turn, as in the log
	Voice       string
	Model       string
	Seed        int64
	ContentType string // of the audio of the turn
}

// Sound is encoded audio.
type Sound struct {
	Data   []byte // not empty; valid until the messages that Write makes of it have been sent
	Frames int    // that went into it; an encoder may hold audio back, so this may be 0
}

// Words are the words of a piece of text whose audio has been sent completely. Times are those of the audio as played,
// from the start of the turn; they never decrease.
type Words struct {
	Text       string // the piece as it is spoken
	CharStart  int    // where Text begins in the spoken text of the turn, in code points
	Start, End time.Duration
	Spoken     []speech.Word // of Text; places are those of the spoken text of the turn
	// Source: as written, if requested; places are those of the sentence as written
	Source []speech.Word
}

// Flushed reports that everything before a flush has been sent.
type Flushed struct{ Tag any }

// Ended reports that a finished turn has been sent.
type Ended struct{ Frames int }

// Cancelled reports that a cancel took effect.
type Cancelled struct{}

// Failed reports that a turn has failed. A context without [Feed.FlushEnds] is over. With context "" it may concern the
// connection: its key has ended; the server then closes it.
type Failed struct{ Fault Fault }

// Rejected answers [Reject].
type Rejected struct{ Fault Fault }

func (Started) event()   {}
func (Sound) event()     {}
func (Words) event()     {}
func (Flushed) event()   {}
func (Ended) event()     {}
func (Cancelled) event() {}
func (Failed) event()    {}
func (Rejected) event()  {}
