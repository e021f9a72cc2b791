// Package link is the gRPC connection of routers and worker pods. Utterances go to pods and audio comes back; pods send
// the state of slots, routers their waiting requests. [Server] is a pod's half, [Client] a router's. Package route
// decides what a pod grants, and what a router does with events.
package link

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"strconv"
	"sync"
	"time"

	"google.golang.org/grpc"

	"github.com/swar-tts/swar/runtime/fleet/link/wire"
	"github.com/swar-tts/swar/runtime/fleet/route"
	"github.com/swar-tts/swar/runtime/metrics"
	"github.com/swar-tts/swar/runtime/speech"
)

const (
	heartbeat  = time.Second
	beatSlot   = 50 * time.Millisecond
	joinStates = 5 * time.Millisecond // changes within it are sent together
	maxCordon  = time.Minute          // the longest lease that is believed
	seenFor    = 10 * time.Minute     // how long a disconnected router is remembered
)

// Speaker is what a pod speaks with: a local one, without a queue.
type Speaker interface {
	speech.Speaker

	// Check returns the refusal with which Speak would answer u, or nil. It needs no worker.
	Check(ctx context.Context, u speech.Utterance) error
}

// Slots are the slots of a pod's workers.
type Slots interface {
	// Watch returns the present counts, and a channel that is closed as soon as they change.
	Watch() (speech.Capacity, <-chan struct{})

	// Reserve keeps an idle slot for key for this long, and reports whether there was one. A turn whose session is that
	// key gets it; at its end its slot is kept for key, if More says so.
	Reserve(key string, d time.Duration) bool

	// Unreserve ends what Reserve began, if the slot is still kept.
	Unreserve(key string)

	// FirstFrame is how long the slowest first frame took while workers were warmed.
	FirstFrame() time.Duration
}

// ServerConfig describes a pod.
type ServerConfig struct {
	Version string       // of the build
	Metrics *metrics.Pod // required
}

// Server answers routers for a pod. It is safe for concurrent use.
type Server struct {
	wire.UnimplementedSpeechServer
	wire.UnimplementedLinkServer

	cfg     ServerConfig
	speaker Speaker
	slots   Slots
	log     *slog.Logger
	epoch   uint64
	ended   chan struct{} // closed when Run returns

	mu         sync.Mutex
	sequence   uint64 // of the last state
	warm       bool   // every worker was, once
	cordoned   bool
	cordon     *time.Timer // ends it
	cordonEnds uint64      // counts leases, so that one that was renewed ends nothing

	cordonBegins chan struct{} // closed when the pod is cordoned; nil: nobody waits for that

	lastNumber  uint64 // of slots that may be granted
	grants      route.Grants
	outstanding map[uint64]time.Time // grants that were neither used nor declined, and until when they hold
	routers     map[uint64]*router
}

// router is one that is linked, or was.
type router struct {
	id             uint64
	seen           uint64    // newest attempt that is counted
	disconnectedAt time.Time // zero while it is linked
	link           uint64    // which of its links is the present one

	grants  []*wire.Grant // to be sent
	granted chan struct{} // there are some; buffered
	changed chan struct{} // the state has; buffered
}

// NewServer returns the server of a pod. Routers get changes while it runs.
func NewServer(cfg ServerConfig, speaker Speaker, slots Slots, log *slog.Logger) *Server {
	return &Server{
		cfg: cfg, speaker: speaker, slots: slots, log: log, epoch: rand.Uint64(), ended: make(chan struct{}),
		outstanding: make(map[uint64]time.Time), routers: make(map[uint64]*router),
	}
}

// Register lets g answer for s.
func (s *Server) Register(g grpc.ServiceRegistrar) {
	wire.RegisterSpeechServer(g, s)
	wire.RegisterLinkServer(g, s)
}

// Run sends every change of slots to routers until ctx ends. It grants slots that become free without having been
// used. Then it ends the links, but no utterance. A server runs once.
func (s *Server) Run(ctx context.Context) {
	defer close(s.ended)
	tick := time.NewTicker(heartbeat)
	defer tick.Stop()
	for {
		now, changed := s.slots.Watch()
		s.observe(now)
		select {
		case <-changed:
		case <-tick.C:
			s.forgetOld(time.Now())
		case <-ctx.Done():
			return
		}
	}
}

func (s *Server) observe(now speech.Capacity) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.warm = s.warm || now.Workers > 0 && now.Ready == now.Workers
	for free := now.Ready - now.Busy - now.Reserved; free > 0 && !now.Draining && !s.cordoned; free-- {
		if !s.grantIdleLocked() {
			break
		}
	}
	s.changedLocked()
}

// grantIdleLocked keeps an idle slot for the router whose client has waited longest, and reports whether that was done.
func (s *Server) grantIdleLocked() bool {
	if !s.grants.AnyWaiting() {
		return false
	}
	s.lastNumber++
	if !s.slots.Reserve(key(s.lastNumber), route.GrantTime) {
		return false
	}
	return s.grantLocked(s.lastNumber)
}

