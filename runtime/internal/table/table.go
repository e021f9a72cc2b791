// Package table reads tables of words: files with a line for each row and a tab between cells.
package table

import (
	"fmt"
	"io/fs"
	"strings"
)

// Row is a line of a table.
type Row struct {
	at    func(format string, args ...any) error
	cells []string
}

// Cell is the text in a column, "" where the line ends before it.
func (r *Row) Cell(column int) string {
	if column < len(r.cells) {
		return r.cells[column]
	}
	return ""
}

// Errorf is an error that names the file and the line of the row.
func (r *Row) Errorf(format string, args ...any) error { return r.at(format, args...) }

// Read calls add for each row of a table, which has these columns, and stops at the first error.
//
// A table is a file of lines, whose cells have a tab between them. Its first line names the columns, and those below
// are rows; empty cells at the end of one may be left out. Lines that begin with # and empty lines say nothing. An
// error names the file and the line.
func Read(fsys fs.FS, name string, columns []string, add func(*Row) error) error {
	data, err := fs.ReadFile(fsys, name)
	if err != nil {
		return err
	}
	n, headed := 0, false
	row := &Row{at: func(format string, args ...any) error {
		return fmt.Errorf("%s:%d: %w", name, n, fmt.Errorf(format, args...))
	}}
	for text := string(data); text != ""; {
		var line string
		line, text, _ = strings.Cut(text, "\n")
		n++
		if line == "" || line[0] == '#' {
			continue
		}
		row.cells = row.cells[:0]
		var cell string
		for rest, more := line, true; more; {
			cell, rest, more = strings.Cut(rest, "\t")
			if strings.HasPrefix(cell, " ") || strings.HasSuffix(cell, " ") || strings.HasSuffix(cell, "\r") {
				return row.at("white space around %q", cell)
			}
			row.cells = append(row.cells, cell)
		}
		switch {
		case !headed:
			if header := strings.Join(columns, "\t"); line != header {
				return row.at("the columns are %q, want %q", line, header)
			}
			headed = true
			continue
		case len(row.cells) > len(columns):
			return row.at("%d cells, want at most %d", len(row.cells), len(columns))
		case row.cells[0] == "":
			return row.at("the first cell is empty")
		}
		if err := add(row); err != nil {
			return err
		}
	}
	if !headed {
		n++
		return row.at("no line names the columns")
	}
	return nil
}
