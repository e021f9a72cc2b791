package dataplane

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/protoadapt"

	"github.com/swar-tts/swar/portal/tenant"
	"github.com/swar-tts/swar/runtime/dataplane/wire"
	"github.com/swar-tts/swar/runtime/grpcauth"
	"github.com/swar-tts/swar/runtime/meter"
)

const (
	defaultHeartbeat = time.Second
	keysAtOnce       = 500             // in one message: about 100 kB
	stopLimit        = 5 * time.Second // for calls that run when the server ends

	maxMessage = 4 << 20 // bytes; 500 events, which is a batch, are 200 kB
	maxCalls   = 64      // of one router at the same time, which makes four
)

// ServerConfig says who may connect, and how.
type ServerConfig struct {
	Credentials grpcauth.Credentials // of this process, and what routers must show; required
	Heartbeat   time.Duration        // how often a client gets a message; 0 means 1 s
	Age         time.Duration        // after which connections are made anew; 0 means 10 min
}

// Server is the portal's side of the dataplane.
type Server struct {
	wire.UnimplementedDataplaneServer
	cfg   ServerConfig
	feed  *Feed
	store tenant.Store
	usage meter.Sink
	log   *slog.Logger
	ended chan struct{} // closed when Serve ends
}

// NewServer checks cfg and returns a server of feed. It writes last uses to store and usage to the ledger. It starts
// nothing; the caller runs the feed.
func NewServer(cfg ServerConfig, feed *Feed, store tenant.Store, usage meter.Sink, log *slog.Logger) (*Server, error) {
	if err := cfg.Credentials.Check(); err != nil {
		return nil, fmt.Errorf("dataplane: %w", err)
	}
	if cfg.Heartbeat == 0 {
		cfg.Heartbeat = defaultHeartbeat
	}
	return &Server{cfg: cfg, feed: feed, store: store, usage: usage, log: log, ended: make(chan struct{})}, nil
}

// Serve answers on l until ctx ends, and returns nil then. It closes l. A server serves once.
func (s *Server) Serve(ctx context.Context, l net.Listener) error { return s.serve(ctx, l, s) }

// serve registers service, which is s, or a wrapper in tests.
func (s *Server) serve(ctx context.Context, l net.Listener, service wire.DataplaneServer) error {
	host, _, err := net.SplitHostPort(l.Addr().String())
	onLoopback := err != nil || grpcauth.IsLoopback(host) // an address without a port is a socket in the file system
	options, err := s.cfg.Credentials.ServerOptions(onLoopback, s.log, grpcauth.Service{
		Accepts: []grpcauth.Role{grpcauth.Router}, Endless: []string{wire.Dataplane_Keys_FullMethodName},
		Ping: 10 * time.Second, Age: s.cfg.Age,
	})
	if err != nil {
		l.Close()
		return fmt.Errorf("dataplane: %w", err)
	}
	g := grpc.NewServer(append(options, grpc.MaxRecvMsgSize(maxMessage), grpc.MaxConcurrentStreams(maxCalls))...)
	wire.RegisterDataplaneServer(g, service)
	stopped := make(chan struct{})
	stopAfter := context.AfterFunc(ctx, func() {
		defer close(stopped)
		close(s.ended) // streams of keys would not end by themselves
		hard := time.AfterFunc(stopLimit, g.Stop)
		defer hard.Stop()
		g.GracefulStop()
	})
	err = g.Serve(grpcauth.Limit(l, s.log))
	if stopAfter() {
		g.Stop() // it was l that failed
		return fmt.Errorf("dataplane: %w", err)
	}
	<-stopped
	return nil
}

// Keys implements the service.
func (s *Server) Keys(hello *wire.KeysRequest, stream grpc.ServerStreamingServer[wire.KeysUpdate]) error {
	ctx, end := context.WithCancelCause(stream.Context())
	defer end(nil)
	go func() {
		select {
		case <-s.ended:
			end(errGoing)
		case <-ctx.Done():
		}
	}()
	var id uint64 // no follower
	if hello.Acknowledges {
		self := s.feed.follow(callerOf(ctx))
		defer s.feed.unfollow(self)
		id = self.id
	}
	r := reader{feed: s.feed, at: wire.Position{Epoch: hello.Epoch, Sequence: hello.Sequence}}
	for {
		quiet, cancel := context.WithTimeout(ctx, s.cfg.Heartbeat)
		u, err := r.next(quiet)
		cancel()
		switch {
		case err == nil:
		case ctx.Err() == nil: // nothing new, which is news too
			u = wire.Update{Position: r.at, Stale: !r.reported || r.stale}
		default:
			return err
		}
		if err := send(stream, u, id); err != nil {
			return err
		}
	}
}

