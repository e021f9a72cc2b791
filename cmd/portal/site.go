package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"time"

	"github.com/swar-tts/swar/cmd/internal/launch"
	"github.com/swar-tts/swar/cmd/internal/portal"
	"github.com/swar-tts/swar/portal/web"
	"github.com/swar-tts/swar/runtime/answer"
	"github.com/swar-tts/swar/runtime/metrics"
	api "github.com/swar-tts/swar/runtime/serve"
)

// stopLimit is for requests that run when the server is to stop. The slowest is a report of a year's usage.
const stopLimit = 30 * time.Second

// site is a portal at work.
type site struct {
	program *launch.Program
	options *options
	log     *slog.Logger
	portal  *portal.Shared
	probes  probes
	http    *http.Server   // the API
	servers launch.Servers // the API and the probes

	addresses []any // that are listened on, for the log
}

// serve runs until ctx ends, and then finishes running requests.
func serve(ctx context.Context, p *launch.Program, o *options) (err error) {
	s := &site{program: p, options: o}
	lines := launch.NewLogWriter(p.Err)
	if s.log, err = o.logging.Open(lines, p.Err.Terminal); err != nil {
		return err
	}
	m := metrics.New()
	m.RegisterLog(lines.Dropped)
	m.RegisterConnections(s.servers.Closed)
	if err := s.assemble(ctx, m); err != nil {
		s.servers.Close()
		if s.portal != nil {
			err = errors.Join(err, s.portal.Close())
		}
		return launch.Interrupted(ctx, err)
	}
	return s.run(ctx)
}

// assemble builds everything and starts nothing.
func (s *site) assemble(ctx context.Context, m *metrics.Registry) error {
	o := s.options
	creds, err := o.peers.Open(name, s.log)
	if err != nil {
		return err
	}
	listener, err := launch.Listen(ctx, name, "--listen", o.listen)
	if err != nil {
		return err
	}
	s.http = launch.NewServer(nil, s.log)
	s.servers.Add(s.http, api.WrapListener(listener))
	probes, err := launch.Listen(ctx, name, "--http", o.probes)
	if err != nil {
		return err
	}
	s.servers.Add(launch.NewServer(s.probes.handler(m), s.log), probes)
	dataplane, err := launch.Listen(ctx, name, "--dataplane", o.dataplane)
	if err != nil {
		return err
	}
	s.addresses = []any{
		"listen", listener.Addr().String(), "dataplane", dataplane.Addr().String(), "http", probes.Addr().String(),
	}
	c := portal.Config{Store: o.store, SignIn: o.signIn, Model: o.fleetModel, Log: s.log}
	if s.portal, err = portal.OpenShared(ctx, c, creds, dataplane); err != nil {
		return err
	}
	s.probes.check = s.portal.Check
	s.portal.Register(m)
	s.http.Handler, err = s.handler(ctx, listener, m)
	return err
}

// handler answers for the API.
func (s *site) handler(ctx context.Context, l net.Listener, m *metrics.Registry) (http.Handler, error) {
	trusted := s.options.proxies.Trusted()
	ways, err := s.portal.Handler(ctx, portal.Site{
		Address:  l.Addr().String(),
		ClientIP: func(r *http.Request) netip.Addr { return api.ClientIP(r, trusted) },
		Mails:    s.mails(), Metrics: m, Version: launch.ThisBuild(version).Version, Pages: web.Built() != nil,
	})
	if err != nil {
		return nil, err
	}
	h, err := web.Wrap(api.Descriptions(ways.Wrap(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		answer.Refuse(w, answer.Failure{
			Status: http.StatusNotFound, Code: "not_found",
			Text: "this is the portal, which serves /portal/v1; routers serve speech",
		})
	}))), web.Program{
		API: s.options.apiURL, Voices: func() []string { return s.options.voices }, Portal: true, Keys: true,
		Connect: ways.Origins, Public: ways.PublicURL(),
	})
	if err != nil {
		return nil, fmt.Errorf("--api-url: %w", err)
	}
	return h, nil
}

// mails is where mails are printed on a loopback address: where people see them, and not in the log.
func (s *site) mails() *launch.Screen {
	if s.program.Err.Terminal {
		return s.program.Err
	}
	return s.program.Out
}

// run serves until ctx ends or a part fails. Then readiness fails, requests finish, and only then the links to routers
// and the store close.
func (s *site) run(ctx context.Context) error {
	failed, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	working, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	ended := make(chan error, 1)
	go func() {
		err := s.portal.Run(working)
		fail(err)
		ended <- err
	}()
	s.servers.Start(fail)
	s.log.Info("ready", append(s.addresses, "model", s.options.model, "data", s.options.store.Data)...)
	<-failed.Done()

	err := context.Cause(failed)
	if _, asked := errors.AsType[launch.Interrupt](err); asked {
		s.log.Info("stopping")
		err = nil
	}
	s.probes.stop()
	err = errors.Join(err, s.finish())
	stop()
	if portalErr := <-ended; !errors.Is(err, portalErr) {
		err = errors.Join(err, portalErr)
	}
	err = errors.Join(err, s.portal.Close())
	s.servers.Close()
	if err == nil {
		s.log.Info("stopped")
	}
	return err
}

// finish lets running requests end, and takes no new ones.
func (s *site) finish() error {
	ctx, cancel := context.WithTimeoutCause(context.Background(), stopLimit,
		fmt.Errorf("not finished in %v", stopLimit))
	defer cancel()
	if err := s.http.Shutdown(ctx); err != nil {
		return fmt.Errorf("requests cut: %w", context.Cause(ctx))
	}
	return nil
}
