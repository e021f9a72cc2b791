package firestore

import (
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
)

// emulator is the address of the emulator that the tests use; empty where there is none.
var emulator string

// TestMain runs the tests beside an emulator: the one that FIRESTORE_EMULATOR_HOST names, or one that hack/firestore-emulator.sh starts.
func TestMain(m *testing.M) {
	emulator = os.Getenv("FIRESTORE_EMULATOR_HOST")
	if emulator != "" {
		flag.Parse()
		flag.Set("test.parallel", "8")         // the tests wait for the emulator most of the time
		os.Unsetenv("FIRESTORE_EMULATOR_HOST") // else Firestore's client opens a connection of its own besides, which nobody closes
		os.Exit(m.Run())
	}
	const script = "../../hack/firestore-emulator.sh"
	if out, err := exec.Command(script).CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "\n*** portal/firestore IS NOT TESTED against Firestore: %s ***\n\n", strings.TrimSpace(string(out)))
		os.Exit(m.Run())
	}
	again := exec.Command(script, os.Args...)
	again.Stdout, again.Stderr = os.Stdout, os.Stderr
	err := again.Run()
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		os.Exit(failed.ExitCode())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
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
