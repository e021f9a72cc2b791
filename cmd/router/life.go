package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/swar-tts/swar/cmd/internal/launch"
)

// serve answers until ctx ends or a part of the router fails, and then lingers and drains.
func (r *router) serve(ctx context.Context) error {
	failed, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	// Pods, keys and watchers outlive the signal: what runs is finished with them.
	stopPods := launch.Background(ctx, func(ctx context.Context) {
		if err := r.speaker.Run(ctx); err != nil {
			fail(err)
		}
	})
	stopAccounts := func() {}
	if r.accounts != nil {
		stopAccounts = launch.Background(ctx, func(ctx context.Context) {
			if err := r.accounts.run(ctx); err != nil {
				fail(fmt.Errorf("keys and usage: %w", err))
			}
		})
	}
	stopWatch := r.startWatch(ctx, fail)
	r.servers.Start(fail)
	if r.options.portal == "" && len(r.options.keys) == 0 {
		r.log.Warn("open router: everyone who can connect may use it; --api-key or --portal-addr restrict it",
			"listen", r.address)
	}
	r.log.Info("serving",
		"listen", r.address, "portal", r.options.portal, "keys", len(r.options.keys), "zone", r.options.zone)
	stopSamples := func() {}
	if r.options.samples {
		stopSamples = launch.Background(ctx, r.samples.Run)
	}
	<-failed.Done()
	stopSamples()

	signalled := time.Now()
	err := context.Cause(failed)
	if _, asked := errors.AsType[launch.Interrupt](err); asked {
		err = nil
		r.linger()
	}
	r.leaving.Store(true)
	err = errors.Join(err, r.drain())
	stopWatch()
	stopPods()
	stopAccounts()
	if r.accounts != nil {
		r.accounts.ship(shipReach + time.Until(signalled.Add(r.options.linger+drainLimit)))
		err = errors.Join(err, r.accounts.close())
	}
	r.servers.Close() // probes and metrics were answered until now
	return err
}

// startWatch starts the load reports for autoscalers. The returned function stops them.
func (r *router) startWatch(ctx context.Context, fail context.CancelCauseFunc) (stop func()) {
	if r.watching == nil {
		return func() {}
	}
	served := launch.Background(ctx, func(context.Context) {
		if err := r.watching.Serve(r.watchers); err != nil {
			fail(fmt.Errorf("serving watchers: %w", err))
		}
	})
	return func() {
		r.watch.Close()
		r.watching.Stop()
		served()
	}
}

// linger keeps serving for a while with failing readiness and without keep-alive: load balancers learn late that the
// router stops.
func (r *router) linger() {
	r.leaving.Store(true)
	r.log.Info("lingering", "for_ms", r.options.linger.Milliseconds(), "listeners", r.api.Listeners())
	time.Sleep(r.options.linger)
}

// drain finishes running utterances and unread audio. It first stops new requests; what is needed to finish stays open.
func (r *router) drain() error {
	ctx, cancel := context.WithTimeoutCause(context.Background(), drainLimit,
		fmt.Errorf("not finished in %v", drainLimit))
	defer cancel()
	r.log.Info("draining", "listeners", r.api.Listeners(), "queued", r.speaker.Streams().Queued)
	r.api.Drain()
	var finished sync.WaitGroup
	var spoken, sockets error
	finished.Go(func() { spoken = r.speaker.Drain(ctx) })
	finished.Go(func() { sockets = r.api.Wait(ctx) })
	finished.Wait()
	rest := r.public.Shutdown(ctx)
	if rest != nil {
		rest = errors.Join(fmt.Errorf("requests cut: %w", context.Cause(ctx)), r.public.Close())
	}
	if err := errors.Join(spoken, sockets, rest, r.listener.Wait(ctx)); err != nil {
		return err
	}
	r.log.Info("drained")
	return nil
}
