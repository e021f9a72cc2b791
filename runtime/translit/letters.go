package translit

import (
	"strings"
	"unicode/utf8"
)

// letterNames are the names of A to Z as Hindi speakers say them.
var letterNames = [26]string{
	"ए", "बी", "सी", "डी", "ई", "एफ़", "जी", "एच", "आई", "जे", "के", "एल", "एम",
	"एन", "ओ", "पी", "क्यू", "आर", "एस", "टी", "यू", "वी", "डब्ल्यू", "एक्स", "वाई", "ज़ेड",
}

// chatLetters are the lower-case letters that stand for Hindi words when they stand alone, as in "kya kr rhe h".
var chatLetters = map[byte]string{'h' - 'a': "है", 'b' - 'a': "भी", 'n' - 'a': "ना", 'a' - 'a': "अ", 'q' - 'a': "क्यों"}

// isLetterName reports whether s is the name of a letter.
func isLetterName(s string) bool {
	for _, name := range letterNames {
		if s == name {
			return true
		}
	}
	return false
}

// letterIn returns what the single letter at i of a Hindi sentence is read as.
func (s *sentence) letterIn(i int) string {
	w := &s.words[i]
	if from, to := s.row(i); w.capital || to-from > 1 {
		return letterNames[w.letter]
	}
	if s.besideDigit(w) || s.text[w.start] >= utf8.RuneSelf {
		return letterNames[w.letter]
	}
	if strings.HasPrefix(s.text[w.end:], ")") {
		return letterNames[w.letter] // of a list
	}
	switch w.letter {
	case 'v' - 'a':
		if s.before(i).isHindi() {
			return "भी"
		}
	case 'm' - 'a':
		return s.pronounOrIn(i)
	case 'k' - 'a':
		return s.readK(i)
	case 'n' - 'a':
		if s.before(i).isEnglish() && s.after(i).isEnglish() { // rock 'n' roll
			return "ऐंड"
		}
	}
	if chat, ok := chatLetters[w.letter]; ok {
		return chat
	}
	return letterNames[w.letter]
}

// besideDigit reports whether a digit touches w: then it is a letter of a code.
func (s *sentence) besideDigit(w *word) bool {
	isDigit := func(i int) bool { return 0 <= i && i < len(s.text) && '0' <= s.text[i] && s.text[i] <= '9' }
	return isDigit(w.start-1) || isDigit(w.end)
}

// readK reads k: that after a verb, okay where it opens a clause, else of.
func (s *sentence) readK(i int) string {
	switch before := s.before(i); {
	case before == none:
		return "ओके"
	case s.takesThat(before):
		return "कि"
	}
	return "के"
}

// letterInEnglish returns what the single letter at i of an English sentence is read as: the article, which has a
// capital only where the sentence begins, or the letter's name.
func (s *sentence) letterInEnglish(i int) string {
	w := &s.words[i]
	inSentenceCase := !w.capital || i == 0
	if from, to := s.row(i); w.letter == 'a'-'a' && inSentenceCase && to-from == 1 && s.after(i) != none {
		return "अ"
	}
	return letterNames[w.letter]
}

// pluralOfLetter ends the name of a letter in the plural.
const pluralOfLetter = "ज़"

// writeLetter writes a letter's name.
func writeLetter(out *strings.Builder, name string, plural bool) {
	out.WriteString(name)
	if plural {
		out.WriteString(pluralOfLetter)
	}
}

// writeInitials spells the letters of s, which are ASCII.
func writeInitials(out *strings.Builder, s string) {
	for i := range len(s) {
		if i > 0 {
			out.WriteByte(' ')
		}
		out.WriteString(letterNames[s[i]|0x20-'a'])
	}
}
