package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"google.golang.org/grpc"

	"github.com/swar-tts/swar/cmd/internal/engine"
	"github.com/swar-tts/swar/cmd/internal/launch"
	"github.com/swar-tts/swar/runtime/fleet/link"
	"github.com/swar-tts/swar/runtime/grpcauth"
	"github.com/swar-tts/swar/runtime/metrics"
	"github.com/swar-tts/swar/runtime/pool"
	"github.com/swar-tts/swar/runtime/speech"
)

const (
	maxLinger  = 30 * time.Second
	drainLimit = speech.UtteranceTimeout
	stopLimit  = 5 * time.Second // for calls that are ending when the workers are idle
)

// worker is the program at work.
type worker struct {
	options *options
	log     *slog.Logger
	speaker *engine.Speaker
	link    *link.Server
	grpc    *grpc.Server
	routers net.Listener
	probes  launch.Servers
}

// run speaks until ctx ends, and then drains.
func run(ctx context.Context, p *launch.Program, o *options) (err error) {
	lines := launch.NewLogWriter(p.Err)
	w := &worker{options: o}
	if w.log, err = o.logging.Open(lines, p.Err.Terminal); err != nil {
		return err
	}
	m := metrics.New()
	m.RegisterLog(lines.Dropped)
	m.RegisterConnections(w.probes.Closed)
	flush, err := o.traces.Open(ctx, name, launch.ThisBuild(version).Version)
	if err != nil {
		return err
	}
	defer flush()
	if err := w.open(ctx, m); err != nil {
		w.probes.Close()
		if w.routers != nil {
			w.routers.Close()
		}
		if w.speaker != nil {
			err = errors.Join(err, w.speaker.Close())
		}
		return launch.Interrupted(ctx, err)
	}
	return w.serve(ctx)
}

// open opens everything and starts nothing. The listeners come first, so that a second program on the same ports fails
// before it loads a model.
func (w *worker) open(ctx context.Context, m *metrics.Registry) (err error) {
	o := w.options
	access, err := o.peers.Open(name, w.log)
	if err != nil {
		return err
	}
	if w.routers, err = launch.Listen(ctx, name, "--listen", o.listen); err != nil {
		return err
	}
	probes, err := launch.Listen(ctx, name, "--http", o.http)
	if err != nil {
		return err
	}
	w.probes.Add(launch.NewServer(w.handler(m), w.log), probes)
	onLoopback := launch.IsLoopback(ctx, w.routers.Addr().String())
	serverOptions, err := access.ServerOptions(onLoopback, w.log, grpcauth.Service{
		Accepts: []grpcauth.Role{grpcauth.Router}, Endless: link.Endless(),
	})
	if err != nil {
		return fmt.Errorf("--listen %s: %w", o.listen, err)
	}
	c := pool.Config{Workers: o.workers.Count(), QueueLen: -1} // routers have the queue
	if w.speaker, err = o.engine.OpenSpeaker(ctx, c, launch.FindMemory(), w.log); err != nil {
		return err
	}
	w.speaker.Register(m)
	config := link.ServerConfig{Version: launch.ThisBuild(version).Version, Metrics: m.RegisterPod(w.speaker.Capacity)}
	w.link = link.NewServer(config, w.speaker, w.speaker.Pool(), w.log)
	w.grpc = grpc.NewServer(append(link.ServerOptions(), serverOptions...)...)
	w.link.Register(w.grpc)
	return nil
}

// serve speaks until ctx ends or a part of it fails, and then drains.
func (w *worker) serve(ctx context.Context) error {
	failed, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	w.probes.Start(fail)
	begun := time.Now()
	stopWorkers := launch.Background(ctx, func(ctx context.Context) {
		if err := w.speaker.Run(ctx); err != nil {
			fail(fmt.Errorf("starting the workers: %w", err))
		}
	})
	stopLink := launch.Background(ctx, w.link.Run)
	stopRouters := launch.Background(ctx, func(context.Context) {
		if err := w.grpc.Serve(grpcauth.Limit(w.routers, w.log)); err != nil {
			fail(fmt.Errorf("serving routers: %w", err))
		}
	})
	w.log.Info("warming up", "listen", w.routers.Addr().String(), "workers", w.options.workers.Count(),
		"model", w.speaker.Model().ID)
	if w.speaker.Pool().WaitReady(failed) == nil {
		w.log.Info("ready", "listen", w.routers.Addr().String(), "took_ms", time.Since(begun).Milliseconds())
		<-failed.Done()
	}
	err := context.Cause(failed)
	if _, asked := errors.AsType[launch.Interrupt](err); asked {
		err = nil
		w.linger()
	}
	err = errors.Join(err, w.drain())
	stopLink() // which ends the links; then only utterances are left, whose last words are on their way
	hard := time.AfterFunc(stopLimit, w.grpc.Stop)
	w.grpc.GracefulStop()
	hard.Stop()
	stopRouters()
	stopWorkers()
	w.probes.Close()
	return err
}

// linger accepts utterances until a router has another pod, or the time is over: a fleet of one pod is not silent while
// its node is drained. A pod that is cordoned does not linger.
func (w *worker) linger() {
	if w.options.linger == 0 || w.speaker.Ready() != nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), w.options.linger)
	defer cancel()
	w.log.Info("terminating; accepting utterances until another pod is ready",
		"limit_ms", w.options.linger.Milliseconds())
	w.link.AwaitCordon(ctx)
}

// drain finishes running utterances. Routers see it at once, and send no more.
func (w *worker) drain() error {
	ctx, cancel := context.WithTimeoutCause(context.Background(), drainLimit,
		fmt.Errorf("not finished in %v", drainLimit))
	defer cancel()
	w.log.Info("draining", "busy", w.speaker.Capacity().Busy)
	if err := w.speaker.Pool().Drain(ctx); err != nil {
		return err
	}
	w.log.Info("drained")
	return nil
}

// handler answers probes and metrics.
func (w *worker) handler(m *metrics.Registry) http.Handler {
	return launch.Probes(m.Handler(), func() error {
		if w.link.Cordoned() {
			return errors.New("cordoned")
		}
		return w.speaker.Ready()
	})
}
