package keda_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"maps"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"github.com/swar-tts/swar/controllers/certs"
	"github.com/swar-tts/swar/controllers/keda"
	"github.com/swar-tts/swar/controllers/keda/wire"
	"github.com/swar-tts/swar/runtime/grpcauth"
)

const host = "swar-operator.swar-system.svc"

// fakeSource knows what a test says.
type fakeSource struct {
	mu      sync.Mutex
	fleets  map[string]keda.Load // by NAMESPACE/NAME
	manual  map[string]bool
	changed chan struct{}
	looked  int
}

func newSource() *fakeSource {
	return &fakeSource{
		fleets: map[string]keda.Load{"speech/hinglish": {
			Known: true, Demand: 12.5, QueueDepth: 3, Active: true, DemandTarget: 6.4, QueueTarget: 2,
		}},
		manual:  map[string]bool{"speech/manual": true},
		changed: make(chan struct{}),
	}
}

// Load implements [keda.Source].
func (s *fakeSource) Load(namespace, name string) (keda.Load, <-chan struct{}, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.looked++
	key := namespace + "/" + name
	if s.manual[key] {
		return keda.Load{}, nil, fmt.Errorf("looking: %w", keda.ErrNotExternal)
	}
	l, ok := s.fleets[key]
	if !ok {
		return keda.Load{}, nil, keda.ErrUnknown
	}
	return l, s.changed, nil
}

// change changes a fleet, and tells.
func (s *fakeSource) change(key string, change func(*keda.Load)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.fleets[key]
	change(&l)
	s.fleets[key] = l
	close(s.changed)
	s.changed = make(chan struct{})
}

func (s *fakeSource) forget(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.fleets, key)
	close(s.changed)
	s.changed = make(chan struct{})
}

// looks waits until the source has been asked so often.
func (s *fakeSource) looks(t *testing.T, n int) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for range tick.C {
		s.mu.Lock()
		looked := s.looked
		s.mu.Unlock()
		if looked >= n {
			return
		}
		if t.Context().Err() != nil {
			t.Fatalf("it was asked %d times, want %d", looked, n)
		}
	}
}

// served is a server with the certificate that an operator shows, and what trusts it.
type served struct {
	address string
	trust   *x509.CertPool
	stop    func()
}

func serve(t *testing.T, source keda.Source) *served {
	t.Helper()
	now := time.Now()
	authority, err := certs.NewAuthority(now)
	if err != nil {
		t.Fatal(err)
	}
	name := grpcauth.Identity{Namespace: "swar-system", Name: "swar-operator", Role: grpcauth.Operator}
	leaf, err := authority.Issue(now, name.URI(), host)
	if err != nil {
		t.Fatal(err)
	}
	pair, err := tls.X509KeyPair(leaf.Cert, leaf.Key)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &served{address: l.Addr().String(), trust: x509.NewCertPool()}
	s.trust.AppendCertsFromPEM(authority.Trust)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	secure := &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{pair}}
	go func() { ended <- keda.New(source).Serve(ctx, l, secure) }()
	s.stop = sync.OnceFunc(func() {
		cancel()
		select {
		case err := <-ended:
			if err != nil {
				t.Errorf("Serve returned %v", err)
			}
		case <-time.After(10 * time.Second):
			t.Error("the server does not end")
		}
	})
	t.Cleanup(s.stop)
	return s
}

// call returns a client as KEDA makes one from caCert.
func (s *served) call(t *testing.T) wire.ExternalScalerClient {
	t.Helper()
	secure := credentials.NewTLS(&tls.Config{RootCAs: s.trust, ServerName: host})
	return s.callWith(t, grpc.WithTransportCredentials(secure))
}

