package normalize

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"
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
				at: at, written: strings.ReplaceAll(cols[0], `\n`, "\n"), options: Options{EnDigits: cols[1] == "en_digits"}, want: cols[2],
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

// TestWordsAreInNormalForm guards the lists: a word that is not written as the scanner writes it would never be found, and number
// words in another form would not be what the engines learnt.
func TestWordsAreInNormalForm(t *testing.T) {
	check := func(where, word string) {
		if !norm.NFC.IsNormalString(word) {
			t.Errorf("%s: %q is not in NFC", where, word)
		}
	}
	for word := range vocabulary {
		check("vocabulary", word)
		if strings.ToLower(word) != word {
			t.Errorf("vocabulary: %q is not in lower case", word)
		}
		if _, toks, _ := scan(word); len(toks) != 3 {
			t.Errorf("vocabulary: %q is %d tokens, so no rule will ever find it", word, len(toks)-2)
		}
	}
	for _, l := range []lang{hindi, english} {
		for n, word := range l.below100 {
			check(fmt.Sprint(n), word)
		}
		for _, scale := range l.scales {
			check("scales", scale.name)
		}
		check("scales", strings.Join(l.scaleNames[:], ""))
		check("letters", strings.Join(l.letters[:], ""))
		check("words", strings.Join(l.words[:], ""))
		check("Greek", strings.Join(l.greek[:], ""))
		check("months", strings.Join(l.months[:], "")+strings.Join(l.weekdays[:], ""))
		for _, c := range l.money {
			check("money", c.one+c.many+c.cent+c.cents)
		}
		for symbol, u := range l.units {
			check("units", symbol+u.one+u.many)
		}
	}
	for symbol := range units {
		check("units", symbol)
	}
}

// TestLanguagesAreWhole: a word that a language lacks would be silence.
func TestLanguagesAreWhole(t *testing.T) {
	for _, l := range []lang{hindi, english} {
		for w, word := range l.words[1:] {
			if word == "" {
				t.Errorf("%s has no word %d", l.name, w+1)
			}
		}
		for _, word := range slices.Concat(l.below100[:], l.scaleNames[1:], l.greek[1:], l.months[1:], l.weekdays[1:], l.letters[:]) {
			if word == "" {
				t.Errorf("%s lacks a number, a scale, a letter, a month or a day", l.name)
			}
		}
		for symbol, u := range units {
			if m := l.measure(u); m.one == "" || m.many == "" {
				t.Errorf("%s has no name for %s", l.name, symbol)
			}
		}
		for c, m := range l.money[1:] {
			if m.one == "" || m.many == "" || m.cent == "" || m.cents == "" {
				t.Errorf("%s has no name for currency %d", l.name, c+1)
			}
		}
	}
}
