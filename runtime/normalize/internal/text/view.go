// Package text cuts a text into tokens and looks at its sentences: what stands beside a token, and which numbers,
// units, amounts, dates and times are written there. Nothing here writes, and nothing knows how a language says what is
// found.
package text

import (
	"github.com/swar-tts/swar/runtime/normalize/internal/words"
)

// Single reports whether token i is one Latin letter.
func (v *View) Single(i int) bool {
	t := v.At(i)
	return t.Kind == Latin && t.B-t.A == 1
}

// IsNear reports whether one of so many tokens before token j is a word of the group.
func (v *View) IsNear(j int, c words.Class, tokens int) bool {
	for k := j - 1; k >= max(v.Start, j-tokens); k-- {
		if v.In(k, c) {
			return true
		}
	}
	return false
}

// Small is the value of digits token i with at most size digits; -1 if it is no such token.
func (v *View) Small(i, size int) int {
	t := v.At(i)
	if t.Kind != Digits || int(t.B-t.A) > size {
		return -1
	}
	n := 0
	for _, c := range []byte(v.Str(i)) {
		n = 10*n + int(c-'0')
	}
	return n
}

// Near reports whether one of so many words before token i is of one of the classes.
func (v *View) Near(i, words int, classes ...words.Class) bool {
	for j := i - 1; j >= v.Start && words > 0 && i-j < 8; j-- {
		switch v.At(j).Kind {
		case Latin, Deva:
			if v.IsAnyWord(j, classes...) {
				return true
			}
			words--
		case Digits:
			return false
		}
	}
	return false
}

// closes reports whether token j is a closing quote or bracket directly behind the token before.
func (v *View) closes(j int) bool {
	t := v.At(j)
	return !t.Gap && t.IsOneOf("\"')]")
}

// CountedAt reports whether token i is a noun that is counted.
func (v *View) CountedAt(i int) bool { return v.IsAnyWord(i, words.Counted, words.ScaleWord) }

// Capital reports whether token i is one capital letter.
func (v *View) Capital(i int) bool { return v.Single(i) && v.At(i).Cas == words.Upper }

// View is a text in tokens, and the sentence of it that is being read. Its methods, and the functions of this package
// that take one, only look at it.
type View struct {
	Text string // clean
	Toks []Token

	Start, Stop int  // the tokens of the present sentence, the first and the one behind the last
	English     bool // that sentence is in English
	UpperCase   bool // it is in capitals
}

// In is [View.IsWord].
func (v *View) In(i int, c words.Class) bool { return v.At(i).Word.Is(c) }

// LookUpTokens finds the words of the text in the vocabulary.
func LookUpTokens(text string, toks []Token) {
	for i := range toks {
		t := &toks[i]
		t.Word = &words.Unknown
		switch t.Kind {
		case Latin:
			var buf [24]byte
			w := text[t.A:t.B]
			low, cas := words.Fold(buf[:0], w)
			t.Cas = cas
			t.Word = words.LookUpLower(low)
		case Deva:
			t.Word = words.LookUpDevanagari(text[t.A:t.B])
		}
	}
}

// Str is token i as it stands in the clean text.
func (v *View) Str(i int) string { return v.Text[v.Toks[i].A:v.Toks[i].B] }

// Between is the clean text of tokens i to j, j excluded.
func (v *View) Between(i, j int) string { return v.Text[v.Toks[i].A:v.Toks[j-1].B] }

// At returns token i, or nothing when it is not in the present sentence: no rule sees beyond that.
func (v *View) At(i int) *Token {
	if i < v.Start {
		return &v.Toks[0]
	}
	if i >= v.Stop {
		return &v.Toks[len(v.Toks)-1]
	}
	return &v.Toks[i]
}

// IsSign reports whether token i is the sign ch.
func (v *View) IsSign(i int, ch byte) bool {
	t := v.At(i)
	return t.Kind == Sign && t.Ch == ch
}

// Tight reports whether token i stands directly behind the one before.
func (v *View) Tight(i int) bool { t := v.At(i); return !t.Gap && t.Kind != Nothing }

// TightSign reports whether token i is the sign ch directly behind the one before.
func (v *View) TightSign(i int, ch byte) bool { return v.IsSign(i, ch) && v.Tight(i) }

// IsWord reports whether token i is a word of class c, however it is written.
func (v *View) IsWord(i int, c words.Class) bool { return v.At(i).Word.Is(c) }

// IsAnyWord reports whether token i is a word of one of the classes.
func (v *View) IsAnyWord(i int, classes ...words.Class) bool { return v.At(i).Word.IsAny(classes...) }

// Joined reports whether token i goes on the word or the number before it.
func (v *View) Joined(i int) bool { return v.Tight(i) && v.At(i-1).Kind.WordLike() }

// TightDigits reports whether token i is a number directly behind the token before.
func (v *View) TightDigits(i int) bool { return v.At(i).Kind == Digits && v.Tight(i) }

// TightLetter reports whether token i is one Latin letter directly behind the token before.
func (v *View) TightLetter(i int) bool { return v.Single(i) && v.Tight(i) }

// NumberBehind reports whether token i is the sign ch and a number follows it, with no gap before either.
func (v *View) NumberBehind(i int, ch byte) bool { return v.TightSign(i, ch) && v.TightDigits(i+1) }

// LooseEnd reports whether token i is no word and no number that goes on what stands before it.
func (v *View) LooseEnd(i int) bool { return !v.Tight(i) || !v.At(i).Kind.WordLike() }

// AtWord is the word at token i as it is written, "" if it is none.
func (v *View) AtWord(i int) string {
	if v.At(i).Kind.Lettered() {
		return v.Str(i)
	}
	return ""
}

// AtDigits is the number at token i as it is written, "" if it is none.
func (v *View) AtDigits(i int) string {
	if v.At(i).Kind == Digits {
		return v.Str(i)
	}
	return ""
}

// Reads reports whether token i is written as one of the words.
func (v *View) Reads(i int, words ...string) bool {
	t := v.At(i)
	if !t.Kind.Lettered() {
		return false
	}
	written := v.Text[t.A:t.B]
	for _, w := range words {
		if w == written {
			return true
		}
	}
	return false
}

// Last reports whether token j is the mark that ends the sentence.
func (v *View) Last(j int) bool {
	for j++; j < v.Stop; j++ {
		if !v.closes(j) {
			return false
		}
	}
	return true
}

// free reports whether nothing is attached behind token i-1: token i is apart, the end, or punctuation.
func (v *View) free(i int) bool {
	t := v.At(i)
	return t.Gap || !t.Kind.WordLike()
}