func (s *served) callWith(t *testing.T, options ...grpc.DialOption) wire.ExternalScalerClient {
	t.Helper()
	conn, err := grpc.NewClient("passthrough:///"+s.address, options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return wire.NewExternalScalerClient(conn)
}

// refTo is a ScaledObject with pairs of metadata besides what KEDA itself reads.
func refTo(name string, pairs ...string) *wire.ScaledObjectRef {
	meta := map[string]string{"scalerAddress": host + ":9443"}
	for i := 0; i < len(pairs); i += 2 {
		meta[pairs[i]] = pairs[i+1]
	}
	return &wire.ScaledObjectRef{Namespace: "speech", Name: name, ScalerMetadata: meta}
}

func limited(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func TestWhatIsAnswered(t *testing.T) {
	source := newSource()
	source.fleets["speech/idle"] = keda.Load{Known: true, DemandTarget: 0.8, QueueTarget: 2}
	client := serve(t, source).call(t)
	for name, tt := range map[string]struct {
		ref        *wire.ScaledObjectRef
		metric     string
		wantActive bool
		wantTarget float64
		wantValue  float64
	}{
		"by the demand, unless something else is said": {
			ref: refTo("hinglish"), metric: keda.DemandSlots, wantActive: true, wantTarget: 6.4, wantValue: 12.5,
		},
		"by the demand": {
			ref:    refTo("hinglish", "metric", keda.DemandSlots),
			metric: keda.DemandSlots, wantActive: true, wantTarget: 6.4, wantValue: 12.5,
		},
		"by who waits": {
			ref:    refTo("hinglish", "metric", keda.QueueDepth),
			metric: keda.QueueDepth, wantActive: true, wantTarget: 2, wantValue: 3,
		},
		"a ScaledObject of another name": {
			ref:    refTo("scaled", "ttsdName", "hinglish"),
			metric: keda.DemandSlots, wantActive: true, wantTarget: 6.4, wantValue: 12.5,
		},
		"metadata for KEDA": {
			ref:    refTo("hinglish", "unsafeSsl", "false"),
			metric: keda.DemandSlots, wantActive: true, wantTarget: 6.4, wantValue: 12.5,
		},
		"an idle fleet": {ref: refTo("idle"), metric: keda.DemandSlots, wantTarget: 0.8},
	} {
		t.Run(name, func(t *testing.T) {
			ctx := limited(t)
			active, err := client.IsActive(ctx, tt.ref)
			if err != nil || active.Result != tt.wantActive {
				t.Errorf("active is %v, %v; want %v", active, err, tt.wantActive)
			}
			spec, err := client.GetMetricSpec(ctx, tt.ref)
			if err != nil || len(spec.MetricSpecs) != 1 {
				t.Fatalf("got the metrics %v, %v; want one", spec, err)
			}
			if got := spec.MetricSpecs[0]; got.MetricName != tt.metric || got.TargetSizeFloat != tt.wantTarget {
				t.Errorf("got the target %v, want %v of %s", got, tt.wantTarget, tt.metric)
			}
			values, err := client.GetMetrics(ctx,
				&wire.GetMetricsRequest{ScaledObjectRef: tt.ref, MetricName: tt.metric})
			if err != nil || len(values.MetricValues) != 1 {
				t.Fatalf("got the values %v, %v; want one", values, err)
			}
			if got := values.MetricValues[0]; got.MetricName != tt.metric || got.MetricValueFloat != tt.wantValue {
				t.Errorf("got the value %v, want %v of %s", got, tt.wantValue, tt.metric)
			}
		})
	}
}

// TestOlderKEDA: before it knew fractions it read integers, which must not be less than what is meant.
func TestOlderKEDA(t *testing.T) {
	client := serve(t, newSource()).call(t)
	spec, err := client.GetMetricSpec(limited(t), refTo("hinglish"))
	if err != nil || spec.MetricSpecs[0].TargetSize != 7 {
		t.Errorf("got the target %v, %v; want 7", spec, err)
	}
	q := &wire.GetMetricsRequest{ScaledObjectRef: refTo("hinglish"), MetricName: keda.DemandSlots}
	values, err := client.GetMetrics(limited(t), q)
	if err != nil || values.MetricValues[0].MetricValue != 13 {
		t.Errorf("got the value %v, %v; want 13", values, err)
	}
}

func TestWhatIsRefused(t *testing.T) {
	source := newSource()
	source.fleets["speech/unheard"] = keda.Load{DemandTarget: 0.8, QueueTarget: 2}
	client := serve(t, source).call(t)
	long := strings.Repeat("x", 1000)
	elsewhere := refTo("hinglish")
	elsewhere.Namespace = "other"
	calls := map[string]func(context.Context, *wire.ScaledObjectRef) error{
		"IsActive": func(ctx context.Context, ref *wire.ScaledObjectRef) error {
			_, err := client.IsActive(ctx, ref)
			return err
		},
		"GetMetricSpec": func(ctx context.Context, ref *wire.ScaledObjectRef) error {
			_, err := client.GetMetricSpec(ctx, ref)
			return err
		},
		"GetMetrics": func(ctx context.Context, ref *wire.ScaledObjectRef) error {
			_, err := client.GetMetrics(ctx, &wire.GetMetricsRequest{ScaledObjectRef: ref,
				MetricName: keda.DemandSlots})
			return err
		},
		"StreamIsActive": func(ctx context.Context, ref *wire.ScaledObjectRef) error {
			stream, err := client.StreamIsActive(ctx, ref)
			if err == nil {
				_, err = stream.Recv()
			}
			return err
		},
		"StreamMetricSpec": func(ctx context.Context, ref *wire.ScaledObjectRef) error {
			stream, err := client.StreamMetricSpec(ctx, ref)
			if err == nil {
				_, err = stream.Recv()
			}
			return err
		},
	}
	every := slices.Collect(maps.Keys(calls))
	live := []string{"IsActive", "GetMetrics"} // that tell what routers have told
	for name, tt := range map[string]struct {
		ref   *wire.ScaledObjectRef
		calls []string
		code  codes.Code
		want  string
	}{
		"a fleet that is not there":           {refTo("other"), every, codes.NotFound, `"other" in the namespace "speech"`},
		"one that is named, and not there":    {refTo("hinglish", "ttsdName", "other"), every, codes.NotFound, `"other"`},
		"one of another namespace":            {elsewhere, every, codes.NotFound, `the namespace "other"`},
		"one that somebody else scales":       {refTo("manual"), every, codes.FailedPrecondition, "spec.scaling.mode to External"},
		"an empty name":                       {refTo("hinglish", "ttsdName", ""), every, codes.InvalidArgument, "give ttsdName"},
		"nothing":                             {&wire.ScaledObjectRef{}, every, codes.InvalidArgument, "give ttsdName"},
		"a metric that is none":               {refTo("hinglish", "metric", "tts_slots"), every, codes.InvalidArgument, "take tts_demand_slots or"},
		"a long name":                         {refTo(long), every, codes.NotFound, `"` + long[:60] + `" in`},
		"more than fits":                      {refTo(strings.Repeat(long, 66)), every, codes.ResourceExhausted, "larger than max"},
		"routers that have not been heard of": {refTo("unheard"), live, codes.Unavailable, "speech/unheard: check"},
	} {
		for _, call := range tt.calls {
			t.Run(name+", "+call, func(t *testing.T) {
				err := calls[call](limited(t), tt.ref)
				if status.Code(err) != tt.code || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("got %v, want %v with %q", err, tt.code, tt.want)
				}
			})
		}
	}
	t.Run("a metric that was not asked for", func(t *testing.T) {
		q := &wire.GetMetricsRequest{ScaledObjectRef: refTo("hinglish"), MetricName: "s0-tts_demand_slots"}
		_, err := client.GetMetrics(limited(t), q)
		if status.Code(err) != codes.InvalidArgument {
			t.Errorf("got %v, want %v", err, codes.InvalidArgument)
		}
	})
	t.Run("what is aimed at does not depend on routers", func(t *testing.T) {
		spec, err := client.GetMetricSpec(limited(t), refTo("unheard"))
		if err != nil || spec.MetricSpecs[0].TargetSizeFloat != 0.8 {
			t.Errorf("got %v, %v", spec, err)
		}
	})
}

// TestActivityIsToldOnce: each time that a fleet becomes active, and never again while it is.
func TestActivityIsToldOnce(t *testing.T) {
	source := newSource()
	server := serve(t, source)
	set := func(active bool) { source.change("speech/hinglish", func(l *keda.Load) { l.Active = active }) }
	set(false)
	var streams []grpc.ServerStreamingClient[wire.IsActiveResponse]
	for range 2 { // replicas of KEDA
		stream, err := server.call(t).StreamIsActive(limited(t), refTo("hinglish"))
		if err != nil {
			t.Fatal(err)
		}
		streams = append(streams, stream)
	}
	source.looks(t, 2)
	look := 2
	turn := func(active bool) {
		set(active)
		look += len(streams)
		source.looks(t, look)
	}
	turn(true)
	turn(true) // something else has changed
	turn(false)
	turn(true)
	turn(true)
	server.stop()
	for i, stream := range streams {
		var got []bool
		for {
			r, err := stream.Recv()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatalf("replica %d: the stream ended with %v, want its regular end", i, err)
			}
			got = append(got, r.Result)
		}
		if fmt.Sprint(got) != "[true true]" {
			t.Errorf("replica %d was told %v, want true twice", i, got)
		}
	}
}

