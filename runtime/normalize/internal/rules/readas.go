package rules

import (
	"github.com/swar-tts/swar/runtime/normalize/internal/text"
	"github.com/swar-tts/swar/runtime/normalize/internal/words"
	"github.com/swar-tts/swar/runtime/speech"
)

// Readers read what is said to be of a kind, token by token. They return i where a token is none, and the rules read
// it.
var Readers = map[speech.Reading]func(r *Reader, i int) (Reading, bool){
	speech.ReadDigits:     asDigits,
	speech.ReadCharacters: asCharacters,
	speech.ReadCardinal:   asAmount(speech.SpanNumber),
	speech.ReadOrdinal:    asOrdinal,
	speech.ReadPhone:      asPhone,
	speech.ReadDate:       func(r *Reader, i int) (Reading, bool) { return asDate(r, i, false) },
	speech.ReadMonthFirst: func(r *Reader, i int) (Reading, bool) { return asDate(r, i, true) },
	speech.ReadTime:       clock,
	speech.ReadCurrency:   asAmount(speech.SpanAmount),
}

func asDigits(r *Reader, i int) (Reading, bool) {
	if r.At(i).Kind != text.Digits {
		return Reading{}, false
	}
	r.Begin(i, speech.SpanCode)
	r.Grouped(r.Str(i))
	return r.End(i + 1)
}

// asCharacters names letters and digits. Hyphens and the like between them are heard as little as in a code.
func asCharacters(r *Reader, i int) (Reading, bool) {
	switch t := r.At(i); {
	case t.Kind == text.Latin && ascii(r.Str(i)):
		r.Begin(i, speech.SpanAcronym)
		r.Letters(r.Str(i), r.Lang)
		return r.End(i + 1)
	case t.Kind == text.Deva:
		r.Begin(i, speech.SpanAcronym)
		r.Syllables(r.Str(i))
		return r.End(i + 1)
	case t.IsOneOf(text.Dashes + "'"):
		return r.Silence(i, i+1, speech.SpanSign)
	}
	return asDigits(r, i)
}

// asAmount says a number, with its currency if there is one, as a span of a kind.
func asAmount(kind speech.SpanKind) func(r *Reader, i int) (Reading, bool) {
	return func(r *Reader, i int) (Reading, bool) {
		a, ok := text.AmountAt(&r.View, i)
		if !ok {
			return Reading{}, false
		}
		r.Begin(i, kind)
		r.SayAmount(&a, r.Lang, false)
		return r.End(a.Next)
	}
}

func asOrdinal(r *Reader, i int) (Reading, bool) {
	n, ok := text.NumberAt(&r.View, i)
	if !ok || !n.Whole() || n.Size > 9 {
		return Reading{}, false
	}
	if reading, ok := ordinalNumber(r, i); ok { // it is written as one
		return reading, true
	}
	r.Begin(i, speech.SpanOrdinal)
	switch {
	case r.English:
		r.Ordinal(n.Value)
	case n.Value < uint64(len(hindiOrdinals)) && hindiOrdinals[n.Value] != "":
		r.Say(hindiOrdinals[n.Value])
	default:
		r.Cardinal(n.Value, r.Lang)
		r.Ending("वाँ")
	}
	return r.End(n.Next)
}

// hindiOrdinals are those that are not made of their number.
var hindiOrdinals = [...]string{1: "पहला", 2: "दूसरा", 3: "तीसरा", 4: "चौथा", 6: "छठा"}

func asPhone(r *Reader, i int) (Reading, bool) {
	for _, rule := range [...]func(*Reader, int) (Reading, bool){phoneSign, asPhoneDigits} {
		if reading, ok := rule(r, i); ok {
			return reading, true
		}
	}
	switch t := r.At(i); {
	case t.Kind != text.Sign:
		return Reading{}, false
	case t.Ch == '+':
		r.Begin(i, speech.SpanPhone)
		r.Say(r.Lang.Words[words.WordPlus])
		return r.End(i + 1)
	}
	return r.Silence(i, i+1, speech.SpanPhone)
}

// asPhoneDigits reads a number of any length: as numbers of India are read, or in groups.
func asPhoneDigits(r *Reader, i int) (Reading, bool) {
	if r.At(i).Kind != text.Digits {
		return Reading{}, false
	}
	if reading, ok := phone(r, i); ok {
		return reading, true
	}
	r.Begin(i, speech.SpanPhone)
	r.Grouped(r.Str(i))
	if r.At(i+1).Kind != text.Nothing {
		r.Pause()
	}
	return r.End(i + 1)
}

// asDate reads numbers with any sign between them as a date, a lone one as a year, and everything else as the rules do.
func asDate(r *Reader, i int, monthFirst bool) (Reading, bool) {
	if d, ok := numbersOfDate(&r.View, i, monthFirst); ok {
		r.Begin(i, speech.SpanDate)
		r.SayDate(&d)
		return r.End(d.Next)
	}
	if y := r.Small(i, 4); y >= 1000 && r.At(i+1).Kind == text.Nothing {
		r.Begin(i, speech.SpanYear)
		r.Year(uint64(y), r.Lang)
		return r.End(i + 1)
	}
	if r.At(i).Kind == text.Digits {
		return date(r, i)
	}
	return monthThenDay(r, i)
}

// numbersOfDate reads two or three numbers with signs between them: day, month and year, or as they are said to stand.
func numbersOfDate(v *text.View, i int, monthFirst bool) (d text.Day, ok bool) {
	var n [3]int
	count := 0
	for j := i; count < len(n); j += 2 {
		if n[count] = v.Small(j, 4); n[count] < 0 {
			return d, false
		}
		count, d.Next = count+1, j+1
		if !v.At(j + 1).IsOneOf("/.," + text.Dashes) {
			break
		}
	}
	switch {
	case count < 2:
		return d, false
	case len(v.Str(i)) == 4 && count == 3:
		d.Year, d.Month, d.Day = n[0], n[1], n[2]
	case monthFirst:
		d.Month, d.Day, d.Year = n[0], n[1], n[2]
	default:
		d.Day, d.Month, d.Year = n[0], n[1], n[2]
	}
	if count == 3 && d.Year < 100 {
		d.Year = text.CenturyOf(d.Year)
	}
	return d, d.Sound()
}
