package fleet

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/swar-tts/swar/runtime/fleet/link"
	"github.com/swar-tts/swar/runtime/fleet/link/wire"
	"github.com/swar-tts/swar/runtime/fleet/route"
	"github.com/swar-tts/swar/runtime/speech"
)

// tracer records the outcome of utterances, if the program sends spans.
var tracer = otel.Tracer("github.com/swar-tts/swar/runtime/fleet")

// endSpan ends the span of what has spoken, or not.
func endSpan(span trace.Span, st speech.Stats, err error) {
	span.SetAttributes(attribute.Int("frames", st.Frames))
	if err != nil {
		span.SetStatus(codes.Error, err.Error())
	}
	span.End()
}

// placement is what the router has decided about an utterance.
type placement struct {
	send  route.Send
	pod   *pod
	err   error // it will not be spoken
	waits bool  // until another placement comes
}

// call is one utterance on its way.
type call struct {
	id     route.ID
	placed chan placement // the newest; buffered
}

// place passes a decision on. An unread decision before it is replaced: only Wait is followed by another one, and then
// it is obsolete.
func (c *call) place(p placement) {
	select {
	case <-c.placed:
	default:
	}
	c.placed <- p
}

// Speak implements [speech.Speaker].
func (s *Speaker) Speak(
	ctx context.Context, u speech.Utterance, turn speech.Turn, sink speech.Sink,
) (st speech.Stats, err error) {
	begin := time.Now()
	if err := context.Cause(ctx); err != nil {
		return st, err
	}
	c, err := s.arrive(u, turn)
	if err != nil {
		return st, err
	}
	defer s.withdraw(c)
	asked := turn.QueuedSince
	if asked.IsZero() {
		asked = begin
	}
	sp := &speaking{
		speaker: s, call: c, u: u, turn: turn, begin: begin, waitLimit: s.cfg.QueueWait - begin.Sub(asked),
		sink: onceSink{Sink: sink},
	}
	ctx, span := tracer.Start(ctx, "speak", trace.WithAttributes(
		attribute.String("request_id", u.RequestID), attribute.String("voice", u.Voice),
		attribute.String("format", string(u.Format))))
	defer func() { endSpan(span, st, err) }()
	st, err = sp.run(ctx)
	if sp.attempts > 0 {
		s.cfg.Metrics.Attempts(sp.attempts)
	}
	if sp.gotFrame && errors.Is(err, speech.ErrDraining) {
		s.cfg.Metrics.Cut("router_drain")
	}
	st.Wall = time.Since(begin)
	return st, err
}

// arrive adds an utterance to the router.
func (s *Speaker) arrive(u speech.Utterance, turn speech.Turn) (*call, error) {
	affinity := route.Affinity(u.Voice, u.Text, u.Raw, u.EnDigits)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.draining && turn.StartedAt.IsZero() {
		return nil, speech.ErrDraining
	}
	s.lastID++
	c := &call{id: s.lastID, placed: make(chan placement, 1)}
	s.calls[c.id] = c
	s.applyLocked(s.router.Arrive(time.Now(), c.id, route.Request{
		Affinity: affinity, Session: turn.Session, StartedAt: turn.StartedAt,
	}))
	return c, nil
}

func (s *Speaker) withdraw(c *call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.calls, c.id)
	if s.changed != nil {
		close(s.changed)
		s.changed = nil
	}
}

// speaking is one call of Speak.
type speaking struct {
	speaker   *Speaker
	call      *call
	u         speech.Utterance
	turn      speech.Turn
	begin     time.Time
	waitLimit time.Duration // for which it may wait, from begin on
	sink      onceSink
	attempts  int
	checked   bool // a pod has said that it could speak it
	gotFrame  bool // a frame has arrived: no other pod can be tried
}

// run follows the router's decisions until the utterance has ended.
func (sp *speaking) run(ctx context.Context) (speech.Stats, error) {
	for {
		p, err := sp.placement(ctx)
		switch {
		case err != nil:
			return speech.Stats{}, err
		case p.err != nil:
			return speech.Stats{}, sp.refuse(ctx, p.err)
		}
		o, again := sp.attempt(ctx, p)
		if !again {
			return o.Stats, o.Err
		}
	}
}

// placement returns the pod for the utterance, or an error. While it waits, a pod validates the text: an invalid text
// has precedence over busy.
func (sp *speaking) placement(ctx context.Context) (placement, error) {
	p := <-sp.call.placed
	if !p.waits {
		return p, nil
	}
	s := sp.speaker
	ctx, span := tracer.Start(ctx, "queue")
	defer span.End()
	checking, stop := context.WithCancel(ctx)
	checked := make(chan verdict, 1)
	go func() { checked <- s.check(checking, sp.u) }()
	defer func() {
		stop()
		if checked != nil {
			<-checked
		}
	}()
	over := time.NewTimer(time.Until(sp.begin.Add(sp.waitLimit)))
	defer over.Stop()
	if !sp.turn.StartedAt.IsZero() {
		over.Stop()
	}
	for {
		select {
		case p = <-sp.call.placed:
			if !p.waits {
				return p, nil
			}
		case v := <-checked:
			checked, sp.checked = nil, v.known
			if v.refusal != nil && sp.leaveQueue() {
				return p, v.refusal
			}
		case <-over.C:
			s.mu.Lock()
			s.applyLocked(s.router.Expire(time.Now(), sp.call.id))
			s.mu.Unlock()
		case <-ctx.Done():
			if sp.leaveQueue() {
				return p, context.Cause(ctx)
			}
			return <-sp.call.placed, nil // it came in the same moment
		}
	}
}

