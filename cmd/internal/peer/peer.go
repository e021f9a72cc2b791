// Package peer is the settings by which processes of a fleet know one another.
package peer

import (
	"log/slog"
	"net"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/swar-tts/swar/cmd/internal/launch"
	"github.com/swar-tts/swar/runtime/grpcauth"
)

// Flags are the credentials of a process, and what it requires of peers.
type Flags struct {
	token     string // its file
	files     grpcauth.Files
	plaintext bool
}

// Define defines all of them.
func (p *Flags) Define(f *pflag.FlagSet) {
	f.StringVar(&p.token, "token-file", "",
		"`file` with the token that all processes share; of several, one a line, the first is sent and all are accepted")
	f.StringVar(&p.files.Cert, "tls-cert", "", "`file` with the certificate of this process, which names its role")
	f.StringVar(&p.files.Key, "tls-key", "", "`file` with the key of that")
	f.StringVar(&p.files.CA, "tls-ca", "",
		"`file` with the certificate of the authority that signs those of all processes")
	f.BoolVar(&p.plaintext, "plaintext", false,
		"allow plain text between machines, for example inside a service mesh")
}

// Check refuses settings that contradict one another, or would accept every peer.
func (p *Flags) Check(cmd *cobra.Command) error {
	switch {
	case p.hasTLS() && (p.files.Cert == "" || p.files.Key == "" || p.files.CA == ""):
		return launch.BadUsage(cmd, "--tls-cert, --tls-key and --tls-ca belong together; give all three or none")
	case p.hasTLS() && p.plaintext:
		return launch.BadUsage(cmd, "--plaintext and --tls-cert contradict each other; drop one of them")
	case !p.hasTLS() && p.token == "":
		return launch.BadUsage(cmd, "processes must authenticate to one another; "+
			"give them a token with --token-file, or certificates with --tls-cert, --tls-key and --tls-ca")
	}
	return nil
}

// CheckListen refuses to listen in plain text on an address that other machines reach. flag is the one that gave it,
// such as --listen. The settings were checked.
func (p *Flags) CheckListen(cmd *cobra.Command, flag, address string) error {
	if p.hasTLS() || p.plaintext || launch.IsLoopback(cmd.Context(), address) {
		return nil
	}
	return launch.BadUsage(cmd, "%s %s is reached by other machines, which could read the token; give --tls-cert, "+
		"--tls-key and --tls-ca, or a loopback address, or --plaintext if the network is protected", flag, address)
}

// CheckDial refuses to speak in plain text to an address beyond this machine. flag is the one that gave it, such as
// --portal-addr. The settings were checked.
func (p *Flags) CheckDial(cmd *cobra.Command, flag, address string) error {
	host, _, err := net.SplitHostPort(address)
	if p.hasTLS() || p.plaintext || err == nil && grpcauth.IsLoopback(host) {
		return nil
	}
	return launch.BadUsage(cmd,
		"%s %s may be another machine, and the token could be read on the way; give --tls-cert, "+
			"--tls-key and --tls-ca, or --plaintext if the network is protected", flag, address)
}

// Open reads the files of checked settings. command is named in errors about these files.
func (p *Flags) Open(command string, log *slog.Logger) (c grpcauth.Credentials, err error) {
	c.Plaintext = p.plaintext
	if p.token != "" {
		if c.Token, err = grpcauth.OpenToken(p.token, log); err != nil {
			return c, &launch.UsageError{Command: command, Err: err}
		}
	}
	if p.hasTLS() {
		if c.Certificates, err = grpcauth.Open(p.files, log); err != nil {
			return c, &launch.UsageError{Command: command, Err: err}
		}
	}
	return c, nil
}

func (p *Flags) hasTLS() bool { return p.files != grpcauth.Files{} }
