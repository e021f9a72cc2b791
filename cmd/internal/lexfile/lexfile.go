// Package lexfile reads and writes files of lexicons for commands.
package lexfile

import (
	"encoding/csv"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/swar-tts/swar/cmd/internal/launch"
	"github.com/swar-tts/swar/runtime/lexicon"
)

// ID is what requests name the lexicon of a server by.
const ID = "lex_server"

// File is what a file has: entries that are checked, and what no lexicon can have.
type File struct {
	Entries []lexicon.Entry
	Dropped []lexicon.Dropped
}

// Extensions are the supported file extensions, without a dot.
var Extensions = []string{lexicon.CSV, lexicon.PLS}

// maxBytes is the size of a file that is read: more than any list of 1000 entries needs.
const maxBytes = 4 << 20

// FormatOf returns the format of a file by its name: that of .csv and of .pls, or .xml.
func FormatOf(path string) (string, error) {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".csv":
		return lexicon.CSV, nil
	case ".pls", ".xml":
		return lexicon.PLS, nil
	}
	return "", fmt.Errorf("%s: the file name of a lexicon must end in .csv or .pls", path)
}

// Read reads a file.
func Read(path string) (File, error) {
	format, err := FormatOf(path)
	if err != nil {
		return File{}, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return File{}, err
	}
	if !info.Mode().IsRegular() { // opening a pipe blocks until it has a writer
		return File{}, fmt.Errorf("%s: not a regular file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return File{}, err
	}
	defer func() { _ = f.Close() }() // it was only read
	text, err := io.ReadAll(io.LimitReader(f, maxBytes+1))
	if err != nil {
		return File{}, err
	}
	if len(text) > maxBytes {
		return File{}, fmt.Errorf("%s: larger than %d MiB", path, maxBytes>>20)
	}
	read, err := Parse(format, string(text))
	if err != nil {
		return File{}, fmt.Errorf("%s: %w", path, err)
	}
	return read, nil
}

// Parse reads the text of a file.
func Parse(format, text string) (f File, err error) {
	if f.Entries, f.Dropped, err = lexicon.Parse(format, text); err == nil {
		f.Entries, err = lexicon.Clean(f.Entries)
	}
	return f, err
}

// Save writes entries to a file and renames it when it is complete. A full disk leaves the previous file.
func Save(path, format string, entries []lexicon.Entry) (err error) {
	if linked, err := filepath.EvalSymlinks(path); err == nil {
		path = linked // so that a link stays one
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".exporting-")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }() // unless it has got its name
	if err := errors.Join(Write(f, format, entries), f.Chmod(0o644), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// Write writes entries in a format.
func Write(w io.Writer, format string, entries []lexicon.Entry) error {
	if format == lexicon.PLS {
		return writePLS(w, entries)
	}
	out := csv.NewWriter(w)
	rows := [][]string{{"word", "spoken", "lang"}}
	for _, e := range entries {
		rows = append(rows, []string{e.Word, e.Spoken, e.Lang})
	}
	return out.WriteAll(rows)
}

func writePLS(w io.Writer, entries []lexicon.Entry) error {
	var b strings.Builder
	b.WriteString(xml.Header +
		`<lexicon version="1.0" xmlns="http://www.w3.org/2005/01/pronunciation-lexicon" alphabet="ipa" xml:lang="und">` + "\n")
	for _, e := range entries {
		b.WriteString("  <lexeme")
		if e.Lang != "" {
			b.WriteString(` xml:lang="` + e.Lang + `"`)
		}
		b.WriteString("><grapheme>")
		escapeTo(&b, e.Word)
		b.WriteString("</grapheme><alias>")
		escapeTo(&b, e.Spoken)
		b.WriteString("</alias></lexeme>\n")
	}
	b.WriteString("</lexicon>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

func escapeTo(b *strings.Builder, text string) { _ = xml.EscapeText(b, []byte(text)) } // a Builder never fails

// Flag names the lexicon of a server: of all keys that belong to no project.
type Flag struct {
	path string
	file File
}

// Define defines the flag.
func (l *Flag) Define(f *pflag.FlagSet) {
	f.StringVar(&l.path, "lexicon", "",
		"lexicon `file` (.csv or .pls) for keys of --api-key, and without keys; read at the start")
}

// Set reports whether a file was named.
func (l *Flag) Set() bool { return l.path != "" }

// Check reads the file.
func (l *Flag) Check(cmd *cobra.Command) (err error) {
	if l.path == "" {
		return nil
	}
	if l.file, err = Read(l.path); err != nil {
		return launch.BadUsage(cmd, "--lexicon: %v", withoutOp(err))
	}
	return nil
}

// withoutOp leaves out what was tried, which the flag says.
func withoutOp(err error) error {
	if path, ok := errors.AsType[*os.PathError](err); ok {
		return fmt.Errorf("%s: %w", path.Path, path.Err)
	}
	return err
}

// Lexicon returns what the file says; nil without one.
func (l *Flag) Lexicon(log *slog.Logger) *lexicon.Lexicon {
	if n := len(l.file.Dropped); n > 0 {
		log.Warn("entries of the lexicon cannot be spoken", "file", l.path, "entries", n, "first",
			l.file.Dropped[0].Word,
			"reason", l.file.Dropped[0].Reason)
	}
	return lexicon.Compile(ID, 1, l.file.Entries)
}
