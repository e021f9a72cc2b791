package serve

import (
	"errors"
	"time"

	"github.com/gorilla/websocket"

	"github.com/swar-tts/swar/runtime/dialect"
	feed "github.com/swar-tts/swar/runtime/session"
	"github.com/swar-tts/swar/runtime/speech"
)

// vendorTurn is a turn of a context. It is the output of its utterance: events are queued, and the dialect writes
// messages from them when they leave.
type vendorTurn struct {
	*utterance
	context   *vendorContext
	flushEnds bool
	audio     dialect.Audio

	cancels int // that wait for its end; guarded by the mutex of the connection

	// Of the goroutine that speaks.
	encoder    *pcmEncoder // nil before Start, and if there is nothing to encode
	heldFrames int         // frames that went into the encoder and have not come out
	frames     int
	tag        any // of the flush that ends it
	isTag      bool

	words    wordsMaker
	hasWords bool
	source   []speech.Word // of the chunk that ends next
}

// Start implements [speech.Sink].
func (t *vendorTurn) Start(s speech.Start) error {
	t.queue.assigned(t.utterance)
	t.words, t.hasWords = wordsMaker{speed: t.audio.Speed}, s.WordTimes
	if native, ok := t.audio.Native(); !ok || native != speech.PCM16 {
		t.encoder = t.queue.server.newEncoder(t.audio, t.Utterance)
	}
	return t.put(dialect.Started{
		RequestID: t.RequestID, Voice: s.Voice, Model: s.Model, Seed: s.Seed, ContentType: t.audio.ContentType,
	})
}

// ChunkStart implements [speech.Sink].
func (t *vendorTurn) ChunkStart(c speech.Chunk) error {
	t.words.begin(c, t.frames)
	return nil
}

// Audio implements [speech.Sink].
func (t *vendorTurn) Audio(a speech.Audio) (err error) {
	data := a.Data
	if t.encoder != nil {
		if data, err = t.encoder.write(data); err != nil {
			return err
		}
	}
	t.frames += a.Frames
	return t.sound(data, a.Frames)
}

// sound queues audio made of this many frames.
func (t *vendorTurn) sound(data []byte, frames int) error {
	t.heldFrames += frames
	if len(data) == 0 {
		return nil
	}
	b := blockOf(data)
	m := message{kind: websocket.BinaryMessage, block: b, of: t.utterance, frames: t.heldFrames}
	m.late = t.late(dialect.Sound{Data: b.bytes, Frames: t.heldFrames})
	t.heldFrames = 0
	return t.queue.out.put(t.done, m)
}

// Source implements [feed.Sink].
func (t *vendorTurn) Source(words []speech.Word) error {
	t.source = words
	return nil
}

// ChunkEnd implements [speech.Sink].
func (t *vendorTurn) ChunkEnd(e speech.ChunkEnd) error {
	t.queue.server.cfg.Metrics.Prefill(e.PrefillCached)
	if !t.hasWords {
		return nil
	}
	return t.put(t.words.end(e.Words, t.source, t.frames))
}

// Flushed implements [feed.Sink]. The flush that ends a turn is its last event.
func (t *vendorTurn) Flushed(f feed.Flushed) error {
	if t.flushEnds {
		t.tag, t.isTag = f.Tag, true
		return nil
	}
	return t.put(dialect.Flushed{Tag: f.Tag})
}

func (t *vendorTurn) put(e dialect.Event) error {
	return t.queue.out.put(t.done, message{kind: websocket.TextMessage, of: t.utterance, late: t.late(e)})
}

func (t *vendorTurn) late(e dialect.Event) func() []frame {
	return func() []frame { return t.context.session.write(t.context.name, e) }
}

// finish implements [output]: the encoder gives out what it holds.
func (t *vendorTurn) finish(err error) error {
	if t.encoder == nil {
		return err
	}
	rest, failure := t.encoder.Close()
	if err == nil {
		err = failure
	}
	if err != nil {
		return err
	}
	return t.sound(rest, 0)
}

// conclude implements [output]. A client that has cancelled the turn is answered at once: nothing of the turn is sent
// any more.
func (t *vendorTurn) conclude(done <-chan struct{}) {
	t.context.shut(t, !t.flushEnds)
	t.queue.mu.Lock()
	cancels := t.cancels
	t.queue.mu.Unlock()
	t.queue.out.putLast(t.utterance, t.last)
	for range cancels {
		t.context.session.sendEvent(done, t.context.name, dialect.Cancelled{})
	}
}

// last returns what is sent when everything of the turn has been sent.
func (t *vendorTurn) last() []frame {
	t.leave()
	var e dialect.Event
	switch err := t.outcome; {
	case err == nil && t.isTag:
		e = dialect.Flushed{Tag: t.tag}
	case err == nil:
		e = dialect.Ended{Frames: t.stats.Frames}
	case errors.Is(err, errCancelled), endedByClient(err):
		return nil
	default:
		e = dialect.Failed{Fault: faultOf(err, t.RequestID)}
	}
	return t.late(e)()
}

func (t *vendorTurn) refuse(done <-chan struct{}, why error) {
	t.context.session.sendEvent(done, t.context.name, dialect.Failed{Fault: faultOf(why, t.RequestID)})
}

func (t *vendorTurn) first() []byte { return nil }

// wordsMaker makes the event of words of each chunk.
type wordsMaker struct {
	speed  float64
	chunk  speech.Chunk // the present one
	before int          // frames before it
}

// begin records that a chunk begins after this many frames.
func (m *wordsMaker) begin(c speech.Chunk, frames int) { m.chunk, m.before = c, frames }

// end returns the words of the chunk that ends after this many frames.
func (m *wordsMaker) end(spoken, source []speech.Word, frames int) dialect.Words {
	return dialect.Words{
		Text: m.chunk.Text, CharStart: m.chunk.CharStart,
		Start:  m.playTime(time.Duration(m.before) * speech.FrameDuration),
		End:    m.playTime(time.Duration(frames) * speech.FrameDuration),
		Spoken: m.all(spoken), Source: m.all(source),
	}
}

func (m *wordsMaker) all(words []speech.Word) []speech.Word {
	all := make([]speech.Word, len(words))
	for i, w := range words {
		w.Start, w.End = m.playTime(w.Start), m.playTime(w.End)
		all[i] = w
	}
	return all
}

// listening returns when a client hears what was spoken at a time.
func (m *wordsMaker) playTime(at time.Duration) time.Duration {
	return time.Duration(float64(at) / m.speed)
}
