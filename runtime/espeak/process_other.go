//go:build !unix

package espeak

import (
	"os"
	"syscall"
)

func attributes() *syscall.SysProcAttr { return nil }

// kill ends p.
func kill(p *os.Process) { _ = p.Kill() }
