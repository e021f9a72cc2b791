package fleet_test

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/swar-tts/swar/runtime/fleet"
	"github.com/swar-tts/swar/runtime/fleet/link"
	"github.com/swar-tts/swar/runtime/fleet/route"
	"github.com/swar-tts/swar/runtime/grpcauth"
	"github.com/swar-tts/swar/runtime/grpcauth/grpcauthtest"
	"github.com/swar-tts/swar/runtime/metrics"
	"github.com/swar-tts/swar/runtime/pipeline"
	"github.com/swar-tts/swar/runtime/pool"
	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/speech/speechtest"
	"github.com/swar-tts/swar/runtime/synth/synthtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// worker is a pod in this process, on a TCP port of its own.
type worker struct {
	address string
	engine  *synthtest.Engine
	pool    *pool.Pool
	server  *link.Server
	kill    func() // ends it as SIGKILL does
}

func newWorker(t testing.TB, slots int, cfg synthtest.Config) *worker {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return newWorkerOn(t, l, slots, cfg)
}

func newWorkerOn(t testing.TB, l net.Listener, slots int, cfg synthtest.Config, access ...grpc.ServerOption) *worker {
	t.Helper()
	w := &worker{address: l.Addr().String(), engine: synthtest.NewEngine(cfg)}
	log := slog.New(slog.DiscardHandler)
	var err error
	if w.pool, err = pool.New(pool.Config{Workers: slots, QueueLen: -1}, w.engine, log); err != nil {
		t.Fatal(err)
	}
	speaker := pipeline.New(pipeline.Config{}, w.engine, w.pool)
	w.server = link.NewServer(link.ServerConfig{Metrics: metrics.New().RegisterPod(w.pool.Capacity)}, speaker,
		w.pool, log)
	g := grpc.NewServer(append(link.ServerOptions(), access...)...)
	w.server.Register(g)
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	var running sync.WaitGroup
	running.Go(func() { _ = w.pool.Run(ctx) })
	running.Go(func() { w.server.Run(ctx) })
	running.Go(func() { _ = g.Serve(l) })
	w.kill = sync.OnceFunc(func() {
		g.Stop()
		cancel()
		running.Wait()
	})
	t.Cleanup(w.kill)
	return w
}

// list is a source that tells of pods once, and again when told to.
type list struct{ changes chan []route.Endpoint }

func (l list) Run(ctx context.Context, tell func([]route.Endpoint)) error {
	for {
		select {
		case all := <-l.changes:
			tell(all)
		case <-ctx.Done():
			return nil
		}
	}
}

func endpoints(all ...*worker) (e []route.Endpoint) {
	for _, w := range all {
		e = append(e, route.Endpoint{Address: w.address})
	}
	return e
}

// newRouter runs a speaker over the pods, and waits until it is ready to speak.
func newRouter(t testing.TB, cfg fleet.Config, all ...*worker) (*fleet.Speaker, list) {
	t.Helper()
	s, source := startRouter(t, cfg, all...)
	if len(all) > 0 {
		waitUntil(t, "every pod is in use", func() bool { return inUse(s) == len(all) })
	}
	return s, source
}

// startRouter is newRouter without the wait.
func startRouter(t testing.TB, cfg fleet.Config, all ...*worker) (*fleet.Speaker, list) {
	t.Helper()
	cfg.Metrics = metrics.New().RegisterFleet(func() metrics.FleetCounts { return metrics.FleetCounts{} })
	if cfg.Dial == nil {
		cfg.Dial = func(address string) (*link.Client, error) {
			return link.Dial(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
		}
	}
	source := list{make(chan []route.Endpoint, 1)}
	s := fleet.New(cfg, source, slog.New(slog.NewTextHandler(t.Output(), nil)))
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error)
	go func() { done <- s.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Run: %v", err)
		}
	})
	source.changes <- endpoints(all...)
	return s, source
}

func inUse(s *fleet.Speaker) (n int) {
	for _, p := range s.Overview().Pods {
		if p.InUse {
			n++
		}
	}
	return n
}

