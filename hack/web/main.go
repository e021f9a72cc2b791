// Command web bundles the pages of portal/web: src becomes dist, which programs embed. It runs esbuild as a library, so that
// Node is needed for what pages import alone, and only by who changes them.
//
//	go run ./hack/web [-watch] FOLDER     build FOLDER/src into FOLDER/dist; -watch goes on doing so
package main

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/evanw/esbuild/pkg/api"
)

// budget is what a first visit may load, in bytes after gzip.
const budget = 60_000

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
		changed, err := newest(filepath.Join(folder, "src"))
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

// newest is when a file below a folder changed last.
func newest(folder string) (at time.Time, err error) {
	err = filepath.WalkDir(folder, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && info.ModTime().After(at) {
			at = info.ModTime()
		}
		return err
	})
	return at, err
}

// build writes dist anew. It appears whole, or stays as it was.
func build(folder string) error {
	files, err := pages(folder)
	if err != nil {
		return err
	}
	dist := filepath.Join(folder, "dist")
	next := dist + ".new"
	if err := os.RemoveAll(next); err != nil {
		return err
	}
	first := 0
	for name, content := range files {
		zipped, err := zip(content)
		if err != nil {
			return err
		}
		first += len(zipped)
		if err := errors.Join(write(next, name, content), write(next, name+".gz", zipped)); err != nil {
			return err
		}
	}
	if first > budget {
		return fmt.Errorf("a first visit loads %d bytes, more than %d", first, budget)
	}
	if err := os.RemoveAll(dist); err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "web: %d files, %.1f of %d KB after gzip\n", len(files), float64(first)/1000, budget/1000)
	return os.Rename(next, dist)
}

// pages returns what is served, by its path. Names below assets hold the hash of their content.
func pages(folder string) (map[string][]byte, error) {
	files := map[string][]byte{}
	names := map[string]string{}
	for place, entry := range map[string]string{"SCRIPT": "app.tsx", "STYLE": "app.css", "WORKLET": "play/worklet.ts"} {
		content, err := bundle(folder, entry)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", entry, err)
		}
		kind := ".js"
		if place == "STYLE" {
			kind = ".css"
		}
		stem := strings.TrimSuffix(filepath.Base(entry), filepath.Ext(entry))
		names[place] = stem + "-" + hash(content) + kind
		files["assets/"+names[place]] = content
	}
	page, err := os.ReadFile(filepath.Join(folder, "src", "app.html"))
	if err != nil {
		return nil, err
	}
	text := string(page)
	for place, name := range names {
		if strings.Count(text, "/assets/"+place) != 1 {
			return nil, fmt.Errorf("app.html does not name /assets/%s once", place)
		}
		text = strings.ReplaceAll(text, "/assets/"+place, "/assets/"+name)
	}
	files["app.html"] = []byte(text)
	return files, nil
}

func bundle(folder, entry string) ([]byte, error) {
	at, err := filepath.Abs(folder)
	if err != nil {
		return nil, err
	}
	result := api.Build(api.BuildOptions{
		AbsWorkingDir: at, EntryPoints: []string{"src/" + entry}, Outdir: "dist", Bundle: true, Charset: api.CharsetUTF8,
		MinifyWhitespace: true, MinifyIdentifiers: true, MinifySyntax: true, Format: api.FormatESModule, Target: api.ES2022,
		JSX: api.JSXAutomatic, JSXImportSource: "preact", LegalComments: api.LegalCommentsNone,
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
		return nil, errors.Join(faults...)
	}
	if len(result.OutputFiles) != 1 {
		return nil, fmt.Errorf("%d files came of it, want one", len(result.OutputFiles))
	}
	return result.OutputFiles[0].Contents, nil
}

// hash is short enough for a name.
func hash(content []byte) string {
	sum := sha256.Sum256(content)
	return strings.ToLower(base32.StdEncoding.EncodeToString(sum[:5]))
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
