//go:build unix && !linux

package espeakng

import (
	"os"
	"syscall"
)

// attributes put the program into a process group of its own, where the Ctrl-C that drains the server does not
// reach it. When the server is killed, the program ends at its next write.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// Kill ends p and what it started. It must not be called once p was reaped, when its number may belong to somebody
// else.
func Kill(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGKILL) }

// limitMemory does nothing: only Linux can limit another process.
func limitMemory(*os.Process, uint64) {}
