// Package espeakng finds and runs the espeak-ng program. The process has an environment without secrets, a memory
// limit, and ends no later than the server. The program and not its library: it is a process of its own, under a
// licence of its own.
package espeakng

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/swar-tts/swar/runtime/childenv"
	"github.com/swar-tts/swar/runtime/speech"
)

// ErrNotInstalled says that there is no program to run, and how to get it.
var ErrNotInstalled = errors.New("espeak-ng is not installed: install it with `apt-get install espeak-ng`" +
	" (Debian, Ubuntu), `apk add espeak-ng` (Alpine) or `brew install espeak-ng` (macOS)")

const (
	usualMemory = 128 << 20 // a long text takes 10 MB
	maxAnswer   = 1 << 20   // bytes; the longest answer, the list of voices, has 11,000
)

// Program is an installed program.
type Program struct {
	Path   string
	Memory uint64 // bytes of data that a process may have; 0 means as much as there is
}

// Find looks the program up in PATH, unless name is a path; empty means espeak-ng. It returns an error that wraps
// [ErrNotInstalled] when there is none.
func Find(name string) (Program, error) {
	path, err := exec.LookPath(cmp.Or(name, "espeak-ng"))
	if err != nil {
		return Program{}, fmt.Errorf("%w (%w)", ErrNotInstalled, err)
	}
	return Program{Path: path, Memory: usualMemory}, nil
}

// Version asks the program for its version, such as "1.51".
func (p Program) Version(limit time.Duration) (string, error) {
	out, err := p.Query(limit, "--version")
	if err != nil {
		return "", err
	}
	// eSpeak NG text-to-speech: 1.51  Data at: /usr/lib/x86_64-linux-gnu/espeak-ng-data
	if _, rest, ok := strings.Cut(out, "eSpeak NG text-to-speech: "); ok {
		if fields := strings.Fields(rest); len(fields) > 0 {
			return fields[0], nil
		}
	}
	return "", fmt.Errorf("it answers %.80q, which is not espeak-ng", out)
}

// Hindi returns the program's name for its Hindi voice.
//
// Its file name serves better than its language: asked for "hi", the program first reads the hundreds of voice
// files that it has, which doubles the time until it speaks.
func (p Program) Hindi(limit time.Duration) (string, error) {
	out, err := p.Query(limit, "--voices=hi")
	if err != nil {
		return "", err
	}
	name := ""
	for line := range strings.Lines(out) {
		// " 5  hi              --/M      Hindi              inc/hi               "
		f := strings.Fields(line)
		if len(f) >= 5 && f[1] == "hi" && !strings.HasPrefix(f[4], "mb/") {
			name = f[4]
			break
		}
	}
	if name == "" {
		return "", errors.New("it has no Hindi voice; its data is incomplete")
	}
	if _, err := p.Query(limit, "-v", name, "-q", "--stdin"); err != nil {
		name = "hi"
	}
	return name, nil
}

// Query runs the program for its answer to a question at the start. An answer later than limit is an error.
func (p Program) Query(limit time.Duration, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	p.Memory = 0 // what it reads to answer is its own data, not a text of anybody
	out, err := p.Run(ctx, "", args...)
	if ctx.Err() != nil {
		return "", fmt.Errorf("no answer in %v", limit)
	}
	return out, err
}

// Run gives the program its input and returns what it prints, of that at most 1 MiB. It returns when the process
// was reaped: because it ended, or because ctx did, in which case the error is the cause of ctx. It runs the program
// once more where somebody else has killed it, as a system does that is short of memory: the answer is the same.
func (p Program) Run(ctx context.Context, input string, args ...string) (string, error) {
	out, err := p.run(ctx, input, args)
	if wasKilled(err) {
		out, err = p.run(ctx, input, args)
	}
	return out, err
}

// wasKilled reports whether a process was ended from outside, and not by what it was fed.
func wasKilled(err error) bool {
	e, ok := errors.AsType[*exec.ExitError](err)
	if !ok {
		return false
	}
	status, ok := e.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && (status.Signal() == syscall.SIGKILL || status.Signal() == syscall.SIGTERM)
}

func (p Program) run(ctx context.Context, input string, args []string) (string, error) {
	runtime.LockOSThread() // the program dies with the thread that started it
	defer runtime.UnlockOSThread()
	if err := context.Cause(ctx); err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, p.Path, args...)
	p.Confine(cmd)
	cmd.Cancel = func() error { Kill(cmd.Process); return nil }
	cmd.WaitDelay = time.Second
	var complaint Head
	out := Head{Room: maxAnswer}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(input), &out, &complaint
	if err := p.Start(cmd); err != nil {
		return "", err
	}
	err := cmd.Wait()
	if cause := context.Cause(ctx); err != nil && cause != nil {
		return "", cause
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w: %s", strings.Join(args, " "), err, complaint.String())
	}
	return string(out.buf), nil
}

// Confine gives a command the program's environment, and a process group that dies with the server.
func (Program) Confine(cmd *exec.Cmd) {
	cmd.Env = childenv.Only("ESPEAK_DATA_PATH") // what the program reads besides what every program does
	cmd.SysProcAttr = attributes()
}

// Start starts a confined command within the limit of memory. Its error says why there is no process. The death
// signal follows the OS thread that calls it, which must live as long as the process.
func (p Program) Start(cmd *exec.Cmd) error {
	if err := cmd.Start(); err != nil {
		return StartFailure(err)
	}
	if p.Memory > 0 {
		limitMemory(cmd.Process, p.Memory)
	}
	return nil
}

// StartFailure says why there is no process.
func StartFailure(err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, exec.ErrNotFound):
		return &speech.EngineError{Text: "speech program not found", Err: fmt.Errorf("%w (%w)", ErrNotInstalled, err)}
	case errors.Is(err, syscall.EAGAIN), errors.Is(err, syscall.ENOMEM),
		errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return &speech.EngineError{
			Text: "no room for another speech process",
			Err:  fmt.Errorf("the limit of processes, memory or open files is reached: %w", err),
		}
	}
	return &speech.EngineError{Text: "speech program does not start", Err: err}
}

// Head keeps the beginning of what is written to it. It is safe for concurrent use.
type Head struct {
	Room int // bytes that are kept; 0 means MaxComplaint

	mu  sync.Mutex
	buf []byte
}

// MaxComplaint is how many bytes of stderr are worth a place in the log.
const MaxComplaint = 1024

// Write implements [io.Writer]. It never fails.
func (h *Head) Write(b []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	room := cmp.Or(h.Room, MaxComplaint)
	h.buf = append(h.buf, b[:min(len(b), room-len(h.buf))]...)
	return len(b), nil
}

// String is what was kept, without the white space around it.
func (h *Head) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return strings.TrimSpace(strings.ToValidUTF8(string(h.buf), "\uFFFD"))
}
