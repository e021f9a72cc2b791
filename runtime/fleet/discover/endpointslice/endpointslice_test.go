package endpointslice

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/swar-tts/swar/runtime/fleet/discover"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// slice returns one with a port named grpc, as the controller makes them.
func slice(name string, endpoints ...discoveryv1.Endpoint) *discoveryv1.EndpointSlice {
	return &discoveryv1.EndpointSlice{
		TypeMeta: metav1.TypeMeta{Kind: "EndpointSlice", APIVersion: "discovery.k8s.io/v1"},
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Namespace: "fleet", Labels: map[string]string{discoveryv1.LabelServiceName: "worker"},
		},
		AddressType: discoveryv1.AddressTypeIPv4,
		Ports: []discoveryv1.EndpointPort{{Name: new("probes"), Port: new(int32(9091))},
			{Name: new("grpc"), Port: new(int32(9090))}},
		Endpoints: endpoints,
	}
}

func at(addresses ...string) discoveryv1.Endpoint { return discoveryv1.Endpoint{Addresses: addresses} }

func inZone(zone string, e discoveryv1.Endpoint) discoveryv1.Endpoint {
	e.Zone = &zone
	return e
}

func leaving(e discoveryv1.Endpoint) discoveryv1.Endpoint {
	e.Conditions = discoveryv1.EndpointConditions{Ready: new(false), Serving: new(true), Terminating: new(true)}
	return e
}

func ofPod(uid types.UID, e discoveryv1.Endpoint) discoveryv1.Endpoint {
	e.TargetRef = &corev1.ObjectReference{UID: uid}
	return e
}

