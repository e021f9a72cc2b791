package rules

import (
	"github.com/swar-tts/swar/runtime/normalize/internal/text"
	"github.com/swar-tts/swar/runtime/normalize/internal/words"
	"github.com/swar-tts/swar/runtime/speech"
)

// programSign reads what a sign is in a program only: its name where it stands alone in code, `;`, the operators that
// are others than in formulas, and the dashes of an option.
func programSign(r *Reader, i int) (Reading, bool) {
	if !r.At(i).Part.IsProgram() {
		return Reading{}, false
	}
	if opensProgram(&r.View, i) && r.At(i).Part == text.InCode {
		if next := loneSigns(&r.View, i); next > i {
			return nameSigns(r, i, next)
		}
	}
	w, next := programOperator(&r.View, i)
	if w == words.NoWord {
		return Reading{}, false
	}
	r.Begin(i, speech.SpanSign)
	if twice := r.IsSign(i, '-') && next > i+1; twice {
		r.Say(r.Lang.Words[w])
	}
	r.Say(r.Lang.Words[w])
	return r.End(next)
}

// loneSigns returns the end of the code that begins with token i and has nothing but signs, i for other code.
func loneSigns(v *text.View, i int) int {
	j := i
	for ; v.At(j).Kind == text.Sign && v.At(j).Part == text.InCode && (j == i || v.At(j).MarkupTo == 0); j++ {
		if signNames[v.At(j).Ch] == words.NoWord {
			return i
		}
	}
	if v.At(j).Part == text.InCode && v.At(j).MarkupTo == 0 {
		return i
	}
	return j
}

// nameSigns names tokens i to next; a pair of brackets is named once, and an arrow as one.
func nameSigns(r *Reader, i, next int) (Reading, bool) {
	r.Begin(i, speech.SpanSign)
	for j := i; j < next; j++ {
		w := signNames[r.At(j).Ch]
		switch {
		case j+1 < next && r.IsSign(j+1, '>') && r.At(j).IsOneOf("-="):
			w = words.WordArrow
			j++
		case j+1 < next && w == signNames[r.At(j+1).Ch] && r.At(j).IsOneOf("([{"):
			j++
		}
		r.Say(r.Lang.Words[w])
	}
	return r.End(next)
}

// signNames are what the signs of programs are called where they are talked about.
var signNames = [256]words.Connector{
	'+': words.WordPlus, '-': words.WordMinus, '*': words.WordStar, '/': words.WordSlash, '%': words.WordPercent,
	'=': words.WordEquals, '<': words.WordLess, '>': words.WordMore, '&': words.WordAnd, '|': words.WordPipe,
	'!': words.WordBang, '?': words.WordQuestion, ':': words.WordColon, ';': words.WordSemicolon, ',': words.WordComma,
	'.': words.WordDot, '#': words.WordHash, '@': words.WordAt, '$': words.WordDollar, '_': words.WordUnderscore,
	'~': words.WordTilde, '^': words.WordCaret, '\\': words.WordBackslash, '"': words.WordQuote, '\'': words.WordQuote,
	'(': words.WordParentheses, ')': words.WordParentheses, '[': words.WordBrackets, ']': words.WordBrackets,
	'{': words.WordBraces, '}': words.WordBraces,
}

// programOperator returns the word of the operator at token i of a program, and its end.
func programOperator(v *text.View, i int) (words.Connector, int) {
	switch ch := v.At(i).Ch; {
	case ch == '-':
		return programDashes(v, i)
	case ch == '~' && v.Tight(i) && v.TightDigits(i+1):
		return words.WordTilde, i + 1 // HEAD~2
	case ch == '|' && v.TightSign(i+1, '|'):
		return words.WordOr, i + 2
	case ch == '%' && v.At(i).Gap && v.At(i+1).Gap && v.At(i+1).Kind.WordLike():
		return words.WordModulo, i + 1
	case ch == '!' && v.Tight(i+1) && v.At(i+1).Kind == text.Latin && !v.Joined(i):
		return words.WordNot, i + 1
	case ch == '*' && isWildcard(v, i):
		return words.WordStar, i + 1
	case v.TightSign(i+1, ch) && v.At(i+2).Kind == text.Digits:
		return shifts[ch], i + 2
	}
	return words.NoWord, i
}

// shifts are the operators of two signs that shift by the number behind them.
var shifts = [256]words.Connector{'<': words.WordShiftLeft, '>': words.WordShiftRight}

// isWildcard reports whether the star at token i stands for everything: SELECT *, COUNT(*), *.txt.
func isWildcard(v *text.View, i int) bool {
	selected := v.Reads(i-1, "SELECT", "select", "DISTINCT", "import")
	alone := v.IsSign(i-1, '(') && v.IsSign(i+1, ')')
	return selected || alone || v.TightSign(i+1, '.') && !v.Tight(i)
}

// programDashes reads the dashes of an option and of what is counted down: --force, -v, n--.
func programDashes(v *text.View, i int) (words.Connector, int) {
	j := i + 1
	if v.TightSign(j, '-') {
		j++
	}
	counts := j > i+1 && v.Tight(i) && v.At(i-1).Kind == text.Latin
	if counts && v.LooseEnd(j) {
		return words.WordMinus, j
	}
	opens := v.At(i).Gap || opensProgram(v, i)
	if opens && v.At(j).Kind == text.Latin && v.Tight(j) {
		return words.WordDash, j
	}
	return words.NoWord, i
}

// programPath reads the name of a file by its folders: /var/log/app.log, ./build.sh, ../lib.
func programPath(r *Reader, i int) (Reading, bool) {
	begins := i == r.Start || r.At(i).Gap || opensAddress(&r.View, i-1)
	first := pathStroke(&r.View, i)
	if first < 0 || !begins || r.At(i).Part != text.InText || r.At(first+1).Kind != text.Latin {
		return Reading{}, false
	}
	next, strokes := folders(&r.View, first+1)
	if first == i && strokes < 1 {
		return Reading{}, false
	}
	r.Begin(i, speech.SpanURL)
	if first == i {
		r.Say(r.Lang.Words[words.WordSlash])
	}
	sayAddress(r, first+1, next)
	return r.End(next)
}

// pathStroke returns the stroke with which a path begins at token i, behind the points of ./ and ../; -1 for none.
func pathStroke(v *text.View, i int) int {
	first := i
	for first < i+2 && v.IsSign(first, '.') && (first == i || v.Tight(first)) {
		first++
	}
	if !v.IsSign(first, '/') || first > i && !v.Tight(first) || !v.Tight(first+1) {
		return -1
	}
	return first
}

// folders returns the end of the path whose first name is token i, and how many strokes it has.
func folders(v *text.View, i int) (next, strokes int) {
	next = i
	for within(v, i, next) && v.Tight(next) && v.At(next).Kind.WordLike() {
		next++
		goesOn := v.Tight(next) && v.At(next).IsOneOf("/.-_")
		if !goesOn || !v.Tight(next+1) || !v.At(next+1).Kind.WordLike() {
			continue
		}
		if v.IsSign(next, '/') {
			strokes++
		}
		next++
	}
	return next, strokes
}
