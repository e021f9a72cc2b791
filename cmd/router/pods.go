package main

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/swar-tts/swar/cmd/internal/launch"
	"github.com/swar-tts/swar/runtime/fleet/route"
)

// podFlags say where pods are.
type podFlags struct {
	list []string
}

func (p *podFlags) define(f *pflag.FlagSet) {
	f.StringSliceVar(&p.list, "endpoints", nil, "the pods, `HOST:PORT,…`")
}

func (p *podFlags) check(cmd *cobra.Command) error {
	for _, address := range p.list {
		if err := launch.CheckAddress(cmd, "--endpoints", address); err != nil {
			return err
		}
	}
	return nil
}

type list []route.Endpoint

func (l list) Run(ctx context.Context, tell func([]route.Endpoint)) error {
	tell(l)
	<-ctx.Done()
	return nil
}

func (p *podFlags) source() list {
	var l list
	for _, a := range p.list {
		l = append(l, route.Endpoint{Address: a})
	}
	slices.SortFunc(l, func(a, b route.Endpoint) int { return strings.Compare(a.Address, b.Address) })
	return l
}
