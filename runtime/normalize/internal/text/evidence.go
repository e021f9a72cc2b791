package text

import (
	"strings"

	"github.com/swar-tts/swar/runtime/normalize/internal/words"
)

// Evidence is something in a sentence that speaks for one of its languages.
type Evidence uint8

// The kinds of evidence.
const (
	DevanagariWord Evidence = iota
	DevanagariDigits
	functionWord
	inflectedVerb
	commonWord
	sharedWord
	nameWord
	englishFunctionWord
	englishContentWord
	evidences // how many there are
)

// weigh is one kind of evidence: what it weighs for Hindi, less than 0 for English.
type weigh struct {
	Name   string
	Weight int
}

// LanguageWeights says how much each piece of evidence weighs. A sentence is Hindi when the sum is above 0, or when
// nothing in it has a language. Function words weigh most, because nobody borrows them; a capitalised Hindi word is
// hardly more than the name of a firm.
var LanguageWeights = [evidences]weigh{
	DevanagariWord:      {"a word in Devanagari", 48},
	DevanagariDigits:    {"digits of Devanagari", 24},
	functionWord:        {"a Hindi function word", 16},
	inflectedVerb:       {"a Hindi verb", 12},
	commonWord:          {"a Hindi word", 8},
	sharedWord:          {"a word that Hindi shares with English", 4},
	nameWord:            {"a name with a Hindi word", 3},
	englishFunctionWord: {"an English function word", -6},
	englishContentWord:  {"an English word", -2},
}

// IsHome decides by the evidence found in a sentence whether it is Hindi, not English; unknown is how many words say
// nothing about it.
func IsHome(found *[evidences]int, weights *[evidences]weigh, unknown int) bool {
	sum, worded := 0, unknown
	for e, n := range found {
		sum += n * weights[e].Weight
		if weights[e].Weight < 0 {
			worded += n
		}
	}
	return sum > 0 || sum == 0 && worded == 0
}

// Lean is 1 where the evidence found is for Hindi, -1 where it is for English, and 0 where there is none or it is even.
func Lean(found *[evidences]int, weights *[evidences]weigh) int {
	sum := 0
	for e, n := range found {
		sum += n * weights[e].Weight
	}
	return min(max(sum, -1), 1)
}

// Tally is the evidence of a sentence, as far as it has been read.
type Tally struct {
	Found   [evidences]int
	Unknown int // words that say nothing
	words   int // words of any kind
	Case    Capitals
	named   bool                    // the capitalised words in front have a Hindi one, and weigh once
	Note    func(j int, e Evidence) // nil unless somebody asks why
}

// weighWord adds token j to t.
func weighWord(v *View, j int, t *Tally) {
	e, said, word := evidenceAt(v, j, t.words == 0)
	if v.Toks[j].Kind == Latin {
		t.Case.count(v, j, said || word)
	}
	if v.Toks[j].Kind != Latin || v.Toks[j].Cas != words.Title {
		t.named = false
	}
	again := said && e == nameWord && t.named
	switch {
	case again:
	case said:
		t.Found[e]++
		t.named = t.named || e == nameWord
		if t.Note != nil {
			t.Note(j, e)
		}
	case word:
		t.Unknown++
	}
	if v.Toks[j].Kind.Lettered() {
		t.words++
	}
}

// evidenceAt returns the evidence of token j for the language of its sentence; said is false for a word that has none,
// and word for what is no word of a language at all. first means that no word stands before it.
func evidenceAt(v *View, j int, first bool) (e Evidence, said, word bool) {
	t := &v.Toks[j]
	switch t.Kind {
	case Deva:
		return DevanagariWord, !t.Word.Is(words.DigitName), false
	case Digits:
		return DevanagariDigits, t.hindi, false
	case Latin:
		return latinEvidence(v, j, first)
	}
	return 0, false, false
}

// latinEvidence is [evidenceAt] for a word in Latin letters.
func latinEvidence(v *View, j int, first bool) (e Evidence, said, word bool) {
	t := &v.Toks[j]
	switch {
	case v.Tight(j) && v.At(j-1).Kind == Digits && RomanEndings[v.Str(j)] != "":
		return commonWord, true, true // 19vi sadi
	case hasNoLanguage(v, j):
		return 0, false, false
	case v.Reads(j, "the") && EndsClause(v, j+1):
		return functionWord, true, true // थे
	case v.In(j, words.TagWord) && v.IsSign(j-1, ',') && EndsClause(v, j+1):
		return 0, false, false // Turning 30 today, na?
	case v.Reads(j, "h") && v.IsAnyWord(j-1, words.HindiWord, words.HindiMaybe):
		return functionWord, true, true // which will be hai
	case t.Word.Is(words.HindiWord):
		return hindiEvidence(v, j, first), true, true
	case t.Word.Is(words.HindiMaybe):
		return sharedWord, true, true
	case t.Word.Is(words.EnglishWord) && !letterOfStroke(v, j):
		return englishFunctionWord, true, true
	case isEnglishContent(v, j) || first && t.isPlainTitle():
		return englishContentWord, true, true
	}
	return 0, false, true
}

