//go:build !unix

package meter

import (
	"fmt"
	"os"
	"path/filepath"
)

// lockFolder only opens the file: this system has no lock that ends with the process.
func lockFolder(folder string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(folder, lockName), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("usage log: %w", err)
	}
	return f, nil
}
