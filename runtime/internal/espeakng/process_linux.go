package espeakng

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// attributes put the program into a process group of its own, where the Ctrl-C that drains the server does not
// reach it, and let it die with the server, also when that is killed.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// Kill ends p and what it started. It must not be called once p was reaped, when its number may belong to somebody
// else.
func Kill(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGKILL) }

// limitMemory lets p have so many bytes of data, beyond which it gets none and ends. It is a second fence behind the
// one around what p writes, so p speaks also where the kernel does not let it be put up.
func limitMemory(p *os.Process, bytes uint64) {
	_ = unix.Prlimit(p.Pid, unix.RLIMIT_DATA, &unix.Rlimit{Cur: bytes, Max: bytes}, nil)
}
