package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"

	"github.com/swar-tts/swar/cmd/internal/launch"
	"github.com/swar-tts/swar/cmd/internal/trace"
	"github.com/swar-tts/swar/runtime/access"
	"github.com/swar-tts/swar/runtime/fleet"
	"github.com/swar-tts/swar/runtime/fleet/link"
	"github.com/swar-tts/swar/runtime/grpcauth"
	"github.com/swar-tts/swar/runtime/meter"
	"github.com/swar-tts/swar/runtime/metrics"
	"github.com/swar-tts/swar/runtime/sample"
	"github.com/swar-tts/swar/runtime/serve"
	"github.com/swar-tts/swar/runtime/speech"
)

// After the signal a router lingers, drains and ships usage. Kubernetes grants 150 s for all of that.
const (
	drainLimit = speech.UtteranceTimeout
	shipReach  = 15 * time.Second // beyond linger and drain
)

// router is the program at work.
type router struct {
	options  *options
	log      *slog.Logger
	metrics  *metrics.Registry
	address  string // that the API listens on
	speaker  *fleet.Speaker
	samples  *sample.Samples
	accounts *accounts // nil without a portal
	api      *serve.Server
	public   *http.Server
	listener *serve.Listener // of public
	servers  launch.Servers
	watch    *fleet.Watch
	watching *grpc.Server // nil without load reports
	watchers net.Listener

	leaving atomic.Bool // the signal has come
}

// run answers until ctx ends, and then drains.
func run(ctx context.Context, p *launch.Program, o *options) (err error) {
	lines := launch.NewLogWriter(p.Err)
	r := &router{options: o, metrics: metrics.New()}
	if r.log, err = o.logging.Open(lines, p.Err.Terminal); err != nil {
		return err
	}
	r.metrics.RegisterLog(lines.Dropped)
	r.metrics.RegisterConnections(r.servers.Closed)
	flush, err := o.traces.Open(ctx, name, launch.ThisBuild(version).Version)
	if err != nil {
		return err
	}
	defer flush()
	if err := r.open(ctx); err != nil {
		return launch.Interrupted(ctx, errors.Join(err, r.release()))
	}
	return r.serve(ctx)
}

// open opens everything and starts nothing.
func (r *router) open(ctx context.Context) error {
	o := r.options
	credentials, err := o.peers.Open(name, r.log)
	if err != nil {
		return err
	}
	if err := r.openSpeaker(credentials); err != nil {
		return err
	}
	public, err := launch.Listen(ctx, name, "--listen", o.listen)
	if err != nil {
		return err
	}
	r.address = public.Addr().String()
	if err := r.openAPI(credentials); err != nil {
		public.Close()
		return err
	}
	r.listener = serve.WrapListener(public)
	r.servers.Add(r.public, r.listener)
	if err := r.openSeparate(ctx, "--http", o.http, launch.Probes(r.metrics.Handler(), r.ready)); err != nil {
		return err
	}
	if err := r.openSeparate(ctx, "--pprof", o.pprof, launch.Profiles()); err != nil {
		return err
	}
	return r.openWatch(ctx, credentials)
}

// openSpeaker makes what sends utterances to pods.
func (r *router) openSpeaker(credentials grpcauth.Credentials) error {
	o := r.options
	source, err := o.pods.open(r.log)
	if err != nil {
		return err
	}
	config := fleet.Config{
		Route: o.routing(uint64(time.Now().UnixNano())), QueueWait: o.slotWait(),
		Model: o.model(),
		Dial: func(address string) (*link.Client, error) {
			host, _, err := net.SplitHostPort(address)
			if err != nil {
				return nil, err
			}
			access, err := credentials.DialOptions(host, grpcauth.Worker)
			if err != nil {
				return nil, err
			}
			return link.Dial(address, access...)
		},
	}
	config.Metrics = r.metrics.RegisterFleet(func() metrics.FleetCounts { return r.speaker.Counts() })
	r.speaker = fleet.New(config, source, r.log)
	return nil
}

