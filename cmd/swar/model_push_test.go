package main_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/registry"
)

func TestAModelGoesThroughARegistry(t *testing.T) {
	s, h := hubShell(t)
	h.Publish("acme/hinglish", published(t))
	folder := strings.TrimSpace(s.ok("model", "pull", "--quiet", "hf://acme/hinglish").out)
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	defer server.Close()
	at := "oci://" + strings.TrimPrefix(server.URL, "http://") + "/speech/hinglish:1"
	out := s.ok("model", "push", "hinglish", at, "--format", "both").out
	if again := s.ok("model", "push", "hinglish", at).out; !strings.Contains(again, "0 B of them sent") {
		t.Errorf("once more it says %q, want that nothing was sent", again)
	}
	match := regexp.MustCompile(`oci.reference +(\S+)\n +spec.model.source.oci.subPath +hinglish\n +ModelPack +(\S+-modelpack@sha256:[0-9a-f]{64})\n +spec.model.sha256 +([0-9a-f]{64})`).FindStringSubmatch(out)
	if match == nil {
		t.Fatalf("it says %q", out)
	}
	if err := os.CopyFS(s.path("first"), os.DirFS(folder)); err != nil {
		t.Fatal(err)
	}
	for i, reference := range []string{"oci://" + match[1], "oci://" + match[2]} {
		s.env = append(s.env, "SWAR_MODELS="+t.TempDir())
		r := s.ok("model", "pull", "--quiet", reference)
		copied := fmt.Sprint("copy ", i)
		if err := os.CopyFS(s.path(copied), os.DirFS(strings.TrimSpace(r.out))); err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(s.tree(copied)) != fmt.Sprint(s.tree("first")) {
			t.Errorf("%s: it is another bundle", reference)
		}
		if sum := sha256.Sum256(s.read(copied + "/manifest.json")); hex.EncodeToString(sum[:]) != match[3] {
			t.Errorf("%s: its digest is another than %s", reference, match[3])
		}
		s.ok("say", "--model", "hinglish", "-o", "a.wav", "Namaste!")
	}
	if r := s.run("model", "push", "hinglish", "registry/hinglish:1"); r.code != 2 ||
		!strings.Contains(r.err, "want oci://") {
		t.Errorf("without oci://: exit code %d, %q", r.code, r.err)
	}
	if r := s.run("model", "pull", strings.TrimSuffix(at, "1")+"2"); r.code != 1 ||
		!strings.Contains(r.err, "has no speech/hinglish:2") {
		t.Errorf("another tag: exit code %d, %q", r.code, r.err)
	}
}
