// Package watch receives the reports of routers. Each router reports its load and its view of the worker pods once a
// second, and cordons pods on request. Nothing is decided here.
package watch

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"maps"
	"math/rand/v2"
	"sync"
	"time"

	"google.golang.org/grpc"

	"github.com/swar-tts/swar/runtime/fleet/link/wire"
)

const (
	minRetry = 200 * time.Millisecond // wait before a router is called again; doubled after each failure
	maxRetry = 5 * time.Second
	minCall  = time.Second      // a call that ended sooner has failed
	silence  = 10 * time.Second // a router that is silent for this long is called again
)

// Report is what a router said last.
type Report struct {
	ReceivedAt time.Time
	State      *wire.FleetState // not to be changed
}

// Config says how to reach routers.
type Config struct {
	// Dial returns a connection to the router of a fleet at an address, whose Fleet service is called. It connects
	// nothing yet.
	Dial func(fleet, address string) (*grpc.ClientConn, error)

	// OnReport is called with the name of a fleet whenever one of its routers has reported, and when its set of routers
	// has changed. It must return soon.
	OnReport func(fleet string)
}

// Watcher keeps one call to each router of each fleet. It is safe for concurrent use.
type Watcher struct {
	cfg Config
	log *slog.Logger

	running sync.WaitGroup

	mu     sync.Mutex
	closed bool
	fleets map[string]map[string]*router // by fleet, and by address
}

// New returns a watcher without fleets.
func New(cfg Config, log *slog.Logger) *Watcher {
	return &Watcher{cfg: cfg, log: log, fleets: make(map[string]map[string]*router)}
}

// router is one that is called.
type router struct {
	stop           context.CancelFunc
	cordonsChanged chan struct{} // there is something to say; buffered

	report  Report                   // guarded by the watcher's mutex, as are the following
	cordons map[string]time.Duration // pods, and leases to send
}

// Set sets the addresses of a fleet's routers; without any it stops watching the fleet.
func (w *Watcher) Set(fleet string, addresses []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	routers := w.fleets[fleet]
	if routers == nil && len(addresses) > 0 && !w.closed {
		routers = make(map[string]*router)
		w.fleets[fleet] = routers
	}
	stay := make(map[string]bool, len(addresses))
	changed := false
	for _, a := range addresses {
		stay[a] = true
		if routers[a] == nil && !w.closed {
			changed = true
			routers[a] = w.startLocked(fleet, a)
		}
	}
	for a, r := range routers {
		if !stay[a] {
			changed = true
			r.stop()
			delete(routers, a)
		}
	}
	if len(routers) == 0 {
		delete(w.fleets, fleet)
	}
	if changed {
		go w.cfg.OnReport(fleet)
	}
}

// Reports returns what the routers of a fleet said last, by address. Of one that has said nothing yet the state is nil.
func (w *Watcher) Reports(fleet string) map[string]Report {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := make(map[string]Report, len(w.fleets[fleet]))
	for a, r := range w.fleets[fleet] {
		all[a] = r.report
	}
	return all
}

// Cordon makes every router of a fleet cordon pods, by address, until a lease ends. 0 ends it now. A router that
// disconnects in that moment may miss it: repeat it until pods show it.
func (w *Watcher) Cordon(fleet string, leases map[string]time.Duration) {
	if len(leases) == 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range w.fleets[fleet] {
		if r.cordons == nil {
			r.cordons = make(map[string]time.Duration, len(leases))
		}
		maps.Copy(r.cordons, leases)
		select {
		case r.cordonsChanged <- struct{}{}:
		default:
		}
	}
}

// Run watches until ctx ends, and returns when every connection is closed.
func (w *Watcher) Run(ctx context.Context) {
	<-ctx.Done()
	w.mu.Lock()
	w.closed = true
	for _, routers := range w.fleets {
		for _, r := range routers {
			r.stop()
		}
	}
	clear(w.fleets)
	w.mu.Unlock()
	w.running.Wait()
}

func (w *Watcher) startLocked(fleet, address string) *router {
	ctx, stop := context.WithCancel(context.Background())
	r := &router{stop: stop, cordonsChanged: make(chan struct{}, 1)}
	w.running.Go(func() { w.watchRouter(ctx, fleet, address, r) })
	return r
}

// watchRouter calls a router again and again until ctx ends.
func (w *Watcher) watchRouter(ctx context.Context, fleet, address string, r *router) {
	away := false
	for wait := minRetry; ctx.Err() == nil; wait = min(2*wait, maxRetry) {
		begun := time.Now()
		err := w.call(ctx, fleet, address, r, func() {
			if wait = minRetry; away {
				away = false
				w.log.Info("a router is back", "fleet", fleet, "router", address)
			}
			w.cfg.OnReport(fleet)
		})
		if ctx.Err() != nil {
			return
		}
		if errors.Is(err, io.EOF) && time.Since(begun) >= minCall { // the router has connections made anew
			continue
		}
		if !away {
			away = true
			w.log.Warn("a router is away; calling again", "fleet", fleet, "router", address, "error", err)
		}
		select {
		case <-time.After(wait/2 + rand.N(wait/2+1)):
		case <-ctx.Done():
		}
	}
}

// call listens to a router until that fails.
func (w *Watcher) call(ctx context.Context, fleet, address string, r *router, heard func()) error {
	conn, err := w.cfg.Dial(fleet, address)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	ctx, end := context.WithCancel(ctx)
	defer end()
	quiet := time.AfterFunc(silence, end)
	defer quiet.Stop()
	stream, err := wire.NewFleetClient(conn).Watch(ctx)
	if err != nil {
		return err
	}
	var saying sync.WaitGroup
	defer saying.Wait()
	defer end()
	saying.Go(func() { w.sendCordons(ctx, stream, r) })
	for {
		state, err := stream.Recv()
		if err != nil {
			return err
		}
		quiet.Reset(silence)
		w.mu.Lock()
		r.report = Report{ReceivedAt: time.Now(), State: state}
		w.mu.Unlock()
		heard()
	}
}

// sendCordons sends cordons to a router until ctx ends.
func (w *Watcher) sendCordons(ctx context.Context,
	stream grpc.BidiStreamingClient[wire.WatchRequest, wire.FleetState], r *router) {
	for {
		w.mu.Lock()
		cordons := r.cordons
		r.cordons = nil
		w.mu.Unlock()
		if len(cordons) > 0 {
			q := &wire.WatchRequest{}
			for pod, lease := range cordons {
				q.Cordons = append(q.Cordons, &wire.PodCordon{Address: pod, Lease: int64(lease)})
			}
			if stream.Send(q) != nil {
				return // the receiver returns the error
			}
		}
		select {
		case <-r.cordonsChanged:
		case <-ctx.Done():
			return
		}
	}
}
