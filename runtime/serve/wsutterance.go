package serve

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"

	"github.com/swar-tts/swar/runtime/meter"
	feed "github.com/swar-tts/swar/runtime/session"
	"github.com/swar-tts/swar/runtime/speech"
)

// output turns what is spoken of an utterance into messages of a protocol, from the goroutine that speaks.
type output interface {
	feed.Sink

	// finish is called when what is fed has been spoken, or has failed with err. It returns how that ended.
	finish(err error) error

	// conclude puts out the last message, behind all others of the utterance, and settles it before that is sent.
	conclude(done <-chan struct{})

	// refuse sends the error of an utterance that has not begun. It waits for room until done.
	refuse(done <-chan struct{}, why error)

	// first returns what must follow the first audio at once, or nil. The goroutine that writes calls it.
	first() []byte
}

// utterance is one of a connection, from its message to its last event. While it is spoken it is the sink of its
// audio: it turns what the speaker produces into messages, in order. It may have been spoken long before the client
// has taken it.
type utterance struct {
	speech.Utterance
	word   speech.Format // what the client calls the format
	queue  *turns
	output output      // what makes messages of it; the utterance itself in the native protocol
	read   time.Time   // when its message had been read
	fed    *fedText    // nil: all of its text came with its message
	blank  atomic.Bool // no text has arrived, so that it is not counted

	state    // guarded by the mutex of the connection
	outgoing // guarded by the mutex of its outbox

	progress // of the goroutine that speaks; once that has put out the last message, of the one that writes
	sent     // of the goroutine that writes

	ended   sync.Once // see settle
	outcome error     // how it ended; valid once it is settled
}

// state is where an utterance is on its way through the session.
type state struct {
	limit     *time.Timer             // ends it 120 s after it became the first of its connection
	stop      context.CancelCauseFunc // stops the speaker; nil before it speaks
	why       error                   // it was stopped for; nil: it was not
	hasWorker bool                    // it has or had one
	spoken    bool                    // the speaker has ended
}

// progress is what the speaker has made of an utterance.
type progress struct {
	done   <-chan struct{} // closed when it is to stop
	meter  *meter.Stream   // before the utterance as a sink
	stats  speech.Stats
	chunks []spokenChunk
	head   []byte // what the container put ahead of the first frame
	sounds bool   // a frame has been put out
	words  bool   // the end of a chunk has them

	firstChunk int // that has audio

	flushed bool // a flush has been answered, maybe before a worker was there
}

// sent is what the client has of an utterance.
type sent struct {
	frames    int
	announced bool // how soon the first of them came
}

// spokenChunk remembers what cancelledEvent needs of a chunk.
type spokenChunk struct {
	charStart, charEnd int
	frames             int // decoded so far
	ended              bool
}

// textSize is how many bytes of text it was given before it was spoken.
func (u *utterance) textSize() int {
	if u.fed != nil {
		return u.fed.waiting
	}
	return len(u.Text)
}

// Start implements [speech.Sink].
func (u *utterance) Start(s speech.Start) error {
	u.queue.assigned(u)
	u.chunks = make([]spokenChunk, 0, s.Chunks)
	u.words = s.WordTimes
	e := startEventOf(u.RequestID, s, u.WordTimes)
	e.Fed = u.fed != nil
	return u.put(e)
}

// ChunkStart implements [speech.Sink].
func (u *utterance) ChunkStart(c speech.Chunk) error {
	start := 0
	for _, c := range u.chunks {
		start += c.frames
	}
	u.chunks = append(u.chunks, spokenChunk{charStart: c.CharStart, charEnd: c.CharEnd})
	return u.put(chunkEventOf(u.RequestID, c, start))
}

// Audio implements [speech.Sink]. It waits while the spool is full, and that is what makes the worker pause.
func (u *utterance) Audio(a speech.Audio) error {
	if !u.sounds && a.Frames == 0 {
		u.head = append(u.head, a.Data...) // sent with the first frame, so that first_audio_ms follows audio
		return nil
	}
	b := blockOf(u.head, a.Data)
	if !u.sounds {
		u.sounds, u.firstChunk, u.head = true, a.Chunk, nil
	}
	u.chunks[len(u.chunks)-1].frames += a.Frames
	return u.queue.out.put(u.done, message{
		kind: websocket.BinaryMessage, data: b.bytes, block: b, of: u, frames: a.Frames,
	})
}

// ChunkEnd implements [speech.Sink].
func (u *utterance) ChunkEnd(e speech.ChunkEnd) error {
	u.queue.server.cfg.Metrics.Prefill(e.PrefillCached)
	u.chunks[len(u.chunks)-1].ended = true
	if u.words {
		if err := u.put(wordsEventOf(u.RequestID, e)); err != nil {
			return err
		}
	}
	return u.put(chunkEndEventOf(u.RequestID, e))
}

func (u *utterance) put(event any) error {
	return u.queue.out.put(u.done, message{kind: websocket.TextMessage, data: encodeEvent(event), of: u})
}

