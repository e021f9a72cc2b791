// Package fleet is the remote Speaker. It sends utterances to worker pods, which any number of routers share. Package
// route decides which pod gets which utterance; this one carries that out.
package fleet

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/swar-tts/swar/runtime/fleet/link"
	"github.com/swar-tts/swar/runtime/fleet/route"
	"github.com/swar-tts/swar/runtime/metrics"
	"github.com/swar-tts/swar/runtime/speech"
)

// keepTime is how long a connected and warm pod is used after the source has dropped it. Lists lack pods for a moment,
// such as when EndpointSlices are recreated; a stopping pod says so itself, or its link breaks.
const keepTime = 10 * time.Second

// leaveTime is how long a terminating pod refuses new utterances after its replacement was seen. It ends before that.
const leaveTime = time.Minute

// Source finds pods.
type Source interface {
	// Run reports all pods, once at the start and after every change, from one goroutine, until ctx ends.
	Run(ctx context.Context, tell func([]route.Endpoint)) error
}

// Config configures a router's use of pods.
type Config struct {
	Route     route.Config
	QueueWait time.Duration // longest wait for a slot; 0 means 1.95 s
	// what pods must speak with; without an ID, what the first one does. Voices may be names only
	Model speech.Model

	Metrics *metrics.Fleet // required

	// Dial returns a client of the pod at an address. It connects nothing yet.
	Dial func(address string) (*link.Client, error)
}

// Speaker implements [speech.Speaker] on pods. It is safe for concurrent use.
type Speaker struct {
	cfg    Config
	source Source
	log    *slog.Logger
	epoch  uint64 // names this router to pods

	synced chan struct{} // closed when the first listed pods were asked for their state

	running sync.WaitGroup // what Run has started

	mu           sync.Mutex
	router       *route.Router
	pods         map[string]*pod
	listed       []route.Endpoint // the last list of the source
	calls        map[route.ID]*call
	lastID       route.ID
	model        speech.Model
	speaking     int           // utterances that a pod has
	draining     bool          // no new utterances are accepted
	changed      chan struct{} // closed when a call ends; nil while no call waits for that
	noPod        chan struct{} // closed when a request is refused for lack of pods; nil: not awaited
	slotTime     time.Duration // for which slots were held, all together
	publishTimer *time.Timer   // sends waiting requests to pods, soon; nil when there is nothing to send

	refusedRate rate // requests that were refused, by the second
}

// New returns a speaker that knows no pod before it runs.
func New(cfg Config, source Source, log *slog.Logger) *Speaker {
	if cfg.QueueWait == 0 {
		cfg.QueueWait = route.DefaultQueueWait
	}
	return &Speaker{
		cfg: cfg, source: source, log: log, epoch: 1 + rand.Uint64N(1<<63), synced: make(chan struct{}),
		router: route.New(cfg.Route), pods: make(map[string]*pod), calls: make(map[route.ID]*call), model: cfg.Model,
	}
}

// Run keeps up with the pods until ctx ends, and returns when every connection is closed. What is spoken then is cut:
// call [Speaker.Drain] before.
func (s *Speaker) Run(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer s.running.Wait()
	defer stop()
	s.running.Go(func() { s.tick(ctx) })
	told := sync.OnceFunc(func() { s.running.Go(func() { s.waitForStates(ctx) }) })
	err := s.source.Run(ctx, func(all []route.Endpoint) {
		s.list(ctx, all)
		told()
	})
	if ctx.Err() != nil {
		return nil
	}
	return fmt.Errorf("finding pods: %w", err)
}

// Synced returns a channel that is closed when discovery works and each pod was asked for its state. There may be no
// pods, and no pod delays it for long. Earlier requests are refused, because no pod is known.
func (s *Speaker) Synced() <-chan struct{} { return s.synced }

// waitForStates waits until every pod was asked.
func (s *Speaker) waitForStates(ctx context.Context) {
	defer close(s.synced)
	ctx, cancel := context.WithTimeout(ctx, syncTimeout)
	defer cancel()
	s.mu.Lock()
	all := slices.Collect(maps.Values(s.pods))
	s.mu.Unlock()
	for _, p := range all {
		select {
		case <-p.synced:
		case <-ctx.Done():
			return
		}
	}
}

