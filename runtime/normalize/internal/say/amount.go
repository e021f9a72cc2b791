package say

import (
	"github.com/swar-tts/swar/runtime/normalize/internal/text"
	"github.com/swar-tts/swar/runtime/normalize/internal/words"
)

// SayAmount says a in l. With elide it leaves away what the second end of a range will say.
func (w *Draft) SayAmount(a *text.Amount, l words.Lang, elide bool) {
	if a.Minus {
		w.Say(l.Words[words.WordMinus])
	}
	if a.Plus {
		w.Say(l.Words[words.WordPlus])
	}
	if a.Cur > 0 && a.Scales[0] == 0 && !elide {
		w.sayMoney(a, l)
	} else {
		w.sayScaled(a, l)
		if elide {
			return
		}
		one := a.N.Value == 1 && a.N.Whole() && a.Scales[0] == 0
		switch {
		case a.Cur > 0:
			w.sayCurrency(a, l, false)
		case a.Percent:
			w.Say(l.Words[words.WordPercent])
		case a.Unit != nil && (one || a.Hyphened && l == words.English): // a ten minute break
			w.Say(l.Measure(a.Unit).One)
		case a.Unit != nil:
			w.Say(l.Measure(a.Unit).Many)
		}
	}
	if a.Per > 0 {
		w.SayRate(a.Per, l)
	}
}

// SayRate says the unit behind a stroke.
func (w *Draft) SayRate(i int, l words.Lang) {
	monthly := w.view.IsWord(i-2, words.ScaleWord) || w.view.IsNear(i, words.Monthly, 8)
	if w.view.Reads(i, "m", "M") && monthly { // nothing costs thousands a metre
		w.Say(l.Words[words.WordPerMonth])
		return
	}
	w.Say(l.Words[words.WordPer])
	s := w.view.Str(i)
	var buf [16]byte
	low, _ := words.Fold(buf[:0], s)
	u := text.UnitText(w.view, i, i+1)
	if area, _ := text.SquareAt(w.view, i); area != nil {
		u = area
	} else if w.view.TightSign(i+1, '.') && w.view.At(i).Kind == text.Deva {
		if dotted := text.UnitText(w.view, i, i+2); dotted != nil {
			u = dotted
		}
	}
	switch {
	case l.Rates[string(low)] != "":
		w.Say(l.Rates[string(low)])
	case u != nil:
		w.Say(l.Measure(u).One)
	case w.view.At(i).Word.Full != "":
		w.Say(w.view.At(i).Word.Full) // Rs.5000/txn
	default:
		w.Say(s)
	}
}

// sayScaled says the number and its scale words.
func (w *Draft) sayScaled(a *text.Amount, l words.Lang) {
	n := a.N
	if l.Quarters != nil && !a.N.Grouped && hasQuarters(w.view, a) {
		if f := quarterOf(n.Frac); f > 0 && !(n.Value == 0 && f == text.Quarter) {
			n.Frac, n.Fraction = "", f
		}
	}
	w.SayNumber(&n, l, a.Cur > 0 && words.Currencies[a.Cur].Western)
	for _, p := range a.Scales {
		w.Say(l.ScaleNames[p])
	}
}

// hasQuarters reports whether people count with डेढ़ and ढाई what a is an amount of: lakhs, kilos, hours.
func hasQuarters(v *text.View, a *text.Amount) bool {
	return words.ScaleWords[a.Scales[0]].Quarter || a.Unit != nil && a.Unit.Quarter || text.QuarterNoun(v, a.Next)
}

// sayMoney says an amount without a scale word: rupees and paise.
func (w *Draft) sayMoney(a *text.Amount, l words.Lang) {
	c := &words.Currencies[a.Cur]
	whole, frac := a.N.Value, a.N.Frac
	if a.N.Fraction > 0 || len(frac) > 2 || c.Decimal {
		n := a.N
		w.SayNumber(&n, l, c.Western)
		w.sayCurrency(a, l, false)
		return
	}
	cents := uint64(0)
	switch len(frac) {
	case 1:
		cents = uint64(frac[0]-'0') * 10
	case 2:
		cents = uint64(frac[0]-'0')*10 + uint64(frac[1]-'0')
	}
	if whole > 0 || cents == 0 {
		n := text.Number{Value: whole}
		w.SayNumber(&n, l, c.Western)
		w.sayCurrency(a, l, whole == 1)
	}
	if cents > 0 {
		w.Cardinal(cents, l)
		if cents == 1 {
			w.Say(l.Money[a.Cur].Cent)
		} else {
			w.Say(l.Money[a.Cur].Cents)
		}
	}
}

// sayCurrency says the name of the currency, or the word that is written for it.
func (w *Draft) sayCurrency(a *text.Amount, l words.Lang, one bool) {
	switch {
	case a.CurWord > 0:
		w.Say(w.view.Str(a.CurWord))
	case one:
		w.Say(l.Money[a.Cur].One)
	default:
		w.Say(l.Money[a.Cur].Many)
	}
}
