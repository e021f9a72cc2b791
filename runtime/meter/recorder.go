package meter

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/swar-tts/swar/runtime/access"
	"github.com/swar-tts/swar/runtime/speech"
)

// ProgressFrames is how many frames a client takes between two progress events: 10 s of audio. A crash costs us no
// more than that.
const ProgressFrames = 125

// Recorder records usage per key. It is safe for concurrent use. A nil Recorder records nothing.
type Recorder struct {
	log *Log
}

// NewRecorder returns a recorder that writes to log.
func NewRecorder(log *Log) *Recorder { return &Recorder{log: log} }

// Stream counts one utterance while it is spoken and delivered. It is a sink between the speaker and another sink, used
// by one goroutine; Taken and End may be called by others meanwhile.
type Stream struct {
	to  speech.Sink
	log *Log // nil: usage is not billed

	mu       sync.Mutex
	over     bool
	event    Event
	decoded  int64 // frames that went through
	taken    int64 // of these, frames that the client has taken
	reported int64 // of these, frames in progress events
}

// Begin returns the sink to speak u into. It passes everything on to the sink to. Call it before Speak with the
// utterance as the client asked for it, and End when Speak has returned.
//
// Nothing is written before a worker is assigned, and nothing at all for a grant without an organisation, such as
// that of a static key.
func (r *Recorder) Begin(grant access.Grant, endpoint string, u speech.Utterance, to speech.Sink) *Stream {
	s := &Stream{to: to}
	if r == nil || grant.OrgID == "" {
		return s
	}
	s.log = r.log
	s.event = Event{
		OrgID: grant.OrgID, ProjectID: grant.ProjectID, KeyID: grant.KeyID, KeyPrefix: grant.KeyPrefix,
		Playground: grant.Playground,
		RequestID:  u.RequestID, Endpoint: endpoint, Voice: u.Voice, Format: string(u.Format), Seed: u.Seed,
	}
	return s
}

// Start implements [speech.Sink].
func (s *Stream) Start(st speech.Start) error {
	if s.log != nil {
		s.mu.Lock()
		s.assignedLocked(time.Now())
		s.event.Queueus = st.Queue.Microseconds()
		s.event.Chars = utf8.RuneCountInString(st.Normalized)
		s.mu.Unlock()
	}
	return s.to.Start(st)
}

// ChunkStart implements [speech.Sink].
func (s *Stream) ChunkStart(c speech.Chunk) error { return s.to.ChunkStart(c) }

// Audio implements [speech.Sink].
func (s *Stream) Audio(a speech.Audio) error {
	if s.log != nil {
		s.mu.Lock()
		if s.decoded == 0 {
			s.event.TTFAus = (a.Prefill + a.FirstFrame).Microseconds()
		}
		s.decoded += int64(a.Frames)
		s.mu.Unlock()
	}
	return s.to.Audio(a)
}

// ChunkEnd implements [speech.Sink].
func (s *Stream) ChunkEnd(e speech.ChunkEnd) error {
	s.mu.Lock()
	s.event.Chunks++
	if s.event.Chunks == 1 {
		s.event.PrefillCached = e.PrefillCached
	}
	s.mu.Unlock()
	return s.to.ChunkEnd(e)
}

// Taken counts frames that the client has taken. Should the process die, these are billed, up to the last progress
// event.
func (s *Stream) Taken(frames int) {
	if s.log == nil || frames == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.taken += int64(frames)
	if !s.over && s.taken-s.reported >= ProgressFrames {
		s.appendLocked(Progress, s.taken, s.taken)
	}
}

// End records how the stream ended. st and err are what Speak returned, or err is the failure of the response after
// that. Call it once, before the client sees the end, so that a finished utterance is always billed. A stream without a
// worker records nothing, and neither does one that was refused as busy.
//
// After a panic of the speaker st is empty; what went through the stream counts then.
func (s *Stream) End(st speech.Stats, err error) {
	if s.log == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	begun := st.Started || s.event.ID != ""
	if s.over || !begun || errors.Is(err, speech.ErrBusy) {
		return
	}
	s.over = true
	if s.event.ID == "" { // the sink has not received its start
		s.assignedLocked(time.Now())
	}
	e := &s.event
	e.Status, e.Error = StatusOf(err), publicText(err)
	if st.Started {
		e.Chars, e.Chunks, e.PrefillCached = st.Chars, st.Chunks, st.PrefillCached
		e.TTFAus, e.Queueus = st.TTFA.Microseconds(), st.Queue.Microseconds()
		e.Wallus, e.Synthus = st.Wall.Microseconds(), st.Synth.Microseconds()
		s.decoded = int64(st.Frames)
	}
	s.appendLocked(Final, s.decoded, s.billedLocked(err))
}

// billedLocked returns how many frames are paid for by a client whose stream ended with err.
func (s *Stream) billedLocked(err error) int64 {
	switch {
	case s.event.Status.Billed():
		return s.decoded
	case errors.Is(err, speech.ErrUnreadAudio):
		return s.taken
	default:
		return 0
	}
}

// assignedLocked gives the event its id, when a worker is there.
func (s *Stream) assignedLocked(now time.Time) {
	s.event.ID = newEventID(now)
	s.event.Start = now.UTC().Truncate(time.Microsecond)
	s.event.Date = DateOf(now)
}

// appendLocked writes an event. frames and billed count from the start of the stream; what progress has reported of
// them is taken off.
func (s *Stream) appendLocked(kind Kind, frames, billed int64) {
	e := s.event
	e.Kind, e.At = kind, time.Now().UTC().Truncate(time.Microsecond)
	e.Frames, e.Billed = frames-s.reported, billed-s.reported
	s.reported = frames
	s.log.Append(&e)
}

// StatusOf returns how a stream ended that Speak, or the writing of its answer, left with err. Cancels, disconnects,
// slow readers, texts over the limit and revoked keys count as ended by the client. All else is the server's fault.
func StatusOf(err error) Status {
	if err == nil {
		return OK
	}
	if _, engine := errors.AsType[*speech.EngineError](err); engine { // its own cancel
		return Failed
	}
	if _, refused := errors.AsType[*speech.Refusal](err); refused { // in the middle of what is fed
		return Cancelled
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
	for _, known := range []error{
		speech.ErrUnreadAudio, speech.ErrTimeout, speech.ErrWorkerGone,
		speech.ErrClientSlow, speech.ErrClientGone, speech.ErrDraining, access.ErrInvalidKey,
	} {
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
