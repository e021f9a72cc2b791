package translit

import "strings"

// Guess is a word that no table has, and how it is written for want of a row.
type Guess struct {
	Word    string // in small letters
	Written string
}

// Guesses returns, in order, the words of the Hindi sentences of text that no table has. Forms of words in tables are
// not among them. What rules and sounds make of them is right more often than not; the frequent ones are worth a row.
func Guesses(text string) (found []Guess) {
	lex := tables()
	for rest := text; rest != ""; {
		end := sentenceEnd(rest)
		s := sentence{text: rest[:end], words: lex.words(nil, rest[:end])}
		s.findPeople()
		isEnglish := s.english()
		for i := range s.words {
			w := &s.words[i]
			src := s.text[w.start:w.end]
			if isEnglish || w.kind == devanagari || lex.lists(src) {
				continue
			}
			var out strings.Builder
			s.putHindi(&out, i)
			found = append(found, Guess{strings.ToLower(src), out.String()})
		}
		rest = rest[end:]
	}
	return found
}

// lists reports whether a table has the word src, or what it is a form of; letters and capitals that are spelled need
// no row.
func (l *lexicon) lists(src string) bool {
	key := fold(nil, src)
	if len(key) < 2 || len(key) > longestWord {
		return true
	}
	var w word
	if len(src) <= 6 && allCapitals(src) {
		return true
	}
	return l.known(&w, key) || l.stretched(&w, key) || l.inflected(&w, key)
}
