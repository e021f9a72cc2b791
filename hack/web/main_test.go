package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestWeigh: a page counts with all that it cannot run without, and one byte over its budget fails.
func TestWeigh(t *testing.T) {
	b := built{
		files:   map[string][]byte{"app.html": []byte(`<script src="/assets/app.js"></script>`)},
		entries: map[string]string{"src/app.tsx": "assets/app.js", "src/later.tsx": "assets/later.js"},
		imports: map[string][]string{"assets/app.js": {"assets/shared.js"}, "assets/shared.js": {"assets/app.js"}},
	}
	zipped := map[string][]byte{"app.html": make([]byte, 10), "assets/app.js": make([]byte, 20),
		"assets/shared.js": make([]byte, 30), "assets/later.js": make([]byte, 500)}
	for budget, fits := range map[int]bool{61: true, 60: true, 59: false} {
		if err := b.weigh(visit{"app.html", budget}, zipped); (err == nil) != fits {
			t.Errorf("a budget of %d: got %v", budget, err)
		}
	}
}

// TestEmbeddedPagesAreSmall: what is committed adds no more to a program than it may, with room for the code that
// serves it.
func TestEmbeddedPagesAreSmall(t *testing.T) {
	sum, docs := 0, 0
	err := filepath.Walk(filepath.Join(root, "portal/web/dist"), func(path string, info os.FileInfo, err error) error {
		if err == nil && !info.IsDir() {
			sum += int(info.Size())
		}
		if strings.HasPrefix(filepath.Base(path), "docs-") && strings.HasSuffix(path, ".js.gz") {
			docs = int(info.Size())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if sum == 0 || sum > total {
		t.Errorf("dist has %d bytes, want at most %d", sum, total)
	}
	if docs == 0 || docs > 5000 {
		t.Errorf("the script of the documentation has %d bytes, want at most 5000", docs)
	}
}
