// Package words loads the words of both languages from tables: their classes, short forms, units, money, and the names
// of numbers, letters, months and days.
//
// A row of tables/*.tsv adds a word. [Load] names the file and the line of a wrong row.
package words

import (
	"embed"
	"io/fs"
)

// Entry is what the tables know of a word.
type Entry struct {
	classes Set
	N       int    // the number of a month, a weekday or a scale
	Full    string // what a short form says; "" for one that only loses its dot
	Chat    *Chat  // of a chat spelling
	Beside  []Form // of a word that is short beside some neighbours; the first that fits wins

	Currency int  // the place of the currency whose code it is, 0 for none
	Listed   bool // it is a short form, a month, a weekday, a scale or a currency
}

// Chat is a word as chats spell it: krna for karna. It weighs for the language what the whole word does.
// It is written without a dot, so a full stop behind it ends the sentence.
type Chat struct {
	Full    string
	Letters bool // in capitals it is letters: the SB account
}

// Form is what a word says beside some neighbours.
type Form struct {
	Full          string
	Before, After Neighbours
	When          []string // conditions, all of which hold
}

// Neighbours are the words that may stand beside a form; an empty value means any.
type Neighbours struct {
	Classes []Class
	Words   []string // as they are written
}

// IsAny reports whether the word is of one of the classes.
func (e *Entry) IsAny(classes ...Class) bool {
	for _, c := range classes {
		if e.classes.Has(c) {
			return true
		}
	}
	return false
}

// Classes are the classes of the word.
func (e *Entry) Classes() (classes []Class) {
	for c := range classCount {
		if e.classes.Has(c) {
			classes = append(classes, c)
		}
	}
	return classes
}

// Unknown is the entry of all other words.
var Unknown Entry

// Vocabulary is what the tables say. It is not changed any more once texts are read.
type Vocabulary struct {
	entries map[string]*Entry
	dotted  map[string]string // short forms with dots, by their letters: e.g., w.r.t.
	stroked map[string]string // two letters with a stroke between them: A/c
	figured map[string]string // words with figures for syllables: gr8
	named   map[string]string // numbers of names: T20
	written map[string]*Entry // words as they are written
	measures
	languages
}

// All yields all words in lower case and their entries, in any order.
func (v *Vocabulary) All(yield func(string, *Entry) bool) {
	for w, e := range v.entries {
		if !yield(w, e) {
			return
		}
	}
}

//go:embed tables/*.tsv
var tables embed.FS

// Tables are the files of this package.
func Tables() fs.FS { return tables }

// vocabulary is what the tables say. It is loaded when the program starts: whatever reads text needs it, and it takes
// less than a start takes anyway.
var vocabulary = mustLoad()

func mustLoad() *Vocabulary {
	v, err := Load(tables)
	if err != nil {
		panic("words: " + err.Error())
	}
	return v
}

// Current is the vocabulary in which words are looked up.
func Current() *Vocabulary { return vocabulary }

// Use looks words up in v from now on. It is for tests of rows that no table has; nobody may be reading meanwhile.
func Use(v *Vocabulary) {
	vocabulary = v
	v.measures.use()
	v.languages.use()
}

func init() { Use(vocabulary) }

// LookUp finds a word however it is written.
func LookUp(w string) *Entry {
	var buf [32]byte
	low, _ := Fold(buf[:0], w)
	return LookUpLower(low)
}

// LookUpLower finds a word in lower case.
func LookUpLower(low []byte) *Entry {
	if e := vocabulary.entries[string(low)]; e != nil {
		return e
	}
	return &Unknown
}

// LookUpDevanagari finds a word in Devanagari.
func LookUpDevanagari(w string) *Entry {
	if e := vocabulary.entries[w]; e != nil {
		return e
	}
	return &Unknown
}

// LookUpWritten finds a word that is known as it is written: NDLS, MH, pdf.
func LookUpWritten(w string) *Entry {
	if e := vocabulary.written[w]; e != nil {
		return e
	}
	return &Unknown
}

// Dotted is what a short form with dots says, by its letters in lower case; "" for none.
func Dotted(low []byte) string { return vocabulary.dotted[string(low)] }

// Stroked is what two letters with a stroke between them say, in lower case; "" for none.
func Stroked(low string) string { return vocabulary.stroked[low] }

// Named is how Hindi writes the English number of a name, T20; "" for none.
func Named(name []byte) string { return vocabulary.named[string(name)] }

// Figured is what a word with figures for syllables says, by its writing in lower case; "" for none.
func Figured(low []byte) string { return vocabulary.figured[string(low)] }

// MayHaveDot reports whether the word is known to be written with a dot behind it.
func (e *Entry) MayHaveDot() bool {
	return e.IsAny(Shortened, Month, Meridiem) || len(e.Beside) > 0 || e.Chat != nil
}

// LetterCase is how a Latin word is written.
type LetterCase uint8

// How a word may be written.
const (
	Lower LetterCase = iota
	Title            // Word
	Upper            // WORD, or a single capital
	Mixed            // anything else
)

// Fold appends w in lower case to buf, as far as its letters are ASCII and there is room, and returns the case of w:
// "SALE" → "sale", Upper.
func Fold(buf []byte, w string) ([]byte, LetterCase) {
	ups, lows, first := 0, 0, false
	for i := range len(w) {
		c := w[i]
		switch {
		case 'A' <= c && c <= 'Z':
			ups++
			first = first || i == 0
			c += 'a' - 'A'
		case 'a' <= c && c <= 'z', c >= 0x80:
			lows++
		}
		if len(buf) < cap(buf) {
			buf = append(buf, c)
		}
	}
	switch {
	case ups == 0:
		return buf, Lower
	case lows == 0:
		return buf, Upper
	case first && ups == 1:
		return buf, Title
	}
	return buf, Mixed
}

// ScaleWords are the named powers of ten; the n of their words is the place here. Place 0 stands for none.
var ScaleWords = [...]struct {
	Power   int
	Quarter bool // Hindi says डेढ़ and ढाई before it
}{
	{},
	{2, true},   // hundred
	{3, true},   // thousand
	{5, true},   // lakh
	{7, true},   // crore
	{9, false},  // arab
	{11, false}, // kharab
	{6, false},  // million
	{9, false},  // billion
	{12, false}, // trillion
}

// Trillions is the place of trillion in scaleWords.
const Trillions = 9

// Lakhs is the place of lakh in scaleWords.
const Lakhs = 3
