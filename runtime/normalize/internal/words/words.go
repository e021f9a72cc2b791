package words

import (
	"slices"
	"strconv"

	"github.com/swar-tts/swar/runtime/internal/table"
)

// Lang is the language in which something is spoken.
type Lang = *Language

// EnglishOrdinals are first to nineteenth, and twentieth to ninetieth by tens; "" for those that are composed.
var EnglishOrdinals [100]string

// Scale is a power of ten with a name.
type Scale struct {
	Value uint64
	Name  string
}

// languages are the words of the table said.tsv.
type languages struct {
	hindi, english  Said
	englishOrdinals [100]string
}

// use makes l what the rules see.
func (l *languages) use() {
	hindiWords.Said, englishWords.Said, EnglishOrdinals = l.hindi, l.english, l.englishOrdinals
}

// said adds a row of said.tsv.
func (l *loader) said(r *table.Row) error {
	if r.Cell(0) == "ordinal" {
		n, err := strconv.Atoi(r.Cell(1))
		if err != nil || n < 0 || n >= len(l.v.englishOrdinals) || r.Cell(2) != "" {
			return r.Errorf("an ordinal has a number below 100, and no Hindi")
		}
		l.v.englishOrdinals[n] = r.Cell(3)
		l.v.expand(r.Cell(3))
		return nil
	}
	hindi, english := l.v.hindi.place(r), l.v.english.place(r)
	if hindi == nil {
		return r.Errorf("unknown kind, or none of it: %q, %q", r.Cell(0), r.Cell(1))
	}
	if *hindi != "" || r.Cell(2) == "" || r.Cell(3) == "" && r.Cell(0) != "number" {
		return r.Errorf("a second row, or a language is missing")
	}
	*hindi, *english = r.Cell(2), r.Cell(3)
	if kind := r.Cell(0); kind == "number" || kind == "scale" {
		l.v.expand(r.Cell(3))
	}
	return nil
}

// place is where the word of a row belongs, nil for nowhere.
func (s *Said) place(r *table.Row) *string {
	of := r.Cell(1)
	n, _ := strconv.Atoi(of) // 0 for a name
	least, list := 1, []string(nil)
	switch r.Cell(0) {
	case "number":
		least, list = 0, s.Below100[:]
	case "row":
		least, list = 2, s.InRows[:]
	case "letter":
		if len(of) == 1 {
			n = int(of[0]) - 'A'
		}
		least, list = 0, s.Letters[:]
	case "month":
		list = s.Months[:]
	case "weekday":
		list = s.Weekdays[:]
	case "scale":
		list = s.ScaleNames[:]
	case "greek":
		list = s.Greek[:]
	case "word":
		n, list = slices.Index(connectorNames[:], of), s.Words[:]
	}
	if n < least || n >= len(list) {
		return nil
	}
	return &list[n]
}

// composeEnglish composes the numbers that the table leaves to English.
func (s *Said) composeEnglish() {
	for n := range s.Below100 {
		if s.Below100[n] == "" {
			s.Below100[n] = s.Below100[n-n%10] + " " + s.Below100[n%10]
		}
	}
}
