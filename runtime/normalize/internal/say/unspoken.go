package say

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// LeaveOut returns text without what speaks refuses, and passes each character of that to miss. A gap that is left in a
// word becomes a space.
func LeaveOut(text string, speaks func(text string) bool, miss func(character string)) string {
	if speaks(text) {
		return text
	}
	var kept strings.Builder
	for rest, state := text, -1; rest != ""; {
		var character string // as a reader sees it: with its marks
		character, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		_, size := utf8.DecodeRuneInString(character)
		switch {
		case strings.TrimSpace(character) == "", speaks(character):
			kept.WriteString(character)
		case !speaks(character[:size]):
			kept.WriteByte(' ')
			miss(character)
		default: // the marks alone are at fault
			kept.WriteString(character[:size])
			for _, mark := range character[size:] {
				if speaks(string(mark)) {
					kept.WriteRune(mark)
				} else {
					miss(string(mark))
				}
			}
		}
	}
	return strings.Join(strings.Fields(kept.String()), " ")
}

// Missing is a character that the engine cannot speak, and the code point of the input where what it was left out of
// begins.
type Missing struct {
	At        int32
	Character string
}

// Miss notes that a character of the token being read is left out.
func (w *Writer) Miss(character string) {
	w.Missing = append(w.Missing, Missing{w.view.Toks[w.at].Src, character})
}

// spoken is what can be spoken of s.
func (w *Writer) spoken(s string) string {
	if w.Speaks == nil {
		return s
	}
	return LeaveOut(s, w.Speaks, w.Miss)
}

// writes reports whether a mark can be written, and notes it where it cannot.
func (w *Writer) writes(mark string) bool { return w.Speaks == nil || w.spoken(mark) != "" }

func isHeard(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }
