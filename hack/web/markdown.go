package main

import (
	"bytes"
	"fmt"
	"html/template"
	"path"
	"regexp"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// addresses are where pages are, by their sources.
type addresses map[string]string

var markdown = goldmark.New(
	goldmark.WithExtensions(extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute)),
		extension.Strikethrough, extension.Linkify),
	goldmark.WithParserOptions(parser.WithAutoHeadingID()),
)

// render makes a page of the Markdown of a source, whose links start from its folder. A page that is made here has no
// source.
func render(source string, markup []byte, sources addresses) (*page, error) {
	p := &page{source: source, Address: sources[source], ids: map[string]bool{}}
	root := markdown.Parser().Parse(text.NewReader(markup),
		parser.WithContext(parser.NewContext(parser.WithIDs(headingIDs{}))))
	var comments []ast.Node
	err := ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.HTMLBlock:
			if n.HTMLBlockType != ast.HTMLBlockType2 { // which is a comment
				return 0, fmt.Errorf("%s holds HTML, which is not shown: write it in Markdown", source)
			}
			comments = append(comments, n)
		case *ast.RawHTML:
			return 0, fmt.Errorf("%s holds HTML, which is not shown: write it in Markdown", source)
		case *ast.Heading:
			p.note(n, markup)
		case *ast.Image:
			n.Destination = []byte("/" + path.Join(path.Dir(source), string(n.Destination)))
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		return nil, err
	}
	if p.Title == "" {
		return nil, fmt.Errorf("%s has no title", source)
	}
	for _, c := range comments {
		c.Parent().RemoveChild(c.Parent(), c)
	}
	p.sections = sectionsOf(root, markup)
	for _, l := range linksIn(root) {
		p.lead(l, sources)
	}
	var b bytes.Buffer
	if err := markdown.Renderer().Render(&b, markup, root); err != nil {
		return nil, err
	}
	p.Content = template.HTML(framed(b.String()))
	return p, nil
}

// note keeps a heading.
func (p *page) note(n *ast.Heading, markup []byte) {
	id, _ := n.AttributeString("id")
	h := heading{ID: string(id.([]byte)), Text: plain(n, markup), Level: n.Level}
	p.ids[h.ID] = true
	if n.Level == 1 {
		p.Title = h.Text
		return
	}
	p.Headings = append(p.Headings, h)
}

func linksIn(root ast.Node) (all []*ast.Link) {
	_ = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // it has no errors of its own
		if l, ok := n.(*ast.Link); ok && entering {
			all = append(all, l)
		}
		return ast.WalkContinue, nil
	})
	return all
}

// lead turns a link between sources into one between pages. Where there is no page the words stay, and the file's name
// behind them.
func (p *page) lead(l *ast.Link, sources addresses) {
	to := string(l.Destination)
	if strings.Contains(to, "://") {
		return
	}
	if strings.HasPrefix(to, "#") {
		p.links = append(p.links, to)
		return
	}
	file, fragment, found := strings.Cut(to, "#")
	file = path.Join(path.Dir(p.source), file)
	if address, ok := sources[file]; ok {
		if found {
			address += "#" + fragment
		}
		l.Destination = []byte(address)
		p.links = append(p.links, address)
		return
	}
	around := l.Parent()
	for c := l.FirstChild(); c != nil; {
		next := c.NextSibling()
		around.InsertBefore(around, l, c)
		c = next
	}
	name := ast.NewString([]byte(" (<code>" + template.HTMLEscapeString(file) + "</code>)"))
	name.SetCode(true) // it is written as it stands
	around.ReplaceChild(around, l, name)
}

var (
	emptyHeader = regexp.MustCompile(`<th( align="[a-z]+")?></th>`)
	emptyHead   = regexp.MustCompile(`<thead>\s*<tr>\s*(<th( align="[a-z]+")?></th>\s*)+</tr>\s*</thead>`)
)

// framed gives tables and examples, which may be wider than a screen, a frame that scrolls, also by keys.
func framed(html string) string {
	html = emptyHead.ReplaceAllString(html, "")
	html = emptyHeader.ReplaceAllString(html, "<td$1></td>")
	return strings.NewReplacer(
		"<table>", `<div class="wide" tabindex="0"><table>`, "</table>", "</table></div>",
		"<pre>", `<pre tabindex="0">`, "<img ", `<img loading="lazy" `,
	).Replace(html)
}

// headingIDs are those of code hosts, so that the same links work there and here.
type headingIDs map[string]bool

// Generate returns the identifier of a heading: small letters, hyphens for spaces, and no other signs.
func (ids headingIDs) Generate(value []byte, _ ast.NodeKind) []byte {
	id := strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-', r == '_', unicode.IsLetter(r), unicode.IsNumber(r), unicode.IsMark(r):
			return unicode.ToLower(r)
		}
		return -1
	}, strings.TrimSpace(string(value)))
	unique := id
	for i := 1; ids[unique]; i++ {
		unique = fmt.Sprintf("%s-%d", id, i)
	}
	ids[unique] = true
	return []byte(unique)
}

// Put keeps an identifier that the source itself gives.
func (ids headingIDs) Put(value []byte) { ids[string(value)] = true }
