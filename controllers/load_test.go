package controllers_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/swar-tts/swar/api/v1alpha1"
	"github.com/swar-tts/swar/controllers"
	"github.com/swar-tts/swar/controllers/keda"
	"github.com/swar-tts/swar/controllers/plan"
	"github.com/swar-tts/swar/runtime/fleet/link/wire"
)

// speaker is a router that says what a test wants, and nothing while that is nil.
type speaker struct {
	wire.UnimplementedFleetServer
	address string

	mu    sync.Mutex
	state *wire.FleetState
}

func startSpeaker(t *testing.T) *speaker {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &speaker{address: l.Addr().String()}
	g := grpc.NewServer()
	wire.RegisterFleetServer(g, s)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = g.Serve(l)
	}()
	t.Cleanup(func() {
		g.Stop()
		<-done
	})
	return s
}

func (s *speaker) say(state *wire.FleetState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state = state
}

// Watch implements the service.
func (s *speaker) Watch(stream grpc.BidiStreamingServer[wire.WatchRequest, wire.FleetState]) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		s.mu.Lock()
		state := s.state
		s.mu.Unlock()
		if state != nil {
			if err := stream.Send(state); err != nil {
				return err
			}
		}
		select {
		case <-tick.C:
		case <-stream.Context().Done():
			return nil
		}
	}
}

// followedFleet is a fleet that somebody else scales, and what a sizer sees of it.
type followedFleet struct {
	sizer    *controllers.Sizer
	observed plan.Observed
	speakers []*speaker
}

const first, second = "10.0.0.1", "10.0.0.2" // addresses of routers

func followFleet(t *testing.T, scaling v1alpha1.Scaling, replicas int32) *followedFleet {
	t.Helper()
	f := &followedFleet{speakers: []*speaker{startSpeaker(t), startSpeaker(t)}}
	dial := func(_, address string) (*grpc.ClientConn, error) {
		host, _, _ := net.SplitHostPort(address)
		to := f.speakers[0]
		if host == second {
			to = f.speakers[1]
		}
		return grpc.NewClient("passthrough:///"+to.address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	}
	f.sizer = controllers.NewSizer(time.Now, dial, func(types.NamespacedName) {}, slog.New(slog.DiscardHandler))
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- f.sizer.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		<-done
	})
	fleet := &v1alpha1.TTSDeployment{ObjectMeta: metav1.ObjectMeta{Namespace: "speech", Name: "hinglish"}}
	fleet.Spec.Replicas = &replicas
	fleet.Spec.Runtime.WorkersPerPod = 8
	fleet.Spec.Scaling = scaling
	f.observed = plan.Observed{Fleet: fleet}
	for _, ip := range []string{first, second} {
		f.observed.Gates = append(f.observed.Gates,
			corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodRunning, PodIP: ip}})
	}
	return f
}

// externally is how a fleet is scaled by others.
func externally(least int32) v1alpha1.Scaling {
	return v1alpha1.Scaling{
		Mode: v1alpha1.ScalingExternal, MinReplicas: &least, MaxReplicas: 20, TargetSlotUtilizationPercent: 75,
		TargetQueueDepth: 2,
	}
}

func (f *followedFleet) load() (keda.Load, <-chan struct{}, error) {
	f.sizer.Observe(f.observed)
	return f.sizer.Load("speech", "hinglish")
}

// becomes waits until the load is as a test wants it.
func (f *followedFleet) becomes(t *testing.T, want keda.Load) {
	t.Helper()
	eventually(t, fmt.Sprintf("the load is %+v", want), 20*time.Second, func(context.Context) string {
		got, _, err := f.load()
		if err != nil || got != want {
			return fmt.Sprintf("it is %+v, %v", got, err)
		}
		return ""
	})
}

// podWith is a worker pod.
func podWith(name string, ready corev1.ConditionStatus) corev1.Pod {
	return corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: corev1.PodStatus{
		Phase: corev1.PodRunning, PodIP: "10.0.1.1",
		Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: ready}},
	}}
}

