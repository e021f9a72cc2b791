package normalize

import (
	"unicode"

	"github.com/swar-tts/swar/runtime/speech"
)

// readers read what is said to be of a kind, token by token. They return i where a token is none, and the rules read it.
var readers = map[speech.Reading]func(r *reader, i int) int{
	speech.ReadDigits:     (*reader).asDigits,
	speech.ReadCharacters: (*reader).asCharacters,
	speech.ReadCardinal:   asAmount(speech.SpanNumber),
	speech.ReadOrdinal:    (*reader).asOrdinal,
	speech.ReadPhone:      (*reader).asPhone,
	speech.ReadDate:       func(r *reader, i int) int { return r.asDate(i, false) },
	speech.ReadMonthFirst: func(r *reader, i int) int { return r.asDate(i, true) },
	speech.ReadTime:       (*reader).clock,
	speech.ReadCurrency:   asAmount(speech.SpanAmount),
}

// readAs reads token i of g as g says. What stands around g has no part in that.
func (r *reader) readAs(g *guide, i int) int {
	read := readers[g.As]
	if read == nil {
		return i
	}
	start, stop := r.start, r.stop
	r.start, r.stop = i, min(stop, g.next)
	defer func() { r.start, r.stop = start, stop }()
	return read(r, i)
}

func (r *reader) asDigits(i int) int {
	if r.at(i).kind != digits {
		return i
	}
	r.begin(i, speech.SpanCode)
	r.grouped(r.str(i))
	return r.end(i + 1)
}

// asCharacters names letters and digits. Hyphens and the like between them are heard as little as in a code.
func (r *reader) asCharacters(i int) int {
	switch t := r.at(i); {
	case t.kind == latin && ascii(r.str(i)):
		r.begin(i, speech.SpanAcronym)
		r.letters(r.str(i), r.lang)
		return r.end(i + 1)
	case t.kind == deva:
		r.begin(i, speech.SpanAcronym)
		r.syllables(r.str(i))
		return r.end(i + 1)
	case t.isOneOf(dashes + "'"):
		return r.hush(i, i+1, speech.SpanSign)
	}
	return r.asDigits(i)
}

// syllables says the letters of a word of Devanagari, each with its signs.
func (r *reader) syllables(s string) {
	from := 0
	for i, c := range s {
		if i > 0 && !unicode.IsMark(c) {
			r.say(s[from:i])
			from = i
		}
	}
	r.say(s[from:])
}

// asAmount says a number, with its currency if there is one, as a span of a kind.
func asAmount(kind speech.SpanKind) func(r *reader, i int) int {
	return func(r *reader, i int) int {
		a, ok := r.amount(i)
		if !ok {
			return i
		}
		r.begin(i, kind)
		r.sayAmount(&a, r.lang, false)
		return r.end(a.next)
	}
}

func (r *reader) asOrdinal(i int) int {
	n, ok := r.number(i)
	if !ok || !n.whole() || n.size > 9 {
		return i
	}
	if next := r.ordinalNumber(i); next > i { // it is written as one
		return next
	}
	r.begin(i, speech.SpanOrdinal)
	switch {
	case r.lang == english:
		r.ordinal(n.value)
	case n.value < uint64(len(hindiOrdinals)) && hindiOrdinals[n.value] != "":
		r.say(hindiOrdinals[n.value])
	default:
		r.cardinal(n.value, r.lang)
		r.out = append(r.out, "वाँ"...)
	}
	return r.end(n.next)
}

// hindiOrdinals are those that are not made of their number.
var hindiOrdinals = [...]string{1: "पहला", 2: "दूसरा", 3: "तीसरा", 4: "चौथा", 6: "छठा"}

func (r *reader) asPhone(i int) int {
	for _, rule := range [...]func(*reader, int) int{(*reader).phoneSign, (*reader).asPhoneDigits} {
		if next := rule(r, i); next > i {
			return next
		}
	}
	switch t := r.at(i); {
	case t.kind != sign:
		return i
	case t.ch == '+':
		r.begin(i, speech.SpanPhone)
		r.say(r.lang.words[wordPlus])
		return r.end(i + 1)
	}
	return r.hush(i, i+1, speech.SpanPhone)
}

// asPhoneDigits reads a number of any length: as numbers of India are read, or in groups.
func (r *reader) asPhoneDigits(i int) int {
	if r.at(i).kind != digits {
		return i
	}
	if next := r.phone(i); next > i {
		return next
	}
	r.begin(i, speech.SpanPhone)
	r.grouped(r.str(i))
	if r.at(i+1).kind != nothing {
		r.pause()
	}
	return r.end(i + 1)
}

// asDate reads numbers with any sign between them as a date, a lone one as a year, and everything else as the rules do.
func (r *reader) asDate(i int, monthFirst bool) int {
	if d, ok := r.numbersOfDate(i, monthFirst); ok {
		r.begin(i, speech.SpanDate)
		r.sayDate(&d)
		return r.end(d.next)
	}
	if y := r.small(i, 4); y >= 1000 && r.at(i+1).kind == nothing {
		r.begin(i, speech.SpanYear)
		r.year(uint64(y), r.lang)
		return r.end(i + 1)
	}
	if r.at(i).kind == digits {
		return r.date(i)
	}
	return r.monthFirst(i)
}

// numbersOfDate reads two or three numbers with signs between them: day, month and year, or as they are said to stand.
func (r *reader) numbersOfDate(i int, monthFirst bool) (d day, ok bool) {
	var n [3]int
	count := 0
	for j := i; count < len(n); j += 2 {
		if n[count] = r.small(j, 4); n[count] < 0 {
			return d, false
		}
		count, d.next = count+1, j+1
		if !r.at(j + 1).isOneOf("/.," + dashes) {
			break
		}
	}
	switch {
	case count < 2:
		return d, false
	case len(r.str(i)) == 4 && count == 3:
		d.year, d.month, d.day = n[0], n[1], n[2]
	case monthFirst:
		d.month, d.day, d.year = n[0], n[1], n[2]
	default:
		d.day, d.month, d.year = n[0], n[1], n[2]
	}
	if count == 3 && d.year < 100 {
		d.year = centuryOf(d.year)
	}
	return d, d.sound()
}
