package rules

import (
	"github.com/swar-tts/swar/runtime/normalize/internal/text"
	"github.com/swar-tts/swar/runtime/normalize/internal/words"
)

// vehicle reads MH 12 DE 1433: the parts of a vehicle number with spaces between them.
func vehicle(r *Reader, i int) (Reading, bool) {
	if end := text.TypedVehicle(&r.View, i); end > i {
		return sayCode(r, i, end)
	}
	if r.At(i).Cas != words.Upper || len(r.Str(i)) != 2 || !words.LookUpWritten(r.Str(i)).Is(words.State) ||
		r.Joined(i) {
		return Reading{}, false
	}
	j := i + 1
	j = behindHyphen(&r.View, j)
	if r.At(j).Kind != text.Digits || len(r.Str(j)) > 2 {
		return Reading{}, false
	}
	if r.TightLetter(j+1) && r.At(j+2).Gap {
		j++ // DL 1C AB 1234
	}
	j = behindHyphen(&r.View, j+1)
	if t := r.At(j); t.Kind != text.Latin || t.Cas != words.Upper || t.B-t.A > 3 {
		return Reading{}, false
	}
	j = behindHyphen(&r.View, j+1)
	if r.At(j).Kind != text.Digits || len(r.Str(j)) > 4 || len(r.Str(j)) < 3 || !r.LooseEnd(j+1) {
		return Reading{}, false
	}
	return sayCode(r, i, j+1)
}

// flight reads 6E 2045. Codes in letters only are acronyms anyway, and their number follows the word flight.
func flight(r *Reader, i int) (Reading, bool) {
	if len(r.Str(i)) != 1 || !r.TightLetter(i+1) || r.At(i+2).Kind != text.Digits ||
		!words.LookUpWritten(r.Between(i, i+2)).Is(words.Airline) {
		return Reading{}, false
	}
	if n := len(r.Str(i + 2)); n < 2 || n > 4 || !r.LooseEnd(i+3) || text.ContextOf(&r.View, i).What == text.NoContext {
		return Reading{}, false
	}
	return sayCode(r, i, i+3)
}
