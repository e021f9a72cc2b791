// Package memstore keeps the portal in memory, for tests and trials. The process takes it along when it ends.
package memstore

import (
	"github.com/swar-tts/swar/portal/signin"
	"github.com/swar-tts/swar/portal/tenant"
)

// Store keeps everything that the portal stores, each part with its own lock. It is safe for concurrent use.
type Store struct {
	tenancy
	usageTables
	signinRecords
}

// New returns an empty store.
func New() *Store { return &Store{tenancy: newTenancy()} }

var (
	_ tenant.Store = (*Store)(nil)
	_ signin.Store = (*Store)(nil)
)
