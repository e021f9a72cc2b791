package layout

import (
	"bytes"
	"os"
	"path"
	"strings"
	"testing"
)

// mostDialectLines is what a package of a dialect may have without its tests.
const mostDialectLines = 700

func TestDialectsAreSmall(t *testing.T) {
	lines := map[string]int{}
	for file := range productFiles(t) {
		if dir := path.Dir(file); strings.HasPrefix(dir, "runtime/dialect/") && !strings.HasSuffix(dir, "test") {
			source, err := os.ReadFile("../../" + file)
			if err != nil {
				t.Fatal(err)
			}
			lines[dir] += bytes.Count(source, []byte("\n"))
		}
	}
	if len(lines) < 9 {
		t.Errorf("only %d packages of dialects are found", len(lines))
	}
	for dir, n := range lines {
		if n > mostDialectLines {
			t.Errorf("%s has %d lines, want at most %d", dir, n, mostDialectLines)
		}
	}
}
