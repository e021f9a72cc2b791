package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// examples are those of a page that call a server on this machine.
var examples = regexp.MustCompile("(?s)```sh\n(.*?)```")

// TestTheDocumentedExamplesRun: what somebody copies from the documentation of the synthesis API does what the page
// says, on a server with a key. Those of the portal's API are run where it is tested.
func TestTheDocumentedExamplesRun(t *testing.T) {
	for _, tool := range []string{"bash", "curl"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not installed: the examples of the documentation are NOT RUN", tool)
		}
	}
	v := newShell(t).serve("--workers", "2", "--api-key", "KEY")
	tools := t.TempDir()
	// curl fails where the server refuses, and there is no loudspeaker; what is played must be sound.
	for name, script := range map[string]string{
		"curl":  `exec ` + lookPath(t, "curl") + ` --fail-with-body "$@"`,
		"aplay": `[[ $(wc -c) -gt 10000 ]]`,
	} {
		if err := os.WriteFile(filepath.Join(tools, name), []byte("#!/bin/bash\n"+script+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	run := 0
	for _, page := range []string{"start.md", "api.md", "labelling.md"} {
		text, err := os.ReadFile("../../docs/" + page)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range examples.FindAllStringSubmatch(string(text), -1) {
			if !strings.Contains(found[1], "curl ") || !strings.Contains(found[1], "http://127.0.0.1:8080/v1/") {
				continue
			}
			run++
			example := strings.NewReplacer("http://127.0.0.1:8080", v.base, "swar_live_…", "KEY").Replace(found[1])
			cmd := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", example)
			cmd.Dir = t.TempDir()
			cmd.Env = append(os.Environ(), "PATH="+tools+string(os.PathListSeparator)+os.Getenv("PATH"), "SWAR_KEY=KEY")
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Errorf("docs/%s: %v\n%s\n%.500s", page, err, found[1], out)
			}
			checkSound(t, page, cmd.Dir, found[1])
		}
	}
	if run < 7 {
		t.Errorf("only %d examples were found", run)
	}
}

func lookPath(t *testing.T, tool string) string {
	t.Helper()
	path, err := exec.LookPath(tool)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// checkSound: a file that an example writes begins as its format does.
func checkSound(t *testing.T, page, folder, example string) {
	t.Helper()
	for _, name := range regexp.MustCompile(`-o (\S+\.(?:wav|opus))`).FindAllStringSubmatch(example, -1) {
		sound, err := os.ReadFile(filepath.Join(folder, name[1]))
		begins := map[string]string{".wav": "RIFF", ".opus": "OggS"}[filepath.Ext(name[1])]
		if err != nil || len(sound) < 3000 || !strings.HasPrefix(string(sound), begins) {
			t.Errorf("docs/%s: %s has %d bytes, %v", page, name[1], len(sound), err)
		}
	}
}