func TestEndpointsOfSlices(t *testing.T) {
	notReady := at("10.0.0.1")
	notReady.Conditions = discoveryv1.EndpointConditions{Ready: new(false), Serving: new(false),
		Terminating: new(false)}
	with := func(s *discoveryv1.EndpointSlice, change func(*discoveryv1.EndpointSlice)) *discoveryv1.EndpointSlice {
		change(s)
		return s
	}
	v6 := func(s *discoveryv1.EndpointSlice) { s.AddressType = discoveryv1.AddressTypeIPv6 }
	ports := func(ports ...discoveryv1.EndpointPort) func(s *discoveryv1.EndpointSlice) {
		return func(s *discoveryv1.EndpointSlice) { s.Ports = ports }
	}
	for name, tt := range map[string]struct {
		slices []*discoveryv1.EndpointSlice
		want   string
	}{
		"none":                                   {nil, ""},
		"a slice without endpoints":              {[]*discoveryv1.EndpointSlice{slice("a")}, ""},
		"conditions that are not told are ready": {[]*discoveryv1.EndpointSlice{slice("a", at("10.0.0.1"))}, "10.0.0.1:9090"},
		"one that is not ready counts":           {[]*discoveryv1.EndpointSlice{slice("a", notReady)}, "10.0.0.1:9090"},
		"one that goes away":                     {[]*discoveryv1.EndpointSlice{slice("a", leaving(at("10.0.0.1")))}, "10.0.0.1:9090-"},
		"a zone":                                 {[]*discoveryv1.EndpointSlice{slice("a", inZone("z1", at("10.0.0.1")))}, "10.0.0.1:9090@z1"},
		"several slices, sorted": {[]*discoveryv1.EndpointSlice{
			slice("a", at("10.0.0.3"), at("10.0.0.1")), slice("b", at("10.0.0.2"))},
			"10.0.0.1:9090 10.0.0.2:9090 10.0.0.3:9090"},
		"several addresses of one": {[]*discoveryv1.EndpointSlice{slice("a", at("10.0.0.1", "10.0.0.2"))}, "10.0.0.1:9090 10.0.0.2:9090"},
		"one in two slices, of which one is old": {[]*discoveryv1.EndpointSlice{
			slice("a", leaving(at("10.0.0.1"))), slice("b", inZone("z1", at("10.0.0.1")))}, "10.0.0.1:9090@z1"},
		"one that goes away in both": {[]*discoveryv1.EndpointSlice{
			slice("a", leaving(at("10.0.0.1"))), slice("b", leaving(at("10.0.0.1")))}, "10.0.0.1:9090-"},
		"IPv6": {[]*discoveryv1.EndpointSlice{with(slice("a", at("2001:db8::1")), v6)}, "[2001:db8::1]:9090"},
		"a pod with addresses of both families": {[]*discoveryv1.EndpointSlice{
			with(slice("a", ofPod("p", at("2001:db8::1")), ofPod("q", at("2001:db8::2"))), v6),
			slice("b", ofPod("p", at("10.0.0.1")))}, "10.0.0.1:9090 [2001:db8::2]:9090"},
		"one port with another name": {[]*discoveryv1.EndpointSlice{
			with(slice("a", at("10.0.0.1")), ports(discoveryv1.EndpointPort{Name: new("x"), Port: new(int32(1))}))},
			"10.0.0.1:1"},
		"one port without a name": {[]*discoveryv1.EndpointSlice{
			with(slice("a", at("10.0.0.1")), ports(discoveryv1.EndpointPort{Port: new(int32(65535))}))},
			"10.0.0.1:65535"},
		"two ports with other names": {[]*discoveryv1.EndpointSlice{with(slice("a", at("10.0.0.1")), ports(
			discoveryv1.EndpointPort{Name: new("x"), Port: new(int32(1))},
			discoveryv1.EndpointPort{Port: new(int32(2))})),
			slice("b", at("10.0.0.2"))}, "10.0.0.2:9090 portless"},
		"no port": {[]*discoveryv1.EndpointSlice{with(slice("a", at("10.0.0.1")), ports())}, "portless"},
		"a port without a number": {[]*discoveryv1.EndpointSlice{
			with(slice("a", at("10.0.0.1")), ports(discoveryv1.EndpointPort{Name: new("grpc")}))}, "portless"},
		"no port where there is nobody": {[]*discoveryv1.EndpointSlice{with(slice("a"), ports())}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			v := newView(slog.New(slog.DiscardHandler))
			for _, s := range tt.slices {
				v.put(s)
			}
			got := text(v.endpoints())
			if v.portless {
				got = strings.TrimSpace(got + " portless")
			}
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// text writes endpoints like 10.0.0.1:9090@zone, with a hyphen behind those that go away.
func text(all []discover.Endpoint) string {
	var list []string
	for _, e := range all {
		s := e.Address
		if e.Zone != "" {
			s += "@" + e.Zone
		}
		if e.Terminating {
			s += "-"
		}
		list = append(list, s)
	}
	return strings.Join(list, " ")
}

// follower receives what a source tells.
type follower struct {
	t    *testing.T
	told chan string
	log  *logged
}

// follow runs a source of the slices of a until the test ends. Whatever it tells must be wanted.
func follow(t *testing.T, a *apiServer, fallback discover.Source, firstAnswerLimit time.Duration) *follower {
	t.Helper()
	f := &follower{t: t, told: make(chan string), log: &logged{}}
	s, err := New(Config{
		Service: "fleet/worker", Kubeconfig: a.kubeconfig, Fallback: fallback,
		Log: slog.New(slog.NewTextHandler(f.log, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	s.firstAnswerLimit = firstAnswerLimit
	s.backoff = wait.Backoff{Duration: time.Millisecond, Factor: 1, Steps: 1}
	ctx, stop := context.WithCancelCause(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() {
		ended <- s.Run(ctx, func(all []discover.Endpoint) {
			select {
			case f.told <- text(all):
				clear(all) // the slice is ours
			case <-ctx.Done():
				if !errors.Is(context.Cause(ctx), errEnd) {
					t.Errorf("told %s", text(all))
				}
			}
		})
	}()
	t.Cleanup(func() {
		stop(errEnd)
		if err := <-ended; !errors.Is(err, errEnd) {
			t.Errorf("Run = %v, want %v", err, errEnd)
		}
	})
	return f
}

var errEnd = errors.New("the test is over")

func (f *follower) want(want string) {
	f.t.Helper()
	if got := <-f.told; got != want {
		f.t.Errorf("told %q, want %q", got, want)
	}
}

// wantLogged checks how often each text is in the log.
func (f *follower) wantLogged(want map[string]int) {
	f.t.Helper()
	log := f.log.String()
	lines := 0
	for text, times := range want {
		lines += times
		if got := strings.Count(log, text); got != times {
			f.t.Errorf("logged %q %d times, want %d", text, got, times)
		}
	}
	if got := strings.Count(log, "\n"); got != lines {
		f.t.Errorf("logged %d lines, want %d: %s", got, lines, log)
	}
}

type logged struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func TestEveryChangeIsTold(t *testing.T) {
	a := newAPIServer(t)
	a.put(slice("a", at("10.0.0.1")))
	f := follow(t, a, nil, 0)
	f.want("10.0.0.1:9090")
	a.put(slice("b", at("10.0.0.2")))
	f.want("10.0.0.1:9090 10.0.0.2:9090")
	a.put(slice("a", leaving(at("10.0.0.1"))))
	f.want("10.0.0.1:9090- 10.0.0.2:9090")
	a.put(slice("c")) // which changes nothing
	a.remove("a")
	f.want("10.0.0.2:9090")
	a.remove("b")
	f.want("") // the API server said so
	a.put(slice("d", at("10.0.0.3")))
	f.want("10.0.0.3:9090")
	f.wantLogged(nil)
	a.mu.Lock()
	defer a.mu.Unlock()
	want := "/apis/discovery.k8s.io/v1/namespaces/fleet/endpointslices?labelSelector=kubernetes.io/service-name=worker"
	if len(a.paths) != 1 || !a.paths[want] {
		t.Errorf("asked for %v, want %s", a.paths, want)
	}
}

func TestAServiceWithoutPodsIsTold(t *testing.T) {
	follow(t, newAPIServer(t), nil, 0).want("")
}

// TestWhatIsKnownStays lets the API server fail in many ways, and be right again with one pod more: that is the next
// that is told.
func TestWhatIsKnownStays(t *testing.T) {
	type test struct {
		fail   func(*apiServer)
		logged bool
	}
	refuse := func(status int) test {
		return test{func(a *apiServer) {
			a.fail(status)
			a.awaitRefusals(3)
			a.fail(0)
		}, true}
	}
	tests := map[string]test{
		"watches end":              {func(a *apiServer) { a.fail(500); a.fail(0) }, false},
		"it has forgotten":         {(*apiServer).forget, false},
		"a line that is not JSON":  {func(a *apiServer) { a.say("garbage") }, false},
		"a type that nobody knows": {func(a *apiServer) { a.say(`{"type":"X","object":{}}`) }, false},
		"another kind of object": {func(a *apiServer) {
			a.say(`{"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"p"}}}`)
		}, false},
		"lists that are none": {func(a *apiServer) {
			a.change(func() { a.body = `{"kind":"PodList","apiVersion":"v1"}` })
			a.forget()
			a.awaitRefusals(3)
			a.change(func() { a.body = "" })
		}, true},
	}
	for _, status := range []int{401, 403, 404, 410, 429, 500, 503} {
		tests[fmt.Sprint("status ", status)] = refuse(status)
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			a := newAPIServer(t)
			a.put(slice("a", at("10.0.0.1")))
			f := follow(t, a, nil, 0)
			f.want("10.0.0.1:9090")
			tt.fail(a)
			a.put(slice("b", at("10.0.0.2")))
			f.want("10.0.0.1:9090 10.0.0.2:9090")
			if tt.logged && name != "status 410" {
				f.wantLogged(map[string]int{"known worker pods stay in use": 1, "answers again": 1})
			}
		})
	}
}

func TestTheFallbackStandsInUntilTheFirstList(t *testing.T) {
	a := newAPIServer(t)
	a.fail(http.StatusServiceUnavailable)
	fallback := &standIn{sets: make(chan discover.List), ended: make(chan struct{})}
	f := follow(t, a, fallback, time.Hour)
	fallback.sets <- discover.List{{Address: "10.0.0.1:9090"}}
	f.want("10.0.0.1:9090")
	fallback.sets <- discover.List{{Address: "10.0.0.1:9090"}, {Address: "10.0.0.2:9090"}}
	f.want("10.0.0.1:9090 10.0.0.2:9090")
	a.put(slice("a", inZone("z1", at("10.0.0.1"))))
	a.fail(0)
	f.want("10.0.0.1:9090@z1")
	<-fallback.ended

	a.fail(http.StatusServiceUnavailable) // what the API server has said is better than what the fallback knows
	a.awaitRefusals(3)
	a.fail(0)
	a.put(slice("b", at("10.0.0.3")))
	f.want("10.0.0.1:9090@z1 10.0.0.3:9090")
}

func TestTheFallbackStandsInForAnAPIServerThatIsSilent(t *testing.T) {
	a := newAPIServer(t)
	a.put(slice("a", at("10.0.0.2")))
	a.mu.Lock() // until then it answers nobody
	f := follow(t, a, discover.List{{Address: "10.0.0.1:9090"}}, time.Millisecond)
	f.want("10.0.0.1:9090")
	a.mu.Unlock()
	f.want("10.0.0.2:9090")
}

func TestTheFallbackIsNotAskedWithoutNeed(t *testing.T) {
	a := newAPIServer(t)
	a.put(slice("a", at("10.0.0.1")))
	f := follow(t, a, discover.List{{Address: "wrong:1"}}, time.Hour)
	f.want("10.0.0.1:9090")
	a.fail(http.StatusServiceUnavailable)
	a.awaitRefusals(3)
	a.put(slice("b", at("10.0.0.2")))
	a.fail(0)
	f.want("10.0.0.1:9090 10.0.0.2:9090")
}

// standIn is a source that tells what it is given.
type standIn struct {
	sets  chan discover.List
	ended chan struct{} // closed when it has run
}

func (s *standIn) Run(ctx context.Context, tell func([]discover.Endpoint)) error {
	defer close(s.ended)
	for {
		select {
		case set := <-s.sets:
			tell(slices.Clone(set))
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	folder := t.TempDir()
	missing, empty := filepath.Join(folder, "missing"), filepath.Join(folder, "empty")
	if err := os.WriteFile(empty, []byte("apiVersion: v1\nkind: Config\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	good := newAPIServer(t).kubeconfig
	for name, tt := range map[string]struct {
		service, kubeconfig string
		want                string // the beginning of the error; "" is none
	}{
		"as it should be":         {"fleet/worker", good, ""},
		"several files":           {"fleet/worker", missing + ":" + good, ""},
		"the longest names":       {strings.Repeat("a", 63) + "/" + strings.Repeat("b", 63), good, ""},
		"a longer name":           {strings.Repeat("a", 64) + "/b", good, `service "aaa`},
		"no namespace":            {"worker", good, `service "worker": want NAMESPACE/SERVICE, both of small letters, digits and hyphens`},
		"an empty namespace":      {"/worker", good, `service "/worker": want NAMESPACE/SERVICE`},
		"an empty service":        {"fleet/", good, `service "fleet/": want NAMESPACE/SERVICE`},
		"two slashes":             {"fleet/worker/x", good, `service "fleet/worker/x": want NAMESPACE/SERVICE`},
		"capitals":                {"Fleet/worker", good, `service "Fleet/worker": want NAMESPACE/SERVICE`},
		"nothing":                 {"", good, `service "": want NAMESPACE/SERVICE`},
		"no cluster around":       {"fleet/worker", "", "this is not a pod of a Kubernetes cluster: set KUBECONFIG"},
		"a file that is missing":  {"fleet/worker", missing, "reading KUBECONFIG: stat " + missing + ": no such file"},
		"a file without clusters": {"fleet/worker", empty, "KUBECONFIG is \"" + empty + "\", and names no cluster: set current-context in it"},
		"only missing files":      {"fleet/worker", missing + ":" + missing, "KUBECONFIG is \"" + missing + ":" + missing + "\", and names no cluster"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := New(Config{Service: tt.service, Kubeconfig: tt.kubeconfig, Log: slog.New(slog.DiscardHandler)})
			switch {
			case tt.want == "" && err != nil:
				t.Errorf("New = %v", err)
			case tt.want != "" && (err == nil || !strings.HasPrefix(err.Error(), tt.want)):
				t.Errorf("New = %v, want %s", err, tt.want)
			}
		})
	}
}
