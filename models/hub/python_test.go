package hub_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/swar-tts/swar/models/hub"
	"github.com/swar-tts/swar/models/hub/hubtest"
)

// witness has the hub's own Python client do what our tests do. It prints what it found as JSON.
const witness = `
import json, sys
from huggingface_hub import hf_hub_download, snapshot_download, HfApi
from huggingface_hub import errors

def kind(call):
    try:
        call()
        return "read"
    except Exception as e:
        return type(e).__name__

found = {
    "tree": sorted(f.path for f in HfApi().list_repo_tree("acme/hinglish", recursive=True)),
    "commit": HfApi().model_info("acme/hinglish", revision="main").sha,
    "folder": snapshot_download("acme/hinglish"),
    "gated": kind(lambda: hf_hub_download("acme/gated", "config.yaml", token=False)),
    "stranger": kind(lambda: hf_hub_download("acme/gated", "config.yaml", token="hf_stranger")),
    "reader": kind(lambda: hf_hub_download("acme/gated", "config.yaml", token="hf_reader")),
    "missing": kind(lambda: hf_hub_download("acme/nothing", "config.yaml", token="hf_reader")),
    "revision": kind(lambda: hf_hub_download("acme/hinglish", "config.yaml", revision="nowhere")),
    "entry": kind(lambda: hf_hub_download("acme/hinglish", "nothing.yaml")),
}
json.dump(found, sys.stdout)
`

// TestTheHubsOwnClientReadsTheFakeHub is what the other tests stand on: the fake hub answers as the real one does, as
// far as the real one's client can tell, and the cache that this client fills is one that we can use.
func TestTheHubsOwnClientReadsTheFakeHub(t *testing.T) {
	python := os.Getenv("SWAR_TEST_PYTHON")
	if python == "" {
		t.Skip("SKIPPED, so that the fake hub was not held against huggingface_hub: `make test-python` does that")
	}
	h := hubtest.New(t)
	h.Readers, h.Strangers, h.Page = []string{"hf_reader"}, []string{"hf_stranger"}, 2
	large := []byte(strings.Repeat("weights ", 1<<17))
	files := map[string][]byte{
		"config.yaml": []byte("a: b\n"), "model.safetensors": large, "embeddings/raj.safetensors": []byte("voice"), "README.md": []byte("# A model"),
	}
	const commit = "0123456789012345678901234567890123456789"
	h.Repositories["acme/hinglish"] = &hubtest.Repository{Commit: commit, Licence: "mit", Files: files,
		Large: []string{"model.safetensors"}}
	h.Repositories["acme/gated"] = &hubtest.Repository{Commit: commit, Gated: true, Files: files,
		Large: []string{"model.safetensors"}}
	home := t.TempDir()
	cmd := exec.CommandContext(t.Context(), python, "-c", witness)
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "HF_HOME=" + home, "HF_ENDPOINT=" + h.URL, "HF_HUB_DISABLE_XET=1",
		"HF_HUB_DISABLE_PROGRESS_BARS=1", "HF_HUB_DISABLE_TELEMETRY=1",
	}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	var found struct {
		Tree                                                              []string
		Commit, Folder, Gated, Stranger, Reader, Missing, Revision, Entry string
	}
	if err := json.Unmarshal(out, &found); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if got := strings.Join(found.Tree, " "); got != "README.md config.yaml embeddings embeddings/raj.safetensors model.safetensors" &&
		got != "README.md config.yaml embeddings/raj.safetensors model.safetensors" {
		t.Errorf("it lists %q", got)
	}
	for what, of := range map[string][2]string{
		"a gate without a token": {found.Gated, "GatedRepoError"}, "a gate for a stranger": {found.Stranger, "GatedRepoError"},
		"a gate that is open": {found.Reader, "read"}, "what is not there": {found.Missing, "RepositoryNotFoundError"},
		"no such revision": {found.Revision, "RevisionNotFoundError"}, "no such file": {found.Entry, "RemoteEntryNotFoundError"},
		"the commit": {found.Commit, commit},
	} {
		if of[0] != of[1] {
			t.Errorf("%s: it says %s, want %s", what, of[0], of[1])
		}
	}
	for name, content := range files {
		if got, err := os.ReadFile(filepath.Join(found.Folder, name)); err != nil || string(got) != string(content) {
			t.Errorf("%s: it has read %d bytes, %v; want %d", name, len(got), err, len(content))
		}
	}

	environment := map[string]string{"HF_HOME": home, "HF_ENDPOINT": h.URL, "HF_HUB_OFFLINE": "1"}
	c, err := hub.FromEnvironment("test", func(name string) (string, bool) { v, ok := environment[name]; return v, ok })
	if err != nil {
		t.Fatal(err)
	}
	asked := h.Asked.Load()
	at := hub.Reference{Repository: "acme/hinglish", Revision: "main"}
	revision, err := c.Revision(t.Context(), at)
	if err != nil || revision.Commit != commit {
		t.Errorf("offline its cache has the commit %s, %v", revision.Commit, err)
	}
	for name, content := range files {
		at := hub.Reference{Repository: "acme/hinglish", Revision: commit, Path: name}
		entry, err := c.Stat(t.Context(), at)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got, err := os.ReadFile(c.Cached(at, entry))
		if err != nil || string(got) != string(content) {
			t.Errorf("%s: in its cache there are %d bytes, %v; want %d", name, len(got), err, len(content))
		}
	}
	if again := h.Asked.Load() - asked; again != 0 {
		t.Errorf("offline the hub was asked %d times", again)
	}
}
