package translit

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/swar-tts/swar/runtime/internal/pronounce"
)

// kind says what a word is before its neighbours are asked.
type kind uint8

const (
	unknown    kind = iota // in no table: lean says what it looks like
	devanagari             // already written so
	hindi                  // Roman Hindi: makes the sentence Hindi
	english                // stays English in any sentence
	function               // an English word of grammar (your, has, with): the strongest sign of English around it
	name                   // a name, or a word that both languages use: a sign of neither
	either                 // both a Hindi and an English word
	letter                 // a single letter, or a plural like Ps in "O T Ps"
	initials               // capitals that no one can pronounce, HDFC
)

// A word is a run of letters of one script.
type word struct {
	start, end int  // bytes of the sentence
	breaks     bool // a sign other than a hyphen or quote stands before it
	capital    bool // it begins with one
	plural     bool // of a letter
	proper     bool // it has a capital that neither a sentence nor a heading asks for
	indian     bool // of unknown: it is made of the parts of names
	kind       kind
	lean       int8 // of either and unknown: positive looks Hindi, negative English
	letter     byte // of letter: 0 for A to 25 for Z

	hindi, suffix   string  // its Hindi reading and what is joined to it; "" if it has none
	english, ending string  // its Indian respelling and the inflection joined to it; "" if none is known
	both            string  // the word itself, where resolve must read it
	person          *person // what it is where it is a name; nil if it cannot be one, or is nothing else
}

func (w *word) writeHindi(out *strings.Builder) { writeJoined(out, w.hindi, w.suffix) }

func (w *word) writeEnglish(out *strings.Builder) { writeInflected(out, w.english, w.ending) }

// words appends the words of a sentence to list.
func (l *lexicon) words(list []word, s string) []word {
	breaks := true
	capitals := 0 // less the words without one, but for the first
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case IsLatin(r):
			w := word{start: i, end: latinEnd(s, i+size), breaks: breaks}
			w.capital = isCapital(s[w.start]) || s[w.start] >= utf8.RuneSelf && isUpper(r)
			if len(list) > 0 {
				w.proper = w.capital && w.end-w.start > 1 && !isCapital(s[w.start+1]) && capitals <= 0
				capitals += choose(w.capital, 1, -1)
			}
			l.classify(&w, s[w.start:w.end])
			if !breaks && endsInCapital(list) && isPluralLetter(s[w.start:w.end]) {
				w = word{start: w.start, end: w.end, kind: letter, letter: s[w.start] - 'A', capital: true,
					plural: true}
			}
			list = append(list, w)
			i, breaks = w.end, false
		case isDevanagari(r):
			w := word{start: i, end: devanagariEnd(s, i+size), breaks: breaks, kind: devanagari}
			w.hindi = s[w.start:w.end]
			if len(list) > 0 {
				capitals++ // it may have had one, so that a result is read as the text that it was made of
			}
			list = append(list, w)
			i, breaks = w.end, false
		default:
			if !unicode.IsSpace(r) && !strings.ContainsRune(`-'"‘’“”`, r) {
				breaks = true
			}
			i += size
		}
	}
	return list
}

// endsInCapital reports whether the last of the words is a single capital.
func endsInCapital(list []word) bool {
	n := len(list)
	return n > 0 && list[n-1].kind == letter && list[n-1].capital
}

// latinEnd returns where the Latin word ends whose first letter ends at i. An apostrophe between letters is part of it.
func latinEnd(s string, i int) int {
	for i < len(s) {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case IsLatin(r) || isAccent(r):
		case r == '\'' || r == '’':
			if next, _ := utf8.DecodeRuneInString(s[i+size:]); !IsLatin(next) {
				return i
			}
		default:
			return i
		}
		i += size
	}
	return i
}

func devanagariEnd(s string, i int) int {
	for i < len(s) {
		r, size := utf8.DecodeRuneInString(s[i:])
		if !isDevanagari(r) && r != '\u200c' && r != '\u200d' {
			break
		}
		i += size
	}
	return i
}

// IsLatin reports whether r is a Latin letter, or a sign made of some, as 𝐇 and ㎏ are. [Plain] returns those.
func IsLatin(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r|0x20 && r|0x20 <= 'z'
	}
	return isLatinBeyondASCII(r)
}

func isLatinBeyondASCII(r rune) bool {
	return !isDevanagari(r) && (unicode.Is(unicode.Latin, r) || r >= firstMadeOfLatin && unicode.Is(madeOfLatin, r))
}

func isAccent(r rune) bool { return 0x300 <= r && r <= 0x36f }

func isDevanagari(r rune) bool { return 0x900 <= r && r <= 0x97f && r != '।' && r != '॥' }

// fold appends s to key in lower-case ASCII: accents are dropped, and so are Latin letters that stand for no English
// one. Apostrophes stay, in their straight form.
func fold(key []byte, s string) []byte {
	for i := range len(s) {
		c := s[i]
		switch {
		case c >= utf8.RuneSelf:
			return foldAccents(key[:len(key)-i], s)
		case 'A' <= c && c <= 'Z':
			c |= 0x20
		}
		key = append(key, c)
	}
	return key
}

func foldAccents(key []byte, s string) []byte {
	// The clone keeps the compiler from moving every sentence to the heap for the sake of the rare accent.
	for _, r := range norm.NFKD.String(silent.Replace(strings.Clone(s))) {
		if r == '’' {
			r = '\''
		}
		r = unicode.ToLower(r)
		if plain, ok := undecomposed[r]; ok {
			key = append(key, plain...)
		} else if 'a' <= r && r <= 'z' || r == '\'' {
			key = append(key, byte(r))
		}
	}
	return key
}

