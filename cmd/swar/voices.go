package main

import (
	"context"
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/swar-tts/swar/client"
	"github.com/swar-tts/swar/cmd/internal/call"
	"github.com/swar-tts/swar/cmd/internal/engine"
	"github.com/swar-tts/swar/cmd/internal/launch"
)

func (a *app) voicesCommand() *cobra.Command {
	var (
		where  remote
		own    engine.Flags
		asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "voices",
		Short: "List the voices that you may use",
		Long:  "Lists the voices of your key on a server; with --bundle or --engine those of a model, without a server.",
		Example: `  swar voices --server https://tts.example.com --key KEY
  swar voices --bundle hindi-int8`,
		Args: launch.Exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			here, err := a.here(cmd, &own, false)
			if err != nil {
				return err
			}
			var v client.Voices
			if here {
				v, err = voicesHere(cmd.Context(), &own)
			} else {
				v, err = where.voices(cmd)
			}
			if err != nil {
				return launch.Interrupted(cmd.Context(), err)
			}
			if asJSON {
				return a.PrintJSON(v)
			}
			t := tabwriter.NewWriter(a.Out, 0, 0, 2, ' ', 0)
			fmt.Fprintln(t, "voice\tlanguage\tsample rate")
			for _, v := range v.Voices {
				fmt.Fprintf(t, "%s\t%s\t%d\n", v.Name, v.Language, v.SampleRate)
			}
			if err := t.Flush(); err != nil {
				return err
			}
			fmt.Fprintf(a.Out, "\nmodel %s\n", v.Model)
			return nil
		},
	}
	where.flags(cmd.Flags())
	cmd.Flags().BoolVar(&asJSON, "json", false, "print what GET /v1/voices answers")
	own.Define(cmd.Flags())
	return cmd
}

func (r *remote) voices(cmd *cobra.Command) (client.Voices, error) {
	c, err := r.client(cmd)
	if err != nil {
		return client.Voices{}, err
	}
	v, err := c.Voices(cmd.Context())
	return v, call.Reached(r.base, "name a model of your own with --bundle", err)
}

// voicesHere lists the voices of the engine in this process.
func voicesHere(ctx context.Context, own *engine.Flags) (client.Voices, error) {
	e, err := own.OpenReader(ctx)
	if err != nil {
		return client.Voices{}, err
	}
	defer e.Close()
	m := e.Model()
	list := client.Voices{Model: m.ID}
	for _, voice := range m.Voices {
		list.Voices = append(list.Voices, client.Voice(voice))
	}
	return list, nil
}
