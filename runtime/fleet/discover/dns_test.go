package discover

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// names is a resolver that answers as a test tells it.
type names struct {
	mu     sync.Mutex
	answer func(context.Context) ([]netip.Addr, error)
	asked  []time.Time
	looked string // up: network and host
}

func (n *names) LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error) {
	n.mu.Lock()
	n.looked, n.asked = network+" "+host, append(n.asked, time.Now())
	answer := n.answer
	n.mu.Unlock()
	return answer(ctx)
}

func (n *names) do(answer func(context.Context) ([]netip.Addr, error)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.answer = answer
}

func (n *names) are(ips ...string) {
	n.do(func(context.Context) (all []netip.Addr, _ error) {
		for _, ip := range ips {
			all = append(all, netip.MustParseAddr(ip))
		}
		return all, nil
	})
}

func (n *names) fail(err error) {
	n.do(func(context.Context) ([]netip.Addr, error) { return nil, err })
}

// logged is a log that is read while it is written.
type logged struct {
	mu sync.Mutex
	bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Buffer.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Buffer.String()
}

var (
	errNoHost  = &net.DNSError{Err: "no such host", Name: "swar-worker", IsNotFound: true}
	errServers = &net.DNSError{Err: "server misbehaving", Name: "swar-worker", IsTemporary: true}
)

// round is longer than the time between two lookups, and shorter than that between three.
const round = 7 * time.Second

// lookUp runs a source of swar-worker:9090 in a bubble. n has its first answer.
func lookUp(t *testing.T, n *names, test func(h *heard, log *logged)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var log logged
		d, err := NewDNS(DNSConfig{Address: "swar-worker:9090", Resolver: n,
			Log: slog.New(slog.NewTextHandler(&log, nil))})
		if err != nil {
			t.Fatal(err)
		}
		h := listen(t, d)
		test(h, &log)
		h.end(t)
	})
}

func TestDNSTellsEveryChange(t *testing.T) {
	n := &names{}
	n.are("10.0.0.2", "::ffff:10.0.0.1", "2001:db8::1", "10.0.0.2")
	lookUp(t, n, func(h *heard, log *logged) {
		h.want(t, "10.0.0.1:9090 10.0.0.2:9090 [2001:db8::1]:9090")
		if got, want := n.looked, "ip swar-worker"; got != want {
			t.Errorf("looked up %s, want %s", got, want)
		}
		n.are("2001:db8::1", "10.0.0.2", "10.0.0.1")
		time.Sleep(round)
		h.want(t) // in another order it is the same
		n.are("10.0.0.3")
		time.Sleep(round)
		h.want(t, "10.0.0.3:9090")
		if log.String() != "" {
			t.Errorf("logged %s", log.String())
		}
	})
}

func TestDNSKeepsWhatItKnows(t *testing.T) {
	for name, fail := range map[string]func(*names){
		"servers that fail":  func(n *names) { n.fail(errServers) },
		"no such name":       func(n *names) { n.fail(errNoHost) },
		"an empty answer":    func(n *names) { n.are() },
		"an answer too late": func(n *names) { n.do(never) },
	} {
		t.Run(name, func(t *testing.T) {
			n := &names{}
			n.are("10.0.0.1", "10.0.0.2")
			lookUp(t, n, func(h *heard, log *logged) {
				h.want(t, "10.0.0.1:9090 10.0.0.2:9090")
				fail(n)
				time.Sleep(time.Minute)
				h.want(t)
				if got := strings.Count(log.String(), "\n"); got != 1 ||
					!strings.Contains(log.String(), "those known stay") {
					t.Errorf("logged %d lines, want one: %s", got, log.String())
				}
				n.are("10.0.0.1", "10.0.0.2")
				time.Sleep(2 * round)
				h.want(t)
				if got := strings.Count(log.String(), "\n"); got != 2 || !strings.Contains(log.String(), "again") {
					t.Errorf("logged %d lines, want that pods are found again: %s", got, log.String())
				}
			})
		})
	}
}

func never(ctx context.Context) ([]netip.Addr, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func TestDNSTheFirstAnswerMayBeNone(t *testing.T) {
	n := &names{}
	n.fail(errServers)
	lookUp(t, n, func(h *heard, _ *logged) {
		h.want(t) // whether there are any is not known
		n.fail(errNoHost)
		time.Sleep(round)
		h.want(t, "")
		n.are()
		time.Sleep(round)
		h.want(t)
		n.are("10.0.0.1")
		time.Sleep(round)
		h.want(t, "10.0.0.1:9090")
	})
}

func TestDNSAsksEveryFiveSecondsOrSo(t *testing.T) {
	n := &names{}
	n.are("10.0.0.1")
	lookUp(t, n, func(h *heard, _ *logged) {
		time.Sleep(20 * time.Minute)
		h.want(t, "10.0.0.1:9090")
		shortest, longest := time.Hour, time.Duration(0)
		h.stop(errEnd)
		synctest.Wait()
		for i, at := range n.asked[1:] {
			pause := at.Sub(n.asked[i])
			shortest, longest = min(shortest, pause), max(longest, pause)
		}
		if shortest < 3750*time.Millisecond || longest > 6250*time.Millisecond || longest-shortest < time.Second {
			t.Errorf("asked every %v to %v, want about 5 s, a quarter more or less", shortest, longest)
		}
	})
}

func TestDNSThatDoesNotAnswerEndsAtOnce(t *testing.T) {
	lookUp(t, &names{answer: never}, func(h *heard, log *logged) {
		began := time.Now()
		h.want(t)
		h.stop(errEnd)
		synctest.Wait()
		if took := time.Since(began); took != 0 || log.String() != "" {
			t.Errorf("ended after %v, logging %s", took, log.String())
		}
	})
}

func TestNewDNSRefuses(t *testing.T) {
	log := slog.New(slog.DiscardHandler)
	for want, cfg := range map[string]DNSConfig{
		`address "swar-worker": want HOST:PORT, an address of IPv6 as [::1]:9090`: {Address: "swar-worker", Log: log},
		`address "swar-worker:grpc": the port must be a number from 1 to 65535`:   {Address: "swar-worker:grpc", Log: log},
		"an address is empty: want HOST:PORT, with commas between several":        {Log: log},
		"discover: Every is -1s, and must not be negative":                        {Address: "a:1", Every: -time.Second, Log: log},
		"discover: Log is required":                                               {Address: "a:1"},
	} {
		if _, err := NewDNS(cfg); err == nil || err.Error() != want {
			t.Errorf("NewDNS(%+v) = %v, want %s", cfg, err, want)
		}
	}
	if !isNotFound(errors.Join(errNoHost)) || isNotFound(errServers) {
		t.Error("what is not found is mistaken")
	}
}
