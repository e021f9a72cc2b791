package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/evanw/esbuild/pkg/api"
)

// TestSearchFindsPages: what people type leads to the page that answers it, among the first three results.
func TestSearchFindsPages(t *testing.T) {
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("SKIPPED: node is not installed: the search of the documentation is NOT TESTED")
	}
	table, err := os.ReadFile("testdata/queries.tsv")
	if err != nil {
		t.Fatal(err)
	}
	var queries, wants []string
	for line := range strings.Lines(string(table)) {
		query, want, _ := strings.Cut(strings.TrimSpace(line), "\t")
		queries, wants = append(queries, query), append(wants, want)
	}
	if len(queries) < 97 {
		t.Errorf("%d queries, want 97 or more", len(queries))
	}
	for i, hits := range findAll(t, queries) {
		first := hits[:min(len(hits), 3)]
		want := strings.Fields(wants[i])
		found := slices.ContainsFunc(first, func(h hit) bool {
			page, _, _ := strings.Cut(h.Address, "#")
			return slices.Contains(want, page)
		})
		if !found {
			t.Errorf("%q: got %v, want one of %v among the first three", queries[i], addressesOf(first), want)
		}
	}
}

// TestSearchShowsTheSentence: a result has the words that were looked for, marked, in the sentence they stand in.
func TestSearchShowsTheSentence(t *testing.T) {
	queries := []string{"trust-proxy", "Retry-After", "zzqqxx", "", "   ", "(", "the", strings.Repeat("key ", 200)}
	hits := findAll(t, queries)
	for i := range 2 {
		if len(hits[i]) == 0 || len(hits[i][0].Sentence) < 3 ||
			!strings.EqualFold(hits[i][0].Sentence[1], queries[i]) {
			t.Errorf("%q: got %+v", queries[i], hits[i][:min(1, len(hits[i]))])
		}
	}
	for i := 2; i < 6; i++ {
		if len(hits[i]) != 0 {
			t.Errorf("%q: found %d, want none", queries[i], len(hits[i]))
		}
	}
	for i, of := range hits {
		for _, h := range of {
			if text := strings.Join(h.Sentence, ""); len([]rune(text)) > 160 {
				t.Errorf("%q shows %d characters", queries[i], len([]rune(text)))
			}
		}
	}
}

// A hit is a result of find.ts.
type hit struct {
	Address, Title, Below string
	Sentence              []string
}

func addressesOf(hits []hit) (all []string) {
	for _, h := range hits {
		all = append(all, h.Address)
	}
	return all
}

// findAll searches the documentation as it is now for each query.
func findAll(t *testing.T, queries []string) (hits [][]hit) {
	t.Helper()
	files, err := manual(root)
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	asked, err := json.Marshal(queries)
	if err != nil {
		t.Fatal(err)
	}
	source, err := filepath.Abs("../../portal/web/src/docs/find.ts")
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{"index.json": files["docs/search.json"], "queries.json": asked,
		"run.ts": []byte(`import { readFileSync } from "node:fs";
import { find } from ` + jsString(source) + `;
const [index, queries] = ["index", "queries"].map((n) => JSON.parse(readFileSync(n + ".json", "utf8")));
console.log(JSON.stringify(queries.map((q: string) => find(index, q))));
`)} {
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	built := api.Build(api.BuildOptions{
		EntryPoints: []string{filepath.Join(folder, "run.ts")}, Outfile: filepath.Join(folder, "run.mjs"),
		Bundle: true, Write: true, Format: api.FormatESModule, Platform: api.PlatformNode,
	})
	for _, m := range built.Errors {
		t.Fatal(m.Text)
	}
	run := exec.CommandContext(t.Context(), "node", "run.mjs")
	run.Dir = folder
	var failed bytes.Buffer
	run.Stderr = &failed
	out, err := run.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, &failed)
	}
	if err := json.Unmarshal(out, &hits); err != nil {
		t.Fatal(err)
	}
	return hits
}

func jsString(s string) string {
	b, _ := json.Marshal(s) // a string always can
	return string(b)
}

// TestSearchBudget: what is loaded on focus stays small.
func TestSearchBudget(t *testing.T) {
	files, err := manual(root)
	if err != nil {
		t.Fatal(err)
	}
	zipped, err := zip(files["docs/search.json"])
	if err != nil {
		t.Fatal(err)
	}
	if len(zipped) > searchMost {
		t.Errorf("the index has %d bytes after gzip, want at most %d", len(zipped), searchMost)
	}
	t.Logf("the index has %d of %d bytes after gzip", len(zipped), searchMost)
}
