package rules

import (
	"github.com/swar-tts/swar/runtime/normalize/internal/text"
	"github.com/swar-tts/swar/runtime/normalize/internal/words"
	"github.com/swar-tts/swar/runtime/speech"
)

// labelRange reads H12-H15, labels with the same letters and rising numbers, as a range; tokens i to next are the run
// of both.
func labelRange(r *Reader, i, next int) (Reading, bool) {
	if next != i+5 || r.At(i).Kind != text.Latin || r.At(i+1).Kind != text.Digits || !r.At(i+2).IsOneOf(text.Hyphens) {
		return Reading{}, false
	}
	if len(r.Str(i)) > 2 || r.Str(i) != r.Str(i+3) {
		return Reading{}, false
	}
	from, to := r.Small(i+1, 3), r.Small(i+4, 3)
	if from < 0 || to <= from {
		return Reading{}, false
	}
	r.Begin(i, speech.SpanCode)
	r.Letters(r.Str(i), r.Lang)
	r.Grouped(r.Str(i + 1))
	r.Say(r.Lang.Words[words.WordTo])
	r.Letters(r.Str(i+3), r.Lang)
	r.Grouped(r.Str(i + 4))
	return r.End(next)
}

// cells reads A1:B10, the cells of a sheet from the first to the last.
func cells(r *Reader, i int) (Reading, bool) {
	if r.Joined(i) || !r.TightSign(i+2, ':') || !r.Tight(i+3) || !r.LooseEnd(i+5) {
		return Reading{}, false
	}
	if !isCell(&r.View, i) || !isCell(&r.View, i+3) {
		return Reading{}, false
	}
	r.Begin(i, speech.SpanRange)
	r.Letters(r.Str(i), r.Lang)
	r.SayPlain(i+1, r.Lang)
	r.Say(r.Lang.Words[words.WordTo])
	r.Letters(r.Str(i+3), r.Lang)
	r.SayPlain(i+4, r.Lang)
	return r.End(i + 5)
}

// isCell reports whether token i is the column of a cell of a sheet, and its row follows.
func isCell(v *text.View, i int) bool {
	row := v.AtDigits(i + 1)
	if row == "" || len(row) > 5 || row[0] == '0' {
		return false
	}
	return v.At(i).InCapitals() && len(v.Str(i)) <= 2 && v.Tight(i+1)
}

// questions reads Q1-10, the questions from the first to the last.
func questions(r *Reader, i, next int) (Reading, bool) {
	if next != i+4 || !r.Reads(i, "Q") || !r.At(i+2).IsOneOf(text.Hyphens) {
		return Reading{}, false
	}
	from, to := r.Small(i+1, 2), r.Small(i+3, 2)
	if from < 1 || to <= from {
		return Reading{}, false
	}
	r.Begin(i, speech.SpanRange)
	r.Letters("Q", r.Lang)
	r.SayPlain(i+1, r.Lang)
	r.Say(r.Lang.Words[words.WordTo])
	r.SayPlain(i+3, r.Lang)
	return r.End(next)
}

// quarterOfYear reads Q4FY26 and H1FY2027.
func quarterOfYear(r *Reader, i, next int) (Reading, bool) {
	if next != i+4 || !r.Reads(i, "Q", "H") || !r.Reads(i+2, "FY", "CY") {
		return Reading{}, false
	}
	n := r.Small(i+1, 1)
	if n < 1 || n > 4 {
		return Reading{}, false
	}
	y := r.Small(i+3, 4)
	if size := len(r.Str(i + 3)); y < 0 || size != 2 && size != 4 {
		return Reading{}, false
	}
	r.Begin(i, speech.SpanYear)
	r.Letters(r.Str(i), r.Lang)
	r.Cardinal(uint64(n), r.Lang)
	r.Letters(r.Str(i+2), r.Lang)
	if y >= 1900 {
		r.Year(uint64(y), r.Lang)
	} else {
		r.SayPlain(i+3, r.Lang)
	}
	return r.End(next)
}

// seriesName reads T20I.
func seriesName(r *Reader, i, next int) (Reading, bool) {
	if next != i+3 || r.Between(i, next) != "T20I" {
		return Reading{}, false
	}
	r.Begin(i, speech.SpanNumber)
	r.Letters("T", r.Lang)
	if r.English {
		r.Cardinal(20, words.English)
	} else {
		r.Say(words.Named([]byte("T20")))
	}
	r.Letters("I", r.Lang)
	return r.End(next)
}

