package main

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/swar-tts/swar/client"
	"github.com/swar-tts/swar/cmd/internal/call"
)

// remote is the server that a command talks to.
type remote struct {
	server string
	key    string

	base string // the address that server means, once there is a client
}

func (r *remote) flags(f *pflag.FlagSet) {
	f.StringVar(&r.server, "server", call.DefaultServer, "`address` of the server")
	f.StringVar(&r.key, "key", "", "API `key`, if the server requires one")
}

func (r *remote) client(cmd *cobra.Command) (c *client.Client, err error) {
	if r.base, err = call.Address(cmd, r.server); err != nil {
		return nil, err
	}
	return client.New(r.base, client.Options{Key: r.key, Retry: true, UserAgent: "swar/" + version})
}
