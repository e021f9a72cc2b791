package rules

import (
	"github.com/swar-tts/swar/runtime/normalize/internal/text"
	"github.com/swar-tts/swar/runtime/normalize/internal/words"
	"github.com/swar-tts/swar/runtime/speech"
)

// picture passes over an emoji.
func picture(r *Reader, i int) (Reading, bool) { return r.Silence(i, i+1, speech.SpanEmoji) }

// emoticon passes over :), ;-), :D and <3.
func emoticon(r *Reader, i int) (Reading, bool) {
	t := r.At(i)
	if t.Ch == '<' && heart(&r.View, i) {
		return r.Silence(i, i+2, speech.SpanEmoji)
	}
	if isAppMark(&r.View, i) {
		return r.Silence(i, i+3, speech.SpanMarkup)
	}
	if t.Ch != ':' && t.Ch != ';' {
		return Reading{}, false
	}
	if j := faceEnd(&r.View, i); j > i && r.LooseEnd(j) {
		return r.Silence(i, j, speech.SpanEmoji)
	}
	return Reading{}, false
}

// faceEnd returns the token behind the nose and the mouth of the eyes at token i; i if they have no mouth.
func faceEnd(v *text.View, i int) int {
	t, j := v.At(i), i+1
	if v.TightSign(j, '-') || v.TightSign(j, '\'') {
		j++
	}
	mouth := v.At(j)
	switch {
	case !v.Tight(j):
	case mouth.Kind == text.Latin:
		if t.Gap && v.Reads(j, "D", "P", "p") && !v.TightSign(j+1, '+') && !v.TightSign(j+1, '-') {
			return j + 1
		}
	case mouth.IsOneOf("@") && t.Gap:
		return j + 1
	case mouth.IsOneOf("()"):
		if !t.Gap && mouth.Ch == '(' || mouth.Ch == ')' && inBrackets(v, i) {
			return i // the bracket is a bracket
		}
		for n := 0; n < text.Lookahead && v.TightSign(j, mouth.Ch); n++ {
			j++
		}
		return j
	}
	return i
}

// isAppMark reports whether <#> stands at token i, by which an app finds its code in a message.
func isAppMark(v *text.View, i int) bool {
	return v.IsSign(i, '<') && v.TightSign(i+1, '#') && v.TightSign(i+2, '>')
}

// inBrackets reports whether a bracket is open at token i.
func inBrackets(v *text.View, i int) bool {
	closed := 0
	for j := i - 1; j > i-text.Lookahead && j >= v.Start; j-- {
		switch {
		case v.IsSign(j, ')'):
			closed++
		case v.IsSign(j, '(') && closed == 0:
			return !v.At(j + 1).IsOneOf(",;:.!?") // a mark behind it has it dropped
		case v.IsSign(j, '('):
			closed--
		}
	}
	return false
}

// heart reports whether the <3 at token i is a heart. Only beside warm words: a rating may well be less than three.
func heart(v *text.View, i int) bool {
	if !v.Tight(i+1) || v.Small(i+1, 1) != 3 || !v.LooseEnd(i+2) {
		return false
	}
	decimal := v.TightSign(i+2, '.') && v.Tight(i+3)
	if decimal || v.IsSign(i+2, '%') || v.CountedAt(i+2) {
		return false
	}
	for j := i - 1; j >= max(v.Start, i-5); j-- {
		if v.IsWord(j, words.Warm) {
			return true
		}
	}
	return i == v.Start && v.At(i+2).Kind == text.Nothing
}

// laugh passes over XD.
func laugh(r *Reader, i int) (Reading, bool) {
	if !r.Reads(i, "XD", "xD") || r.Joined(i) || !r.LooseEnd(i+1) {
		return Reading{}, false
	}
	read := r.IsWord(i+1, words.DigitName) ||
		text.IsIn(" zero one two three four five six seven eight nine ", r.AtWord(i+1))
	if r.At(i+1).Kind == text.Digits || r.TightSign(i+1, '-') || read {
		return Reading{}, false // XD 42 and XD-42 are codes
	}
	return r.Silence(i, i+1, speech.SpanEmoji)
}
