package grpcauth

import (
	"context"
	"crypto/x509"
	"errors"
	"log/slog"
	"net"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/peer"
)

// Limits of connections that nothing else bounds.
const (
	handshakeLimit = 10 * time.Second // until a client has spoken TLS and HTTP/2
	maxHeaders     = 16 << 10         // bytes of a call's metadata

	maxConnections = 4096 // of one listener
	maxOfAddress   = 512  // of those, from one address; a router has two to each worker
)

// Connections are made anew, so that certificates, authorities and tokens that were replaced are asked for.
const (
	defaultAge = 10 * time.Minute // of a connection that takes no new calls any more; gRPC adds or takes a tenth
	callGrace  = 3 * time.Minute  // from then until it is closed: longer than an utterance
)

// Service says who may call a server, and how.
type Service struct {
	Accepts []Role // the roles that may call it
	// full names of calls that do not end by themselves; their clients call again when they end without an error
	Endless []string
	Ping    time.Duration // after which a client that sends nothing is asked for a sign of life; 0 means 30 s
	// after which a connection takes no new calls, so that clients make another one; 0 means 10 min
	Age time.Duration
}

func (s Service) age() time.Duration {
	if s.Age == 0 {
		return defaultAge
	}
	return s.Age
}

// options bound what connections of strangers cost, and have those of everybody made anew.
func (s Service) options() []grpc.ServerOption {
	ping := s.Ping
	if ping == 0 {
		ping = 30 * time.Second // idle connections must not cost much: each router has two to each worker
	}
	return []grpc.ServerOption{
		grpc.ConnectionTimeout(handshakeLimit), grpc.MaxHeaderListSize(maxHeaders),
		grpc.KeepaliveParams(keepalive.ServerParameters{
			MaxConnectionAge: s.age(), MaxConnectionAgeGrace: callGrace,
			Time: ping, Timeout: 5 * time.Second, // a client that is gone without a word
		}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: 5 * time.Second,
			PermitWithoutStream: true}),
	}
}

// expiring are credentials whose connections end when the certificate of the other side does.
type expiring struct {
	credentials.TransportCredentials
	log *slog.Logger
}

// connection is what calls know of theirs.
type connection struct {
	credentials.AuthInfo
	began time.Time
}

func (e expiring) ServerHandshake(raw net.Conn) (net.Conn, credentials.AuthInfo, error) {
	began := time.Now()
	conn, info, err := e.TransportCredentials.ServerHandshake(raw)
	if err != nil {
		return nil, nil, err
	}
	return e.expire(conn, info), connection{info, began}, nil
}

func (e expiring) ClientHandshake(ctx context.Context, host string,
	raw net.Conn) (net.Conn, credentials.AuthInfo, error) {
	conn, info, err := e.TransportCredentials.ClientHandshake(ctx, host, raw)
	if err != nil {
		return nil, nil, err
	}
	return e.expire(conn, info), info, nil
}

func (e expiring) Clone() credentials.TransportCredentials {
	return expiring{e.TransportCredentials.Clone(), e.log}
}

// expire closes conn in the moment in which the certificate ends that the other side has shown.
func (e expiring) expire(conn net.Conn, info credentials.AuthInfo) net.Conn {
	shown, ok := info.(credentials.TLSInfo)
	if !ok || len(shown.State.PeerCertificates) == 0 {
		return conn
	}
	leaf := shown.State.PeerCertificates[0]
	end := time.AfterFunc(time.Until(leaf.NotAfter), func() {
		if e.log != nil {
			e.log.Warn("a connection was closed: the certificate of the other side has expired",
				"with", conn.RemoteAddr().String(), "certificate", nameOf(leaf), "expired", leaf.NotAfter)
		}
		_ = conn.Close()
	})
	return expiringConn{conn, end}
}

func nameOf(leaf *x509.Certificate) string {
	id, err := identityOf(leaf)
	if err != nil {
		return err.Error()
	}
	return id.String()
}

type expiringConn struct {
	net.Conn
	end *time.Timer
}

func (c expiringConn) Close() error {
	c.end.Stop()
	return c.Conn.Close()
}

// errMove is why a call ends that would keep an old connection open.
var errMove = errors.New("call again: the connection is made anew")

// moving lets a call end, without an error, when its connection takes no new calls any more, and before it is closed.
func (s Service) moving(srv any, stream grpc.ServerStream, h grpc.StreamHandler) error {
	p, ok := peer.FromContext(stream.Context())
	if !ok {
		return h(srv, stream)
	}
	on, ok := p.AuthInfo.(connection)
	if !ok {
		return h(srv, stream)
	}
	ctx, cancel := context.WithDeadlineCause(stream.Context(), on.began.Add(s.age()*23/20), errMove)
	defer cancel()
	err := h(srv, movingStream{stream, ctx})
	if errors.Is(context.Cause(ctx), errMove) {
		return nil
	}
	return err
}

type movingStream struct {
	grpc.ServerStream
	ctx context.Context
}

func (s movingStream) Context() context.Context { return s.ctx }

// Limit bounds the number of connections of l, in total and from one address. It applies before authentication. One
// more is closed at once, which the log says once a minute.
func Limit(l net.Listener, log *slog.Logger) net.Listener {
	return &limited{Listener: l, log: log, all: maxConnections, each: maxOfAddress, open: map[string]int{}}
}

type limited struct {
	net.Listener
	log       *slog.Logger
	all, each int

	mu     sync.Mutex
	total  int
	open   map[string]int // by address
	warned time.Time
}

// Accept implements [net.Listener].
func (l *limited) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		from := conn.RemoteAddr().String()
		if host, _, err := net.SplitHostPort(from); err == nil {
			from = host
		}
		if l.enter(from) {
			return limitedConn{conn, sync.OnceFunc(func() { l.leave(from) })}, nil
		}
		_ = conn.Close()
	}
}

func (l *limited) enter(from string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.total >= l.all || l.open[from] >= l.each {
		if now := time.Now(); now.Sub(l.warned) >= time.Minute {
			l.warned = now
			l.log.Warn("a connection was closed: there are too many", "listen", l.Addr().String(), "from", from,
				"connections", l.total, "most", l.all, "of_address", l.open[from], "most_of_address", l.each)
		}
		return false
	}
	l.total++
	l.open[from]++
	return true
}

func (l *limited) leave(from string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.total--
	if l.open[from]--; l.open[from] == 0 {
		delete(l.open, from)
	}
}

type limitedConn struct {
	net.Conn
	leave func()
}

func (c limitedConn) Close() error {
	c.leave()
	return c.Conn.Close()
}