// TestWhoCallsAnActiveFleetIsTold: it may have become active while nobody listened.
func TestWhoCallsAnActiveFleetIsTold(t *testing.T) {
	client := serve(t, newSource()).call(t)
	stream, err := client.StreamIsActive(limited(t), refTo("hinglish"))
	if err != nil {
		t.Fatal(err)
	}
	if r, err := stream.Recv(); err != nil || !r.Result {
		t.Errorf("got %v, %v; want true", r, err)
	}
}

func TestTargetsAreToldAtFirstAndWhenTheyChange(t *testing.T) {
	source := newSource()
	client := serve(t, source).call(t)
	stream, err := client.StreamMetricSpec(limited(t), refTo("hinglish"))
	if err != nil {
		t.Fatal(err)
	}
	next := func(want float64) {
		t.Helper()
		r, err := stream.Recv()
		if err != nil || r.MetricSpecs[0].TargetSizeFloat != want {
			t.Fatalf("got %v, %v; want %v", r, err, want)
		}
	}
	next(6.4)
	source.change("speech/hinglish", func(l *keda.Load) { l.Active = false })
	source.looks(t, 2)
	source.change("speech/hinglish", func(l *keda.Load) { l.DemandTarget = 3.2 })
	next(3.2)
	source.forget("speech/hinglish")
	if _, err := stream.Recv(); status.Code(err) != codes.NotFound {
		t.Errorf("after the fleet was removed got %v, want %v", err, codes.NotFound)
	}
}

