package words

import (
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"golang.org/x/text/unicode/norm"

	"github.com/swar-tts/swar/runtime/internal/table"
)

// with are the tables, and in one of them more rows at its end.
func with(t *testing.T, table, rows string) fs.FS {
	t.Helper()
	m := fstest.MapFS{}
	names, err := fs.Glob(Tables(), "tables/*.tsv")
	if err != nil || len(names) == 0 {
		t.Fatalf("%d tables: %v", len(names), err)
	}
	for _, name := range names {
		data, err := fs.ReadFile(Tables(), name)
		if err != nil {
			t.Fatal(err)
		}
		if name == "tables/"+table {
			data = append(data, rows...)
		}
		m[name] = &fstest.MapFile{Data: data}
	}
	return m
}

func TestAWordIsARow(t *testing.T) {
	v, err := Load(with(t, "words.tsv", "zzword\tcounted identifierWord\n"))
	if err != nil {
		t.Fatal(err)
	}
	if got := v.entries["zzword"].Classes(); !slices.Equal(got, []Class{IdentifierWord, Counted}) {
		t.Errorf("the classes are %v", got)
	}
}

// A row that says something wrong is an error that names its file and line.
func TestErrorsNameTheRow(t *testing.T) {
	for _, test := range []struct{ name, table, row, want string }{
		{"an unknown class", "words.tsv", "zz\tnoSuch", `unknown class "noSuch"`},
		{"a class that follows from others", "words.tsv", "zz\texpansion", `the class "expansion" follows`},
		{"no class", "words.tsv", "zz", `unknown class ""`},
		{"a word twice", "words.tsv", "zz\tcity\nzz\tcity", `a second row of "zz"`},
		{"a month without its number", "words.tsv", "zz\tmonth", "have a number"},
		{"a city with a number", "words.tsv", "zz\tcity=2", "have a number"},
		{"a month that is none", "words.tsv", "zz\tmonth=x", "want one number"},
		{"two numbers", "words.tsv", "zz\tmonth=1 weekday=2", "want one number"},
		{"too many cells", "words.tsv", "zz\tcity\tmore", "3 cells, want at most 2"},
		{"no word", "words.tsv", "\tcity", "the first cell is empty"},
		{"a space at the end", "words.tsv", "zz\tcity ", "white space around"},
		{"an unknown kind", "short.tsv", "zz\tzed\tcity", `unknown kind of short form: "city"`},
		{"letters of no chat", "short.tsv", "zz\tzed\tneedsDot letters", "unknown kind"},
		{"two short forms", "short.tsv", "zz\tzed\tneedsDot\nzz\tzet\tneedsDot", `a second row of "zz"`},
		{"two chat spellings", "short.tsv", "zz\tzed\thindiChat\nzz\tzet\thindiChat", "a second chat spelling"},
		{"neighbours of another kind", "short.tsv", "zz\tzed\tneedsDot\tcity", "only the kind beside"},
		{"no neighbour", "short.tsv", "zz\tzed\tbeside", "asks for one of before, after and when"},
		{"nothing said", "short.tsv", "zz\t\tbeside\tcity", "says something"},
		{"a neighbour of no class", "short.tsv", "zz\tzed\tbeside\tnoSuch", `unknown class "noSuch"; a word as it is written begins with =`},
		{"an unknown joint", "joined.tsv", "zz\tzed\tglued", `unknown joint "glued"`},
		{"a unit twice", "units.tsv", "zz\tज़ेड\tzeds\tzed\nzz\tज़ेड\tzeds\tzed", `a second row of "zz"`},
		{"a unit without its singular", "units.tsv", "zz\tज़ेड\tzeds", "two in English"},
		{"an unknown kind of unit", "units.tsv", "zz\tज़ेड\tzeds\tzed\tloose", `unknown kind of unit: "loose"`},
		{"a rate twice", "rates.tsv", "day\tदिन", `a second row of "day"`},
		{"rupees twice", "money.tsv", "rupees", "the rupees come first"},
		{"an unknown kind of money", "money.tsv", "zeds\t\tzed\t\teastern", `unknown kind of money: "eastern"`},
		{"a code twice", "money.tsv", "zeds\t\tinr", `a second row of "inr"`},
		{"money without names", "money.tsv", "zeds\t\tzzd\t\twestern\tज़ेड", "a currency has eight names"},
		{"a month twice", "said.tsv", "month\t3\tमार्च\tMarch", "a second row, or a language is missing"},
		{"a thirteenth month", "said.tsv", "month\t13\tज़\tz", `unknown kind, or none of it: "month", "13"`},
		{"an unknown connector", "said.tsv", "word\tzed\tज़\tz", `unknown kind, or none of it: "word", "zed"`},
		{"a letter that is none", "said.tsv", "letter\t[\tज़\tz", `unknown kind, or none of it: "letter", "["`},
		{"an unknown kind of word", "said.tsv", "year\t1\tज़\tz", `unknown kind, or none of it: "year", "1"`},
		{"an ordinal above 99", "said.tsv", "ordinal\t100\t\tz", "a number below 100"},
		{"a joined form twice", "joined.tsv", "eg\tzed\tdotted", `a second row of "eg"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			data, err := fs.ReadFile(Tables(), "tables/"+test.table)
			if err != nil {
				t.Fatal(err)
			}
			_, err = Load(with(t, test.table, test.row+"\n"))
			line := strings.Count(string(data), "\n") + strings.Count(test.row, "\n") + 1
			at := "tables/" + test.table + ":" + strconv.Itoa(line) + ": "
			if err == nil || !strings.HasPrefix(err.Error(), at) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %s…%s", err, at, test.want)
			}
		})
	}
}

// TestTablesAreSorted: each word has one place, so that two people who add words rarely change the same line. The rows
// of one word stay in the order in which they are tried.
func TestTablesAreSorted(t *testing.T) {
	for name, columns := range map[string][]string{
		"tables/words.tsv":   {"word", "classes"},
		"tables/written.tsv": {"word", "classes"},
		"tables/short.tsv":   {"word", "said", "kind", "before", "after", "when"},
	} {
		before := ""
		err := table.Read(Tables(), name, columns, func(r *table.Row) error {
			w := r.Cell(0)
			switch {
			case w < before:
				return r.Errorf("%q stands behind %q", w, before)
			case strings.ToLower(w) != w && name != "tables/written.tsv":
				return r.Errorf("%q is not in lower case", w)
			case !norm.NFC.IsNormalString(w + r.Cell(1) + r.Cell(4)):
				return r.Errorf("%q is not in NFC", w)
			}
			before = w
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// TestEveryClassHasWords finds classes that no row names, and so no rule can find.
func TestEveryClassHasWords(t *testing.T) {
	var found Set
	for _, e := range Current().All {
		found.union(&e.classes)
	}
	for _, e := range Current().written {
		found.union(&e.classes)
	}
	for c := range classCount {
		if classNames[c] == "" {
			t.Errorf("class %d has no name", c)
		}
		if !found.Has(c) {
			t.Errorf("no word is of class %s", c)
		}
	}
}

func BenchmarkLoad(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Load(Tables()); err != nil {
			b.Fatal(err)
		}
	}
}
