package main

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/evanw/esbuild/pkg/api"
)

// TestUnits runs the unit tests of the pages (portal/web/src/**/*.test.ts) with node's test runner.
func TestUnits(t *testing.T) {
	const web = "../../portal/web"
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("SKIPPED: node is not installed: the logic of the pages is NOT TESTED")
	}
	if _, err := os.Stat(filepath.Join(web, "node_modules", "@preact", "signals")); err != nil {
		t.Skip("SKIPPED: portal/web/node_modules is missing, hack/web.sh -install brings it: the logic of the pages is NOT TESTED")
	}
	var tests []string
	err := filepath.WalkDir(filepath.Join(web, "src"), func(path string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".test.ts") {
			tests = append(tests, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	bundled := t.TempDir()
	result := api.Build(api.BuildOptions{
		EntryPoints: tests, Outdir: bundled, OutExtension: map[string]string{".js": ".mjs"}, Write: true,
		Bundle: true, Format: api.FormatESModule, Platform: api.PlatformNode, Sourcemap: api.SourceMapInline,
	})
	for _, m := range result.Errors {
		t.Errorf("%s: %s", m.Location.File, m.Text)
	}
	if t.Failed() {
		return
	}
	var out bytes.Buffer
	run := exec.CommandContext(t.Context(), "node", "--enable-source-maps", "--test", "--test-reporter=tap", bundled)
	run.Stdout, run.Stderr = &out, &out
	if err := run.Run(); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	passed := 0
	if m := regexp.MustCompile(`(?m)^# pass (\d+)$`).FindSubmatch(out.Bytes()); m != nil {
		passed, _ = strconv.Atoi(string(m[1]))
	}
	if passed < len(tests) {
		t.Errorf("%d tests passed of %d files\n%s", passed, len(tests), &out)
	}
	t.Logf("%d unit tests in %d files", passed, len(tests))
}
