//go:build chaos

package chaos

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// mountSmallDisk mounts a disk of one megabyte, or skips the test where that is not allowed.
func mountSmallDisk(t *testing.T, folder string) {
	t.Helper()
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", folder, "tmpfs", 0, "size=1m"); err != nil {
		say("*** a full disk is NOT TESTED: none can be mounted here: %v ***", err)
		t.Skipf("mounting a small disk: %v", err)
	}
}

func unmount(t testing.TB, folder string) {
	if err := syscall.Unmount(folder, syscall.MNT_DETACH); err != nil {
		t.Errorf("unmounting: %v", err)
	}
}

// fillDisk leaves no room for usage on the disk of a router, which goes on and keeps it elsewhere until there is.
func fillDisk(f *fleet, times int) loss {
	ballast := filepath.Join(f.routers[0].data, "ballast")
	for range times {
		fill(f.t, ballast)
		time.Sleep(3 * time.Second)
		if !f.routers[0].logged("no space left on device") {
			f.t.Error("the router has not noticed that its disk is full")
		}
		if err := os.Remove(ballast); err != nil {
			f.t.Fatal(err)
		}
		time.Sleep(time.Second)
	}
	return loss{}
}

// fill writes a file until the disk is full.
func fill(t testing.TB, path string) {
	t.Helper()
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for block := make([]byte, 4096); err == nil; {
		_, err = file.Write(block)
	}
}
