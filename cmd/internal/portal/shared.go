package portal

import (
	"context"
	"errors"
	"net"

	"github.com/swar-tts/swar/portal/dataplane"
	book "github.com/swar-tts/swar/portal/usage"
	"github.com/swar-tts/swar/runtime/grpcauth"
	"github.com/swar-tts/swar/runtime/metrics"
)

// Shared is a portal whose front ends are other processes: it tells them the keys and takes their usage in over gRPC.
type Shared struct {
	*Portal

	listener net.Listener
}

// OpenShared opens everything and starts nothing. It takes l over, on which it answers those who show credentials of a
// router.
func OpenShared(ctx context.Context, c Config, creds grpcauth.Credentials, l net.Listener) (_ *Shared, err error) {
	p, err := Open(ctx, c)
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	dc := dataplane.ServerConfig{Credentials: creds}
	server, err := dataplane.NewServer(dc, p.feed, p.records, book.NewLedger(p.records), c.Log)
	if err != nil {
		return nil, errors.Join(err, l.Close(), p.Close())
	}
	p.works = append(p.works, p.feed.Run, func(ctx context.Context) error { return server.Serve(ctx, l) })
	return &Shared{p, l}, nil
}

// Close closes a portal that does not run, or no longer does.
func (s *Shared) Close() error {
	err := s.listener.Close()
	if errors.Is(err, net.ErrClosed) { // it was served on
		err = nil
	}
	return errors.Join(err, s.Portal.Close())
}

// Register lets be seen how many front ends there are.
func (s *Shared) Register(m *metrics.Registry) { m.RegisterRouters(s.feed.Followers) }