// leaveQueue takes the utterance back, unless it was placed in the same moment, which it reports.
func (sp *speaking) leaveQueue() bool {
	s := sp.speaker
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case p := <-sp.call.placed:
		sp.call.placed <- p
		if !p.waits {
			return false
		}
	default:
	}
	s.applyLocked(s.router.Leave(sp.call.id))
	return true
}

// refuseTime is how long a pod may be asked when the wait is over: a refusal leaves within 2 s.
const refuseTime = 50 * time.Millisecond

// refuse returns why the utterance is not spoken: its fault, if it has any, else that no slot is free.
func (sp *speaking) refuse(ctx context.Context, err error) error {
	if sp.checked {
		return err
	}
	left := max(time.Until(sp.begin.Add(sp.waitLimit)), 0)
	ctx, cancel := context.WithTimeout(ctx, left+refuseTime)
	defer cancel()
	if v := sp.speaker.check(ctx, sp.u); v.refusal != nil {
		return v.refusal
	}
	return err
}

// attempt has one pod speak the utterance. again means that no audio arrived, and the router decides anew.
func (sp *speaking) attempt(ctx context.Context, p placement) (o link.Outcome, again bool) {
	s := sp.speaker
	if ctx.Err() != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.applyLocked(s.router.SendFailed(time.Now(), sp.call.id, p.send.Grant))
		return link.Outcome{Err: context.Cause(ctx)}, false
	}
	s.mu.Lock()
	if p.pod == nil || p.pod.isIdle() { // its connections are closed, or are about to be
		s.mu.Unlock()
		return sp.finishAttempt(p, link.Outcome{Err: &link.PodLostError{Err: errNoPod}, PodLost: true}, 0)
	}
	sp.attempts++
	s.speaking++
	p.pod.running++
	a := link.Attempt{
		Router: s.epoch, Number: p.send.Number, Grant: p.send.Grant, FirstFrame: s.router.FirstFrameOf(p.send.Pod),
	}
	s.mu.Unlock()
	ctx, span := tracer.Start(ctx, "attempt", trace.WithSpanKind(trace.SpanKindClient),
		trace.WithAttributes(attribute.String("pod", p.send.Pod), attribute.Bool("granted", p.send.Grant != 0)))
	sent := time.Now()
	sp.sink.queue = sent.Sub(sp.begin)
	o = p.pod.client.Speak(ctx, sp.u, sp.turn, a, &sp.sink, sp.answered)
	o.Stats.Queue = sp.sink.queue
	endSpan(span, o.Stats, o.Err)
	s.mu.Lock()
	s.speaking--
	if p.pod.running--; p.pod.running == 0 && p.pod.isRemoved() {
		close(p.pod.idle)
	}
	s.mu.Unlock()
	return sp.finishAttempt(p, o, time.Since(sent))
}

func (sp *speaking) answered() {
	sp.gotFrame = true
	s := sp.speaker
	s.mu.Lock()
	defer s.mu.Unlock()
	s.applyLocked(s.router.Answered(time.Now(), sp.call.id))
}

// finishAttempt reports to the router how an attempt, which held a slot this long, has ended.
func (sp *speaking) finishAttempt(p placement, o link.Outcome, held time.Duration) (link.Outcome, bool) {
	s, now := sp.speaker, time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	if o.State != nil {
		s.applyLocked(s.router.EndState(now, p.send.Pod, *o.State))
	}
	switch {
	case isFull(o.Err):
		s.applyLocked(s.router.Refused(now, sp.call.id))
		return o, true
	case o.PodLost:
		s.log.Warn("a pod was lost",
			"pod", p.send.Pod, "request_id", sp.u.RequestID, "frames", o.Stats.Frames, "error", o.Err)
		s.slotTime += held
		if sp.gotFrame {
			s.cfg.Metrics.Cut(causeOf(o, s.router.IsDraining(p.send.Pod)))
		}
		s.applyLocked(s.router.AttemptFailed(now, sp.call.id, o.Err))
		return o, !sp.gotFrame
	}
	s.slotTime += held
	if o.Grant != nil {
		s.applyLocked(s.router.Granted(now, p.send.Pod, o.Grant.Number, o.Grant.Session))
	}
	s.applyLocked(s.router.Ended(now, sp.call.id))
	return o, false
}

// causeOf is why an utterance was cut.
func causeOf(o link.Outcome, draining bool) string {
	switch {
	case draining:
		return "drain"
	case errors.Is(o.Err, link.ErrStalled):
		return "stalled"
	}
	return "pod_lost"
}

// isFull reports whether a pod has refused for want of a slot.
func isFull(err error) bool {
	for _, full := range []error{speech.ErrBusy, speech.ErrWarming, speech.ErrDraining, wire.ErrCordoned} {
		if errors.Is(err, full) {
			return true
		}
	}
	return false
}

// onceSink hands on what attempts produce. A pod that takes over from one that was lost before its first frame begins
// again, which the client must not see.
type onceSink struct {
	speech.Sink
	queue   time.Duration // before the attempt
	started bool
	chunk   bool // the first one has begun
}

// Start implements [speech.Sink].
func (o *onceSink) Start(v speech.Start) error {
	if o.started {
		return nil
	}
	o.started = true
	v.Queue = o.queue
	return o.Sink.Start(v)
}

// ChunkStart implements [speech.Sink].
func (o *onceSink) ChunkStart(c speech.Chunk) error {
	if c.Index == 0 {
		if o.chunk {
			return nil
		}
		o.chunk = true
	}
	return o.Sink.ChunkStart(c)
}
