package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/swar-tts/swar/cmd/internal/engine"
	"github.com/swar-tts/swar/cmd/internal/launch"
	"github.com/swar-tts/swar/cmd/internal/portal"
	"github.com/swar-tts/swar/runtime/sample"
	"github.com/swar-tts/swar/runtime/serve"
)

// site is a server at work.
type site struct {
	app      *app
	options  *serving
	address  string // that it listens on
	log      *slog.Logger
	speaker  *engine.Speaker
	portal   *portal.Local // nil without
	samples  *sample.Samples
	api      *serve.Server
	wyoming  *wyomingSite    // nil without
	http     *http.Server    // the API, and the portal beside it
	listener *serve.Listener // of http
	servers  launch.Servers
}

// errPortalEnded stops a server whose portal has failed: nothing would be counted any more.
var errPortalEnded = errors.New("the portal has ended")

// serve runs until ctx ends, and then drains.
func (a *app) serve(ctx context.Context, o *serving) error {
	listener, err := launch.Listen(ctx, serveCommand, "--listen", o.listen)
	if err != nil {
		return err
	}
	s := &site{app: a, options: o, address: listener.Addr().String()}
	if err := s.assemble(ctx); err != nil {
		listener.Close()
		return launch.Interrupted(ctx, err)
	}
	s.listener = serve.WrapListener(listener)
	s.servers.Add(s.http, s.listener)
	return s.run(ctx)
}

// run serves until ctx ends or a part of the server fails, and then drains.
func (s *site) run(ctx context.Context) error {
	failed, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	s.servers.Start(fail)
	if s.options.engine.Neural() { // the other engine is there at once
		s.printf("warming up %s", launch.Plural(s.options.workers.Count(), "worker"))
	}

	// The workers outlive the signal: what runs is finished with them. The portal outlives the workers: it counts
	// what they have spoken.
	begun := time.Now()
	stopWorkers := launch.Background(ctx, func(ctx context.Context) {
		if err := s.speaker.Run(ctx); err != nil {
			fail(fmt.Errorf("starting the workers: %w", err))
		}
	})
	stopPortal := func() {}
	var portalErr error
	if s.portal != nil {
		stopPortal = launch.Background(ctx, func(ctx context.Context) {
			portalErr = errors.Join(s.portal.Run(ctx), s.portal.Close())
			fail(errPortalEnded)
		})
	}
	drainWyoming := func(context.Context) {}
	if s.ready(failed) == nil {
		drainWyoming = s.wyoming.start(ctx)
		stopSamples := launch.Background(failed, s.samples.Run)
		if err := s.announce(ctx, time.Since(begun)); err != nil {
			fail(err)
		}
		<-failed.Done()
		stopSamples()
	}

	err := context.Cause(failed)
	if _, asked := errors.AsType[launch.Interrupt](err); asked || errors.Is(err, errPortalEnded) {
		err = nil // why the portal has ended it says below
	}
	err = errors.Join(err, s.drain(drainWyoming))
	stopWorkers()
	stopPortal()
	s.servers.Close() // metrics and profiles live until now
	return errors.Join(err, portalErr)
}

// ready waits until every worker is warm and every key is known.
func (s *site) ready(ctx context.Context) error {
	if err := s.speaker.Pool().WaitReady(ctx); err != nil || s.portal == nil {
		return err
	}
	select {
	case <-s.portal.Keys().Ready():
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// printf prints a line for the user.
func (s *site) printf(format string, args ...any) {
	if s.proseAllowed() {
		fmt.Fprintf(s.app.Err, name+": "+format+"\n", args...)
	}
}

// proseAllowed reports whether standard error may hold more than the log: not when a program was promised JSON.
func (s *site) proseAllowed() bool { return s.app.Err.Terminal || !s.options.logging.OnlyJSON() }
