// Command web bundles the pages of portal/web: src becomes dist, which programs embed. It runs esbuild as a library, so
// that Node is needed for what pages import alone, and only by who changes them.
//
//	go run ./hack/web [-watch] FOLDER     build FOLDER/src into FOLDER/dist; -watch goes on doing so
//
// The documentation is rendered from docs/*.md. It must be run at the top of the repository.
package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/evanw/esbuild/pkg/api"
)

// A visit is a page, and what it may load at once, in bytes after gzip.
type visit struct {
	html   string // below src
	budget int
}

var visits = []visit{{"app.html", 60_000}, {"signin.html", 25_000}}

// Pages that need no script are weighed, too.
var weighed = append([]visit{{"landing.en.html", 15_000}, {"landing.hi.html", 15_000}, {"docs/index.html", 15_000}},
	visits...)

// total is what all files may add to a program, in bytes, as they are embedded.
const total = 1_500_000

// entries are bundled each for itself. What one shares with pages that it loads later is in a file of its own.
var entries = []string{"src/app.tsx", "src/app.css", "src/signin.tsx", "src/signin.css", "src/theme.ts",
	"src/play/worklet.ts", "src/docs/docs.ts", "src/docs/docs.css", "src/landing/landing.css"}

func main() {
	watch := flag.Bool("watch", false, "build again whenever a source changes")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: web [-watch] FOLDER")
		os.Exit(2)
	}
	if err := run(flag.Arg(0), *watch); err != nil {
		fmt.Fprintln(os.Stderr, "web:", err)
		os.Exit(1)
	}
}

func run(folder string, watch bool) error {
	if _, err := os.Stat(filepath.Join(folder, "node_modules")); err != nil {
		return fmt.Errorf("%s has no node_modules: run npm ci --ignore-scripts there", folder)
	}
	if !watch {
		return build(folder)
	}
	var last time.Time
	for ; ; time.Sleep(300 * time.Millisecond) {
		changed, err := newest(append(sourcesOf("."), filepath.Join(folder, "src")))
		if err != nil {
			return err
		}
		if !changed.After(last) {
			continue
		}
		last = changed
		if err := build(folder); err != nil {
			fmt.Fprintln(os.Stderr, "web:", err)
		}
	}
}

// newest is when a file in or below one of some places changed last.
func newest(places []string) (at time.Time, err error) {
	for _, p := range places {
		err = errors.Join(err, filepath.WalkDir(p, func(_ string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := d.Info()
			if err == nil && info.ModTime().After(at) {
				at = info.ModTime()
			}
			return err
		}))
	}
	return at, err
}

// build writes dist anew, unless a page or all of them have become too large.
func build(folder string) error {
	b, err := bundleAll(folder)
	if err != nil {
		return err
	}
	zipped := map[string][]byte{}
	for name, content := range b.files {
		if zipped[name], err = zip(content); err != nil {
			return err
		}
	}
	for _, v := range weighed {
		if err := b.weigh(v, zipped); err != nil {
			return err
		}
	}
	embedded := map[string][]byte{}
	sum := 0
	for name, content := range b.files {
		embedded[name+".gz"] = zipped[name]
		if !strings.HasPrefix(name, "docs/") { // which are many, and go out compressed to nearly everybody
			embedded[name] = content
		}
	}
	for _, content := range embedded {
		sum += len(content)
	}
	fmt.Fprintf(os.Stderr, "web: %d files, %d of %d KB\n", len(embedded), sum/1000, total/1000)
	if sum > total {
		return fmt.Errorf("all files have %d bytes, more than %d", sum, total)
	}
	return replace(filepath.Join(folder, "dist"), embedded)
}

// replace writes a folder anew. It appears whole, or stays as it was.
func replace(dist string, files map[string][]byte) error {
	next := dist + ".new"
	if err := os.RemoveAll(next); err != nil {
		return err
	}
	for name, content := range files {
		if err := write(next, name, content); err != nil {
			return err
		}
	}
	if err := os.RemoveAll(dist); err != nil {
		return err
	}
	return os.Rename(next, dist)
}

// weigh says what a visit loads at once, and fails where that is too much.
func (b built) weigh(v visit, zipped map[string][]byte) error {
	loaded := []string{v.html}
	for _, file := range b.entries {
		if bytes.Contains(b.files[v.html], []byte("/"+file)) {
			loaded = append(loaded, b.closure(file)...)
		}
	}
	slices.Sort(loaded)
	loaded = slices.Compact(loaded)
	sum := 0
	for _, file := range loaded {
		sum += len(zipped[file])
	}
	fmt.Fprintf(os.Stderr, "web: %s loads %d files, %.1f of %d KB after gzip\n", v.html, len(loaded), float64(sum)/1000,
		v.budget/1000)
	if sum > v.budget {
		return fmt.Errorf("%s loads %d bytes at once, more than %d", v.html, sum, v.budget)
	}
	return nil
}