// tick lets time pass for the router.
func (s *Speaker) tick(ctx context.Context) {
	second := time.NewTicker(time.Second)
	defer second.Stop()
	for {
		select {
		case now := <-second.C:
			s.mu.Lock()
			for _, p := range s.pods {
				if s.isRemovedLocked(now, p) {
					s.updateRouterLocked(now)
					break
				}
			}
			s.applyLocked(s.router.Tick(now))
			for _, address := range s.router.Avoided(now) {
				if p, ok := s.pods[address]; ok { // it need not wait for a replacement any longer
					p.following.Cordon(leaveTime)
				}
			}
			counts := s.router.Counts()
			s.refusedRate.tick(counts.Refused + counts.Warming)
			s.mu.Unlock()
		case <-ctx.Done():
			return
		}
	}
}

// list records the addresses of pods, and dials the new ones.
func (s *Speaker) list(ctx context.Context, all []route.Endpoint) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	s.listed = slices.Clone(all)
	missing := maps.Clone(s.pods)
	for _, e := range all {
		delete(missing, e.Address)
		p, known := s.pods[e.Address]
		if !known {
			client, err := s.cfg.Dial(e.Address)
			if err != nil {
				s.log.Error("a pod cannot be dialled", "pod", e.Address, "error", err)
				continue
			}
			p = newPod(s, e.Address, client)
			s.pods[e.Address] = p
			s.running.Go(func() { p.run(ctx) })
		}
		p.zone, p.missing = e.Zone, time.Time{}
	}
	for _, p := range missing {
		if !p.missing.IsZero() {
			continue
		}
		p.missing = now
		if !s.isRemovedLocked(now, p) {
			s.log.Info("a pod is not listed any more; using it while it answers", "pod", p.address, "for_ms",
				keepTime.Milliseconds())
		}
	}
	s.updateRouterLocked(now)
}

// updateRouterLocked gives the router the listed and kept pods, and drops the others.
func (s *Speaker) updateRouterLocked(now time.Time) {
	all := slices.Clone(s.listed)
	var gone []string
	for address, p := range s.pods {
		switch {
		case s.isRemovedLocked(now, p):
			delete(s.pods, address)
			p.remove()
			gone = append(gone, address)
		case !p.missing.IsZero():
			all = append(all, route.Endpoint{Address: address, Zone: p.zone})
		}
	}
	s.applyLocked(s.router.List(now, all))
	for _, address := range gone {
		s.applyLocked(s.router.Disconnect(now, address))
	}
}

// isRemovedLocked reports whether a pod is not listed, and not kept in spite of that.
func (s *Speaker) isRemovedLocked(now time.Time, p *pod) bool {
	if p.missing.IsZero() {
		return false
	}
	return now.Sub(p.missing) >= keepTime || !s.router.IsWarm(p.address) || s.router.IsDraining(p.address)
}

// applyLocked carries out what the router has decided.
func (s *Speaker) applyLocked(effects []route.Effect) {
	for _, effect := range effects {
		switch e := effect.(type) {
		case route.Send:
			s.calls[e.ID].place(placement{send: e, pod: s.pods[e.Pod]})
		case route.Refuse:
			s.calls[e.ID].place(placement{err: e.Err})
			if s.noPod != nil && errors.Is(e.Err, speech.ErrWarming) {
				close(s.noPod)
				s.noPod = nil
			}
		case route.Wait:
			s.calls[e.ID].place(placement{waits: true})
		case route.Decline:
			if p, ok := s.pods[e.Pod]; ok {
				p.following.Decline(e.Grant)
			}
		case route.PublishWaiting:
			s.publishWaitingLocked()
		}
	}
}

// publishWaitingLocked sends waiting requests to all pods, less often with many pods: a pod whose grant is unused gets
// it back at once.
func (s *Speaker) publishWaitingLocked() {
	if s.publishTimer != nil {
		return
	}
	s.publishTimer = time.AfterFunc(time.Duration(len(s.pods))*50*time.Microsecond, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.publishTimer = nil
		now, since := time.Now(), s.router.Waiting()
		for address, p := range s.pods {
			p.following.SetWaiting(now, since, s.router.GrantsOf(address))
		}
	})
}

// Model implements [speech.Speaker].
func (s *Speaker) Model() speech.Model {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.model
}

// Ready implements [speech.Speaker]: one pod in use is enough, all of whose workers were warm once.
func (s *Speaker) Ready() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.draining {
		return speech.ErrDraining
	}
	if !s.router.InUse(time.Now()) {
		return speech.ErrWarming
	}
	return nil
}

