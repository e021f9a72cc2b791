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

// markdownMost is how many bytes of Markdown there may be for people who learn the product. Lower it when pages become
// shorter.
const markdownMost = 306 << 10

// onePageEach are pages that a link leads to, one for each alert, decision, command or value, and generated pages:
// nobody reads them in a row. The changelog grows with each version.
var onePageEach = []string{
	"CHANGELOG.md", "charts/swar/README.md", "docs/capacity.md", "docs/cli/", "docs/decisions/", "docs/runbooks/", "hack/sim/testdata/quick.md",
}

// TestMarkdownBudget: a page that grows makes another one shorter.
func TestMarkdownBudget(t *testing.T) {
	size, err := markdown(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	if size > markdownMost {
		t.Errorf("%d bytes of Markdown, want at most %d: link instead of repeating, leave history and reasons out",
			size, markdownMost)
	}
	if size < markdownMost/2 {
		t.Errorf("%d bytes of Markdown: is this the root of the repository?", size)
	}
}

// markdown returns the bytes of Markdown in a tree that count.
func markdown(root fs.FS) (size int64, err error) {
	err = fs.WalkDir(root, ".", func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name := d.Name(); d.IsDir() && file != "." &&
			(name == "node_modules" || name == "bin" || name == "dist" || name[0] == '.') {
			return fs.SkipDir
		}
		exempt := slices.ContainsFunc(onePageEach, func(prefix string) bool { return strings.HasPrefix(file, prefix) })
		if d.IsDir() || exempt || path.Ext(file) != ".md" {
			return nil
		}
		info, err := d.Info()
		if err == nil {
			size += info.Size()
		}
		return err
	})
	return size, err
}

// TestMarkdownIsCounted: generated pages, runbooks and packages of others do not count.
func TestMarkdownIsCounted(t *testing.T) {
	root := fstest.MapFS{}
	for file, size := range map[string]int{
		"README.md": 1, "docs/api.md": 2, "docs/cli.md": 4, "docs/cli/server.md": 8, "docs/runbooks/A.md": 16, "docs/api.svg": 32,
		"sdk/a/node_modules/b/README.md": 64, ".cache/c.md": 128, "docs/decisions/0001-a.md": 256,
	} {
		root[file] = &fstest.MapFile{Data: make([]byte, size)}
	}
	if got, err := markdown(root); err != nil || got != 7 {
		t.Errorf("%d bytes, %v, want 7", got, err)
	}
}
