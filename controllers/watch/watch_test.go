package watch_test

import (
	"context"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/swar-tts/swar/controllers/watch"
	"github.com/swar-tts/swar/runtime/fleet/link/wire"
)

// fakeRouter tells what a test says, and notes what it is told.
type fakeRouter struct {
	wire.UnimplementedFleetServer
	address string
	tell    chan *wire.FleetState
	cordons chan *wire.PodCordon
	stop    func()
}

func (r *fakeRouter) Watch(stream grpc.BidiStreamingServer[wire.WatchRequest, wire.FleetState]) error {
	go func() {
		for {
			q, err := stream.Recv()
			if err != nil {
				return
			}
			for _, c := range q.Cordons {
				r.cordons <- c
			}
		}
	}()
	for {
		select {
		case s := <-r.tell:
			if s == nil { // which ends the call
				return nil
			}
			if err := stream.Send(s); err != nil {
				return err
			}
		case <-stream.Context().Done():
			return nil
		}
	}
}

func startRouter(t *testing.T, address string) *fakeRouter {
	t.Helper()
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	r := &fakeRouter{address: l.Addr().String(), tell: make(chan *wire.FleetState),
		cordons: make(chan *wire.PodCordon, 10)}
	g := grpc.NewServer()
	wire.RegisterFleetServer(g, r)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = g.Serve(l)
	}()
	r.stop = sync.OnceFunc(func() {
		g.Stop()
		<-done
	})
	t.Cleanup(r.stop)
	return r
}

func startWatcher(t *testing.T) (w *watch.Watcher, heard chan string) {
	t.Helper()
	return startLoggedWatcher(t, slog.New(slog.DiscardHandler))
}

func startLoggedWatcher(t *testing.T, log *slog.Logger) (w *watch.Watcher, heard chan string) {
	t.Helper()
	heard = make(chan string, 100)
	w = watch.New(watch.Config{
		Dial: func(_, address string) (*grpc.ClientConn, error) {
			return grpc.NewClient("passthrough:///"+address, grpc.WithTransportCredentials(insecure.NewCredentials()))
		},
		OnReport: func(fleet string) { heard <- fleet },
	}, log)
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.Run(ctx)
	}()
	t.Cleanup(func() {
		stop()
		<-done
	})
	return w, heard
}

func within(t *testing.T, what string, done func() bool) {
	t.Helper()
	limit := time.NewTimer(20 * time.Second)
	defer limit.Stop()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-tick.C:
		case <-limit.C:
			t.Fatalf("it never came about that %s", what)
		}
	}
}

func TestRoutersAreHeardAndTold(t *testing.T) {
	a, b := startRouter(t, "127.0.0.1:0"), startRouter(t, "127.0.0.1:0")
	w, heard := startWatcher(t)
	w.Set("ns/one", []string{a.address, b.address})
	if got := <-heard; got != "ns/one" {
		t.Errorf("heard of %q", got)
	}
	a.tell <- &wire.FleetState{Epoch: 7, Busy: 3}
	within(t, "what the first router says is known",
		func() bool { return w.Reports("ns/one")[a.address].State.GetBusy() == 3 })
	if told := w.Reports("ns/one")[b.address]; told.State != nil {
		t.Errorf("of a router that has said nothing there is %v", told)
	}
	w.Cordon("ns/one", map[string]time.Duration{"10.0.0.1:9090": 30 * time.Second})
	for _, r := range []*fakeRouter{a, b} {
		if c := <-r.cordons; c.Address != "10.0.0.1:9090" || c.Lease != int64(30*time.Second) {
			t.Errorf("a router was told %v", c)
		}
	}
	w.Set("ns/one", []string{b.address})
	if _, known := w.Reports("ns/one")[a.address]; known {
		t.Error("a router that has left is still known")
	}
	w.Set("ns/one", nil)
	if got := w.Reports("ns/one"); len(got) != 0 {
		t.Errorf("of a fleet that has left there is %v", got)
	}
}

// TestARouterThatHasConnectionsMadeAnew is called again at once, and not thought to be away.
func TestARouterThatHasConnectionsMadeAnew(t *testing.T) {
	var log lines
	a := startRouter(t, "127.0.0.1:0")
	w, _ := startLoggedWatcher(t, slog.New(slog.NewTextHandler(&log, nil)))
	w.Set("ns/one", []string{a.address})
	begun := time.Now()
	a.tell <- &wire.FleetState{Epoch: 1}
	within(t, "the call is older than one that has failed",
		func() bool { return time.Since(begun) > 1100*time.Millisecond })
	a.tell <- nil
	a.tell <- &wire.FleetState{Epoch: 2}
	within(t, "it is called again", func() bool { return w.Reports("ns/one")[a.address].State.GetEpoch() == 2 })
	if text := log.String(); text != "" {
		t.Errorf("the log tells of it: %s", text)
	}
}

// lines is a log that may be read while it is written.
type lines struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// TestARouterThatComesBack is called again, and what it said last is known until then.
func TestARouterThatComesBack(t *testing.T) {
	a := startRouter(t, "127.0.0.1:0")
	w, _ := startWatcher(t)
	w.Set("ns/one", []string{a.address})
	a.tell <- &wire.FleetState{Epoch: 1}
	within(t, "it is heard", func() bool { return w.Reports("ns/one")[a.address].State.GetEpoch() == 1 })
	a.stop()
	if told := w.Reports("ns/one")[a.address]; told.State.GetEpoch() != 1 {
		t.Error("what it said last is forgotten")
	}
	again := startRouter(t, a.address)
	again.tell <- &wire.FleetState{Epoch: 2}
	within(t, "it is heard again", func() bool { return w.Reports("ns/one")[a.address].State.GetEpoch() == 2 })
	w.Cordon("ns/one", map[string]time.Duration{"pod": time.Minute})
	if c := <-again.cordons; c.Lease != int64(time.Minute) {
		t.Errorf("it was told %v", c)
	}
}
