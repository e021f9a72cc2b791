package fleet_test

import (
	"context"
	"errors"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/test/bufconn"

	"github.com/swar-tts/swar/runtime/fleet"
	"github.com/swar-tts/swar/runtime/fleet/link"
	"github.com/swar-tts/swar/runtime/fleet/route"
	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/speech/speechtest"
	"github.com/swar-tts/swar/runtime/synth"
	"github.com/swar-tts/swar/runtime/synth/synthtest"
)

// memory is a network within the process, where time is that of synctest.
type memory struct {
	mu        sync.Mutex
	listeners map[string]*bufconn.Listener
	dialled   int // clients that were made
}

// worker starts a pod of one slot at an address, in place of one that was there.
func (m *memory) worker(t *testing.T, address string, cfg synthtest.Config, options ...grpc.ServerOption) *worker {
	t.Helper()
	w := newWorkerOn(t, m.listen(address), 1, cfg, options...)
	w.address = address
	return w
}

// listen listens at an address, in place of the listener that was there.
func (m *memory) listen(address string) *bufconn.Listener {
	l := bufconn.Listen(64 << 10)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.listeners == nil {
		m.listeners = make(map[string]*bufconn.Listener)
	}
	m.listeners[address] = l
	return l
}

func (m *memory) dial(address string) (*link.Client, error) {
	return m.dialWith(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
}

func (m *memory) dialWith(address string, options ...grpc.DialOption) (*link.Client, error) {
	m.mu.Lock()
	m.dialled++
	m.mu.Unlock()
	return link.Dial(address, append(options,
		grpc.WithContextDialer(func(ctx context.Context, address string) (net.Conn, error) {
			m.mu.Lock()
			l := m.listeners[address]
			m.mu.Unlock()
			return l.DialContext(ctx)
		}))...)
}

const podA = "10.0.0.1:9090"

// missingPod is a router whose only pod is warm, and is not listed any more.
type missingPod struct {
	*fleet.Speaker
	net    *memory
	pod    *worker
	source list
}

func newMissingPod(t *testing.T, cfg synthtest.Config) *missingPod {
	m := &missingPod{net: &memory{}}
	m.pod = m.net.worker(t, podA, cfg)
	m.Speaker, m.source = newRouter(t, fleet.Config{Dial: m.net.dial}, m.pod)
	time.Sleep(500*time.Millisecond - time.Duration(time.Now().Nanosecond())%(500*time.Millisecond))
	m.list()
	return m
}

func (m *missingPod) list(all ...route.Endpoint) {
	m.source.changes <- all
	synctest.Wait()
}

func (m *missingPod) known() int { return len(m.Overview().Pods) }

func (m *missingPod) speak(t *testing.T) error {
	_, err := m.Speak(t.Context(), utterance("Namaste! Kya haal hai?"), speech.Turn{}, &speechtest.Recorder{})
	return err
}

func TestAPodThatIsNotListedForAMomentIsUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMissingPod(t, synthtest.Config{})
		for range 3 { // each time the ten seconds begin anew
			for range 9 {
				if err := m.speak(t); err != nil {
					t.Errorf("Speak = %v while the pod is not listed, want it spoken", err)
				}
				m.list() // a list that still lacks it changes nothing
				time.Sleep(time.Second)
			}
			m.list(route.Endpoint{Address: podA})
			time.Sleep(time.Minute)
			if err := m.speak(t); err != nil || m.Ready() != nil {
				t.Errorf("Speak = %v, Ready = %v when it is listed again", err, m.Ready())
			}
			m.list()
		}
		if m.net.dialled != 1 {
			t.Errorf("the pod was dialled %d times, want once", m.net.dialled)
		}
	})
}

func TestAPodThatIsNotListedForLongIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		held := newGate(1)
		m := newMissingPod(t, synthtest.Config{Before: held.before})
		time.Sleep(5 * time.Second)
		done := make(chan error)
		go func() { done <- m.speak(t) }()
		select {
		case <-held.reached:
		case err := <-done:
			t.Fatalf("Speak = %v while the pod is not listed, want it spoken", err)
		}
		time.Sleep(5*time.Second - time.Millisecond)
		if inUse(m.Speaker) != 1 {
			t.Error("it is not used for the whole ten seconds")
		}
		time.Sleep(time.Second + time.Millisecond) // and the tick
		synctest.Wait()
		if inUse(m.Speaker) != 0 {
			t.Error("it is used after eleven seconds")
		}
		if err := m.speak(t); !errors.Is(err, speech.ErrWarming) {
			t.Errorf("Speak = %v, want warming", err)
		}
		close(held.open)
		if err := <-done; err != nil {
			t.Errorf("what it was speaking ended with %v", err)
		}
	})
}

