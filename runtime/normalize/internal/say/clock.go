package say

import (
	"github.com/swar-tts/swar/runtime/normalize/internal/text"
	"github.com/swar-tts/swar/runtime/normalize/internal/words"
)

// SayTime says m. With elide the last word is left to the end of the range.
func (w *Draft) SayTime(m *text.Moment, elide bool) {
	if w.Lang.Clock != nil {
		w.quarteredTime(m, elide)
		return
	}
	half := m.Half
	h := m.Hour
	if m.Full && half == 0 && (h > 12 || h == 0) {
		half = 'a'
		if h >= 12 && h < 24 {
			half = 'p'
		}
	}
	h %= 12
	if h == 0 {
		h = 12
	}
	w.Cardinal(uint64(h), w.Lang)
	switch {
	case m.Min == 0:
	case m.Min < 10:
		w.Say("oh")
		w.Say(words.English.Below100[m.Min])
	default:
		w.Cardinal(uint64(m.Min), w.Lang)
	}
	switch {
	case elide:
	case half == 'a':
		w.Say("A M")
	case half == 'p':
		w.Say("P M")
	}
	if m.Sec > 0 {
		w.Say("and")
		w.Cardinal(uint64(m.Sec), w.Lang)
		w.Say("seconds")
	}
}

// quarterOfHour is the fraction that the minutes of m are of an hour, if they are quarters.
func quarterOfHour(m *text.Moment) byte {
	switch {
	case m.Sec > 0:
	case m.Min == 15:
		return text.Quarter
	case m.Min == 30:
		return text.Half
	case m.Min == 45:
		return text.ThreeQuarters
	}
	return 0
}

// minutesPast says the minutes and seconds of m that have passed since the hour h.
func (w *Draft) minutesPast(m *text.Moment, h int) {
	l, c := w.Lang, w.Lang.Clock
	w.Cardinal(uint64(h), l)
	w.Say(c.Past)
	w.Cardinal(uint64(m.Min), l)
	w.Say(c.Minutes)
	if m.Sec > 0 {
		w.Cardinal(uint64(m.Sec), l)
		w.Say(c.Seconds)
	}
	if m.Oclock && !text.IsPostposition(w.view, m.Next) {
		w.Say(c.At) // बजे would have said it
	}
}

// quarteredTime says m as Hindi does: the part of the day, quarters of an hour, and minutes that have passed.
func (w *Draft) quarteredTime(m *text.Moment, elide bool) {
	l, c := w.Lang, w.Lang.Clock
	h := m.Hour
	h24, known := h%24, h > 12 || h == 0
	if m.Half != 0 {
		known = true
		if h24 = h % 12; m.Half == 'p' {
			h24 += 12
		}
	}
	if known && !text.DayPartNear(w.view, m.Next) {
		w.Say(c.DayPart24(h24))
	}
	h %= 12
	if h == 0 {
		h = 12
	}
	fraction := quarterOfHour(m)
	switch {
	case m.Min == 0 && m.Sec <= 0:
		w.Cardinal(uint64(h), l)
	case fraction == text.Quarter && h == 1:
		w.Say(l.Quarters.AndQuarter)
		w.Cardinal(1, l)
	case fraction == text.ThreeQuarters && h == 12:
		w.Say(l.Quarters.LessQuarter)
		w.Cardinal(1, l)
	case fraction > 0:
		w.sayQuarters(l, uint64(h), fraction)
	default:
		w.minutesPast(m, h)
		return
	}
	switch {
	case elide:
	case m.Baje > 0 && !w.view.Reads(m.Baje, "bje"):
		w.Say(w.view.Str(m.Baje))
	default:
		w.Say(c.Oclock)
	}
}

// SayUnit says a count of a unit.
func (w *Draft) SayUnit(n int, u *words.Unit) {
	w.Cardinal(uint64(n), w.Lang)
	switch {
	case n == 1:
		w.Say(w.Lang.Measure(u).One)
	default:
		w.Say(w.Lang.Measure(u).Many)
	}
}
