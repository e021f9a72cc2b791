package launch

import (
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
)

func TestIsLoopback(t *testing.T) {
	for address, want := range map[string]bool{
		"127.0.0.1:80": true, "127.8.8.8:80": true, "[::1]:80": true, "localhost:80": true,
		":80": false, "0.0.0.0:80": false, "[::]:80": false, "192.0.2.1:80": false, "127.0.0.1": false, "": false,
	} {
		if got := IsLoopback(t.Context(), address); got != want {
			t.Errorf("IsLoopback(%q) = %v", address, got)
		}
	}
}

func TestURLOf(t *testing.T) {
	for address, want := range map[string]string{
		"127.0.0.1:80": "http://127.0.0.1:80", "0.0.0.0:80": "http://127.0.0.1:80", "[::]:80": "http://127.0.0.1:80",
		"[::1]:80": "http://[::1]:80", "host:80": "http://host:80",
	} {
		if got := URLOf(address); got != want {
			t.Errorf("URLOf(%q) = %q, want %q", address, got, want)
		}
	}
}

func TestServersEndWhenTheyAreAsked(t *testing.T) {
	l, err := Listen(t.Context(), "swar-test", "--listen", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	if _, err := Listen(t.Context(), "swar-test", "--other", address); err == nil ||
		!strings.Contains(err.Error(), "perhaps another `swar-test`") ||
		!strings.HasSuffix(err.Error(), "with --other") {
		t.Errorf("a second one on %s: %v", address, err)
	}
	var s Servers
	s.Add(NewServer(http.NotFoundHandler(), slog.New(slog.DiscardHandler)), l)
	s.Start(func(err error) { t.Errorf("it failed: %v", err) })
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, URLOf(address), http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	resp.Body.Close()
	if resp.StatusCode != http.StatusNotFound {
		t.Errorf("it answers %s", resp.Status)
	}
	s.Close()
	if c, err := new(net.Dialer).DialContext(t.Context(), "tcp", address); err == nil {
		c.Close()
		t.Error("it still listens")
	}
}

func TestServersThatFailSaySo(t *testing.T) {
	l, err := Listen(t.Context(), "swar-test", "--listen", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	var s Servers
	s.Add(NewServer(http.NotFoundHandler(), slog.New(slog.DiscardHandler)), l)
	failed := make(chan error, 1)
	s.Start(func(err error) { failed <- err })
	if err := <-failed; !errors.Is(err, net.ErrClosed) {
		t.Errorf("got %v", err)
	}
	s.Close()
}

func TestServersThatWereNeverStartedLeaveTheirAddress(t *testing.T) {
	l, err := Listen(t.Context(), "swar-test", "--listen", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var s Servers
	s.Add(NewServer(http.NotFoundHandler(), slog.New(slog.DiscardHandler)), l)
	s.Close()
	again, err := Listen(t.Context(), "swar-test", "--listen", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	again.Close()
}
