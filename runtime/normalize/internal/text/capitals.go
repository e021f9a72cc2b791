package text

import (
	"github.com/swar-tts/swar/runtime/internal/pronounce"
	"github.com/swar-tts/swar/runtime/normalize/internal/words"
)

// SaidAsWord reports whether the capitals s, of which the vocabulary has e, are a word wherever they stand: NASA, PIN,
// SALE, VARSHA. Of three letters only known ones are, as most are acronyms.
func SaidAsWord(e *words.Entry, s string) bool {
	if e.Is(words.Initialism) || e.Chat != nil && e.Chat.Letters {
		return false
	}
	if e.IsAny(words.Spoken, words.Plain, words.HindiWord, words.EnglishWord, words.City) {
		return true
	}
	return (len(s) > 3 || pronounce.Known(s) == pronounce.Word) && pronounce.IsWord(s)
}

// IsPluralWord reports whether capitals are the plural of a common word: STORES.
func IsPluralWord(s string) bool {
	n := len(s) - 1
	return n >= 3 && s[n] == 'S' && (words.LookUp(s[:n]).Is(words.Plain) || pronounce.Known(s[:n]) == pronounce.Word)
}

// SaysWord reports whether token i is in capitals that are a word wherever they stand.
func (v *View) SaysWord(i int) bool {
	return v.At(i).InCapitals() && SaidAsWord(v.At(i).Word, v.Str(i))
}

// IsName reports whether the capitals at token i, which elsewhere would be spelled, are a word here: in a sentence in
// capitals, beside another word in capitals, or as the payee of a bank.
func IsName(v *View, i int) bool {
	s := v.Str(i)
	besideHindi := v.At(i).Gap && isCapitalHindi(v, i-1) || v.At(i+1).Gap && isCapitalHindi(v, i+1)
	amid := v.UpperCase || besideHindi
	if amid && v.At(i).Word.Is(words.HindiMaybe) || isShortWord(v, i) {
		return true
	}
	spelled := pronounce.Known(s) == pronounce.Letters || v.At(i).Word.Is(words.Initialism)
	if len(s) != 3 || spelled || !pronounce.Sayable(s) {
		return false
	}
	beside := v.At(i).Gap && IsCapitalName(v, i-1) || v.At(i+1).Gap && IsCapitalName(v, i+1)
	return v.UpperCase || beside || v.Reads(i-1, "to", "from", "at", "by") && movesMoney(v, i)
}

// isShortWord reports whether the capitals at token i are a short word that is an acronym elsewhere: IT IS, but the IT
// ACT.
func isShortWord(v *View, i int) bool {
	amid := v.UpperCase || v.IsWord(i-1, words.HindiWord) || v.IsWord(i+1, words.HindiWord)
	return amid && v.Reads(i, "IT", "US", "AM", "MAR")
}

// IsCapitalName reports whether token i is a word in capitals of a length that names have.
func IsCapitalName(v *View, i int) bool { return len(v.Str(i)) > 2 && v.SaysWord(i) }

// isCapitalHindi reports whether token i is in capitals and a Hindi word, or one that only a name or a Hindi word may
// be: ROTI, KHA.
func isCapitalHindi(v *View, i int) bool {
	t := v.At(i)
	if !t.InCapitals() || t.Word.IsAny(words.Initialism, words.EnglishWord) {
		return false
	}
	if t.Word.Is(words.HindiWord) {
		return true
	}
	s := v.Str(i)
	if pronounce.Known(s) != pronounce.Unknown || t.Word.Is(words.Plain) {
		return false
	}
	return t.Word.Is(words.HindiMaybe) || len(s) > 2 && pronounce.Sayable(s)
}

// movesMoney reports whether the sentence says close before token i that money went somewhere.
func movesMoney(v *View, i int) bool {
	for j := max(v.Start, i-Lookahead); j < i; j++ {
		if v.IsWord(j, words.Paid) || v.Reads(j, "sent", "Sent", "transferred", "spent", "Spent", "Paid", "Debited",
			"Credited") {
			return true
		}
	}
	return false
}

// Capitals counts the words of a text by their case.
type Capitals struct {
	Upper int // words in capitals that are no acronyms
	Other int // words with small letters
}

// Case is how a text is written.
type Case uint8

// The cases.
const (
	UnknownCase Case = iota // it has too few words in capitals to tell, and no other ones
	MixedCase               // such as most texts
	UpperCase
)

const (
	mostOther   = 4 // so many words in capitals to each other one make a text in capitals: YOUR CAB Ramesh
	fewestUpper = 2 // words in capitals that make one
)

// Case is that of a message.
func (c Capitals) Case() Case {
	switch {
	case c.Other*mostOther > c.Upper:
		return MixedCase
	case c.Upper >= fewestUpper:
		return UpperCase
	}
	return UnknownCase
}

// IsUpper reports whether a sentence is in capitals: by its own words, or by those of its message where some of both
// cases, or hardly any at all, stand in it.
func (c Capitals) IsUpper(message Case) bool {
	switch {
	case c.Other > c.Upper:
		return false
	case c.Other == 0 && c.Upper >= fewestUpper:
		return true
	}
	return message == UpperCase
}

// Add adds the words of another text.
func (c *Capitals) Add(other Capitals) { c.Upper, c.Other = c.Upper+other.Upper, c.Other+other.Other }

// count adds token j, a word in Latin letters. What may be an acronym does not count, nor what reading puts in: a text
// has the same case when it has been read.
func (c *Capitals) count(v *View, j int, hasLanguage bool) {
	t := &v.Toks[j]
	switch {
	case t.B-t.A < 2:
	case t.Cas != words.Upper:
		if hasLanguage && !t.Word.Is(words.Expansion) {
			c.Other++
		}
	case t.B-t.A > 2 && !t.Word.Is(words.Initialism) && pronounce.IsWord(v.Str(j)),
		t.Word.IsAny(words.HindiWord, words.HindiMaybe, words.EnglishWord):
		c.Upper++
	}
}

// saidByLetters reports whether token j is short and in capitals, and no word.
func saidByLetters(v *View, j int) bool {
	t := &v.Toks[j]
	if t.Cas != words.Upper {
		return false
	}
	n := t.B - t.A
	return n <= 2 && !t.Word.Is(words.EnglishWord) || n <= 6 && !SaidAsWord(t.Word, v.Str(j))
}
