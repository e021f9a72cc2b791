package normalize

import (
	"github.com/swar-tts/swar/runtime/normalize/internal/text"
	"github.com/swar-tts/swar/runtime/normalize/internal/words"
)

// sentence finds the end of the sentence that begins at token i, and its language. What is read depends on nothing
// outside its sentence but the language of the message, so a text may be cut at sentence ends where that goes along
// ([Options.Language]).
func (r *reader) sentence(i int) {
	var t text.Tally
	if r.why != nil {
		t.Note = r.explainWord
	}
	end := r.weigh(i, &t)
	if !r.surveyed {
		r.survey(&t, end)
	}
	// digit names alone do not make it Hindi: an English one has them too once its codes have been read
	l := r.language(&t)
	r.speak(l)
	r.writer.BeginSentence(t.Found[text.DevanagariWord] > 0 ||
		l == r.Home && t.Wordless() && t.Found[text.DevanagariDigits] == 0)
	r.Stop = end
	r.UpperCase = t.Case.IsUpper(r.messageCase())
	r.explainSentence(i)
}

// speak sets the language that is spoken from here on.
func (r *reader) speak(l words.Lang) { r.Lang, r.English = l, l == words.English }

// messageCase is [Options.Case].
func (r *reader) messageCase() text.Case {
	if r.opt.Case == UpperCase {
		return text.UpperCase
	}
	return text.MixedCase
}
