package pronounce

import (
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/swar-tts/swar/runtime/internal/table"
)

var update = flag.Bool("update", false, "count trigrams.txt anew, from the tables of runtime/translit")

// judged reads rows of a word and how it is said.
func judged(t *testing.T, name string) (rows [][2]string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		if word, as, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok {
			rows = append(rows, [2]string{word, as})
		}
	}
	return rows
}

// TestJudgedList holds IsWord to the two lists: words, names, shops and places, and acronyms. The held-out one was
// looked at when all else stood; its bound is what was found then.
func TestJudgedList(t *testing.T) {
	for _, list := range []struct {
		name        string
		rows, wrong int // at most so many wrong
		bySounds    int // and so many without acronyms.tsv
	}{
		{"judged.tsv", 325, 0, 26},
		{"judged-heldout.tsv", 100, 0, 5},
	} {
		rows := judged(t, list.name)
		var wrong, bySounds []string
		for _, row := range rows {
			if IsWord(row[0]) != (row[1] == "word") {
				wrong = append(wrong, row[0])
			}
			if Sayable(row[0]) != (row[1] == "word") {
				bySounds = append(bySounds, row[0])
			}
		}
		t.Logf("%s: %d of %d wrong, %d by sounds alone", list.name, len(wrong), len(rows), len(bySounds))
		if len(rows) != list.rows || len(wrong) > list.wrong || len(bySounds) > list.bySounds {
			t.Errorf("%s: %d rows, want %d; wrong, at most %d: %v; by sounds, at most %d: %v",
				list.name, len(rows), list.rows, list.wrong, wrong, list.bySounds, bySounds)
		}
	}
}

// corpus has the words of the tables of runtime/translit, with how much each counts. Short forms and acronyms are none.
func corpus(t *testing.T) map[string]float64 {
	t.Helper()
	words := map[string]float64{}
	for _, sheet := range []struct {
		name    string
		columns []string
		weight  float64
	}{
		{"english.tsv", []string{"word", "hi", "kind"}, 1},
		{"hindi.tsv", []string{"word", "hi"}, 1},
		{"names.tsv", []string{"word", "hi"}, 2},
	} {
		err := table.Read(os.DirFS("../../translit/tables"), sheet.name, sheet.columns, func(r *table.Row) error {
			word, spoken := r.Cell(0), r.Cell(1)
			plain := strings.Trim(word, "abcdefghijklmnopqrstuvwxyz") == "" && len(word) > 1
			if plain && hasVowel(word) && !strings.Contains(spoken, " ") {
				words[word] += sheet.weight
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return words
}

func TestWordsOfTheTablesCanBeSaid(t *testing.T) {
	words, unsaid := corpus(t), 0
	for word := range words {
		if len(word) > 3 && !Sayable(word) {
			unsaid++
		}
	}
	if len(words) < 10_000 || unsaid > len(words)/50 {
		t.Errorf("%d of %d words cannot be said, want at most 2 in 100", unsaid, len(words))
	}
}

// TestTrigrams counts trigrams.txt with -update, and otherwise looks at its shape.
func TestTrigrams(t *testing.T) {
	if *update {
		if err := os.WriteFile("trigrams.txt", []byte(count(corpus(t))), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	lines := strings.Split(strings.TrimSuffix(trigrams, "\n"), "\n")
	if len(lines) != 27*27 {
		t.Fatalf("%d lines, want %d", len(lines), 27*27)
	}
	for i, line := range lines {
		if len(line) != 27 {
			t.Errorf("line %d has %d characters, want 27", i+1, len(line))
		}
	}
}

// initials is how often letters begin English words, A to Z, and so stand in acronyms: in hundredths, by a look at a
// few hundred acronyms.
var initials = [26]float64{8, 6.5, 9, 6, 5, 4, 3.2, 4, 8, .6, 1.7, 4.5, 6.5, 5.5, 2.4, 7.5, .5, 6, 11, 6, 3, 2, 2,
	.4, 1, .3}

// count weighs every third letter behind every two: how often it stands there in the words, smoothed by how often it
// stands behind the last letter and anywhere, against how often it stands in acronyms.
func count(words map[string]float64) string {
	var (
		three        [27][27][27]float64
		two          [27][27]float64 // how often these begin one of three
		behind       [27][27]float64
		one, letters [27]float64
		all, total   float64
	)
	for word, n := range words {
		a, b := 0, 0
		for i := range len(word) + 1 {
			c := 26
			if i < len(word) {
				c = int(word[i] - 'a')
			}
			three[a][b][c] += n
			two[a][b] += n
			behind[b][c] += n
			one[b] += n
			letters[c] += n
			all += n
			a, b = b, c+1
		}
	}
	for _, n := range initials {
		total += n
	}
	var out strings.Builder
	for a := range 27 {
		for b := range 27 {
			for c := range 27 {
				p := (letters[c] + .5) / (all + 14)
				p = (behind[b][c] + 2*p) / (one[b] + 2)
				p = (three[a][b][c] + 2*p) / (two[a][b] + 2)
				if c < 26 {
					p /= initials[c] / total
				}
				fmt.Fprintf(&out, "%c", zero+min(max(int(math.Round(6*math.Log(p))), '!'-zero), '~'-zero))
			}
			out.WriteByte('\n')
		}
	}
	return out.String()
}

func TestShapes(t *testing.T) {
	for word, want := range map[string]bool{"": false, "A": false, "OM": false, "BCD": false, "RAJ": true, "raj": true,
		"VARSHA": true, "XQZKJ": false, "É": false} {
		if got := Sayable(word); got != want {
			t.Errorf("Sayable(%q) = %v, want %v", word, got, want)
		}
	}
	for word, want := range map[string]As{"UPI": Letters, "upi": Letters, "NASA": Word, "VARSHA": Unknown,
		"CONGRATULATIONS": Unknown, "": Unknown} {
		if got := Known(word); got != want {
			t.Errorf("Known(%q) = %v, want %v", word, got, want)
		}
	}
}

func TestNoAllocation(t *testing.T) {
	if n := testing.AllocsPerRun(100, func() { IsWord("VARSHA"); IsWord("UIDAI") }); n > 0 {
		t.Errorf("%v allocations, want none", n)
	}
}

func BenchmarkIsWord(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		IsWord("VARSHA")
	}
}

func TestErrorsNameTheRow(t *testing.T) {
	for _, test := range []struct{ row, want string }{
		{"sung\tNASA", `a.tsv:2: acronyms are said as letters or word, not as "sung"`},
		{"letters\tNASA ISRO\nword\tNASA", "a.tsv:3: NASA stands here twice"},
	} {
		fsys := fstest.MapFS{"acronyms.tsv": {Data: []byte("said\tacronyms\n" + test.row + "\n")}}
		_, err := readAcronyms(fsys)
		if want := strings.Replace(test.want, "a.tsv", "acronyms.tsv", 1); err == nil || err.Error() != want {
			t.Errorf("%q: got %v, want %s", test.row, err, want)
		}
	}
}
