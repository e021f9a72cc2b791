package main

import (
	"log/slog"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/swar-tts/swar/cmd/internal/launch"
	"github.com/swar-tts/swar/runtime/fleet/discover"
	"github.com/swar-tts/swar/runtime/fleet/discover/endpointslice"
)

// podFlags say where pods are.
type podFlags struct {
	list       string
	dns        string
	slices     string
	kubeconfig string
}

func (p *podFlags) define(f *pflag.FlagSet) {
	f.StringVar(&p.list, "endpoints", "", "the pods, `HOST:PORT,…`")
	f.StringVar(&p.dns, "endpoints-dns", "",
		"a DNS `NAME:PORT` of the pods, looked up every few seconds; "+
			"with --endpoint-slices, while the API server does not answer yet")
	f.StringVar(&p.slices, "endpoint-slices", "",
		"`NAMESPACE/SERVICE` in Kubernetes whose EndpointSlices name the pods")
	f.StringVar(&p.kubeconfig, "kubeconfig", os.Getenv("KUBECONFIG"),
		"kubeconfig `file`, for a router outside the cluster")
}

// check requires exactly one setting for the source of pods.
func (p *podFlags) check(cmd *cobra.Command) error {
	switch {
	case p.list != "" && (p.dns != "" || p.slices != ""):
		return launch.BadUsage(cmd, "--endpoints contradicts --endpoints-dns and --endpoint-slices; drop it or them")
	case p.list == "" && p.dns == "" && p.slices == "":
		return launch.BadUsage(cmd,
			"no source of pods; set --endpoints, --endpoints-dns or --endpoint-slices")
	}
	if _, err := p.open(slog.New(slog.DiscardHandler)); err != nil {
		return launch.BadUsage(cmd, "%w", err)
	}
	return nil
}

// dialled are the addresses that are set, each with its flag. What Kubernetes names is never this machine.
func (p *podFlags) dialled() (all [][2]string) {
	if p.list != "" {
		for address := range strings.SplitSeq(p.list, ",") {
			all = append(all, [2]string{"--endpoints", strings.TrimSpace(address)})
		}
	}
	if p.dns != "" {
		all = append(all, [2]string{"--endpoints-dns", p.dns})
	}
	if p.slices != "" {
		all = append(all, [2]string{"--endpoint-slices", p.slices})
	}
	return all
}

// open returns the source of pod addresses.
func (p *podFlags) open(log *slog.Logger) (discover.Source, error) {
	if p.list != "" {
		return discover.ParseList(p.list)
	}
	var names discover.Source // nil where DNS is not asked
	if p.dns != "" {
		dns, err := discover.NewDNS(discover.DNSConfig{Address: p.dns, Log: log})
		if err != nil || p.slices == "" {
			return dns, err
		}
		names = dns
	}
	return endpointslice.New(endpointslice.Config{Service: p.slices, Kubeconfig: p.kubeconfig, Fallback: names,
		Log: log})
}
