// Command swar-portal is the portal of a fleet. It serves organisations, keys, usage and bills over HTTP, and routers
// over gRPC. It makes no speech.
package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/swar-tts/swar/cmd/internal/call"
	"github.com/swar-tts/swar/cmd/internal/control"
	"github.com/swar-tts/swar/cmd/internal/launch"
)

// version is set by the linker.
var version = launch.Development

const name = "swar-portal"

func main() {
	p := launch.NewProgram(name)
	p.ExitCode = control.ExitCode
	p.Explain = func(err error) string { return call.Explain(name, err) }
	os.Exit(p.Main(command(p)))
}

func command(p *launch.Program) *cobra.Command {
	var o options
	root := &cobra.Command{
		Use:   name,
		Short: "The portal of a fleet: organisations, keys, usage and bills",
		Long: `Serves the portal's API until SIGINT or SIGTERM, and sends the valid keys to routers over gRPC.

It prints no key. Create the first one with

  swar-portal keys create

which uses a socket in the folder --data, as the other commands do; setup-link and signin-link create links for users. With
--store firestore several portals share a database, each with its own folder.

Routers authenticate with the token of --token-file, or with a certificate for the role router.

Every flag can also be set in the environment: --log-level as SWAR_LOG_LEVEL. The command line wins.

Exit codes: 0 stopped after a signal, or done; 1 failed; 2 wrong usage; 3 portal unreachable; 4 the portal refused;
130 interrupted.`,
		Example: `  swar-portal --model-id pocket-hindi --voice anjura --voice raj --token-file token --plaintext
  swar-portal --model-id pocket-hindi --voice anjura --tls-cert tls.crt --tls-key tls.key --tls-ca ca.crt`,
		Version: fmt.Sprint(name, " ", launch.ThisBuild(version)),
		Args:    launch.Exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.check(cmd); err != nil {
				return err
			}
			return serve(cmd.Context(), p, &o)
		},
	}
	o.define(root.Flags())
	commands := control.Commands{Program: p, Version: version, Start: name}
	root.AddCommand(commands.All()...)
	launch.CompleteChoices(root)
	return root
}
