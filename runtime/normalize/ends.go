package normalize

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/swar-tts/swar/runtime/normalize/internal/markup"
	"github.com/swar-tts/swar/runtime/normalize/internal/text"
	"github.com/swar-tts/swar/runtime/normalize/internal/words"
)

// End is where a sentence of a written text ends.
type End struct {
	At   int  // byte behind its last mark
	Sure bool // it ends there whatever follows, provided that white space or nothing does
	Line bool // a line break follows, or a danda: it needs no white space to end
	Open bool // a listing or a formula goes on there: nothing has ended
}

// tokensDecide is how many whole tokens behind a dot are enough to decide whether it ends a sentence: no rule looks
// further.
const tokensDecide = 4

// Ends returns where the sentences of written end: "Aaj aao. Kal jao" → 8, 16. The last one ends with the text.
//
// The reading of a sentence depends on the sentence, [Options.Language] and [Options.Case] only. A text may therefore
// be cut at each end, and at a line break if [LineEnd] is added. A text that is still being written may be cut where
// its end is sure. No end is inside a listing or a formula, even if that has no end yet: a line of a program is read
// otherwise when it stands alone.
func Ends(written string) []End {
	trimmed := strings.TrimLeftFunc(written, unicode.IsSpace)
	lead := len(written) - len(trimmed)
	trimmed = strings.TrimRightFunc(trimmed, unicode.IsSpace)
	r := new(reader)
	r.wire()
	r.Home = words.Hindi
	r.surveyed = true // where a sentence ends does not depend on its language
	r.Text, r.Toks, _ = text.Scan(trimmed)
	text.LookUpTokens(r.Text, r.Toks)
	marks, open := markup.Scan(trimmed)
	var ends []End
	at, chars := 0, 0 // the byte of that code point of trimmed
	for i := 1; i < len(r.Toks)-1; {
		r.sentence(i)
		last := &r.Toks[r.Stop-1]
		for rest := trimmed[at:]; chars < int(last.End) && rest != ""; chars++ {
			at += sizeOfFirst(rest)
			rest = trimmed[at:]
		}
		i = r.Stop
		isLast := i == len(r.Toks)-1
		if !isLast {
			if open >= 0 && at > open || r.isInListing(i) {
				continue
			}
			before := r.Toks[i-1].Part
			block := before == text.InListing || before == text.InMaths
			if r.Toks[i].MarkupTo > 0 && (block || r.Toks[i].Gap) {
				var end int
				marks, end = behindMarks(trimmed, marks, at, block, r.Toks[i].Line && !r.endsInMark())
				at, chars = end, chars+utf8.RuneCountInString(trimmed[at:end])
			}
		}
		isOpen := open >= 0 && at > open
		sure := !isOpen
		if isLast {
			if _, end := behindMarks(trimmed, marks, at, false, false); end < len(trimmed) {
				if sure && r.endsInMark() {
					ends = append(ends, End{At: lead + end, Sure: text.IsSureEnd(&r.View),
						Line: text.LastMark(&r.View) == text.Danda})
				}
				sure = false // what is silent may belong to the next sentence
			}
			at = len(trimmed)
		}
		e := End{At: lead + at, Sure: text.IsSureEnd(&r.View)}
		e.Line = r.Stop < len(r.Toks)-1 && r.Toks[r.Stop].Line || text.LastMark(&r.View) == text.Danda
		e.Sure = e.Sure || e.Line || len(r.Toks)-1-r.Stop > tokensDecide
		e.Sure, e.Line, e.Open = e.Sure && sure, e.Line && sure, isOpen
		ends = append(ends, e)
	}
	return ends
}

// endsInMark reports whether the present sentence ends in a mark, and not with its line.
func (r *reader) endsInMark() bool {
	return strings.IndexByte(".?!|"+string(rune(text.Danda)), text.LastMark(&r.View)) >= 0
}

// isInListing reports whether a line of a listing ends before token i, and another follows.
func (r *reader) isInListing(i int) bool {
	return r.Toks[i].Part == text.InListing && r.Toks[i-1].Part == text.InListing
}

// behindMarks returns the byte behind the silent marks that touch what ends at byte at, theek.** and old.[1], that end
// its line, or that close the block which ends there; and the markup that is left.
func behindMarks(s string, marks []markup.Span, at int, block, line bool) ([]markup.Span, int) {
	for len(marks) > 0 && (int(marks[0].Start) < at || block && !isSilent(marks[0])) {
		marks = marks[1:]
	}
	end := at
	for ; len(marks) > 0 && isSilent(marks[0]); marks = marks[1:] {
		gap := s[end:marks[0].Start]
		if !block && gap != "" && !(line && strings.Trim(gap, " \t") == "") {
			break
		}
		end, block = int(marks[0].End), false
	}
	return marks, end
}

func isSilent(m markup.Span) bool { return m.Kind == markup.Silent || m.Kind == markup.Apart }

func sizeOfFirst(s string) int {
	for i := range s {
		if i > 0 {
			return i
		}
	}
	return len(s)
}

// LineEnd returns the mark that a line break adds to a line without one: "Kal aana" → ".". It is "", ".", "।" or ",".
func LineEnd(line string, o Options) string {
	const next = "x"
	alone := Text(line, o)
	mark, ok := strings.CutPrefix(strings.TrimSuffix(Text(line+"\n"+next, o), " "+next), alone)
	if !ok || strings.Contains(mark, next) {
		return ""
	}
	return mark
}
