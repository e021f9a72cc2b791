package say

import (
	"github.com/swar-tts/swar/runtime/normalize/internal/text"
	"github.com/swar-tts/swar/runtime/normalize/internal/words"
	"github.com/swar-tts/swar/runtime/speech"
)

// Phrase is what is said for a stretch of text, in order: words, marks, brackets, and where pieces begin and end. It is
// a value; nothing is said before a [Writer] writes it.
type Phrase []part

// Kind is the class of its first piece, "" for none.
func (p Phrase) Kind() speech.SpanKind {
	for i := range p {
		if p[i].op == opBegin {
			return speech.SpanKind(p[i].text)
		}
	}
	return ""
}

// Reason is why it says what it says, "" where the writing alone decides.
func (p Phrase) Reason() string {
	for i := range p {
		if p[i].op == opReason {
			return p[i].text
		}
	}
	return ""
}

// part is one thing that a writer does.
type part struct {
	op             op
	before, behind bool // of a hyphen: it has a space there
	at             int32
	text           string
}

// op says what a part is, and what its fields hold.
type op uint8

const (
	opSay       op = iota // text, apart from what stands before it
	opKeep                // token at, as it is written
	opMark                // text, punctuation
	opBegin               // a piece of kind text begins with token at
	opEnd                 // it ends before token at
	opEnding              // text goes on the last word
	opPlural              // the last word stands for several
	opLower               // text, in small letters
	opHyphen              // text joins two words
	opOpen                // the bracket or quote at token at opens
	opClose               // the bracket or quote at closes
	opApart               // the next word stands apart
	opJoin                // the next word touches the last where it does in the text
	opSilent              // nothing, but the next word does not go on the last
	opDropColon           // the last colon falls away
	opExtend              // the last piece goes on to here
	opReason              // nothing; text is why the rule reads it so
)

// Draft drafts a phrase about a text, in the language of its present sentence.
type Draft struct {
	view   *text.View
	phrase Phrase
	room   [32]part // of the first phrases: hardly any is longer

	Lang     words.Lang // of the present sentence
	Home     words.Lang // what is not English
	EnDigits bool       // identifiers are said in English, whatever the sentence
}

// Over has w say what stands in v.
func (w *Draft) Over(v *text.View) { w.view, w.phrase = v, w.room[:0] }

// Reset begins another phrase. The one before is overwritten.
func (w *Draft) Reset() {
	if len(w.phrase) > 0 {
		w.phrase = w.phrase[:0]
	}
}

// Phrase is what has been drafted since the last Reset.
func (w *Draft) Phrase() Phrase { return w.phrase }

func (w *Draft) add(p part) { w.phrase = append(w.phrase, p) }

// Begin starts a rewritten piece at token i.
func (w *Draft) Begin(i int, kind speech.SpanKind) {
	w.add(part{op: opBegin, at: int32(i), text: string(kind)})
}

// End closes the piece that Begin opened; next is the first token that it does not cover.
func (w *Draft) End(next int) { w.add(part{op: opEnd, at: int32(next)}) }

// Silence covers tokens i to next without a word.
func (w *Draft) Silence(i, next int, kind speech.SpanKind) {
	w.Begin(i, kind)
	w.add(part{op: opSilent})
	w.End(next)
}

// Say says a word, or several, that replace something.
func (w *Draft) Say(said string) {
	if said != "" {
		w.add(part{op: opSay, text: said})
	}
}

// Keep says token i as it is written.
func (w *Draft) Keep(i int) { w.add(part{op: opKeep, at: int32(i)}) }

// Ending puts s onto the last word.
func (w *Draft) Ending(s string) { w.add(part{op: opEnding, text: s}) }

// SayLower says the ASCII word s in small letters.
func (w *Draft) SayLower(s string) { w.add(part{op: opLower, text: s}) }

// Hyphenate puts a dash between two words, with the spaces that it has.
func (w *Draft) Hyphenate(dash string, before, behind bool) {
	w.add(part{op: opHyphen, text: dash, before: before, behind: behind})
}

// Apart keeps the next word apart from the last.
func (w *Draft) Apart() { w.add(part{op: opApart}) }

// Open opens the bracket or quote at token i.
func (w *Draft) Open(i int) { w.add(part{op: opOpen, at: int32(i)}) }

// Close closes a bracket or quote.
func (w *Draft) Close(ch byte) { w.add(part{op: opClose, at: int32(ch)}) }

// Mark puts punctuation behind the last word of the sentence.
func (w *Draft) Mark(m string) { w.add(part{op: opMark, text: m}) }

// Pause is a comma, unless something else parts the words already.
func (w *Draft) Pause() { w.Mark(",") }

// DropColon takes back a colon that a bracket behind it would make an emoticon of.
func (w *Draft) DropColon() { w.add(part{op: opDropColon}) }

// Extend lets the last piece go on to what has been said since.
func (w *Draft) Extend() { w.add(part{op: opExtend}) }

// Join lets the next word touch the last one where it does in the text.
func (w *Draft) Join() { w.add(part{op: opJoin}) }

// Because notes why it is said.
func (w *Draft) Because(reason string) { w.add(part{op: opReason, text: reason}) }
