package text

import (
	"strings"

	"github.com/swar-tts/swar/runtime/normalize/internal/words"
)

// OpensNumber reports whether the number of a currency can begin with t: ₹500, ₹.50, ₹-500, ₹½.
func (t *Token) OpensNumber() bool {
	return t.Kind == Digits || t.IsVulgarFraction() || t.IsOneOf(Hyphens+".")
}

// Kind is what a token is made of.
type Kind uint8

// The kinds of tokens.
const (
	Nothing  Kind = iota // before the first token and behind the last
	Latin                // a word in Latin letters
	Deva                 // a word in Devanagari
	Foreign              // a word in another script
	Digits               // a run of digits, ASCII by now
	Sign                 // one sign or punctuation mark
	Emoji                // a run of pictures
	SignWord             // a word that a sign of a formula or a mark says, and no text: Token.Ch is a [markup.Word]
)

// runMark is something that stands in the same run without white space.
type runMark uint8

// Token is the smallest unit that rules look at.
type Token struct {
	Kind  Kind
	Cas   words.LetterCase
	Run   runMark
	Ch    byte // of a sign: its ASCII character, or one of the marks below
	Gap   bool // white space stands before it
	hard  bool // and it is one that does not break, as between the groups of a number
	Line  bool // a new line stands before it
	hindi bool // digits that were written in Devanagari
	Low   bool // digits that stand lowered: the ₂ of H₂O
	Put   bool // a guide has put it in, so that it says nothing about the language of its sentence
	Part  Part
	Word  *words.Entry
	A, B  int32 // bytes in the clean text
	Src   int32 // code points in the trimmed input
	End   int32

	MarkupFrom, MarkupTo int32 // the silent markup in front, in code points of the input; MarkupTo is 0 for none
}

// Marks of signs that have no ASCII character. They stay below ' ', so that they collide with none that has.
const (
	Danda byte = iota + 1
	rupee
	euro
	pound
	yen
	won
	lira
	taka
	MinusSign // − as printed, which is nothing else
	Degree
	EnDash // en dash and the other short ones
	EmDash
	Ellipsis
	Multiply
	Half // vulgar fractions
	Quarter
	ThreeQuarters
	Squared
	Cubed
	PlusMinus
	Divide
	Approx
	NotEqual
	LessEqual
	GreaterEqual
	Arrow
	Bullet
	Star
	Root
	Raised // before the figures of 10⁻⁷, which stand raised
	Silent // any other sign: nobody says it
)

// Marks of signs that are rarer. No byte of ASCII is as large.
const (
	cent byte = 0x80 + iota
	naira
	perMille
	baht
	pesoSign
	dongSign
	rubleSign
	shekelSign
	hryvniaSign
	tengeSign
	cediSign
	kipSign
	tugrikSign
	manatSign
	lariSign
	guaraniSign
	colonSign
	afghaniSign
	rielSign
	dramSign
	bitcoinSign
)

// All marks of the first kind fit below the first printable character.
const _ = uint(' ' - Silent)

// Signs that are written for one another, as sets for [token.isOneOf].
const (
	Hyphens = "-" + string(rune(EnDash)) + string(rune(MinusSign))
	Dashes  = Hyphens + string(rune(EmDash))
	Dots    = "." + string(rune(Ellipsis))
)

// IsOneOf reports whether t is one of the signs.
func (t *Token) IsOneOf(signs string) bool {
	return t.Kind == Sign && strings.IndexByte(signs, t.Ch) >= 0
}

// IsCurrency reports whether t is the sign of a currency.
func (t *Token) IsCurrency() bool { return t.Kind == Sign && SignCurrency(t.Ch) > 0 }

// IsVulgarFraction reports whether t is ½, ¼ or ¾.
func (t *Token) IsVulgarFraction() bool {
	return t.Kind == Sign && Half <= t.Ch && t.Ch <= ThreeQuarters
}

// InSmallLetters reports whether t is a Latin word that begins no sentence and no name.
func (t *Token) InSmallLetters() bool { return t.Kind == Latin && t.Cas == words.Lower }

// InCapitals reports whether t is a Latin word, or a letter, in capitals.
func (t *Token) InCapitals() bool { return t.Kind == Latin && t.Cas == words.Upper }

// SignCurrency is the currency of a sign, 0 for none.
func SignCurrency(ch byte) int { return int(currencySigns[ch]) }

// currencySigns are the places of currencies by the marks of their signs.
var currencySigns = func() (places [256]uint8) {
	for place, c := range words.Currencies {
		for _, sign := range c.Signs {
			mark, ok := signs[sign]
			if !ok {
				mark = byte(sign)
			}
			places[mark] = uint8(place)
		}
	}
	return places
}()

// WordLike reports whether tokens of this kind are written with letters or digits.
func (k Kind) WordLike() bool { return k == Latin || k == Deva || k == Digits || k == Foreign }

// Lettered reports whether tokens of this kind are words that the rules can read.
func (k Kind) Lettered() bool { return k == Latin || k == Deva }