func TestAPodThatIsNotListedAndEndsIsLeftAtOnce(t *testing.T) {
	for name, end := range map[string]func(*testing.T, *worker){
		"its link breaks": func(_ *testing.T, w *worker) { w.kill() },
		"it drains": func(t *testing.T, w *worker) {
			if err := w.pool.Drain(t.Context()); err != nil {
				t.Error(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := newMissingPod(t, synthtest.Config{})
				if m.known() != 1 {
					t.Fatal("a pod that is well is not kept")
				}
				begin := time.Now()
				end(t, m.pod)
				waitUntil(t, "the pod is left", func() bool { return m.known() == 0 })
				if took := time.Since(begin); took > 100*time.Millisecond {
					t.Errorf("it was left after %v", took)
				}
				time.Sleep(time.Minute)
				if m.net.dialled != 1 {
					t.Errorf("it was dialled %d times, want once", m.net.dialled)
				}
			})
		})
	}
}

func TestAPodThatWasOfNoUseIsNotKept(t *testing.T) {
	cold := func(ctx context.Context, o synth.Options, _ int) error {
		if !o.WarmUp {
			return nil
		}
		<-ctx.Done()
		return context.Cause(ctx)
	}
	for name, tt := range map[string]struct {
		before func(context.Context, synth.Options, int) error
		listed route.Endpoint
		model  speech.Model // of the router
		kept   int
	}{
		"it was well":           {listed: route.Endpoint{Address: podA, Zone: "a"}, kept: 1},
		"it was warming":        {before: cold, listed: route.Endpoint{Address: podA}},
		"it was going away":     {listed: route.Endpoint{Address: podA, Terminating: true}},
		"it has another model":  {listed: route.Endpoint{Address: podA}, model: speech.Model{ID: "another"}},
		"nobody answered there": {listed: route.Endpoint{Address: "10.0.0.9:9090"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := &missingPod{net: &memory{listeners: map[string]*bufconn.Listener{"10.0.0.9:9090": closed()}}}
				m.net.worker(t, podA, synthtest.Config{Before: tt.before})
				m.Speaker, m.source = startRouter(t, fleet.Config{Dial: m.net.dial, Model: tt.model})
				m.list(tt.listed)
				time.Sleep(10 * time.Second)
				m.list()
				pods := m.Overview().Pods
				if len(pods) != tt.kept {
					t.Fatalf("%d pods are kept, want %d", len(pods), tt.kept)
				}
				if tt.kept == 1 && pods[0].Endpoint != tt.listed {
					t.Errorf("it is kept as %+v, want %+v", pods[0].Endpoint, tt.listed)
				}
			})
		})
	}
}

// closed is a listener that takes no connection.
func closed() *bufconn.Listener {
	l := bufconn.Listen(1)
	l.Close()
	return l
}

// TestAnotherPodAtTheSameAddress: the one before was still kept, or still connected when its address was listed again.
func TestAnotherPodAtTheSameAddress(t *testing.T) {
	for name, listedFirst := range map[string]bool{"listed when the old one has ended": false, "listed before": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := newMissingPod(t, synthtest.Config{})
				old := m.Overview().Pods[0].Epoch
				if listedFirst {
					m.list(route.Endpoint{Address: podA})
				}
				m.pod.kill()
				m.net.worker(t, podA, synthtest.Config{})
				m.list(route.Endpoint{Address: podA})
				waitUntil(t, "the new one is in use", func() bool { return inUse(m.Speaker) == 1 })
				if epoch := m.Overview().Pods[0].Epoch; epoch == old {
					t.Error("it is taken for the old one")
				}
				time.Sleep(time.Minute) // what was kept for the old one must not end the new one
				if err := m.speak(t); err != nil {
					t.Errorf("Speak = %v", err)
				}
			})
		})
	}
}
