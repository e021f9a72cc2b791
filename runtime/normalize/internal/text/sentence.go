package text

import (
	"github.com/swar-tts/swar/runtime/normalize/internal/words"
)

// Wordless reports whether no word of either language has been found.
func (t *Tally) Wordless() bool {
	for _, n := range t.Found[functionWord:] {
		if n > 0 {
			return false
		}
	}
	return t.Unknown == 0
}

// Silent reports whether nothing that was found says anything about a language: numbers, signs and acronyms alone.
func (t *Tally) Silent() bool { return t.Unknown == 0 && t.Found == [evidences]int{} }

// WeighSentence adds the words of the sentence that begins at token i to t, and returns where it ends.
func WeighSentence(v *View, i int, t *Tally) (end int) {
	for j := i; j < v.Stop; j++ {
		if !v.Toks[j].Put && v.Toks[j].Part != InMaths {
			weighWord(v, j, t)
		}
		if endsSentence(v, j) {
			for j++; v.closes(j); j++ {
			}
			return j
		}
	}
	return v.Stop
}

// endsSentence reports whether a sentence ends with token j.
func endsSentence(v *View, j int) bool {
	t := &v.Toks[j]
	if t.Kind != Sign || t.Part != InText {
		return false
	}
	switch t.Ch {
	case Danda:
		return true
	case '?', '!':
		next := v.At(j + 1)
		if v.At(j-1).Kind == Digits && next.IsOneOf("=+*/") {
			return false // 5! = 120
		}
		omitted := next.Kind == Nothing || next.Kind == Emoji
		another := next.Kind.Lettered() && next.Run == 0 // Kya?Haan
		return omitted || another || next.Gap || v.closes(j+1)
	case '|':
		return IsDanda(v, j)
	case '.':
		return fullStop(v, j)
	}
	return false
}

// IsDanda reports whether the bar at j stands for a danda: behind a Devanagari word, and nothing but a gap after it.
func IsDanda(v *View, j int) bool {
	p := v.At(j - 1)
	if p.Kind == Sign && p.Ch == '|' { // || is a double danda
		p = v.At(j - 2)
	}
	next := v.At(j + 1)
	return p.Kind == Deva && (next.Gap || next.Kind == Nothing || v.IsSign(j+1, '|'))
}

// fullStop reports whether the dot at j ends a sentence, and not an abbreviation, an initial or a list number.
func fullStop(v *View, j int) bool {
	next := v.At(j + 1)
	if next.Kind == Nothing {
		return true
	}
	if !next.Gap && !v.closes(j+1) {
		return isMisplacedStop(v, j) // else inside a word, a number or an ellipsis
	}
	p := v.At(j - 1)
	switch {
	case p.Kind == Sign && p.Ch == '.':
		return next.Cas == words.Title || next.Cas == words.Upper // an ellipsis
	case !v.Tight(j):
		return true
	case p.Kind == Digits && j-1 == v.Start, isPointedTrain(v, j-1):
		return false // 1. first item
	case p.Word.IsAny(words.NeedsDot, words.DotOrTitle, words.DotOrNone) && !(p.Kind == Latin && IsMeasure(v, j-1)):
		// Min. order, but not: in 15 min. Delivery; pens etc. Call us
		return stopBehindPhrase(v, j) || stopBehindShort(v, j) ||
			v.In(j-1, words.AlsoWord) && IsWordBeforeStop(v, j-1, j+1)
	case CurrencyCode(v, j-1) > 0:
		return stopBehindCurrency(v, j)
	case p.Word.Is(words.BeforeNumber):
		return stopBehindNumber(v, j)
	case p.Kind == Latin:
		return stopBehindLatin(v, j)
	case p.Kind == Deva:
		return stopBehindDevanagari(v, j)
	}
	return true
}

