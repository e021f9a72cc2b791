package translit

import (
	"strconv"
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"
)

func TestTablesAreInOrder(t *testing.T) {
	for _, tt := range []struct {
		name, table string
		fields      int // of a line; the last may be missing in english.tsv
	}{
		{"hindi", hindiTable, 2}, {"names", namesTable, 2}, {"english", englishTable, 2}, {"stems", stemsTable, 2}, {"either", eitherTable, 4}, {"homographs", homographsTable, 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			last := ""
			for line := range strings.Lines(tt.table) {
				line, ok := strings.CutSuffix(line, "\n")
				if !ok {
					t.Errorf("%q does not end its line", line)
				}
				fields := strings.Split(line, "\t")
				roman := fields[0]
				if roman <= last {
					t.Errorf("%q stands after %q", roman, last)
				}
				last = roman
				if !isKey(roman) {
					t.Errorf("%q is not lower-case Roman", roman)
				}
				if len(fields) != tt.fields && !(tt.name == "english" && len(fields) == 1) {
					t.Errorf("%q has %d fields, want %d", line, len(fields), tt.fields)
				}
				readings := fields[1:min(len(fields), 3)]
				if tt.name == "homographs" {
					readings = fields[1:2]
				}
				for _, field := range readings {
					if field == "" && tt.name != "either" || !isPlainDevanagari(field) {
						t.Errorf("%s: %q is not plain Devanagari", roman, field)
					}
					if !norm.NFC.IsNormalString(field) {
						t.Errorf("%s: %q is not NFC", roman, field)
					}
				}
				if tt.name == "either" {
					if _, err := strconv.Atoi(fields[3]); err != nil {
						t.Errorf("%s: lean: %v", roman, err)
					}
				}
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
	respelled := 0
	for _, rest := range rows(englishTable) {
		if rest != "" {
			respelled++
		}
	}
	for _, tt := range []struct {
		name       string
		got, least int
	}{
		{"Roman Hindi spellings", strings.Count(hindiTable, "\n"), 4000},
		{"English words", strings.Count(englishTable, "\n"), 2000},
		{"English words with a respelling", respelled, 1500},
		{"names", strings.Count(namesTable, "\n"), 400},
	} {
		if tt.got < tt.least {
			t.Errorf("%d %s, want at least %d", tt.got, tt.name, tt.least)
		}
		t.Logf("%d %s", tt.got, tt.name)
	}
}

func TestNoWordStandsInTwoTables(t *testing.T) {
	in := make(map[string]string)
	for name, table := range map[string]string{"hindi": hindiTable, "names": namesTable, "english": englishTable, "either": eitherTable} {
		for roman := range rows(table) {
			if other, ok := in[roman]; ok {
				t.Errorf("%q is in %s and in %s", roman, name, other)
			}
			in[roman] = name
		}
	}
}

// No word of Roman Hindi may stay Latin, however lonely it stands.
func TestEveryHindiSpellingIsRead(t *testing.T) {
	for roman, want := range rows(hindiTable) {
		if got := Devanagari(roman, Options{KeepEnglish: true}); got != want {
			t.Errorf("%s: got %q, want %q", roman, got, want)
		}
	}
}

func TestEveryEnglishWordIsRespelledInHindi(t *testing.T) {
	for roman, want := range rows(englishTable) {
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
	for roman, full := range rows(chatTable) {
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
	for roman, rest := range rows(partsTable) {
		where, hindi, _ := strings.Cut(rest, "\t")
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
		if first := firstRune(hindi); side == "start" && first == 'अ' && roman[0] != 'a' || 'ा' <= first && first <= '्' {
			t.Errorf("%s: %q begins with a sign", roman, hindi)
		}
	}
	if last == "" {
		t.Error("the table is empty")
	}
}
