package espeak

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/swar-tts/swar/runtime/internal/espeakng"
	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/synth"
)

const waitMillis = 5000

func TestNoProcessOutlivesAKilledServer(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ name, program, fake string }{
		{"speaking", installed(t).program.Path, ""},
		{"hanging", self, "never reads"}, // does not even notice that its pipes are broken
	} {
		t.Run(tt.name, func(t *testing.T) {
			mark := fmt.Sprintf("%s=%s-%d", markEnv, tt.name, os.Getpid())
			server := exec.Command(self)
			server.Env = append(os.Environ(), mark, serverEnv+"="+tt.program, fakeEnv+"="+tt.fake)
			server.Stderr = os.Stderr
			out, err := server.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := server.Start(); err != nil {
				t.Fatal(err)
			}
			defer server.Wait()
			defer server.Process.Kill()
			line, err := bufio.NewReader(out).ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			var speaking, spare int
			if _, err := fmt.Sscan(line, &speaking, &spare); err != nil {
				t.Fatal(err)
			}
			var ends []unix.PollFd
			for _, pid := range []int{speaking, spare} {
				fd, err := unix.PidfdOpen(pid, 0)
				if err != nil {
					t.Fatalf("process %d: %v", pid, err)
				}
				defer unix.Close(fd)
				ends = append(ends, unix.PollFd{Fd: int32(fd), Events: unix.POLLIN})
			}
			if got := len(marked(t, mark)); got != 3 {
				t.Fatalf("%d processes carry the mark, want the server and its two", got)
			}
			if err := server.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			for i := range ends {
				n, err := unix.Poll(ends[i:i+1], waitMillis)
				for err == unix.EINTR { // the runtime's own signals
					n, err = unix.Poll(ends[i:i+1], waitMillis)
				}
				if n != 1 {
					t.Errorf("a process is alive %d ms after its server (%v)", waitMillis, err)
				}
			}
			server.Wait()
			if left := marked(t, mark); len(left) != 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

func TestCloseLeavesNoProcess(t *testing.T) {
	w := newWorker(installed(t))
	if _, err := w.Prefill(t.Context(), synth.Options{Voice: "raj", Text: longText}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	// Not even a zombie: the kernel says that there is no child at all.
	if pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil); err != syscall.ECHILD {
		t.Errorf("Wait4 = %d, %v; want %v", pid, err, syscall.ECHILD)
	}
	if _, err := w.Prefill(t.Context(), synth.Options{Voice: "raj", Text: "नमस्ते"}); err != errClosed {
		t.Errorf("Prefill after Close = %v, want %v", err, errClosed)
	}
}

func TestAProcessHasALimitOfMemory(t *testing.T) {
	w := openWorker(t, installed(t))
	<-w.spare.ready
	var got unix.Rlimit
	if err := unix.Prlimit(w.spare.process.cmd.Process.Pid, unix.RLIMIT_DATA, nil, &got); err != nil {
		t.Fatal(err)
	}
	limit := w.engine.program.Memory
	if want := (unix.Rlimit{Cur: limit, Max: limit}); got != want || limit == 0 {
		t.Errorf("limit %+v, want %+v", got, want)
	}

	// A shell doubles a string until it has no room, or 512 MiB.
	hungry := filepath.Join(t.TempDir(), "hungry")
	const source = "#!/bin/sh\ncat >/dev/null; x=0123456789abcdef; i=0\n" +
		"while [ $i -lt 25 ]; do x=$x$x; i=$((i+1)); done; echo enough >&2; exit 3\n"
	if err := os.WriteFile(hungry, []byte(source), 0o700); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
	w = openWorker(t, &Engine{program: espeakng.Program{Path: hungry, Memory: 128 << 20}, limits: usualLimits,
		cache: synth.NewCache[*script](0)})
	_, err := speak(t, w, synth.Options{Voice: "raj", Text: "नमस्ते"})
	e, ok := errors.AsType[*speech.EngineError](err)
	if !ok || e.Text != "speech program failed" || strings.Contains(e.Err.Error(), "enough") {
		t.Errorf("a program that takes all memory = %v, want that it failed before it had enough", err)
	}
}

// marked are the processes whose environment has the mark. Those that ended and wait for init have no environment.
func marked(t *testing.T, mark string) (pids []string) {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if env, err := os.ReadFile(name); err == nil && bytes.Contains(env, []byte(mark)) {
			pids = append(pids, name)
		}
	}
	return pids
}
