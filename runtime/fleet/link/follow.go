package link

import (
	"context"
	"errors"
	"sync"
	"time"

	"google.golang.org/grpc"

	"github.com/swar-tts/swar/runtime/fleet/link/wire"
	"github.com/swar-tts/swar/runtime/fleet/route"
)

// silence is how long a pod may say nothing on its link before it is dialled anew.
const silence = 10 * time.Second

// Events are the callbacks of a link, from one goroutine.
type Events interface {
	State(route.State)
	Granted(number uint64, session string)
}

// RouterUpdates is what a router has to say on its links to one pod. It is safe for concurrent use; the zero value is
// ready.
type RouterUpdates struct {
	mu       sync.Mutex
	waiting  *wire.Waiting // newest, not said yet
	declines []uint64
	cordon   *wire.Cordon
	wake     chan struct{} // nil while there is no link
}

// SetWaiting says since when those in the queue wait, and how many grants for them have come on this link.
func (f *RouterUpdates) SetWaiting(now time.Time, since []time.Time, granted uint64) {
	w := &wire.Waiting{Ages: make([]int64, len(since)), Granted: granted}
	for i, t := range since {
		w.Ages[i] = int64(now.Sub(t))
	}
	f.update(func() { f.waiting = w })
}

// Decline returns a granted slot.
func (f *RouterUpdates) Decline(number uint64) {
	f.update(func() { f.declines = append(f.declines, number) })
}

// Cordon asks the pod to take nothing new until the lease ends; 0 ends it now.
func (f *RouterUpdates) Cordon(lease time.Duration) {
	f.update(func() { f.cordon = &wire.Cordon{Lease: int64(lease)} })
}

// update notes what is to be said. Without a link it is dropped: a new one begins with nothing to say but the queue.
func (f *RouterUpdates) update(note func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.wake != nil {
		note()
		wake(f.wake)
	}
}

// next returns what is to be said now.
func (f *RouterUpdates) next() (all []*wire.RouterMessage) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, n := range f.declines {
		all = append(all, &wire.RouterMessage{Message: &wire.RouterMessage_Decline{Decline: &wire.Decline{Grant: n}}})
	}
	if f.waiting != nil {
		all = append(all, &wire.RouterMessage{Message: &wire.RouterMessage_Waiting{Waiting: f.waiting}})
	}
	if f.cordon != nil {
		all = append(all, &wire.RouterMessage{Message: &wire.RouterMessage_Cordon{Cordon: f.cordon}})
	}
	f.declines, f.waiting, f.cordon = nil, nil, nil
	return all
}

// Follow passes the messages of a pod to events and sends the updates of f. It ends when the connection breaks, is
// silent for 10 s, or ctx ends. begun is called when the pod has answered. One Follow at a time may use f.
func (c *Client) Follow(ctx context.Context, router uint64, f *RouterUpdates, begun func(), events Events) error {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	silent := time.AfterFunc(silence, func() { end(ErrStalled) })
	defer silent.Stop()
	stream, err := wire.NewLinkClient(c.link).Follow(ctx)
	if err != nil {
		return causeOf(ctx, err)
	}
	hello := &wire.Hello{Protocol: wire.Protocol, Router: router}
	if err := stream.Send(&wire.RouterMessage{Message: &wire.RouterMessage_Hello{Hello: hello}}); err != nil {
		_, err = stream.Recv() // which returns the reason
		return causeOf(ctx, err)
	}
	said := make(chan struct{}, 1)
	f.mu.Lock()
	f.wake, f.waiting, f.declines, f.cordon = said, nil, nil, nil
	f.mu.Unlock()
	var speaking sync.WaitGroup
	speaking.Go(func() { f.run(ctx, stream, said) })
	defer speaking.Wait()
	defer end(nil)
	for first := true; ; first = false {
		m, err := stream.Recv()
		if err != nil {
			return causeOf(ctx, err)
		}
		silent.Reset(silence)
		if first {
			begun()
		}
		switch m := m.Message.(type) {
		case *wire.PodMessage_State:
			events.State(m.State.Value())
		case *wire.PodMessage_Grant:
			events.Granted(m.Grant.Number, m.Grant.Session)
		}
	}
}

// run sends changes until ctx ends. Changes within 5 ms are sent together.
func (f *RouterUpdates) run(
	ctx context.Context, stream grpc.BidiStreamingClient[wire.RouterMessage, wire.PodMessage], said chan struct{},
) {
	defer func() {
		f.mu.Lock()
		f.wake = nil
		f.mu.Unlock()
	}()
	pause := time.NewTimer(0)
	defer pause.Stop()
	for {
		select {
		case <-pause.C:
		case <-ctx.Done():
			return
		}
		select {
		case <-said:
		case <-ctx.Done():
			return
		}
		for _, m := range f.next() {
			if stream.Send(m) != nil {
				return // the reader returns the reason
			}
		}
		pause.Reset(joinStates)
	}
}

func causeOf(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) {
		return cause
	}
	return podLost(err)
}
