//go:build unix

package recording

import (
	"os"
	"syscall"
)

// ownGroup puts a program into a process group of its own. When we are killed, it ends at its next write.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// kill ends p and what it started.
func kill(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGKILL) }