func TestSpeaker(t *testing.T) {
	speechtest.Run(t, func(t *testing.T) speech.Speaker {
		s, _ := newRouter(t, fleet.Config{}, newWorker(t, 1, synthtest.Config{}))
		return s
	})
}

// TestWhatAModelKnowsTravels: exact words come from the pod, and a speed goes to it.
func TestWhatAModelKnowsTravels(t *testing.T) {
	speeds := speech.Speeds{Min: .5, Max: 1.5}
	s, _ := newRouter(t, fleet.Config{}, newWorker(t, 1, synthtest.Config{WordTimes: true, Speeds: speeds}))
	if got := s.Model().Speeds; got != speeds {
		t.Errorf("the model has the speeds %v, want %v", got, speeds)
	}
	u := speech.Utterance{Text: "two words, or three", Voice: "raj", Format: speech.PCM16, Raw: true, WordTimes: true}
	for speed, frames := range map[float64]int{0: 3, .5: 5} {
		u.Speed = speed
		r := &speechtest.Recorder{}
		st, err := s.Speak(t.Context(), u, speech.Turn{}, r)
		if err != nil {
			t.Fatal(err)
		}
		if st.Frames != frames || len(r.Ends[0].Words) != 4 || !r.Ends[0].ExactWords {
			t.Errorf("speed %g: %d frames and %+v, want %d and exact words", speed, st.Frames, r.Ends[0], frames)
		}
	}
	u.Speed = 2
	if _, err := s.Speak(t.Context(), u, speech.Turn{}, &speechtest.Recorder{}); !errors.Is(err, speech.ErrBadSpeed) {
		t.Errorf("speed 2: %v, want a refusal", err)
	}
}

// TestSpeakerOverTLS is TestSpeaker between processes that know one another by certificates and by a token.
func TestSpeakerOverTLS(t *testing.T) {
	authority := grpcauthtest.New(t)
	shared := grpcauthtest.Shared("a-token-of-our-own-long-enough").Token
	pod := grpcauth.Credentials{Certificates: authority.Open(grpcauth.Worker), Token: shared}
	router := grpcauth.Credentials{Certificates: authority.Open(grpcauth.Router), Token: shared}
	speechtest.Run(t, func(t *testing.T) speech.Speaker {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		access, err := pod.ServerOptions(true, slog.New(slog.DiscardHandler),
			grpcauth.Service{Accepts: []grpcauth.Role{grpcauth.Router}})
		if err != nil {
			t.Fatal(err)
		}
		s, _ := newRouter(t, fleet.Config{Dial: func(address string) (*link.Client, error) {
			options, err := router.DialOptions("127.0.0.1", grpcauth.Worker)
			if err != nil {
				return nil, err
			}
			return link.Dial(address, options...)
		}}, newWorkerOn(t, l, 1, synthtest.Config{}, access...))
		return s
	})
}

func TestPodsAreAskedBeforeARouterSaysThatItIsReady(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0") // a pod that takes connections and says nothing
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	for _, tt := range []struct {
		name  string
		pods  []*worker
		inUse int
	}{
		{"without any pod", nil, 0},
		{"with pods that are warm", []*worker{newWorker(t, 1, synthtest.Config{}), newWorker(t, 1, synthtest.Config{})}, 2},
		{"with one that does not answer", []*worker{newWorker(t, 1, synthtest.Config{}), {address: silent.Addr().String()}}, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, w := range tt.pods {
				if w.pool != nil {
					waitUntil(t, "workers are warm", func() bool { return w.pool.Capacity().Ready == 1 })
				}
			}
			s, _ := startRouter(t, fleet.Config{}, tt.pods...)
			select {
			case <-s.Synced():
			case <-time.After(5 * time.Second):
				t.Fatal("one pod holds up the router for ever")
			}
			if got := inUse(s); got != tt.inUse {
				t.Errorf("%d pods are in use, want %d", got, tt.inUse)
			}
		})
	}
}
