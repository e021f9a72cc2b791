package dataplane

import (
	"testing"

	"github.com/swar-tts/swar/portal/memstore"
	"github.com/swar-tts/swar/portal/tenant"
)

// stores are those that the portal can run on.
func stores() map[string]func(*testing.T) tenant.Store {
	return map[string]func(*testing.T) tenant.Store{
		"memory": func(*testing.T) tenant.Store { return memstore.New() },
	}
}
