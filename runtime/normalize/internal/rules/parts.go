package rules

import (
	"github.com/swar-tts/swar/runtime/normalize/internal/text"
)

// behindHyphen steps over a hyphen at token j.
func behindHyphen(v *text.View, j int) int {
	if v.TightSign(j, '-') && v.Tight(j+1) {
		return j + 1
	}
	return j
}

// digitParts collects the groups of digits that begin at token i and are parted by one space or one hyphen. It returns
// how many there are; group k stands at token at[k].
func digitParts(v *text.View, i int, at *[text.MaxParts]int) int {
	n := 0
	for n < text.MaxParts && v.At(i).Kind == text.Digits {
		at[n] = i
		n++
		i++
		switch {
		case v.At(i).Kind == text.Digits: // parted by a space
		case v.IsSign(i, '-') && v.Tight(i) && v.Tight(i+1), v.IsSign(i, text.EnDash) && v.Tight(i) && v.Tight(i+1):
			i++
		default:
			return n
		}
	}
	return n
}
