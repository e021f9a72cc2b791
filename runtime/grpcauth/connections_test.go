package grpcauth_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/swar-tts/swar/runtime/grpcauth"
	"github.com/swar-tts/swar/runtime/grpcauth/grpcauthtest"
)

const (
	endless = "/test.Service/Endless" // lasts as long as it may
	spoken  = "/test.Service/Spoken"  // ends when the test says so

	testTimeout = 30 * time.Second
)

// safeLog is a log that may be read while it is written.
type safeLog struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *safeLog) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(b)
}

func (l *safeLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// answering answers on loopback until the test ends, and returns its address. A call of spoken ends with said.
func answering(
	t *testing.T, creds grpcauth.Credentials, s grpcauth.Service, log io.Writer, said <-chan struct{},
) string {
	t.Helper()
	options, err := creds.ServerOptions(true, slog.New(slog.NewTextHandler(log, nil)), s)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g := grpc.NewServer(append(options, grpc.UnknownServiceHandler(func(_ any, stream grpc.ServerStream) error {
		p, _ := peer.FromContext(stream.Context())
		if err := stream.SendHeader(metadata.Pairs("from", p.Addr.String())); err != nil {
			return err
		}
		method, _ := grpc.MethodFromServerStream(stream)
		ends := said
		if method == endless {
			ends = nil
		}
		select {
		case <-ends:
			return nil
		case <-stream.Context().Done():
			return context.Cause(stream.Context())
		}
	}))...)
	var serving sync.WaitGroup
	serving.Go(func() { _ = g.Serve(l) })
	t.Cleanup(func() {
		g.Stop()
		serving.Wait()
	})
	return l.Addr().String()
}

// client makes calls of a server.
type client struct {
	t    *testing.T
	conn *grpc.ClientConn
}

func dial(t *testing.T, creds grpcauth.Credentials, address string) client {
	t.Helper()
	options, err := creds.DialOptions("127.0.0.1", grpcauth.Portal)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := grpc.NewClient("passthrough:///"+address, options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return client{t, conn}
}

// call begins a call and returns the address that the server sees, and how it ends.
func (c client) call(method string) (from string, end <-chan error) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.t.Context()), testTimeout)
	c.t.Cleanup(cancel)
	stream, err := c.conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true}, method)
	if err != nil {
		c.t.Fatal(err)
	}
	if err := errors.Join(stream.SendMsg(&emptypb.Empty{}), stream.CloseSend()); err != nil && !errors.Is(err, io.EOF) {
		c.t.Fatal(err)
	}
	header, err := stream.Header()
	if err != nil {
		c.t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- stream.RecvMsg(&emptypb.Empty{}) }()
	if got := header.Get("from"); len(got) == 1 {
		from = got[0]
	}
	return from, ended
}

// TestAConnectionEndsWithItsCertificate, whichever side it is of, and not before.
func TestAConnectionEndsWithItsCertificate(t *testing.T) {
	t.Parallel()
	for name, short := range map[string]grpcauth.Role{"the client's": grpcauth.Router,
		"the server's": grpcauth.Portal} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ca := grpcauthtest.New(t)
			notAfter := time.Now().Add(2 * time.Second).Truncate(time.Second)
			open := func(role grpcauth.Role) grpcauth.Credentials {
				leaf := grpcauthtest.Leaf{URIs: []string{grpcauthtest.Name(role)}}
				if role == short {
					leaf.NotAfter = notAfter
				}
				c, err := grpcauth.Open(ca.Write(t.TempDir(), leaf), quiet)
				if err != nil {
					t.Fatal(err)
				}
				return grpcauth.Credentials{Certificates: c}
			}
			var log safeLog
			service := grpcauth.Service{Accepts: []grpcauth.Role{grpcauth.Router}, Endless: []string{endless}}
			address := answering(t, open(grpcauth.Portal), service, &log, nil)
			c := dial(t, open(grpcauth.Router), address)
			_, end := c.call(endless)
			err := <-end
			if at := time.Now(); err == nil || errors.Is(err, io.EOF) || at.Before(notAfter) ||
				at.After(notAfter.Add(10*time.Second)) {
				t.Errorf("the call ended with %v at %v, want that it is cut at %v", err, at, notAfter)
			}
			if short == grpcauth.Router && !strings.Contains(log.String(), "spiffe://swar/shop/hindi/router") {
				t.Errorf("the log does not say whose connection was closed: %s", log.String())
			}
			ctx, cancel := context.WithTimeout(t.Context(), testTimeout)
			defer cancel()
			if err := c.conn.Invoke(ctx, spoken, &emptypb.Empty{}, &emptypb.Empty{}); err == nil {
				t.Error("an expired certificate is good for another connection")
			}
		})
	}
}

