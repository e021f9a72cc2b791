package layout

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// TestGlossary: every Go identifier and every JSON name or metric of docs/glossary.md is in the code.
func TestGlossary(t *testing.T) {
	text := read(t, "../../docs/glossary.md")
	identifier, word := regexp.MustCompile("`([a-z0-9]+)\\.([A-Z][A-Za-z]*)(?:\\.([A-Z][A-Za-z]*))?`"),
		regexp.MustCompile("`([a-z_]+)`")
	rows := 0
	for line := range strings.Lines(text) {
		cells := strings.Split(line, "|")
		if len(cells) != 7 || strings.HasPrefix(line, "| term") || strings.HasPrefix(line, "|---") {
			continue
		}
		rows++
		for _, m := range identifier.FindAllStringSubmatch(cells[3], -1) {
			name := m[2]
			if m[3] != "" {
				name = m[3]
			}
			if !grep(t, "-wE", `^(type |func |\t)`+name, "*/"+m[1]+"/*.go") {
				t.Errorf("%s: package %s has no %s", strings.TrimSpace(cells[1]), m[1], name)
			}
		}
		for _, m := range word.FindAllStringSubmatch(cells[4], -1) {
			if !grep(t, "-wF", m[1], "runtime/*.go") && !grep(t, "-wF", m[1], "portal/*.go") &&
				!grep(t, "-wF", m[1], "api/*.go") {
				t.Errorf("%s: %s is nowhere in the code", strings.TrimSpace(cells[1]), m[1])
			}
		}
	}
	if rows < 30 {
		t.Errorf("%d rows found", rows)
	}
}

// grep reports whether a line of the files that are tracked matches.
func grep(t *testing.T, how, pattern, files string) bool {
	t.Helper()
	cmd := exec.Command("git", "grep", "-q", how, pattern, "--", files)
	cmd.Dir = "../.."
	return cmd.Run() == nil
}
