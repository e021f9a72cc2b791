package normalize

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/swar-tts/swar/runtime/normalize/internal/rules"
	"github.com/swar-tts/swar/runtime/normalize/internal/text"
	"github.com/swar-tts/swar/runtime/normalize/internal/words"
	"github.com/swar-tts/swar/runtime/speech"
)

// Why explains why a text is read as it is.
type Why struct {
	Message   WhyMessage    `json:"message"`
	Sentences []WhyLanguage `json:"sentences"` // in order
	Pieces    []WhyPiece    `json:"pieces"`    // what was rewritten, in order

	written []rune
	message Message
}

// WhyMessage is the language and the case of the whole message, and the evidence for them.
type WhyMessage struct {
	Language   string `json:"language"` // empty: nothing in it has one, and numbers are Hindi
	Hindi      int    `json:"hindi"`    // sentences
	English    int    `json:"english"`  // sentences; more than Hindi ones make the message English
	InCapitals bool   `json:"in_capitals"`
	Upper      int    `json:"upper"` // words in capitals that are no acronyms
	Other      int    `json:"other"` // words with small letters

	// Words are those of the sentences in its language that decided these, each once, with the sum of its weights. The
	// first one weighs most.
	Words []WhyWord `json:"words"`
}

// WhyLanguage is the language of a sentence, and the words that decided it.
type WhyLanguage struct {
	Text       string    `json:"text"`
	Language   string    `json:"language"`
	Weight     int       `json:"weight"` // above 0 for Hindi
	InCapitals bool      `json:"in_capitals"`
	Words      []WhyWord `json:"words"`
}

// WhyWord is evidence for a language.
type WhyWord struct {
	Word     string `json:"word"`
	Evidence string `json:"evidence"`
	Weight   int    `json:"weight"` // above 0 for Hindi
}

// WhyPiece is a rewritten piece: the rule that read it and, of a code, what said that it is one.
type WhyPiece struct {
	Text   string          `json:"text"`
	Kind   speech.SpanKind `json:"kind"`
	Rule   string          `json:"rule"`
	Reason string          `json:"reason,omitempty"` // empty where the writing alone decides
	Also   []string        `json:"also,omitempty"`   // the rules that fit, too, and come later
}

// Explain reads written as [Text] does and says why. It is for people: what it says may change with each release.
func Explain(written string, o Options) Why {
	why := Why{Sentences: []WhyLanguage{}, Pieces: []WhyPiece{}} // not null in JSON
	why.Message.Words = []WhyWord{}
	why.written = []rune(strings.TrimFunc(written, unicode.IsSpace))
	r := newReader(words.Hindi, written, o, true)
	r.why = &why
	r.run()
	why.explainMessage()
	return why
}

// explainMessage says what the message has been found to be, by the words of the sentences that have been read.
func (why *Why) explainMessage() {
	m, w := &why.message, &why.Message
	w.Hindi, w.English, w.InCapitals = m.Hindi, m.English, m.Case() == UpperCase
	w.Upper, w.Other = m.capitals.Upper, m.capitals.Other
	switch m.Language() {
	case Hindi:
		w.Language = words.Hindi.Name
	case English:
		w.Language = words.English.Name
	}
	for _, s := range why.Sentences {
		if s.Language == w.Language {
			for _, e := range s.Words {
				w.add(e)
			}
		}
	}
	slices.SortStableFunc(w.Words, func(a, b WhyWord) int { return cmp.Compare(abs(b.Weight), abs(a.Weight)) })
}

// add adds evidence, to that of the same word if there is such.
func (w *WhyMessage) add(e WhyWord) {
	same := func(other WhyWord) bool { return other.Word == e.Word && other.Evidence == e.Evidence }
	if k := slices.IndexFunc(w.Words, same); k >= 0 {
		w.Words[k].Weight += e.Weight
		return
	}
	w.Words = append(w.Words, e)
}

func abs(n int) int { return max(n, -n) }

// explainWord notes that token j is evidence for a language.
func (r *reader) explainWord(j int, e text.Evidence) {
	w := text.LanguageWeights[e]
	r.whyWords = append(r.whyWords, WhyWord{r.Str(j), w.Name, w.Weight})
}

// explainSentence notes the language of the sentence that begins at token i.
func (r *reader) explainSentence(i int) {
	if r.why == nil {
		return
	}
	if r.whyWords == nil {
		r.whyWords = []WhyWord{}
	}
	s := WhyLanguage{Text: r.asWritten(i, r.Stop), Language: r.Lang.Name, InCapitals: r.UpperCase, Words: r.whyWords}
	for _, w := range s.Words {
		s.Weight += w.Weight
	}
	r.why.Sentences = append(r.why.Sentences, s)
	r.whyWords = nil
}

// explainPiece notes that the first of all rules reads tokens from i on, if it says anything else than they are, and
// which of the others would read them, too. It returns the reading.
func (r *reader) explainPiece(i int, reading rules.Reading, all []rules.Rule) rules.Reading {
	kind := reading.Say.Kind()
	if kind == "" {
		return reading
	}
	reading.Say = slices.Clone(reading.Say)
	piece := WhyPiece{Text: r.asWritten(i, reading.Next), Kind: kind, Rule: all[0].Name, Reason: reading.Say.Reason()}
	for _, other := range all[1:] {
		r.Reset()
		if _, ok := other.Try(&r.Reader, i); ok && !other.Last {
			piece.Also = append(piece.Also, other.Name)
		}
	}
	r.why.Pieces = append(r.why.Pieces, piece)
	return reading
}

// asWritten is what stands in the input for tokens i to next.
func (r *reader) asWritten(i, next int) string {
	return string(r.why.written[r.Toks[i].Src:r.Toks[next-1].End])
}
