// Package quickexit ends programs that tests run.
package quickexit

import (
	"fmt"
	"os"
	"syscall"
)

// Exit is os.Exit without the second for which a program with the race detector stays before it ends. Tests that run
// dozens of programs wait for nothing else.
func Exit(code int) {
	_ = syscall.Exec("/bin/sh", []string{"sh", "-c", fmt.Sprintf("exit %d", code)}, nil)
	os.Exit(code) // there is no shell
}
