// Command swar is Swar on one machine. It has the server, and the commands to use and check one from a terminal.
package main

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/swar-tts/swar/cmd/internal/call"
	"github.com/swar-tts/swar/cmd/internal/control"
	"github.com/swar-tts/swar/cmd/internal/launch"
)

// version is set by the linker.
var version = launch.Development

const name = "swar"

// app is what all commands share.
type app struct {
	*launch.Program

	portal control.Commands
}

func main() {
	p := launch.NewProgram(name)
	p.ExitCode = control.ExitCode
	p.Explain = func(err error) string { return call.Explain(serveCommand, err) }
	a := &app{p, control.Commands{Program: p, Version: version, Start: serveCommand}}
	os.Exit(a.Main(a.command()))
}

func (a *app) command() *cobra.Command {
	root := &cobra.Command{
		Use:   name,
		Short: "Hinglish text-to-speech: a server, and what helps to use one",
		Long: `Swar reads Hinglish aloud: Devanagari, Roman Hindi and English in one sentence, with amounts, codes and dates.

  swar serve                          start the server
  swar say 'Namaste! Kya haal hai?'   speak a text

Every flag can also be set in the environment: --log-level as SWAR_LOG_LEVEL. The command line wins.`,
		Version: versionLine(),
	}
	root.AddGroup(
		&cobra.Group{ID: "serve", Title: "Server:"},
		&cobra.Group{ID: "use", Title: "Speech:"},
		&cobra.Group{ID: "portal", Title: "Portal:"},
		&cobra.Group{ID: "model", Title: "Models:"},
		&cobra.Group{ID: "check", Title: "Machine:"},
	)
	for group, commands := range map[string][]*cobra.Command{
		"serve":  {a.serveCommand(), a.wyomingCommand()},
		"use":    {a.sayCommand(), a.streamCommand(), a.normalizeCommand(), a.voicesCommand(), a.mcpCommand()},
		"portal": append(a.portal.All(), a.signinCommand()),
		"model":  {a.modelCommand(), a.bundleCommand(), a.voiceCommand()},
		"check":  {a.doctorCommand(), a.checkCommand(), a.versionCommand()},
	} {
		for _, c := range commands {
			c.GroupID = group
			root.AddCommand(c)
		}
	}
	root.SetHelpCommandGroupID("check")
	root.SetCompletionCommandGroupID("check")
	root.AddCommand(exitCodesTopic())
	launch.CompleteChoices(root)
	return root
}
