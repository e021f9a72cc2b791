package meter

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync/atomic"
	"time"
)

// ShipperConfig configures the sending of events.
type ShipperConfig struct {
	MaxBatch  int           // events; 0 means 500
	Gather    time.Duration // how long a batch waits for company; 0 means 200 ms
	SendLimit time.Duration // for one Send; 0 means 10 s
	MinRetry  time.Duration // wait after the first failure, doubled after each further one; 0 means 100 ms
	MaxRetry  time.Duration // longest wait; 0 means 30 s
}

// Shipper sends the events of a log to a sink, in order, one batch at a time. It retries until the sink has them.
type Shipper struct {
	cfg    ShipperConfig
	from   *Log
	to     Sink
	log    *slog.Logger
	next   int64 // number of the event to be sent next
	sent   int64 // highest number that was ever handed to the sink
	oldest atomic.Int64
}

// NewShipper returns a shipper. A log has only one.
func NewShipper(cfg ShipperConfig, from *Log, to Sink, log *slog.Logger) *Shipper {
	if cfg.MaxBatch == 0 {
		cfg.MaxBatch = 500
	}
	if cfg.Gather == 0 {
		cfg.Gather = 200 * time.Millisecond
	}
	if cfg.SendLimit == 0 {
		cfg.SendLimit = 10 * time.Second
	}
	if cfg.MinRetry == 0 {
		cfg.MinRetry = 100 * time.Millisecond
	}
	if cfg.MaxRetry == 0 {
		cfg.MaxRetry = 30 * time.Second
	}
	return &Shipper{cfg: cfg, from: from, to: to, log: log, next: from.lastAcked() + 1}
}

// Run sends until ctx ends. It waits out every failure of the sink.
func (s *Shipper) Run(ctx context.Context) error {
	for s.from.wait(ctx, s.next) == nil && s.gather(ctx) == nil &&
		s.ship(ctx) == nil { // each fails only when ctx has ended
	}
	return nil
}

// Drain sends all remaining events at once, without waiting to fill a batch. It returns when the sink has everything
// that was appended before, or ctx ends. Call it when Run has returned. What it leaves stays in the log for the next
// start.
func (s *Shipper) Drain(ctx context.Context) error {
	err := s.from.Sync(ctx)
	for err == nil && s.from.Backlog().Queued > 0 {
		if err = s.ship(ctx); err == nil {
			err = s.from.Sync(ctx)
		}
	}
	if err != nil {
		return fmt.Errorf("%d usage events are left in the log for the next start: %w", s.from.Backlog().Queued, err)
	}
	return nil
}

// Delay returns the age of the oldest event that the sink does not have, as far as sending has got. It is 0 if none
// is being sent.
func (s *Shipper) Delay() time.Duration {
	if at := s.oldest.Load(); at != 0 {
		return time.Since(time.UnixMicro(at))
	}
	return 0
}

// gather waits until a batch is full, or long enough.
func (s *Shipper) gather(ctx context.Context) error {
	wait, cancel := context.WithTimeout(ctx, s.cfg.Gather)
	defer cancel()
	if s.from.wait(wait, s.next+int64(s.cfg.MaxBatch)-1) != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// ship sends one batch, as often as it takes. It fails only when ctx has ended.
func (s *Shipper) ship(ctx context.Context) error {
	defer s.oldest.Store(0)
	wait := s.cfg.MinRetry
	for failures := 0; ; failures++ {
		err := s.try(ctx)
		if err == nil {
			if failures > 0 {
				s.log.Info("usage events are accepted again", "failures", failures)
			}
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if failures == 0 || wait == s.cfg.MaxRetry {
			s.log.Warn("usage events could not be sent and are kept; trying again", "queued", s.from.Backlog().Queued,
				"failures", failures+1, "error", err)
		}
		select {
		case <-time.After(wait/2 + rand.N(wait/2+1)):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		wait = min(2*wait, s.cfg.MaxRetry)
	}
}

func (s *Shipper) try(ctx context.Context) error {
	events, err := s.from.read(s.next, s.cfg.MaxBatch)
	if err != nil || len(events) == 0 {
		return err
	}
	source, base, copied := s.from.origin()
	s.oldest.Store(events[0].At.UnixMicro())
	events = contiguous(events)
	last := events[len(events)-1].Seq
	for i := range events {
		events[i].Seq -= base
	}
	limit := max(s.sent, s.from.recovered)
	s.sent = max(s.sent, last)
	step("send")
	ctx, cancel := context.WithTimeout(ctx, s.cfg.SendLimit)
	defer cancel()
	err = s.to.Send(ctx, Batch{Source: source, Events: events, Copied: max(copied-base, 0)})
	if gap, ok := errors.AsType[*GapError](err); ok {
		return s.goTo(gap, base, limit)
	}
	if fork, ok := errors.AsType[*ForkError](err); ok {
		return s.fork(fork.Seq + base)
	}
	if err != nil {
		return err
	}
	step("sent")
	s.next = last + 1
	return s.from.ack(last)
}

// contiguous returns the events before a hole that damage has left in the log.
func contiguous(events []Event) []Event {
	for i := range events {
		if events[i].Seq != events[0].Seq+int64(i) {
			return events[:i]
		}
	}
	return events
}

// goTo continues with the event that the sink expects. If that is not possible, the log continues as a new source with
// what it has: the sink then counts anew from there. known is the highest number that the sink can have received from
// this copy of the log.
func (s *Shipper) goTo(gap *GapError, base, known int64) error {
	want := gap.Want + base
	first, err := s.from.firstFrom(want)
	switch {
	case err != nil:
		return err
	case want > known+1 && gap.Copies:
		return s.fork(want - 1)
	case want > known+1:
		// An older sink does not find out what it has: what was there at the start counts as sent.
		s.log.Error("usage log: the folder is older than what was sent from it, such as a restored copy; continuing as a new source", "have", known, "sink_has", want-1)
		return s.restart(s.from.recovered+1, 0)
	case first > want:
		s.log.Error("usage log: events that the sink needs are missing; continuing as a new source without them",
			"from", want, "to", first-1)
		return s.restart(first, first-want)
	case want-1 > base:
		// The event before goes along, so that the sink compares it: it may be that of a copy of the log.
		before, err := s.from.firstFrom(want - 1)
		if err != nil || before == want-1 {
			s.next = before
			return err
		}
	}
	s.next = want
	return s.from.ack(want - 1)
}

func (s *Shipper) restart(first, gone int64) error {
	if err := s.from.restart(first, gone); err != nil {
		return err
	}
	s.next, s.sent = first, 0
	return nil
}

// fork continues as a new source with all unacknowledged events, because another log reports under the same source: the
// folder was copied, or a copy was restored. The sink leaves out what both have in common.
func (s *Shipper) fork(sinkHas int64) error {
	first, err := s.from.firstFrom(s.from.lastAcked() + 1)
	if err != nil {
		return err
	}
	s.log.Warn("usage log: the folder is a copy of a reporting one, such as a cloned disk or a restored backup; "+
		"continuing as a new source without loss", "folder", s.from.cfg.Folder, "from", first, "sink_has", sinkHas)
	if err := s.from.fork(first); err != nil {
		return err
	}
	s.next, s.sent = first, 0
	return nil
}
