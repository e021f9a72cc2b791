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
)

// TextRules returns the rules of text that a configuration asks for, as far as the tokenizer allows. A mark that it has no piece for
// would be read as something unknown, which ends speech early.
//
// A danda without a piece of its own becomes a full stop. Other marks become one, or a comma, only where they would be unknown: a model
// whose tokenizer falls back to bytes has learnt them as such. Where there is neither full stop nor comma, a space is left. A letter
// with a nukta is written in the form that the tokenizer knows, whole or in two.
func TextRules(c Config, t *tokenize.SentencePiece) bundle.Text {
	text := DefaultText(c)
	text.TerminalPunctuation = text.TerminalPunctuation && t.Knows(".")
	replace := func(from, to string) {
		if !slices.ContainsFunc(text.Replace, func(r bundle.Replace) bool { return r.From == from }) {
			text.Replace = append(text.Replace, bundle.Replace{From: from, To: to})
		}
	}
	for _, kind := range []struct{ marks, by string }{{sentenceMarks, "."}, {pauseMarks, ","}} {
		by := kind.by
		if !t.Knows(by) {
			by = " "
		}
		for _, r := range kind.marks {
			mark := string(r)
			if !t.Knows(mark) && (!t.ByteFallback() || strings.ContainsRune(dandas, r)) {
				replace(mark, by)
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
	for _, r := range sentenceMarks {
		if t.Knows(string(r)) {
			text.SentenceMarks += string(r)
		}
	}
	return text
}

// nuktas are the letters of Devanagari that Unicode writes in two ways. Escapes keep editors from changing one into the other.
var nuktas = []struct{ whole, parts string }{
	{"\u0929", "\u0928\u093c"}, {"\u0931", "\u0930\u093c"}, {"\u0934", "\u0933\u093c"}, {"\u0958", "\u0915\u093c"},
	{"\u0959", "\u0916\u093c"}, {"\u095a", "\u0917\u093c"}, {"\u095b", "\u091c\u093c"}, {"\u095c", "\u0921\u093c"},
	{"\u095d", "\u0922\u093c"}, {"\u095e", "\u092b\u093c"}, {"\u095f", "\u092f\u093c"},
}
