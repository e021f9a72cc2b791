package fleet

import (
	"context"
	"log/slog"
	"time"

	"google.golang.org/grpc"

	"github.com/swar-tts/swar/runtime/fleet/link/wire"
	"github.com/swar-tts/swar/runtime/fleet/route"
)

// watchEvery is the interval of load reports.
const watchEvery = time.Second

// Watch reports the load and the view of a router to the autoscaler. It passes cordons on to pods.
type Watch struct {
	wire.UnimplementedFleetServer
	speaker *Speaker
	version string // of the build
	log     *slog.Logger
	ended   chan struct{}
}

// NewWatch returns the service for a router.
func NewWatch(speaker *Speaker, version string, log *slog.Logger) *Watch {
	return &Watch{speaker: speaker, version: version, log: log, ended: make(chan struct{})}
}

// Register lets g answer for w.
func (w *Watch) Register(g grpc.ServiceRegistrar) { wire.RegisterFleetServer(g, w) }

// Close ends every watch. It is called once.
func (w *Watch) Close() { close(w.ended) }

// Watch implements the service.
func (w *Watch) Watch(stream grpc.BidiStreamingServer[wire.WatchRequest, wire.FleetState]) error {
	ctx, end := context.WithCancelCause(stream.Context())
	defer end(nil)
	go func() { end(w.listen(stream)) }() // ends with the stream
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	isEarly := false
	for {
		lacked := w.speaker.NoPod() // before the state, so that no refusal falls between the two
		if isEarly {
			lacked = nil // later refusals wait for the next tick
		}
		if err := stream.Send(w.state()); err != nil {
			return err
		}
		select {
		case <-tick.C:
			isEarly = false
		case <-lacked: // scaling from zero does not wait for the tick
			isEarly = true
		case <-w.ended:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// listen passes cordons on until the watcher says no more.
func (w *Watch) listen(stream grpc.BidiStreamingServer[wire.WatchRequest, wire.FleetState]) error {
	for {
		q, err := stream.Recv()
		if err != nil {
			return err
		}
		for _, c := range q.Cordons {
			if !w.speaker.Cordon(c.Address, time.Duration(c.Lease)) {
				w.log.Warn("a pod that is not known cannot be cordoned", "pod", c.Address)
			}
		}
	}
}

func (w *Watch) state() *wire.FleetState {
	o := w.speaker.Overview()
	state := &wire.FleetState{
		Epoch: w.speaker.epoch, Busy: int64(o.Speaking), Queued: int64(o.Queued), Arrived: o.Arrived, Served: o.Served,
		Refused: o.Refused, Warming: o.Warming, Failed: o.Failed, Cut: o.Cut, Attempts: o.Attempts,
		StreamTime: int64(o.SlotTime),
		Version:    w.version,
	}
	for _, p := range o.Pods {
		state.Pods = append(state.Pods, podState(p))
	}
	return state
}

func podState(p route.PodView) *wire.PodState {
	return &wire.PodState{
		Address: p.Address, Zone: p.Zone, Connected: p.Connected, InUse: p.InUse, Ejected: p.Ejected,
		Suspect:     p.Suspect,
		Terminating: p.Terminating, State: wire.NewState(p.State),
	}
}
