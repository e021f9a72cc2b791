package externalmetrics

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/status"

	"github.com/swar-tts/swar/controllers/keda/wire"
)

// queryTimeout is how long the operator has for an answer.
const queryTimeout = 2 * time.Second

// Timeouts of calls to the operator. Of two operators one refuses, so a refused call is retried several times within
// queryTimeout.
const (
	firstRetry  = 50 * time.Millisecond
	lastRetry   = 300 * time.Millisecond
	connectTime = time.Second
	aliveEvery  = 10 * time.Second // the operator takes that as often as every 5 s
	aliveLimit  = 2 * time.Second
)

// Operator asks the operator that acts, as KEDA does. It is safe for concurrent use.
type Operator struct {
	address string
	trust   func(context.Context) ([]byte, error)

	mu      sync.Mutex
	conn    *grpc.ClientConn // nil until the first query
	trusted []byte           // what conn was opened with
}

// NewOperator returns one that is called at HOST:PORT, and known by HOST and by authorities that trust returns as PEM.
func NewOperator(address string, trust func(context.Context) ([]byte, error)) *Operator {
	return &Operator{address: address, trust: trust}
}

// Value answers a query. Its errors are of gRPC.
func (o *Operator) Value(ctx context.Context, q Query) (float64, error) {
	ctx, cancel := context.WithTimeout(ctx, queryTimeout)
	defer cancel()
	conn, err := o.connection(ctx)
	if err != nil {
		return 0, status.Errorf(codes.Unavailable, "the operator cannot be called: %v", err)
	}
	ref := &wire.ScaledObjectRef{Namespace: q.Namespace, Name: q.Name}
	values, err := wire.NewExternalScalerClient(conn).GetMetrics(
		ctx, &wire.GetMetricsRequest{ScaledObjectRef: ref, MetricName: q.Metric}, grpc.WaitForReady(true),
	)
	if code := status.Code(err); code == codes.DeadlineExceeded || code == codes.Canceled {
		return 0, status.Errorf(code, "the operator at %s does not answer, look at its pods and its log: %s",
			o.address, status.Convert(err).Message())
	}
	if err != nil {
		return 0, err
	}
	for _, v := range values.GetMetricValues() {
		if v.GetMetricName() == q.Metric {
			return v.GetMetricValueFloat(), nil
		}
	}
	return 0, status.Errorf(codes.Internal, "it reports no value of %s", q.Metric)
}

// connection returns that to the operator, opened anew when the authority is another one.
func (o *Operator) connection(ctx context.Context) (*grpc.ClientConn, error) {
	trusted, err := o.trust(ctx)
	o.mu.Lock()
	defer o.mu.Unlock()
	isOpen := o.conn != nil
	// While the authority is unreachable, the last one stays valid.
	if isOpen && (err != nil || bytes.Equal(trusted, o.trusted)) {
		return o.conn, nil
	}
	if err != nil {
		return nil, err
	}
	conn, err := dial(o.address, trusted)
	if err != nil {
		return nil, err
	}
	if isOpen {
		_ = o.conn.Close() // the result does not matter any more
	}
	o.conn, o.trusted = conn, trusted
	return conn, nil
}

func dial(address string, trusted []byte) (*grpc.ClientConn, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("the address %s: %w", address, err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(trusted) {
		return nil, errors.New("the authority holds no certificate")
	}
	secure := &tls.Config{MinVersion: tls.VersionTLS13, RootCAs: pool, ServerName: host}
	return grpc.NewClient("passthrough:///"+address,
		grpc.WithTransportCredentials(credentials.NewTLS(secure)),
		grpc.WithNoProxy(),
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: firstRetry, Multiplier: 2, Jitter: 0.2, MaxDelay: lastRetry},
			MinConnectTimeout: connectTime,
		}),
		// The node of an operator may be lost without a word.
		grpc.WithKeepaliveParams(keepalive.ClientParameters{
			Time: aliveEvery, Timeout: aliveLimit, PermitWithoutStream: true,
		}),
	)
}

// Close ends what is still asked.
func (o *Operator) Close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.conn != nil {
		_ = o.conn.Close() // the result does not matter any more
	}
}
