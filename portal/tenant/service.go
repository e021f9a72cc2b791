package tenant

import (
	"context"
	"log/slog"
	"slices"
	"time"
)

// Config configures the rules.
type Config struct {
	Voices      func() []string // what keys may be restricted to now: the voices of the model; nil means none
	InvitedOnly bool            // only invited e-mails, and those of Domains, may sign in
	// whose e-mails need no invitation, such as example.org; means something with InvitedOnly only
	Domains []string
	Now     func() time.Time // nil means time.Now

	// Refuse makes all front ends refuse k from now on, although the store does not have that yet. It must not block.
	// Nil: a revocation counts only once it is stored.
	Refuse func(k Key)

	Log *slog.Logger // nil means slog.Default
}

// Service is the rules of tenancy. It is safe for concurrent use. What it knows is in the store, but for revocations
// that the store has not taken yet.
//
// Its methods return a [*Refusal] for what a rule forbids, and the fault of the store, as it is, for all else.
type Service struct {
	cfg      Config
	store    Store
	unstored *revocations
}

// New returns the rules over a store.
func New(cfg Config, store Store) *Service {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Log == nil {
		cfg.Log = slog.Default()
	}
	if cfg.Voices == nil {
		cfg.Voices = func() []string { return nil }
	}
	cfg.Domains = slices.Clone(cfg.Domains)
	return &Service{cfg, store, newRevocations()}
}

// Authorize allows actor to read about an organisation and, when projectID is not empty, one of its projects.
func (s *Service) Authorize(ctx context.Context, actor User, orgID, projectID string) error {
	return s.store.View(ctx, func(r Reader) error {
		return mayReadIn(r, actor, orgID, projectID)
	})
}

// view reads a value. What it returns next to an error is empty, so that nothing leaks past a refusal.
func view[T any](ctx context.Context, s *Service, read func(Reader) (T, error)) (v T, err error) {
	err = s.store.View(ctx, func(r Reader) (err error) {
		v, err = read(r)
		return err
	})
	return orZero(v, err)
}

// update makes a change and returns its result, or nothing when the change was not made.
func update[T any](ctx context.Context, s *Service, change func(Tx) (T, error)) (v T, err error) {
	err = s.store.Update(ctx, func(tx Tx) (err error) {
		v, err = change(tx)
		return err
	})
	return orZero(v, err)
}

func orZero[T any](v T, err error) (T, error) {
	if err != nil {
		var nothing T
		return nothing, err
	}
	return v, nil
}

// now is the time that is written into records.
func (s *Service) now() time.Time { return s.cfg.Now().UTC().Truncate(time.Microsecond) }
