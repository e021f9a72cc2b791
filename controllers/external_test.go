package controllers_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/status"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/swar-tts/swar/api/v1alpha1"
	"github.com/swar-tts/swar/controllers"
	"github.com/swar-tts/swar/controllers/keda/wire"
)

// freeAddress is one that nobody listens on yet.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// callScaler calls an operator as KEDA does with what the operator has written for it.
func callScaler(t *testing.T, c client.Client, namespace, fleet, address, host string) wire.ExternalScalerClient {
	t.Helper()
	secret := &corev1.Secret{}
	eventually(t, "the authority is there", 20*time.Second, func(ctx context.Context) string {
		if err := c.Get(ctx, client.ObjectKey{Namespace: namespace, Name: fleet + "-scaler-ca"}, secret); err != nil {
			return err.Error()
		}
		return ""
	})
	if len(secret.Data) != 1 {
		t.Errorf("the Secret has %d entries, want ca.crt and no other", len(secret.Data))
	}
	trust := x509.NewCertPool()
	if !trust.AppendCertsFromPEM(secret.Data["ca.crt"]) {
		t.Fatal("ca.crt holds no certificate")
	}
	secure := grpc.WithTransportCredentials(credentials.NewTLS(&tls.Config{RootCAs: trust, ServerName: host}))
	conn, err := grpc.NewClient("passthrough:///"+address, secure)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return wire.NewExternalScalerClient(conn)
}

func TestKEDAIsAnswered(t *testing.T) {
	c, namespace := open(t)
	var ahead atomic.Int64
	address := freeAddress(t)
	o := startOperator(t, namespace, controllers.Config{
		Scaler: address, Now: func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) },
	})
	create(t, c, fleetWith(t, namespace, "hinglish",
		`{scaling: {mode: External, targetQueueDepth: 3}, runtime: {workersPerPod: 8}}`))
	create(t, c, fleetWith(t, namespace, "own", `{}`))
	waitForClaim := func(name string) {
		wait(t, c, namespace, name, "it has a size", func(f *v1alpha1.TTSDeployment) string {
			if f.Spec.Replicas == nil {
				return "it has none"
			}
			return ""
		})
	}
	waitForClaim("hinglish")
	waitForClaim("own")
	scaler := callScaler(t, c, namespace, "hinglish", address, "swar-operator."+namespace+".svc")
	ref := func(name string) *wire.ScaledObjectRef {
		return &wire.ScaledObjectRef{Namespace: namespace, Name: name}
	}
	eventually(t, "it tells what is aimed at", 20*time.Second, func(ctx context.Context) string {
		spec, err := scaler.GetMetricSpec(ctx, ref("hinglish"))
		if err != nil {
			return err.Error()
		}
		if got := spec.MetricSpecs[0].TargetSizeFloat; got != 6.4 {
			return spec.String()
		}
		return ""
	})
	if _, err := scaler.GetMetricSpec(t.Context(), ref("own")); status.Code(err) != codes.FailedPrecondition {
		t.Errorf("of a fleet that the operator scales got %v, want %v", err, codes.FailedPrecondition)
	}
	if _, err := scaler.IsActive(t.Context(), ref("hinglish")); status.Code(err) != codes.Unavailable {
		t.Errorf("without a router got %v, want %v", err, codes.Unavailable)
	}
	missing := &corev1.Secret{}
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "own-scaler-ca"}, missing); err == nil {
		t.Error("there is an authority for a fleet that the operator scales")
	}
	o.idle(t)

	t.Run("its certificate is renewed without a restart", func(t *testing.T) {
		before := shownUntil(t, address)
		ahead.Store(int64(21 * 24 * time.Hour))
		if after := shownUntil(t, address); after.Sub(before) < 20*24*time.Hour {
			t.Errorf("it is good until %v, and was until %v", after, before)
		}
		ahead.Store(0)
	})

	t.Run("streams end with the operator", func(t *testing.T) {
		stream, err := scaler.StreamMetricSpec(t.Context(), ref("hinglish"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := stream.Recv(); err != nil {
			t.Fatal(err)
		}
		o.stop()
		if _, err := stream.Recv(); err != io.EOF {
			t.Errorf("the stream ended with %v, want its regular end", err)
		}
	})
}

// shownUntil is until when the certificate is good that a server shows.
func shownUntil(t *testing.T, address string) time.Time {
	t.Helper()
	conn, err := tls.Dial("tcp", address, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	return conn.ConnectionState().PeerCertificates[0].NotAfter
}

// TestAnAuthorityThatIsOnlyRead is neither made nor renewed.
func TestAnAuthorityThatIsOnlyRead(t *testing.T) {
	c, namespace := open(t)
	ahead := time.Duration(0)
	store := func(isReader bool) *controllers.AuthorityStore {
		return &controllers.AuthorityStore{
			Client: c, Namespace: namespace, Name: controllers.AuthoritySecret, ReadOnly: isReader,
			Now: func() time.Time { return time.Now().Add(ahead) },
		}
	}
	if _, err := store(true).Get(t.Context()); err == nil || !strings.Contains(err.Error(), "the operator makes it") {
		t.Errorf("without one got %v", err)
	}
	made, err := store(false).Get(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ahead = (10*365 - 119) * 24 * time.Hour // the next one would be announced
	for _, isReader := range []bool{true, false} {
		got, err := store(isReader).Get(t.Context())
		isSame := string(got.Trust) == string(made.Trust)
		if err != nil || isSame != isReader {
			t.Errorf("only read: %v; it is the same: %v, %v", isReader, isSame, err)
		}
	}
}