// stopBehindPhrase reports whether the dot at j ends its sentence, too, behind a short form that ends what it belongs
// to: pens etc. Call us.
func stopBehindPhrase(v *View, j int) bool {
	p, next := v.At(j-1), v.At(j+1)
	return v.In(j-1, words.EndsPhrase) && (next.Cas == words.Title || next.Kind == Deva && p.Kind == Latin)
}

// stopBehindDevanagari is fullStop for the dot at j behind a word of Devanagari: none behind से. 3, ई. पू. में, 28 नवं.
// and कि.मी.
func stopBehindDevanagari(v *View, j int) bool {
	p, next := v.At(j-1), v.At(j+1)
	if IsSpacedInitial(v, j-1) {
		return false
	}
	if len(p.Word.Beside) > 0 {
		goesOn := next.Kind == Digits || next.Word.Is(words.Shortened) || len(next.Word.Beside) > 0
		if goesOn || v.Reads(j-3, "ई", "प्रा") {
			return false
		}
	}
	if (words.LookUpWritten(v.Str(j-1)).Is(words.DottedMonth) || v.Reads(j-1, "ई")) && v.At(j-2).Kind == Digits {
		return false
	}
	return p.B-p.A > 12 || !(v.TightSign(j-2, '.') && v.Tight(j-1))
}

// isMisplacedStop reports whether the dot at j has its gap before it and not behind it: ok .Haan.
func isMisplacedStop(v *View, j int) bool {
	next := v.At(j + 1)
	return v.At(j).Gap && next.Kind.Lettered() && next.Run&hasDot == 0 && !IsDotOfName(v, j)
}

// stopBehindNumber is fullStop for the dot at j behind No. and its like.
func stopBehindNumber(v *View, j int) bool {
	p, next := v.At(j-1), v.At(j+1)
	switch {
	case p.Kind == Deva && Named(v, j-1), CountsPieces(v, j-1, j+1):
		return false // ऑर्डर सं. ओडी-22014, 2 no. ka kaam
	case p.Kind == Deva && NumberFollows(v, j+1):
		return false // मीटर सं. एमपी4471
	case p.Kind == Deva && v.TightSign(j-2, '.') && v.Tight(j-1):
		return false // म.प्र.
	case next.InSmallLetters() && Named(v, j-1):
		return false // Account no. ending
	}
	return next.Kind != Digits && !next.IsOneOf("#+(") && next.Cas != words.Upper
}

// stopBehindLatin is fullStop for the dot at j behind a Latin word.
func stopBehindLatin(v *View, j int) bool {
	p, next := v.At(j-1), v.At(j+1)
	switch {
	case next.InSmallLetters() && (hasShortDot(v, j-1) || isMovedBehind(v, j-1)):
		return false // 5 kg. rice, 1200 sq. ft. in all, Rs 640.00 CR. to your wallet
	case p.Word.Is(words.Month) && next.Kind == Digits:
		return !isDateBehindMonth(v, j)
	case v.Reads(j-1, "Cr", "CR") && v.Reads(j+1, "Card", "card"):
		return false // Cr. Card bill
	case v.Reads(j-1, "Ref", "ref") && next.Cas == words.Upper && v.TightDigits(j+2):
		return false // UTR Ref. HDFCH0041
	case len(p.Word.Beside) > 0 && goesOnBehindShort(p, next):
		return false
	case p.B-p.A == 1:
		return stopBehindLetter(v, j)
	case IsDegree(v, j-1):
		return next.Kind != Deva && next.Kind != Digits && next.Cas != words.Lower // M.Sc. hai
	}
	return true
}

// goesOnBehindShort reports whether next goes on with p, which is short beside some neighbours: dep. 21:05, pl. clear
// your dues, Kr. Vivek.
func goesOnBehindShort(p, next *Token) bool {
	if p.Cas != words.Upper && (next.InSmallLetters() || next.Kind == Digits) {
		return true
	}
	return p.Word.Chat != nil && p.Cas != words.Lower
}

