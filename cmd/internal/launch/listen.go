package launch

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"
)

// CheckAddress refuses what no server can listen on. flag is the one that gave it, such as --listen.
func CheckAddress(cmd *cobra.Command, flag, address string) error {
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return BadUsage(cmd, "%s %q: want HOST:PORT, or :PORT for all addresses of this machine", flag, address)
	}
	if _, err := net.DefaultResolver.LookupPort(cmd.Context(), "tcp", port); err != nil {
		return BadUsage(cmd, "%s %q: %q is not a port; want 0 to 65535", flag, address, port)
	}
	return nil
}

// IsLoopback reports whether only this machine reaches address. A name must mean loopback addresses only.
func IsLoopback(ctx context.Context, address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	if ip := net.ParseIP(host); ip != nil {
		return ip.IsLoopback()
	}
	ips, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	isOther := func(ip netip.Addr) bool { return !ip.IsLoopback() }
	return err == nil && len(ips) > 0 && !slices.ContainsFunc(ips, isOther)
}

// URLOf is how a client on this machine calls a server that listens on address.
func URLOf(address string) string {
	host, port, err := net.SplitHostPort(address)
	if ip := net.ParseIP(host); err == nil && ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return "http://" + net.JoinHostPort(host, port)
}

// URLsOf returns the URLs of a server that listens on address, those of this machine first.
func URLsOf(address string) []string {
	all := []string{URLOf(address)}
	host, port, err := net.SplitHostPort(address)
	unspecified, notIP := netip.ParseAddr(host)
	if err != nil || notIP != nil || !unspecified.IsUnspecified() {
		return all
	}
	own, err := net.InterfaceAddrs()
	if err != nil {
		return all
	}
	var v4, v6 []string
	for _, a := range own {
		prefix, err := netip.ParsePrefix(a.String())
		ip := prefix.Addr().Unmap()
		switch {
		case err != nil || !ip.IsGlobalUnicast():
		case ip.Is4():
			v4 = append(v4, "http://"+net.JoinHostPort(ip.String(), port))
		case unspecified.Is6():
			v6 = append(v6, "http://"+net.JoinHostPort(ip.String(), port))
		}
	}
	others := slices.Concat(v4, v6)
	return append(all, others[:min(len(others), maxOwnAddresses)]...)
}

// maxOwnAddresses is how many addresses of this machine are printed, besides the local one.
const maxOwnAddresses = 3

// Listen opens address, which flag gave to command.
func Listen(ctx context.Context, command, flag, address string) (net.Listener, error) {
	c := net.ListenConfig{KeepAlive: 15 * time.Second}
	l, err := c.Listen(ctx, "tcp", address)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("another program, perhaps another `%s`, listens on %s already; choose another address with %s",
			command, address, flag)
	case errors.Is(err, os.ErrPermission):
		return nil, fmt.Errorf("not allowed to listen on %s; choose a port above 1023 with %s", address, flag)
	case err != nil:
		return nil, fmt.Errorf("cannot listen on %s (%s); choose another address with %s", address, Reason(err), flag)
	}
	return l, nil
}

// NewServer returns a server with the limits that all Swar servers have. It does not limit the time of a response,
// because streams last: the API sets a deadline for each write.
func NewServer(h http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler:           h,
		ReadHeaderTimeout: headerTime,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    maxHeader,
		// Mostly handshakes that scanners leave half done.
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
}

// Servers are the HTTP servers of a program. The zero value has none. One goroutine uses it.
type Servers struct {
	added   []served
	running sync.WaitGroup
}

type served struct {
	server   *http.Server
	listener net.Listener
	guard    *guard
}

// Add takes over a server of [NewServer] and its listener. [Servers.Close] closes both. Connections that wait for a
// request are bounded from now on; see [Servers.Closed].
func (s *Servers) Add(h *http.Server, l net.Listener) { s.addGuarded(h, l, newGuard(maxFiles())) }

func (s *Servers) addGuarded(h *http.Server, l net.Listener, g *guard) {
	h.ConnState = g.changed
	s.added = append(s.added, served{h, &guardedListener{l, g}, g})
}

// Closed returns how many connections were closed, or not taken, to keep room for others, by reason: "waiting" or
// "full".
func (s *Servers) Closed(reason string) (n int64) {
	for _, a := range s.added {
		n += a.guard.counts(reason)
	}
	return n
}

// Start begins to serve on everything that was added. It calls fail, from another goroutine, when a server stops
// unexpectedly.
func (s *Servers) Start(fail func(error)) {
	for _, a := range s.added {
		s.running.Go(func() {
			if err := a.server.Serve(a.listener); !errors.Is(err, http.ErrServerClosed) {
				fail(fmt.Errorf("serving %s: %w", a.listener.Addr(), err))
			}
		})
	}
}

// Close cuts what is still being answered, and returns when no server is at work.
func (s *Servers) Close() {
	for _, a := range s.added {
		a.server.Close()
		a.listener.Close() // that of a server which was never started
	}
	s.running.Wait()
}
