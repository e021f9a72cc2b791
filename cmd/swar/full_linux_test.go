package main_test

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestRevokingOnAFullDisk fills a real one.
func TestRevokingOnAFullDisk(t *testing.T) {
	s := newShell(t)
	s.smallDisk("disk")
	v := s.serveWithPortal("--data", "disk")
	key := v.firstKey()
	speak := func() int { return s.run("say", "--server", v.base, "--key", key, "-o", "x.wav", "hello").code }
	if code := speak(); code != 0 {
		t.Fatalf("before: exit code %d", code)
	}
	var list struct{ Keys []struct{ ID string } }
	if err := json.Unmarshal([]byte(s.ok("keys", "list", "--json", "--data", "disk").out), &list); err != nil ||
		len(list.Keys) != 1 {
		t.Fatalf("keys %v (%v)", list, err)
	}
	id := list.Keys[0].ID

	fill(t, s.path("disk/ballast"))
	eventually(t, "the database takes nothing more", func() bool {
		return s.run("keys", "rename", id, "another name "+time.Now().String(), "--data", "disk").code != 0
	})
	r := s.run("keys", "revoke", id, "--data", "disk")
	if r.code == 0 || !strings.Contains(r.err,
		"the key is refused from now on, but that is not stored yet; try again") {
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

// TestOtherAPIsOnAFullDisk: clients of OpenAI and Deepgram are served while nothing can be stored, and all of it is on
// the bill when there is room again.
func TestOtherAPIsOnAFullDisk(t *testing.T) {
	s := newShell(t)
	s.smallDisk("disk")
	v := s.serveWithPortal("--data", "disk")
	key := v.firstKey()
	speak := func(path, body string) (status int, answer string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, v.base+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+key)
		w, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer w.Body.Close()
		data, err := io.ReadAll(w.Body)
		if err != nil {
			t.Errorf("%s: the answer is cut: %v", path, err)
		}
		return w.StatusCode, string(data)
	}
	asked := map[string]int{}
	both := func(when string) {
		t.Helper()
		for _, c := range []struct{ endpoint, path, body string }{
			{"openai", "/v1/audio/speech", `{"model":"tts-1","voice":"nova","input":"Aapka OTP 482913 hai.","response_format":"pcm"}`},
			{"deepgram", "/v1/speak?encoding=linear16", `{"text":"Aapka OTP 482913 hai."}`},
		} {
			if status, answer := speak(c.path, c.body); status != http.StatusOK || len(answer) < 48_000 {
				t.Errorf("%s, %s: status %d, %d bytes: %.200s", c.endpoint, when, status, len(answer), answer)
			}
			asked[c.endpoint]++
		}
	}
	both("before")
	fill(t, s.path("disk/ballast"))
	for range 20 {
		both("on a full disk")
	}
	eventually(t, "the server notices that the disk is full",
		func() bool { return strings.Contains(v.log(), "the disk is full") })
	if status, answer := speak("/v1/audio/speech", `{"voice":"kaun","input":"Namaste!"}`); status != 400 ||
		!strings.Contains(answer, `"param":"voice"`) {
		t.Errorf("an unknown voice on a full disk: %d %s", status, answer)
	}
	if err := os.Remove(s.path("disk/ballast")); err != nil {
		t.Fatal(err)
	}
	both("with room again")
	want := asked["openai"] + asked["deepgram"]
	booked := func() (requests int) {
		var u struct{ Totals struct{ Requests int } }
		if err := json.Unmarshal([]byte(s.ok("usage", "--json", "--data", "disk").out), &u); err != nil {
			t.Fatal(err)
		}
		return u.Totals.Requests
	}
	eventually(t, "all of it is on the bill", func() bool { return booked() == want })
	v.stop()
	v = s.serveWithPortal("--data", "disk")
	if got := booked(); got != want {
		t.Errorf("%d requests are on the bill after a restart, want %d", got, want)
	}
	v.stop()
}

// smallDisk mounts a disk of 8 MB, or skips the test where that is not allowed.
func (s *shell) smallDisk(name string) {
	s.t.Helper()
	if err := os.Mkdir(s.path(name), 0o700); err != nil {
		s.t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", s.path(name), "tmpfs", 0, "size=8m"); err != nil {
		s.t.Skipf("a small disk cannot be mounted here: %v", err)
	}
	s.t.Cleanup(func() {
		if err := syscall.Unmount(s.path(name), syscall.MNT_DETACH); err != nil {
			s.t.Errorf("unmounting: %v", err)
		}
	})
}
