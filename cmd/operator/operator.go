package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"runtime/debug"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/metrics/filters"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/swar-tts/swar/cmd/internal/launch"
	"github.com/swar-tts/swar/controllers"
	"github.com/swar-tts/swar/controllers/metrics"
	"github.com/swar-tts/swar/controllers/monitoring"
	"github.com/swar-tts/swar/controllers/resources"
)

// An operator that ends releases its lease. Another one acts leaseDuration after a killed one renewed it last. Renewing
// is all that an operator writes at rest: 6 times a minute.
const (
	leaseDuration = 30 * time.Second
	renewDeadline = 20 * time.Second // an operator that cannot renew its lease stops acting after this time
	retryPeriod   = 10 * time.Second
)

// gcPercent: most of the memory is the cache of the API server's objects, which hardly changes.
const gcPercent = 50

// run looks after fleets until ctx ends.
func run(ctx context.Context, p *launch.Program, o *options) error {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	lines := launch.NewLogWriter(p.Err)
	log, err := o.logging.Open(lines, p.Err.Terminal)
	if err != nil {
		return err
	}
	ctrl.SetLogger(logr.FromSlogHandler(log.Handler()))
	access, err := apiServer(o.kubeconfig)
	if err != nil {
		return err
	}
	templates := monitoring.New(o.runbooks)
	release := resources.Release{
		WorkerImage: o.workerImage, RouterImage: o.routerImage, AssignedIDs: o.assignedIDs, OperatorNamespace: o.own,
		Rules: templates.Rules, Dashboard: templates.Dashboard,
	}
	fleets := metrics.New(time.Now)
	if err := fleets.Register(); err != nil {
		return err
	}
	c := controllers.Config{
		Release: release, Namespace: o.own, Portal: o.portal, Metrics: fleets, ScalerHosts: o.scalerHosts,
	}
	if o.scaler != "0" {
		c.Scaler = o.scaler
	}
	stop, err := serveProbes(ctx, o.probes, log)
	if err != nil {
		return err
	}
	defer stop()
	lease, err := newLease(access, o.own)
	if err != nil {
		return err
	}
	log.Info("looking after fleets", "namespaces", o.namespaces)
	for hasLed := false; ; {
		led, err := manageFleets(ctx, access, o.managerOptions(lease), c, log)
		hasLed = hasLed || led
		if ctx.Err() != nil || !hasLed {
			return launch.Interrupted(ctx, ignoreEnd(ctx, err))
		}
		// The API server was away, or another operator has taken over. A process that ended would be started again
		// later each time.
		log.Warn("fleets are left to themselves until this operator may act again", "error", err)
		fleets.Clear()
		select {
		case <-time.After(retryInterval):
			waitForAnswer(ctx, lease)
		case <-ctx.Done():
		}
	}
}

// manageFleets manages fleets until ctx ends or this operator loses the lease; led reports whether it ever had the
// lease.
func manageFleets(
	ctx context.Context, access *rest.Config, options ctrl.Options, c controllers.Config, log *slog.Logger,
) (led bool, err error) {
	m, err := ctrl.NewManager(access, options)
	if err != nil {
		return false, fmt.Errorf("reaching the API server: %w", err)
	}
	if err := controllers.Add(m, c, log); err != nil {
		return false, err
	}
	err = m.Start(ctx)
	select {
	case <-m.Elected():
		return true, err
	default:
		return false, err
	}
}

// serveProbes answers probes while one manager follows another, also while the API server is away.
func serveProbes(ctx context.Context, address string, log *slog.Logger) (stop func(), err error) {
	l, err := launch.Listen(ctx, name, "--http", address)
	if err != nil {
		return nil, err
	}
	var servers launch.Servers
	ready := func() error { return nil }
	servers.Add(launch.NewServer(launch.Probes(http.NotFoundHandler(), ready), log), l)
	servers.Start(func(err error) { log.Error("probes are not answered any more", "error", err) })
	return servers.Close, nil
}

// ignoreEnd drops the error of a manager whose context has ended.
func ignoreEnd(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// apiServer returns how to reach the API server: by the file, or as a pod does.
func apiServer(kubeconfig string) (c *rest.Config, err error) {
	if kubeconfig != "" {
		c, err = clientcmd.BuildConfigFromFlags("", kubeconfig)
	} else {
		c, err = rest.InClusterConfig()
	}
	if err != nil {
		return nil, fmt.Errorf("finding the API server: %w; outside a cluster use --kubeconfig", err)
	}
	c.UserAgent = name
	c.QPS = -1 // eight fleets are looked at at the same time, and the API server divides itself among its clients
	return c, nil
}

func (o *options) managerOptions(lease resourcelock.Interface) ctrl.Options {
	graceful := 10 * time.Second
	options := controllers.ManagerOptions(o.namespaces)
	options.HealthProbeBindAddress = "0" // see serveProbes
	options.LeaderElection, options.LeaderElectionResourceLockInterface = o.elect, lease
	options.Controller.SkipNameValidation = new(true) // of one manager after another
	options.LeaseDuration, options.RenewDeadline, options.RetryPeriod = new(leaseDuration), new(renewDeadline),
		new(retryPeriod)
	options.LeaderElectionReleaseOnCancel = true // the process ends when the manager does
	options.GracefulShutdownTimeout = &graceful
	options.Metrics = metricsserver.Options{BindAddress: o.metrics}
	if !o.openMetrics {
		options.Metrics.SecureServing = true
		options.Metrics.FilterProvider = filters.WithAuthenticationAndAuthorization
	}
	return options
}