// sectionNumber reads the 80C of Section 80C, the 26AS of Form 26AS and the 27B of gate 27B: a number and its letters,
// as people say them.
func sectionNumber(r *Reader, i, next int) (Reading, bool) {
	if next != i+2 || r.At(i).Kind != text.Digits || r.ZeroLed(i) {
		return Reading{}, false
	}
	if len(r.Str(i)) > 3 || len(r.Str(i+1)) > 3 {
		return Reading{}, false
	}
	before := i - 1
	if r.IsSign(before, '.') {
		before--
	}
	law := r.In(before, words.Lawful) || text.Stroked(&r.View, i-3) != "" && r.Reads(i-1, "s", "S")
	gate := r.Reads(before, "gate", "Gate", "platform", "Platform") && r.Small(i, 2) > 0 && r.Single(i+1)
	if !law && !gate {
		return Reading{}, false
	}
	r.Begin(i, speech.SpanNumber)
	r.SayPlain(i, r.Lang)
	r.Letters(r.Str(i+1), r.Lang)
	return r.End(next)
}

// technicalNames are the names with a figure inside that are read in the language of the sentence: they are no codes.
var technicalNames = text.WordSet("B2B B2C P2P C2C G2C D2C O2O V2G E2E S2S W3C H1N1 H5N1 H3N2 2FA 3PL 4WD I2C")

// technicalName reads B2B and H1N1.
func technicalName(r *Reader, i, next int) (Reading, bool) {
	if !technicalNames[r.Between(i, next)] {
		return Reading{}, false
	}
	r.Begin(i, speech.SpanAcronym)
	for j := i; j < next; j++ {
		if r.At(j).Kind == text.Digits {
			r.SayPlain(j, r.Lang)
		} else {
			r.Letters(r.Str(j), r.Lang)
		}
	}
	return r.End(next)
}

// openVersion reads 7.x, every version that begins with seven.
func openVersion(r *Reader, i int) (Reading, bool) {
	if r.Joined(i) || !r.TightSign(i+1, '.') || !r.LooseEnd(i+3) {
		return Reading{}, false
	}
	if !r.TightLetter(i+2) || !r.Reads(i+2, "x") {
		return Reading{}, false
	}
	r.Begin(i, speech.SpanVersion)
	r.SayPlain(i, r.Lang)
	r.Say(r.Lang.Words[words.WordDot])
	r.Say("x")
	return r.End(i + 3)
}

// route reads two such codes with a hyphen between them as from one to the other.
func route(r *Reader, i int) (Reading, bool) {
	if next := r.At(i + 1); r.Joined(i) || next.Ch != '-' && next.Ch != text.Arrow {
		return Reading{}, false
	}
	to := i + 2
	switch t := r.At(i + 1); {
	case r.IsSign(i+1, '-') && r.TightSign(to, '>'):
		to++ // DEL->BLR
	case t.Kind == text.Sign && t.Ch == text.Arrow, r.TightSign(i+1, '-') && r.Tight(to):
	default:
		return Reading{}, false
	}
	if !isStation(&r.View, i) || !isStation(&r.View, to) || !r.LooseEnd(to+1) {
		return Reading{}, false
	}
	r.Begin(i, speech.SpanAcronym)
	sayStation(r, i)
	r.Say(r.Lang.Words[words.WordTo])
	sayStation(r, to)
	return r.End(to + 1)
}

func isStation(v *text.View, i int) bool {
	t := v.At(i)
	return t.InCapitals() && t.B-t.A >= 3 && words.LookUpWritten(v.Str(i)).Is(words.Station)
}

// sayStation says a code by its letters, or as the name that it is: PUNE, KOTA.
func sayStation(r *Reader, i int) {
	if text.SaidAsWord(r.At(i).Word, r.Str(i)) {
		r.Say(r.Str(i))
		return
	}
	r.Letters(r.Str(i), r.Lang)
}

// lakhAndThousand reads 1L10k and 2Cr50L.
func lakhAndThousand(r *Reader, i int) (Reading, bool) {
	if r.Joined(i) || r.Small(i, 3) < 1 || r.Small(i+2, 3) < 1 {
		return Reading{}, false
	}
	if !r.Tight(i+1) || !r.Tight(i+2) || !r.Tight(i+3) || !r.LooseEnd(i+4) {
		return Reading{}, false
	}
	big, small := r.At(i+1).Word, r.At(i+3).Word
	if !r.Reads(i+1, "L", "l", "Cr", "cr", "CR", "lakh") || !r.Reads(i+3, "k", "K", "L", "l", "thousand") {
		return Reading{}, false
	}
	if words.ScaleWords[big.N].Power <= words.ScaleWords[small.N].Power {
		return Reading{}, false
	}
	r.Begin(i, speech.SpanNumber)
	for j := i; j < i+4; j += 2 {
		r.SayPlain(j, r.Lang)
		r.Say(r.Lang.ScaleNames[r.At(j+1).Word.N])
	}
	return r.End(i + 4)
}
