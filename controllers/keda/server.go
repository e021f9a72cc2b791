package keda

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/status"

	"github.com/swar-tts/swar/controllers/keda/wire"
)

const (
	maxRequest = 64 << 10        // bytes: names, and the metadata of a trigger
	maxStreams = 4096            // of one connection, which all ScaledObjects of a KEDA share: two for each
	stopLimit  = 2 * time.Second // for calls that run when the server ends

	handshakeLimit = 10 * time.Second
	maxHeaders     = 16 << 10 // bytes
)

// Server answers KEDA, any number of its replicas at the same time.
type Server struct {
	wire.UnimplementedExternalScalerServer
	source Source
	ended  chan struct{} // closed when Serve ends
}

// New returns a server that reports the load of source. It starts nothing.
func New(source Source) *Server { return &Server{source: source, ended: make(chan struct{})} }

// Serve answers on l until ctx ends, and then returns nil. It closes l. A server serves once, and over TLS only: the
// load is confidential.
func (s *Server) Serve(ctx context.Context, l net.Listener, secure *tls.Config) error {
	g := grpc.NewServer(
		grpc.Creds(credentials.NewTLS(secure)), grpc.MaxRecvMsgSize(maxRequest), grpc.MaxConcurrentStreams(maxStreams),
		grpc.ConnectionTimeout(handshakeLimit), grpc.MaxHeaderListSize(maxHeaders),
		// A client that disappeared must not be written to forever.
		grpc.KeepaliveParams(keepalive.ServerParameters{Time: 30 * time.Second, Timeout: 10 * time.Second}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: 5 * time.Second,
			PermitWithoutStream: true}),
	)
	wire.RegisterExternalScalerServer(g, s)
	stopped := make(chan struct{})
	stopAfter := context.AfterFunc(ctx, func() {
		defer close(stopped)
		close(s.ended)
		hard := time.AfterFunc(stopLimit, g.Stop)
		defer hard.Stop()
		g.GracefulStop()
	})
	err := g.Serve(l)
	if stopAfter() {
		g.Stop() // it was l that failed
		return fmt.Errorf("answering KEDA: %w", err)
	}
	<-stopped
	return nil
}

// IsActive implements the service.
func (s *Server) IsActive(_ context.Context, ref *wire.ScaledObjectRef) (*wire.IsActiveResponse, error) {
	t, err := triggerOf(ref)
	if err != nil {
		return nil, err
	}
	l, err := t.knownLoad(s.source)
	if err != nil {
		return nil, err
	}
	return &wire.IsActiveResponse{Result: l.Active}, nil
}

// StreamIsActive implements the service. It sends each change from idle to active once, and one message for a call to
// an active fleet. KEDA takes every message as activity at that moment, so repeats would delay scaling to zero, and
// KEDA ignores messages of inactivity.
func (s *Server) StreamIsActive(
	ref *wire.ScaledObjectRef, stream grpc.ServerStreamingServer[wire.IsActiveResponse],
) error {
	wasActive := false
	return s.follow(stream.Context(), ref, func(_ trigger, l Load) error {
		becameActive := l.Active && !wasActive
		wasActive = l.Active
		if !becameActive {
			return nil
		}
		return stream.Send(&wire.IsActiveResponse{Result: true})
	})
}

// GetMetricSpec implements the service. It does not need routers, because without an answer KEDA would take the metric
// out of its HorizontalPodAutoscaler.
func (s *Server) GetMetricSpec(_ context.Context, ref *wire.ScaledObjectRef) (*wire.GetMetricSpecResponse, error) {
	t, err := triggerOf(ref)
	if err != nil {
		return nil, err
	}
	l, _, err := t.load(s.source)
	if err != nil {
		return nil, err
	}
	return t.spec(l), nil
}

// StreamMetricSpec implements the service.
func (s *Server) StreamMetricSpec(
	ref *wire.ScaledObjectRef, stream grpc.ServerStreamingServer[wire.GetMetricSpecResponse],
) error {
	told := -1.0
	return s.follow(stream.Context(), ref, func(t trigger, l Load) error {
		spec := t.spec(l)
		target := spec.MetricSpecs[0].TargetSizeFloat
		if target == told {
			return nil
		}
		told = target
		return stream.Send(spec)
	})
}

// GetMetrics implements the service.
func (s *Server) GetMetrics(_ context.Context, q *wire.GetMetricsRequest) (*wire.GetMetricsResponse, error) {
	t, err := triggerOf(q.GetScaledObjectRef())
	if err != nil {
		return nil, err
	}
	if err := checkMetric(q.GetMetricName()); err != nil {
		return nil, err
	}
	l, err := t.knownLoad(s.source)
	if err != nil {
		return nil, err
	}
	return valueOf(q.GetMetricName(), l), nil
}

// follow sends the state of a fleet at first and at each change, until ctx or the server ends. The end of the server is
// not a failure, so that KEDA calls again soon.
func (s *Server) follow(ctx context.Context, ref *wire.ScaledObjectRef, tell func(trigger, Load) error) error {
	t, err := triggerOf(ref)
	if err != nil {
		return err
	}
	for {
		l, changed, err := t.load(s.source)
		if err != nil {
			return err
		}
		if err := tell(t, l); err != nil {
			return err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return status.FromContextError(ctx.Err()).Err()
		case <-s.ended:
			return nil
		}
	}
}
