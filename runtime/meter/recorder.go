package meter

import (
	"context"
	"errors"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/swar-tts/swar/runtime/access"
	"github.com/swar-tts/swar/runtime/speech"
)

// ProgressFrames is how many frames a stream makes between two progress events: 10 s of audio. A crash costs us no more than that.
const ProgressFrames = 125

// Recorder writes down what is spoken for whom. It is safe for concurrent use. A nil Recorder records nothing.
type Recorder struct {
	log *Log
}

// NewRecorder returns a recorder that writes to log.
func NewRecorder(log *Log) *Recorder { return &Recorder{log: log} }

// Stream counts one utterance while it is spoken. It stands between the speaker and a sink, and is as little safe for concurrent use
// as that.
type Stream struct {
	to       speech.Sink
	log      *Log // nil: nobody is billed
	event    Event
	frames   int64 // so far
	reported int64 // of these, in progress events
}

// Begin returns the sink to speak u into. It passes everything on to the sink to. Call it before Speak with the utterance as the client
// asked for it, and End when Speak has returned.
//
// Nothing is written before a worker is assigned, and nothing at all for a grant without an organisation, such as that of a static key.
func (r *Recorder) Begin(grant access.Grant, endpoint string, u speech.Utterance, to speech.Sink) *Stream {
	s := &Stream{to: to}
	if r == nil || grant.OrgID == "" {
		return s
	}
	s.log = r.log
	s.event = Event{
		OrgID: grant.OrgID, ProjectID: grant.ProjectID, KeyID: grant.KeyID, KeyPrefix: grant.KeyPrefix, Playground: grant.Playground,
		RequestID: u.RequestID, Endpoint: endpoint, Voice: u.Voice, Format: string(u.Format), Seed: u.Seed,
	}
	return s
}

// Start implements [speech.Sink].
func (s *Stream) Start(st speech.Start) error {
	if s.log != nil {
		s.assigned(time.Now())
		s.event.Queueus = st.Queue.Microseconds()
		s.event.Chars = utf8.RuneCountInString(st.Normalized)
	}
	return s.to.Start(st)
}

// ChunkStart implements [speech.Sink].
func (s *Stream) ChunkStart(c speech.Chunk) error { return s.to.ChunkStart(c) }

// Audio implements [speech.Sink].
func (s *Stream) Audio(a speech.Audio) error {
	if s.log != nil && a.Frames > 0 {
		if s.frames == 0 {
			s.event.TTFAus = (a.Prefill + a.FirstFrame).Microseconds()
		}
		s.frames += int64(a.Frames)
		if s.frames-s.reported >= ProgressFrames {
			s.append(Progress, s.frames, s.frames)
		}
	}
	return s.to.Audio(a)
}

// ChunkEnd implements [speech.Sink].
func (s *Stream) ChunkEnd(e speech.ChunkEnd) error {
	s.event.Chunks++
	if s.event.Chunks == 1 {
		s.event.PrefillCached = e.PrefillCached
	}
	return s.to.ChunkEnd(e)
}

// End writes down how the stream has ended: st and err are what Speak returned, or err is what became of the answer after that. Call it
// once, before the client is told of the end, so that whoever has seen an end is billed. A stream that no worker was assigned to leaves
// nothing.
//
// After a panic of the speaker st is empty; what went through the stream counts then.
func (s *Stream) End(st speech.Stats, err error) {
	if s.log == nil || !st.Started && s.event.ID == "" {
		return
	}
	if s.event.ID == "" { // the sink was not told of its start
		s.assigned(time.Now())
	}
	e := &s.event
	e.Status, e.Error = StatusOf(err), publicText(err)
	if st.Started {
		e.Chars, e.Chunks, e.PrefillCached = st.Chars, st.Chunks, st.PrefillCached
		e.TTFAus, e.Queueus = st.TTFA.Microseconds(), st.Queue.Microseconds()
		e.Wallus, e.Synthus = st.Wall.Microseconds(), st.Synth.Microseconds()
		s.frames = int64(st.Frames)
	}
	frames, billed := s.frames, int64(0)
	if e.Status.Billed() {
		billed = frames
	}
	s.append(Final, frames, billed)
	s.log = nil
}

// assigned gives the event its id, when a worker is there.
func (s *Stream) assigned(now time.Time) {
	s.event.ID = newEventID(now)
	s.event.Start = now.UTC().Truncate(time.Microsecond)
	s.event.Date = DateOf(now)
}

// append writes an event. frames and billed count from the start of the stream; what progress has reported of them is taken off.
func (s *Stream) append(kind Kind, frames, billed int64) {
	e := s.event
	e.Kind, e.At = kind, time.Now().UTC().Truncate(time.Microsecond)
	e.Frames, e.Billed = frames-s.reported, billed-s.reported
	s.reported = frames
	s.log.Append(&e)
}

// StatusOf says how a stream ended that Speak, or the writing of its answer, left with err. Who cancels, leaves, reads too slowly or
// whose key is revoked has ended the stream himself. Everything else is ours.
func StatusOf(err error) Status {
	if err == nil {
		return OK
	}
	if _, engine := errors.AsType[*speech.EngineError](err); engine { // which may have cancelled something of its own
		return Failed
	}
	switch {
	case errors.Is(err, speech.ErrTimeout), errors.Is(err, context.DeadlineExceeded):
		return TimedOut
	case errors.Is(err, context.Canceled), errors.Is(err, speech.ErrClientGone), errors.Is(err, speech.ErrClientSlow),
		errors.Is(err, access.ErrInvalidKey):
		return Cancelled
	default:
		return Failed
	}
}

// publicText returns what the request log may say about err: causes are for the server's own log.
func publicText(err error) string {
	if e, ok := errors.AsType[*speech.EngineError](err); ok && e.Text != "" {
		return strings.ToValidUTF8(e.Text[:min(len(e.Text), maxErrorText)], "")
	}
	for _, known := range []error{speech.ErrTimeout, speech.ErrWorkerGone, speech.ErrClientSlow, speech.ErrClientGone, speech.ErrDraining, access.ErrInvalidKey} {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	if StatusOf(err) == Failed {
		return "engine error"
	}
	return ""
}

const maxErrorText = 200 // bytes
