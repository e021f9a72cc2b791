package main

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"github.com/swar-tts/swar/runtime/access"
	"github.com/swar-tts/swar/runtime/dataplane"
	"github.com/swar-tts/swar/runtime/grpcauth"
	"github.com/swar-tts/swar/runtime/meter"
	"github.com/swar-tts/swar/runtime/metrics"
)

// accounts are the keys of a portal, and the usage to report to it.
type accounts struct {
	keys    *access.KeyCache
	copy    *access.KeySnapshot
	client  *dataplane.Client
	events  *meter.Log
	shipper *meter.Shipper
	log     *slog.Logger
}

// openAccounts opens the log of usage and what is known of keys, and starts nothing.
func openAccounts(o *options, credentials grpcauth.Credentials, log *slog.Logger) (_ *accounts, err error) {
	a := &accounts{keys: access.NewKeyCache(access.KeyCacheConfig{Grace: o.keyGrace}), log: log}
	if a.events, err = meter.OpenLog(meter.LogConfig{Folder: filepath.Join(o.data, "usage")}, log); err != nil {
		return nil, err
	}
	config := dataplane.ClientConfig{Addr: o.portal, Credentials: credentials}
	if a.client, err = dataplane.NewClient(config, a.keys, log); err != nil {
		return nil, errors.Join(err, a.events.Close())
	}
	a.copy = access.NewKeySnapshot(a.keys, filepath.Join(o.data, "keys"), log) // the log of usage has made the folder
	a.shipper = meter.NewShipper(meter.ShipperConfig{}, a.events, a.client, log)
	return a, nil
}

// run keeps keys up to date and ships usage to the portal, until ctx ends.
func (a *accounts) run(ctx context.Context) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var running sync.WaitGroup
	for _, work := range []func(context.Context) error{a.client.Run, a.copy.Run, a.events.Run, a.shipper.Run} {
		running.Go(func() {
			if err := work(ctx); err != nil && ctx.Err() == nil {
				stop(err)
			}
		})
	}
	running.Wait()
	if err := context.Cause(ctx); !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// ship sends pending usage to the portal for at most limit; the rest stays in the folder.
func (a *accounts) ship(limit time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	if err := a.shipper.Drain(ctx); err != nil {
		a.log.Warn("usage stays in the folder until the next start, because the portal does not accept it",
			"events", a.events.Backlog().Queued, "error", err)
	}
}

func (a *accounts) close() error { return errors.Join(a.events.Close(), a.client.Close()) }

// register lets be seen how keys and usage are.
func (a *accounts) register(m *metrics.Registry) {
	m.RegisterUsage(func() metrics.UsageCounts {
		b := a.events.Backlog()
		return metrics.UsageCounts{Queued: b.Queued + int64(b.Waiting), Lost: b.Lost, Forks: b.Forks,
			Delay: a.shipper.Delay()}
	})
	m.RegisterKeys(func() metrics.KeyCounts {
		keys, current := a.keys.Size()
		return metrics.KeyCounts{Keys: keys, Current: current}
	})
}
