// Package portal assembles the portal. It has a store, the rules and reports over it, sign-in, the API, and the
// socket for commands on this machine. It links no engine.
package portal

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/swar-tts/swar/portal/dataplane"
	"github.com/swar-tts/swar/portal/signin"
	"github.com/swar-tts/swar/portal/tenant"
	book "github.com/swar-tts/swar/portal/usage"
	"github.com/swar-tts/swar/runtime/speech"
)

const sweepEvery = time.Hour

// Config configures a portal. Every field is required.
type Config struct {
	Store  StoreFlags          // which were checked
	SignIn SignInFlags         // likewise
	Model  func() speech.Model // what is spoken with now
	Refuse func(tenant.Key)    // ends a key where this process checks it, at once; nil where it checks none
	Log    *slog.Logger
}

// voices returns the names of the voices that are spoken with now.
func (c *Config) voices() (names []string) {
	for _, v := range c.Model().Voices {
		names = append(names, v.Name)
	}
	return names
}

// Portal is organisations, keys, usage and bills.
type Portal struct {
	config  Config
	records Records
	feed    *dataplane.Feed
	tenancy *tenant.Service
	reports *book.Reports
	socket  *socket                       // nil until there is a handler
	issuer  *signin.Issuer                // likewise, and without sign-in by e-mail
	mail    string                        // delivery of mails; empty until there is a handler
	works   []func(context.Context) error // what runs while the portal does

	addresses []string // under which people reach the server, the issuer's first

	difference atomic.Int64 // that the last comparison of the books has found
}

// Open opens the store and the services on it, but starts nothing.
func Open(ctx context.Context, c Config) (_ *Portal, err error) {
	if err := c.Store.MakeFolder(); err != nil {
		return nil, err
	}
	p := &Portal{config: c}
	if p.records, err = c.Store.open(ctx, c.Log); err != nil {
		return nil, err
	}
	p.feed = dataplane.NewFeed(p.records, c.Log)
	p.tenancy = tenant.New(tenant.Config{
		Voices: c.voices, InvitedOnly: c.SignIn.invitedOnly, Domains: c.SignIn.domains, Refuse: p.refuse, Log: c.Log,
	}, p.records)
	upkeep, err := book.NewMaintenance(book.MaintenanceConfig{}, p.records, c.Log)
	if err == nil {
		p.reports, err = book.NewReports(p.records, nil)
	}
	if err != nil {
		return nil, errors.Join(err, p.Close())
	}
	p.works = []func(context.Context) error{
		p.sweep,
		p.tenancy.Run,
		func(ctx context.Context) error {
			return upkeep.Run(ctx, func(f book.Findings) { p.difference.Store(f.Difference()) })
		},
	}
	return p, nil
}

// Tenancy returns the rules of organisations, members and keys.
func (p *Portal) Tenancy() *tenant.Service { return p.tenancy }

// PublicURL is the configured address of the server; empty without one.
func (p *Portal) PublicURL() string { return strings.TrimSuffix(p.config.SignIn.publicURL, "/") }

// Check asks the store for something, and returns why it does not answer.
func (p *Portal) Check(ctx context.Context) error {
	_, err := p.tenancy.Orgs(ctx, tenant.Operator(), "", 1)
	return err
}

// Run works until ctx ends, or until a part of it fails.
func (p *Portal) Run(ctx context.Context) error {
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
	if ctx.Err() != nil {
		return nil
	}
	return fmt.Errorf("the portal failed: %w", context.Cause(working))
}

// Close closes a portal that does not run, or no longer does.
func (p *Portal) Close() error {
	if p.socket == nil {
		return p.records.Close()
	}
	return errors.Join(p.socket.close(), p.records.Close())
}

// AwaitKey waits until every router knows that k was created, changed or revoked, for a second at most.
func (p *Portal) AwaitKey(ctx context.Context, k tenant.Key) { p.feed.AwaitKey(ctx, k) }

// refuse revokes a key at every router of the feed, even if the store cannot be written.
func (p *Portal) refuse(k tenant.Key) {
	p.feed.Refuse(k.Hash)
	if p.config.Refuse != nil {
		p.config.Refuse(k)
	}
}

// sweep deletes what has expired, now and every hour.
func (p *Portal) sweep(ctx context.Context) error {
	hourly := time.NewTicker(sweepEvery)
	defer hourly.Stop()
	for {
		records, err := p.records.Sweep(ctx, time.Now())
		links, other := p.records.SweepSignin(ctx, time.Now())
		if err := errors.Join(err, other); err != nil && ctx.Err() == nil {
			p.config.Log.Warn("not everything that has expired was deleted; it is tried again in an hour", "error", err)
		}
		if n := records + links; n > 0 {
			p.config.Log.Debug("deleted what has expired", "records", n)
		}
		select {
		case <-hourly.C:
		case <-ctx.Done():
			return nil
		}
	}
}
