package normalize

import (
	"strings"
	"unicode"
	"unicode/utf8"
	"unsafe"

	"golang.org/x/text/unicode/norm"
)

// kind is what a token is made of.
type kind uint8

const (
	nothing kind = iota // before the first token and behind the last
	latin               // a word in Latin letters
	deva                // a word in Devanagari
	foreign             // a word in another script
	digits              // a run of digits, ASCII by now
	sign                // one sign or punctuation mark
	emoji               // a run of pictures
	tag                 // <b>, </speak>: nobody says it
)

// letterCase is how a Latin word is written.
type letterCase uint8

const (
	lower letterCase = iota
	title            // Word
	upper            // WORD, or a single capital
	mixed            // anything else
)

// blobMark is something that stands in the same run without white space.
type blobMark uint8

const (
	hasAt blobMark = 1 << iota
	hasSlashes
	hasDot
)

// token is the smallest unit that rules look at.
type token struct {
	kind  kind
	cas   letterCase
	blob  blobMark
	ch    byte // of a sign: its ASCII character, or one of the marks below
	gap   bool // white space stands before it
	hard  bool // and it is one that does not break, as between the groups of a number
	line  bool // a new line stands before it
	hindi bool // digits that were written in Devanagari
	put   bool // a guide has put it in, so that it says nothing about the language of its sentence
	word  *entry
	a, b  int32 // bytes in the clean text
	src   int32 // code points in the trimmed input
	end   int32
}

// Marks of signs that have no ASCII character. They stay below ' ', so that they collide with none that has.
const (
	danda byte = iota + 1
	rupee
	euro
	pound
	yen
	won
	lira
	taka
	naira
	degree
	enDash // en dash, minus sign and the other short ones
	emDash
	ellipsis
	multiply
	half // vulgar fractions
	quarter
	threeQuarters
	squared
	cubed
	plusMinus
	divide
	approx
	notEqual
	lessEqual
	greaterEqual
	arrow
	bullet
	star
	root
	raised // before the figures of 10⁻⁷, which stand raised
	silent // any other sign: nobody says it
)

// Marks of signs that are rarer. No byte of ASCII is as large.
const (
	cent byte = 0x80 + iota
	perMille
	baht
	pesoSign
	dongSign
	rubleSign
	shekelSign
	hryvniaSign
	tengeSign
	cediSign
	kipSign
	tugrikSign
	manatSign
	lariSign
	guaraniSign
	colonSign
	afghaniSign
	rielSign
	dramSign
	bitcoinSign
)

// All marks of the first kind fit below the first printable character.
const _ = uint(' ' - silent)

// Signs that are written for one another, as sets for [token.isOneOf].
const (
	hyphens = "-" + string(rune(enDash))
	dashes  = hyphens + string(rune(emDash))
	dots    = "." + string(rune(ellipsis))
)

// isOneOf reports whether t is one of the signs.
func (t *token) isOneOf(signs string) bool {
	return t.kind == sign && strings.IndexByte(signs, t.ch) >= 0
}

// isCurrency reports whether t is the sign of a currency.
func (t *token) isCurrency() bool { return t.kind == sign && signCurrency(t.ch) > 0 }

// isVulgarFraction reports whether t is ½, ¼ or ¾.
func (t *token) isVulgarFraction() bool {
	return t.kind == sign && half <= t.ch && t.ch <= threeQuarters
}

// inSmallLetters reports whether t is a Latin word that begins no sentence and no name.
func (t *token) inSmallLetters() bool { return t.kind == latin && t.cas == lower }

// inCapitals reports whether t is a Latin word, or a letter, in capitals.
func (t *token) inCapitals() bool { return t.kind == latin && t.cas == upper }

// scanner cuts a text into tokens, cleaning it on the way.
type scanner struct {
	text []byte // the clean text
	toks []token

	gap, hard, line bool
	torn            bool
	tags            bool
	dollars         int
	raisedTo        int // where the last raised figure ends
	inBlob          int // where the run without white space began
	blob            blobMark
}

