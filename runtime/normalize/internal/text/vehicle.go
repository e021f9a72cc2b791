package text

import "github.com/swar-tts/swar/runtime/normalize/internal/words"

// TypedVehicle returns the end of the number of a vehicle that is typed in small letters at token i, in one or behind a
// word of vehicles: mh12ab4471, gaadi no mh12 ab 4471. i for none.
func TypedVehicle(v *View, i int) int {
	state, series := v.At(i), v.At(i+2)
	if state.Cas != words.Lower || state.B-state.A != 2 || v.Joined(i) {
		return i
	}
	small := series.Cas == words.Lower && series.B-series.A <= 3
	if !small || len(v.AtDigits(i+1)) != 2 || len(v.AtDigits(i+3)) != 4 || !v.LooseEnd(i+4) {
		return i
	}
	glued := v.Tight(i+1) && v.Tight(i+2) && v.Tight(i+3)
	named := v.In(i-1, words.Vehicular) || v.Reads(i-1, "no", "number", "no.") && v.In(i-2, words.Vehicular)
	code := [2]byte{v.Text[state.A] &^ 0x20, v.Text[state.A+1] &^ 0x20}
	if !glued && !named || !words.LookUpWritten(string(code[:])).Is(words.State) {
		return i
	}
	return i + 4
}
