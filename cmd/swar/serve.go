package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/swar-tts/swar/cmd/internal/engine"
	"github.com/swar-tts/swar/cmd/internal/launch"
	"github.com/swar-tts/swar/cmd/internal/portal"
	"github.com/swar-tts/swar/runtime/access"
	"github.com/swar-tts/swar/runtime/metrics"
	"github.com/swar-tts/swar/runtime/pool"
	"github.com/swar-tts/swar/runtime/serve"
)

const (
	defaultListen = "127.0.0.1:8080"
	drainLimit    = 120 * time.Second // the longest utterance
)

// serving is the settings of `swar serve`.
type serving struct {
	listen  string
	open    bool
	keys    []string
	workers engine.WorkerFlags
	queue   int
	spool   *int64 // bytes
	pprof   string
	metrics string
	logging launch.LogFlags
	engine  engine.Flags
	portal  *string
	store   portal.StoreFlags
	signIn  portal.SignInFlags
	proxies []string
	trusted []netip.Prefix // of proxies
}

func (a *app) serveCommand() *cobra.Command {
	var o serving
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Start the server",
		Long: `Serves the API on one address until SIGINT or SIGTERM. The first signal drains: no new utterances, and running ones are finished, for at
most two minutes. A second one stops at once.

The portal keeps organisations, keys, usage and bills in the folder --data. The first start prints a key, once; swar keys makes more.

With --portal off only the keys of --api-key are good, and without any the server is open to everybody who reaches it. On an address that
other machines reach that must be asked for with --open. Each --api-key is KEY, or KEY=voice,voice to allow only some voices; nobody is
billed for it. In SWAR_API_KEY white space separates several of them, and the process list does not show it.`,
		Example: `  swar serve
  swar serve --bundle hindi-int8
  swar serve --listen :8080 --data /var/lib/swar
  SWAR_API_KEY='secret1 secret2=raj,anjura' swar serve --portal off --listen :8080 --log-format json`,
		Args: launch.Exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.check(cmd, launch.FindCPUs()); err != nil {
				return err
			}
			return a.serve(cmd.Context(), &o)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&o.listen, "listen", defaultListen, "serve on this `address`")
	f.StringArrayVar(&o.keys, "api-key", nil, "API key, `KEY` or KEY=voice,voice; can be repeated")
	f.BoolVar(&o.open, "open", false, "allow everybody to use a server without keys that other machines reach")
	o.workers.Define(f)
	f.IntVar(&o.queue, "queue", 8, "let `n` utterances wait for a worker, for 2 s at most; 0 means none")
	o.engine.DefineCache(f)
	o.spool = launch.Size(f, "spool", 256<<20,
		"let so much audio wait for clients that listen, all together, so that workers need not; 0 means none")
	o.logging.Define(f)
	f.StringVar(&o.metrics, "metrics-listen", "", "serve /metrics on this `address` instead of the main one")
	f.StringVar(&o.pprof, "pprof", "", "serve profiles on this loopback `address`")
	o.engine.Define(f)
	o.portal = launch.Choice(f, "portal", "organisations, keys, usage and bills", "on", "off")
	o.store.Define(f)
	o.signIn.Define(f)
	f.StringArrayVar(&o.proxies, "trust-proxy", nil, "`network` of reverse proxies before this server, such as 10.0.0.0/8, whose X-Forwarded-For is believed; can be repeated")
	return cmd
}

// check refuses settings that cannot be meant, and fills in what depends on others.
func (o *serving) check(cmd *cobra.Command, cpus launch.CPUs) error {
	if err := errors.Join(o.engine.Check(cmd), o.workers.Check(cmd, cpus)); err != nil {
		return err
	}
	if o.withPortal() {
		if err := errors.Join(o.store.Check(cmd), o.signIn.Check(cmd)); err != nil {
			return err
		}
	}
	for _, text := range o.proxies {
		network, err := netip.ParsePrefix(text)
		if err != nil {
			return launch.BadUsage(cmd, "--trust-proxy %q: want a network such as 10.0.0.0/8", text)
		}
		o.trusted = append(o.trusted, network)
	}
	for flag, address := range map[string]string{"--listen": o.listen, "--metrics-listen": o.metrics, "--pprof": o.pprof} {
		if address == "" && flag != "--listen" {
			continue
		}
		if err := launch.CheckAddress(cmd, flag, address); err != nil {
			return err
		}
	}
	switch {
	case o.open && o.withPortal():
		return launch.BadUsage(cmd, "--open needs --portal off: a server with the portal is never open")
	case o.open && len(o.keys) > 0:
		return launch.BadUsage(cmd, "--open and --api-key contradict each other; drop one of them")
	case o.queue < 0:
		return launch.BadUsage(cmd, "--queue %d: want 0 or more", o.queue)
	case o.pprof != "" && !launch.IsLoopback(cmd.Context(), o.pprof):
		return launch.BadUsage(cmd, "--pprof %s: profiles tell what is spoken, so that only a loopback address such as 127.0.0.1:6060 is allowed", o.pprof)
	case !o.withPortal() && len(o.keys) == 0 && !o.open && !launch.IsLoopback(cmd.Context(), o.listen):
		return launch.BadUsage(cmd, "--listen %s is reached by other machines; give an --api-key, or --open to let everybody use it", o.listen)
	}
	return nil
}

