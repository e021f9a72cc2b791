// Package say writes what is said: words with the spaces, brackets and marks between them, and numbers, dates, times
// and amounts in the words of a language. It decides nothing about what is written.
package say

import (
	"bytes"
	"strings"

	"github.com/swar-tts/swar/runtime/normalize/internal/text"
	"github.com/swar-tts/swar/runtime/normalize/internal/words"
	"github.com/swar-tts/swar/runtime/speech"
)

// Writer writes what is said.
type Writer struct {
	view *text.View

	Out     []byte
	join    join
	said    bool    // the sentence has a word already
	endMark string  // what ends the line that has been written
	openers [4]byte // brackets and quotes that wait for a word
	opened  int
	openGap bool // white space stands before the first of them
	danda   bool // the sentence is in Devanagari, so that a line ends in danda

	Want   bool // pieces are wanted
	Pieces []Piece

	Speaks  func(text string) bool // whether the engine speaks all of text; nil: it does
	Missing []Missing              // what it does not, in the order of writing
	at      int                    // the token that is read
	hyphen  int                    // where the last hyphen begins
	dashed  bool                   // it waits for a word
	omitted bool                   // nothing of the last word can be spoken
}

// Over has w write what is said of v.
func (w *Writer) Over(v *text.View) { w.view = v }

// LastSaid is the word of Latin letters at the end of what has been said, "" behind anything else.
func (w *Writer) LastSaid() string {
	from := len(w.Out)
	for from > 0 && len(w.Out)-from < text.Lookahead && ('a' <= w.Out[from-1]|0x20 && w.Out[from-1]|0x20 <= 'z') {
		from--
	}
	if from > 0 && w.Out[from-1] != ' ' {
		return ""
	}
	return string(w.Out[from:])
}

// Piece is a rewritten stretch of tokens and of the output.
type Piece struct {
	First, Next int
	From, To    int
	Kind        speech.SpanKind
}

// join is how the next word goes onto what is written already.
type join uint8

const (
	asWritten join = iota // a space if there was one
	spaced                // always a space
	glued                 // never one: behind a hyphen
)

// Spoken returns what was written.
func (w *Writer) Spoken() string { return string(w.Out) }

// Write writes what p says.
func (w *Writer) Write(p Phrase) {
	for i := range p {
		switch t := &p[i]; t.op {
		case opSay:
			if w.word(t.text, true) {
				w.join = spaced
			}
		case opKeep:
			w.keep(int(t.at))
		case opMark:
			w.mark(t.text)
		case opBegin:
			w.begin(int(t.at), speech.SpanKind(t.text))
		case opEnd:
			w.end(int(t.at))
		case opEnding:
			w.ending(t.text)
		case opPlural:
			w.plural()
		case opLower:
			w.sayLower(t.text)
		case opHyphen:
			w.hyphenate(t.text, t.before, t.behind)
		case opOpen:
			w.open(int(t.at))
		case opClose:
			w.close(byte(t.at))
		default:
			w.silently(t.op)
		}
	}
}

// silently does what changes how other words are written.
func (w *Writer) silently(o op) {
	switch o {
	case opApart:
		w.join = spaced
	case opJoin:
		w.join = asWritten
	case opExtend:
		if n := len(w.Pieces); n > 0 {
			w.Pieces[n-1].To = len(w.Out)
		}
	case opSilent:
		w.join = max(w.join, spaced)
	case opDropColon:
		w.dropColon()
	}
}

// begin starts a rewritten piece at token i.
func (w *Writer) begin(i int, kind speech.SpanKind) {
	w.at = i
	if w.Want {
		w.Pieces = append(w.Pieces, Piece{First: i, From: len(w.Out), Kind: kind})
	}
}

// end closes the piece that begin opened; next is the first token that it does not cover.
func (w *Writer) end(next int) {
	if w.Want {
		p := &w.Pieces[len(w.Pieces)-1]
		p.Next, p.To = next, len(w.Out)
	}
	if t := &w.view.Toks[next]; t.Kind.WordLike() {
		t.Gap = true // there is a space between them now
	}
}

// keep writes token i as it is.
func (w *Writer) keep(i int) {
	t := &w.view.Toks[i]
	w.at = i
	if w.word(w.view.Text[t.A:t.B], t.Gap) {
		w.join = asWritten
	}
}

// ending puts s onto the last word, unless that was left out.
func (w *Writer) ending(s string) {
	if !w.omitted {
		w.Out = append(w.Out, w.spoken(s)...)
	}
}

// plural makes the last English word stand for several: eighty becomes eighties.
func (w *Writer) plural() {
	if w.omitted {
		return
	}
	if n := len(w.Out); w.Out[n-1] == 'y' {
		w.Out = append(w.Out[:n-1], w.spoken("ies")...)
	} else {
		w.Out = append(w.Out, w.spoken("s")...)
	}
}

// word writes s, and reports whether anything of it can be spoken. Where nothing can, the next word stands apart, and a
// hyphen that waited for this one goes.
func (w *Writer) word(s string, gap bool) bool {
	if w.Speaks != nil {
		if s = w.spoken(s); !strings.ContainsFunc(s, isHeard) {
			if w.dashed {
				w.undo(w.hyphen)
			}
			w.join, w.dashed, w.omitted = spaced, false, true
			return false
		}
	}
	w.room(gap)
	w.Out = append(w.Out, s...)
	return true
}

// room writes the space in front of a word, gap telling whether the word has one by itself, and the brackets that wait
// for it.
func (w *Writer) room(gap bool) {
	if w.opened > 0 {
		gap = w.openGap
	}
	if len(w.Out) > 0 && (w.join == spaced || w.join == asWritten && gap) {
		w.Out = append(w.Out, ' ')
	}
	for _, opener := range w.openers[:w.opened] {
		w.sign(opener)
	}
	w.opened, w.dashed, w.omitted, w.said = 0, false, false, true
	w.endMark = "."
	if w.danda {
		w.endMark = "।"
	}
}

