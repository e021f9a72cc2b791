package serve

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// ClientIP returns the address of the client of a request, also to handlers beside the API. The zero value means
// unknown.
func (s *Server) ClientIP(r *http.Request) netip.Addr { return ClientIP(r, s.cfg.TrustProxies) }

// ClientIP returns the address of the client. What a request says about that is believed only as far as trusted
// proxies have said it: each adds the address that it was called from at the end of X-Forwarded-For, and everything
// before may be made up. The zero value means that it is not known.
func ClientIP(r *http.Request, trusted []netip.Prefix) netip.Addr {
	ip := addrOf(r.RemoteAddr)
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for _, hop := range slices.Backward(hops) {
		if !ip.IsValid() || !isAmong(ip, trusted) {
			break
		}
		from := addrOf(strings.TrimSpace(hop))
		if !from.IsValid() {
			break
		}
		ip = from
	}
	return ip
}

func isAmong(ip netip.Addr, networks []netip.Prefix) bool {
	return slices.ContainsFunc(networks, func(p netip.Prefix) bool { return p.Contains(ip) })
}

// addrOf reads an address with or without a port.
func addrOf(s string) netip.Addr {
	if withPort, err := netip.ParseAddrPort(s); err == nil {
		return withPort.Addr().Unmap().WithZone("")
	}
	ip, err := netip.ParseAddr(strings.Trim(s, "[]"))
	if err != nil {
		return netip.Addr{}
	}
	return ip.Unmap().WithZone("")
}
