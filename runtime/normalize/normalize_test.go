package normalize

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// row is one line of a table in testdata: what is written, and what must be spoken for it.
type row struct {
	at      string // file:line
	written string
	options Options
	want    string
}

// rows reads all tables.
func rows(t testing.TB) []row {
	t.Helper()
	files, err := filepath.Glob("testdata/*.tsv")
	if err != nil || len(files) == 0 {
		t.Fatalf("no tables in testdata: %v", err)
	}
	var all []row
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		line := 0
		for s := bufio.NewScanner(f); s.Scan(); {
			line++
			text := s.Text()
			if text == "" || strings.HasPrefix(text, "# ") || text == "#" {
				continue
			}
			at := fmt.Sprintf("%s:%d", filepath.Base(name), line)
			cols := strings.Split(text, "\t")
			if len(cols) != 3 || cols[1] != "-" && cols[1] != "en_digits" {
				t.Errorf("%s: not three columns with option - or en_digits: %q", at, text)
				continue
			}
			all = append(all, row{
				at: at, written: strings.ReplaceAll(cols[0], `\n`, "\n"),
				options: Options{EnDigits: cols[1] == "en_digits"}, want: cols[2],
			})
		}
	}
	return all
}

func TestTables(t *testing.T) {
	for _, row := range rows(t) {
		if got := Text(row.written, row.options); got != row.want {
			t.Errorf("%s: %q en_digits=%v\n got %s\nwant %s", row.at, row.written, row.options.EnDigits, got, row.want)
		}
	}
}

func TestTablesCoverMuch(t *testing.T) {
	perFile := map[string]int{}
	all := rows(t)
	for _, row := range all {
		name, _, _ := strings.Cut(row.at, ":")
		perFile[name]++
	}
	if len(all) < 900 {
		t.Errorf("only %d rows in all tables", len(all))
	}
	if perFile["messages.tsv"] < 150 {
		t.Errorf("only %d whole messages", perFile["messages.tsv"])
	}
	for name, n := range perFile {
		if n < 10 {
			t.Errorf("%s has only %d rows", name, n)
		}
	}
}