// grantLocked grants a slot to the router whose request has waited longest, and reports whether there is one.
func (s *Server) grantLocked(number uint64) bool {
	id, ok := s.grants.Next()
	if !ok {
		return false
	}
	r := s.routers[id]
	r.grants = append(r.grants, &wire.Grant{Number: number})
	s.outstanding[number] = time.Now().Add(route.GrantTime)
	wake(r.granted)
	return true
}

// changedLocked sends the state to every router.
func (s *Server) changedLocked() {
	for _, r := range s.routers {
		wake(r.changed)
	}
}

// wake fills a channel with room for one.
func wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// forgetOld counts unused grants, and drops routers that were disconnected for long.
func (s *Server) forgetOld(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for number, until := range s.outstanding {
		if now.After(until) {
			delete(s.outstanding, number)
			s.cfg.Metrics.GrantExpired()
		}
	}
	for id, r := range s.routers {
		if !r.disconnectedAt.IsZero() && now.Sub(r.disconnectedAt) > seenFor {
			delete(s.routers, id)
		}
	}
}

// routerLocked returns the router of that id, which may be one that has never linked.
func (s *Server) routerLocked(id uint64) *router {
	r, ok := s.routers[id]
	if !ok {
		r = &router{id: id, disconnectedAt: time.Now(), granted: make(chan struct{}, 1),
			changed: make(chan struct{}, 1)}
		s.routers[id] = r
	}
	return r
}

// state is what the pod says to a router now. What the router has been seen to ask is read before the slots are, so
// that a slot may be counted twice for a moment, but never as free when it is not.
func (s *Server) state(id uint64) *wire.State {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sequence++
	state := route.State{
		Epoch: s.epoch, Sequence: s.sequence, Seen: s.routerLocked(id).seen, Warm: s.warm, Cordoned: s.cordoned,
		FirstFrame: s.slots.FirstFrame(),
	}
	c := s.speaker.Capacity()
	state.Workers, state.Ready, state.Busy, state.Reserved = c.Workers, c.Ready, c.Busy, c.Reserved
	state.Draining = c.Draining
	return wire.NewState(state)
}

// Describe implements the service.
func (s *Server) Describe(_ context.Context, q *wire.DescribeRequest) (*wire.Description, error) {
	if q.Protocol > wire.Protocol {
		return nil, refused(wire.NewerProtocol("the router", q.Protocol))
	}
	return wire.NewDescription(s.speaker.Model(), s.speaker.Capacity().Workers, s.cfg.Version), nil
}

// Normalize implements the service.
func (s *Server) Normalize(ctx context.Context, q *wire.NormalizeRequest) (*wire.NormalizeReply, error) {
	if q.Utterance != nil {
		return &wire.NormalizeReply{Failure: wire.NewFailure(s.speaker.Check(ctx, q.Utterance.Value()))}, nil
	}
	n, err := s.speaker.Normalize(ctx, q.Value())
	if err != nil {
		return &wire.NormalizeReply{Failure: wire.NewFailure(err)}, nil
	}
	return wire.NewNormalized(n), nil
}

// Follow implements the service.
func (s *Server) Follow(stream grpc.BidiStreamingServer[wire.RouterMessage, wire.PodMessage]) error {
	first, err := stream.Recv()
	if err != nil {
		return err
	}
	hello := first.GetHello()
	if hello == nil || hello.Router == 0 {
		return invalid("the first message of Follow must be a Hello that names the router")
	}
	if hello.Protocol > wire.Protocol {
		return refused(wire.NewerProtocol("the router", hello.Protocol))
	}
	ctx, end := context.WithCancelCause(stream.Context())
	defer end(nil)
	r, mine, leave := s.join(hello.Router)
	defer leave()
	go func() { end(s.listen(stream, r, mine)) }() // ends with the stream
	return s.sendUpdates(ctx, stream, r)
}

// join begins a link, in the place of an older one of that router, and returns its number.
func (s *Server) join(id uint64) (_ *router, mine uint64, leave func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.routerLocked(id)
	r.disconnectedAt, r.grants = time.Time{}, nil
	wake(r.changed)
	r.link++
	mine = r.link
	s.grants.Leave(id) // what it was granted over another link it counts anew
	return r, mine, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if r.link == mine {
			r.link++ // nothing that is still said on it counts
			r.disconnectedAt = time.Now()
			s.grants.Leave(id)
		}
	}
}

// untilBeat returns how long to wait for the next heartbeat: until the last multiple of beatSlot, by the clock of the
// machine, that is not more than a second away. A router of 500 pods, whose clocks agree, is then woken twenty times a
// second and not five hundred times. Where clocks disagree only that is lost.
func untilBeat(now time.Time) time.Duration {
	next := now.Add(heartbeat)
	return next.Truncate(beatSlot).Sub(now)
}

