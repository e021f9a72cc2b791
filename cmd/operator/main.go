// Command swar-operator reconciles TTSDeployments. It makes the workers, the routers and the objects around them, and
// scales the workers.
package main

import (
	"fmt"
	"net/url"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/swar-tts/swar/cmd/internal/launch"
	"github.com/swar-tts/swar/controllers/monitoring"
)

// version is set by the build.
var version = launch.Development

const name = "swar-operator"

func main() {
	p := launch.NewProgram(name)
	os.Exit(p.Main(command(p)))
}

// options is the settings of the program.
type options struct {
	metrics     string
	probes      string
	namespaces  []string
	own         string
	kubeconfig  string
	workerImage string
	routerImage string
	assignedIDs bool
	portal      string
	elect       bool
	openMetrics bool
	scaler      string
	scalerHosts []string
	runbooks    string
	logging     launch.LogFlags
}

func command(p *launch.Program) *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:   name,
		Short: "Reconcile fleets with their TTSDeployments",
		Long: `Creates the worker pods, routers and other objects of every TTSDeployment, and scales worker pods by demand, until SIGINT
or SIGTERM. Speech does not pass through it: without an operator, fleets keep serving at their size.

Several may run at the same time: one of them leads.

Every flag can also be set in the environment: --log-level as SWAR_LOG_LEVEL. The command line wins.`,
		Example: `  swar-operator --own-namespace swar-system --worker-image registry.example.org/speech/worker:1.0 \
    --router-image registry.example.org/speech/router:1.0
  swar-operator --own-namespace swar --namespace swar --worker-image … --router-image … --portal swar-portal.swar.svc:8082`,
		Args:    launch.Exactly(0),
		Version: fmt.Sprintf("%s %s", name, launch.ThisBuild(version)),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.check(cmd); err != nil {
				return err
			}
			return run(cmd.Context(), p, &o)
		},
	}
	o.define(cmd)
	cmd.AddCommand(metricsCommand(p))
	return cmd
}

func (o *options) define(cmd *cobra.Command) {
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&o.own, "own-namespace", "",
		"`name` of the operator's namespace, for its authority and lease")
	f.StringArrayVar(&o.namespaces, "namespace", nil,
		"look after the namespace of this `name` only; can be repeated (default all)")
	f.StringVar(&o.workerImage, "worker-image", "", "default `image` of workers")
	f.StringVar(&o.routerImage, "router-image", "", "default `image` of routers")
	f.BoolVar(&o.assignedIDs, "assigned-user-ids", false,
		"name no user and no groups in pods: the cluster assigns them, as OpenShift does (default 65532)")
	f.StringVar(&o.portal, "portal", "",
		"`HOST:PORT` of the dataplane of this release's portal (default none)")
	f.StringVar(&o.probes, "http", ":8081", "serve probes on this `address`")
	f.StringVar(&o.metrics, "metrics", ":8443",
		"serve metrics on this `address`, over TLS, to authorised readers; 0 for none")
	f.BoolVar(&o.openMetrics, "open-metrics", false,
		"serve metrics without TLS or authentication, on a protected network")
	f.StringVar(&o.scaler, "scaler", ":9443", "serve KEDA on this `address`, over TLS; 0 for none")
	f.StringArrayVar(&o.scalerHosts, "scaler-host", nil,
		"`name` by which KEDA calls; can be repeated (default swar-operator.NAMESPACE.svc)")
	f.StringVar(&o.runbooks, "runbooks", monitoring.DefaultRunbooks,
		"`URL` of the folder with a page for each alert, ALERT.md, which alerts link")
	f.BoolVar(&o.elect, "elect", true, "act only while no other operator of this namespace does")
	f.StringVar(&o.kubeconfig, "kubeconfig", "",
		"kubeconfig `file`, for an operator outside the cluster")
	o.logging.Define(f)
}

// check refuses settings that cannot be meant.
func (o *options) check(cmd *cobra.Command) error {
	for flag, value := range map[string]string{
		"--own-namespace": o.own, "--worker-image": o.workerImage, "--router-image": o.routerImage,
	} {
		if value == "" {
			return launch.BadUsage(cmd, "%s is missing", flag)
		}
	}
	for flag, image := range map[string]string{"--worker-image": o.workerImage, "--router-image": o.routerImage} {
		if !hasVersion(image) {
			return launch.BadUsage(cmd,
				"%s %s: name a version or a digest; latest, the default tag, changes over time", flag, image)
		}
	}
	if err := launch.CheckAddress(cmd, "--http", o.probes); err != nil {
		return err
	}
	for _, host := range o.scalerHosts {
		if len(validation.IsDNS1123Subdomain(host)) > 0 {
			return launch.BadUsage(cmd, "--scaler-host %q: want a host name, such as swar-operator.swar-system.svc",
				host)
		}
	}
	if !isPage(o.runbooks) {
		return launch.BadUsage(cmd, "--runbooks %q: want a web address, such as %s", o.runbooks,
			monitoring.DefaultRunbooks)
	}
	for flag, address := range map[string]string{"--metrics": o.metrics, "--scaler": o.scaler} {
		if address == "0" {
			continue
		}
		if err := launch.CheckAddress(cmd, flag, address); err != nil {
			return err
		}
	}
	return nil
}

// hasVersion reports whether an image is named by its digest, or by a tag other than latest, the one that is taken
// without any.
func hasVersion(image string) bool {
	_, tag, _ := strings.Cut(image[strings.LastIndexByte(image, '/')+1:], ":")
	return tag != "" && tag != "latest"
}

// isPage reports whether a browser can open an address, and a text of an alert have it in it, where braces begin a
// template.
func isPage(address string) bool {
	u, err := url.Parse(address)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" &&
		!strings.ContainsAny(address, "{} ")
}
