// Package translit writes Roman Hindi and Hinglish in Devanagari: "plz jldi aao" → प्लीज़ जल्दी आओ. It is for engines
// that read Latin letters as English, or not at all.
//
// A word is looked up in the tables, then as an inflected verb, noun or English word, then by its sound; the rest is
// spelled by rule, and names by their parts. If the spelling is ambiguous (main, to, is, the; Khan and a careless
// kahan), the neighbours of the word decide. Whether a sentence is English is decided for the whole sentence.
package translit

import (
	"strings"
	"unicode/utf8"
)

// Options choose what happens to English.
type Options struct {
	// KeepEnglish leaves Latin what the engine reads well by itself: sentences that are wholly English, and English
	// words without a known respelling. Otherwise they are respelled by rule, and nothing Latin is left.
	KeepEnglish bool

	// KeepAllEnglish leaves every English word in Latin letters, also in a Hindi sentence, for engines that have
	// learnt them so. Short forms are still written out, and in a Hindi sentence single letters get their names.
	KeepAllEnglish bool
}

// Devanagari writes Roman Hindi in mixed text in Devanagari. English words in a Hindi sentence are respelled as India
// writes them and single capitals get their names: "mera order O T P" → "मेरा ऑर्डर ओ टी पी". Punctuation, spacing
// and Devanagari stay.
//
// The text should be normalised: neither digits nor signs are read. Of valid UTF-8 in NFC it makes the same;
// rewriting a result again changes nothing. It takes time in proportion to the text. Devanagari is safe for
// concurrent use; the first call loads the tables.
func Devanagari(text string, o Options) string { return rewrite(text, o, nil) }

// rewrite is Devanagari that notes in trace where things went, unless that is nil.
func rewrite(text string, o Options, trace *Trace) string {
	if strings.IndexFunc(text, IsLatin) < 0 {
		return text
	}
	var (
		out  strings.Builder
		room [48]word // a chunk has fewer words than this, so that only longer texts allocate
		lex  = tables()
	)
	out.Grow(2*len(text) + 32) // enough for most text: two Latin bytes become a consonant and its vowel sign
	for rest := text; rest != ""; {
		end := sentenceEnd(rest)
		words := lex.words(room[:0], rest[:end])
		s := sentence{text: rest[:end], words: words, keepAll: o.KeepAllEnglish}
		s.keep = o.KeepEnglish || s.keepAll
		s.offset, s.trace = len(text)-len(rest), trace
		s.findPeople()
		s.write(&out)
		rest = rest[end:]
	}
	return out.String()
}

// sentenceEnd returns the length of the first sentence of s, with the signs that end it.
func sentenceEnd(s string) int {
	ended := false
	for i, r := range s {
		switch r {
		case '.', '!', '?', '…', '।', '॥', '\n':
			ended = true
		default:
			if ended {
				return i
			}
		}
	}
	return len(s)
}

// A sentence is judged, and its words resolved, as a whole.
type sentence struct {
	text    string
	words   []word
	keep    bool // Options.KeepEnglish
	keepAll bool // Options.KeepAllEnglish

	person, personKnown bool // see firstPerson

	offset int    // of the sentence in the whole text
	trace  *Trace // nil where nobody asks for it
}

// write appends the sentence, rewritten, to out.
func (s *sentence) write(out *strings.Builder) {
	isEnglish, at := s.english(), 0
	for i := range s.words {
		w := &s.words[i]
		out.WriteString(s.text[at:w.start])
		s.note(w.start, out)
		switch {
		case !isEnglish:
			s.putHindi(out, i)
		case s.keep:
			s.writeKept(out, i)
		default:
			s.putEnglish(out, i)
		}
		at = w.end
		s.note(at, out)
	}
	out.WriteString(s.text[at:])
}

