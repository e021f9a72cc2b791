package main

import "github.com/spf13/cobra"

func exitCodesTopic() *cobra.Command {
	return &cobra.Command{
		Use:   "exit-codes",
		Short: "What the exit codes mean",
		Long: `Exit codes:

    0  done; for serve: every stream was finished before it stopped
    1  failed: an engine error, audio that was cut or is bad, a missing program
    2  wrong usage: the command line or a setting was not understood
    3  no server could be reached
    4  the server refused: busy, a wrong key, a text that it does not take, what a rule of the portal forbids
  130  interrupted (Ctrl-C)`,
	}
}
