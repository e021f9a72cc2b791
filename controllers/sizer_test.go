package controllers_test

import (
	"context"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/swar-tts/swar/api/v1alpha1"
	"github.com/swar-tts/swar/controllers"
	"github.com/swar-tts/swar/controllers/resources"
	"github.com/swar-tts/swar/runtime/contract"
	"github.com/swar-tts/swar/runtime/fleet/link/wire"
)

// fakeRouter tells what a test says, every tenth of a second, and passes on what it is told of pods.
type fakeRouter struct {
	wire.UnimplementedFleetServer
	ip string

	mu    sync.Mutex
	state *wire.FleetState
	told  int // times that somebody was told
}

// startRouter listens where the operator looks for the router of a pod with that address of the loopback network.
func startRouter(t *testing.T, ip string) *fakeRouter {
	t.Helper()
	l, err := net.Listen("tcp", fmt.Sprintf("%s:%d", ip, contract.RouterWatch))
	if err != nil {
		t.Fatal(err)
	}
	r := &fakeRouter{ip: ip, state: &wire.FleetState{Epoch: 1}}
	g := grpc.NewServer()
	wire.RegisterFleetServer(g, r)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = g.Serve(l)
	}()
	t.Cleanup(func() {
		g.Stop()
		<-done
	})
	return r
}

// Watch implements the service.
func (r *fakeRouter) Watch(stream grpc.BidiStreamingServer[wire.WatchRequest, wire.FleetState]) error {
	go func() {
		for {
			q, err := stream.Recv()
			if err != nil {
				return
			}
			r.change(func(s *wire.FleetState) {
				for _, c := range q.Cordons {
					for _, p := range s.Pods {
						if p.Address == c.Address {
							p.State.Cordoned = c.Lease > 0
						}
					}
				}
			})
		}
	}()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		r.mu.Lock()
		now := clone(r.state)
		r.told++
		r.mu.Unlock()
		if err := stream.Send(now); err != nil {
			return err
		}
		select {
		case <-tick.C:
		case <-stream.Context().Done():
			return nil
		}
	}
}

func clone(s *wire.FleetState) *wire.FleetState {
	c := &wire.FleetState{Epoch: s.Epoch, Busy: s.Busy, Queued: s.Queued, Arrived: s.Arrived, Warming: s.Warming,
		Served: s.Served, StreamTime: s.StreamTime}
	for _, p := range s.Pods {
		q := p.State
		c.Pods = append(c.Pods, &wire.PodState{Address: p.Address, Connected: true, InUse: true, State: &wire.State{
			Workers: q.Workers, Ready: q.Ready, Busy: q.Busy, Warm: true, Cordoned: q.Cordoned,
		}})
	}
	return c
}

func (r *fakeRouter) change(f func(*wire.FleetState)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f(r.state)
}

// isCordoned reports whether a pod was told to take nothing new.
func (r *fakeRouter) isCordoned(ip string) (is bool) {
	r.change(func(s *wire.FleetState) {
		for _, p := range s.Pods {
			is = is || strings.HasPrefix(p.Address, ip+":") && p.State.Cordoned
		}
	})
	return is
}

// see has the router tell of a pod.
func (r *fakeRouter) see(ip string, busy int64) {
	r.change(func(s *wire.FleetState) {
		s.Pods = append(s.Pods, &wire.PodState{Address: fmt.Sprintf("%s:%d", ip, contract.WorkerSpeech),
			State: &wire.State{Workers: 4, Ready: 4, Busy: busy}})
	})
}

// fleetOnLoopback is a fleet whose pods the test makes.
type fleetOnLoopback struct {
	t         *testing.T
	c         client.Client
	namespace string
	fleet     *v1alpha1.TTSDeployment
}

func newFleet(t *testing.T, spec string) *fleetOnLoopback {
	t.Helper()
	c, namespace := open(t)
	startOperator(t, namespace, controllers.Config{})
	create(t, c, fleetWith(t, namespace, "hinglish", spec))
	f := &fleetOnLoopback{t: t, c: c, namespace: namespace}
	f.fleet = wait(t, c, namespace, "hinglish", "it is looked at",
		hasCondition(v1alpha1.PausedNow, metav1.ConditionFalse, v1alpha1.ReasonReconciliationActive))
	return f
}

// pod makes a pod that runs and has an address.
func (f *fleetOnLoopback) pod(component, name, ip string, ready bool) {
	f.t.Helper()
	labels := resources.Selector(f.fleet, component)
	labels[resources.LabelManagedBy] = resources.ManagedBy
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: f.namespace, Name: name, Labels: labels},
		Spec:       corev1.PodSpec{NodeName: "node", Containers: []corev1.Container{{Name: component, Image: "x:1"}}},
	}
	create(f.t, f.c, p)
	f.setReady(name, ip, ready)
}

func (f *fleetOnLoopback) setReady(name, ip string, ready bool) {
	f.t.Helper()
	p := &corev1.Pod{}
	if err := f.c.Get(f.t.Context(), client.ObjectKey{Namespace: f.namespace, Name: name}, p); err != nil {
		f.t.Fatal(err)
	}
	is := corev1.ConditionFalse
	if ready {
		is = corev1.ConditionTrue
	}
	started := true
	p.Status = corev1.PodStatus{
		Phase: corev1.PodRunning, PodIP: ip, PodIPs: []corev1.PodIP{{IP: ip}},
		Conditions:        []corev1.PodCondition{{Type: corev1.PodReady, Status: is}},
		ContainerStatuses: []corev1.ContainerStatus{{Name: p.Spec.Containers[0].Name, Ready: ready, Started: &started}},
	}
	if err := f.c.Status().Update(f.t.Context(), p); err != nil {
		f.t.Fatal(err)
	}
}

