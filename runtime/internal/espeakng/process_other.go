//go:build !unix

package espeakng

import (
	"os"
	"syscall"
)

func attributes() *syscall.SysProcAttr { return nil }

// Kill ends p.
func Kill(p *os.Process) { _ = p.Kill() }

// limitMemory does nothing: only Linux can limit another process.
func limitMemory(*os.Process, uint64) {}
