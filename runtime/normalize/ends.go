package normalize

import (
	"strings"
	"unicode"

	"github.com/swar-tts/swar/runtime/normalize/internal/text"
	"github.com/swar-tts/swar/runtime/normalize/internal/words"
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
	r := new(reader)
	r.wire()
	r.Home = words.Hindi
	r.Text, r.Toks, _ = text.Scan(trimmed)
	text.LookUpTokens(r.Text, r.Toks)
	var ends []End
	at, chars := 0, 0 // the byte of that code point of trimmed
	for i := 1; i < len(r.Toks)-1; {
		r.sentence(i)
		last := &r.Toks[r.Stop-1]
		for rest := trimmed[at:]; chars < int(last.End) && rest != ""; chars++ {
			at += sizeOfFirst(rest)
			rest = trimmed[at:]
		}
		e := End{At: lead + at, Sure: text.IsSureEnd(&r.View)}
		e.Line = r.Stop < len(r.Toks)-1 && r.Toks[r.Stop].Line || text.LastMark(&r.View) == text.Danda
		e.Sure = e.Sure || e.Line || len(r.Toks)-1-r.Stop > tokensDecide
		ends = append(ends, e)
		i = r.Stop
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