// TestAReaderThatReadsNothing holds up neither others nor the end of the server.
func TestAReaderThatReadsNothing(t *testing.T) {
	source := newSource()
	server := serve(t, source)
	secure := credentials.NewTLS(&tls.Config{RootCAs: server.trust, ServerName: host})
	slow := server.callWith(t, grpc.WithTransportCredentials(secure), grpc.WithStaticStreamWindowSize(64<<10))
	if _, err := slow.StreamMetricSpec(limited(t), refTo("hinglish")); err != nil {
		t.Fatal(err)
	}
	source.looks(t, 1)
	quick, err := server.call(t).StreamMetricSpec(limited(t), refTo("hinglish"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := quick.Recv(); err != nil {
		t.Fatal(err)
	}
	for i := range 2500 { // more than fits into the window
		want := float64(i + 10)
		source.change("speech/hinglish", func(l *keda.Load) { l.DemandTarget = want })
		r, err := quick.Recv()
		if err != nil || r.MetricSpecs[0].TargetSizeFloat != want {
			t.Fatalf("got %v, %v; want %v", r, err, want)
		}
	}
	server.stop()
}

func TestManyAtTheSameTime(t *testing.T) {
	source := newSource()
	server := serve(t, source)
	var all sync.WaitGroup
	for range 4 {
		client := server.call(t)
		for range 25 {
			all.Go(func() {
				stream, err := client.StreamIsActive(limited(t), refTo("hinglish"))
				if err != nil {
					t.Error(err)
					return
				}
				if r, err := stream.Recv(); err != nil || !r.Result {
					t.Errorf("got %v, %v; want true", r, err)
				}
			})
			all.Go(func() {
				q := &wire.GetMetricsRequest{ScaledObjectRef: refTo("hinglish"), MetricName: keda.DemandSlots}
				if _, err := client.GetMetrics(limited(t), q); err != nil {
					t.Error(err)
				}
			})
			all.Go(func() { source.change("speech/hinglish", func(l *keda.Load) { l.Demand++ }) })
		}
	}
	all.Wait()
}

// TestWhoDoesNotTrust: only who trusts the operator's authority, and calls it by its name, and never in plain text.
func TestWhoDoesNotTrust(t *testing.T) {
	server := serve(t, newSource())
	for name, option := range map[string]credentials.TransportCredentials{
		"plain text":        insecure.NewCredentials(),
		"another authority": credentials.NewTLS(&tls.Config{RootCAs: x509.NewCertPool(), ServerName: host}),
		"another host":      credentials.NewTLS(&tls.Config{RootCAs: server.trust, ServerName: "swar-operator.other.svc"}),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := server.callWith(t, grpc.WithTransportCredentials(option)).IsActive(limited(t), refTo("hinglish"))
			if status.Code(err) != codes.Unavailable {
				t.Errorf("got %v, want %v", err, codes.Unavailable)
			}
		})
	}
}

// TestALostListener: the operator must not go on as if it answered.
func TestALostListener(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	if err := keda.New(newSource()).Serve(t.Context(), l, &tls.Config{}); err == nil {
		t.Error("Serve returns nil")
	}
}