// scan cleans written and cuts it into tokens. The first and the last token are nothing, so that rules may look one to either side.
//
// Cleaning means: NFC (which splits the precomposed nukta letters), compatibility letters and digits of any script to plain ones,
// zero-width characters and controls out, typographic quotes to plain ones.
//
// torn means that marks stand together which did not in written, so that the clean text may not be in NFC.
func scan(written string) (text string, toks []token, torn bool) {
	var at []int32 // source position of each rune, when it is not simply its number
	if !composed(written) {
		written, at = compose(written)
	}
	s := scanner{
		text: make([]byte, 0, len(written)+16),
		toks: make([]token, 1, len(written)/4+12),
	}
	pos := int32(0)
	for i := 0; i < len(written); pos++ {
		src, end := pos, pos+1
		if at != nil {
			src, end = at[pos], at[pos+1]
		}
		c := written[i]
		if c < utf8.RuneSelf {
			i++
			if c == '&' {
				if r, n := entity(written[i:]); n > 0 {
					i += n
					pos += int32(n)
					end += int32(n)
					if at != nil {
						end = at[pos+1]
					}
					s.rune(r, src, end)
					continue
				}
			}
			s.ascii(c, src, end)
			continue
		}
		r, n := utf8.DecodeRuneInString(written[i:])
		i += n
		if r == '०' && s.shortens(written[i:]) {
			r = '॰'
		}
		s.rune(r, src, end)
	}
	s.closeBlob()
	s.toks = append(s.toks, token{gap: true, line: true, a: int32(len(s.text)), b: int32(len(s.text)), src: pos, end: pos})
	s.toks[0].gap = true
	if s.tags {
		s.toks = foldTags(s.toks, s.text)
	}
	if s.dollars > 1 {
		hushMath(s.toks)
	}
	// The scanner ends here, so nobody will touch the bytes again.
	return unsafe.String(unsafe.SliceData(s.text), len(s.text)), s.toks, s.torn
}

// composed reports whether s is in NFC. It knows Devanagari, which the general check finds doubtful at every nukta.
func composed(s string) bool {
	before := rune(0)
	for _, r := range s {
		switch {
		case r < 0x300, 0x1f300 <= r && r <= 0x1faff, 0x200b <= r && r <= 0x2027, r == '₹':
		case r == '\u093c':
			switch before {
			case 'न', 'र', 'ळ', '\u094d', '\u093c', '\u0951', '\u0952', '\u0953', '\u0954':
				return norm.NFC.IsNormalString(s)
			}
		case 0x900 <= r && r <= 0x957 && !(0x951 <= r && r <= 0x954), 0x960 <= r && r <= 0x97f:
		default:
			return norm.NFC.IsNormalString(s)
		}
		before = r
	}
	return true
}

// compose returns s in NFC and, for each rune of it and for its end, the code point of s it came from.
func compose(s string) (string, []int32) {
	out := make([]byte, 0, len(s)+len(s)/4)
	at := make([]int32, 0, len(s))
	var it norm.Iter
	it.InitString(norm.NFC, s)
	for src, from := int32(0), 0; !it.Done(); from = it.Pos() {
		segment := it.Next()
		out = append(out, segment...)
		for range utf8.RuneCount(segment) {
			at = append(at, src)
		}
		src += int32(utf8.RuneCountInString(s[from:it.Pos()]))
	}
	return string(out), append(at, int32(utf8.RuneCountInString(s)))
}

// entities are the character references that reach us from web forms.
var entities = []struct {
	name string
	r    rune
}{
	{"amp;", '&'}, {"nbsp;", ' '}, {"lt;", '<'}, {"gt;", '>'}, {"quot;", '"'}, {"apos;", '\''}, {"#39;", '\''}, {"#8377;", '₹'},
}

// entity returns the character that a reference such as amp; stands for, and its length; 0 for none.
func entity(s string) (rune, int) {
	for _, e := range entities {
		if strings.HasPrefix(s, e.name) {
			return e.r, len(e.name)
		}
	}
	return 0, 0
}

func (s *scanner) ascii(c byte, src, end int32) {
	switch {
	case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z':
		s.extend(latin, c, src, end)
	case '0' <= c && c <= '9':
		s.extend(digits, c, src, end)
	case c == '\n' || c == '\r' || c == '\v' || c == '\f':
		s.space()
		s.line = true
	case c == ' ' || c == '\t':
		s.space()
	case c < ' ' || c == 0x7f:
		// A control character says nothing and parts nothing.
	default:
		s.sign(c, src, end)
	}
}

// rune takes one code point of the text.
func (s *scanner) rune(r rune, src, end int32) {
	if r < utf8.RuneSelf {
		s.ascii(byte(r), src, end)
		return
	}
	if 0x900 <= r && r <= 0x97f {
		s.devanagari(r, src, end)
		return
	}
	if c := raisedFigure(r); c > 0 {
		s.raise(c, src, end)
		return
	}
	if ch, ok := signs[r]; ok {
		s.sign(ch, src, end)
		return
	}
	switch {
	case 0xfe00 <= r && r <= 0xfe0f, 0xe0000 <= r && r <= 0xe007f:
		// Variation selectors and tags only colour what stands before them.
	case unicode.Is(unicode.Cf, r):
		// Zero-width characters: joiners, direction marks, BOM, soft hyphen.
	case r == 0x85 || r == 0x2028 || r == 0x2029:
		s.space()
		s.line = true
	case unicode.IsSpace(r):
		s.hard = s.hard || isGroupSpace(r)
		s.space()
	case r >= 0x1f000 && r <= 0x1faff && !(0x1f100 <= r && r <= 0x1f1e5):
		s.picture(src, end)
	case unicode.IsDigit(r):
		s.extend(digits, '0'+decimal(r), src, end)
	default:
		s.other(r, src, end)
	}
}

// raisedFigure returns the figure, the minus or the n that r is when it stands raised, 0 for anything else.
func raisedFigure(r rune) byte {
	switch {
	case r == '²' || r == '³':
		return '2' + byte(r-'²')
	case r == '¹':
		return '1'
	case r == '⁰' || '⁴' <= r && r <= '⁹':
		return '0' + byte(r-'⁰')
	case r == '⁻':
		return '-'
	case r == 'ⁿ':
		return 'n'
	}
	return 0
}

// raise takes a raised figure. A lone ² or ³ is a sign of its own; any other row of them stands behind one sign: 10⁻⁷ is 10, raised, -, 7.
func (s *scanner) raise(c byte, src, end int32) {
	t := s.last()
	goesOn := !s.gap && t.b > t.a && s.raisedTo == len(s.text)
	switch {
	case goesOn && (t.ch == squared || t.ch == cubed):
		first := '2' + t.ch - squared
		s.text[t.a], t.ch = raised, raised
		s.extend(digits, first, t.src, t.end)
	case goesOn:
	case c == '2' || c == '3':
		s.sign(squared+c-'2', src, end)
		s.raisedTo = len(s.text)
		return
	default:
		s.sign(raised, src, end)
	}
	switch c {
	case '-':
		s.sign(enDash, src, end)
	case 'n':
		s.extend(latin, c, src, end)
	default:
		s.extend(digits, c, src, end)
	}
	s.raisedTo = len(s.text)
}

// isGroupSpace reports whether r is a space that programs write between the groups of a number.
func isGroupSpace(r rune) bool {
	switch r {
	case 0xa0, 0x2007, 0x2009, 0x202f: // no-break, figure, thin and narrow no-break space
		return true
	}
	return false
}

// other takes a letter, a mark or a picture that has no meaning of its own.
func (s *scanner) other(r rune, src, end int32) {
	isMark := unicode.IsMark(r)
	switch last := s.last().kind; {
	case unicode.Is(unicode.Latin, r) && unicode.IsLetter(r) && !compatible(r), unicode.Is(unicode.Mn, r) && last == latin && !s.gap:
		s.extendRune(latin, r, src, end)
	case compatible(r):
		s.fold(r, src, end)
	case unicode.IsLetter(r), isMark && last == foreign && !s.gap:
		s.extendRune(foreign, r, src, end)
	case unicode.Is(unicode.So, r), unicode.Is(unicode.Sk, r), r == 0x20e3:
		s.picture(src, end)
	case unicode.Is(unicode.Pd, r):
		s.sign(enDash, src, end)
	case isMark, r == utf8.RuneError:
		s.torn = true // a mark without its letter
	default:
		s.sign(silent, src, end)
	}
}

// shortens reports whether the zero of Devanagari before rest is the sign of an abbreviation, for which many type it: डॉ०, नं०-५.
func (s *scanner) shortens(rest string) bool {
	t := s.last()
	if t.kind != deva || s.gap || t.b-t.a > 15 {
		return false
	}
	next, _ := utf8.DecodeRuneInString(rest)
	return !unicode.IsDigit(next)
}

