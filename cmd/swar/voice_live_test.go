package main_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/swar-tts/swar/runtime/onnx/bundle"
)

// post asks a server with a key for speech. The caller reads it.
func (v *server) post(key, voice, text string) *http.Response {
	v.t.Helper()
	body, err := json.Marshal(map[string]any{"text": text, "voice": voice, "format": "pcm16", "seed": 1})
	if err != nil {
		v.t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(v.t.Context(), http.MethodPost, v.base+"/v1/tts", bytes.NewReader(body))
	if err != nil {
		v.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+key)
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		v.t.Fatal(err)
	}
	v.t.Cleanup(func() { resp.Body.Close() })
	return resp
}

// speech is what a server says, whole, and its status.
func (v *server) speech(key, voice, text string) ([]byte, int) {
	v.t.Helper()
	resp := v.post(key, voice, text)
	pcm, err := io.ReadAll(resp.Body)
	if err != nil {
		v.t.Fatal(err)
	}
	return pcm, resp.StatusCode
}

func (s *shell) voicesOf(v *server, key string) (names []string) {
	s.t.Helper()
	var list struct{ Voices []struct{ Name string } }
	if err := json.Unmarshal([]byte(s.ok("voices", "--server", v.base, "--key", key, "--json").out),
		&list); err != nil {
		s.t.Fatal(err)
	}
	for _, voice := range list.Voices {
		names = append(names, voice.Name)
	}
	return names
}

// TestVoicesOfARunningServer: a voice comes and goes without a restart, and without a byte of what is being spoken
// being another.
func TestVoicesOfARunningServer(t *testing.T) {
	s := cloner(t)
	add := []string{"voice", "add", "--bundle", "b", "--config", "config.yaml", "--from", "whole.safetensors",
		"--consent", "Asha agreed"}
	long := strings.Repeat("Aapka order kal subah tak aapke ghar pahunch jayega. ", 12)
	v := s.serveWithPortal("--bundle", "b")
	key := v.firstKey()
	want, _ := v.speech(key, "raj", long)
	if _, status := v.speech(key, "asha", "hello"); status != http.StatusBadRequest {
		t.Errorf("before it is there: status %d", status)
	}

	disturbed := v.post(key, "raj", long)
	begun := make([]byte, 1000)
	if _, err := io.ReadFull(disturbed.Body, begun); err != nil {
		t.Fatal(err)
	}
	r := s.ok(append(add, "asha=mono16.opus")...)
	if !strings.Contains(r.out, "✓ the server on ./data speaks with asha, raj\n") {
		t.Errorf("it says %q, %q", r.out, r.err)
	}
	rest, err := io.ReadAll(disturbed.Body)
	if got := slices.Concat(begun, rest); err != nil || !bytes.Equal(got, want) {
		t.Errorf("what was being spoken has %d bytes, want the %d of an undisturbed server (error %v)", len(got),
			len(want), err)
	}
	if got := s.voicesOf(v, key); !slices.Equal(got, []string{"asha", "raj"}) {
		t.Errorf("voices %q", got)
	}
	asha, status := v.speech(key, "asha", "hello")
	if status != http.StatusOK || len(asha) == 0 {
		t.Fatalf("status %d, %d bytes", status, len(asha))
	}
	s.ok("keys", "create", "for asha", "--voice", "asha")

	s.ok(append(add, "--replace", "asha=stereo44.flac")...)
	replaced, _ := v.speech(key, "asha", "hello")
	if bytes.Equal(replaced, asha) {
		t.Error("the voice in its place sounds the same")
	}
	removing := v.post(key, "asha", long)
	if _, err := io.ReadFull(removing.Body, begun); err != nil {
		t.Fatal(err)
	}
	if r := s.ok("voice", "rm", "asha", "--bundle", "b"); !strings.Contains(r.out, "speaks with raj\n") {
		t.Errorf("it says %q", r.out)
	}
	if _, status := v.speech(key, "asha", "hello"); status != http.StatusBadRequest {
		t.Errorf("after it was removed: status %d", status)
	}
	if _, err := io.ReadAll(removing.Body); err != nil {
		t.Errorf("what was spoken with it: %v", err)
	}

	// What a server says of a voice that came to it is what it says after a start, also one that follows a SIGKILL.
	s.ok(append(add, "asha=mono16.opus")...)
	v.signal(syscall.SIGKILL)
	v.end()
	v = s.serveWithPortal("--bundle", "b")
	if got, _ := v.speech(key, "asha", "hello"); !bytes.Equal(got, asha) {
		t.Errorf("after a start it has %d bytes, before %d, and they are others", len(got), len(asha))
	}
	if got, _ := v.speech(key, "raj", long); !bytes.Equal(got, want) {
		t.Error("the other voice has changed")
	}
}

