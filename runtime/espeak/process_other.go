//go:build !unix

package espeak

import (
	"os"
	"syscall"
)

func attributes() *syscall.SysProcAttr { return nil }

// kill ends p.
func kill(p *os.Process) { _ = p.Kill() }

// limitMemory does nothing: only Linux can limit another process.
func limitMemory(*os.Process, uint64) {}
