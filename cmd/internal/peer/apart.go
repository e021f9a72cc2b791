package peer

import (
	"log/slog"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/swar-tts/swar/cmd/internal/launch"
	"github.com/swar-tts/swar/runtime/grpcauth"
)

// Override has other credentials for one peer that is not part of the fleet. An example is a portal that several
// fleets share: it has another token and another CA. What is not set is as for all other peers.
type Override struct {
	peer  string
	token string // its file
	ca    string // its file
}

// Define defines --NAME-token-file and --NAME-ca.
func (a *Override) Define(f *pflag.FlagSet, whom string) {
	a.peer = whom
	f.StringVar(&a.token, whom+"-token-file", "",
		"`file` with the token for the "+whom+" (default that of --token-file)")
	f.StringVar(&a.ca, whom+"-ca", "",
		"`file` with the certificate of the authority that signs those of the "+whom+" (default that of --tls-ca)")
}

// Check refuses settings for a process that is not dialled, and an authority when there are no certificates. p was
// checked before.
func (a *Override) Check(cmd *cobra.Command, p *Flags, dialled bool) error {
	switch {
	case (a.token != "" || a.ca != "") && !dialled:
		return launch.BadUsage(cmd, "--%s-token-file and --%[1]s-ca are for the %[1]s; name it with --%[1]s-addr",
			a.peer)
	case a.ca != "" && !p.hasTLS():
		return launch.BadUsage(cmd, "--%s-ca verifies certificates, and there are none; "+
			"give --tls-cert, --tls-key and --tls-ca, too", a.peer)
	}
	return nil
}

// Open returns the credentials for that process. common are those for all others.
func (a *Override) Open(
	command string, p *Flags, common grpcauth.Credentials, log *slog.Logger,
) (c grpcauth.Credentials, err error) {
	c = common
	if a.token != "" {
		if c.Token, err = grpcauth.OpenToken(a.token, log); err != nil {
			return c, &launch.UsageError{Command: command, Err: err}
		}
	}
	if a.ca != "" {
		files := grpcauth.Files{Cert: p.files.Cert, Key: p.files.Key, CA: a.ca}
		if c.Certificates, err = grpcauth.Open(files, log); err != nil {
			return c, &launch.UsageError{Command: command, Err: err}
		}
	}
	return c, nil
}
