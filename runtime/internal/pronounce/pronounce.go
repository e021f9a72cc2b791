// Package pronounce decides whether a word in capitals is read as a word or spelled. VARSHA → Varsha, SBI → S B I.
//
// What is known stands in acronyms.tsv. Any other word is judged by its sounds: it is a word where its letters follow
// one another as they do in Indian English, Roman Hindi and Indian names, and letters where they follow one another
// as in acronyms.
package pronounce

import (
	"embed"
	"io/fs"
	"strings"

	"github.com/swar-tts/swar/runtime/internal/table"
)

// As is how a word in capitals is said.
type As uint8

// How a word is said.
const (
	Unknown As = iota // by its sounds: see [Sayable]
	Letters           // letter by letter: UPI
	Word              // as a word: NASA
)

// longest is the most letters that a known acronym has.
const longest = 12

// Known returns how an acronym that everybody knows is said, whatever its case, and Unknown for all other words.
func Known(s string) As {
	if len(s) > longest {
		return Unknown
	}
	var room [longest]byte
	for i := range len(s) {
		room[i] = s[i] &^ 0x20
	}
	return acronyms[string(room[:len(s)])]
}

// Sayable reports whether s, which has ASCII letters in either case, can be said as a word. Two letters never can;
// many words of three can that are acronyms nevertheless, so that [Known] comes first.
func Sayable(s string) bool {
	if len(s) < 3 || !hasVowel(s) {
		return false
	}
	return ease(s) >= least(len(s))
}

// IsWord reports whether s is said as a word: by what is known of it, or else by its sounds.
func IsWord(s string) bool {
	switch Known(s) {
	case Letters:
		return false
	case Word:
		return true
	}
	return Sayable(s)
}

// least is the ease that a word of n letters must have. Found by trial on testdata/judged.tsv: of three letters most
// are acronyms, of six hardly any.
func least(n int) int {
	switch n {
	case 3:
		return -18
	case 4:
		return -42
	case 5:
		return -60
	}
	return -11 * n
}

func hasVowel(s string) bool { return strings.ContainsAny(s, "AEIOUYaeiouy") }

// ease is how much likelier the letters of s are in a word than in an acronym, in sixths of a natural logarithm:
// above 0 for most words.
func ease(s string) int {
	sum, before, last := 0, 0, 0
	for i := range len(s) {
		c := int(s[i]|0x20) - 'a'
		if c < 0 || c >= 26 {
			return least(len(s)) - 1
		}
		sum += weight(before, last, c)
		before, last = last, c+1
	}
	return sum + weight(before, last, 26)
}

// weight is what letter c (26: the end) weighs behind the two letters before (0: none).
func weight(before, last, c int) int {
	const row = 28 // 27 letters and the line feed
	return int(trigrams[(before*27+last)*row+c]) - zero
}

// zero is the character of trigrams.txt that stands for 0.
const zero = 'T'

// trigrams has a line for each two letters, and in it a character for each third: how much likelier that is in a word
// than in an acronym. `go test -run TestTrigrams -update` counts it anew.
//
//go:embed trigrams.txt
var trigrams string

//go:embed acronyms.tsv
var tables embed.FS

var acronyms = mustRead(tables)

func mustRead(fsys fs.FS) map[string]As {
	m, err := readAcronyms(fsys)
	if err != nil {
		panic("pronounce: " + err.Error())
	}
	return m
}

// readAcronyms reads rows such as letters, UPI EMI and word, NASA. An error names the file and the line.
func readAcronyms(fsys fs.FS) (map[string]As, error) {
	m := make(map[string]As, 1024)
	err := table.Read(fsys, "acronyms.tsv", []string{"said", "acronyms"}, func(r *table.Row) error {
		as, ok := map[string]As{"letters": Letters, "word": Word}[r.Cell(0)]
		if !ok {
			return r.Errorf("acronyms are said as letters or word, not as %q", r.Cell(0))
		}
		for acronym := range strings.FieldsSeq(r.Cell(1)) {
			if m[acronym] != Unknown {
				return r.Errorf("%s stands here twice", acronym)
			}
			m[acronym] = as
		}
		return nil
	})
	return m, err
}
