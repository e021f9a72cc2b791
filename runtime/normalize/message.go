package normalize

import (
	"cmp"
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

// The cases of a message, as [Options.Case] has them.
const (
	UpperCase = "upper"
	MixedCase = "mixed"
)

// Message counts what decides the language and the case of a message. A message that comes in pieces adds each piece
// before that is read.
type Message struct {
	Hindi, English int // sentences

	capitals text.Capitals
}

// MessageOf counts the sentences and words of a whole message.
func MessageOf(written string) Message {
	var m Message
	m.Add(written)
	return m
}

// Add adds the sentences and words of written. Sentences in which nothing has a language, such as ₹500, -SBI and
// Zomato, do not count.
func (m *Message) Add(written string) {
	r := new(reader)
	r.wire()
	r.Home = words.Hindi
	r.Text, r.Toks, _ = text.Scan(strings.TrimFunc(written, unicode.IsSpace))
	text.LookUpTokens(r.Text, r.Toks)
	r.countFrom(1, m)
}

// countFrom adds to m the sentences from token i on, before any of them is read.
func (r *reader) countFrom(i int, m *Message) {
	for i < len(r.Toks)-1 {
		var t text.Tally
		i = r.weigh(i, &t)
		m.count(&t)
	}
}

// weigh adds the words of the sentence that begins at token i to t, and returns where it ends.
func (r *reader) weigh(i int, t *text.Tally) int {
	r.Start, r.Stop = i, r.line(i)
	r.Toks[i].Gap = true
	return text.WeighSentence(&r.View, i, t)
}

// count adds a sentence.
func (m *Message) count(t *text.Tally) {
	m.capitals.Add(t.Case)
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

// Case is [UpperCase] if four of five words are in capitals, two at least, and [MixedCase] if more of them are not; ""
// while there are too few words to tell. Acronyms do not count.
func (m *Message) Case() string {
	switch m.capitals.Case() {
	case text.UpperCase:
		return UpperCase
	case text.MixedCase:
		return MixedCase
	}
	return ""
}

// In returns o for a piece of m. What o says of the message stays.
func (o Options) In(m *Message) Options {
	o.Language, o.Case = cmp.Or(o.Language, m.Language()), cmp.Or(o.Case, m.Case())
	return o
}

// survey finds the language and the case of the message by all sentences of the text. The first of them has been
// weighed, and none has been read, because rules change the tokens that they read. The present sentence stays what it
// is.
func (r *reader) survey(first *text.Tally, next int) {
	r.surveyed = true
	if r.opt.Language != "" && r.opt.Case != "" {
		return
	}
	var m Message
	m.count(first)
	start, stop, lineStop := r.Start, r.Stop, r.lineStop
	r.countFrom(next, &m)
	r.Start, r.Stop, r.lineStop = start, stop, lineStop
	if r.why != nil {
		r.why.message = m
	}
	r.opt = r.opt.In(&m)
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
