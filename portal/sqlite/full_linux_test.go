package sqlite

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func TestFullDisk(t *testing.T) {
	folder := t.TempDir()
	if err := syscall.Mount("tmpfs", folder, "tmpfs", 0, "size=4m"); err != nil {
		t.Skipf("a small disk cannot be mounted here: %v", err)
	}
	path := filepath.Join(folder, "portal.db")
	s, err := Open(t.Context(), Config{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		s.Close()
		if err := syscall.Unmount(folder, 0); err != nil {
			t.Errorf("unmounting: %v", err)
		}
	}()
	ballast := filepath.Join(folder, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 2<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	stored := fillUp(t, s, "the disk is full; free some space")
	err = s.Backup(t.Context(), filepath.Join(folder, "backup.db"))
	wantFault(t, "a backup to a full disk", err, "the disk is full; free some space", true)
	if left, _ := filepath.Glob(filepath.Join(folder, "backup*")); len(left) != 0 {
		t.Errorf("%v is left of a backup that failed", left)
	}
	worksOn(t, s, stored, func() { os.Remove(ballast) })
}