// stopBehindShort reports whether the dot at j, behind a short form that is no title, ends the sentence, too: 500
// approx. Please; but Opp. The Grand Hotel.
func stopBehindShort(v *View, j int) bool {
	title := v.IsWord(j-1, words.DotOrTitle) && !v.IsWord(j-1, words.Weekday)
	if title || v.At(j-1).Cas == words.Upper || v.Reads(j+1, "The", "A", "An") {
		return false
	}
	return opensSentence(v, j+1) && !v.Reads(j-1, "vs", "Vs")
}

// stopBehindLetter is fullStop for the dot at j behind a letter: of initials and U.S.A. it ends none, but one before a
// word that hardly any name is, and that of 7 p.m. before a capital.
func stopBehindLetter(v *View, j int) bool {
	next := v.At(j + 1)
	opens := opensSentence(v, j+1)
	switch {
	case IsSpacedInitial(v, j-1):
		return false
	case v.At(j-4).Kind == Digits && isDottedMeridiem(v, j-3):
		return opensBehindTime(v, j)
	case v.TightSign(j-2, '.') && v.Tight(j-1):
		return (opens || opensBalance(v, j+1)) && v.At(j-1).Cas == words.Upper
	}
	return opens || v.At(j-1).Cas != words.Upper || next.Cas != words.Title || isLettered(v, j-2)
}

// isMovedBehind reports whether token i is the CR or DR of the money before it.
func isMovedBehind(v *View, i int) bool { return v.Reads(i, "CR", "DR") && IsMoneyBehind(v, i-1) }

// opensBehindTime reports whether what stands behind the dot of 7 p.m. at token j begins a sentence: a capital that is
// no day and no title, or Devanagari where there was none.
func opensBehindTime(v *View, j int) bool {
	next := v.At(j + 1)
	if next.Kind == Latin {
		return next.Cas == words.Title && !next.Word.IsAny(words.Weekday, words.Month, words.DotOrTitle) &&
			!v.In(j+1, words.Joiner)
	}
	if next.Kind != Deva || v.In(j+1, words.TiesTime) ||
		next.Word.IsAny(words.Weekday, words.Month, words.DayPart, words.Oclock) {
		return false
	}
	for k := max(v.Start, j-16); k < j; k++ {
		if v.At(k).Kind == Deva {
			return false
		}
	}
	return true
}

// isDateBehindMonth reports whether the number behind the dot at token j goes on with the short month before it: Jan.
// 5, 9 Feb. 2027; but not till 20 Dec. 100 Mbps.
func isDateBehindMonth(v *View, j int) bool {
	if m, _ := MonthAt(v, j-1); m == 0 || len(v.Str(j-1)) > 4 || v.CountedAt(j+2) {
		return false
	}
	n := v.Small(j+1, 4)
	if v.At(j-2).Kind == Digits {
		return 1900 <= n && n < 2100
	}
	return 1 <= n && n <= 31 || 1900 <= n && n < 2100
}

// stopBehindCurrency is fullStop for the dot at j behind a short form of a currency: it ends 60 rs. Cash, but neither
// Rs. 500 nor 500 रु. जमा करें.
func stopBehindCurrency(v *View, j int) bool {
	before, next := v.At(j-2), v.At(j+1)
	switch {
	case next.Kind == Digits, before.Kind == Sign, CurrencyCode(v, j+1) > 0, next.IsOneOf(".") && v.TightDigits(j+2):
		return false
	case before.Kind == Digits, before.Word.Is(words.ScaleWord):
		return next.Kind != Deva && !next.InSmallLetters()
	}
	return true
}

// hasShortDot reports whether the word at token i may have a dot because it is short: a unit, a month, square.
func hasShortDot(v *View, i int) bool {
	return UnitText(v, i, i+1) != nil || v.IsWord(i, words.Month) || squareWord(v.Str(i)) || v.Reads(i, "Cr")
}
