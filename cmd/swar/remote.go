package main

import (
	"net"
	"net/netip"
	"net/url"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/swar-tts/swar/client"
	"github.com/swar-tts/swar/cmd/internal/launch"
)

// remote is the server that a command talks to.
type remote struct {
	server string
	key    string

	base string // the address that server means, once there is a client
}

const defaultServer = "http://127.0.0.1:8080"

func (r *remote) flags(f *pflag.FlagSet) {
	f.StringVar(&r.server, "server", defaultServer, "`address` of the server")
	f.StringVar(&r.key, "key", "", "API `key`, if the server wants one")
}

func (r *remote) client(cmd *cobra.Command) (c *client.Client, err error) {
	if r.base, err = serverAddress(cmd, r.server); err != nil {
		return nil, err
	}
	return client.New(r.base, client.Options{Key: r.key, Retry: true, UserAgent: "swar/" + version})
}

// serverAddress checks the address of a server, and returns it as the beginning of URLs. Without a scheme it means
// https, because keys are not for everybody on the way, but http on this machine and in private networks.
func serverAddress(cmd *cobra.Command, server string) (string, error) {
	address := server
	if !strings.Contains(address, "://") {
		address = schemeOf(address) + "://" + address
	}
	u, err := url.Parse(address)
	if err != nil {
		return "", badAddress(cmd, server)
	}
	isWeb := u.Scheme == "http" || u.Scheme == "https"
	isPlain := u.RawQuery == "" && u.Fragment == "" && u.User == nil
	if !isWeb || !isPlain || u.Hostname() == "" {
		return "", badAddress(cmd, server)
	}
	return strings.TrimRight(address, "/"), nil
}

func badAddress(cmd *cobra.Command, server string) error {
	return launch.BadUsage(cmd, "--server %q: want an address such as tts.example.com, https://tts.example.com/path or 127.0.0.1:8080", server)
}

// schemeOf chooses how to talk to an address without a scheme.
func schemeOf(address string) string {
	host, _, _ := strings.Cut(address, "/")
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	host = strings.Trim(host, "[]")
	if ip, err := netip.ParseAddr(host); err == nil && (ip.IsLoopback() || ip.IsPrivate()) {
		return "http"
	}
	if !strings.ContainsAny(host, ".:") || strings.HasSuffix(host, ".localhost") { // a name that only this network knows
		return "http"
	}
	return "https"
}