// english reports whether no word of the sentence is Hindi and some are English. Words that could be either only
// count when nothing else does: "main do" alone is Hindi. Names in Devanagari are at home in both languages, and so
// are digits, but "order चार दो" is too little English: beside digits it takes grammar to make an English sentence.
func (s *sentence) english() bool {
	score, digits, grammar := 0, false, false
	for i := 0; i < len(s.words); i++ {
		switch w := &s.words[i]; w.kind {
		case hindi:
			return false
		case devanagari:
			if n := s.phrase(i); n > 0 {
				i += n - 1
				continue
			}
			switch {
			case s.spelled(i), tables().onlyNames[w.hindi]:
			case isDigit(w.hindi):
				digits = true
			default:
				return false
			}
		case letter:
			closesClause := s.after(i) == none && s.before(i).kind != letter // none counts as a letter
			if w.letter == 'h'-'a' && !w.capital && closesClause {
				return false // hai
			}
		case function:
			score -= 3
			grammar = true
		case english:
			score -= 2
		case either, unknown:
			if !w.indian { // else it is a name
				score += int(w.lean)
			}
		}
	}
	return score < 0 && (grammar || !digits)
}

// phrase returns how many words the name has that begins with word i, 0 if it is none of several words.
// [sentence.writeKept] writes them into English sentences, where each word by itself would look Hindi.
func (s *sentence) phrase(i int) int {
	longest := 0
	for _, words := range tables().phrases[s.words[i].hindi] {
		if len(words) > longest && s.hasPhrase(i, words) {
			longest = len(words)
		}
	}
	return longest
}

// hasPhrase reports whether words stand from word i on, with one space between them.
func (s *sentence) hasPhrase(i int, words []string) bool {
	if i+len(words) > len(s.words) {
		return false
	}
	for k, w := range words {
		got := &s.words[i+k]
		if got.kind != devanagari || got.hindi != w {
			return false
		}
		if k > 0 && s.text[s.words[i+k-1].end:got.start] != " " {
			return false
		}
	}
	return true
}

// isDigit reports whether word is one of the digits of a code, which are read in Hindi in any sentence.
func isDigit(word string) bool {
	switch word {
	case "शून्य", "एक", "दो", "तीन", "चार", "पाँच", "छह", "सात", "आठ", "नौ":
		return true
	}
	return false
}

// spelled reports whether word i is one of a row of Devanagari letter names with an ए in it. Such rows are what
// writeKept writes into an English sentence, so they must not make a Hindi sentence of it.
func (s *sentence) spelled(i int) bool {
	from, to := i, i
	for from > max(0, i-longestRow) && s.letterName(from-1) && !s.words[from].breaks {
		from--
	}
	for to < min(len(s.words), i+longestRow) && s.letterName(to) && (to == i || !s.words[to].breaks) {
		to++
	}
	if to-from < 2 {
		return false
	}
	for _, w := range s.words[from:to] {
		if strings.TrimSuffix(w.hindi, pluralOfLetter) == letterNames['a'-'a'] {
			return true
		}
	}
	return false
}

// letterName reports whether word i is the name of a letter, or of several of it.
func (s *sentence) letterName(i int) bool {
	return s.words[i].kind == devanagari && isLetterName(strings.TrimSuffix(s.words[i].hindi, pluralOfLetter))
}

// putHindi writes word i of a Hindi sentence.
func (s *sentence) putHindi(out *strings.Builder, i int) {
	w := &s.words[i]
	switch w.kind {
	case devanagari:
		out.WriteString(w.hindi)
	case name:
		w.writeHindi(out)
	case hindi:
		if w.both != "" {
			out.WriteString(s.resolve(i))
		} else {
			w.writeHindi(out)
		}
	case english, function:
		s.writeEnglish(out, i)
	case letter:
		writeLetter(out, s.letterIn(i), w.plural)
	case initials:
		writeInitials(out, s.text[w.start:w.end])
	case either:
		if h := s.resolve(i); h != "" {
			out.WriteString(h)
		} else {
			s.writeEnglish(out, i)
		}
	case unknown:
		switch {
		case w.lean >= 0:
			w.spellHindi(out, s.text)
		case s.keep:
			out.WriteString(s.text[w.start:w.end])
		default:
			spellEnglish(out, s.text[w.start:w.end])
		}
	}
}

