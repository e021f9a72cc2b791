package text

import (
	"unicode"
	"unicode/utf8"
	"unsafe"

	"golang.org/x/text/unicode/norm"

	"github.com/swar-tts/swar/runtime/normalize/internal/markup"
)

// marked takes the text of written that m covers and that is no plain text, from byte i and code point pos on. It
// returns where it goes on: behind m, or at i with the part of the text that m says.
func (s *scanner) marked(m *markup.Span, written string, i int, pos int32, at []int32) (int, int32) {
	switch m.Kind {
	case markup.Code:
		s.inside(InCode, m)
		return i, pos
	case markup.Listing:
		s.inside(InListing, m)
		return i, pos
	case markup.Maths:
		s.inside(InMaths, m)
		if m.Bare {
			s.part = InCall
		}
		return i, pos
	}
	next := pos + int32(utf8.RuneCountInString(written[m.Start:m.End]))
	src, end := pos, next
	if at != nil {
		src, end = at[pos], at[next]
	}
	s.part = InText
	if m.InMaths {
		s.part = InMaths
	}
	switch m.Kind {
	case markup.Silent:
		s.skipMarkup(src, end)
		if r, _ := utf8.DecodeRuneInString(written[m.End:]); unicode.IsMark(r) {
			s.gap = true // it would go on the letter before
		}
	case markup.Apart:
		s.skipMarkup(src, end)
		s.space()
	case markup.Pause:
		s.sign(',', src, end)
	case markup.Cell:
		s.part = InTable
		s.sign('|', src, end)
	case markup.Char:
		s.rune(m.Rune, src, end)
	case markup.Say:
		t := s.begin(SignWord, src)
		t.Ch, t.End = byte(m.Word), end
	}
	s.part = InText
	return int(m.End), next
}

// inside says what the text up to the end of m is a part of.
func (s *scanner) inside(p Part, m *markup.Span) { s.part, s.partEnd = p, int(m.End) }

// skipMarkup notes that the markup from src to end is silent. The next token has it in front.
func (s *scanner) skipMarkup(src, end int32) {
	if s.markupTo == 0 {
		s.markupFrom = src
	}
	s.markupTo = end
}

// What a run without spaces may hold.
const (
	HasAt runMark = 1 << iota
	HasSlashes
	hasDot
)

// scanner cuts a text into tokens, cleaning it on the way.
type scanner struct {
	text []byte // the clean text
	toks []Token

	gap, hard, line bool
	uncomposed      bool
	raisedTo        int // where the last raised figure ends
	runStart        int // where the run without white space began
	runMarks        runMark

	part                 Part // what the present text is a part of, up to the byte partEnd of what is scanned
	partEnd              int
	markupFrom, markupTo int32 // silent markup in front of the next token
}

// Scan cleans written and cuts it into tokens. The first and the last token are nothing, so that rules may look one to
// either side.
//
// Cleaning means: NFC (which splits the precomposed nukta letters), compatibility letters and digits of any script to
// plain ones, zero-width characters and controls out, typographic quotes to plain ones.
//
// uncomposed means that marks stand together which did not in written, so that the clean text may not be in NFC.
func Scan(written string) (text string, toks []Token, uncomposed bool) {
	var at []int32 // source position of each rune, when it is not simply its number
	if !Composed(written) {
		written, at = Compose(written)
	}
	s := scanner{
		text: make([]byte, 0, len(written)+16),
		toks: make([]Token, 1, len(written)/3+16),
	}
	spans, _ := markup.Scan(written)
	pos := int32(0)
	for i := 0; ; pos++ {
		for i >= s.partEnd && len(spans) > 0 && int(spans[0].Start) == i {
			i, pos = s.marked(&spans[0], written, i, pos, at)
			spans = spans[1:]
		}
		if i >= s.partEnd {
			s.part = InText
		}
		if i >= len(written) {
			break
		}
		src, end := pos, pos+1
		if at != nil {
			src, end = at[pos], endIn(at, pos)
		}
		c := written[i]
		if c < utf8.RuneSelf {
			i++
			s.ascii(c, src, end)
			if at == nil && i < len(written) && isAlike(c, written[i]) {
				n := s.extendRun(c, written[i:s.plainEnd(i, len(written), spans)])
				i, pos = i+n, pos+int32(n)
			}
			continue
		}
		r, n := utf8.DecodeRuneInString(written[i:])
		i += n
		if r == '०' && s.shortens(written[i:]) {
			r = '॰'
		}
		s.rune(r, src, end)
	}
	s.endRun()
	n := int32(len(s.text))
	s.toks = append(s.toks, Token{Gap: true, Line: s.line, A: n, B: n, Src: pos, End: pos, MarkupFrom: s.markupFrom,
		MarkupTo: s.markupTo})
	s.toks[0].Gap = true
	// The scanner ends here, so nobody will touch the bytes again.
	return unsafe.String(unsafe.SliceData(s.text), len(s.text)), s.toks, s.uncomposed
}

