package main

import (
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"
)

func (a *app) voicesCommand() *cobra.Command {
	var (
		where  remote
		asJSON bool
	)
	cmd := &cobra.Command{
		Use:     "voices",
		Short:   "List the voices that you may use",
		Example: "  swar voices --server https://tts.example.com --key KEY",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := where.client(cmd)
			if err != nil {
				return err
			}
			v, err := c.Voices(cmd.Context())
			if err != nil {
				return interrupted(cmd.Context(), reached(where.server, err))
			}
			if asJSON {
				return printJSON(a.out, v)
			}
			t := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
			fmt.Fprintln(t, "voice\tlanguage\tsample rate")
			for _, v := range v.Voices {
				fmt.Fprintf(t, "%s\t%s\t%d\n", v.Name, v.Language, v.SampleRate)
			}
			if err := t.Flush(); err != nil {
				return err
			}
			fmt.Fprintf(a.out, "\nmodel %s\n", v.Model)
			return nil
		},
	}
	where.flags(cmd.Flags())
	cmd.Flags().BoolVar(&asJSON, "json", false, "print what GET /v1/voices answers")
	return cmd
}
