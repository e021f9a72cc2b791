package normalize

import (
	"strings"
	"unicode"

	"github.com/swar-tts/swar/runtime/normalize/internal/text"
	"github.com/swar-tts/swar/runtime/normalize/internal/words"
)

// The languages of a message, as [Options.Language] has them.
const (
	Hindi   = "hi"
	English = "en"
)

// Message is how many sentences of a message are in which language. A message that comes in pieces adds each before
// that is read.
type Message struct{ Hindi, English int }

// Add adds the sentences of written. Those in which nothing has a language, such as ₹500, -SBI and Zomato, do not
// count.
func (m *Message) Add(written string) {
	r := new(reader)
	r.wire()
	r.Home = words.Hindi
	r.Text, r.Toks, _ = text.Scan(strings.TrimFunc(written, unicode.IsSpace))
	text.LookUpTokens(r.Text, r.Toks)
	r.countFrom(1, m)
}

// countFrom adds to m the sentences from token i on, none of which has been read.
func (r *reader) countFrom(i int, m *Message) {
	for i < len(r.Toks)-1 {
		var t text.Tally
		i = r.weigh(i, &t)
		m.count(&t)
	}
}

// weigh looks at the sentence that begins at token i, and returns where it ends.
func (r *reader) weigh(i int, t *text.Tally) int {
	r.Start, r.Stop = i, r.line(i)
	r.Toks[i].Gap = true
	return text.WeighSentence(&r.View, i, t)
}

// count adds a sentence.
func (m *Message) count(t *text.Tally) {
	switch text.Lean(&t.Found, &text.LanguageWeights) {
	case 1:
		m.Hindi++
	case -1:
		m.English++
	}
}

// Language is that of the message as far as it is known: Hindi, unless more of its sentences are English; "" while none
// has a language.
func (m *Message) Language() string {
	switch {
	case m.English > m.Hindi:
		return English
	case m.Hindi > 0:
		return Hindi
	}
	return ""
}

// LanguageOf is the language of a whole message, "" if nothing in it has one.
func LanguageOf(written string) string {
	var m Message
	m.Add(written)
	return m.Language()
}

// survey finds the language of the message by all sentences of the text, of which the first has been weighed and none
// has been read: rules change the tokens that they read. It leaves the present sentence what it is.
func (r *reader) survey(first *text.Tally, next int) {
	r.surveyed = true
	if r.opt.Language != "" || next == len(r.Toks)-1 {
		return
	}
	var m Message
	m.count(first)
	start, stop, lineStop := r.Start, r.Stop, r.lineStop
	r.countFrom(next, &m)
	r.Start, r.Stop, r.lineStop = start, stop, lineStop
	r.opt.Language = m.Language()
}

// language is that of the present sentence, by what has been found in it. One of numbers, signs and acronyms alone
// takes that of its message, and is Hindi where that has none either. Words that the vocabulary does not know, such as
// names and lines of code, are English.
func (r *reader) language(t *text.Tally) words.Lang {
	home := text.IsHome(&t.Found, &text.LanguageWeights, t.Unknown)
	if t.Silent() {
		home = r.opt.Language != English
	}
	if home {
		return r.Home
	}
	return words.English
}