// sendUpdates sends states and grants until ctx ends.
func (s *Server) sendUpdates(ctx context.Context, stream grpc.ServerStreamingServer[wire.PodMessage], r *router) error {
	beat := time.NewTimer(untilBeat(time.Now()))
	defer beat.Stop()
	pause := time.NewTimer(0)
	defer pause.Stop()
	var changed <-chan struct{} // nil for a moment after each state
	for {
		var err error
		select {
		case <-pause.C:
			changed = r.changed
		case <-changed:
			changed = nil
			pause.Reset(joinStates)
			err = s.sendState(stream, r)
		case <-beat.C:
			beat.Reset(untilBeat(time.Now()))
			err = s.sendState(stream, r)
		case <-r.granted:
			err = s.sendGrants(stream, r)
		case <-s.ended:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if err != nil {
			return err
		}
	}
}

func (s *Server) sendState(stream grpc.ServerStreamingServer[wire.PodMessage], r *router) error {
	return stream.Send(&wire.PodMessage{Message: &wire.PodMessage_State{State: s.state(r.id)}})
}

func (s *Server) sendGrants(stream grpc.ServerStreamingServer[wire.PodMessage], r *router) error {
	s.mu.Lock()
	grants := r.grants
	r.grants = nil
	s.mu.Unlock()
	for _, g := range grants {
		if err := stream.Send(&wire.PodMessage{Message: &wire.PodMessage_Grant{Grant: g}}); err != nil {
			return err
		}
	}
	return nil
}

// listen handles the messages of a router until its link ends.
func (s *Server) listen(
	stream grpc.BidiStreamingServer[wire.RouterMessage, wire.PodMessage], r *router, mine uint64,
) error {
	for {
		m, err := stream.Recv()
		if err != nil {
			return err
		}
		switch m := m.Message.(type) {
		case *wire.RouterMessage_Waiting:
			s.takeWaiting(r, mine, m.Waiting)
		case *wire.RouterMessage_Decline:
			s.decline(m.Decline.Grant)
		case *wire.RouterMessage_Cordon:
			s.setCordon(time.Duration(m.Cordon.Lease))
		case *wire.RouterMessage_Hello:
			return invalid("a second Hello on one link")
		}
	}
}

// takeWaiting records the waiting requests of a router, sent on the link of that number, unless that is over.
func (s *Server) takeWaiting(r *router, link uint64, w *wire.Waiting) {
	ages := make([]time.Duration, len(w.Ages))
	for i, age := range w.Ages {
		ages[i] = max(time.Duration(age), 0)
	}
	s.mu.Lock()
	if r.link == link {
		s.grants.Waiting(time.Now(), r.id, ages, w.Granted)
	}
	s.mu.Unlock()
	if c := s.speaker.Capacity(); len(ages) > 0 {
		s.observe(c)
	}
}

// decline gives a slot, which a router was granted in vain, to the next one.
func (s *Server) decline(number uint64) {
	s.mu.Lock()
	_, ok := s.outstanding[number]
	delete(s.outstanding, number)
	s.mu.Unlock()
	if ok {
		s.slots.Unreserve(key(number)) // which is a change that Run sees
	}
}

// Cordoned reports whether the pod takes nothing new for a while.
func (s *Server) Cordoned() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cordoned
}

// AwaitCordon returns when the pod is cordoned, or ctx ends.
func (s *Server) AwaitCordon(ctx context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for !s.cordoned && ctx.Err() == nil {
		if s.cordonBegins == nil {
			s.cordonBegins = make(chan struct{})
		}
		begins := s.cordonBegins
		s.mu.Unlock()
		select {
		case <-begins:
		case <-ctx.Done():
		}
		s.mu.Lock()
	}
}

// setCordon lets the pod refuse everything new until the lease ends; 0 ends it now.
func (s *Server) setCordon(lease time.Duration) {
	lease = min(lease, maxCordon)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cordon != nil {
		s.cordon.Stop()
	}
	if isNew := s.cordoned != (lease > 0); isNew {
		s.log.Info("cordon", "on", lease > 0)
	}
	s.cordoned = lease > 0
	if s.cordoned {
		if s.cordonBegins != nil {
			close(s.cordonBegins)
			s.cordonBegins = nil
		}
		s.cordonEnds++
		mine := s.cordonEnds
		s.cordon = time.AfterFunc(lease, func() { s.endCordon(mine) })
	}
	s.changedLocked()
}

// endCordon ends a cordon whose lease was not renewed.
func (s *Server) endCordon(lease uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cordoned && s.cordonEnds == lease {
		s.cordoned = false
		s.log.Warn("the cordon was not renewed; the pod serves again")
		s.changedLocked()
	}
}

// key is the session of a turn that has the slot of that number.
func key(number uint64) string { return strconv.FormatUint(number, 36) }
