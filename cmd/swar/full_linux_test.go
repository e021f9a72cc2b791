package main_test

import (
	"encoding/json"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestRevokingOnAFullDisk fills a real one.
func TestRevokingOnAFullDisk(t *testing.T) {
	s := newShell(t)
	if err := os.Mkdir(s.path("disk"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", s.path("disk"), "tmpfs", 0, "size=8m"); err != nil {
		t.Skipf("a small disk cannot be mounted here: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(s.path("disk"), syscall.MNT_DETACH); err != nil {
			t.Errorf("unmounting: %v", err)
		}
	})
	v := s.serveWithPortal("--data", "disk")
	key := v.firstKey()
	speak := func() int { return s.run("say", "--server", v.base, "--key", key, "-o", "x.wav", "hello").code }
	if code := speak(); code != 0 {
		t.Fatalf("before: exit code %d", code)
	}
	var list struct{ Keys []struct{ ID string } }
	if err := json.Unmarshal([]byte(s.ok("keys", "list", "--json", "--data", "disk").out), &list); err != nil || len(list.Keys) != 1 {
		t.Fatalf("keys %v (%v)", list, err)
	}
	id := list.Keys[0].ID

	fill(t, s.path("disk/ballast"))
	eventually(t, "the database takes nothing more", func() bool {
		return s.run("keys", "rename", id, "another name "+time.Now().String(), "--data", "disk").code != 0
	})
	r := s.run("keys", "revoke", id, "--data", "disk")
	if r.code == 0 || !strings.Contains(r.err, "the key is refused from now on, but that is not stored yet; try again") {
		t.Fatalf("revoking on a full disk: exit code %d, %q", r.code, r.err)
	}
	if code := speak(); code != 4 {
		t.Errorf("the revoked key: exit code %d, want 4", code)
	}
	if out := s.ok("keys", "list", "--data", "disk").out; !strings.Contains(out, "  active\n") {
		t.Errorf("the list is\n%s", out)
	}
	if err := os.Remove(s.path("disk/ballast")); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the revocation is stored by itself", func() bool {
		return strings.Contains(s.ok("keys", "list", "--data", "disk").out, "  revoked\n")
	})
	if out := s.ok("keys", "revoke", id, "--data", "disk").out; !strings.Contains(out, "  revoked\n") {
		t.Errorf("revoking again shows\n%s", out)
	}
	v.stop()
	v = s.serveWithPortal("--data", "disk")
	if code := speak(); code != 4 {
		t.Errorf("the revoked key after a restart: exit code %d, want 4", code)
	}
	v.stop()
}

// fill writes a file until the disk is full.
func fill(t *testing.T, path string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for block := make([]byte, 4096); err == nil; {
		_, err = f.Write(block)
	}
}
