package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/swar-tts/swar/portal/dataplane"
	"github.com/swar-tts/swar/portal/rest"
	"github.com/swar-tts/swar/portal/tenant"
	book "github.com/swar-tts/swar/portal/usage"
	"github.com/swar-tts/swar/runtime/access"
	"github.com/swar-tts/swar/runtime/meter"
	"github.com/swar-tts/swar/runtime/metrics"
)

const (
	shipLimit  = 10 * time.Second // for bringing the last usage into the store; what is left then stays in the log for the next start
	sweepEvery = time.Hour
)

// portal is organisations, keys, usage and bills, in the process that speaks.
type portal struct {
	flags *storeFlags
	log   *slog.Logger

	records records
	events  *meter.Log
	shipper *meter.Shipper
	keys    *access.KeyCache
	feed    *dataplane.Feed // of keys
	tenancy *tenant.Service
	reports *book.Reports
	admin   *admin                        // nil until the portal is open
	works   []func(context.Context) error // what runs while the portal does

	difference atomic.Int64 // that the last comparison of the books has found
}

// openPortal opens everything and starts nothing. voices are those of the model.
func openPortal(
	ctx context.Context, flags *storeFlags, signIn *signInFlags, voices []string, log *slog.Logger,
) (_ *portal, err error) {
	if err := flags.make(); err != nil {
		return nil, err
	}
	p := &portal{flags: flags, log: log, keys: access.NewKeyCache(access.KeyCacheConfig{})}
	if p.records, err = flags.open(ctx, log); err != nil {
		return nil, err
	}
	if p.events, err = meter.OpenLog(meter.LogConfig{Folder: flags.events()}, log); err != nil {
		return nil, errors.Join(err, p.records.Close())
	}
	p.shipper = meter.NewShipper(meter.ShipperConfig{}, p.events, book.NewLedger(p.records), log)
	p.feed = dataplane.NewFeed(p.records, log)
	p.tenancy = tenant.New(tenant.Config{
		Voices: voices, InvitedOnly: signIn.invitedOnly, Domains: signIn.domains, Refuse: p.refuse, Log: log,
	}, p.records)
	upkeep, err := book.NewUpkeep(book.UpkeepConfig{}, p.records, log)
	if err == nil {
		p.reports, err = book.NewReports(p.records, nil)
	}
	if err != nil {
		return nil, errors.Join(err, p.close())
	}
	p.works = []func(context.Context) error{
		p.events.Run,
		p.shipper.Run,
		p.sweep,
		p.tenancy.Run,
		func(ctx context.Context) error { return dataplane.Local(ctx, p.feed, p.keys, p.log) },
		func(ctx context.Context) error {
			return upkeep.Run(ctx, func(f book.Findings) { p.difference.Store(f.Difference()) })
		},
	}
	return p, nil
}

// open makes the ways into the portal, which run with it: the API and the sign-in pages, which it returns, and the
// socket for commands. config needs what the portal does not know.
func (p *portal) open(ctx context.Context, auth *authenticator, config rest.Config) (http.Handler, error) {
	config.Tenancy, config.Reports, config.Log = p.tenancy, p.reports, p.log
	config.Verifier, config.Mailer, config.AwaitKey = auth.verifier, auth, p.feed.AwaitKey
	api, err := rest.New(config)
	if err != nil {
		return nil, err
	}
	if p.admin, err = openAdmin(ctx, p.flags.socket(), config, auth.issuer, p.log); err != nil {
		return nil, err
	}
	p.works = append(append(p.works, auth.works()...), p.admin.run)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasPrefix(r.URL.Path, "/portal"):
			api.ServeHTTP(w, r)
		case auth.issuer != nil:
			auth.issuer.ServeHTTP(w, r)
		default:
			http.NotFound(w, r)
		}
	}), nil
}

