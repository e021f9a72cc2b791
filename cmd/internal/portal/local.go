package portal

import (
	"context"
	"errors"
	"time"

	"github.com/swar-tts/swar/portal/dataplane"
	"github.com/swar-tts/swar/portal/tenant"
	book "github.com/swar-tts/swar/portal/usage"
	"github.com/swar-tts/swar/runtime/access"
	"github.com/swar-tts/swar/runtime/meter"
	"github.com/swar-tts/swar/runtime/metrics"
)

// shipLimit is for bringing the last usage into the store; what is left then stays in the log for the next start.
const shipLimit = 10 * time.Second

// Local is a portal with its only front end in the same process. Keys and usage pass between them without a network.
type Local struct {
	*Portal

	keys    *access.KeyCache
	events  *meter.Log
	shipper *meter.Shipper
}

// OpenLocal opens everything and starts nothing. c needs no Refuse.
func OpenLocal(ctx context.Context, c Config) (_ *Local, err error) {
	l := &Local{keys: access.NewKeyCache(access.KeyCacheConfig{})}
	c.Refuse = func(k tenant.Key) { l.keys.Apply([]access.Entry{{Hash: k.Hash, Revoked: true}}) }
	if l.Portal, err = Open(ctx, c); err != nil {
		return nil, err
	}
	if l.events, err = meter.OpenLog(meter.LogConfig{Folder: c.Store.Events()}, c.Log); err != nil {
		return nil, errors.Join(err, l.Portal.Close())
	}
	l.shipper = meter.NewShipper(meter.ShipperConfig{}, l.events, book.NewLedger(l.records), c.Log)
	l.works = append(l.works, l.events.Run, l.shipper.Run, func(ctx context.Context) error {
		return dataplane.Local(ctx, l.feed, l.keys, c.Log)
	})
	return l, nil
}

// Keys returns the keys as the front end knows them.
func (l *Local) Keys() *access.KeyCache { return l.keys }

// Recorder returns what counts the front end's utterances.
func (l *Local) Recorder() *meter.Recorder { return meter.NewRecorder(l.events) }

// Keyring knows static keys, unless that is nil, and the keys of the portal. Use of static keys is not billed.
func (l *Local) Keyring(static *access.Static) access.Keyring { return keyring{static, l.keys} }

// Run works until ctx ends, or until a part fails. Then it writes pending usage to the store: recorders must have ended
// before ctx does.
func (l *Local) Run(ctx context.Context) error {
	err := l.Portal.Run(ctx)
	shipping, cancel := context.WithTimeout(context.WithoutCancel(ctx), shipLimit)
	defer cancel()
	if err := l.shipper.Drain(shipping); err != nil {
		l.config.Log.Warn("usage stays in the log until the next start, because the store does not accept it",
			"events", l.events.Backlog().Queued, "error", err)
	}
	return err
}

// Close closes a portal that does not run, or no longer does.
func (l *Local) Close() error { return errors.Join(l.events.Close(), l.Portal.Close()) }

// Register lets be seen how the keys and the usage of the front end are.
func (l *Local) Register(m *metrics.Registry) {
	m.RegisterUsage(func() metrics.UsageCounts {
		b := l.events.Backlog()
		return metrics.UsageCounts{Queued: b.Queued + int64(b.Waiting), Lost: b.Lost, Forks: b.Forks,
			Delay: l.shipper.Delay()}
	})
	m.RegisterKeys(func() metrics.KeyCounts {
		keys, current := l.keys.Size()
		return metrics.KeyCounts{Keys: keys, Current: current}
	})
}

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
