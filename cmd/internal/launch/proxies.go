package launch

import (
	"net/netip"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Proxies are the reverse proxies before a server.
type Proxies struct {
	Networks []netip.Prefix // after Check

	texts []string
}

// Define defines --trust-proxy.
func (p *Proxies) Define(f *pflag.FlagSet) {
	f.StringArrayVar(&p.texts, "trust-proxy", nil,
		"`network` of reverse proxies before this server, such as 10.0.0.0/8, whose X-Forwarded-For is believed; can be repeated")
}

// Check refuses what is no network.
func (p *Proxies) Check(cmd *cobra.Command) error {
	for _, text := range p.texts {
		network, err := netip.ParsePrefix(text)
		if err != nil {
			return BadUsage(cmd, "--trust-proxy %q: want a network such as 10.0.0.0/8", text)
		}
		p.Networks = append(p.Networks, network)
	}
	return nil
}