// Capacity implements [speech.Speaker]. Slots are those of all pods, which other routers also use; the queue is that of
// this router.
func (s *Speaker) Capacity() speech.Capacity {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.router.Capacity(time.Now())
	c.Draining = s.draining
	return c
}

// Overview is a router's own work and what it sees of the fleet.
type Overview struct {
	route.Counts
	Speaking int           // utterances of this router that pods are speaking
	Queued   int           // and that wait
	SlotTime time.Duration // for which its utterances have held slots, all together
	Demand   float64       // slots that its clients demand: speaking, waiting, and recent refusals
	Pods     []route.PodView
}

// Overview returns the present one.
func (s *Speaker) Overview() Overview {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := Overview{
		Counts: s.router.Counts(), Speaking: s.speaking, Queued: s.router.Queued(), SlotTime: s.slotTime,
		Pods: s.router.View(time.Now()),
	}
	refused := o.Refused + o.Warming
	o.Demand = float64(o.Speaking+o.Queued) + s.refusedRate.perSecond(refused)*o.meanStream().Seconds()
	return o
}

// meanStream is for how long an utterance holds a slot, which is guessed before one has.
func (o Overview) meanStream() time.Duration {
	if n := o.Served + o.Cut; n > 0 {
		return o.SlotTime / time.Duration(n)
	}
	return 4 * time.Second
}

// NoPod returns a channel that is closed when the next request is refused for want of a pod.
func (s *Speaker) NoPod() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.noPod == nil {
		s.noPod = make(chan struct{})
	}
	return s.noPod
}

// Cordon asks a pod to take nothing new until the lease ends; 0 ends it now. It reports whether the pod is known.
func (s *Speaker) Cordon(address string, lease time.Duration) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, ok := s.pods[address]
	if ok {
		p.following.Cordon(lease)
	}
	return ok
}

// Drain refuses new utterances and waits until all running and waiting ones have ended. It returns the cause of ctx if
// that ended first.
func (s *Speaker) Drain(ctx context.Context) error {
	for {
		s.mu.Lock()
		s.draining = true
		left := len(s.calls)
		if s.changed == nil {
			s.changed = make(chan struct{})
		}
		changed := s.changed
		s.mu.Unlock()
		if left == 0 {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("draining: %d utterances left: %w", left, context.Cause(ctx))
		}
	}
}

// Normalize implements [speech.Speaker]: any pod does it, warm or not.
func (s *Speaker) Normalize(ctx context.Context, u speech.Utterance) (n speech.Normalized, err error) {
	err = s.callAnyPod(ctx, func(ctx context.Context, c *link.Client) (err error) {
		n, err = c.Normalize(ctx, u)
		return err
	})
	return n, err
}

// verdict is what pods say of an utterance before it is spoken.
type verdict struct {
	refusal error // with which they would answer it; nil: none
	known   bool  // a pod has answered
}

// check asks pods, for a second at most, whether they would refuse u.
func (s *Speaker) check(ctx context.Context, u speech.Utterance) verdict {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	err := s.callAnyPod(ctx, func(ctx context.Context, c *link.Client) error { return c.Check(ctx, u) })
	if refusal, ok := errors.AsType[*speech.Refusal](err); ok {
		return verdict{refusal: refusal, known: true}
	}
	return verdict{known: err == nil}
}

// callAnyPod has one pod do what needs no slot, and another one where that is lost.
func (s *Speaker) callAnyPod(ctx context.Context, do func(context.Context, *link.Client) error) error {
	err := speech.ErrWarming
	for _, p := range s.anyPods(2) {
		err = do(ctx, p.client)
		if !errors.Is(err, speech.ErrWorkerGone) {
			return err
		}
	}
	return err
}

// anyPods returns up to n pods that are connected and fit, in any order.
func (s *Speaker) anyPods(n int) []*pod {
	s.mu.Lock()
	defer s.mu.Unlock()
	view := slices.DeleteFunc(s.router.View(time.Now()), func(p route.PodView) bool {
		return !p.Connected || p.OtherModel || s.pods[p.Address] == nil
	})
	var some []*pod
	for range min(n, len(view)) {
		i := rand.IntN(len(view))
		some = append(some, s.pods[view[i].Address])
		view = slices.Delete(view, i, i+1)
	}
	return some
}