// devanagari takes a code point of the block U+0900 to U+097F.
func (s *scanner) devanagari(r rune, src, end int32) {
	switch {
	case '०' <= r && r <= '९':
		s.extend(digits, '0'+byte(r-'०'), src, end)
		s.last().hindi = true
	case r == '।' || r == '॥':
		s.sign(danda, src, end)
	case r == '॰': // the abbreviation sign, as in रु॰
		s.sign('.', src, end)
	case unicode.IsMark(r) && (s.last().kind != deva || s.gap):
		s.torn = true // a vowel sign without its letter cannot be spoken
	default:
		s.torn = s.torn || 0x951 <= r && r <= 0x954 // stress marks, which have an order among others
		s.extendRune(deva, r, src, end)
	}
}

// compatible reports whether r is a variant of plain characters: full-width, circled, mathematical, superscript, ligature.
func compatible(r rune) bool {
	var buf [utf8.UTFMax]byte
	n := utf8.EncodeRune(buf[:], r)
	return len(norm.NFKC.Properties(buf[:n]).Decomposition()) > 0 && !norm.NFKC.IsNormal(buf[:n])
}

// fold takes the plain characters that r is a variant of. A number among them stands apart from digits before it.
func (s *scanner) fold(r rune, src, end int32) {
	var buf [64]byte
	plain := norm.NFKC.AppendString(buf[:0], string(r))
	if s.last().kind == digits && len(plain) > 0 && '0' <= plain[0] && plain[0] <= '9' {
		s.space()
	}
	for _, p := range string(plain) {
		if p == r {
			return
		}
		s.rune(p, src, end)
	}
}

// decimal returns the value of a decimal digit of any script. Unicode lists each script's ten digits in a row.
func decimal(r rune) byte {
	for _, rg := range unicode.Nd.R16 {
		if rune(rg.Lo) <= r && r <= rune(rg.Hi) {
			return byte((r - rune(rg.Lo)) % 10)
		}
	}
	for _, rg := range unicode.Nd.R32 {
		if rune(rg.Lo) <= r && r <= rune(rg.Hi) {
			return byte((r - rune(rg.Lo)) % 10)
		}
	}
	return 0
}

// signs are the characters beyond ASCII that have a meaning of their own.
var signs = map[rune]byte{
	'₹': rupee, '₨': rupee, '€': euro, '£': pound, '¥': yen, '₩': won, '￦': won, '₺': lira, '৳': taka, '₦': naira, '฿': baht, '¢': cent, '￠': cent, '‰': perMille, '°': degree, 'º': degree,
	'–': enDash, '‐': '-', '‑': '-', '‒': enDash, '−': enDash, '﹣': '-', '－': '-', '—': emDash, '―': emDash, '⸺': emDash,
	'…': ellipsis, '×': multiply, '✕': multiply, '✖': multiply, '÷': divide, '±': plusMinus, '≈': approx, '≃': approx, '≅': approx, '≠': notEqual, '≤': lessEqual, '≥': greaterEqual,
	'½': half, '¼': quarter, '¾': threeQuarters,
	'‘': '\'', '’': '\'', '‛': '\'', 'ʼ': '\'', '′': '\'', '‚': ',', '“': '"', '”': '"', '„': '"', '‟': '"', '″': '"', '«': '"', '»': '"', '‹': '"', '›': '"',
	'•': bullet, '‣': bullet, '▪': bullet, '●': bullet, '○': bullet, '◦': bullet, '·': bullet, '⁃': bullet, '➢': bullet, '➤': bullet, '✓': bullet, '✔': bullet, '✅': bullet,
	'→': arrow, '⇒': arrow, '➡': arrow, '⟶': arrow, '⁄': '/', '∕': '/', '∗': '*', '，': ',', '．': '.', '：': ':', '；': ';', '！': '!', '？': '?', '。': '.', '؟': '?', '،': ',', '¿': silent, '¡': silent, '™': silent, '®': silent, '©': silent, '℠': silent,
	'₱': pesoSign, '₫': dongSign, '₽': rubleSign, '₪': shekelSign, '₴': hryvniaSign, '₸': tengeSign, '₵': cediSign, '₭': kipSign, '₮': tugrikSign, '₼': manatSign, '₾': lariSign, '₲': guaraniSign, '₡': colonSign, '؋': afghaniSign, '៛': rielSign, '֏': dramSign, '₿': bitcoinSign,
	'√': root, '★': star, '⭐': star, '☆': star, '\u09e4': danda, '\uff5c': '|', '¦': '|',
}

