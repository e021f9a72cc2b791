package layout

import (
	"maps"
	"os"
	"regexp"
	"testing"
)

// TestClientsAgree: the clients and plugins of sdk have one version, and the clients one class for each code of an
// error.
func TestClientsAgree(t *testing.T) {
	read := func(file string) string {
		text, err := os.ReadFile("../../sdk/" + file)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	version := regexp.MustCompile(`(?m)"?(?:\bversion|@swar/client)"?(?: =|:) "([^"]+)"`)
	versions := map[string]string{}
	for _, file := range []string{"python/pyproject.toml", "typescript/package.json", "livekit/pyproject.toml",
		"livekit-node/package.json"} {
		for _, m := range version.FindAllStringSubmatch(read(file), -1) {
			versions[m[1]] += " " + file
		}
	}
	if len(versions) != 1 {
		t.Errorf("versions: %v", versions)
	}
	classes := func(file string) map[string]string {
		of := map[string]string{}
		entry := regexp.MustCompile(`"?\b([a-z]+(?:_[a-z]+)*|[0-9]{3})"?: (\w+Error)\b`)
		for _, m := range entry.FindAllStringSubmatch(read(file), -1) {
			of[m[1]] = m[2]
		}
		return of
	}
	a, b := classes("python/src/swar/_errors.py"), classes("typescript/src/errors.ts")
	if len(a) < 10 || !maps.Equal(a, b) {
		t.Errorf("classes of errors:\nPython     %v\nTypeScript %v", a, b)
	}
}
