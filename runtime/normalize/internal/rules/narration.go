package rules

import (
	"github.com/swar-tts/swar/runtime/normalize/internal/text"
	"github.com/swar-tts/swar/runtime/normalize/internal/words"
)

// Narrations: what statements print of a payment, with strokes or hyphens between the channel, the reference and the
// names.

// narrationReach bounds how far from its channel a part of a narration is looked for, in tokens.
const narrationReach = 32

// isNarration reports whether the parts that begin with token i and end before next are those of a payment, by its
// channel or by a reference among them: UPI-RAVI KUMAR, IMPS-713244180912-KIRAN.
func isNarration(v *text.View, i, next int) bool {
	if opensNarration(v, i) {
		return true
	}
	for j := i; j < next; j++ {
		if len(v.AtDigits(j)) >= 6 {
			return true
		}
	}
	return false
}

// movedIn returns what the CR or DR at token j of a narration says, "" for any other part: UPI/CR/7132 → credit.
func movedIn(v *text.View, i, j, next int) string {
	whole := j > i && v.At(j-1).Kind == text.Sign && (j+1 == next || v.At(j+1).Kind == text.Sign)
	if !whole || !opensNarration(v, i) && !opensNarration(v, j-2) {
		return ""
	}
	switch v.Str(j) {
	case "CR":
		return "credit"
	case "DR":
		return "debit"
	}
	return ""
}

// opensNarration reports whether token i is the channel of a payment, with a stroke or a hyphen behind it: UPI/CR/7132.
func opensNarration(v *text.View, i int) bool {
	channel := v.In(i, words.Channel) && v.At(i).InCapitals()
	return channel && v.Tight(i+1) && v.At(i+1).IsOneOf("/-") && v.Tight(i+2)
}

// isNarrationStroke reports whether the stroke at token i parts two names of a narration, and leaves no choice:
// UPI/CR/7132/MANOJ K/SBIN, and the payee of paid to UPI/CHAI POINT.
func isNarrationStroke(v *text.View, i int) bool {
	if !v.Tight(i) || !v.Tight(i+1) {
		return false
	}
	for j := i - 1; j >= max(v.Start, i-narrationReach); j-- {
		switch t := v.At(j); {
		case t.IsOneOf(",;()"):
			return false
		case v.IsSign(j, '/') && opensNarration(v, j-1) && hasParts(v, j+1):
			return true
		}
	}
	paid := v.Reads(i-2, "to", "from", "by", "towards", "for") && v.At(i+1).InCapitals() && !v.In(i+1, words.Channel)
	return opensNarration(v, i-1) && (hasParts(v, i+1) || paid)
}

// hasParts reports whether what the stroke before token i leads to is no other channel, and ends with a stroke: the CR
// of UPI/CR/7132, but UPI/NEFT and UPI/BLOCK ACT.
func hasParts(v *text.View, i int) bool {
	return !v.In(i, words.Channel) && (v.TightSign(i+1, '/') || v.TightSign(i+2, '/'))
}
