package convert

import (
	"slices"
	"strings"

	"github.com/swar-tts/swar/runtime/onnx/bundle"
	"github.com/swar-tts/swar/runtime/tokenize"
)

// The marks that rules of text are about.
const (
	sentenceMarks = ".!?…।॥"
	dandas        = "।॥"
	pauseMarks    = ",;:–—"

	// Marks that are neither. They only matter for a model that was trained without them: hyphens and strokes part
	// words, the rest goes.
	joiningMarks   = "-/"
	enclosingMarks = "\"'“”‘’«»()[]{}"
)

// TextRules returns the text rules of a configuration, as far as the tokenizer and the training data allow. A mark
// that the tokenizer has no piece for would be read as something unknown, which ends speech early; one that the model
// has never seen does what it likes.
//
// A danda without a piece of its own becomes a full stop. Other marks become one, or a comma, only where they would
// be unknown: a model whose tokenizer falls back to bytes has learnt them as such. Where there is neither full stop
// nor comma, a space is left. A letter with a nukta is written in the form that the tokenizer knows, whole or in two.
func TextRules(c Config, t *tokenize.SentencePiece, trained bundle.Trained) bundle.Text {
	text := DefaultText(c)
	knows := func(mark string) bool { return t.Knows(mark) && trained.Knows(mark) }
	text.TerminalPunctuation = text.TerminalPunctuation && knows(".")
	replace := func(from, to string) {
		if !slices.ContainsFunc(text.Replace, func(r bundle.Replace) bool { return r.From == from }) {
			text.Replace = append(text.Replace, bundle.Replace{From: from, To: to})
		}
	}
	for _, kind := range []struct{ marks, by string }{{sentenceMarks, "."}, {pauseMarks, ","}} {
		by := kind.by
		if !knows(by) {
			by = " "
		}
		for _, r := range kind.marks {
			mark := string(r)
			isSpelt := t.ByteFallback() && !strings.ContainsRune(dandas, r)
			if !trained.Knows(mark) || !t.Knows(mark) && !isSpelt {
				replace(mark, by)
			}
		}
	}
	for _, kind := range []struct{ marks, by string }{{joiningMarks, " "}, {enclosingMarks, ""}} {
		for _, r := range kind.marks {
			if mark := string(r); !trained.Knows(mark) {
				replace(mark, kind.by)
			}
		}
	}
	for _, n := range nuktas {
		switch whole, parts := t.Knows(n.whole), t.Knows(n.parts); {
		case whole && !parts:
			replace(n.parts, n.whole)
		case parts && !whole:
			replace(n.whole, n.parts)
		}
	}
	configured, added := text.Replace[:len(c.ReplaceCharacters)], text.Replace[len(c.ReplaceCharacters):]
	for i := range configured { // each character is replaced once, so that these must end where the tokenizer can read
		for _, r := range added {
			configured[i].To = strings.ReplaceAll(configured[i].To, r.From, r.To)
		}
	}
	for _, r := range sentenceMarks {
		if knows(string(r)) {
			text.SentenceMarks += string(r)
		}
	}
	return text
}

// nuktas are the letters of Devanagari that Unicode writes in two ways. Escapes keep editors from changing one into
// the other.
var nuktas = []struct{ whole, parts string }{
	{"\u0929", "\u0928\u093c"}, {"\u0931", "\u0930\u093c"}, {"\u0934", "\u0933\u093c"}, {"\u0958", "\u0915\u093c"},
	{"\u0959", "\u0916\u093c"}, {"\u095a", "\u0917\u093c"}, {"\u095b", "\u091c\u093c"}, {"\u095c", "\u0921\u093c"},
	{"\u095d", "\u0922\u093c"}, {"\u095e", "\u092b\u093c"}, {"\u095f", "\u092f\u093c"},
}
