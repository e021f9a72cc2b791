package externalmetrics_test

import (
	"context"
	"crypto/tls"
	"net"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/swar-tts/swar/controllers/certs"
	"github.com/swar-tts/swar/controllers/externalmetrics"
	"github.com/swar-tts/swar/controllers/keda"
	"github.com/swar-tts/swar/runtime/grpcauth"
)

// fleets is what an operator knows, by NAMESPACE/NAME.
type fleets map[string]keda.Load

// Load implements [keda.Source].
func (f fleets) Load(namespace, name string) (keda.Load, <-chan struct{}, error) {
	l, ok := f[namespace+"/"+name]
	switch {
	case !ok:
		return l, nil, keda.ErrUnknown
	case l.DemandTarget == 0:
		return l, nil, keda.ErrNotExternal
	}
	return l, nil, nil
}

var known = fleets{
	"speech/a":      {Known: true, Demand: 12.5, QueueDepth: 3, DemandTarget: 0.8},
	"speech/silent": {DemandTarget: 0.8},
	"speech/own":    {},
}

func newOperatorAuthority(t *testing.T) certs.Authority {
	t.Helper()
	a, err := certs.NewAuthority(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// operate answers as an operator does on an address until stop is called.
func operate(t *testing.T, address string, a certs.Authority, source keda.Source) (at string, stop func()) {
	t.Helper()
	name := grpcauth.Identity{Namespace: "swar-system", Name: "swar-operator", Role: grpcauth.Operator}
	leaf, err := a.Issue(time.Now(), name.URI(), "localhost")
	if err != nil {
		t.Fatal(err)
	}
	pair, err := tls.X509KeyPair(leaf.Cert, leaf.Key)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		ended <- keda.New(source).Serve(ctx, l,
			&tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{pair}})
	}()
	stop = func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the operator ended with %v", err)
		}
		ended <- nil
	}
	t.Cleanup(stop)
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return "localhost:" + port, stop
}

func trusting(a *certs.Authority) func(context.Context) ([]byte, error) {
	return func(context.Context) ([]byte, error) { return a.Trust, nil }
}

func TestTheOperatorIsAsked(t *testing.T) {
	a := newOperatorAuthority(t)
	address, _ := operate(t, "127.0.0.1:0", a, known)
	o := externalmetrics.NewOperator(address, trusting(&a))
	t.Cleanup(o.Close)
	for name, tt := range map[string]struct {
		fleet, metric string
		want          float64
		code          codes.Code
	}{
		"the demand":             {"a", keda.DemandSlots, 12.5, codes.OK},
		"who waits":              {"a", keda.QueueDepth, 3, codes.OK},
		"a fleet that is not":    {"b", keda.DemandSlots, 0, codes.NotFound},
		"one that is scaled":     {"own", keda.DemandSlots, 0, codes.FailedPrecondition},
		"one of silent routers":  {"silent", keda.DemandSlots, 0, codes.Unavailable},
		"a metric that is none":  {"a", "tts_slots", 0, codes.InvalidArgument},
		"a fleet without a name": {"", keda.DemandSlots, 0, codes.InvalidArgument},
	} {
		got, err := o.Value(t.Context(), externalmetrics.Query{Namespace: "speech", Name: tt.fleet, Metric: tt.metric})
		if got != tt.want || status.Code(err) != tt.code {
			t.Errorf("%s: %v, %v; want %v, %v", name, got, err, tt.want, tt.code)
		}
	}
}

// TestTheOperatorComesAndGoes: who asks is answered within two seconds and a bit, and well again when it is back.
func TestTheOperatorComesAndGoes(t *testing.T) {
	a := newOperatorAuthority(t)
	address, stop := operate(t, "127.0.0.1:0", a, known)
	o := externalmetrics.NewOperator(address, trusting(&a))
	t.Cleanup(o.Close)
	q := externalmetrics.Query{Namespace: "speech", Name: "a", Metric: keda.DemandSlots}
	if _, err := o.Value(t.Context(), q); err != nil {
		t.Fatal(err)
	}
	stop()
	began := time.Now()
	_, err := o.Value(t.Context(), q)
	if code := status.Code(err); code != codes.DeadlineExceeded ||
		!strings.Contains(err.Error(), "look at its pods and its log") {
		t.Errorf("without an operator got %v", err)
	}
	if took := time.Since(began); took > 4*time.Second {
		t.Errorf("that took %v", took)
	}
	_, port, _ := net.SplitHostPort(address)
	next := newOperatorAuthority(t)
	operate(t, "127.0.0.1:"+port, next, known)
	if _, err := o.Value(t.Context(), q); err == nil {
		t.Error("it believes an operator of another authority")
	}
	a = next
	if got, err := o.Value(t.Context(), q); got != 12.5 || err != nil {
		t.Errorf("when it is back, with another authority, got %v, %v", got, err)
	}
}

func TestAnOperatorThatCannotBeCalled(t *testing.T) {
	good := newOperatorAuthority(t)
	for name, tt := range map[string]struct {
		address string
		trust   []byte
	}{
		"no authority": {"localhost:1", nil},
		"no port":      {"localhost", good.Trust},
	} {
		o := externalmetrics.NewOperator(tt.address, func(context.Context) ([]byte, error) { return tt.trust, nil })
		if _, err := o.Value(t.Context(), externalmetrics.Query{}); status.Code(err) != codes.Unavailable {
			t.Errorf("%s: got %v", name, err)
		}
		o.Close()
	}
}
