package normalize

import "strings"

// evidence is something in a sentence that speaks for one of its languages.
type evidence uint8

const (
	devanagariWord evidence = iota
	devanagariDigits
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
	name   string
	weight int
}

// languageWeights says how much each piece of evidence weighs. A sentence is Hindi when the sum is above 0, or when nothing in it has
// a language. Function words weigh most, because nobody borrows them; a capitalised Hindi word is hardly more than the name of a firm.
var languageWeights = [evidences]weigh{
	devanagariWord:      {"a word in Devanagari", 48},
	devanagariDigits:    {"digits of Devanagari", 24},
	functionWord:        {"a Hindi function word", 16},
	inflectedVerb:       {"a Hindi verb", 12},
	commonWord:          {"a Hindi word", 8},
	sharedWord:          {"a word that Hindi shares with English", 4},
	nameWord:            {"a name with a Hindi word", 3},
	englishFunctionWord: {"an English function word", -6},
	englishContentWord:  {"an English word", -2},
}

// isHome decides by the evidence found in a sentence whether it is Hindi, not English; unknown is how many words say nothing about it.
func isHome(found *[evidences]int, weights *[evidences]weigh, unknown int) bool {
	sum, worded := 0, unknown
	for e, n := range found {
		sum += n * weights[e].weight
		if weights[e].weight < 0 {
			worded += n
		}
	}
	return sum > 0 || sum == 0 && worded == 0
}

// tally is the evidence of a sentence, as far as it has been read.
type tally struct {
	found   [evidences]int
	unknown int  // words that say nothing
	words   int  // words of any kind
	named   bool // the capitalised words in front have a Hindi one, and weigh once
}

// weigh adds token j to t.
func (r *reader) weigh(j int, t *tally) {
	e, said, word := r.evidenceAt(j, t.words == 0)
	if r.toks[j].kind != latin || r.toks[j].cas != title {
		t.named = false
	}
	again := said && e == nameWord && t.named
	switch {
	case again:
	case said:
		t.found[e]++
		t.named = t.named || e == nameWord
		r.explainWord(j, e)
	case word:
		t.unknown++
	}
	if r.toks[j].kind.lettered() {
		t.words++
	}
}

// evidenceAt tells what token j says about the language of its sentence; said is false for a word that says nothing, and word for
// what is no word of a language at all. first means that no word stands before it.
func (r *reader) evidenceAt(j int, first bool) (e evidence, said, word bool) {
	t := &r.toks[j]
	switch t.kind {
	case deva:
		return devanagariWord, !t.word.is(digitName), false
	case digits:
		return devanagariDigits, t.hindi, false
	case latin:
		switch {
		case r.tight(j) && r.at(j-1).kind == digits && romanEndings[r.str(j)] != "":
			return commonWord, true, true // 19vi sadi
		case t.saidByLetters(), r.symbol(j), r.inAddressBlob(j):
			return 0, false, false // initials, units and currencies belong to no language
		case r.initial(j), r.isSpacedInitial(j):
			return 0, false, false
		case r.reads(j, "the") && r.endsClause(j+1):
			return functionWord, true, true // थे
		case r.in(j, tagWord) && r.isSign(j-1, ',') && r.endsClause(j+1):
			return 0, false, false // Turning 30 today, na?
		case r.reads(j, "h") && r.isWord(j-1, hindiWord|hindiMaybe):
			return functionWord, true, true // which will be hai
		case t.word.is(hindiWord):
			return r.hindiEvidence(j, first), true, true
		case t.word.is(hindiMaybe):
			return sharedWord, true, true
		case t.word.is(englishWord) && !r.letterOfStroke(j):
			return englishFunctionWord, true, true
		case r.isEnglishContent(j) || first && t.isPlainTitle():
			return englishContentWord, true, true
		}
		return 0, false, true
	}
	return 0, false, false
}

// isPlainTitle reports whether t is a common word with a capital, and not one that a rule may have put there.
func (t *token) isPlainTitle() bool {
	return t.cas == title && t.word.is(plain) && !t.word.is(expansion)
}

// hindiEvidence weighs the Roman Hindi word at token j: in capitals inside a sentence, or before another capital, it is a name.
func (r *reader) hindiEvidence(j int, first bool) evidence {
	t := &r.toks[j]
	next := r.at(j + 1)
	beforeName := next.kind == latin && next.cas == title && !next.word.is(shortened)
	if t.cas == title && (!first || beforeName) {
		return nameWord
	}
	switch {
	case t.word.is(hindiFunction):
		return functionWord
	case t.word.is(hindiVerb):
		return inflectedVerb
	}
	return commonWord
}

// isEnglishContent reports whether token j is a word in small letters that only English has. The words that short forms and
// numbers become say nothing, so that a text that was read before keeps its language.
func (r *reader) isEnglishContent(j int) bool {
	t := &r.toks[j]
	if t.cas != lower || t.word.is(expansion) {
		return false
	}
	return t.word.is(plain) || hasEnglishEnding(r.str(j))
}

// letterOfStroke reports whether token j is a letter of A/c, W/o and their like.
func (r *reader) letterOfStroke(j int) bool {
	return r.single(j) && (r.tightSign(j+1, '/') || r.tight(j) && r.isSign(j-1, '/'))
}

// englishEndings are endings that hardly any word of Roman Hindi has.
var englishEndings = [...]string{"ed", "ing", "tion", "ment", "ly", "ies", "'s", "ness", "ers", "ents", "ence", "ance", "able", "ity", "ous", "ful", "ship", "less"}

func hasEnglishEnding(s string) bool {
	for _, e := range englishEndings {
		if n := len(s) - len(e); n >= 3 && s[n:] == e {
			return true
		}
	}
	n := len(s)
	return n >= 4 && s[n-1] == 's' && strings.IndexByte("bcdfgklmnprtwxye", s[n-2]) >= 0 // books, cases; but paas, khus
}
