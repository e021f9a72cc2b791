package serve

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"github.com/swar-tts/swar/runtime/meter"
	"github.com/swar-tts/swar/runtime/speech"
)

// utterance is one of a session, from its message to its last event. While it is spoken it is the sink of its audio: it turns what the
// speaker produces into messages, in order. It may have been spoken long before the client has taken it.
type utterance struct {
	speech.Utterance
	session *session
	read    time.Time // when its message had been read
	fed     *fedText  // nil: all of its text came with its message

	state // guarded by session.mu

	// Guarded by session.out.mu.
	dropped bool // nothing of it may be sent any more but its last event
	unheard int  // messages of audio that wait, or are being sent

	said // of the goroutine that speaks; once that has put out the last message, of the one that writes
	sent // of the goroutine that writes

	settled sync.Once // see settle
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

// said is what the speaker has made of an utterance.
type said struct {
	done   <-chan struct{} // closed when it is to stop
	meter  *meter.Stream   // before the utterance as a sink
	stats  speech.Stats
	chunks []spokenChunk
	head   []byte // what the container put ahead of the first frame
	sounds bool   // a frame has been put out
	first  int    // the chunk that it belongs to
	words  bool   // the end of a chunk has them

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
	u.session.assigned(u)
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
		u.sounds, u.first, u.head = true, a.Chunk, nil
	}
	u.chunks[len(u.chunks)-1].frames += a.Frames
	return u.session.out.put(u.done, message{
		kind: websocket.BinaryMessage, data: b.bytes, block: b, of: u, frames: a.Frames,
	})
}

// ChunkEnd implements [speech.Sink].
func (u *utterance) ChunkEnd(e speech.ChunkEnd) error {
	u.session.server.cfg.Metrics.Prefill(e.PrefillCached)
	u.chunks[len(u.chunks)-1].ended = true
	if u.words {
		if err := u.put(wordsEventOf(u.RequestID, e)); err != nil {
			return err
		}
	}
	return u.put(chunkEndEventOf(u.RequestID, e))
}

func (u *utterance) put(event any) error {
	return u.session.out.put(u.done, message{kind: websocket.TextMessage, data: encodeEvent(event), of: u})
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
	return encodeEvent(firstAudioEvent{
		Type: "first_audio_ms", RequestID: u.RequestID, Chunk: u.first, MS: millis(time.Since(u.read)),
	})
}

// settle puts on the bill and on record that u has ended with err, unless it has been settled before, and returns with
// what it ended. It comes before the last event, so that whoever has seen an end is billed.
func (u *utterance) settle(err error) error {
	u.settled.Do(func() {
		u.outcome = err
		u.meter.End(u.stats, err)
		u.session.record(&u.Utterance, u.stats, err)
	})
	return u.outcome
}

// lastEvent tells how u has ended; nil is for somebody who has left. It is called when nothing else of u is left to be
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

// cancelledEvent tells what the client was sent. It is called by the goroutine that writes, once nothing of u is left to be sent.
func (u *utterance) cancelledEvent(billed int) cancelledEvent {
	frames := u.sent.frames
	chunk, chars := u.heard(frames)
	return cancelledEvent{
		Type: "cancelled", RequestID: u.RequestID,
		Frames: frames, AudioS: thousandths(speech.Seconds(frames)), Chunk: chunk, CharsSpoken: chars,
		BilledFrames: billed,
	}
}

// usualPace is used until a chunk of the utterance has shown its own: 15 code points a second, a calm reading of Hinglish.
const usualPace = 1.2 // code points a frame

// heard says where in the normalised text the first frames of the utterance end: exactly at the end of a chunk, and within one by
// proportion. Of a chunk that was cut the length is not known, so it is guessed from the pace of those before.
func (u *utterance) heard(frames int) (chunk, chars int) {
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
