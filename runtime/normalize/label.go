package normalize

import (
	"strings"

	"github.com/swar-tts/swar/runtime/speech"
)

// labelRange reads H12-H15, labels with the same letters and rising numbers, as a range; tokens i to next are the run of both.
func (r *reader) labelRange(i, next int) int {
	if next != i+5 || r.at(i).kind != latin || r.at(i+1).kind != digits || !r.at(i+2).isOneOf(hyphens) {
		return i
	}
	if len(r.str(i)) > 2 || r.str(i) != r.str(i+3) {
		return i
	}
	from, to := r.small(i+1, 3), r.small(i+4, 3)
	if from < 0 || to <= from {
		return i
	}
	r.begin(i, speech.SpanCode)
	r.letters(r.str(i), r.lang)
	r.grouped(r.str(i + 1))
	r.say(r.lang.words[wordTo])
	r.letters(r.str(i+3), r.lang)
	r.grouped(r.str(i + 4))
	return r.end(next)
}

// questions reads Q1-10, the questions from the first to the last.
func (r *reader) questions(i, next int) int {
	if next != i+4 || !r.reads(i, "Q") || !r.at(i+2).isOneOf(hyphens) {
		return i
	}
	from, to := r.small(i+1, 2), r.small(i+3, 2)
	if from < 1 || to <= from {
		return i
	}
	r.begin(i, speech.SpanRange)
	r.letters("Q", r.lang)
	r.sayPlain(i+1, r.lang)
	r.say(r.lang.words[wordTo])
	r.sayPlain(i+3, r.lang)
	return r.end(next)
}

// quarterOfYear reads Q4FY26 and H1FY2027.
func (r *reader) quarterOfYear(i, next int) int {
	if next != i+4 || !r.reads(i, "Q", "H") || !r.reads(i+2, "FY", "CY") {
		return i
	}
	n := r.small(i+1, 1)
	if n < 1 || n > 4 {
		return i
	}
	y := r.small(i+3, 4)
	if size := len(r.str(i + 3)); y < 0 || size != 2 && size != 4 {
		return i
	}
	r.begin(i, speech.SpanYear)
	r.letters(r.str(i), r.lang)
	r.cardinal(uint64(n), r.lang)
	r.letters(r.str(i+2), r.lang)
	if y >= 1900 {
		r.year(uint64(y), r.lang)
	} else {
		r.sayPlain(i+3, r.lang)
	}
	return r.end(next)
}

// seriesName reads T20I.
func (r *reader) seriesName(i, next int) int {
	if next != i+3 || r.between(i, next) != "T20I" {
		return i
	}
	r.begin(i, speech.SpanNumber)
	r.letters("T", r.lang)
	if r.lang == english {
		r.cardinal(20, english)
	} else {
		r.say(englishNames["T20"])
	}
	r.letters("I", r.lang)
	return r.end(next)
}

// sectionNumber reads the 80C of Section 80C, the 26AS of Form 26AS and the 27B of gate 27B: a number and its letters, as people say them.
func (r *reader) sectionNumber(i, next int) int {
	if next != i+2 || r.at(i).kind != digits || r.zeroLed(i) {
		return i
	}
	if len(r.str(i)) > 3 || len(r.str(i+1)) > 3 {
		return i
	}
	before := i - 1
	if r.isSign(before, '.') {
		before--
	}
	law := r.in(before, lawful) || r.stroked(i-3) != "" && r.reads(i-1, "s", "S")
	gate := r.reads(before, "gate", "Gate", "platform", "Platform") && r.small(i, 2) > 0 && r.single(i+1)
	if !law && !gate {
		return i
	}
	r.begin(i, speech.SpanNumber)
	r.sayPlain(i, r.lang)
	r.letters(r.str(i+1), r.lang)
	return r.end(next)
}

// stations are codes of railway stations and airports, as they stand on both sides of a hyphen: NDLS-MMCT, BLR-DEL.
var stations = wordSet(`
	ADI AII AMD ANVT ASR ATQ BBI BBS BCT BDQ BDTS BHO BLR BOM BPL BRC BSB BZA CBE CCU CDG CJB CNB COK CSMT DBRG DDN DED DEL DHN
	ED ERS GAU GAYA GHY GKP GOI GOX GWL GZB HW HWH HYB HYD IDR INDB ISK IXB IXC IXJ IXM IXR IXZ JAI JAT JBP JDH JHS JP JU
	KCG KGP KNW KOAA KOTA LDH LJN LKO LTT MAA MAO MAS MDU MMCT MTJ MYS NAG NDLS NGP NJP NMIA NZM PAT PNBE PNQ PRYJ PUNE PURI R RAJ
	RJT RNC RPR SBC SC SDAH SECR SGUJ ST STV SUR SXR TIR TPTY TRV TVC UDR UDZ VGA VNS VSKP VTZ YPR`)

// route reads two such codes with a hyphen between them as from one to the other.
func (r *reader) route(i int) int {
	if next := r.at(i + 1); r.joined(i) || next.ch != '-' && next.ch != arrow {
		return i
	}
	to := i + 2
	switch t := r.at(i + 1); {
	case r.isSign(i+1, '-') && r.tightSign(to, '>'):
		to++ // DEL->BLR
	case t.kind == sign && t.ch == arrow, r.tightSign(i+1, '-') && r.tight(to):
	default:
		return i
	}
	if !r.isStation(i) || !r.isStation(to) || !r.looseEnd(to+1) {
		return i
	}
	r.begin(i, speech.SpanAcronym)
	r.sayStation(i)
	r.say(r.lang.words[wordTo])
	r.sayStation(to)
	return r.end(to + 1)
}

func (r *reader) isStation(i int) bool {
	t := r.at(i)
	return t.inCapitals() && t.b-t.a >= 3 && stations[r.str(i)]
}

// wordSet is the set of the words of list.
func wordSet(list string) map[string]bool {
	set := make(map[string]bool)
	for w := range strings.FieldsSeq(list) {
		set[w] = true
	}
	return set
}

// sayStation says a code by its letters, or as the name that it is: PUNE, KOTA.
func (r *reader) sayStation(i int) {
	if saidAsWord(r.at(i).word) {
		r.say(r.str(i))
		return
	}
	r.letters(r.str(i), r.lang)
}

// lakhAndThousand reads 1L10k and 2Cr50L.
func (r *reader) lakhAndThousand(i int) int {
	if r.joined(i) || r.small(i, 3) < 1 || r.small(i+2, 3) < 1 {
		return i
	}
	if !r.tight(i+1) || !r.tight(i+2) || !r.tight(i+3) || !r.looseEnd(i+4) {
		return i
	}
	big, small := r.at(i+1).word, r.at(i+3).word
	if !r.reads(i+1, "L", "l", "Cr", "cr", "CR", "lakh") || !r.reads(i+3, "k", "K", "L", "l", "thousand") {
		return i
	}
	if scaleWords[big.n].power <= scaleWords[small.n].power {
		return i
	}
	r.begin(i, speech.SpanNumber)
	for j := i; j < i+4; j += 2 {
		r.sayPlain(j, r.lang)
		r.say(r.lang.scaleNames[r.at(j+1).word.n])
	}
	return r.end(i + 4)
}