// isPlainTitle reports whether t is a common word with a capital, and not one that a rule may have put there.
func (t *Token) isPlainTitle() bool {
	return t.Cas == words.Title && t.Word.Is(words.Plain) && !t.Word.Is(words.Expansion)
}

// hindiEvidence weighs the Roman Hindi word at token j: in capitals inside a sentence, or before another capital, it is
// a name.
func hindiEvidence(v *View, j int, first bool) Evidence {
	t := &v.Toks[j]
	next := v.At(j + 1)
	beforeName := next.Kind == Latin && next.Cas == words.Title && !next.Word.Is(words.Shortened)
	if t.Cas == words.Title && (!first || beforeName) {
		return nameWord
	}
	switch {
	case t.Word.Is(words.HindiFunction):
		return functionWord
	case t.Word.Is(words.HindiVerb):
		return inflectedVerb
	}
	return commonWord
}

// isEnglishContent reports whether token j is a word in small letters that only English has. The words that short forms
// and numbers become say nothing, so that a text that was read before keeps its language.
func isEnglishContent(v *View, j int) bool {
	t := &v.Toks[j]
	if t.Cas != words.Lower || t.Word.Is(words.Expansion) {
		return false
	}
	return t.Word.Is(words.Plain) || hasEnglishEnding(v.Str(j))
}

// letterOfStroke reports whether token j is a letter of A/c, W/o and their like.
func letterOfStroke(v *View, j int) bool {
	return v.Single(j) && (v.TightSign(j+1, '/') || v.Tight(j) && v.IsSign(j-1, '/'))
}

// englishEndings are endings that hardly any word of Roman Hindi has.
var englishEndings = [...]string{"ed", "ing", "tion", "ment", "ly", "ies", "'s", "ness", "ers", "ents", "ence", "ance",
	"able", "ity", "ous", "ful", "ship", "less"}

func hasEnglishEnding(s string) bool {
	for _, e := range englishEndings {
		if n := len(s) - len(e); n >= 3 && s[n:] == e {
			return true
		}
	}
	n := len(s)
	return n >= 4 && s[n-1] == 's' && strings.IndexByte("bcdfgklmnprtwxye", s[n-2]) >= 0 // books, cases; but paas, khus
}

// inAddress reports whether the word at token j is part of an e-mail or a web address, which has no language.
func inAddress(v *View, j int) bool {
	b := v.Toks[j].Run
	if b&(HasAt|HasSlashes) != 0 {
		return true
	}
	if b&hasDot == 0 {
		return false
	}
	before := v.TightSign(j+1, '.') && v.Tight(j+2) && v.At(j+2).Kind == Latin
	behind := v.Tight(j) && v.IsSign(j-1, '.')
	return before || behind
}

// hasNoLanguage reports whether the word at token j is of a formula, an address, a unit or a currency, or stands for
// letters.
func hasNoLanguage(v *View, j int) bool {
	if isOrdinary(v, j) {
		return false
	}
	if v.Toks[j].Part.IsMaths() || saidByLetters(v, j) || isSymbol(v, j) {
		return true
	}
	logarithm := v.Reads(j, "log") && (v.TightDigits(j+1) || v.TightSign(j+1, '('))
	if logarithm || isOptionLetter(v, j) {
		return true
	}
	return inAddress(v, j) || IsInitial(v, j) || IsSpacedInitial(v, j)
}

// isOrdinary reports whether token j is a word of several small letters between two other words, apart from both.
func isOrdinary(v *View, j int) bool {
	t := &v.Toks[j]
	isPlain := t.Cas == words.Lower && t.B-t.A > 1 && t.Part == InText && t.Run == 0
	if !isPlain || !t.Gap || !v.At(j+1).Gap || t.Word.Currency > 0 {
		return false
	}
	return v.At(j-1).isWordOrNothing() && v.At(j+1).isWordOrNothing()
}

func (t *Token) isWordOrNothing() bool { return t.Kind == Nothing || t.Kind.Lettered() }

// isOptionLetter reports whether token j is the letter of an answer to choose: (A), b).
func isOptionLetter(v *View, j int) bool {
	if !v.Single(j) || !v.TightSign(j+1, ')') {
		return false
	}
	return v.Toks[j].Gap || v.IsSign(j-1, '(') && v.At(j-1).Gap
}
