package main

import "github.com/spf13/cobra"

func exitCodesTopic() *cobra.Command {
	return &cobra.Command{
		Use:   "exit-codes",
		Short: "What the exit codes mean",
		Long: `Exit codes:

    0  done; for serve: every stream was finished before it stopped
    1  failed: an engine error, audio that was cut or is bad, a missing program
    2  wrong usage: an invalid command line or setting
    3  no server could be reached
    4  the server refused: busy, a wrong key, an invalid text, or missing rights in the portal
  130  interrupted (Ctrl-C)`,
	}
}