func TestWhatOthersWhoScaleAreTold(t *testing.T) {
	idle := &wire.FleetState{Epoch: 1}
	busy := &wire.FleetState{Epoch: 1, Busy: 5, Queued: 2, Arrived: 7}
	pod := func(ready corev1.ConditionStatus) []corev1.Pod { return []corev1.Pod{podWith("a", ready)} }
	for name, tt := range map[string]struct {
		least    int32
		replicas int32
		pods     []corev1.Pod
		told     [2]*wire.FleetState
		want     keda.Load
	}{
		"nothing, while no router has told anything": {
			least: 1, replicas: 3, want: keda.Load{Demand: 18},
		},
		"of all routers together": {
			least: 1, replicas: 3, told: [2]*wire.FleetState{busy, busy},
			want: keda.Load{Known: true, Demand: 14, QueueDepth: 4, Active: true},
		},
		"not less than there is, while a router is missing": {
			least: 1, replicas: 3, told: [2]*wire.FleetState{busy, nil},
			want: keda.Load{Known: true, Demand: 18, QueueDepth: 2, Active: true},
		},
		"more than there is, while a router is missing": {
			least: 1, replicas: 1, told: [2]*wire.FleetState{busy, nil},
			want: keda.Load{Known: true, Demand: 7, QueueDepth: 2, Active: true},
		},
		"idle": {
			least: 1, replicas: 1, pods: pod(corev1.ConditionTrue), told: [2]*wire.FleetState{idle, idle},
			want: keda.Load{Known: true},
		},
		"a pod is warming": {
			least: 1, replicas: 1, pods: pod(corev1.ConditionFalse), told: [2]*wire.FleetState{idle, idle},
			want: keda.Load{Known: true, Active: true},
		},
		"a pod is warming, and is to go": {
			least: 0, replicas: 0, pods: pod(corev1.ConditionFalse), told: [2]*wire.FleetState{idle, idle},
			want: keda.Load{Known: true},
		},
		"somebody has called a fleet that may have no pod": {
			least: 0, replicas: 0, told: [2]*wire.FleetState{{Epoch: 2, Busy: 1}, idle},
			want: keda.Load{Known: true, Demand: 6, Active: true},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := followFleet(t, externally(tt.least), tt.replicas)
			for i, state := range tt.told {
				f.speakers[i].say(state)
			}
			f.observed.Pods = tt.pods
			tt.want.DemandTarget, tt.want.QueueTarget = 6, 2
			f.becomes(t, tt.want)
		})
	}
}

func TestWhoIsNotToldOf(t *testing.T) {
	f := followFleet(t, externally(1), 1)
	if _, _, err := f.sizer.Load("speech", "hinglish"); !errors.Is(err, keda.ErrUnknown) {
		t.Errorf("before it was looked at got %v, want %v", err, keda.ErrUnknown)
	}
	for _, mode := range []v1alpha1.ScalingMode{v1alpha1.ScalingAutomatic, v1alpha1.ScalingManual} {
		f.observed.Fleet.Spec.Scaling.Mode = mode
		if _, _, err := f.load(); !errors.Is(err, keda.ErrNotExternal) {
			t.Errorf("in mode %s got %v, want %v", mode, err, keda.ErrNotExternal)
		}
	}
}

// TestWhoWaitsIsWoken: by what matters to those who wait, and not by the demand, which always changes.
func TestWhoWaitsIsWoken(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*followedFleet)
		want   bool
	}{
		"somebody calls": {func(f *followedFleet) { f.speakers[0].say(&wire.FleetState{Epoch: 1, Busy: 1, Arrived: 1}) }, true},
		"another target": {func(f *followedFleet) { f.observed.Fleet.Spec.Scaling.TargetSlotUtilizationPercent = 50 }, true},
		"another queue":  {func(f *followedFleet) { f.observed.Fleet.Spec.Scaling.TargetQueueDepth = 3 }, true},
		"another mode":   {func(f *followedFleet) { f.observed.Fleet.Spec.Scaling.Mode = v1alpha1.ScalingManual }, true},
		"it is removed":  {func(f *followedFleet) { f.sizer.Forget(types.NamespacedName{Namespace: "speech", Name: "hinglish"}) }, true},
		"another size":   {func(f *followedFleet) { f.observed.Fleet.Spec.Replicas = new(int32) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := followFleet(t, externally(1), 1)
			for _, s := range f.speakers {
				s.say(&wire.FleetState{Epoch: 1})
			}
			f.becomes(t, keda.Load{Known: true, DemandTarget: 6, QueueTarget: 2})
			_, changed, err := f.load()
			if err != nil {
				t.Fatal(err)
			}
			tt.change(f)
			woken := func() bool {
				select {
				case <-changed:
					return true
				default:
					return false
				}
			}
			if !tt.want {
				if f.sizer.Observe(f.observed); woken() {
					t.Error("it woke")
				}
				return
			}
			eventually(t, "who waits is woken", 20*time.Second, func(context.Context) string {
				f.sizer.Observe(f.observed)
				if !woken() {
					return "nothing happened"
				}
				return ""
			})
		})
	}
}