// bundleAll returns what is served. Names below assets hold the hash of their content; pages name a source where its
// file is to stand.
func bundleAll(folder string) (built, error) {
	all := built{files: map[string][]byte{}, entries: map[string]string{}, imports: map[string][]string{}}
	for _, entry := range entries {
		b, err := bundle(folder, entry)
		if err != nil {
			return built{}, err
		}
		maps.Copy(all.files, b.files)
		maps.Copy(all.entries, b.entries)
		maps.Copy(all.imports, b.imports)
	}
	icon, err := os.ReadFile(filepath.Join(folder, "src", "static", "favicon.svg"))
	if err != nil {
		return built{}, err
	}
	for _, v := range visits {
		page, err := os.ReadFile(filepath.Join(folder, "src", v.html))
		if err != nil {
			return built{}, err
		}
		if page, err = withIcon(page, icon); err != nil {
			return built{}, fmt.Errorf("%s: %w", v.html, err)
		}
		if all.files[v.html], err = all.named(v.html, page); err != nil {
			return built{}, err
		}
	}
	for _, more := range []func() (map[string][]byte, error){
		func() (map[string][]byte, error) { return manual(".") },
		func() (map[string][]byte, error) { return landing(filepath.Join(folder, "src", "landing")) },
	} {
		files, err := more()
		if err != nil {
			return built{}, err
		}
		if err := all.merge(files); err != nil {
			return built{}, err
		}
	}
	return all, all.addStatic(filepath.Join(folder, "src", "static"))
}

// named is a page with the names of files in the place of those of their sources.
func (b built) named(name string, page []byte) ([]byte, error) {
	for source, file := range b.entries {
		page = bytes.ReplaceAll(page, []byte(`"/assets/`+source+`"`), []byte(`"/`+file+`"`))
	}
	if bytes.Contains(page, []byte("/assets/src/")) {
		return nil, fmt.Errorf("%s names a source that is not built", name)
	}
	return page, nil
}

// withIcon is a page that holds its icon itself, which a browser would ask for beside all else that it loads at once.
func withIcon(page, icon []byte) ([]byte, error) {
	link := []byte(`href="/favicon.svg"`)
	if !bytes.Contains(page, link) {
		return nil, fmt.Errorf("no link to the icon: want %s", link)
	}
	data := strings.NewReplacer("%", "%25", "#", "%23", "<", "%3C", ">", "%3E", `"`,
		"'").Replace(strings.TrimSpace(string(icon)))
	return bytes.Replace(page, link, []byte(`href="data:image/svg+xml,`+data+`"`), 1), nil
}

// addStatic adds what is served as it is, at the top.
func (b built) addStatic(folder string) error {
	list, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	for _, f := range list {
		content, err := os.ReadFile(filepath.Join(folder, f.Name()))
		if err != nil {
			return err
		}
		b.files[f.Name()] = content
	}
	return nil
}

// A built is what esbuild made of the sources.
type built struct {
	files   map[string][]byte
	entries map[string]string   // of a source, its file
	imports map[string][]string // of a file, those that it cannot run without
}

// closure is a file and all that it cannot run without.
func (b built) closure(file string) []string {
	all := []string{file}
	for i := 0; i < len(all); i++ {
		for _, f := range b.imports[all[i]] {
			if !slices.Contains(all, f) {
				all = append(all, f)
			}
		}
	}
	return all
}

// bundle makes a file of an entry, and one of what it loads later; what they share is in another.
func bundle(folder, entry string) (built, error) {
	at, err := filepath.Abs(folder)
	if err != nil {
		return built{}, err
	}
	result := api.Build(api.BuildOptions{
		AbsWorkingDir: at, EntryPoints: []string{entry}, Outdir: "dist/assets", Bundle: true, Charset: api.CharsetUTF8,
		EntryNames: "[name]-[hash]", ChunkNames: "[name]-[hash]", Splitting: true, Metafile: true,
		MinifyWhitespace: true, MinifyIdentifiers: true, MinifySyntax: true, Format: api.FormatESModule,
		Target: api.ES2022,
		JSX:    api.JSXAutomatic, JSXImportSource: "preact", LegalComments: api.LegalCommentsNone,
	})
	var faults []error
	for _, m := range append(result.Errors, result.Warnings...) {
		where := ""
		if m.Location != nil {
			where = fmt.Sprintf("%s:%d: ", m.Location.File, m.Location.Line)
		}
		faults = append(faults, errors.New(where+m.Text))
	}
	if len(faults) > 0 {
		return built{}, errors.Join(faults...)
	}
	var meta struct {
		Outputs map[string]struct {
			EntryPoint string
			Imports    []struct{ Path, Kind string }
		}
	}
	if err := json.Unmarshal([]byte(result.Metafile), &meta); err != nil {
		return built{}, err
	}
	b := built{files: map[string][]byte{}, entries: map[string]string{}, imports: map[string][]string{}}
	for _, f := range result.OutputFiles {
		name, err := filepath.Rel(filepath.Join(at, "dist"), f.Path)
		if err != nil {
			return built{}, err
		}
		b.files[filepath.ToSlash(name)] = f.Contents
	}
	for path, o := range meta.Outputs {
		name := strings.TrimPrefix(path, "dist/")
		if o.EntryPoint != "" {
			b.entries[o.EntryPoint] = name
		}
		for _, i := range o.Imports {
			if i.Kind == "import-statement" {
				b.imports[name] = append(b.imports[name], strings.TrimPrefix(i.Path, "dist/"))
			}
		}
	}
	return b, nil
}

// zip compresses without a time stamp, so that the same pages are the same bytes.
func zip(content []byte) ([]byte, error) {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	_, err = w.Write(content)
	err = errors.Join(err, w.Close())
	return b.Bytes(), err
}

func write(folder, name string, content []byte) error {
	path := filepath.Join(folder, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, content, 0o644)
}
