package launch

import (
	"net/netip"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// ProxyFlags list the reverse proxies before a server.
type ProxyFlags struct {
	texts   []string
	trusted []netip.Prefix
}

// Define defines --trust-proxy.
func (p *ProxyFlags) Define(f *pflag.FlagSet) {
	f.StringArrayVar(&p.texts, "trust-proxy", nil,
		"`network` of trusted reverse proxies, such as 10.0.0.0/8, whose X-Forwarded-For counts; can be repeated")
}

// Check refuses an address that is not a network.
func (p *ProxyFlags) Check(cmd *cobra.Command) error {
	p.trusted = nil
	for _, text := range p.texts {
		network, err := netip.ParsePrefix(text)
		if err != nil {
			return BadUsage(cmd, "--trust-proxy %q: want a network such as 10.0.0.0/8", text)
		}
		p.trusted = append(p.trusted, network)
	}
	return nil
}

// Trusted returns their networks, once they were checked.
func (p *ProxyFlags) Trusted() []netip.Prefix { return p.trusted }
