package text

import (
	"github.com/swar-tts/swar/runtime/normalize/internal/words"
)

// Nearness is what the words before a number say about it.
type Nearness uint8

// What may stand before a number.
const (
	NoContext Nearness = iota
	IDNear             // an order, an account, a number
	CodeNear           // an OTP, a PIN, a code
)

// Finding is what stands before a number and says something about it, and where.
type Finding struct {
	What Nearness
	at   int // its token; 0 for nothing
}

// Reach is how many words may stand between a context word and its number.
const Reach = 3

// ContextOf looks at the words before token i: the last three, or the whole sentence when they end in "is".
func ContextOf(v *View, i int) Finding {
	if at := codeThatIs(v, i); at > 0 {
		return Finding{CodeNear, at}
	}
	if v.In(i-1, words.Bounding) {
		return Finding{} // orders above 499
	}
	count, id := 0, true
	for j := i - 1; j >= v.Start && count <= Reach && i-j < 12; j-- {
		t := v.At(j)
		if t.Kind == Digits {
			return Finding{}
		}
		if !t.Kind.Lettered() {
			continue
		}
		if isDottedOTP(v, j) {
			return Finding{CodeNear, j}
		}
		if v.Single(j) && v.IsSign(j-1, '.') {
			e, first := dottedBefore(v, j)
			switch {
			case e.Is(words.CodeWord):
				return Finding{CodeNear, first}
			case e.Is(words.IdentifierWord) && id:
				return Finding{IDNear, first}
			}
			j = first
			count++
			continue
		}
		f, stop := wordBefore(v, j, id)
		if f.What != NoContext || stop {
			return f
		}
		// The address was the id; and "in" ends what an account or an order says.
		id = id && t.Run&HasAt == 0 && (!t.Word.Is(words.Apart) || v.IsWord(j-1, words.Holds))
		count++
	}
	return Finding{}
}

// isDottedOTP reports whether ओ.टी.पी ends with token j.
func isDottedOTP(v *View, j int) bool {
	if !v.IsSign(j-1, '.') || !v.IsSign(j-3, '.') {
		return false
	}
	return v.Reads(j, "पी") && v.Reads(j-2, "टी") && v.Reads(j-4, "ओ")
}

// wordBefore judges the word at token j, in front of a number. stop means that no word before it counts; id that words
// of accounts still do.
func wordBefore(v *View, j int, id bool) (f Finding, stop bool) {
	t := v.At(j)
	switch {
	case t.Run&HasAt != 0:
		return Finding{}, false
	case t.Word.Is(words.CodeWord):
		return Finding{CodeNear, j}, true
	case t.Word.Is(words.AmountOf):
		return Finding{}, true
	case !id:
		return Finding{}, false
	case Stroked(v, j-2) == "account":
		return Finding{IDNear, j - 2}, true
	case t.Word.Is(words.IdentifierWord) && (isCount(v, j) || numbersPlace(v, j)):
		return Finding{}, true
	case t.Word.Is(words.IdentifierWord):
		return Finding{IDNear, j}, true
	}
	return Finding{}, false
}

// codeThatIs returns the token of the code whose verb or colon stands before token i, however far: the OTP for your
// order is 4071.
func codeThatIs(v *View, i int) int {
	verb := i - 1
	for t := v.At(verb); t.IsOneOf("*_`\"("); t = v.At(verb) { // is **482913**
		if verb--; i-verb > 8 {
			break
		}
	}
	if !v.IsSign(verb, ':') && !IsIs(v, verb) {
		return 0
	}
	for j := verb - 1; j >= v.Start && i-j < 3*Lookahead/4; j-- {
		if v.IsWord(j, words.CodeWord) && !v.CountedAt(j+1) {
			return j
		}
	}
	return 0
}

// numbersPlace reports whether the word at token j numbers a flat, a gate or a coach, which is read as a quantity even
// behind "number": flat number 302, H.No. 12.
func numbersPlace(v *View, j int) bool {
	if v.IsSign(j-1, '.') {
		return v.Reads(j-2, "H", "h", "R", "D")
	}
	if v.In(j-1, words.Blocking) && !v.In(j, words.NumberWord) {
		return false // BLOCK CARD 1233
	}
	return v.IsAnyWord(j-1, words.Place, words.EnglishHead, words.Coach) && !v.IsWord(j-1, words.IdentifierWord)
}

// isCount reports whether the word at token j counts instead of naming: छात्रों की संख्या, number of users.
func isCount(v *View, j int) bool {
	if v.Reads(j, "nos", "Nos") && v.At(j-1).Kind == Digits {
		return true // 2 nos.
	}
	if v.Reads(j, "no") && v.English && v.In(j-1, words.BeforeNone) && v.At(j+2).InSmallLetters() {
		return true // has no 2000 notes
	}
	if v.Reads(j, "नंबर", "number", "numbers") && v.Small(j-1, 3) > 0 {
		return true // a test of 50 नंबर
	}
	return v.Reads(j, "संख्या", "sankhya") && v.Reads(j-1, "की", "ki", "कुल", "kul") ||
		v.Reads(j, "number", "Number", "no") && v.Reads(j+1, "of", "Of")
}

// IsPrice reports whether the words behind the number at token i make it an amount, although an order, a phone or a
// card stands before it: phone 15000 का है, card से 2000 कटे.
func IsPrice(v *View, i int) bool {
	if len(v.Str(i)) > 6 || isTailWord(v, i-1) || v.Reads(i-1, "in", "with") && isTailWord(v, i-2) {
		return false
	}
	// 2000 का भुगतान
	isPaid := v.IsWord(i+1, words.Paid) || v.Reads(i+1, "ka", "ki", "का", "की") && v.IsWord(i+2, words.Paid)
	if v.Reads(i+1, "ka", "का") && v.At(i+2).Kind == Nothing {
		return true // order kar diya 487 ka
	}
	isExceeded := v.Reads(i+1, "se", "से") && v.IsWord(i+2, words.More) // 2000 से ज़्यादा
	isEach := v.Reads(i+1, "each")                                      // 2 ticket, 850 each
	if isPaid || isExceeded || isEach {
		return true
	}
	s := v.Str(i)
	if tail := s[len(s)-2:]; tail != "00" && tail != "50" && tail != "99" && tail != "49" {
		return false // prices are round, or just below it
	}
	if v.Reads(i+1, "mein", "me", "में") {
		return true
	}
	return v.In(i+1, words.Possessive) && v.In(i+2, words.Priced)
}

// isTailWord reports whether token i says that the tail of a number follows: ending 2299, अंतिम 4410.
func isTailWord(v *View, i int) bool {
	return v.IsWord(i, words.LastWord) || v.Reads(i, "ends", "Ends")
}

// dottedBefore joins the initials that end with token j, as in O.T.P., and looks them up. first is the token of the
// first one.
func dottedBefore(v *View, j int) (e *words.Entry, first int) {
	var buf [5]byte
	n := len(buf)
	for {
		n--
		buf[n] = v.Text[v.Toks[j].A]
		if n == 0 || !v.IsSign(j-1, '.') || !v.Single(j-2) {
			return words.LookUp(string(buf[n:])), j
		}
		j -= 2
	}
}