// Compose returns s in NFC and, for each rune of it and for its end, the code point of s it came from.
func Compose(s string) (string, []int32) {
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

// endIn is where the code point pos ends, by the places that [Compose] returned: those of marks and of their letter are
// the same.
func endIn(at []int32, pos int32) int32 {
	for _, next := range at[pos+1:] {
		if next > at[pos] {
			return next
		}
	}
	return at[len(at)-1]
}

func (s *scanner) ascii(c byte, src, end int32) {
	switch {
	case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z':
		s.extend(Latin, c, src, end)
	case '0' <= c && c <= '9':
		s.extend(Digits, c, src, end)
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
		s.extend(Digits, '0'+decimal(r), src, end)
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

// raise takes a raised figure. A lone ² or ³ is a sign of its own; any other row of them stands behind one sign: 10⁻⁷
// is 10, raised, -, 7.
func (s *scanner) raise(c byte, src, end int32) {
	t := s.last()
	goesOn := !s.gap && t.B > t.A && s.raisedTo == len(s.text)
	switch {
	case goesOn && (t.Ch == Squared || t.Ch == Cubed):
		first := '2' + t.Ch - Squared
		s.text[t.A], t.Ch = Raised, Raised
		s.extend(Digits, first, t.Src, t.End)
	case goesOn:
	case c == '2' || c == '3':
		s.sign(Squared+c-'2', src, end)
		s.raisedTo = len(s.text)
		return
	default:
		s.sign(Raised, src, end)
	}
	switch c {
	case '-':
		s.sign(EnDash, src, end)
	case 'n':
		s.extend(Latin, c, src, end)
	default:
		s.extend(Digits, c, src, end)
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
	switch last := s.last().Kind; {
	case unicode.Is(unicode.Latin, r) && unicode.IsLetter(r) && !compatible(r), unicode.Is(unicode.Mn, r) &&
		last == Latin && !s.gap:
		s.extendRune(Latin, r, src, end)
	case compatible(r):
		s.fold(r, src, end)
	case unicode.IsLetter(r), isMark && last == Foreign && !s.gap:
		s.extendRune(Foreign, r, src, end)
	case unicode.Is(unicode.So, r), unicode.Is(unicode.Sk, r), r == 0x20e3:
		s.picture(src, end)
	case unicode.Is(unicode.Pd, r):
		s.sign(EnDash, src, end)
	case isMark, r == utf8.RuneError:
		s.uncomposed = true // a mark without its letter
	default:
		s.sign(Silent, src, end)
	}
}

// shortens reports whether the zero of Devanagari before rest is the sign of an abbreviation, for which many type it:
// डॉ०, नं०-५.
func (s *scanner) shortens(rest string) bool {
	t := s.last()
	if t.Kind != Deva || s.gap || t.B-t.A > 15 {
		return false
	}
	next, _ := utf8.DecodeRuneInString(rest)
	return !unicode.IsDigit(next)
}

// devanagari takes a code point of the block U+0900 to U+097F.
func (s *scanner) devanagari(r rune, src, end int32) {
	switch {
	case '०' <= r && r <= '९':
		s.extend(Digits, '0'+byte(r-'०'), src, end)
		s.last().hindi = true
	case r == '।' || r == '॥':
		s.sign(Danda, src, end)
	case r == '॰': // the abbreviation sign, as in रु॰
		s.sign('.', src, end)
	case unicode.IsMark(r) && (s.last().Kind != Deva || s.gap):
		s.uncomposed = true // a vowel sign without its letter cannot be spoken
	default:
		s.uncomposed = s.uncomposed || 0x951 <= r && r <= 0x954 // stress marks, which have an order among others
		s.extendRune(Deva, r, src, end)
	}
}

// compatible reports whether r is a variant of plain characters: full-width, circled, mathematical, superscript,
// ligature.
func compatible(r rune) bool {
	if isLowered(r) {
		return true
	}
	var buf [utf8.UTFMax]byte
	n := utf8.EncodeRune(buf[:], r)
	return len(norm.NFKC.Properties(buf[:n]).Decomposition()) > 0 && !norm.NFKC.IsNormal(buf[:n])
}

// fold takes the plain characters that r is a variant of. A number among them stands apart from digits before it.
func (s *scanner) fold(r rune, src, end int32) {
	if isLowered(r) {
		if t := s.last(); t.Kind == Digits && !t.Low {
			s.space()
		}
		s.extend(Digits, '0'+byte(r-'₀'), src, end)
		s.last().Low = true
		return
	}
	var buf [64]byte
	plain := norm.NFKC.AppendString(buf[:0], string(r))
	isNumber := len(plain) > 0 && '0' <= plain[0] && plain[0] <= '9'
	if isNumber && s.last().Kind == Digits {
		s.space()
	}
	for _, p := range string(plain) {
		if p == r {
			return
		}
		s.rune(p, src, end)
	}
}

// isLowered reports whether r is a figure that stands lowered: the ₂ of H₂O.
func isLowered(r rune) bool { return '₀' <= r && r <= '₉' }

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
	'₹': rupee, '₨': rupee, '€': euro, '£': pound, '¥': yen, '₩': won, '￦': won, '₺': lira, '৳': taka, '₦': naira,
	'฿': baht, '¢': cent, '￠': cent, '‰': perMille, '°': Degree, 'º': Degree,
	'–': EnDash, '‐': '-', '‑': '-', '‒': EnDash, '−': MinusSign, '﹣': '-', '－': '-', '—': EmDash, '―': EmDash,
	'⸺': EmDash,
	'…': Ellipsis, '×': Multiply, '✕': Multiply, '✖': Multiply, '÷': Divide, '±': PlusMinus, '≈': Approx, '≃': Approx,
	'≅': Approx, '≠': NotEqual, '≤': LessEqual, '≥': GreaterEqual,
	'½': Half, '¼': Quarter, '¾': ThreeQuarters,
	'‘': '\'', '’': '\'', '‛': '\'', 'ʼ': '\'', '′': '\'', '‚': ',', '“': '"', '”': '"', '„': '"', '‟': '"', '″': '"',
	'«': '"', '»': '"', '‹': '"', '›': '"',
	'•': Bullet, '‣': Bullet, '▪': Bullet, '●': Bullet, '○': Bullet, '◦': Bullet, '·': Bullet, '⁃': Bullet, '➢': Bullet,
	'➤': Bullet, '✓': Bullet, '✔': Bullet, '✅': Bullet,
	'→': Arrow, '⇒': Arrow, '➡': Arrow, '⟶': Arrow, '⟹': Arrow, '➔': Arrow, '➜': Arrow,
	'➝': Arrow, '➞': Arrow, '⁄': '/', '∕': '/', '∗': '*', '，': ',', '．': '.',
	'：': ':', '；': ';', '！': '!', '？': '?', '。': '.', '؟': '?', '،': ',', '¿': Silent, '¡': Silent, '™': Silent,
	'®': Silent, '©': Silent, '℠': Silent,
	'₱': pesoSign, '₫': dongSign, '₽': rubleSign, '₪': shekelSign, '₴': hryvniaSign, '₸': tengeSign, '₵': cediSign,
	'₭': kipSign, '₮': tugrikSign, '₼': manatSign, '₾': lariSign, '₲': guaraniSign, '₡': colonSign,
	'؋': afghaniSign, '៛': rielSign, '֏': dramSign, '₿': bitcoinSign,
	'√': Root, '★': Star, '⭐': Star, '☆': Star, '\u09e4': Danda, '\uff5c': '|', '¦': '|',
}

func (s *scanner) sign(c byte, src, end int32) {
	if c == '=' && s.compares(end) {
		return
	}
	t := s.begin(Sign, src)
	t.Ch = c
	s.text = append(s.text, c)
	t.B = int32(len(s.text))
	t.End = end
	switch c {
	case Danda:
		s.endRun()
	case '@':
		s.runMarks |= HasAt
	case '.':
		s.runMarks |= hasDot
	case '/':
		if p := &s.toks[len(s.toks)-2]; p.Kind == Sign && p.Ch == '/' && !t.Gap {
			s.runMarks |= HasSlashes
		}
	}
}

// compares makes one sign of the two of <=, >= and !=, where the second is an equals sign that ends at end.
func (s *scanner) compares(end int32) bool {
	t := s.last()
	if s.gap || t.Kind != Sign || t.Part != s.part {
		return false
	}
	var both byte
	switch t.Ch {
	case '<':
		both = LessEqual
	case '>':
		both = GreaterEqual
	case '!':
		both = NotEqual
	default:
		return false
	}
	s.text[t.A] = both
	t.Ch, t.End = both, end
	return true
}

// picture takes an emoji or another picture. A row of them is one token.
func (s *scanner) picture(src, end int32) {
	t := s.last()
	if t.Kind != Emoji || s.gap {
		t = s.begin(Emoji, src)
	}
	t.End = end
}