func (o *serving) withPortal() bool { return *o.portal == "on" }

// wantsKey reports whether nobody may use the server without a key.
func (o *serving) wantsKey() bool { return o.withPortal() || len(o.keys) > 0 }

// site is a server at work.
type site struct {
	app     *app
	options *serving
	log     *slog.Logger
	local   *engine.Speaker
	portal  *portal.Local // nil without
	metrics *metrics.Registry
	api     *serve.Server
	http    *http.Server // the API
	servers launch.Servers
}

// errPortalEnded stops a server whose portal has failed: nothing would be counted any more.
var errPortalEnded = errors.New("the portal has ended")

// serve runs until ctx ends, and then drains.
func (a *app) serve(ctx context.Context, o *serving) error {
	listener, err := launch.Listen(ctx, "swar serve", "--listen", o.listen)
	if err != nil {
		return err
	}
	s := &site{app: a, options: o}
	if err := s.assemble(ctx, listener.Addr().String()); err != nil {
		listener.Close()
		return launch.Interrupted(ctx, err)
	}
	s.servers.Add(s.http, serve.WrapListener(listener))
	if err := s.addAdmin(ctx); err != nil {
		s.servers.Close()
		return errors.Join(err, s.release())
	}
	failed, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	s.servers.Start(fail)
	if o.engine.Neural() { // the other engine is there at once
		s.say("warming up %s", launch.Plural(o.workers.Count(), "worker"))
	}

	// The workers outlive the signal: what runs is finished with them. The portal outlives the workers: it counts what they have spoken.
	speaking, stopSpeaking := context.WithCancel(context.WithoutCancel(ctx))
	defer stopSpeaking()
	keeping, stopKeeping := context.WithCancel(context.WithoutCancel(ctx))
	defer stopKeeping()
	begun := time.Now()
	var spoken, kept sync.WaitGroup
	var keepErr error
	spoken.Go(func() {
		if err := s.local.Run(speaking); err != nil {
			fail(fmt.Errorf("starting the workers: %w", err))
		}
	})
	if s.portal != nil {
		kept.Go(func() {
			keepErr = errors.Join(s.portal.Run(keeping), s.portal.Close())
			fail(errPortalEnded)
		})
	}
	if s.ready(failed) == nil {
		if err := s.announce(ctx, listener.Addr().String(), time.Since(begun)); err != nil {
			fail(err)
		}
		<-failed.Done()
	}

	err = context.Cause(failed)
	if _, asked := errors.AsType[launch.Interrupt](err); asked || errors.Is(err, errPortalEnded) {
		err = nil // why the portal has ended it says below
	}
	err = errors.Join(err, s.drain())
	stopSpeaking()
	spoken.Wait()
	stopKeeping()
	kept.Wait()
	s.servers.Close() // metrics and profiles live until now
	return errors.Join(err, keepErr)
}

