package main

import (
	"encoding/json"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
)

// searchMost is what the index of the documentation may weigh, in bytes after gzip. It is loaded when somebody goes to
// the search field.
const searchMost = 90_000

// A section is a heading, and the text up to the next one. The first one of a page has no heading.
type section struct {
	ID, Heading string
	Blocks      []string // paragraphs, items of lists, rows of tables, lines of examples
}

// An index is what docs.ts searches: the pages with their sections, and the words that readers type for those that the
// pages use.
type index struct {
	Pages    [][]any             `json:"pages"` // address, title, identifier, heading and text of each section
	Synonyms map[string][]string `json:"synonyms"`
}

// searched returns docs/search.json.
func searched(root string, pages []*page) ([]byte, error) {
	text, err := os.ReadFile(filepath.Join(root, synonymsFile))
	if err != nil {
		return nil, err
	}
	var i index
	if err := json.Unmarshal(text, &i.Synonyms); err != nil {
		return nil, err
	}
	for _, p := range pages {
		if p.Address == lostAddress {
			continue
		}
		entry := []any{p.Address, p.Title}
		for _, s := range p.sections {
			if brief[path.Dir(p.source)] || brief[p.source] {
				s.Blocks = s.Blocks[:min(len(s.Blocks), 1)]
			}
			entry = append(entry, s.ID, s.Heading, strings.Join(s.Blocks, "\n"))
		}
		i.Pages = append(i.Pages, entry)
	}
	return json.Marshal(i)
}

// synonymsFile has, for a word that people type, the words that the pages use.
const synonymsFile = "portal/web/src/docs/synonyms.json"

// brief are pages, and folders of pages, of which headings and what follows them first are searched: measurements, what
// has changed, and one alert each.
var brief = map[string]bool{
	"docs/benchmarks.md": true, "docs/capacity.md": true, "docs/voices-benchmark.md": true,
	"docs/reading-benchmark.md": true, "CHANGELOG.md": true, runbooks: true,
}

// programs are languages of examples that are not searched: the text around them names what they use.
var programs = map[string]bool{
	"json": true, "python": true, "js": true, "ts": true, "go": true, "html": true, "xml": true,
}

// sectionsOf returns the text of a page by its headings.
func sectionsOf(root ast.Node, markup []byte) []section {
	all := []section{{}}
	add := func(text string) {
		if text = strings.Join(strings.Fields(text), " "); text != "" {
			last := &all[len(all)-1]
			last.Blocks = append(last.Blocks, text)
		}
	}
	_ = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // it has no errors of its own
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Heading:
			if n.Level > 1 {
				id, _ := n.AttributeString("id")
				all = append(all, section{ID: string(id.([]byte)), Heading: plain(n, markup)})
			}
		case *extast.TableRow, *extast.TableHeader:
			add(strings.Join(cellsOf(n, markup), " – "))
		case *ast.Paragraph, *ast.TextBlock:
			add(plain(n, markup))
		case *ast.FencedCodeBlock, *ast.CodeBlock:
			if f, ok := n.(*ast.FencedCodeBlock); ok && programs[string(f.Language(markup))] {
				return ast.WalkSkipChildren, nil
			}
			for i := range n.Lines().Len() {
				line := n.Lines().At(i)
				add(string(line.Value(markup)))
			}
		default:
			return ast.WalkContinue, nil
		}
		return ast.WalkSkipChildren, nil
	})
	return slices.DeleteFunc(all, func(s section) bool { return s.Heading == "" && len(s.Blocks) == 0 })
}

// cellsOf returns the cells of a row that say something. Where the table shows how texts are read, these are the cells
// before the examples, in which every word may occur.
func cellsOf(row ast.Node, markup []byte) (cells []string) {
	head := row.Parent().FirstChild().FirstChild()
	for c := row.FirstChild(); c != nil && head != nil; c, head = c.NextSibling(), head.NextSibling() {
		if strings.EqualFold(plain(head, markup), "written") {
			return cells
		}
		if cell := plain(c, markup); cell != "" {
			cells = append(cells, cell)
		}
	}
	return cells
}

// plain is the text of a node, without its marks.
func plain(n ast.Node, markup []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(c ast.Node, entering bool) (ast.WalkStatus, error) { // it has no errors of its own
		if !entering {
			return ast.WalkContinue, nil
		}
		switch c := c.(type) {
		case *ast.Text:
			b.Write(c.Segment.Value(markup))
			if c.SoftLineBreak() || c.HardLineBreak() {
				b.WriteByte(' ')
			}
		case *ast.String:
			b.Write(c.Value)
		case *ast.AutoLink:
			b.Write(c.Label(markup))
		}
		return ast.WalkContinue, nil
	})
	return strings.TrimSpace(b.String())
}