// sign writes a bracket or a quote.
func (w *Writer) sign(ch byte) {
	if w.Speaks == nil || w.writes(string(rune(ch))) {
		w.Out = append(w.Out, ch)
	}
}

// IsGlued reports whether the next word goes onto a hyphen.
func (w *Writer) IsGlued() bool { return w.join == glued }

// Waits reports whether a bracket or a hyphen waits for a word.
func (w *Writer) Waits() bool { return w.opened > 0 || w.join == glued }

// dropColon takes back a colon that a bracket behind it would make an emoticon of.
func (w *Writer) dropColon() {
	if n := len(w.Out) - 1; n >= 0 && (w.Out[n] == ':' || w.Out[n] == ';') {
		w.undo(n)
	}
}

// sayLower writes the ASCII word s in small letters.
func (w *Writer) sayLower(s string) {
	if w.word(strings.ToLower(s), true) {
		w.join = spaced
	}
}

// hyphenate writes a dash between two words, with the spaces that it has.
func (w *Writer) hyphenate(dash string, before, behind bool) {
	if !w.writes(dash) || w.omitted {
		w.join = spaced
		return
	}
	w.hyphen, w.dashed = len(w.Out), true
	if before {
		w.Out = append(w.Out, ' ')
	}
	w.Out = append(w.Out, dash...)
	w.join = glued
	if behind {
		w.join = spaced
	}
}

// BeginSentence forgets what waited for a word; danda says what its lines end in.
func (w *Writer) BeginSentence(danda bool) {
	w.said, w.omitted, w.opened, w.danda = false, false, 0, danda
}

// open remembers an opening bracket or quote until a word follows; without one it is dropped.
func (w *Writer) open(i int) {
	if w.opened == 0 {
		w.openGap = w.view.Toks[i].Gap
	}
	if w.opened < len(w.openers) {
		w.openers[w.opened] = w.view.Toks[i].Ch
		w.opened++
	}
}

// close writes a closing bracket or quote behind the last word.
func (w *Writer) close(ch byte) {
	if w.opened > 0 {
		if w.opened--; w.opened == 0 && w.join != glued {
			w.join = spaced // A()A are two
		}
		return
	}
	again := len(w.Out) > 0 && w.Out[len(w.Out)-1] == ch && ch != ')' // two quotes say no more than one
	if w.said && w.join != glued && !again {
		w.sign(ch)
		w.join = spaced
	}
}

// undo takes back what was written from n on, also from pieces that end there.
func (w *Writer) undo(n int) {
	w.Out = w.Out[:n]
	for k := len(w.Pieces) - 1; k >= 0; k-- {
		p := &w.Pieces[k]
		isOpen := p.Next == 0
		if !isOpen && p.To <= n {
			break
		}
		p.From, p.To = min(p.From, n), n
	}
}

// Pause writes a comma, unless something else parts the words already.
func (w *Writer) Pause() { w.mark(",") }

// mark writes punctuation behind the last word of the sentence. Of two marks in a row the stronger stays.
func (w *Writer) mark(m string) {
	w.opened = 0
	n := len(w.Out)
	if !w.said || w.join == glued {
		return
	}
	if !w.writes(m) {
		w.join = spaced
		return
	}
	before := bytes.TrimRight(w.Out, "\"')")
	endsInside := len(before) < n && parts(before) // the quote or the bracket has its own mark
	switch c := w.Out[n-1]; {
	case c == '.' || c == '?' || c == '!', endsInside, bytes.HasSuffix(before, []byte("।")):
		// A sentence has ended here.
	case c == ',' || c == ';' || c == ':':
		stronger := m != "," && m != ";" && m != ":"
		if stronger && !(m[0] == '.' && wantsDot(w.Out[:n-1])) {
			w.Out = append(w.Out[:n-1], m...)
		}
	case m[0] == '.' && wantsDot(w.Out):
		// With the dot it would be said in full when it is read again.
	default:
		w.Out = append(w.Out, m...)
	}
	w.join = spaced
}

// wantsDot reports whether the last word of out is a short form that was kept as it is, having no dot.
func wantsDot(out []byte) bool {
	word := bytes.TrimLeft(out[bytes.LastIndexByte(out, ' ')+1:], "\"'(-")
	var buf [24]byte
	low, _ := words.Fold(buf[:0], string(word))
	e := words.LookUpLower(low)
	return e.IsAny(words.NeedsDot, words.DotOrTitle) && !e.Is(words.AlsoWord)
}

// parts reports whether s ends in punctuation.
func parts(s []byte) bool {
	if len(s) == 0 {
		return false
	}
	switch s[len(s)-1] {
	case '.', ',', ';', ':', '?', '!', '-':
		return true
	}
	return bytes.HasSuffix(s, []byte("।")) || bytes.HasSuffix(s, []byte("–")) || bytes.HasSuffix(s, []byte("—"))
}

// EndLine ends the sentence before a new line, unless punctuation ends it already.
func (w *Writer) EndLine() {
	if before := bytes.TrimRight(w.Out, "\"')"); len(before) > 0 && !parts(before) {
		w.said, w.join = true, spaced
		if w.endMark == "." && wantsDot(before) {
			w.Pause() // a dot would make a short form of it
			return
		}
		w.mark(w.endMark)
	}
}

// BehindWord reports whether the last thing that was written is a word.
func (w *Writer) BehindWord() bool {
	return w.said && w.opened == 0 && w.join != glued && !parts(bytes.TrimRight(w.Out, "\"')"))
}