func (u *utterance) outbound() *outgoing { return &u.outgoing }

// Source implements [feed.Sink]. The native protocol has the words that are spoken.
func (u *utterance) Source([]speech.Word) error { return nil }

// Flushed implements [feed.Sink].
func (u *utterance) Flushed(f feed.Flushed) error {
	u.flushed = true
	return u.put(flushedEvent{
		Type: "flushed", RequestID: u.RequestID,
		AudioS: thousandths(speech.Seconds(f.Frames)), CharEnd: f.Chars,
	})
}

func (u *utterance) finish(err error) error { return err }

func (u *utterance) conclude(done <-chan struct{}) {
	if u.hasWorker || u.flushed {
		u.queue.out.putLast(u, func() []frame {
			if event := u.last(); event != nil {
				return []frame{{websocket.TextMessage, encodeEvent(event)}}
			}
			return nil
		})
	} else if event := u.last(); event != nil { // nothing of it was sent, so nothing has to be waited for
		u.queue.out.answer(done, event)
	}
}

func (u *utterance) refuse(done <-chan struct{}, why error) {
	u.queue.out.answer(done, errorEventOf(u.RequestID, why))
}

// last is called when everything of u has been sent. It returns the last event, or nil for none.
func (u *utterance) last() any {
	u.leave()
	return u.lastEvent()
}

// leave ends u when everything of it has been sent.
func (u *utterance) leave() {
	_ = u.recordEnd(nil) // all of it, if nothing else has ended it before
	u.queue.leave(u)
}

// delivered counts a message that has been written. It returns the event that must follow at once, or nil.
func (u *utterance) delivered(m message) []byte {
	if m.kind != websocket.BinaryMessage {
		return nil
	}
	u.sent.frames += m.frames
	u.meter.Taken(m.frames)
	if u.fed != nil {
		u.fed.Taken(m.frames)
	}
	if u.announced {
		return nil
	}
	u.announced = true
	return u.output.first()
}

func (u *utterance) first() []byte {
	return encodeEvent(firstAudioEvent{
		Type: "first_audio_ms", RequestID: u.RequestID, Chunk: u.firstChunk, MS: millis(time.Since(u.read)),
	})
}

// recordEnd bills and records that u has ended with err, unless it was settled before, and returns the final error. It
// comes before the last event, so that an utterance is billed before its client sees the end.
func (u *utterance) recordEnd(err error) error {
	u.ended.Do(func() {
		u.outcome = err
		u.meter.End(u.stats, err)
		u.record(u.stats, err)
	})
	return u.outcome
}

func (u *utterance) record(st speech.Stats, err error) {
	if u.blank.Load() {
		return
	}
	u.queue.record(&u.Utterance, u.word, st, err)
}

// lastEvent returns the event that ends u; nil after a disconnect. It is called when nothing else of u is left to be
// sent.
func (u *utterance) lastEvent() any {
	switch err := u.outcome; {
	case err == nil:
		e := endEventOf(u.RequestID, u.Seed, u.stats)
		if u.fed != nil {
			e.FinishedBy = u.fed.finishedBy
		}
		return e
	case errors.Is(err, errCancelled):
		return u.cancelledEvent(u.stats.Frames)
	case endedByClient(err):
		return nil
	default:
		return errorEventOf(u.RequestID, err)
	}
}

// cancelledEvent returns the event of a cancelled utterance. The writing goroutine calls it, once nothing of u is left
// to be sent.
func (u *utterance) cancelledEvent(billed int) cancelledEvent {
	frames := u.sent.frames
	chunk, chars := u.playedUpTo(frames)
	return cancelledEvent{
		Type: "cancelled", RequestID: u.RequestID,
		Frames: frames, AudioS: thousandths(speech.Seconds(frames)), Chunk: chunk, CharsSpoken: chars,
		BilledFrames: billed,
	}
}

// usualPace is used until a chunk of the utterance has shown its own: 15 code points a second, a calm reading of
// Hinglish.
const usualPace = 1.2 // code points a frame

// listening says where in the normalised text the first frames of the utterance end: exactly at the end of a chunk,
// and within one by proportion. Of a chunk that was cut the length is not known, so it is guessed from the pace of
// those before.
func (u *utterance) playedUpTo(frames int) (chunk, chars int) {
	pace := usualPace
	endedChars, endedFrames := 0, 0
	for i, c := range u.chunks {
		if frames > c.frames && i < len(u.chunks)-1 {
			frames -= c.frames
			endedChars, endedFrames = endedChars+c.charEnd-c.charStart, endedFrames+c.frames
			continue
		}
		if endedFrames > 0 {
			pace = float64(endedChars) / float64(endedFrames)
		}
		length := c.charEnd - c.charStart
		if c.ended && c.frames > 0 {
			return i, c.charStart + length*frames/c.frames
		}
		return i, min(c.charStart+int(float64(frames)*pace), c.charEnd)
	}
	return 0, 0
}