// ready waits until every worker is warm and every key is known.
func (s *site) ready(ctx context.Context) error {
	if err := s.local.Pool().WaitReady(ctx); err != nil || s.portal == nil {
		return err
	}
	select {
	case <-s.portal.Keys().Ready():
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// release closes what assemble has opened and nothing has started.
func (s *site) release() error {
	if s.portal == nil {
		return nil
	}
	return s.portal.Close()
}

// assemble builds everything and starts nothing. address is what the server listens on.
func (s *site) assemble(ctx context.Context, address string) (err error) {
	o := s.options
	lines := launch.NewLogWriter(s.app.Err)
	if s.log, err = o.logging.Open(lines, s.app.Err.Terminal); err != nil {
		return err
	}
	queue := o.queue
	if queue == 0 {
		queue = -1 // which means none; 0 is the default
	}
	workers := pool.Config{Workers: o.workers.Count(), QueueLen: queue}
	if s.local, err = o.engine.OpenSpeaker(ctx, workers, launch.FindMemory(), s.log); err != nil {
		return err
	}
	s.local.WarnOfSpool(*o.spool, launch.FindMemory(), s.log)
	m := metrics.New()
	s.metrics = m
	s.local.Register(m)
	m.RegisterLog(lines.Lost)
	c := serve.Config{
		Speaker: s.local, Metrics: m.RegisterAPI(metrics.StreamsOf(s.local.Capacity)), Log: s.log, Version: thisBuild().Version,
		TrustProxies: o.trusted, Spool: *o.spool,
	}
	if c.Spool == 0 {
		c.Spool = -1 // which means none; 0 is the default
	}
	var static *access.Static
	if len(o.keys) > 0 {
		if static, err = access.NewStatic(o.keys, s.voices()); err != nil {
			return &launch.UsageError{Command: "swar serve", Err: err}
		}
	}
	switch {
	case o.withPortal():
		s.portal, err = portal.OpenLocal(ctx, portal.Config{Store: o.store, SignIn: o.signIn, Model: s.local.Model(), Log: s.log})
		if err != nil {
			return err
		}
		defer func() {
			if err != nil {
				err = errors.Join(err, s.release())
			}
		}()
		c.Keys, c.Meter = access.NewGuard(s.portal.Keyring(static)), s.portal.Recorder()
		c.Ready = s.portal.Keys().Check
		if static != nil {
			s.log.Warn("the keys of --api-key are good beside those of the portal, and nobody is billed for them", "keys", len(o.keys))
		}
	case static != nil:
		c.Keys = access.NewGuard(static)
	default:
		s.log.Warn("open server: everybody who reaches it may use it; --api-key restricts it", "listen", o.listen)
	}
	if s.api, err = serve.New(c); err != nil {
		return err
	}
	ways := portal.Off()
	if s.portal != nil {
		s.portal.Register(m)
		site := portal.Site{Address: address, ClientIP: s.api.ClientIP, Mails: s.secrets(), Metrics: m}
		if ways, err = s.portal.Handler(ctx, site); err != nil {
			return err
		}
	}
	handler := ways.Beside(s.api)
	if o.metrics != "" {
		handler = without("/metrics", handler)
	}
	s.http = launch.NewServer(handler, s.log)
	return nil
}

func (s *site) voices() []string {
	var names []string
	for _, v := range s.local.Model().Voices {
		names = append(names, v.Name)
	}
	return names
}

// addAdmin opens the addresses where metrics and profiles are, apart from the API.
func (s *site) addAdmin(ctx context.Context) error {
	add := func(flag, address string, h http.Handler) error {
		if address == "" {
			return nil
		}
		l, err := launch.Listen(ctx, "swar serve", flag, address)
		if err == nil {
			s.servers.Add(launch.NewServer(h, s.log), l)
		}
		return err
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", s.metrics.Handler())
	if err := add("--metrics-listen", s.options.metrics, mux); err != nil {
		return err
	}
	return add("--pprof", s.options.pprof, profiles())
}

// drain finishes what is being spoken. First nothing new is let in; what is needed to finish stays.
func (s *site) drain() error {
	ctx, cancel := context.WithTimeoutCause(context.Background(), drainLimit, fmt.Errorf("not finished in %v", drainLimit))
	defer cancel()
	c := s.local.Capacity()
	s.log.Info("draining", "busy", c.Busy, "queued", c.Queued, "listeners", s.api.Listeners())
	stop := s.showDraining()
	defer stop()

	s.api.Drain()
	var finished sync.WaitGroup
	var spoken, sockets error
	finished.Go(func() { spoken = s.local.Pool().Drain(ctx) })
	finished.Go(func() { sockets = s.api.Wait(ctx) })
	finished.Wait()
	// Only now the listener: probes and metrics were answered until here.
	rest := s.http.Shutdown(ctx)
	if rest != nil {
		rest = errors.Join(fmt.Errorf("requests cut: %w", context.Cause(ctx)), s.http.Close())
	}
	if err := errors.Join(spoken, sockets, rest); err != nil {
		return err
	}
	s.log.Info("drained")
	return nil
}

// showDraining tells people what is waited for, whenever it changes. The returned function ends that.
func (s *site) showDraining() (stop func()) {
	done := make(chan struct{})
	var showing sync.WaitGroup
	showing.Go(func() {
		t := time.NewTicker(250 * time.Millisecond)
		defer t.Stop()
		shown := -1
		for {
			// Who is spoken to listens.
			if left := s.api.Listeners() + s.local.Capacity().Queued; left != shown && left > 0 {
				shown = left
				s.say("finishing %s; a second signal stops at once", launch.Plural(left, "utterance"))
			}
			select {
			case <-t.C:
			case <-done:
				return
			}
		}
	})
	return func() {
		close(done)
		showing.Wait()
	}
}

// say tells people what happens.
func (s *site) say(format string, args ...any) {
	if s.proseAllowed() {
		fmt.Fprintf(s.app.Err, name+": "+format+"\n", args...)
	}
}

// proseAllowed reports whether standard error may hold more than the log: not when a program was promised JSON.
func (s *site) proseAllowed() bool { return s.app.Err.Terminal || !s.options.logging.OnlyJSON() }