func (s *scanner) last() *token { return &s.toks[len(s.toks)-1] }

// extend adds the byte c to the last token if that has the same kind, or begins a new one.
func (s *scanner) extend(k kind, c byte, src, end int32) {
	t := s.grow(k, src)
	s.text = append(s.text, c)
	t.b = int32(len(s.text))
	t.end = end
}

// extendRune is extend for letters beyond ASCII.
func (s *scanner) extendRune(k kind, r rune, src, end int32) {
	t := s.grow(k, src)
	before := len(s.text)
	s.text = utf8.AppendRune(s.text, r)
	if k != deva && unicode.Is(unicode.Mn, r) || r == '\u093c' && s.composesNukta(int(t.a), before) {
		s.recompose(max(int(t.a), before-128), before)
	}
	t.b = int32(len(s.text))
	t.end = end
}

// composesNukta reports whether a nukta behind text[from:to] is not in NFC there.
func (s *scanner) composesNukta(from, to int) bool {
	switch r, _ := utf8.DecodeLastRune(s.text[from:to]); r {
	case 'न', 'र', 'ळ', '\u094d', '\u0951', '\u0952', '\u0953', '\u0954':
		return true
	}
	return false
}

// recompose brings the mark at text[mark:] into NFC with the letter before it, which stands behind from at most. What was written was in
// NFC, but something between the two may have gone: a control, a mark of another script.
func (s *scanner) recompose(from, mark int) {
	if n := norm.NFC.LastBoundary(s.text[from:mark]); n > 0 {
		from += n
	}
	s.text = append(s.text[:from], norm.NFC.Bytes(s.text[from:])...)
}

// grow returns the token that the next character belongs to: the last one if it has the same kind, or a new one. An apostrophe
// between letters is part of their word.
func (s *scanner) grow(k kind, src int32) *token {
	t := s.last()
	if s.gap || t.kind != k && t.kind != sign {
		return s.begin(k, src)
	}
	if t.kind == k {
		return t
	}
	if n := len(s.toks); k == latin && t.ch == '\'' && !t.gap && s.toks[n-2].kind == latin {
		s.toks = s.toks[:n-1]
		return s.last()
	}
	return s.begin(k, src)
}

func (s *scanner) sign(c byte, src, end int32) {
	if c == '=' && s.compares(end) {
		return
	}
	t := s.begin(sign, src)
	t.ch = c
	s.text = append(s.text, c)
	t.b = int32(len(s.text))
	t.end = end
	switch c {
	case danda:
		s.closeBlob()
	case '<':
		s.tags = true
	case '$':
		s.dollars++
	case '@':
		s.blob |= hasAt
	case '.':
		s.blob |= hasDot
	case '/':
		if p := &s.toks[len(s.toks)-2]; p.kind == sign && p.ch == '/' && !t.gap {
			s.blob |= hasSlashes
		}
	}
}

// compares makes one sign of the two of <=, >= and !=, where the second is an equals sign that ends at end.
func (s *scanner) compares(end int32) bool {
	t := s.last()
	if s.gap || t.kind != sign {
		return false
	}
	var both byte
	switch t.ch {
	case '<':
		both = lessEqual
	case '>':
		both = greaterEqual
	case '!':
		both = notEqual
	default:
		return false
	}
	s.text[t.a] = both
	t.ch, t.end = both, end
	return true
}

// picture takes an emoji or another picture. A row of them is one token.
func (s *scanner) picture(src, end int32) {
	t := s.last()
	if t.kind != emoji || s.gap {
		t = s.begin(emoji, src)
	}
	t.end = end
}

// space takes white space.
func (s *scanner) space() {
	s.gap = true
	s.closeBlob()
}

// begin starts a token.
func (s *scanner) begin(k kind, src int32) *token {
	n := int32(len(s.text))
	s.toks = append(s.toks, token{kind: k, gap: s.gap || len(s.toks) == 1, hard: s.hard, line: s.line, a: n, b: n, src: src, end: src})
	s.gap, s.hard, s.line = false, false, false
	return s.last()
}

// closeBlob tells every token of the run without white space what the run has in it.
func (s *scanner) closeBlob() {
	if s.blob != 0 {
		for i := s.inBlob; i < len(s.toks); i++ {
			s.toks[i].blob = s.blob
		}
	}
	s.inBlob, s.blob = len(s.toks), 0
}