// TestAServerOfAnotherBundleIsNotToldOfVoices: the bundle changes, and it is said that nobody was told.
func TestAServerOfAnotherBundleIsNotToldOfVoices(t *testing.T) {
	s := cloner(t)
	add := []string{"voice", "add", "--bundle", "b", "--config", "config.yaml", "--from", "whole.safetensors",
		"--consent", "Asha agreed"}
	if r := s.ok(append(add, "one=mono16.opus")...); !strings.Contains(r.err,
		"no server was notified: ./data: no server works on it") {
		t.Errorf("without a server it says %q", r.err)
	}
	s.random("other")
	v := s.serveWithPortal("--bundle", "other")
	key := v.firstKey()
	before := s.voicesOf(v, key)
	if r := s.ok(append(add, "two=mono16.opus")...); !strings.Contains(r.err, "its server speaks with another bundle") {
		t.Errorf("it says %q", r.err)
	}
	if got := s.voicesOf(v, key); !slices.Equal(got, before) {
		t.Errorf("voices %q, want %q", got, before)
	}
}

// TestAServerWithoutABundleIsNotToldOfVoices: espeak-ng and the like have their voices from the start.
func TestAServerWithoutABundleIsNotToldOfVoices(t *testing.T) {
	espeak, err := exec.LookPath("espeak-ng")
	if err != nil {
		t.Skip("SKIPPED, so that nothing was tested: espeak-ng is not installed; apt-get install espeak-ng")
	}
	s := cloner(t)
	s.link("espeak-ng", espeak)
	s.serveWithPortal("--engine", "espeak")
	r := s.ok("voice", "add", "--bundle", "b", "--config", "config.yaml", "--from", "whole.safetensors", "--consent",
		"Asha agreed", "one=mono16.opus")
	if !strings.Contains(r.err, "its server speaks without a bundle") {
		t.Errorf("it says %q", r.err)
	}
}

// TestAServerThatCannotTakeVoicesInGoesOn: the command says that the bundle has changed, and why the server has not.
func TestAServerThatCannotTakeVoicesInGoesOn(t *testing.T) {
	s := cloner(t)
	v := s.serveWithPortal("--bundle", "b")
	key := v.firstKey()
	before := s.voicesOf(v, key)
	path := filepath.Join(s.dir, "b", bundle.ManifestFile)
	manifest, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var m bundle.Manifest
	if err := json.Unmarshal(manifest, &m); err != nil {
		t.Fatal(err)
	}
	m.Model.Revision += "2"
	if manifest, err = json.Marshal(m); err == nil {
		err = os.WriteFile(path, manifest, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	r := s.run("voice", "add", "--bundle", "b", "--config", "config.yaml", "--from", "whole.safetensors", "--consent",
		"Asha agreed", "one=mono16.opus")
	for _, text := range []string{"the bundle has changed, but the server on ./data still has the previous voices",
		"start the server again"} {
		if r.code != 1 || !strings.Contains(r.err, text) {
			t.Errorf("exit code %d, %q; want 1 and %q", r.code, r.err, text)
		}
	}
	if got := s.voicesOf(v, key); !slices.Equal(got, before) {
		t.Errorf("voices %q, want %q", got, before)
	}
	if _, status := v.speech(key, "raj", "hello"); status != http.StatusOK {
		t.Errorf("it speaks on with status %d", status)
	}
}
