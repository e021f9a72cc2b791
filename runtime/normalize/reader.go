package normalize

import (
	"bytes"
	"slices"
	"strings"
	"unicode"

	"github.com/swar-tts/swar/runtime/speech"
)

// reader reads one text: it walks the tokens and writes what is said.
type reader struct {
	text string
	toks []token
	opt  Options

	// The present sentence: its tokens are start (inclusive) to stop (exclusive).
	start, stop int
	lineStop    int // where its line ends
	lang        lang
	home        lang // what is not English
	only        lang // in which every sentence is read; nil: each in its own
	several     bool // sentences have been read in both languages
	danda       bool // it is in Devanagari, so that a line ends in danda

	out     []byte
	join    join
	said    bool    // the sentence has a word already
	endMark string  // what ends the line that has been written
	openers [4]byte // brackets and quotes that wait for a word
	opened  int
	openGap bool // white space stands before the first of them

	torn     bool // text may not be in NFC
	doubtful bool // something was kept, or left out, after which another reading may differ

	want   bool // pieces are wanted
	pieces []piece

	source string  // what was scanned
	guides []guide // in order
	guide  int     // the one that the present token is in, or before

	reason   string // what made a number a code
	why      *Why   // nil unless somebody asks
	whyWords []WhyWord
}

// piece is a rewritten stretch of tokens and of the output.
type piece struct {
	first, next int
	from, to    int
	kind        speech.SpanKind
}

// join is how the next word goes onto what is written already.
type join uint8

const (
	asWritten join = iota // a space if there was one
	spaced                // always a space
	glued                 // never one: behind a hyphen
)

// read normalises written.
func read(written string, o Options, want bool) *reader {
	return readIn(hindi, written, o, want)
}

// readIn is [read] with another language than Hindi beside English.
func readIn(home lang, written string, o Options, want bool) *reader {
	r := newReader(home, written, o, want)
	r.run()
	r.settle(r.source)
	return r
}

// newReader scans written, and reads nothing yet.
func newReader(home lang, written string, o Options, want bool) *reader {
	r := &reader{opt: o, want: want, home: home, source: strings.TrimFunc(written, unicode.IsSpace)}
	if o.Lexicon == nil && len(o.Marks) == 0 {
		r.text, r.toks, r.torn = scan(r.source)
	} else {
		r.text, r.toks, r.torn = r.guidance(r.source)
	}
	r.lookup()
	r.out = make([]byte, 0, 3*len(r.text)+64)
	if want {
		r.pieces = make([]piece, 0, len(r.toks)/4+4)
	}
	return r
}

// run reads the text.
func (r *reader) run() {
	last := len(r.toks) - 1
	for i := 1; i < last; {
		if i >= r.stop {
			if r.toks[i].line {
				r.endLine()
			}
			r.sentence(i)
		}
		if len(r.guides) == 0 {
			i = r.step(i)
		} else {
			i = r.guided(i)
		}
	}
}

// spoken returns what was written.
func (r *reader) spoken() string { return string(r.out) }

// step reads the piece that begins with token i and returns where the next one begins.
func (r *reader) step(i int) int {
	r.reason = ""
	pieces := len(r.pieces)
	for _, rule := range rulesFor(r.toks[i].kind) {
		if next := rule.try(r, i); next > i {
			r.explainPiece(i, next, pieces, rule.name)
			if after := r.at(next); rule.identifier && (after.kind == digits || signCurrency(after.ch) > 0) {
				r.pause() // so that a quantity behind a code is not taken for a part of it
			}
			return next
		}
	}
	return i + 1
}

// lookup finds the words of the text in the vocabulary.
func (r *reader) lookup() {
	for i := range r.toks {
		t := &r.toks[i]
		t.word = &unknown
		switch t.kind {
		case latin:
			var buf [24]byte
			w := r.text[t.a:t.b]
			low, cas := fold(buf[:0], w)
			t.cas = cas
			if e := vocabulary[string(low)]; e != nil {
				t.word = e
			}
		case deva:
			if e := vocabulary[r.text[t.a:t.b]]; e != nil {
				t.word = e
			}
		}
	}
}

// str is token i as it stands in the clean text.
func (r *reader) str(i int) string { return r.text[r.toks[i].a:r.toks[i].b] }

