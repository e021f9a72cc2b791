package wyoming

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/swar-tts/swar/runtime/speech"
)

// The sizes of a server.
const (
	maxConns  = 64
	maxTurns  = 32               // of a connection that have not ended
	writeTime = 30 * time.Second // for which a client may take nothing
)

// Config configures a server.
type Config struct {
	Speech  Speech       // required
	Version string       // of the program
	Log     *slog.Logger // required
}

// Server answers clients of the protocol. Its methods are safe for concurrent use.
type Server struct {
	cfg Config

	mu       sync.Mutex
	open     map[*conn]struct{}
	draining bool
	running  sync.WaitGroup
}

// New returns a server; it starts nothing.
func New(cfg Config) *Server { return &Server{cfg: cfg, open: map[*conn]struct{}{}} }

// errDraining ends connections that are idle while the server goes away.
var errDraining = errors.New("the server is going away")

// Serve serves the connections of l until l is closed or ctx ends. It returns when all of them have ended. Whatever
// is spoken when ctx ends is cut.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	defer s.running.Wait()
	defer context.AfterFunc(ctx, func() { _ = l.Close() })()
	for pause := time.Duration(0); ; {
		c, err := l.Accept()
		switch {
		case err == nil:
			pause = 0
			s.take(ctx, c)
		case errors.Is(err, net.ErrClosed):
			return nil
		default: // no file descriptors, maybe
			pause = min(max(2*pause, 5*time.Millisecond), time.Second)
			s.cfg.Log.Warn("accepting a Wyoming connection", "error", err, "retry", pause)
			select {
			case <-time.After(pause):
			case <-ctx.Done():
			}
		}
	}
}

// Drain ends idle connections now and the others when they have been spoken to. The listener is closed by the caller.
func (s *Server) Drain() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.draining = true
	for c := range s.open {
		c.drain()
	}
}

// take answers a connection, unless there are too many.
func (s *Server) take(ctx context.Context, n net.Conn) {
	c := newConn(s, n)
	s.mu.Lock()
	isFull, isDraining := len(s.open) >= maxConns, s.draining
	if !isFull && !isDraining {
		s.open[c] = struct{}{}
	}
	s.mu.Unlock()
	s.running.Go(func() {
		switch {
		case isDraining:
			_ = n.Close()
		case isFull:
			c.refuse(&Error{"busy", speech.ErrBusy.Error() + ": too many connections"})
		default:
			c.run(ctx)
			s.mu.Lock()
			delete(s.open, c)
			s.mu.Unlock()
		}
	})
}
