package link

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	otelcodes "go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/swar-tts/swar/runtime/fleet/link/wire"
	"github.com/swar-tts/swar/runtime/speech"
)

// speakStream is a call of Speak as the pod sees it.
type speakStream = grpc.BidiStreamingServer[wire.SpeakRequest, wire.SpeakReply]

// call is one utterance on its way from a router. It is the sink that the speaker writes to.
type call struct {
	stream       speakStream
	ctx          context.Context // of the utterance
	blockPending atomic.Bool     // the router has a block to take
	taken        chan struct{}   // it has; buffered
	more         atomic.Bool     // the session has another utterance
	begun        func()          // called by Start
}

// Speak implements the service.
func (s *Server) Speak(stream speakStream) error {
	first, err := stream.Recv()
	if err != nil {
		return err
	}
	q := first.GetUtterance()
	switch {
	case q == nil:
		return invalid("the first message of Speak must be an Utterance")
	case q.Protocol > wire.Protocol:
		return refused(wire.NewerProtocol("the router", q.Protocol))
	}
	ctx, span := tracer.Start(fromTrace(stream.Context()), "slot", trace.WithSpanKind(trace.SpanKindServer))
	defer span.End()
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	if q.Deadline > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, time.Duration(q.Deadline), speech.ErrTimeout)
		defer cancel()
	}
	c := &call{stream: stream, ctx: ctx, taken: make(chan struct{}, 1)}
	go func() { end(c.listen()) }() // ends with the stream, which this function ends
	stats, grant, err := s.speak(ctx, q, c)
	if err != nil {
		span.SetStatus(otelcodes.Error, err.Error())
	}
	return stream.Send(&wire.SpeakReply{Message: &wire.SpeakReply_End{End: &wire.End{
		Stats: wire.NewStats(stats), Failure: wire.NewFailure(err), State: s.state(q.Router), Grant: grant,
	}}})
}

// speak speaks an utterance in its granted slot, or in any other. The next use of the slot is decided in the moment in
// which it becomes free: it is kept for the router whose request has waited longest, else for the session if it
// continues, which the returned grant says.
func (s *Server) speak(ctx context.Context, q *wire.Utterance, c *call) (st speech.Stats, kept *wire.Grant, err error) {
	u, begun := q.Value(), false
	s.mu.Lock()
	cordoned, number := s.cordoned, q.Grant
	if number == 0 {
		s.lastNumber++
		number = s.lastNumber
	}
	s.mu.Unlock()
	seen := func() { s.see(q.Router, q.Number) }
	defer seen() // also of what was refused
	if cordoned {
		if err = s.speaker.Check(ctx, u); err == nil { // which says more than that there is no slot
			err = wire.ErrCordoned
		}
		s.countRefusal(err)
		return st, nil, err
	}
	c.begun = func() {
		begun = true
		s.used(q.Grant)
		seen()
	}
	turn := speech.Turn{Session: key(number), More: func() bool {
		var keep bool
		keep, kept = s.reserveForWaiting(number, q, c.more.Load())
		return keep
	}}
	st, err = s.speaker.Speak(ctx, u, turn, c)
	if begun {
		s.cfg.Metrics.RecordRTF(s.speaker.Capacity().Busy+1, st.RTF())
	} else {
		s.countRefusal(err)
	}
	return st, kept, err
}

// reserveForWaiting reports whether the slot of that number, which becomes free, is kept for a request, and returns the
// grant for the continuing session, if it is for that.
func (s *Server) reserveForWaiting(number uint64, q *wire.Utterance, more bool) (bool, *wire.Grant) {
	draining := s.speaker.Capacity().Draining
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case draining || s.cordoned:
		return false, nil
	case s.grantLocked(number):
		return true, nil
	case more && q.Session != "":
		return true, &wire.Grant{Number: number, Session: q.Session}
	}
	return false, nil
}

// see notes that the slots count an attempt of a router.
func (s *Server) see(id, number uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.routerLocked(id); number > r.seen {
		r.seen = number
		wake(r.changed)
	}
}

// used records that the holder of a grant has taken its slot.
func (s *Server) used(grant uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.outstanding[grant]; ok {
		delete(s.outstanding, grant)
		s.cfg.Metrics.GrantUsed()
	}
}

// countRefusal counts err if it means that there was no slot.
func (s *Server) countRefusal(err error) {
	for _, reason := range []struct {
		err  error
		name string
	}{
		{speech.ErrBusy, "slot"}, {speech.ErrWarming, "warming"}, {speech.ErrDraining, "draining"},
		{wire.ErrCordoned, "cordoned"},
	} {
		if errors.Is(err, reason.err) {
			s.cfg.Metrics.Refused(reason.name)
			return
		}
	}
}

// listen handles the messages of the router until its stream ends, and returns the reason.
func (c *call) listen() error {
	for {
		m, err := c.stream.Recv()
		if err != nil {
			return wire.ErrCancelled // it has gone, or wants no more
		}
		switch m := m.Message.(type) {
		case *wire.SpeakRequest_Taken:
			if !c.blockPending.CompareAndSwap(true, false) {
				return &wire.ProtocolError{Text: "the router has taken a block that was not sent"}
			}
			c.more.Store(m.Taken.More)
			c.taken <- struct{}{}
		case *wire.SpeakRequest_Cancel:
			return wire.ErrCancelled
		case *wire.SpeakRequest_Utterance:
			return &wire.ProtocolError{Text: "the router sent a second utterance on one stream"}
		}
	}
}

// Start implements [speech.Sink].
func (c *call) Start(v speech.Start) error {
	c.begun()
	return c.stream.Send(&wire.SpeakReply{Message: &wire.SpeakReply_Start{Start: wire.NewStart(v)}})
}

// ChunkStart implements [speech.Sink].
func (c *call) ChunkStart(v speech.Chunk) error {
	return c.stream.Send(&wire.SpeakReply{Message: &wire.SpeakReply_Chunk{Chunk: wire.NewChunk(v)}})
}

// Audio implements [speech.Sink]. It returns when the router has taken the block.
func (c *call) Audio(v speech.Audio) error {
	noteFrames(c.ctx, v.Frames)
	c.blockPending.Store(true)
	if err := c.stream.Send(&wire.SpeakReply{Message: &wire.SpeakReply_Audio{Audio: wire.NewAudio(v)}}); err != nil {
		return err
	}
	select {
	case <-c.taken:
		return nil
	case <-c.ctx.Done():
		return context.Cause(c.ctx)
	}
}

// ChunkEnd implements [speech.Sink].
func (c *call) ChunkEnd(v speech.ChunkEnd) error {
	return c.stream.Send(&wire.SpeakReply{Message: &wire.SpeakReply_ChunkEnd{ChunkEnd: wire.NewChunkEnd(v)}})
}

func invalid(text string) error { return status.Error(codes.InvalidArgument, text) }

func refused(err error) error { return status.Error(codes.FailedPrecondition, err.Error()) }
