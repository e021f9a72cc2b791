package serve

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
)

func TestClientIP(t *testing.T) {
	trusted := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("2001:db8:9::/48")}
	tests := map[string]struct {
		remote    string
		forwarded []string
		trusted   []netip.Prefix
		want      string
	}{
		"the other end of the connection":              {"203.0.113.7:999", nil, trusted, "203.0.113.7"},
		"the same in IPv6":                             {"[2001:db8::1]:999", nil, trusted, "2001:db8::1"},
		"IPv4 in IPv6 is IPv4":                         {"[::ffff:203.0.113.7]:999", nil, trusted, "203.0.113.7"},
		"a stranger is not believed":                   {"203.0.113.7:999", []string{"198.51.100.1"}, trusted, "203.0.113.7"},
		"nobody is believed by default":                {"10.0.0.1:999", []string{"198.51.100.1"}, nil, "10.0.0.1"},
		"a proxy is believed":                          {"10.0.0.1:999", []string{"198.51.100.1"}, trusted, "198.51.100.1"},
		"a proxy that says nothing":                    {"10.0.0.1:999", nil, trusted, "10.0.0.1"},
		"a proxy behind a proxy":                       {"10.0.0.1:999", []string{"198.51.100.1, 10.0.0.2"}, trusted, "198.51.100.1"},
		"IPv4 and IPv6 on the way":                     {"[2001:db8:9::1]:999", []string{"198.51.100.1,10.0.0.2"}, trusted, "198.51.100.1"},
		"what a client has made up before":             {"10.0.0.1:999", []string{"192.0.2.66, 198.51.100.1"}, trusted, "198.51.100.1"},
		"an address of ours that a client has made up": {"10.0.0.1:999", []string{"10.9.9.9, 198.51.100.1"}, trusted, "198.51.100.1"},
		"a line for each proxy":                        {"10.0.0.1:999", []string{"192.0.2.66", "198.51.100.1", "10.0.0.2"}, trusted, "198.51.100.1"},
		"an address with a port":                       {"10.0.0.1:999", []string{"198.51.100.1:4711"}, trusted, "198.51.100.1"},
		"an address of IPv6":                           {"10.0.0.1:999", []string{"2001:db8::7"}, trusted, "2001:db8::7"},
		"one in brackets":                              {"10.0.0.1:999", []string{"[2001:db8::7]"}, trusted, "2001:db8::7"},
		"one in brackets with a port":                  {"10.0.0.1:999", []string{"[2001:db8::7]:4711"}, trusted, "2001:db8::7"},
		"junk is not looked behind":                    {"10.0.0.1:999", []string{"198.51.100.1, unknown"}, trusted, "10.0.0.1"},
		"nothing is not looked behind":                 {"10.0.0.1:999", []string{"198.51.100.1, "}, trusted, "10.0.0.1"},
		"only proxies":                                 {"10.0.0.1:999", []string{"10.0.0.3, 10.0.0.2"}, trusted, "10.0.0.3"},
		"a connection without an address":              {"@", []string{"198.51.100.1"}, trusted, "invalid IP"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
			r.RemoteAddr = tt.remote
			r.Header["X-Forwarded-For"] = tt.forwarded
			if got := ClientIP(r, tt.trusted).String(); got != tt.want {
				t.Errorf("clientIP = %s, want %s", got, tt.want)
			}
		})
	}
}

// FuzzClientIP: nobody but a trusted proxy can make the client another one, and never one that is no address.
func FuzzClientIP(f *testing.F) {
	for _, seed := range []string{"", "198.51.100.1", "198.51.100.1, 10.0.0.2", "[2001:db8::7]:4711", ",,,",
		"fe80::1%eth0", "10.0.0.1:999999"} {
		f.Add(seed)
	}
	trusted := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
	f.Fuzz(func(t *testing.T, forwarded string) {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
		r.Header["X-Forwarded-For"] = []string{forwarded}
		r.RemoteAddr = "203.0.113.7:999"
		if got := ClientIP(r, trusted); got != netip.MustParseAddr("203.0.113.7") {
			t.Errorf("a stranger that forwards %q is taken for %v", forwarded, got)
		}
		r.RemoteAddr = "10.0.0.1:999"
		if got := ClientIP(r, trusted); !got.IsValid() || got.Zone() != "" || got.Is4In6() {
			t.Errorf("a proxy that forwards %q leads to %v", forwarded, got)
		}
	})
}
