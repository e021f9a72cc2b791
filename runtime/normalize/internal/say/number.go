package say

import (
	"unicode"

	"github.com/swar-tts/swar/runtime/normalize/internal/text"
	"github.com/swar-tts/swar/runtime/normalize/internal/words"
)

// SayPlain says the digits token j as a number, or digit by digit when it is too long or begins with a zero.
func (w *Draft) SayPlain(j int, l words.Lang) {
	s := w.view.Str(j)
	if !text.IsSayable(w.view, j) || w.view.ZeroLed(j) {
		w.Digits(s, l)
		return
	}
	n := uint64(0)
	for _, c := range []byte(s) {
		n = 10*n + uint64(c-'0')
	}
	w.Cardinal(n, l)
}

// SayNumber says n with its decimals.
func (w *Draft) SayNumber(n *text.Number, l words.Lang, western bool) {
	switch {
	case n.Fraction > 0:
		w.MixedNumber(n, l)
		return
	case western:
		w.scaled(n.Value, l, l.Western)
	default:
		w.Cardinal(n.Value, l)
	}
	if n.Frac != "" {
		w.Say(l.Words[words.WordPoint])
		w.Digits(n.Frac, l)
	}
}

// MixedNumber says 2½.
func (w *Draft) MixedNumber(n *text.Number, l words.Lang) {
	if l.Quarters != nil {
		if !w.sayQuarters(l, n.Value, n.Fraction) {
			w.Cardinal(n.Value, l)
		}
		return
	}
	if n.Size > 0 {
		w.Cardinal(n.Value, l)
		w.Say("and")
	}
	switch n.Fraction {
	case text.Half:
		if n.Size > 0 {
			w.Say("a half")
		} else {
			w.Say("half")
		}
	case text.Quarter:
		if n.Size > 0 {
			w.Say("a quarter")
		} else {
			w.Say("one quarter")
		}
	case text.ThreeQuarters:
		w.Say("three quarters")
	}
}

// sayQuarters says whole and a fraction with the words that l has for it: डेढ़, ढाई, साढ़े तीन, सवा चार, पौने पाँच.
func (w *Draft) sayQuarters(l words.Lang, whole uint64, fraction byte) bool {
	q := l.Quarters
	switch {
	case fraction == text.Half && whole == 0:
		w.Say(q.Half)
	case fraction == text.Half && whole == 1:
		w.Say(q.OneAndHalf)
	case fraction == text.Half && whole == 2:
		w.Say(q.TwoAndHalf)
	case fraction == text.Half:
		w.Say(q.AndHalf)
		w.Cardinal(whole, l)
	case fraction == text.Quarter && whole == 0:
		w.Say(q.Quarter)
	case fraction == text.Quarter:
		w.Say(q.AndQuarter)
		if whole > 1 {
			w.Cardinal(whole, l)
		}
	case fraction == text.ThreeQuarters && whole == 0:
		w.Say(q.ThreeQuarters)
	case fraction == text.ThreeQuarters:
		w.Say(q.LessQuarter)
		w.Cardinal(whole+1, l)
	default:
		return false
	}
	return true
}

// quarterOf returns the fraction that decimals spell, if Hindi has a word for it.
func quarterOf(frac string) byte {
	switch frac {
	case "5", "50":
		return text.Half
	case "25":
		return text.Quarter
	case "75":
		return text.ThreeQuarters
	}
	return 0
}

// Cut says digits with pauses at the given places.
func (w *Draft) Cut(b []byte, places ...int) {
	from := 0
	for _, p := range places {
		w.digitBytes(b[from:p])
		w.Pause()
		from = p
	}
	w.digitBytes(b[from:])
}

func (w *Draft) digitBytes(b []byte) {
	l := w.DigitLang()
	for _, c := range b {
		w.Say(l.Below100[c-'0'])
	}
}

