package words

import (
	"strings"
	"unicode/utf8"
)

// entry is the entry of a word, which is empty if it is new.
func (l *loader) entry(w string) *Entry {
	if e := l.v.entries[w]; e != nil {
		return e
	}
	if len(l.room) == 0 {
		l.room = make([]Entry, 512)
	}
	e := &l.room[0]
	l.room = l.room[1:]
	l.v.entries[w] = e
	return e
}

// entry is the entry of a word, which is empty if it is new.
func (v *Vocabulary) entry(w string) *Entry {
	e := v.entries[w]
	if e == nil {
		e = new(Entry)
		v.entries[w] = e
	}
	return e
}

// Any reports whether n says nothing of the neighbour.
func (n *Neighbours) Any() bool { return len(n.Classes) == 0 && len(n.Words) == 0 }

// Is reports whether the word is of class c.
func (e *Entry) Is(c Class) bool { return e.classes.Has(c) }

// expand adds words that reading puts in place of something else: those in Latin letters are of the class [Expansion].
func (v *Vocabulary) expand(text string) {
	for w := range strings.FieldsSeq(strings.ToLower(text)) {
		if w[0] < utf8.RuneSelf {
			v.entry(w).classes.add(Expansion)
		}
	}
}

// expandRest adds the English words that reading puts in place of something else without a table.
func (v *Vocabulary) expandRest() {
	v.expand("paise paisa plus minus point percent and a half quarter quarters three oh by times equals dot hash star number rate")
	v.expand("reference accounts positive negative")
}

// isListed is [Entry.Listed].
func (e *Entry) isListed() bool {
	for _, c := range [...]Class{Shortened, Month, Weekday, ScaleWord} {
		if e.Is(c) {
			return true
		}
	}
	return e.Chat != nil || e.Currency > 0
}
