package call

import (
	"net"
	"net/netip"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/swar-tts/swar/cmd/internal/launch"
)

// DefaultServer is the address of --server.
const DefaultServer = "http://127.0.0.1:8080"

// Address checks the address of a server and returns the beginning of its URLs: "tts.example.com" →
// "https://tts.example.com". The default is https, so that keys are not readable on the way, but http on this machine
// and in private networks.
func Address(cmd *cobra.Command, server string) (string, error) {
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
	return launch.BadUsage(cmd,
		"--server %q: want an address such as tts.example.com, https://tts.example.com/path or 127.0.0.1:8080", server)
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
	if !strings.ContainsAny(host, ".:") ||
		strings.HasSuffix(host, ".localhost") { // a name that only this network knows
		return "http"
	}
	return "https"
}
