// Command swar is Swar on one machine: the server, and everything that helps to use and to check one from a terminal.
package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/swar-tts/swar/cmd/internal/launch"
)

// version is set by the linker.
var version = "dev"

func main() { os.Exit(run(os.Args)) }

func run(args []string) int {
	a := &app{program: args[0], in: os.Stdin, out: newScreen(os.Stdout), err: newScreen(os.Stderr), lookup: os.LookupEnv}
	ctx, stop := launch.Signals(context.Background(), func(s os.Signal) {
		fmt.Fprintf(a.err, "%s: stopped at once by a second signal (%v)\n", name, s)
		os.Exit(exitInterrupted)
	})
	defer stop()
	return a.run(ctx, args[1:])
}

const name = "swar"

// app is what all commands share.
type app struct {
	program string // as the user called it
	in      io.Reader
	out     *screen
	err     *screen
	lookup  func(string) (string, bool) // the environment
	typed   map[string]bool             // flags that stand on the command line, which may mean more than those of the environment
	parsed  bool                        // the command line and the environment were understood
}

// run executes the command that args name and returns the exit code.
func (a *app) run(ctx context.Context, args []string) int {
	root := a.command()
	root.SetArgs(args)
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.err)
	cmd, err := root.ExecuteContextC(ctx)
	if err != nil && !a.parsed {
		err = &usageError{cmd.CommandPath(), inWords(err)}
	}
	if err == nil {
		return exitOK
	}
	fmt.Fprintln(a.err, a.err.red(name+":"), explain(err))
	return exitCode(err)
}

// settings takes what the command line leaves out from the environment.
func (a *app) settings(cmd *cobra.Command) error {
	a.typed = make(map[string]bool)
	cmd.Flags().Visit(func(f *pflag.Flag) { a.typed[f.Name] = true })
	return launch.FromEnv(cmd.Flags(), a.lookup)
}

func (a *app) command() *cobra.Command {
	root := &cobra.Command{
		Use:   name,
		Short: "Hinglish text-to-speech: a server, and what helps to use one",
		Long: `Swar reads Hinglish aloud: Devanagari, Roman Hindi and English in one sentence, with amounts, codes and dates.

  swar serve                          start the server
  swar say 'Namaste! Kya haal hai?'   let it speak

Every flag can also be set in the environment: --log-level as SWAR_LOG_LEVEL. The command line wins.`,
		Version:       thisBuild().String(),
		SilenceErrors: true,
		SilenceUsage:  true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			err := a.settings(cmd)
			a.parsed = err == nil
			return err
		},
	}
	root.AddGroup(
		&cobra.Group{ID: "serve", Title: "Server:"},
		&cobra.Group{ID: "use", Title: "Speech:"},
		&cobra.Group{ID: "portal", Title: "Portal:"},
		&cobra.Group{ID: "model", Title: "Models:"},
		&cobra.Group{ID: "check", Title: "Machine:"},
	)
	for group, commands := range map[string][]*cobra.Command{
		"serve": {a.serveCommand()},
		"use":   {a.sayCommand(), a.streamCommand(), a.normalizeCommand(), a.voicesCommand()},
		"portal": {a.keysCommand(), a.orgsCommand(), a.usageCommand(), a.voiceRequestsCommand(), a.signinCommand(),
			a.signingKeysCommand(), a.backupCommand(), a.restoreCommand(), a.migrateCommand()},
		"model": {a.bundleCommand()},
		"check": {a.doctorCommand(), a.versionCommand()},
	} {
		for _, c := range commands {
			c.GroupID = group
			root.AddCommand(c)
		}
	}
	root.SetHelpCommandGroupID("check")
	root.SetCompletionCommandGroupID("check")
	root.AddCommand(exitCodesTopic())
	root.SetVersionTemplate("{{.Version}}\n")
	completeChoices(root)
	return root
}