// putEnglish writes word i of an English sentence in which nothing may stay Latin.
func (s *sentence) putEnglish(out *strings.Builder, i int) {
	w := &s.words[i]
	switch {
	case w.kind == devanagari:
		out.WriteString(w.hindi)
	case w.kind == letter:
		writeLetter(out, s.letterInEnglish(i), w.plural)
	case w.kind == initials:
		writeInitials(out, s.text[w.start:w.end])
	case w.kind == name:
		w.writeHindi(out)
	case w.kind == unknown && w.lean > 0:
		w.spellHindi(out, s.text)
	case w.english != "":
		w.writeEnglish(out)
	case w.hindi != "":
		w.writeHindi(out)
	default:
		spellEnglish(out, s.text[w.start:w.end])
	}
}

// writeKept writes an English word, or word i of an English sentence, that stays as it is but for three things. A name
// sounds Indian in any sentence, unless the engine has learnt English itself. Short forms would be spelled out. And
// an A before another letter would be read as the article, so the row of letters that holds it gets its names, all in
// one accent.
func (s *sentence) writeKept(out *strings.Builder, i int) {
	w := &s.words[i]
	if w.kind == name && !s.keepAll && tables().onlyNames[w.hindi] {
		out.WriteString(w.hindi)
		return
	}
	if w.kind == letter && s.rowHasA(i) {
		writeLetter(out, letterNames[w.letter], w.plural)
		return
	}
	if full := s.full(i); full != "" {
		out.WriteString(full)
		return
	}
	out.WriteString(s.text[w.start:w.end])
}

// full returns what the short form at i of an English sentence says, "" if it is none.
func (s *sentence) full(i int) string {
	w := &s.words[i]
	if s.besideDigit(w) {
		return "" // of a code, 4r
	}
	if w.kind == letter {
		from, to := s.row(i)
		if w.capital || to-from > 2 {
			return ""
		}
		if to-from == 2 && !(s.says(&s.words[from], "u r") && s.says(&s.words[from+1], "u r")) {
			return ""
		}
		switch w.letter {
		case 'u' - 'a':
			return "you"
		case 'r' - 'a':
			return "are"
		case 'n' - 'a':
			return "and"
		}
		return ""
	}
	if w.kind != english && w.kind != function || w.end-w.start > longestChat || allCapitals(s.text[w.start:w.end]) {
		return ""
	}
	var room [longestChat]byte
	return tables().chat[string(fold(room[:0], s.text[w.start:w.end]))]
}

// longestChat is how long a short form may be.
const longestChat = 8

// writeEnglish writes an English word of a Hindi sentence.
func (s *sentence) writeEnglish(out *strings.Builder, i int) {
	w := &s.words[i]
	switch {
	case s.keepAll:
		s.writeKept(out, i)
	case w.english != "":
		w.writeEnglish(out)
	case s.keep:
		out.WriteString(s.text[w.start:w.end])
	default:
		spellEnglish(out, s.text[w.start:w.end])
	}
}

// rowHasA reports whether word i is one of two or more capitals in a row with an A among them.
func (s *sentence) rowHasA(i int) bool {
	from, to := s.row(i)
	if to-from < 2 {
		return false
	}
	for _, w := range s.words[from:to] {
		if w.letter == 'a'-'a' {
			return true
		}
	}
	return false
}

// longestRow is how far a row of letters is followed to either side, so that a text of nothing else stays linear.
const longestRow = 16

// row returns the bounds of the single letters around word i that no sign divides.
func (s *sentence) row(i int) (from, to int) {
	same := func(j int) bool { return s.words[j].kind == letter && s.words[j].capital == s.words[i].capital }
	from, to = i, i+1
	for from > max(0, i-longestRow) && same(from-1) && !s.words[from].breaks {
		from--
	}
	for to < min(len(s.words), i+longestRow) && same(to) && !s.words[to].breaks {
		to++
	}
	return from, to
}

// lastRune is the last rune of s.
func lastRune(s string) rune {
	r, _ := utf8.DecodeLastRuneInString(s)
	return r
}
