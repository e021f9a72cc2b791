package main

import (
	"fmt"
	"os"
	"strings"
)

// writeDocs puts the tables between the markers of a Markdown file. The table of what is held out stays when it was not measured.
func writeDocs(path string, results, held []result) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	out, err := between(string(text), "results", table(results))
	if err == nil && held != nil {
		out, err = between(out, "held out", heldOutTable(held))
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return os.WriteFile(path, []byte(out), 0o644)
}

func between(text, name, block string) (string, error) {
	begin, end := "<!-- "+name+" -->\n", "<!-- end of "+name+" -->"
	before, rest, ok := strings.Cut(text, begin)
	_, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		return "", fmt.Errorf("the markers %q and %q are missing", strings.TrimSpace(begin), end)
	}
	return before + begin + "\n" + block + "\n" + end + after, nil
}

// table has a column a normaliser: the whole rate, then every group.
func table(results []result) string {
	var b strings.Builder
	b.WriteString("| |")
	for _, r := range results {
		b.WriteString(" " + r.name + " |")
	}
	b.WriteString("\n|---|" + strings.Repeat("---:|", len(results)) + "\n| **all** |")
	for _, r := range results {
		fmt.Fprintf(&b, " **%s** |", r.rate())
	}
	b.WriteString("\n")
	for _, g := range append(groupings, struct {
		name string
		of   func(message) string
	}{"class", byClass}) {
		for _, k := range sortedKeys(results[0].by(g.of)) {
			fmt.Fprintf(&b, "| %s %s |", g.name, k)
			for _, r := range results {
				fmt.Fprintf(&b, " %s |", r.by(g.of)[k])
			}
			b.WriteString("\n")
		}
	}
	return b.String()
}

func heldOutTable(results []result) string {
	var b strings.Builder
	b.WriteString("| | held out |\n|---|---:|\n")
	for _, r := range results {
		fmt.Fprintf(&b, "| %s | %s |\n", strings.TrimSuffix(r.name, ", held out"), r.rate())
	}
	return b.String()
}