// run works until ctx ends, or until a part of it fails. Then it brings into the store what was spoken, and closes everything. Whatever
// counts usage must have ended before ctx does.
func (p *portal) run(ctx context.Context) error {
	working, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var running sync.WaitGroup
	for _, work := range p.works {
		running.Go(func() {
			if err := work(working); err != nil && working.Err() == nil {
				stop(err)
			}
		})
	}
	running.Wait()
	var failed error
	if ctx.Err() == nil {
		failed = fmt.Errorf("the portal failed: %w", context.Cause(working))
	}
	shipping, cancel := context.WithTimeout(context.WithoutCancel(ctx), shipLimit)
	defer cancel()
	if err := p.shipper.Drain(shipping); err != nil {
		p.log.Warn("usage stays in the log until the next start, because the store does not take it", "events", p.events.Backlog().Queued, "error", err)
	}
	return errors.Join(failed, p.close())
}

// sweep deletes what has expired, now and every hour.
func (p *portal) sweep(ctx context.Context) error {
	hourly := time.NewTicker(sweepEvery)
	defer hourly.Stop()
	for {
		records, err := p.records.Sweep(ctx, time.Now())
		links, other := p.records.SweepSignin(ctx, time.Now())
		if err := errors.Join(err, other); err != nil && ctx.Err() == nil {
			p.log.Warn("not everything that has expired was deleted; it is tried again in an hour", "error", err)
		}
		if n := records + links; n > 0 {
			p.log.Debug("deleted what has expired", "records", n)
		}
		select {
		case <-hourly.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// close closes what was opened. It is for a portal that does not run, or no longer does.
func (p *portal) close() error { return errors.Join(p.events.Close(), p.records.Close()) }

// abandon is close for a portal that never ran.
func (p *portal) abandon() error {
	if p.admin == nil {
		return p.close()
	}
	return errors.Join(p.admin.close(), p.close())
}

// refuse ends a key here before the answer about it leaves, and for all that the feed reaches.
func (p *portal) refuse(k tenant.Key) {
	p.feed.Refuse(k.Hash)
	p.keys.Apply([]access.Entry{{Hash: k.Hash, Revoked: true}})
}

// register lets be seen what the portal is asked, and how keys and usage are.
func (p *portal) register(m *metrics.Registry) *metrics.Portal {
	m.RegisterUsage(func() metrics.UsageCounts {
		b := p.events.Backlog()
		return metrics.UsageCounts{Queued: b.Queued + int64(b.Waiting), Lost: b.Lost, Delay: p.shipper.Delay()}
	})
	m.RegisterKeys(func() metrics.KeyCounts {
		keys, current := p.keys.Size()
		return metrics.KeyCounts{Keys: keys, Current: current}
	})
	return m.RegisterPortal(p.difference.Load)
}

// keyring knows the keys of the command line and those of the portal. Nobody is billed for the former.
type keyring struct {
	static *access.Static // nil without any
	cache  *access.KeyCache
}

// Grant implements [access.Keyring].
func (k keyring) Grant(ctx context.Context, creds access.Credentials) (access.Grant, error) {
	if k.static != nil {
		if grant, err := k.static.Grant(ctx, creds); err == nil {
			return grant, nil
		}
	}
	return k.cache.Grant(ctx, creds)
}

// firstKey makes an organisation, a project and a key where there is no organisation yet, and returns the key; it is empty otherwise.
func (p *portal) firstKey(ctx context.Context) (string, error) {
	operator := tenant.Operator()
	orgs, err := p.tenancy.Orgs(ctx, operator, "", 1)
	if err != nil || len(orgs) > 0 {
		return "", err
	}
	// Of two servers that begin on one store at once, only one makes them.
	org, err := p.tenancy.CreateOrg(ctx, operator, "My organisation", tenant.Once{Key: "first-organisation"})
	if err != nil {
		return "", err
	}
	key, err := p.tenancy.CreateKey(ctx, operator, org.Projects[0].ID, "First key", nil, tenant.Once{Key: "first-key"})
	if err != nil {
		return "", err
	}
	p.awaitFirstKey(ctx)
	return key.Secret, nil
}

// awaitFirstKey waits until the first key is good, so that nobody who reads it is faster. It does not wait for long:
// the key is on its way.
func (p *portal) awaitFirstKey(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		if keys, _ := p.keys.Size(); keys > 0 {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}
