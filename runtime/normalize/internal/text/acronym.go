package text

import (
	"strings"

	"github.com/swar-tts/swar/runtime/normalize/internal/words"
)

// IsSpacedInitial reports whether token i is a letter with its dot, apart from another or from the name that follows:
// R. Ashwin, U. S. A. in. Behind a word that letters number, and at the beginning of a line, a letter alone is a mark:
// Vitamin C. Please, A. Delhi.
func IsSpacedInitial(v *View, i int) bool {
	kind, name := v.At(i).Kind, v.At(i+2)
	if !isDottedLetter(v, i) || v.Joined(i) || kind == Latin && !name.Gap {
		return false
	}
	if isSpelledBefore(v, i) {
		return false // the last letter of a code: A M. A. Singh
	}
	if isDottedLetter(v, i+2) && name.Kind == kind {
		return true
	}
	switch {
	case opensSentence(v, i+2), opensBalance(v, i+2), name.endsSentence():
		return false
	case v.IsSign(i-1, '.') && isDottedLetter(v, i-2) && v.At(i-2).Kind == kind:
		return true // the last of several
	case kind == Deva:
		return name.Kind == Deva && v.IsSign(i-1, '.') && v.IsWord(i-2, words.DotOrTitle) // डॉ. एस. राधाकृष्णन
	case name.Kind != Latin || name.Cas != words.Title:
		return false
	}
	return !isListLetter(v, i) && !isLettered(v, i-1)
}

// isSpelledBefore reports whether a letter or a number of a code stands before token i.
func isSpelledBefore(v *View, i int) bool {
	spelled := v.Single(i-1) || v.IsAnyWord(i-1, words.DigitName, words.Expansion)
	return spelled && !v.In(i-1, words.Salutation)
}

// isListLetter reports whether the letter at token i opens its sentence, as those of lists do: A. Delhi.
func isListLetter(v *View, i int) bool {
	first := v.Text[v.Toks[i].A]
	return i == v.Start && (first < 'F' || first == 'I')
}

// endsSentence reports whether t is a mark that ends a sentence, or nothing.
func (t *Token) endsSentence() bool { return t.Kind == Nothing || t.IsOneOf(".?!"+string(rune(Danda))) }

// isDottedLetter reports whether token i is a capital, or the name of a letter in Devanagari, and its dot follows.
func isDottedLetter(v *View, i int) bool {
	return v.TightSign(i+1, '.') && (v.Capital(i) || v.At(i).Kind == Deva && v.In(i, words.LetterName))
}

// isLettered reports whether token i is a word that a letter follows, as of Plan B, or the letter or the number of a
// code.
func isLettered(v *View, i int) bool {
	return v.Single(i) || v.In(i, words.Planned) ||
		v.IsAnyWord(i, words.Lettered, words.EnglishHead, words.Place, words.RomanHead, words.DigitName,
			words.Expansion)
}

// IsInitial reports whether token i is a letter whose dot a letter or a word touches: the U of U.S.A., the B of B.Tech.
func IsInitial(v *View, i int) bool {
	return v.Single(i) && v.TightSign(i+1, '.') && v.Tight(i+2) && v.At(i+2).Kind == Latin
}

// IsDegree reports whether token j is the word of a degree behind its initial: M.Sc, B.Tech. The dot behind it ends no
// sentence by itself.
func IsDegree(v *View, j int) bool {
	return v.At(j).Cas == words.Title && IsInitial(v, j-2) && words.LookUpWritten(v.Str(j)).Is(words.Degree)
}

// romanDigits are the parts of Roman numerals, the largest first.
var romanDigits = [...]struct {
	letters string
	value   uint64
}{
	{"M", 1000}, {"CM", 900}, {"D", 500}, {"CD", 400}, {"C", 100}, {"XC", 90}, {"L", 50}, {"XL", 40}, {"X", 10}, {"IX", 9}, {"V", 5}, {"IV", 4}, {"I", 1},
}

// RomanValue returns the value of a Roman numeral as it is written today, 1 to 3999; 0 for anything else, such as IIII
// and IC.
func RomanValue(s string) uint64 {
	if s == "" || strings.IndexByte("IVXLCDM", s[0]) < 0 {
		return 0
	}
	sum, rest := uint64(0), s
	for _, d := range romanDigits {
		for strings.HasPrefix(rest, d.letters) {
			rest = rest[len(d.letters):]
			sum += d.value
		}
	}
	if rest != "" || sum > 3999 {
		return 0
	}
	left := sum
	for _, d := range romanDigits { // one numeral has each value
		for ; left >= d.value; left -= d.value {
			if !strings.HasPrefix(s, d.letters) {
				return 0
			}
			s = s[len(d.letters):]
		}
	}
	return sum
}