// SayParts says groups of digits as they are written, long ones by four.
func (w *Draft) SayParts(at []int) {
	for k, i := range at {
		if k > 0 {
			w.Pause()
		}
		w.Grouped(w.view.Str(i))
	}
}

// Syllables says the letters of a word of Devanagari, each with its signs.
func (w *Draft) Syllables(s string) {
	from := 0
	for i, c := range s {
		if i > 0 && !unicode.IsMark(c) {
			w.Say(s[from:i])
			from = i
		}
	}
	w.Say(s[from:])
}

// Speaking numbers: everything here writes words and decides nothing.

// Cardinal says n as Indians count: thousand, lakh, crore.
func (w *Draft) Cardinal(n uint64, l words.Lang) { w.scaled(n, l, l.Scales) }

// scaled says n in the given scales of l. The topmost is counted in itself.
func (w *Draft) scaled(n uint64, l words.Lang, scales []words.Scale) {
	for _, s := range scales {
		if n >= s.Value {
			w.scaled(n/s.Value, l, scales)
			w.Say(s.Name)
			if n %= s.Value; n == 0 {
				return
			}
		}
	}
	w.Say(l.Below100[n])
}

// Ordinal says first, twenty second, one hundredth.
func (w *Draft) Ordinal(n uint64) {
	if n >= 100 {
		if n%100 == 0 {
			w.Cardinal(n, words.English)
			w.Ending("th")
			return
		}
		w.Cardinal(n-n%100, words.English)
		n %= 100
	}
	if words.EnglishOrdinals[n] == "" {
		w.Say(words.English.Below100[n-n%10])
		n %= 10
	}
	w.Say(words.EnglishOrdinals[n])
}

// Year says 1947 as nineteen forty seven and 2026 as twenty twenty six; in Hindi 1100 to 1999 go by hundreds.
func (w *Draft) Year(n uint64, l words.Lang) {
	if l != words.English {
		if l.Hundreds && 1100 <= n && n < 2000 {
			w.Say(l.Below100[n/100])
			w.Say(l.Scales[len(l.Scales)-1].Name)
			if n%100 > 0 {
				w.Say(l.Below100[n%100])
			}
			return
		}
		w.Cardinal(n, l)
		return
	}
	high, low := n/100, n%100
	switch {
	case n < 1000 || n > 2099 || high%10 == 0 && low < 10:
		w.Cardinal(n, words.English)
	case low == 0:
		w.Cardinal(high, l)
		w.Say("hundred")
	case low < 10:
		w.Cardinal(high, l)
		w.Say("oh")
		w.Say(words.English.Below100[low])
	default:
		w.Cardinal(high, l)
		w.Cardinal(low, l)
	}
}

// DigitLang is the language of identifiers, whatever the sentence.
func (w *Draft) DigitLang() words.Lang {
	if w.EnDigits {
		return words.English
	}
	return w.Home
}

// Digits says the digits of s one by one in l and skips everything else.
func (w *Draft) Digits(s string, l words.Lang) {
	for i := range len(s) {
		if c := s[i]; '0' <= c && c <= '9' {
			w.Say(l.Below100[c-'0'])
		}
	}
}

// Grouped says the digits of an identifier, more than six of them by four, with a pause after each group: the pause is
// heard, and the only place where a long string may be cut.
func (w *Draft) Grouped(s string) {
	for whole := len(s); whole > 6 && len(s) > 4; {
		n := 4
		if len(s) == 5 {
			n = 3 // never leave a lone digit
		}
		w.Digits(s[:n], w.DigitLang())
		w.Pause()
		s = s[n:]
	}
	w.Digits(s, w.DigitLang())
}

// Letters names the ASCII letters of s.
func (w *Draft) Letters(s string, l words.Lang) {
	for i := range len(s) {
		c := s[i] &^ 0x20
		if c < 'A' || c > 'Z' {
			continue
		}
		w.Say(l.Letters[c-'A'])
	}
}
