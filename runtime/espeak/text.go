package espeak

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/swar-tts/swar/runtime/translit"
)

// script is a text as the program is fed it. It never changes: the prefill cache shares it.
type script struct {
	text    string // empty when nothing of it can be heard
	clauses []int  // byte offset of every clause after the first
}

// bytes is what s takes in the cache.
func (s *script) bytes() int64 { return int64(len(s.text) + 8*len(s.clauses) + 64) }

// Prepared is a chunk of normalised text as the program is fed it: see prepare. It needs no program. Between two
// words stand a space, " - ", or one of the marks ,;:–—….।!?॥ and a space; one of these marks may end the text. A
// word is letters of Devanagari with their signs, letters a to z and A to Z, digits, and marks that join these, as in
// 3.5 or don't.
func Prepared(chunk string) string { return prepare(chunk).text }

// Speaks reports whether the engine can speak all of text. It can speak Latin, the scripts of India that map to
// Devanagari, their digits, and the marks at which the voice pauses. It needs no program.
func Speaks(text string) bool {
	return !strings.ContainsFunc(plainLatin(text), func(r rune) bool {
		_, k := classify(r)
		return k == gap && !unicode.IsSpace(r)
	})
}

// prepare writes text so that the program reads all of it and nothing else.
//
// Roman Hindi becomes Devanagari and words that the program gets wrong are respelled. What is neither a letter nor a
// digit becomes one of a few pauses or goes. That disarms everything with a meaning of its own: phoneme brackets,
// control characters that set pitch and speed, signs that are read out by their names. Another script of India is
// read by the letters that stand in the same places in Devanagari; any other script is silent.
func prepare(text string) script {
	return write(translit.Devanagari(plainLatin(norm.NFC.String(text)), translit.Options{KeepEnglish: true}), nil)
}

// plainLatin writes Latin letters in ASCII. The program spells accents out, so that é would be "e acute".
func plainLatin(text string) string {
	if !strings.ContainsFunc(text, beyondASCII) {
		return text
	}
	var out strings.Builder
	for _, r := range text {
		if !beyondASCII(r) {
			out.WriteRune(r)
			continue
		}
		plain := translit.Plain(r)
		switch {
		case plain == "":
			out.WriteRune(r)
		case unicode.IsUpper(r):
			out.WriteString(strings.ToUpper(plain[:1]) + plain[1:])
		default:
			out.WriteString(plain)
		}
	}
	return out.String()
}

// beyondASCII reports whether r is a Latin letter that is not one of the 26, or a sign that is made of some.
func beyondASCII(r rune) bool {
	return r >= utf8.RuneSelf && !isIndic(r) && translit.IsLatin(r)
}

// write is prepare for text that is composed (NFC) and transliterated. It adds where words begin to starts, unless
// that is nil.
func write(text string, starts *[]start) script {
	w := writer{out: make([]byte, 0, len(text)+16), starts: starts}
	for whole := len(text); text != ""; {
		w.at = whole - len(text)
		r, size := utf8.DecodeRuneInString(text)
		text = text[size:]
		r, kind := classify(r)
		switch kind {
		case letter, digit:
			w.add(r, kind)
		case sign:
			w.addSign(r)
		case mark:
			next, _ := utf8.DecodeRuneInString(text)
			if !w.join(r, next) {
				w.end(r)
			}
		case gap:
			w.end(' ')
		case nothing:
		}
	}
	return w.script()
}

// kind is what a rune means to the writer.
type kind int

const (
	gap     kind = iota // ends a word and is silent: spaces, symbols, scripts that cannot be read
	letter              // of the two scripts
	sign                // a vowel sign or the like, which belongs to the letter before it
	digit               // of the two scripts
	mark                // joins two words or is a pause between them
	nothing             // as if it were not there: what shapes letters only on paper
)

// classify returns what r means, and the rune that is fed in its place.
func classify(r rune) (rune, kind) {
	if plain, ok := plainer[r]; ok {
		r = plain
	}
	switch {
	case 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z':
		return r, letter
	case '0' <= r && r <= '9':
		return r, digit
	case r < utf8.RuneSelf:
		return markOf(r)
	case isIndic(r):
		return indic(r)
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return r, nothing
	}
	return markOf(r)
}

// plainer are letters that the program does not know or misreads, with those that it reads as they are meant.
var plainer = map[rune]rune{
	'ँ': 'ं', // for the moon dot the program says an n of its own
	'ऀ': 'ं', 'ऄ': 'अ', 'ऩ': 'न', 'ऱ': 'र', 'ऴ': 'ळ', 'ॲ': 'ऍ',
	'ॻ': 'ग', 'ॼ': 'ज', 'ॾ': 'ड', 'ॿ': 'ब', // Sindhi
	'ঁ': 'ं', 'ৎ': 'त', 'ৰ': 'र', 'ৱ': 'व', // Bengali, Assamese
	'ਁ': 'ं', 'ੰ': 'ं', 'ੲ': 'इ', 'ੳ': 'उ', // Gurmukhi
	'ઁ': 'ं', 'ଁ': 'ं', 'ఁ': 'ं', 'ୟ': 'य', 'ୱ': 'व', // Gujarati, Odia, Telugu
	'ன': 'न', 'ற': 'र', 'ழ': 'ळ', // Tamil
	'ൺ': 'ण', 'ൻ': 'न', 'ർ': 'र', 'ൽ': 'ल', 'ൾ': 'ळ', 'റ': 'र', 'ഴ': 'ळ', // Malayalam
}

