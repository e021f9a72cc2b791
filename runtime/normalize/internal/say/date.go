package say

import (
	"github.com/swar-tts/swar/runtime/normalize/internal/text"
	"github.com/swar-tts/swar/runtime/normalize/internal/words"
)

// SayDate says day, month and year, as far as they are there.
func (w *Draft) SayDate(d *text.Day) {
	l := w.Lang
	if d.Day > 0 {
		w.SayDay(d.Day, l)
	}
	if d.Word > 0 {
		w.Say(w.view.Str(d.Word))
	} else {
		w.Say(l.Months[d.Month])
	}
	if d.Year > 0 {
		w.Year(uint64(d.Year), l)
	}
}

// SayDay says a day of the month.
func (w *Draft) SayDay(n int, l words.Lang) {
	if l.Ordinals {
		w.Ordinal(uint64(n))
	} else {
		w.Cardinal(uint64(n), l)
	}
}

// Decade says 1990s.
func (w *Draft) Decade(y uint64) {
	w.Year(y, w.Lang)
	if w.Lang.Decade != "" {
		w.Say(w.Lang.Decade)
		return
	}
	w.add(part{op: opPlural})
}