// Plain returns the lower-case ASCII letters for the Latin letter r. é → e, ß → ss; "" if there are none.
func Plain(r rune) string { return string(foldAccents(nil, string(r))) }

// silent are the signs made of letters that nobody reads.
var silent = strings.NewReplacer("™", "", "℠", "")

// undecomposed are the letters that Unicode does not take apart.
var undecomposed = map[rune]string{
	'ß': "ss", 'æ': "e", 'œ': "e", 'ø': "o", 'đ': "d", 'ð': "d", 'þ': "th", 'ł': "l", 'ı': "i", 'ħ': "h", 'ŋ': "ng",
	'ə': "a",
}

// longestWord is how many letters a word may have to be looked up. Longer ones are only spelled, so that a text
// without spaces is read in linear time too.
const longestWord = 40

// classify finds out what the Latin word src is.
func (l *lexicon) classify(w *word, src string) {
	var room [longestWord]byte
	key := fold(room[:0], src)
	switch {
	case len(key) > longestWord:
		w.lean = leanOf(key, false)
		return
	case len(key) == 1 && key[0] != '\'':
		w.kind, w.letter = letter, key[0]-'a'
		return
	case l.known(w, key):
		return
	}
	w.person = l.personNames[string(key)]
	l.guess(w, src, key)
}

// guess finds out what a word that is in no table is.
func (l *lexicon) guess(w *word, src string, key []byte) {
	switch {
	case l.stretched(w, key):
	case l.inflected(w, key):
	case len(key) <= 6 && allCapitals(src) && !pronounce.IsWord(src), isPair(src):
		w.kind = initials
	default:
		w.lean = leanOf(key, w.proper)
		if l.isIndian(key) {
			w.lean, w.indian = 2, true
		}
		if w.lean < 0 && w.proper { // no name
			w.proper = false
			l.inflected(w, key)
		}
		if w.lean >= 0 && !w.proper {
			l.alike(w, key)
		}
	}
}

// madeOfLatin are the signs of other scripts, or of none, whose compatibility decomposition has Latin letters.
var madeOfLatin = &unicode.RangeTable{
	R16: []unicode.Range16{
		{firstMadeOfLatin, 0x20a8, 1}, {0x2100, 0x2103, 1}, {0x2105, 0x2107, 1}, {0x2109, 0x2113, 1}, {0x2115, 0x2116, 1},
		{0x2119, 0x211d, 1}, {0x2120, 0x2122, 1}, {0x2124, 0x2128, 4}, {0x212c, 0x212d, 1}, {0x212f, 0x2131, 1},
		{0x2133, 0x2134, 1}, {0x2139, 0x213b, 2}, {0x2145, 0x2149, 1}, {0x249c, 0x24e9, 1}, {0x3250, 0x3250, 1},
		{0x32cc, 0x32cf, 1}, {0x3371, 0x337a, 1}, {0x3380, 0x33df, 1}, {0x33ff, 0x33ff, 1},
	},
	R32: []unicode.Range32{{0x1d400, 0x1d6a5, 1}, {0x1f110, 0x1f12e, 1}, {0x1f130, 0x1f14f, 1}, {0x1f16a, 0x1f16c, 1},
		{0x1f190, 0x1f190, 1}},
}

const firstMadeOfLatin = 0x20a8 // ₨

// isUpper reports whether r is a capital, or a sign that is made of one.
func isUpper(r rune) bool {
	first, _ := utf8.DecodeRuneInString(norm.NFKD.String(string(r)))
	return unicode.IsUpper(first)
}

func isCapital(c byte) bool { return 'A' <= c && c <= 'Z' }

// known looks key up as it is.
func (l *lexicon) known(w *word, key []byte) bool {
	e, ok := l.entries[string(key)]
	if !ok {
		return false
	}
	w.kind, w.hindi, w.english, w.lean, w.both = e.kind, e.hindi, e.english, e.lean, e.both
	if e.person != nil {
		w.person = e.person
	}
	return true
}

// isPluralLetter reports whether s is a capital with an s, as the last of "O T Ps".
func isPluralLetter(s string) bool { return len(s) == 2 && 'A' <= s[0] && s[0] <= 'Z' && s[1] == 's' }

func allCapitals(s string) bool {
	for i := range len(s) {
		if s[i] < 'A' || 'Z' < s[i] {
			return false
		}
	}
	return true
}

// isPair reports whether s is two letters without a vowel, like gb.
func isPair(s string) bool {
	return len(s) == 2 && s[0] < utf8.RuneSelf && !strings.ContainsAny(s, "aeiouAEIOU")
}

// stretched finds a word without its drawn-out letters. Double ones are tried before single ones, so that goood is
// good and soooo is so.
func (l *lexicon) stretched(w *word, key []byte) bool {
	var rooms [2][longestWord]byte
	twice, once := shrunk(rooms[0][:0], key, 2), shrunk(rooms[1][:0], key, 1)
	if len(once) == len(key) {
		return false
	}
	if len(twice) == len(key) { // nothing is written more than twice
		return l.known(w, once) || l.inflected(w, once)
	}
	return l.known(w, twice) || l.known(w, once) || l.inflected(w, twice) || l.inflected(w, once)
}

// shrunk appends key to short with at most the given number of letters of each run that is drawn out (bahuuuut,
// plzzz, nahii): three letters or more, or two at the end.
func shrunk(short, key []byte, most int) []byte {
	for i := 0; i < len(key); {
		n := 1
		for i+n < len(key) && key[i+n] == key[i] {
			n++
		}
		keep := n
		if n > 2 || i+n == len(key) {
			keep = min(n, most)
		}
		for range keep {
			short = append(short, key[i])
		}
		i += n
	}
	return short
}
