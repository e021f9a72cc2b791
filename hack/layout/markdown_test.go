package layout

import (
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// kilobyte is 1,024 bytes.
const kilobyte = 1024

// markdownParts are folders and files whose Markdown has a bound of its own, in kilobytes. A link leads to one of these
// pages, and nobody reads them in a row. Lower a bound when pages become shorter.
var markdownParts = map[string]int64{
	"docs/cli/":        42,                       // generated: the help of each command
	"docs/capacity.md": 13,                       // generated: what the simulator found
	"docs/decisions/":  decisionsMost / kilobyte, // one page a decision
	"docs/runbooks/":   24,                       // one page an alert
	"testdata/":        10,                       // formats and sources of test data, wherever such a folder is
}

// markdownMost bounds all other Markdown, in kilobytes: README, guides, changelog, READMEs of packages.
const markdownMost = 300

// TestMarkdownBudget: a page that grows makes another one shorter.
func TestMarkdownBudget(t *testing.T) {
	rest, parts, err := markdown(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	const advice = "link instead of repeating, leave history and reasons out"
	if rest > markdownMost*kilobyte {
		t.Errorf("%d bytes of Markdown, want at most %d: %s", rest, markdownMost*kilobyte, advice)
	}
	if rest < markdownMost*kilobyte/2 {
		t.Errorf("%d bytes of Markdown: is this the root of the repository?", rest)
	}
	for part, most := range markdownParts {
		if parts[part] > most*kilobyte {
			t.Errorf("%d bytes of Markdown in %s, want at most %d: %s", parts[part], part, most*kilobyte, advice)
		}
	}
}

// markdown returns the bytes of Markdown in each of markdownParts, and of the rest of a tree.
func markdown(root fs.FS) (rest int64, parts map[string]int64, err error) {
	parts = map[string]int64{}
	err = fs.WalkDir(root, ".", func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			name := d.Name()
			others := []string{"node_modules", "bin", "dist"}
			if file != "." && (slices.Contains(others, name) || name[0] == '.') {
				return fs.SkipDir
			}
			return nil
		}
		if path.Ext(file) != ".md" {
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		for part := range markdownParts {
			if strings.HasPrefix(file, part) || strings.Contains(file, "/"+part) {
				parts[part] += info.Size()
				return nil
			}
		}
		rest += info.Size()
		return nil
	})
	return rest, parts, err
}

// TestMarkdownIsCounted: packages of others do not count.
func TestMarkdownIsCounted(t *testing.T) {
	root := fstest.MapFS{}
	for file, size := range map[string]int{
		"README.md": 1, "docs/api.md": 2, "docs/cli.md": 4, "docs/cli/server.md": 8, "docs/runbooks/A.md": 16,
		"docs/api.svg": 32, "sdk/a/node_modules/b/README.md": 64, ".cache/c.md": 128, "docs/decisions/0001-a.md": 256,
		"CHANGELOG.md": 512, "runtime/a/testdata/README.md": 1024, "testdata/b/README.md": 2048,
	} {
		root[file] = &fstest.MapFile{Data: make([]byte, size)}
	}
	rest, parts, err := markdown(root)
	if err != nil || rest != 1+2+4+512 || parts["docs/cli/"] != 8 || parts["docs/decisions/"] != 256 ||
		parts["testdata/"] != 1024+2048 {
		t.Errorf("%d bytes and %v, %v", rest, parts, err)
	}
}
