package normalize

import "github.com/swar-tts/swar/runtime/speech"

// Why tells how a text came to be read as it is.
type Why struct {
	Sentences []WhyLanguage // in order
	Pieces    []WhyPiece    // what was rewritten, in order
}

// WhyLanguage is the language of a sentence, and what spoke for it.
type WhyLanguage struct {
	Text     string
	Language string
	Weight   int // above 0 for Hindi
	Words    []WhyWord
}

// WhyWord is a word that speaks for a language.
type WhyWord struct {
	Word     string
	Evidence string
	Weight   int // above 0 for Hindi
}

// WhyPiece is a rewritten piece: the rule that read it and, of a code, what said that it is one.
type WhyPiece struct {
	Text   string
	Kind   speech.SpanKind
	Rule   string
	Reason string // empty where the writing alone decides
}

// Explain reads written as [Text] does and tells why. It is for people: what it says may change with each release.
func Explain(written string, o Options) Why {
	var why Why
	r := newReader(hindi, written, o, true)
	r.why = &why
	r.run()
	return why
}

// explainWord notes that token j speaks for a language.
func (r *reader) explainWord(j int, e evidence) {
	if r.why == nil {
		return
	}
	w := languageWeights[e]
	r.whyWords = append(r.whyWords, WhyWord{r.str(j), w.name, w.weight})
}

// explainSentence notes the language of the sentence that begins at token i.
func (r *reader) explainSentence(i int) {
	if r.why == nil {
		return
	}
	s := WhyLanguage{Text: r.between(i, r.stop), Language: r.lang.name, Words: r.whyWords}
	for _, w := range s.Words {
		s.Weight += w.Weight
	}
	r.why.Sentences = append(r.why.Sentences, s)
	r.whyWords = nil
}

// explainPiece notes that rule read tokens i to next, if it wrote anything else than they are.
func (r *reader) explainPiece(i, next, pieces int, rule string) {
	if r.why == nil || len(r.pieces) == pieces {
		return
	}
	p := r.pieces[len(r.pieces)-1]
	r.why.Pieces = append(r.why.Pieces, WhyPiece{r.between(i, next), p.kind, rule, r.reason})
}
