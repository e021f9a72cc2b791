package normalize

import (
	"strings"
	"unicode"
)

// End is where a sentence of a written text ends.
type End struct {
	At   int  // byte behind its last mark
	Sure bool // it ends there whatever follows, provided that white space or nothing does
	Line bool // a line break follows, or a danda: it needs no white space to end
}

// tokensDecide is how many whole tokens behind a dot are enough to tell whether it ends a sentence: no rule looks further.
const tokensDecide = 4

// Ends returns where the sentences of written end, the last of which ends with the text. What is read of a sentence
// depends on nothing outside of it, so a text may be cut at any of them, and at a line break where [LineEnd] is added.
// A text that is still being written may be cut where its end is sure.
func Ends(written string) []End {
	trimmed := strings.TrimLeftFunc(written, unicode.IsSpace)
	lead := len(written) - len(trimmed)
	trimmed = strings.TrimRightFunc(trimmed, unicode.IsSpace)
	r := reader{home: hindi}
	r.text, r.toks, _ = scan(trimmed)
	r.lookup()
	var ends []End
	at, chars := 0, 0 // the byte of that code point of trimmed
	for i := 1; i < len(r.toks)-1; {
		r.sentence(i)
		last := &r.toks[r.stop-1]
		for rest := trimmed[at:]; chars < int(last.end) && rest != ""; chars++ {
			at += sizeOfFirst(rest)
			rest = trimmed[at:]
		}
		e := End{At: lead + at, Sure: r.isSureEnd()}
		e.Line = r.stop < len(r.toks)-1 && r.toks[r.stop].line || r.lastMark() == danda
		e.Sure = e.Sure || e.Line || len(r.toks)-1-r.stop > tokensDecide
		ends = append(ends, e)
		i = r.stop
	}
	return ends
}

func sizeOfFirst(s string) int {
	for i := range s {
		if i > 0 {
			return i
		}
	}
	return len(s)
}

// LineEnd returns the mark that a line break stands for behind the line, which has none itself: "", ".", "।" or ",".
func LineEnd(line string, o Options) string {
	const next = "x"
	alone := Text(line, o)
	mark, ok := strings.CutPrefix(strings.TrimSuffix(Text(line+"\n"+next, o), " "+next), alone)
	if !ok || strings.Contains(mark, next) {
		return ""
	}
	return mark
}

// lastToken is the one that the present sentence ends with, without the quotes and brackets that close behind it.
func (r *reader) lastToken() int {
	j := r.stop - 1
	for j > r.start && r.closes(j) {
		j--
	}
	return j
}

// lastMark is the sign that the present sentence ends with; 0: it ends with none.
func (r *reader) lastMark() byte {
	if t := r.at(r.lastToken()); t.kind == sign {
		return t.ch
	}
	return 0
}

// isSureEnd reports whether the mark that the present sentence ends with would do so before any other word, too.
func (r *reader) isSureEnd() bool {
	j := r.lastToken()
	p := r.at(j - 1)
	switch r.lastMark() {
	case danda:
		return true
	case '?', '!':
		return p.kind != digits // 5! = 120
	case '|':
		return p.kind == deva
	case '.':
		return !r.isDoubtfulStop(j)
	}
	return false
}

// isDoubtfulStop reports whether what follows may show that the dot at j is that of a short form, of an initial or of a
// list number: Dr., 7 p.m., 12 Jan., 1.
func (r *reader) isDoubtfulStop(j int) bool {
	p := r.at(j - 1)
	switch p.kind {
	case sign:
		return p.ch == '.'
	case digits:
		return j-1 == r.start || r.isPointedTrain(j-1)
	case latin, deva:
		isInitial := r.single(j-1) || r.isDottedLetter(j-1) || r.tightSign(j-2, '.')
		isShort := r.hasShortDot(j-1) || r.currencyCode(j-1) > 0 || hindiShortMonths[r.str(j-1)] > 0
		return isInitial || isShort || p.word.mayHaveDot()
	}
	return false
}

// mayHaveDot reports whether the word is known to be written with a dot behind it.
func (e *entry) mayHaveDot() bool {
	return e.is(shortened|month|meridiem) || len(e.beside) > 0 || e.chat != nil
}