// between is the clean text of tokens i to j, j excluded.
func (r *reader) between(i, j int) string { return r.text[r.toks[i].a:r.toks[j-1].b] }

// at returns token i, or nothing when it is not in the present sentence: no rule sees beyond that.
func (r *reader) at(i int) *token {
	if i < r.start {
		return &r.toks[0]
	}
	if i >= r.stop {
		return &r.toks[len(r.toks)-1]
	}
	return &r.toks[i]
}

// isSign reports whether token i is the sign ch.
func (r *reader) isSign(i int, ch byte) bool {
	t := r.at(i)
	return t.kind == sign && t.ch == ch
}

// tight reports whether token i stands directly behind the one before.
func (r *reader) tight(i int) bool { t := r.at(i); return !t.gap && t.kind != nothing }

// tightSign reports whether token i is the sign ch directly behind the one before.
func (r *reader) tightSign(i int, ch byte) bool { return r.isSign(i, ch) && r.tight(i) }

// isWord reports whether token i is a word with one of the traits.
func (r *reader) isWord(i int, t trait) bool { return r.at(i).word.is(t) }

// joined reports whether token i goes on the word or the number before it.
func (r *reader) joined(i int) bool { return r.tight(i) && r.at(i-1).kind.wordLike() }

// tightDigits reports whether token i is a number directly behind the token before.
func (r *reader) tightDigits(i int) bool { return r.at(i).kind == digits && r.tight(i) }

// tightLetter reports whether token i is one Latin letter directly behind the token before.
func (r *reader) tightLetter(i int) bool { return r.single(i) && r.tight(i) }

// numberBehind reports whether token i is the sign ch and a number follows it, with no gap before either.
func (r *reader) numberBehind(i int, ch byte) bool { return r.tightSign(i, ch) && r.tightDigits(i+1) }

// looseEnd reports whether token i is no word and no number that goes on what stands before it.
func (r *reader) looseEnd(i int) bool { return !r.tight(i) || !r.at(i).kind.wordLike() }

// atWord is the word at token i as it is written, "" if it is none.
func (r *reader) atWord(i int) string {
	if r.at(i).kind.lettered() {
		return r.str(i)
	}
	return ""
}

// atDigits is the number at token i as it is written, "" if it is none.
func (r *reader) atDigits(i int) string {
	if r.at(i).kind == digits {
		return r.str(i)
	}
	return ""
}

// reads reports whether token i is written as one of the words.
func (r *reader) reads(i int, words ...string) bool {
	w := r.atWord(i)
	return w != "" && slices.Contains(words, w)
}

// last reports whether token j is the mark that ends the sentence.
func (r *reader) last(j int) bool {
	for j++; j < r.stop; j++ {
		if !r.closes(j) {
			return false
		}
	}
	return true
}

// wordLike reports whether tokens of this kind are written with letters or digits.
func (k kind) wordLike() bool { return k == latin || k == deva || k == digits || k == foreign }

// lettered reports whether tokens of this kind are words that the rules can read.
func (k kind) lettered() bool { return k == latin || k == deva }

// free reports whether nothing is attached behind token i-1: token i is apart, the end, or punctuation.
func (r *reader) free(i int) bool {
	t := r.at(i)
	return t.gap || !t.kind.wordLike()
}

// begin starts a rewritten piece at token i.
func (r *reader) begin(i int, kind speech.SpanKind) {
	if r.want {
		r.pieces = append(r.pieces, piece{first: i, from: len(r.out), kind: kind})
	}
}

// end closes the piece that begin opened; next is the first token that it does not cover.
func (r *reader) end(next int) int {
	if r.want {
		p := &r.pieces[len(r.pieces)-1]
		p.next, p.to = next, len(r.out)
	}
	if t := &r.toks[next]; t.kind.wordLike() {
		t.gap = true // there is a space between them now
	}
	return next
}

// hush covers tokens i to next without a word.
func (r *reader) hush(i, next int, kind speech.SpanKind) int {
	r.begin(i, kind)
	r.join = max(r.join, spaced)
	return r.end(next)
}

// say writes a word, or several, that replace something.
func (r *reader) say(words string) {
	if words == "" {
		return
	}
	r.room(true)
	r.out = append(r.out, words...)
	r.join = spaced
}

