// Package control has the commands that work on a portal. It reaches the portal of this machine through its socket or
// files, and another one over HTTP. Programs that have a portal have all of them.
package control

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/swar-tts/swar/cmd/internal/call"
	"github.com/swar-tts/swar/cmd/internal/launch"
	"github.com/swar-tts/swar/portal/emailaddr"
)

// Commands belong to a program.
type Commands struct {
	*launch.Program

	Version string // of the program, for the User-Agent
	Start   string // the command that starts a server with a portal, such as `swar serve`
}

// All returns the commands.
func (a *Commands) All() []*cobra.Command {
	return []*cobra.Command{
		a.keysCommand(), a.lexiconCommand(), a.orgsCommand(), a.usageCommand(), a.voiceRequestsCommand(),
		a.signingKeysCommand(), a.setupLinkCommand(), a.signInLinkCommand(),
		a.backupCommand(), a.restoreCommand(), a.migrateCommand(),
	}
}

// ExitCode is that of an error which not every program knows.
func ExitCode(err error) int {
	if _, ok := errors.AsType[*choiceError](err); ok {
		return launch.ExitUsage
	}
	if _, ok := errors.AsType[*noPortalError](err); ok {
		return call.ExitUnreachable
	}
	return call.ExitCode(err)
}

// Email checks an argument that is an e-mail address.
func Email(cmd *cobra.Command, text string) (string, error) {
	email, err := emailaddr.Clean(text)
	if err != nil {
		return "", launch.BadUsage(cmd, "%q is not an e-mail address", text)
	}
	return email, nil
}
