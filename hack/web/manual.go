package main

import (
	"bytes"
	"fmt"
	"html/template"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// A chapter is a heading of the list of pages, and the sources below it, in the order in which somebody reads them.
type chapter struct {
	Name    string
	sources []string
	Pages   []*page
}

// chapters are the documentation of whoever uses or runs Swar. What only its developers need is not among them.
var chapters = []chapter{
	{Name: "Get started", sources: []string{"docs/start.md"}},
	{Name: "API", sources: []string{"docs/api.md", "docs/websocket.md", "docs/clients.md", "docs/normaliser.md", "docs/labelling.md"}},
	{Name: "Accounts", sources: []string{"docs/portal.md", "docs/signin.md"}},
	{Name: "Self-hosting", sources: []string{"docs/operations.md", "docs/proxy.md", "docs/monitoring.md", "docs/fleet.md", "docs/pricing.md", "docs/kubernetes.md", "docs/autoscaling.md", "docs/images.md"}},
	{Name: "Models and voices", sources: []string{"docs/models.md", "docs/voices.md", "docs/engine.md"}},
	{Name: "Command line", sources: []string{"docs/cli.md", "docs/cli/server.md", "docs/cli/speech.md", "docs/cli/portal.md", "docs/cli/models.md", "docs/cli/machine.md"}},
	{Name: "Benchmarks", sources: []string{"docs/benchmarks.md", "docs/capacity.md", "docs/voices-benchmark.md", "docs/reading-benchmark.md"}},
	{Name: "Changelog", sources: []string{"CHANGELOG.md"}},
}

// runbooks are pages, too, and listed on a page of their own: alerts lead to them.
const runbooks = "docs/runbooks"

// A page is one source as it is shown.
type page struct {
	source   string // as the repository calls it
	Address  string
	Title    string
	Content  template.HTML
	Headings []heading
	sections []section
	ids      map[string]bool
	links    []string // to other pages, with their fragments
}

// A heading is what a reader may look for.
type heading struct {
	ID, Text string
	Level    int
}

// manual returns the documentation, by the names of its files below dist: pages, what they were made of, pictures and
// what is searched.
func manual(root string) (map[string][]byte, error) {
	list, pages, err := readManual(root)
	if err != nil {
		return nil, err
	}
	if err := deadLinks(pages); err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	if err := addPictures(files, root); err != nil {
		return nil, err
	}
	form, err := template.ParseFiles(filepath.Join(root, "portal/web/src/docs/page.html"))
	if err != nil {
		return nil, err
	}
	for i, p := range pages {
		name, content, err := p.fill(form, list, pages, i)
		if err != nil {
			return nil, err
		}
		files[name+".html"] = content
		if p.source == "" { // which is made of no file
			continue
		}
		if files[name+".md"], err = os.ReadFile(filepath.Join(root, p.source)); err != nil {
			return nil, err
		}
	}
	if files["docs/search.json"], err = searched(root, pages); err != nil {
		return nil, err
	}
	return files, nil
}

// fill is the file of a page, without its ending, and its HTML.
func (p *page) fill(form *template.Template, list []chapter, pages []*page, i int) (string, []byte, error) {
	shown := struct {
		*page
		Source         string // of the Markdown
		Chapters       []chapter
		Before, Behind *page
	}{page: p, Chapters: list}
	name := strings.TrimPrefix(p.Address, "/")
	if p.Address == "/docs/" {
		name = "docs/index"
	}
	if p.source != "" {
		shown.Source = "/" + name + ".md"
		if i > 0 && pages[i-1].source != "" {
			shown.Before = pages[i-1]
		}
		if i+1 < len(pages) && pages[i+1].source != "" {
			shown.Behind = pages[i+1]
		}
	}
	var b bytes.Buffer
	err := form.Execute(&b, shown)
	return name, b.Bytes(), err
}

// readManual reads all pages, in order, and the list beside them.
func readManual(root string) ([]chapter, []*page, error) {
	sources, list := addresses{}, slices.Clone(chapters)
	for _, c := range list {
		for _, s := range c.sources {
			sources[s] = addressOf(s)
		}
	}
	cards, err := filepath.Glob(filepath.Join(root, runbooks, "*.md"))
	if err != nil {
		return nil, nil, err
	}
	sources[runbooks] = "/docs/runbooks"
	for _, c := range cards {
		s := path.Join(runbooks, filepath.Base(c))
		sources[s] = addressOf(s)
	}
	var all []*page
	for i, c := range list {
		for _, s := range c.sources {
			p, err := readPage(root, s, sources)
			if err != nil {
				return nil, nil, err
			}
			list[i].Pages = append(list[i].Pages, p)
			all = append(all, p)
		}
	}
	overview := "# Runbooks\n\nWhat to do when an alert fires. [Kubernetes](docs/kubernetes.md) lists the alerts.\n\n"
	var books []*page
	var links []string
	for _, c := range cards {
		p, err := readPage(root, path.Join(runbooks, filepath.Base(c)), sources)
		if err != nil {
			return nil, nil, err
		}
		books = append(books, p)
		links = append(links, "- ["+p.Title+"]("+p.source+")\n")
	}
	overview += strings.Join(links, "")
	for _, made := range [][2]string{{lostAddress, lost}, {sources[runbooks], overview}} {
		p, err := render("", []byte(made[1]), sources)
		if err != nil {
			return nil, nil, err
		}
		p.Address = made[0]
		all = append(all, p)
	}
	return list, append(all, books...), nil
}

// lost is what stands where there is no page.
const lostAddress, lost = "/docs/404", "# There is no such page\n\nIt may have another name now. Look in the list of pages, or search for a heading."

func readPage(root, source string, sources addresses) (*page, error) {
	text, err := os.ReadFile(filepath.Join(root, source))
	if err != nil {
		return nil, err
	}
	return render(source, text, sources)
}

// addressOf a source: docs/api.md is /docs/api, and the quick start is what whoever opens /docs/ sees.
func addressOf(source string) string {
	switch source {
	case "docs/start.md":
		return "/docs/"
	case "CHANGELOG.md":
		return "/docs/changelog"
	}
	return "/" + strings.TrimSuffix(source, ".md")
}

// deadLinks fails where a page leads to a place that no page has.
func deadLinks(pages []*page) error {
	ids := map[string]map[string]bool{}
	for _, p := range pages {
		ids[p.Address] = p.ids
	}
	for _, p := range pages {
		for _, l := range p.links {
			address, fragment, _ := strings.Cut(l, "#")
			if address == "" {
				address = p.Address
			}
			if there, ok := ids[address]; !ok || fragment != "" && !there[fragment] {
				return fmt.Errorf("%s leads to %s, which no page has", p.source, l)
			}
		}
	}
	return nil
}

// pictures are what pages show. That of the README is for the README alone.
const pictures = "docs/images"

func addPictures(files map[string][]byte, root string) error {
	names, err := filepath.Glob(filepath.Join(root, pictures, "*.svg"))
	if err != nil {
		return err
	}
	points, err := filepath.Glob(filepath.Join(root, pictures, "spectrogram-*.png"))
	if err != nil {
		return err
	}
	for _, n := range append(names, points...) {
		if files[path.Join(pictures, filepath.Base(n))], err = os.ReadFile(n); err != nil {
			return err
		}
	}
	return nil
}

// sourcesOf says which files a manual is made of, for whoever watches them.
func sourcesOf(root string) []string {
	return []string{filepath.Join(root, "docs"), filepath.Join(root, "CHANGELOG.md")}
}

// merge puts the manual among what is served, with the names that scripts and styles have.
func (b built) merge(files map[string][]byte) error {
	for _, name := range slices.Sorted(maps.Keys(files)) {
		content := files[name]
		if path.Ext(name) == ".html" {
			var err error
			if content, err = b.named(name, content); err != nil {
				return err
			}
		}
		b.files[name] = content
	}
	return nil
}