// isIndic reports whether r is of one of the scripts from Devanagari to Malayalam, which have a block each, all laid
// out alike.
func isIndic(r rune) bool { return 0x0900 <= r && r <= 0x0d7f }

// indic is classify for these scripts. Letters are fed as those that stand in the same places in Devanagari.
func indic(r rune) (rune, kind) {
	fed := 0x0900 | r&0x7f
	if fed != r && !unicode.In(r, unicode.L, unicode.M, unicode.Nd) {
		return r, gap
	}
	k := devanagari(fed)
	if k == nothing && fed != avagraha && unicode.IsLetter(r) {
		return r, gap // a letter that is not known, not a mark that may be missed
	}
	return fed, k
}

const avagraha = 'ऽ' // drags a vowel out on paper

// devanagari is the kind of a rune of that block.
func devanagari(r rune) kind {
	switch {
	case r == '।', r == '॥':
		return mark
	case '०' <= r && r <= '९':
		return digit
	case r == avagraha, r == 'ऺ', r == 'ऻ', r == 'ॎ', r == 'ॏ', 0x0951 <= r && r <= 0x0957, r >= 0x0970:
		return nothing // the program would read out their names or numbers
	case unicode.Is(unicode.M, r):
		return sign
	}
	return letter
}

// pauses are the marks that the program is fed, shorter pauses first. A dash stands for all at which the voice only
// hesitates.
const pauses = " -,;:–—….।!?॥"

// markOf is what r means if it is no letter: a mark or a gap.
func markOf(r rune) (rune, kind) {
	switch {
	case r == '’':
		return '\'', mark
	case r == '\'', r != ' ' && strings.ContainsRune(pauses, r), isBracket(r):
		return r, mark
	}
	return r, gap
}

func isBracket(r rune) bool { return strings.ContainsRune(`"“”„«»()[]{}`, r) }

// writer writes a script. Of the marks between two words it keeps the one with the longest pause.
type writer struct {
	out     []byte
	clauses []int
	inWord  bool // out ends in a word that may go on
	word    int  // where it starts
	last    rune // its last rune
	kind    kind // letter or digit: what last is
	due     rune // the mark before the next word

	at     int      // byte of the text that is read now
	starts *[]start // of the words so far; nil where nobody asks for them
}

// add writes a letter or a digit.
func (w *writer) add(r rune, k kind) {
	if w.inWord && k == letter && w.kind == letter && isASCII(r) != isASCII(w.last) {
		w.end(' ') // the program changes its language between words only
	}
	if !w.inWord {
		w.pause()
		w.inWord, w.word = true, len(w.out)
		if w.starts != nil {
			*w.starts = append(*w.starts, start{len(w.out), w.at})
		}
	}
	w.out = utf8.AppendRune(w.out, r)
	w.last, w.kind = r, k
}

// addSign writes a sign if it stands where it belongs. Elsewhere it would be read out by its name.
func (w *writer) addSign(r rune) {
	fits := !isASCII(w.last)
	switch r {
	case nukta:
		fits = strings.ContainsRune("कखगजडढफय", w.last)
	case virama:
		fits = isConsonant(w.last) || w.last == nukta
	}
	if w.inWord && fits {
		w.out = utf8.AppendRune(w.out, r)
		w.last = r
	}
}

// join writes a mark that belongs inside a word, as in don't, 3.5, 10:30 or गुड-मॉर्निंग, and reports whether r is one.
func (w *writer) join(r, next rune) bool {
	if !w.inWord {
		return false
	}
	next, k := classify(next)
	joins := false
	switch r {
	case '-':
		joins = k == letter || k == digit
	case '.':
		joins = k == w.kind
	case ',', ':':
		joins = k == digit && w.kind == digit
	case '\'':
		joins = k == letter && w.kind == letter && isASCII(next) && isASCII(w.last)
	}
	if joins {
		w.respell()
		w.out = append(w.out, byte(r))
		w.word = len(w.out)
	}
	return joins
}

// end ends the word, if there is one. At least the pause of r is due before the next.
func (w *writer) end(r rune) {
	if w.inWord {
		w.respell()
		w.inWord, w.due = false, ' '
	}
	if isBracket(r) {
		r = '-'
	}
	if strings.IndexRune(pauses, r) > strings.IndexRune(pauses, w.due) {
		w.due = r
	}
}

// respell puts what makes the program say the present word rightly in its place.
func (w *writer) respell() {
	if isASCII(w.last) {
		return
	}
	word := string(w.out[w.word:])
	w.out = respell(w.out[:w.word], word)
}

// pause writes what is due before a word. A text does not start with a pause.
func (w *writer) pause() {
	if len(w.out) == 0 {
		return
	}
	switch w.due {
	case ' ':
		w.out = append(w.out, ' ')
	case '-':
		w.out = append(w.out, " - "...)
	default:
		w.out = utf8.AppendRune(w.out, w.due)
		w.out = append(w.out, ' ')
		w.clauses = append(w.clauses, len(w.out))
	}
}

// script ends the text. Its last mark stays: it decides how the voice falls and how long the silence is.
func (w *writer) script() script {
	w.end(' ')
	if len(w.out) > 0 && w.due != ' ' && w.due != '-' {
		w.out = utf8.AppendRune(w.out, w.due)
	}
	return script{string(w.out), w.clauses}
}

func isASCII(r rune) bool { return r < utf8.RuneSelf }
