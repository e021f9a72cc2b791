package translit

import (
	"iter"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"golang.org/x/text/unicode/norm"

	"github.com/swar-tts/swar/runtime/internal/table"
)

// rows yields the first cell of each row of a table, and the cells behind it.
func rows(t testing.TB, name string) iter.Seq2[string, []string] {
	t.Helper()
	i := slices.IndexFunc(sheets, func(s sheet) bool { return s.name == name })
	return func(yield func(string, []string) bool) {
		done := false
		err := table.Read(files, "tables/"+name+".tsv", sheets[i].columns, func(r *table.Row) error {
			rest := make([]string, len(sheets[i].columns)-1)
			for c := range rest {
				rest[c] = r.Cell(c + 1)
			}
			done = done || !yield(r.Cell(0), rest)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestTablesAreInOrder(t *testing.T) {
	for _, name := range []string{"hindi", "names", "english", "stems", "either", "homographs"} {
		t.Run(name, func(t *testing.T) {
			last := ""
			for roman, rest := range rows(t, name) {
				if roman <= last {
					t.Errorf("%q stands after %q", roman, last)
				}
				last = roman
				if !isKey(roman) {
					t.Errorf("%q is not lower-case Roman", roman)
				}
				readings := rest[:1]
				if name == "either" {
					readings = rest[:2]
				}
				for i, written := range readings {
					mayLack := name == "english" || name == "either" && i == 1
					if written == "" && !mayLack || !isPlainDevanagari(written) {
						t.Errorf("%s: %q is not plain Devanagari", roman, written)
					}
					if !norm.NFC.IsNormalString(written) {
						t.Errorf("%s: %q is not NFC", roman, written)
					}
				}
			}
			if last == "" {
				t.Error("the table is empty")
			}
		})
	}
}

// A row that says something wrong is an error that names its file and line.
func TestErrorsNameTheRow(t *testing.T) {
	for _, test := range []struct{ table, row, want string }{
		{"hindi", "aa\tआ", `a second row of "aa"`},
		{"names", "aa\tआ", `a second row of "aa"`},
		{"english", "zzz\tज़\tfunctional", `unknown kind "functional"`},
		{"either", "zzz\tज़\tज़\tmuch", `the lean is no small number: "much"`},
		{"homographs", "zzz\tज़\that", `unknown cue "hat"`},
		{"parts", "zzz\tmiddle\tज़", `at the start or the end of a name, not "middle"`},
		{"stems", "zzz", "one that says nothing"},
		{"chat", "abt\tabout", `a second row of "abt"`},
	} {
		t.Run(test.table, func(t *testing.T) {
			tables, line := fstest.MapFS{}, 0
			for _, s := range sheets {
				name := "tables/" + s.name + ".tsv"
				data, err := files.ReadFile(name)
				if err != nil {
					t.Fatal(err)
				}
				if s.name == test.table {
					data = append(data, test.row+"\n"...)
					line = strings.Count(string(data), "\n")
				}
				tables[name] = &fstest.MapFile{Data: data}
			}
			_, err := load(tables)
			at := "tables/" + test.table + ".tsv:" + strconv.Itoa(line) + ": "
			if err == nil || !strings.HasPrefix(err.Error(), at) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %s…%s", err, at, test.want)
			}
		})
	}
}

func isKey(s string) bool {
	for _, r := range s {
		if (r < 'a' || 'z' < r) && r != '\'' {
			return false
		}
	}
	return s != "" && len(s) <= longestWord
}

// isPlainDevanagari reports whether s holds only Devanagari letters and signs, and single spaces between words.
func isPlainDevanagari(s string) bool {
	for _, r := range s {
		if r != ' ' && (!isDevanagari(r) || '०' <= r && r <= '९') {
			return false
		}
	}
	return s == strings.Join(strings.Fields(s), " ")
}

func TestTablesHoldEnough(t *testing.T) {
	count := func(name string) (all, respelled int) {
		for _, rest := range rows(t, name) {
			all++
			if rest[0] != "" {
				respelled++
			}
		}
		return all, respelled
	}
	hindi, _ := count("hindi")
	english, respelled := count("english")
	names, _ := count("names")
	for _, tt := range []struct {
		name       string
		got, least int
	}{
		{"Roman Hindi spellings", hindi, 4000},
		{"English words", english, 2000},
		{"English words with a respelling", respelled, 1500},
		{"names", names, 400},
	} {
		if tt.got < tt.least {
			t.Errorf("%d %s, want at least %d", tt.got, tt.name, tt.least)
		}
		t.Logf("%d %s", tt.got, tt.name)
	}
}

// No word of Roman Hindi may stay Latin, however lonely it stands.
func TestEveryHindiSpellingIsRead(t *testing.T) {
	for roman, rest := range rows(t, "hindi") {
		want := rest[0]
		if got := Devanagari(roman, Options{KeepEnglish: true}); got != want {
			t.Errorf("%s: got %q, want %q", roman, got, want)
		}
	}
}

func TestEveryEnglishWordIsRespelledInHindi(t *testing.T) {
	for roman, rest := range rows(t, "english") {
		want := rest[0]
		if want == "" {
			want = roman
		}
		if got := Devanagari(roman+" hai", Options{KeepEnglish: true}); got != want+" है" {
			t.Errorf("%s: got %q, want %q", roman, got, want+" है")
		}
	}
}

// A short form is read in English sentences by what it says in full, and in Hindi ones by its respelling.
func TestEveryShortFormHasARespelling(t *testing.T) {
	last := ""
	for roman, rest := range rows(t, "chat") {
		full := rest[0]
		if roman <= last || len(roman) > longestChat {
			t.Errorf("%q stands after %q, or is too long", roman, last)
		}
		last = roman
		e := tables().entries[roman]
		if e.kind != english && e.kind != function || e.english == "" {
			t.Errorf("%q has no respelling", roman)
		}
		if got := Devanagari("the "+roman, Options{KeepEnglish: true}); got != "the "+full {
			t.Errorf("the %s: got %q, want %q", roman, got, "the "+full)
		}
	}
	if last == "" {
		t.Error("the table is empty")
	}
}

func TestFunctionWordsAreInTheTable(t *testing.T) {
	for roman, e := range tables().entries {
		if e.kind == function && e.english == "" {
			t.Errorf("function word %q has no respelling", roman)
		}
	}
}

// A part is a row of letters that names are made of. It stands in the table once for each side of a name.
func TestPartsAreInOrder(t *testing.T) {
	last, lastSide := "", ""
	for roman, rest := range rows(t, "parts") {
		where, hindi := rest[0], rest[1]
		side := "end"
		if where == "start" || where == "lead" {
			side = "start"
		}
		if roman < last || roman == last && side <= lastSide {
			t.Errorf("%q, %s stands after %q, %s", roman, side, last, lastSide)
		}
		last, lastSide = roman, side
		if !isKey(roman) || len(roman) < 2 {
			t.Errorf("%q is not two lower-case Roman letters or more", roman)
		}
		if hindi == "" || !isPlainDevanagari(hindi) || strings.Contains(hindi, " ") || !norm.NFC.IsNormalString(hindi) {
			t.Errorf("%s: %q is not one plain word of Devanagari in NFC", roman, hindi)
		}
		// A part that begins with a vowel sign could not be written behind a vowel.
		if first := firstRune(hindi); side == "start" && first == 'अ' && roman[0] != 'a' ||
			'ा' <= first && first <= '्' {
			t.Errorf("%s: %q begins with a sign", roman, hindi)
		}
	}
	if last == "" {
		t.Error("the table is empty")
	}
}