// TestConnectionsAreMadeAnew: calls that go on for ever end without an error and go on over another connection; what
// ends by itself is not cut.
func TestConnectionsAreMadeAnew(t *testing.T) {
	t.Parallel()
	ca := grpcauthtest.New(t)
	for name, creds := range map[string][2]grpcauth.Credentials{
		"certificates": {{Certificates: ca.Open(grpcauth.Portal)}, {Certificates: ca.Open(grpcauth.Router)}},
		"a token":      {grpcauthtest.Shared(testToken), grpcauthtest.Shared(testToken)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			said := make(chan struct{})
			service := grpcauth.Service{
				Accepts: []grpcauth.Role{grpcauth.Router}, Endless: []string{endless}, Age: 50 * time.Millisecond,
			}
			c := dial(t, creds[1], answering(t, creds[0], service, io.Discard, said))
			spokenFrom, spoke := c.call(spoken)
			seen := map[string]bool{spokenFrom: true}
			for len(seen) < 4 {
				from, end := c.call(endless)
				seen[from] = true
				if err := <-end; !errors.Is(err, io.EOF) {
					t.Fatalf("an endless call ended with %v, want that it ends without an error", err)
				}
			}
			select {
			case err := <-spoke:
				t.Errorf("a call that ends by itself was cut: %v", err)
			default:
			}
			close(said)
			if err := <-spoke; !errors.Is(err, io.EOF) {
				t.Errorf("a call that ends by itself ended with %v", err)
			}
		})
	}
}

// TestLimitOfConnections: as many as may be are there, one more is closed at once, and one that ends makes room.
func TestLimitOfConnections(t *testing.T) {
	var log safeLog
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := grpcauth.LimitTo(inner, 3, 2, slog.New(slog.NewTextHandler(&log, nil)))
	accepted := make(chan net.Conn, 10)
	var accepting sync.WaitGroup
	accepting.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			accepted <- conn
		}
	})
	defer accepting.Wait()
	defer l.Close()
	// from connects, and returns what the server accepted, or nil if it closed the connection.
	from := func(address string) net.Conn {
		t.Helper()
		d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}, Timeout: testTimeout}
		conn, err := d.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		closed := make(chan struct{})
		go func() {
			defer close(closed)
			_, _ = conn.Read(make([]byte, 1))
		}()
		select {
		case mine := <-accepted:
			return mine
		case <-closed:
			return nil
		}
	}
	first := from("127.0.0.1")
	for _, tt := range []struct {
		name, address string
		ok            bool
	}{
		{"the second of an address", "127.0.0.1", true},
		{"the third of an address", "127.0.0.1", false},
		{"the third of all", "127.0.0.2", true},
		{"the fourth of all", "127.0.0.3", false},
	} {
		if got := from(tt.address) != nil; got != tt.ok {
			t.Errorf("%s is accepted: %v, want %v", tt.name, got, tt.ok)
		}
	}
	for range 2 {
		first.Close() // twice counts once
	}
	if from("127.0.0.1") == nil || from("127.0.0.1") != nil {
		t.Error("one that ended makes room for something else than one")
	}
	if n := strings.Count(log.String(), "there are too many"); n != 1 {
		t.Errorf("the log says it %d times within a minute, want once: %s", n, log.String())
	}
}
