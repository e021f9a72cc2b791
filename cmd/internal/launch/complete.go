package launch

import (
	"context"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A shell that completes a value must not hang, and has nowhere to show an error: what cannot be had in time is not
// offered.

// completeFor is how long a completion may ask a server.
const completeFor = 2 * time.Second

// CompleteChoices completes every flag below cmd that takes one of a few words, or a folder.
func CompleteChoices(cmd *cobra.Command) {
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		kind, _ := pflag.UnquoteUsage(f)
		switch words := Choices(f); {
		case words != nil:
			Complete(cmd, f.Name, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
		case kind == "folder":
			Complete(cmd, f.Name, cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs))
		}
	})
	for _, c := range cmd.Commands() {
		CompleteChoices(c)
	}
}

// Complete completes a flag, which must exist and have no other completion.
func Complete(cmd *cobra.Command, flag string, f cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(flag, f); err != nil {
		panic(err)
	}
}

// CompleteFrom makes list, which asks for what there is, a completion. The command line is read as for running the
// command.
func (p *Program) CompleteFrom(list func(cmd *cobra.Command) ([]cobra.Completion, error)) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		parent := cmd.Context()
		if parent == nil {
			parent = context.Background()
		}
		ctx, cancel := context.WithTimeout(parent, completeFor)
		defer cancel()
		cmd.SetContext(ctx)
		if err := p.Settings(cmd); err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		all, _ := list(cmd) // the part that is known helps too
		return all, cobra.ShellCompDirectiveNoFileComp
	}
}
