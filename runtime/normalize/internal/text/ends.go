package text

import "github.com/swar-tts/swar/runtime/normalize/internal/words"

// lastToken is the one that the present sentence ends with, without the quotes and brackets that close behind it.
func lastToken(v *View) int {
	j := v.Stop - 1
	for j > v.Start && v.closes(j) {
		j--
	}
	return j
}

// LastMark is the sign that the present sentence ends with; 0: it ends with none.
func LastMark(v *View) byte {
	if t := v.At(lastToken(v)); t.Kind == Sign {
		return t.Ch
	}
	return 0
}

// IsSureEnd reports whether the mark that the present sentence ends with would do so before any other word, too.
func IsSureEnd(v *View) bool {
	j := lastToken(v)
	p := v.At(j - 1)
	switch LastMark(v) {
	case Danda:
		return true
	case '?', '!':
		return p.Kind != Digits // 5! = 120
	case '|':
		return p.Kind == Deva
	case '.':
		return !isDoubtfulStop(v, j)
	}
	return false
}

// isDoubtfulStop reports whether what follows may show that the dot at j is that of a short form, of an initial or of a
// list number: Dr., 7 p.m., 12 Jan., 1.
func isDoubtfulStop(v *View, j int) bool {
	p := v.At(j - 1)
	switch p.Kind {
	case Sign:
		return p.Ch == '.'
	case Digits:
		return j-1 == v.Start || isPointedTrain(v, j-1)
	case Latin, Deva:
		isInitial := v.Single(j-1) || isDottedLetter(v, j-1) || v.TightSign(j-2, '.')
		isShort := hasShortDot(v, j-1) || CurrencyCode(v, j-1) > 0 ||
			words.LookUpWritten(v.Str(j-1)).Is(words.DottedMonth)
		return isInitial || isShort || p.Word.MayHaveDot()
	}
	return false
}