var errGoing = status.Error(codes.Unavailable, "the portal is going away")

// send sends u, which the follower of that id is to acknowledge, in pieces that are not too large for one message.
func send(stream grpc.ServerStreamingServer[wire.KeysUpdate], u wire.Update, follower uint64) error {
	for _, l := range u.Lexicons { // each in one message: a large one is 0.6 MB
		w := &wire.KeysUpdate{
			Epoch: u.Epoch, Sequence: u.Sequence, More: true, Follower: follower,
			Lexicons: []*wire.Lexicon{wire.NewLexicon(l)},
		}
		if err := stream.Send(w); err != nil {
			return err
		}
	}
	for {
		now := u.Keys[:min(len(u.Keys), keysAtOnce)]
		u.Keys = u.Keys[len(now):]
		w := &wire.KeysUpdate{
			Epoch: u.Epoch, Sequence: u.Sequence, Full: u.Full, More: len(u.Keys) > 0, Stale: u.Stale,
			Follower:    follower,
			AllLexicons: u.AllLexicons,
			Keys:        make([]*wire.Key, len(now)),
		}
		for i := range now {
			w.Keys[i] = wire.NewKey(now[i])
		}
		if err := stream.Send(w); err != nil || !w.More {
			return err
		}
	}
}

// Acknowledge implements the service.
func (s *Server) Acknowledge(_ context.Context, w *wire.AcknowledgeRequest) (*wire.AcknowledgeReply, error) {
	s.feed.acknowledge(w.Follower, wire.Position{Epoch: w.Epoch, Sequence: w.Sequence})
	return &wire.AcknowledgeReply{}, nil
}

// Report implements the service.
func (s *Server) Report(ctx context.Context, w *wire.UsageBatch) (*wire.ReportReply, error) {
	err := s.usage.Send(ctx, w.Batch())
	if gap, ok := errors.AsType[*meter.GapError](err); ok {
		return nil, refusal(gap, &wire.Gap{Want: gap.Want, Copies: gap.Copies})
	}
	if fork, ok := errors.AsType[*meter.ForkError](err); ok {
		return nil, refusal(fork, &wire.Fork{Seq: fork.Seq})
	}
	if err != nil {
		return nil, s.failure(ctx, "taking usage in", err)
	}
	return &wire.ReportReply{}, nil
}

// refusal is the answer to a batch that its client must change.
func refusal(err error, detail protoadapt.MessageV1) error {
	s, failed := status.New(codes.FailedPrecondition, err.Error()).WithDetails(detail)
	if failed != nil {
		return failed
	}
	return s.Err()
}

// Touch implements the service. A time from the future, of a client whose clock is wrong, would stay the latest one
// for long: it counts as now.
func (s *Server) Touch(ctx context.Context, w *wire.TouchRequest) (*wire.TouchReply, error) {
	now := time.Now()
	used := make(map[string]time.Time, len(w.Used))
	for id, at := range w.Used {
		t := wire.TimeOf(at)
		if t.After(now) {
			t = now
		}
		used[id] = t
	}
	if err := s.store.Touch(ctx, used); err != nil {
		return nil, s.failure(ctx, "noting the last uses of keys", err)
	}
	return &wire.TouchReply{}, nil
}

// failure returns the error for a client: it is the portal's fault, and is logged. The client will retry.
func (s *Server) failure(ctx context.Context, doing string, err error) error {
	if ctx.Err() != nil {
		return status.FromContextError(ctx.Err()).Err()
	}
	return status.Errorf(codes.Unavailable, "%s: %v", doing, err)
}

// callerOf returns the address of a caller.
func callerOf(ctx context.Context) string {
	if p, ok := peer.FromContext(ctx); ok {
		return p.Addr.String()
	}
	return "unknown"
}