// deployed returns how many worker pods the Deployment is to have.
func (f *fleetOnLoopback) deployed(ctx context.Context) int32 {
	d := &appsv1.Deployment{}
	if err := f.c.Get(ctx, client.ObjectKey{Namespace: f.namespace, Name: "hinglish-worker"}, d); err != nil ||
		d.Spec.Replicas == nil {
		return -1
	}
	return *d.Spec.Replicas
}

func (f *fleetOnLoopback) becomes(what string, want int32, limit time.Duration) {
	f.t.Helper()
	begin := time.Now()
	eventually(f.t, what, limit, func(ctx context.Context) string {
		if n := f.deployed(ctx); n != want {
			return fmt.Sprintf("the Deployment has %d pods, want %d", n, want)
		}
		return ""
	})
	f.t.Logf("%s after %v", what, time.Since(begin).Round(time.Millisecond))
}

const onPlainText = `security: {internalTLS: Mesh}, runtime: {workersPerPod: 4, cpuPolicy: Shared}`

func TestAFleetGrowsWithItsDemand(t *testing.T) {
	router := startRouter(t, "127.81.0.1")
	router.see("127.81.0.10", 1)
	f := newFleet(t, `{`+onPlainText+`, scaling: {minReplicas: 1, maxReplicas: 5}}`)
	f.pod(resources.Router, "router", router.ip, true)
	f.pod(resources.Worker, "worker", "127.81.0.10", true)
	wait(t, f.c, f.namespace, "hinglish", "the router is heard",
		hasCondition(v1alpha1.ScalingActive, metav1.ConditionTrue, v1alpha1.ReasonFollowingDemand))
	router.change(func(s *wire.FleetState) { s.Busy, s.Queued = 4, 4 })
	f.becomes("two more pods", 3, 20*time.Second)
	wait(t, f.c, f.namespace, "hinglish", "spec and status say so", func(d *v1alpha1.TTSDeployment) string {
		if *d.Spec.Replicas != 3 || d.Status.Desired.Replicas != 3 {
			return fmt.Sprintf("spec %d, status %+v", *d.Spec.Replicas, d.Status.Desired)
		}
		return ""
	})
	router.change(func(s *wire.FleetState) { s.Busy = 100 })
	wait(t, f.c, f.namespace, "hinglish", "it says that more are not allowed",
		hasCondition(v1alpha1.ScalingActive, metav1.ConditionTrue, v1alpha1.ReasonAtMaximum))
}

func TestAFleetStartsFromNothing(t *testing.T) {
	router := startRouter(t, "127.82.0.1")
	f := newFleet(t, `{`+onPlainText+`, scaling: {minReplicas: 0, maxReplicas: 5}}`)
	f.pod(resources.Router, "router", router.ip, true)
	f.becomes("no pod", 0, 5*time.Second)
	eventually(t, "the router is heard", 10*time.Second, func(context.Context) string {
		told := 0
		router.change(func(*wire.FleetState) { told = router.told })
		if told < 3 {
			return "it has told nothing yet"
		}
		return ""
	})
	router.change(func(s *wire.FleetState) { s.Arrived, s.Warming = 1, 1 })
	f.becomes("the first who is refused starts a pod", 1, 20*time.Second)
}

// TestAFleetShrinksWithoutCutting: the idlest pod takes nothing new, goes when it is empty and Kubernetes knows, and
// comes back where somebody wants it after all.
func TestAFleetShrinksWithoutCutting(t *testing.T) {
	router := startRouter(t, "127.83.0.1")
	router.see("127.83.0.10", 3)
	router.see("127.83.0.11", 1)
	f := newFleet(t, `{`+onPlainText+`, replicas: 2, scaling: {mode: Manual}}`)
	f.pod(resources.Router, "router", router.ip, true)
	f.pod(resources.Worker, "busy", "127.83.0.10", true)
	f.pod(resources.Worker, "idle", "127.83.0.11", true)
	scale := func(n int) {
		t.Helper()
		patch := client.RawPatch("application/merge-patch+json", fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, n))
		if err := f.c.Patch(t.Context(), f.fleet.DeepCopy(), patch); err != nil {
			t.Fatal(err)
		}
	}
	cordoned := func(what, ip string, want bool) {
		t.Helper()
		eventually(t, what, 30*time.Second, func(ctx context.Context) string {
			if router.isCordoned(ip) == want {
				return ""
			}
			d := &v1alpha1.TTSDeployment{}
			if err := f.c.Get(ctx, client.ObjectKeyFromObject(f.fleet), d); err != nil {
				return err.Error()
			}
			told := 0
			router.change(func(*wire.FleetState) { told = router.told })
			return fmt.Sprintf("the router has told %d times, spec.replicas is %d, status %+v", told,
				*d.Spec.Replicas, d.Status)
		})
	}
	scale(1)
	cordoned("the idlest takes nothing new", "127.83.0.11", true)
	scale(2)
	cordoned("it is wanted after all", "127.83.0.11", false)
	scale(1)
	cordoned("it takes nothing new again", "127.83.0.11", true)
	if n := f.deployed(t.Context()); n != 2 {
		t.Errorf("while it speaks there are %d pods, want 2", n)
	}
	f.setReady("idle", "127.83.0.11", false)
	router.change(func(s *wire.FleetState) { s.Pods[1].State.Busy = 0 })
	f.becomes("the empty one goes", 1, 30*time.Second)
	if router.isCordoned("127.83.0.10") {
		t.Error("the other one takes nothing new, too")
	}
}
