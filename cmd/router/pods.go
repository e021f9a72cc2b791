package main

import (
	"log/slog"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/swar-tts/swar/cmd/internal/launch"
	"github.com/swar-tts/swar/runtime/fleet/discover"
)

// podFlags say where pods are.
type podFlags struct {
	list string
	dns  string
}

func (p *podFlags) define(f *pflag.FlagSet) {
	f.StringVar(&p.list, "endpoints", "", "the pods, `HOST:PORT,…`")
	f.StringVar(&p.dns, "endpoints-dns", "", "a `NAME:PORT` whose addresses are those of the pods, looked up every few seconds")
}

// check refuses settings that tell nothing, or two things, of where pods are.
func (p *podFlags) check(cmd *cobra.Command) error {
	switch {
	case p.list != "" && p.dns != "":
		return launch.BadUsage(cmd, "--endpoints and --endpoints-dns contradict each other; drop one of them")
	case p.list == "" && p.dns == "":
		return launch.BadUsage(cmd, "it must be known where pods are; name them with --endpoints or --endpoints-dns")
	}
	if _, err := p.open(slog.New(slog.DiscardHandler)); err != nil {
		return launch.BadUsage(cmd, "%w", err)
	}
	return nil
}

// open returns what tells where pods are.
func (p *podFlags) open(log *slog.Logger) (discover.Source, error) {
	if p.dns != "" {
		return discover.NewDNS(discover.DNSConfig{Address: p.dns, Log: log})
	}
	return discover.ParseList(p.list)
}
