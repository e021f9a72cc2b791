//go:build unix

package sqlite

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// lock takes the locks of a process that has the database open: a shared one, so that a restore waits until all have
// ended, and one for the server only. They end with the process. They are separate files, since closing any handle of
// the database itself would drop SQLite's locks on it.
func lock(path string, server bool) ([]*os.File, error) {
	open, err := lockFile(path+openLock, syscall.LOCK_SH)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, fmt.Errorf("database %s is being restored: wait until it is complete", path)
	}
	if err != nil {
		return nil, err
	}
	if !server {
		return []*os.File{open}, nil
	}
	alone, err := lockFile(path+serverLock, syscall.LOCK_EX)
	if err != nil {
		_ = open.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("database %s %w", path, ErrServed)
		}
		return nil, err
	}
	return []*os.File{open, alone}, nil
}

// lockExclusive takes the database while no other process has it open.
func lockExclusive(path string) (*os.File, error) {
	f, err := lockFile(path+openLock, syscall.LOCK_EX)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, fmt.Errorf("database %s is in use: stop the server and everything else that uses it first", path)
	}
	return f, err
}

func lockFile(name string, how int) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("database: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("locking %s: %w", name, err)
	}
	return f, nil
}