// openAPI creates the API with the keyrings of the settings.
func (r *router) openAPI(credentials grpcauth.Credentials) (err error) {
	o := r.options
	config := serve.Config{
		Speaker: r.speaker, Metrics: r.metrics.RegisterAPI(r.speaker.Streams), Log: r.log,
		Version: launch.ThisBuild(version).Version, TrustProxies: o.proxies.Trusted(), Spool: launch.OrNone(*o.spool),
	}
	o.label.Apply(&config)
	config.Lexicon = o.lexicon.Lexicon(r.log)
	o.dialects.Apply(&config)
	r.samples = sample.New(sample.Config{Disclosure: config.Disclosure}, r.speaker, r.log)
	config.Samples = r.samples.WAV
	var rings keyrings
	if len(o.keys) > 0 {
		static, err := access.NewStatic(o.keys, o.voices)
		if err != nil {
			return &launch.UsageError{Command: name, Err: err}
		}
		rings = append(rings, static)
	}
	if o.portal != "" {
		fleet := credentials
		if credentials, err = o.portalPeer.Open(name, &o.peers, credentials, r.log); err != nil {
			return err
		}
		if credentials.Certificates == nil && credentials.Token.Shares(fleet.Token) {
			r.log.Warn("workers have the portal's token: a compromised one could read key hashes and report usage. " +
				"Use another token for the portal and --portal-token-file, or certificates")
		}
		if r.accounts, err = openAccounts(o, credentials, r.log); err != nil {
			return err
		}
		r.accounts.register(r.metrics)
		rings = append(rings, r.accounts.keys)
		config.Meter, config.Ready = meter.NewRecorder(r.accounts.events), r.accounts.keys.Check
	}
	if len(rings) > 0 {
		config.Keys = access.NewGuard(rings)
	}
	if r.api, err = serve.New(config); err != nil {
		return err
	}
	handler := http.Handler(r.api)
	if o.hideMetrics {
		handler = launch.Hide("/metrics", handler)
	}
	if handler, err = withPages(o.pages, handler); err != nil {
		return &launch.UsageError{Command: name, Err: err}
	}
	r.public = launch.NewServer(r.closing(trace.Requests(handler)), r.log)
	return nil
}

// closing asks clients to reconnect when the router is about to stop: by then their load balancer has removed it.
func (r *router) closing(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if r.leaving.Load() && q.Header.Get("Upgrade") == "" {
			w.Header().Set("Connection", "close")
		}
		h.ServeHTTP(w, q)
	})
}

// openSeparate opens an address beside that of the API; none where address is empty.
func (r *router) openSeparate(ctx context.Context, flag, address string, h http.Handler) error {
	if address == "" {
		return nil
	}
	l, err := launch.Listen(ctx, name, flag, address)
	if err == nil {
		r.servers.Add(launch.NewServer(h, r.log), l)
	}
	return err
}

// openWatch opens the address of the load reports for autoscalers.
func (r *router) openWatch(ctx context.Context, credentials grpcauth.Credentials) (err error) {
	address := r.options.watch
	if address == "" {
		return nil
	}
	if r.watchers, err = launch.Listen(ctx, name, "--watch", address); err != nil {
		return err
	}
	onLoopback := launch.IsLoopback(ctx, r.watchers.Addr().String())
	access, err := credentials.ServerOptions(onLoopback, r.log, grpcauth.Service{
		Accepts: []grpcauth.Role{grpcauth.Operator}, Endless: link.Endless(),
	})
	if err != nil {
		return fmt.Errorf("--watch %s: %w", address, err)
	}
	r.watch = fleet.NewWatch(r.speaker, launch.ThisBuild(version).Version, r.log)
	r.watching = grpc.NewServer(append(link.ServerOptions(), access...)...)
	r.watch.Register(r.watching)
	return nil
}

// release closes what open has opened and nothing has started.
func (r *router) release() error {
	r.servers.Close()
	if r.watchers != nil {
		r.watchers.Close()
	}
	if r.accounts != nil {
		return r.accounts.close()
	}
	return nil
}

// keyrings looks a key up in several rings, in order.
type keyrings []access.Keyring

// Grant implements [access.Keyring].
func (k keyrings) Grant(ctx context.Context, creds access.Credentials) (grant access.Grant, err error) {
	for _, ring := range k {
		if grant, err = ring.Grant(ctx, creds); err == nil {
			return grant, nil
		}
	}
	return grant, err
}

// ready returns why Kubernetes should send no requests here. The state of pods does not matter once it is known: a
// router without pods still has to answer and report demand.
func (r *router) ready() error {
	if r.leaving.Load() {
		return speech.ErrDraining
	}
	if r.accounts != nil {
		select {
		case <-r.accounts.keys.Ready():
		default:
			return errors.New("no API keys yet: waiting for the portal")
		}
	}
	select {
	case <-r.speaker.Synced():
		return nil
	default:
		return errors.New("the state of the pods is not known yet")
	}
}
