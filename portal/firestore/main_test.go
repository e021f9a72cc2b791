package firestore

import (
	"flag"
	"fmt"
	"log/slog"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"

	"github.com/swar-tts/swar/internal/testenv/firestoretest"
)

// emulator is the address of the emulator that the tests use; empty where there is none.
var emulator string

func TestMain(m *testing.M) {
	if emulator = firestoretest.Emulator("portal/firestore IS NOT TESTED against Firestore"); emulator != "" {
		flag.Parse()
		flag.Set("test.parallel", "8") // the tests wait for the emulator most of the time
	}
	os.Exit(m.Run())
}

func needEmulator(t testing.TB) {
	t.Helper()
	if emulator == "" {
		t.Skip("there is no Firestore emulator; hack/firestore-emulator.sh says how to install it")
	}
}

var projects atomic.Int64

// newProject names an empty database: an emulator makes one for each project that is asked for.
func newProject() string {
	return fmt.Sprintf("demo-%x-%d", time.Now().UnixNano(), projects.Add(1))
}

func openProject(t testing.TB, project string, change func(*Config), dial ...grpc.DialOption) *Store {
	t.Helper()
	needEmulator(t)
	cfg := Config{Project: project, Emulator: emulator, Log: slog.New(slog.DiscardHandler), Dial: dial}
	if change != nil {
		change(&cfg)
	}
	s, err := New(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func open(t testing.TB) *Store { return openProject(t, newProject(), nil) }
