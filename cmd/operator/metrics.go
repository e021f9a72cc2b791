package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/swar-tts/swar/cmd/internal/launch"
	"github.com/swar-tts/swar/controllers"
	"github.com/swar-tts/swar/controllers/externalmetrics"
	"github.com/swar-tts/swar/runtime/grpcauth"
)

// metricsName is what the server of external metrics is called in its certificate.
const metricsName = "swar-operator-metrics"

// shutdownLimit is how long what is still asked may take when the server ends.
const shutdownLimit = 3 * time.Second

// metricsOptions is the settings of `swar-operator metrics`.
type metricsOptions struct {
	own        string
	service    string
	operator   string
	listen     string
	probes     string
	kubeconfig string
	logging    launch.LogFlags
}

func metricsCommand(p *launch.Program) *cobra.Command {
	var o metricsOptions
	cmd := &cobra.Command{
		Use:   "metrics",
		Short: "Serve external metrics, by which a HorizontalPodAutoscaler scales fleets",
		Long: `Serves the API external.metrics.k8s.io with tts_demand_slots and tts_queue_depth of each TTSDeployment whose
spec.scaling.mode is External, until SIGINT or SIGTERM. It gets each value from the operator. Several may run at the
same time, and all of them answer.

A cluster has one server of that API. If its APIService belongs to another one, such as KEDA's, this one exits.`,
		Example: "  swar-operator metrics --own-namespace swar-system --service swar-metrics",
		Args:    launch.Exactly(0),
		Version: fmt.Sprintf("%s %s", name, launch.ThisBuild(version)),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.check(cmd); err != nil {
				return err
			}
			return o.run(cmd.Context(), p)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&o.own, "own-namespace", "", "`name` of the namespace of this server and the operator")
	f.StringVar(&o.service, "service", "", "`name` of the Service by which the API server calls it")
	f.StringVar(&o.operator, "operator", "",
		"`HOST:PORT` by which KEDA would call the operator (default swar-operator.NAMESPACE.svc:9443)")
	f.StringVar(&o.listen, "listen", ":6443", "serve the API on this `address`, over TLS, for the API server")
	f.StringVar(&o.probes, "http", ":8081", "serve probes on this `address`")
	f.StringVar(&o.kubeconfig, "kubeconfig", "",
		"kubeconfig `file`, for a server outside the cluster")
	o.logging.Define(f)
	return cmd
}

// check refuses settings that cannot be meant, and fills in the operator's address.
func (o *metricsOptions) check(cmd *cobra.Command) error {
	for flag, value := range map[string]string{"--own-namespace": o.own, "--service": o.service} {
		if len(validation.IsDNS1123Label(value)) > 0 {
			return launch.BadUsage(cmd, "%s %q: want a name of Kubernetes, such as swar-system", flag, value)
		}
	}
	if o.operator == "" {
		o.operator = name + "." + o.own + ".svc:9443"
	}
	if host, _, err := net.SplitHostPort(o.operator); err != nil || host == "" {
		return launch.BadUsage(cmd, "--operator %q: want HOST:PORT, such as swar-operator.swar-system.svc:9443",
			o.operator)
	}
	for flag, address := range map[string]string{"--operator": o.operator, "--listen": o.listen, "--http": o.probes} {
		if err := launch.CheckAddress(cmd, flag, address); err != nil {
			return err
		}
	}
	return nil
}

func (o *metricsOptions) run(ctx context.Context, p *launch.Program) error {
	log, err := o.logging.Open(launch.NewLogWriter(p.Err), p.Err.Terminal)
	if err != nil {
		return err
	}
	ctrl.SetLogger(logr.FromSlogHandler(log.Handler()))
	access, err := apiServer(o.kubeconfig)
	if err != nil {
		return err
	}
	return launch.Interrupted(ctx, o.serve(ctx, access, log))
}

// serve answers the API server until ctx ends, or another server has the API.
func (o *metricsOptions) serve(ctx context.Context, access *rest.Config, log *slog.Logger) error {
	c, err := client.New(access, client.Options{})
	if err != nil {
		return fmt.Errorf("reaching the API server: %w", err)
	}
	authority := &controllers.AuthorityStore{
		Client: c, Namespace: o.own, Name: controllers.AuthoritySecret, Now: time.Now, ReadOnly: true,
	}
	certificate := &controllers.ServerCertificate{
		Authority: authority, Hosts: []string{o.service + "." + o.own + ".svc"},
		Name: grpcauth.Identity{Namespace: o.own, Name: metricsName, Role: grpcauth.Operator},
	}
	trust := func(ctx context.Context) ([]byte, error) {
		a, err := authority.Get(ctx)
		return a.Trust, err
	}
	operator := externalmetrics.NewOperator(o.operator, trust)
	defer operator.Close()
	proxy := externalmetrics.NewFrontProxy(func(ctx context.Context) (*corev1.ConfigMap, error) {
		m := &corev1.ConfigMap{}
		key := client.ObjectKey{Namespace: externalmetrics.FrontProxyNamespace,
			Name: externalmetrics.FrontProxyConfigMap}
		return m, c.Get(ctx, key, m)
	}, time.Now, log)
	registration := &externalmetrics.Registration{Client: c, Namespace: o.own, Service: o.service, Trust: trust,
		Log: log}
	ready := func() error { return errors.Join(certificate.Ready(ctx), proxy.Ready(ctx)) }
	api := externalmetrics.New(externalmetrics.Config{Value: operator.Value, Check: proxy.Check}, log)
	return o.answer(ctx, api, certificate, ready, registration.Keep, log)
}

// answer serves the API and probes while keep runs.
func (o *metricsOptions) answer(
	ctx context.Context, api http.Handler, certificate *controllers.ServerCertificate, ready func() error,
	keep func(context.Context) error, log *slog.Logger,
) error {
	probes, err := launch.Listen(ctx, name+" metrics", "--http", o.probes)
	if err != nil {
		return err
	}
	var servers launch.Servers
	servers.Add(launch.NewServer(launch.Probes(http.NotFoundHandler(), ready), log), probes)
	defer servers.Close()
	l, err := launch.Listen(ctx, name+" metrics", "--listen", o.listen)
	if err != nil {
		return err
	}
	server := launch.NewServer(api, log)
	servers.Add(server, tls.NewListener(l, &tls.Config{
		MinVersion: tls.VersionTLS13,
		ClientAuth: tls.RequestClientCert, NextProtos: []string{"h2", "http/1.1"}, GetCertificate: certificate.Get,
	}))
	running, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	servers.Start(stop)
	log.Info("serving external metrics", "address", l.Addr().String(), "operator", o.operator)
	if err := keep(running); err != nil {
		return err
	}
	if ctx.Err() == nil {
		return context.Cause(running)
	}
	wait, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownLimit)
	defer cancel()
	_ = server.Shutdown(wait) // what takes longer is cut
	return nil
}
