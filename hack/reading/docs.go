package main

import (
	"fmt"
	"os"
	"strings"
)

// writeDocs puts tables between the markers of a Markdown file that have their names, and leaves the others.
func writeDocs(path string, blocks map[string]string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	out := string(text)
	for name, block := range blocks {
		if out, err = between(out, name, block); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
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

// table has a row a normaliser, and a column a group.
func table(results []result) string {
	var b strings.Builder
	b.WriteString("| | all |")
	columns := 1
	for _, g := range groupings {
		for _, k := range sortedKeys(results[0].by(g.of)) {
			if g.name == "difficulty" {
				k = "difficulty " + k
			}
			b.WriteString(" " + k + " |")
			columns++
		}
	}
	b.WriteString("\n|---|" + strings.Repeat("---:|", columns) + "\n")
	for _, r := range results {
		fmt.Fprintf(&b, "| %s | **%s** |", r.name, r.rate())
		for _, g := range groupings {
			rates := r.by(g.of)
			for _, k := range sortedKeys(rates) {
				b.WriteString(" " + rates[k].String() + " |")
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

// apartTable has a row a normaliser, and a column a list.
func apartTable(measured []listResult) string {
	var b strings.Builder
	b.WriteString("| |")
	for _, l := range measured {
		b.WriteString(" " + l.name + " |")
	}
	b.WriteString("\n|---|" + strings.Repeat("---:|", len(measured)) + "\n")
	for i, r := range measured[0].results {
		fmt.Fprintf(&b, "| %s |", strings.TrimSuffix(r.name, ", "+measured[0].name))
		for _, l := range measured {
			b.WriteString(" " + l.results[i].rate().String() + " |")
		}
		b.WriteString("\n")
	}
	return b.String()
}
