package discover

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/netip"
	"slices"
	"time"
)

// Resolver looks names up, as [net.Resolver] does.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// DNSConfig is what to look up.
type DNSConfig struct {
	Address  string        // NAME:PORT; every address of the name, A and AAAA, is an endpoint. Required
	Resolver Resolver      // nil: the system's
	Every    time.Duration // between lookups, a quarter more or less; 0 means 5 s
	Log      *slog.Logger  // required
}

// DNS is a [Source] of all addresses of a name, such as that of a headless Service.
//
// A lookup that fails, or finds nothing, keeps the last endpoints: name servers lose their records more often than
// fleets lose all their pods, and dialling detects a missing pod. Only as the first answer, none means none.
type DNS struct {
	cfg        DNSConfig
	host, port string
	failing    bool // has been logged
}

// lookupLimit bounds one lookup. A resolver tries its servers for longer than that.
const lookupLimit = 5 * time.Second

// NewDNS checks cfg and returns a source; it starts nothing.
func NewDNS(cfg DNSConfig) (*DNS, error) {
	if cfg.Log == nil {
		return nil, errors.New("discover: Log is required")
	}
	if err := checkAddress(cfg.Address); err != nil {
		return nil, err
	}
	if cfg.Resolver == nil {
		cfg.Resolver = net.DefaultResolver
	}
	switch {
	case cfg.Every < 0:
		return nil, fmt.Errorf("discover: Every is %v, and must not be negative", cfg.Every)
	case cfg.Every == 0:
		cfg.Every = 5 * time.Second
	}
	host, port, _ := net.SplitHostPort(cfg.Address)
	return &DNS{cfg: cfg, host: host, port: port}, nil
}

// Run implements [Source]. It may run once at a time.
func (d *DNS) Run(ctx context.Context, tell func([]Endpoint)) error {
	var last []Endpoint // nil until the first update
	for {
		all, err := d.lookup(ctx)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		d.report(len(all), err)
		first := last == nil && (err == nil || isNotFound(err))
		if first || len(all) > 0 && !slices.Equal(all, last) {
			last = all
			tell(slices.Clone(all))
		}
		select {
		case <-time.After(d.pause()):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// lookup returns the current addresses of the name; the slice is not nil.
func (d *DNS) lookup(ctx context.Context) ([]Endpoint, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, lookupLimit, fmt.Errorf("no answer within %v", lookupLimit))
	defer cancel()
	found, err := d.cfg.Resolver.LookupNetIP(ctx, "ip", d.host)
	if err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return []Endpoint{}, err
	}
	addresses := make([]string, 0, len(found))
	for _, ip := range found {
		addresses = append(addresses, net.JoinHostPort(ip.Unmap().String(), d.port))
	}
	slices.Sort(addresses)
	all := make([]Endpoint, 0, len(addresses))
	for _, a := range slices.Compact(addresses) {
		all = append(all, Endpoint{Address: a})
	}
	return all, nil
}

func isNotFound(err error) bool {
	e, ok := errors.AsType[*net.DNSError](err)
	return ok && e.IsNotFound
}

// report logs that lookups fail or find nothing, once until one finds something again.
func (d *DNS) report(found int, err error) {
	if err == nil && found == 0 {
		err = errors.New("the name has no addresses")
	}
	switch {
	case err != nil && !d.failing:
		d.cfg.Log.Warn("no worker pods are found in DNS; those known stay", "address", d.cfg.Address, "error", err)
	case err == nil && d.failing:
		d.cfg.Log.Info("worker pods are found in DNS again", "address", d.cfg.Address, "pods", found)
	}
	d.failing = err != nil
}

// pause keeps many routers from asking at the same time.
func (d *DNS) pause() time.Duration {
	return d.cfg.Every*3/4 + rand.N(d.cfg.Every/2+1)
}
