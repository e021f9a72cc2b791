package dataplane

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/swar-tts/swar/portal/firestore"
	"github.com/swar-tts/swar/portal/memstore"
	"github.com/swar-tts/swar/portal/sqlite"
	"github.com/swar-tts/swar/portal/tenant"
)

// emulator is the address of a Firestore emulator; empty where there is none. `hack/firestore-emulator.sh go test
// ./portal/dataplane` runs the tests beside one.
var emulator = os.Getenv("FIRESTORE_EMULATOR_HOST")

func init() {
	// else Firestore's client opens a connection of its own besides, which nobody closes
	os.Unsetenv("FIRESTORE_EMULATOR_HOST")
}

// stores are those that the portal can run on.
var stores = map[string]func(*testing.T) tenant.Store{
	"memory": func(*testing.T) tenant.Store { return memstore.New() },
	"SQLite": func(t *testing.T) tenant.Store {
		s, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(t.TempDir(), "swar.db")})
		return closing(t, s, err)
	},
	"Firestore": func(t *testing.T) tenant.Store {
		if emulator == "" {
			t.Skip("NOT TESTED with Firestore: there is no emulator; run hack/firestore-emulator.sh go test ./portal/dataplane")
		}
		s, err := firestore.New(t.Context(), firestore.Config{Project: fmt.Sprintf("demo-%x", time.Now().UnixNano()),
			Emulator: emulator, Log: quiet})
		return closing(t, s, err)
	},
}

func closing[S tenant.Store](t *testing.T, s S, err error) S {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}
