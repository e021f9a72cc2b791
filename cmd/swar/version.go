package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/swar-tts/swar/cmd/internal/launch"
)

func thisBuild() launch.Build { return launch.ThisBuild(version) }

// versionLine is what --version prints.
func versionLine() string { return name + " " + thisBuild().String() }

func (a *app) versionCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  launch.Exactly(0),
		RunE: func(*cobra.Command, []string) error {
			if asJSON {
				return a.PrintJSON(thisBuild())
			}
			_, err := fmt.Fprintln(a.Out, versionLine())
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print it as JSON")
	return cmd
}
