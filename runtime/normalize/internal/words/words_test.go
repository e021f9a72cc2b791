package words

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"
)

// TestWordsAreInNormalForm guards the lists: a word that is not written as the scanner writes it would never be found,
// and number words in another form would not be what the engines learnt.
func TestWordsAreInNormalForm(t *testing.T) {
	check := func(where, word string) {
		if !norm.NFC.IsNormalString(word) {
			t.Errorf("%s: %q is not in NFC", where, word)
		}
	}
	for word := range Current().All {
		check("vocabulary", word)
		if strings.ToLower(word) != word {
			t.Errorf("vocabulary: %q is not in lower case", word)
		}
	}
	for _, l := range []Lang{Hindi, English} {
		for n, word := range l.Below100 {
			check(fmt.Sprint(n), word)
		}
		for _, scale := range l.Scales {
			check("scales", scale.Name)
		}
		check("scales", strings.Join(l.ScaleNames[:], ""))
		check("letters", strings.Join(l.Letters[:], ""))
		check("words", strings.Join(l.Words[:], ""))
		check("Greek", strings.Join(l.Greek[:], ""))
		check("months", strings.Join(l.Months[:], "")+strings.Join(l.Weekdays[:], ""))
		for _, c := range l.Money {
			check("money", c.One+c.Many+c.Cent+c.Cents)
		}
		for symbol, u := range Units {
			m := l.Measure(u)
			check("units", symbol+m.One+m.Many)
		}
	}
}

// TestLanguagesAreWhole: a word that a language lacks would be silence.
func TestLanguagesAreWhole(t *testing.T) {
	for _, l := range []Lang{Hindi, English} {
		for w, word := range l.Words[1:] {
			if word == "" {
				t.Errorf("%s has no word %d", l.Name, w+1)
			}
		}
		for _, word := range slices.Concat(l.Below100[:], l.ScaleNames[1:], l.Greek[1:], l.Months[1:], l.Weekdays[1:],
			l.Letters[:]) {
			if word == "" {
				t.Errorf("%s lacks a number, a scale, a letter, a month or a day", l.Name)
			}
		}
		for symbol, u := range Units {
			if m := l.Measure(u); m.One == "" || m.Many == "" {
				t.Errorf("%s has no name for %s", l.Name, symbol)
			}
		}
		for c, m := range l.Money[1:] {
			if m.One == "" || m.Many == "" || m.Cent == "" || m.Cents == "" {
				t.Errorf("%s has no name for currency %d", l.Name, c+1)
			}
		}
	}
}
