package layout

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const (
	decisions     = "../../docs/decisions"
	decisionsMost = 60 << 10 // bytes of all of them, so that they can be read
)

var (
	decisionFile   = regexp.MustCompile(`^(\d{4})-[a-z0-9]+(-[a-z0-9]+)*\.md$`)
	decisionStatus = regexp.MustCompile(`^Status: (accepted|superseded by \[\d{4}\]\(\d{4}-[a-z0-9-]+\.md\)), \d{4}-\d\d-\d\d(; [^\n]+)?\.$`)
	decisionLink   = regexp.MustCompile(`(?m)^- \[([^\]]+)\]\(([^)]+)\)$`)
)

// TestDecisions: numbers go up by one, each file has its parts, and the index links every file once by its title.
func TestDecisions(t *testing.T) {
	files, err := filepath.Glob(decisions + "/[0-9]*.md")
	if err != nil || len(files) == 0 {
		t.Fatalf("no decisions in %s (%v)", decisions, err)
	}
	titles, size := map[string]string{}, 0
	for i, path := range files {
		name := filepath.Base(path)
		if m := decisionFile.FindStringSubmatch(name); m == nil || m[1] != fmt.Sprintf("%04d", i+1) {
			t.Errorf("%s: want the number %04d and a noun phrase in small letters", name, i+1)
		}
		text := read(t, path)
		size += len(text)
		title, wrong := decisionParts(text)
		if wrong != "" {
			t.Errorf("%s: %s", name, wrong)
		}
		titles[name] = title
	}
	index := read(t, decisions+"/README.md")
	if size += len(index); size > decisionsMost {
		t.Errorf("%d bytes of decisions, want at most %d: shorten them, or move what explains one function into its comment", size, decisionsMost)
	}
	for _, link := range decisionLink.FindAllStringSubmatch(index, -1) {
		if titles[link[2]] != link[1] {
			t.Errorf("the index links %s as %q: no such file, linked twice, or another title (%q)", link[2], link[1],
				titles[link[2]])
		}
		delete(titles, link[2])
	}
	for name := range titles {
		t.Errorf("the index does not link %s", name)
	}
}

// decisionParts returns the title of a decision, and what is wrong with it.
func decisionParts(text string) (title, wrong string) {
	parts := strings.SplitN(text, "\n\n", 4)
	if len(parts) < 4 || !strings.HasPrefix(parts[0], "# ") {
		return "", "want a title, a status, ## Context and ## Decision"
	}
	title = strings.TrimPrefix(parts[0], "# ")
	switch {
	case !decisionStatus.MatchString(parts[1]):
		return title, fmt.Sprintf("the status is %q", parts[1])
	case parts[2] != "## Context":
		return title, "no ## Context behind the status"
	case !strings.Contains(parts[3], "\n## Decision\n\n"):
		return title, "no ## Decision"
	}
	return title, ""
}

func TestDecisionParts(t *testing.T) {
	good := "# A title\n\nStatus: accepted, 2026-11-28.\n\n## Context\n\nWhy.\n\n## Decision\n\nWhat.\n"
	for text, wrong := range map[string]bool{
		good: false,
		strings.Replace(good, "accepted,", "superseded by [0002](0002-other.md),", 1): false,
		strings.Replace(good, "accepted", "", 1):                                      true,
		strings.Replace(good, "## Context", "## Background", 1):                       true,
		strings.Replace(good, "## Decision", "Decision", 1):                           true,
		"# A title\n": true,
	} {
		if _, says := decisionParts(text); (says != "") != wrong {
			t.Errorf("%q: %q", text, says)
		}
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
