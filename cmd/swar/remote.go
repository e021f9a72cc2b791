package main

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/swar-tts/swar/client"
)

// remote is the server that a command talks to.
type remote struct {
	server string
	key    string
}

const defaultServer = "http://127.0.0.1:8080"

func (r *remote) flags(f *pflag.FlagSet) {
	f.StringVar(&r.server, "server", defaultServer, "`address` of the server")
	f.StringVar(&r.key, "key", "", "API `key`, if the server wants one")
}

func (r *remote) client(cmd *cobra.Command) (*client.Client, error) {
	c, err := client.New(r.server, client.Options{Key: r.key, Retry: true, UserAgent: "swar/" + version})
	if err != nil {
		return nil, usage(cmd, "--server %q: want http://host:port or https://host", r.server)
	}
	return c, nil
}
