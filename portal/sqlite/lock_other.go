//go:build !unix

package sqlite

import "os"

// lock does nothing: this system has no lock that ends with the process.
func lock(string, bool) ([]*os.File, error) { return nil, nil }

// lockExclusive opens the lock file without locking it.
func lockExclusive(path string) (*os.File, error) {
	return os.OpenFile(path+openLock, os.O_CREATE|os.O_RDWR, 0o600)
}
