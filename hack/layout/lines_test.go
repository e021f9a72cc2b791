package layout

import (
	"go/scanner"
	"go/token"
	"os"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// mostColumns is how wide a line of Go may be, with tabs of four; generated files do not count.
//
// Rows of tables may be wider, and lines with a text that is not worth cutting.
const mostColumns = 120

// longText is from how many columns on a string in a line excuses its width.
const longText = 60

// generated is the line that the Go tools know a generated file by.
var generated = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`)

func TestLinesAreShort(t *testing.T) {
	for _, path := range tracked(t, "*.go") {
		source, err := os.ReadFile("../../" + path)
		if err != nil {
			t.Fatal(err)
		}
		if generated.Match(source) {
			continue
		}
		for _, n := range wide(source) {
			t.Errorf("%s:%d is wider than %d columns", path, n, mostColumns)
		}
	}
}

func TestWideLinesAreFound(t *testing.T) {
	long := strings.Repeat("x", mostColumns)
	for name, c := range map[string]struct {
		line string
		want int
	}{
		"at the bound":          {"// " + long[3:], 0},
		"one more":              {"// " + long[2:], 1},
		"a tab is four columns": {"\t// " + long[7:], 0},
		"a tab and one more":    {"\t// " + long[6:], 1},
		"letters, not bytes":    {"// " + strings.Repeat("न", mostColumns-3), 0},
		"a row of a table":      {"{" + long + "}", 0},
		"a long text":           {`f("` + long + `")`, 0},
		"a table in a comment":  {"//\t" + long, 0},
		"in a raw string":       {"var a = `\n" + long + "x\n`", 0},
	} {
		t.Run(name, func(t *testing.T) {
			if got := wide([]byte("package a\n\n" + c.line + "\n")); len(got) != c.want {
				t.Errorf("lines %v are wide, want %d", got, c.want)
			}
		})
	}
}

// wide returns the numbers of lines that are too wide.
func wide(source []byte) (numbers []int) {
	excused := map[int]bool{}
	set := token.NewFileSet()
	file := set.AddFile("", set.Base(), len(source))
	var s scanner.Scanner
	s.Init(file, source, func(token.Position, string) {}, 0)
	for pos, tok, text := s.Scan(); tok != token.EOF; pos, tok, text = s.Scan() {
		lines := strings.Count(text, "\n")
		if tok == token.STRING && (lines > 0 || utf8.RuneCountInString(text) >= longText) {
			for n := range lines + 1 {
				excused[file.Line(pos)+n] = true
			}
		}
	}
	for n, line := range strings.Split(string(source), "\n") {
		trimmed := strings.TrimSpace(line)
		// a table in a comment, a marker
		isRow := strings.IndexAny(trimmed, "{\"`") == 0 || strings.HasPrefix(trimmed, "//\t") ||
			strings.HasPrefix(trimmed, "// +")
		if columns := utf8.RuneCountInString(strings.ReplaceAll(line, "\t", "    ")); columns > mostColumns && !isRow &&
			!excused[n+1] {
			numbers = append(numbers, n+1)
		}
	}
	return numbers
}
