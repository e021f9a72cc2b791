package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/metrics/filters"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/swar-tts/swar/cmd/internal/launch"
	"github.com/swar-tts/swar/controllers"
	"github.com/swar-tts/swar/controllers/metrics"
	"github.com/swar-tts/swar/controllers/monitoring"
	"github.com/swar-tts/swar/controllers/resources"
)

// Another operator acts after leaseDuration where the one that acted was killed; one that ends gives its lease up.
const (
	leaseDuration = 8 * time.Second
	renewDeadline = 6 * time.Second // an operator that could not renew its lease for so long ends
	retryPeriod   = 1500 * time.Millisecond
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
	access, err := o.access()
	if err != nil {
		return err
	}
	m, err := ctrl.NewManager(access, o.managerOptions())
	if err != nil {
		return fmt.Errorf("reaching the API server: %w", err)
	}
	if err := errors.Join(m.AddHealthzCheck("ping", healthz.Ping), m.AddReadyzCheck("ping", healthz.Ping)); err != nil {
		return err
	}
	templates := monitoring.New(o.runbooks)
	release := resources.Release{
		WorkerImage: o.workerImage, RouterImage: o.routerImage, OperatorNamespace: o.own,
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
	if err := controllers.Add(m, c, log); err != nil {
		return err
	}
	log.Info("looking after fleets", "namespaces", o.namespaces)
	return launch.Interrupted(ctx, ignoreEnd(ctx, m.Start(ctx)))
}

// ignoreEnd drops what a manager says that was told to end.
func ignoreEnd(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// access says how the API server is reached.
func (o *options) access() (c *rest.Config, err error) {
	if o.kubeconfig != "" {
		c, err = clientcmd.BuildConfigFromFlags("", o.kubeconfig)
	} else {
		c, err = rest.InClusterConfig()
	}
	if err != nil {
		return nil, fmt.Errorf("finding the API server: %w; outside of a cluster give --kubeconfig", err)
	}
	c.UserAgent = name
	c.QPS = -1 // eight fleets are looked at at the same time, and the API server divides itself among its clients
	return c, nil
}

func (o *options) managerOptions() ctrl.Options {
	graceful := 10 * time.Second
	options := controllers.ManagerOptions(o.namespaces)
	options.HealthProbeBindAddress = o.probes
	options.LeaderElection, options.LeaderElectionID, options.LeaderElectionNamespace = o.elect, name, o.own
	options.LeaseDuration, options.RenewDeadline, options.RetryPeriod = new(leaseDuration), new(renewDeadline), new(retryPeriod)
	options.LeaderElectionReleaseOnCancel = true // the process ends when the manager does
	options.GracefulShutdownTimeout = &graceful
	options.Metrics = metricsserver.Options{BindAddress: o.metrics}
	if !o.openMetrics {
		options.Metrics.SecureServing = true
		options.Metrics.FilterProvider = filters.WithAuthenticationAndAuthorization
	}
	return options
}
