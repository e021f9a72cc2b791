package espeakng

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/swar-tts/swar/runtime/internal/quickexit"
	"github.com/swar-tts/swar/runtime/speech"
)

// The tests run this binary again as a program that behaves as the environment says, by a variable that every
// program is given because its name begins like those of a language.
const fakeEnv = "LC_SWAR_TEST_FAKE"

func TestMain(m *testing.M) {
	switch os.Getenv(fakeEnv) {
	case "echoes":
		text, _ := io.ReadAll(os.Stdin)
		os.Stdout.WriteString(strings.Join(os.Args[1:], " ") + ":")
		os.Stdout.Write(text)
		quickexit.Exit(0)
	case "hangs":
		time.Sleep(time.Hour)
	case "is killed": // as long as there is a file to take away
		if files, _ := os.ReadDir(os.Args[1]); len(files) > 0 {
			_ = os.Remove(filepath.Join(os.Args[1], files[0].Name()))
			self, _ := os.FindProcess(os.Getpid())
			_ = self.Kill()
			time.Sleep(time.Hour)
		}
		os.Stdout.WriteString("said")
		quickexit.Exit(0)
	case "fails":
		os.Stderr.WriteString("no data\n")
		quickexit.Exit(2)
	}
	goleak.VerifyTestMain(m)
}

func fake(t *testing.T, how string) Program {
	t.Helper()
	t.Setenv(fakeEnv, how)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Program{Path: self}
}

func TestRun(t *testing.T) {
	for _, length := range []int{0, 1, maxAnswer - 4, maxAnswer - 3, maxAnswer - 2} {
		text := strings.Repeat("x", length)
		got, err := fake(t, "echoes").Run(t.Context(), text, "-q")
		if want := ("-q:" + text)[:min(3+length, maxAnswer)]; err != nil || got != want {
			t.Errorf("%d bytes: %d in answer, %v; want %d", length, len(got), err, len(want))
		}
	}
	if _, err := fake(t, "fails").Run(t.Context(), "", "-q"); err == nil ||
		err.Error() != "-q: exit status 2: no data" {
		t.Errorf("a program that fails: %v", err)
	}
	p := fake(t, "hangs")
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(20*time.Millisecond, func() { cancel(speech.ErrClientGone) })
	if _, err := p.Run(ctx, ""); err != speech.ErrClientGone {
		t.Errorf("a cancelled run: %v, want %v", err, speech.ErrClientGone)
	}
	if _, err := p.Query(20*time.Millisecond, "--version"); err == nil || err.Error() != "no answer in 20ms" {
		t.Errorf("a late answer: %v", err)
	}
	p.Path += ".gone"
	if _, err := p.Run(t.Context(), ""); !errors.Is(err, ErrNotInstalled) {
		t.Errorf("a program that is gone: %v, want %v", err, ErrNotInstalled)
	}
}

// TestAProgramThatIsKilledRunsOnceMore, and no oftener.
func TestAProgramThatIsKilledRunsOnceMore(t *testing.T) {
	for kills, tt := range []struct {
		said string
		left int // of three kills
	}{{"said", 0}, {"said", 0}, {"", 0}, {"", 1}} {
		folder := t.TempDir()
		for i := range kills {
			if err := os.WriteFile(filepath.Join(folder, strconv.Itoa(i)), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		said, err := fake(t, "is killed").Run(t.Context(), "", folder)
		left, readErr := os.ReadDir(folder)
		if said != tt.said || (err == nil) != (tt.said != "") || len(left) != tt.left || readErr != nil {
			t.Errorf("%d kills: %q, %v, and %d are left (%v); want %q and %d", kills, said, err, len(left), readErr,
				tt.said, tt.left)
		}
	}
}

func TestHeadKeepsTheBeginning(t *testing.T) {
	for _, n := range []int{MaxComplaint - 1, MaxComplaint, MaxComplaint + 1} {
		want := min(n, MaxComplaint)
		var h Head
		for range n {
			if k, err := h.Write([]byte("x")); k != 1 || err != nil {
				t.Fatal(k, err)
			}
		}
		if got := len(h.String()); got != want {
			t.Errorf("%d bytes: %d are kept, want %d", n, got, want)
		}
	}
}

func TestWhyAProcessDoesNotStart(t *testing.T) {
	for _, tt := range []struct {
		name string
		err  error
		want string
	}{
		{"the program is gone", &fs.PathError{Op: "fork/exec", Path: "/usr/bin/espeak-ng", Err: syscall.ENOENT},
			"speech program not found"},
		{"too many processes", os.NewSyscallError("fork/exec", syscall.EAGAIN), "no room for another speech process"},
		{"no memory", os.NewSyscallError("fork/exec", syscall.ENOMEM), "no room for another speech process"},
		{"too many files", os.NewSyscallError("pipe2", syscall.EMFILE), "no room for another speech process"},
		{"anything else", syscall.EACCES, "speech program does not start"},
	} {
		got := StartFailure(tt.err)
		e, ok := errors.AsType[*speech.EngineError](got)
		if !ok || e.Text != tt.want || !errors.Is(got, tt.err) {
			t.Errorf("%s: %v, want %q around the cause", tt.name, got, tt.want)
		}
	}
	if got := StartFailure(exec.ErrNotFound); !errors.Is(got, ErrNotInstalled) {
		t.Errorf("%v is not ErrNotInstalled", got)
	}
}
