package portal

import (
	"context"
	"errors"
	"net"

	"github.com/swar-tts/swar/portal/dataplane"
	"github.com/swar-tts/swar/portal/tenant"
	book "github.com/swar-tts/swar/portal/usage"
	"github.com/swar-tts/swar/runtime/grpcauth"
	"github.com/swar-tts/swar/runtime/metrics"
)

// Shared is a portal whose front ends are other processes. They receive keys and send usage over gRPC.
type Shared struct {
	*Portal

	listener net.Listener
	checker  *book.Checker
}

// OpenShared opens everything and starts nothing. It owns l, on which it serves routers that show valid credentials.
func OpenShared(ctx context.Context, c Config, creds grpcauth.Credentials, l net.Listener) (_ *Shared, err error) {
	p, err := Open(ctx, c)
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	dc := dataplane.ServerConfig{Credentials: creds}
	checker := book.NewChecker(owners{p.records}, book.NewRefusedFile(c.Store.Refused()), c.Log)
	server, err := dataplane.NewServer(dc, p.feed, p.records, book.NewLedger(p.records).Checked(checker), c.Log)
	if err != nil {
		return nil, errors.Join(err, l.Close(), p.Close())
	}
	p.works = append(p.works, p.feed.Run, func(ctx context.Context) error { return server.Serve(ctx, l) })
	return &Shared{p, l, checker}, nil
}

// owners looks up whose keys are.
type owners struct{ store tenant.Store }

// OwnerOf implements [book.Owners].
func (o owners) OwnerOf(ctx context.Context, id string) (owner book.Owner, err error) {
	err = o.store.View(ctx, func(r tenant.Reader) error {
		key, err := r.Key(id)
		if errors.Is(err, tenant.ErrNotFound) {
			return book.ErrNoSuchKey
		}
		owner = book.Owner{OrgID: key.OrgID, ProjectID: key.ProjectID}
		return err
	})
	return owner, err
}

// HasProject implements [book.Owners].
func (o owners) HasProject(ctx context.Context, of book.Owner) (has bool, err error) {
	err = o.store.View(ctx, func(r tenant.Reader) error {
		project, err := r.Project(of.ProjectID)
		has = err == nil && project.OrgID == of.OrgID
		if errors.Is(err, tenant.ErrNotFound) {
			return nil
		}
		return err
	})
	return has, err
}

// Close closes a portal that does not run, or no longer does.
func (s *Shared) Close() error {
	err := s.listener.Close()
	if errors.Is(err, net.ErrClosed) { // it was served on
		err = nil
	}
	return errors.Join(err, s.Portal.Close())
}

// Register lets be seen how many front ends there are, and what was refused of their usage.
func (s *Shared) Register(m *metrics.Registry) {
	m.RegisterRouters(s.feed.Followers)
	m.RegisterRefusedUsage(s.checker.Refused)
}
