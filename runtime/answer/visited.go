package answer

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// VisitedURL returns the base URL under which the client of r reaches this server. It is public, unless public is a
// loopback address and r came by another name. It is for texts that only the sender reads, who may say anything.
func VisitedURL(r *http.Request, public string) string {
	u, err := url.Parse(public)
	if public != "" && (err != nil || !isThisMachine(u.Hostname())) {
		return public
	}
	host := hostName(r.Host)
	if host == "" || isThisMachine(host) && public != "" {
		return public
	}
	scheme := "http://"
	if r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https" {
		scheme = "https://"
	}
	return scheme + r.Host
}

// isThisMachine reports whether a host means the machine of whoever calls it.
func isThisMachine(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && (ip.Unmap().IsLoopback() || ip.IsUnspecified())
}

// hostName is the name in a Host header, empty where it is none that may stand in a page.
func hostName(header string) string {
	host, port, err := net.SplitHostPort(header)
	if err != nil {
		host, port = strings.TrimSuffix(strings.TrimPrefix(header, "["), "]"), "80"
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil || len(host) > 253 {
		return ""
	}
	if _, err := netip.ParseAddr(host); err == nil && !strings.Contains(host, "%") {
		return host
	}
	isOther := func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '.')
	}
	if host == "" || strings.ContainsFunc(host, isOther) || strings.Contains(header, "[") {
		return ""
	}
	return host
}