// keep writes token i as it is.
func (r *reader) keep(i int) int {
	t := &r.toks[i]
	r.doubtful = r.doubtful || r.isDecidedBeside(i)
	r.room(t.gap)
	r.out = append(r.out, r.text[t.a:t.b]...)
	r.join = asWritten
	return i + 1
}

// room writes the space in front of a word, gap telling whether the word has one by itself, and the brackets that wait for it.
func (r *reader) room(gap bool) {
	if r.opened > 0 {
		gap = r.openGap
	}
	if len(r.out) > 0 && (r.join == spaced || r.join == asWritten && gap) {
		r.out = append(r.out, ' ')
	}
	r.out = append(r.out, r.openers[:r.opened]...)
	r.opened = 0
	r.said = true
	r.endMark = "."
	if r.danda {
		r.endMark = "।"
	}
}

// open remembers an opening bracket or quote until a word follows; without one it is dropped.
func (r *reader) open(i int) {
	if r.opened == 0 {
		r.openGap = r.toks[i].gap
	}
	if r.opened < len(r.openers) {
		r.openers[r.opened] = r.toks[i].ch
		r.opened++
	}
}

// close writes a closing bracket or quote behind the last word.
func (r *reader) close(ch byte) {
	if r.opened > 0 {
		r.doubtful = true
		if r.opened--; r.opened == 0 && r.join != glued {
			r.join = spaced // A()A are two
		}
		return
	}
	again := len(r.out) > 0 && r.out[len(r.out)-1] == ch && ch != ')' // two quotes say no more than one
	if r.said && r.join != glued && !again {
		behindMark := parts(r.out) || len(bytes.TrimRight(r.out, "\"')")) < len(r.out)
		r.doubtful = r.doubtful || behindMark
		r.out = append(r.out, ch)
		r.join = spaced
		return
	}
	r.doubtful = true
}

// unsay takes back what was written from n on, also from pieces that end there.
func (r *reader) unsay(n int) {
	r.out = r.out[:n]
	for k := len(r.pieces) - 1; k >= 0 && r.pieces[k].to > n; k-- {
		p := &r.pieces[k]
		p.from, p.to = min(p.from, n), n
	}
}

// pause writes a comma, unless something else parts the words already.
func (r *reader) pause() { r.mark(",") }

// mark writes punctuation behind the last word of the sentence. Of two marks in a row the stronger stays.
func (r *reader) mark(m string) {
	r.doubtful = r.doubtful || r.opened > 0
	r.opened = 0
	n := len(r.out)
	if !r.said || r.join == glued {
		return
	}
	before := bytes.TrimRight(r.out, "\"')")
	endsInside := len(before) < n && parts(before) // the quote or the bracket has its own mark
	switch c := r.out[n-1]; {
	case c == '.' || c == '?' || c == '!', endsInside, bytes.HasSuffix(before, []byte("।")):
		// A sentence has ended here.
	case c == ',' || c == ';' || c == ':':
		stronger := m != "," && m != ";" && m != ":"
		if stronger && !(m[0] == '.' && wantsDot(r.out[:n-1])) {
			r.out = append(r.out[:n-1], m...)
		}
	case m[0] == '.' && wantsDot(r.out):
		// With the dot it would be said in full when it is read again.
	default:
		r.out = append(r.out, m...)
	}
	r.join = spaced
}

// wantsDot reports whether the last word of out is a short form that was kept as it is, having no dot.
func wantsDot(out []byte) bool {
	word := bytes.TrimLeft(out[bytes.LastIndexByte(out, ' ')+1:], "\"'(-")
	var buf [24]byte
	low, _ := fold(buf[:0], string(word))
	e := vocabulary[string(low)]
	return e != nil && e.is(needsDot|dotOrTitle) && !e.groups.has(alsoWord)
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

// endLine ends the sentence before a new line, unless punctuation ends it already.
func (r *reader) endLine() {
	if before := bytes.TrimRight(r.out, "\"')"); len(before) > 0 && !parts(before) {
		r.said, r.join = true, spaced
		if r.endMark == "." && wantsDot(before) {
			r.pause() // a dot would make a short form of it
			return
		}
		r.mark(r.endMark)
	}
}
