package text

import "github.com/swar-tts/swar/runtime/normalize/internal/words"

// physical are the symbols of units that are letters of other things, and units only where a formula says so: F = 20 N.
var physical = map[string]string{
	"N": "~newton", "J": "~joule", "A": "~ampere", "C": "~coulomb", "Pa": "~pascal", "T": "~tesla", "F": "~farad", "K": "k", "s": "s", "V": "v", "W": "w", "mA": "~milliampere",
}

// IsPhysical reports whether the word at token j, behind the number of a formula between marks, is a unit of physics:
// $5\,\text{s}$.
func IsPhysical(v *View, j int) bool {
	return v.At(j).Part == InText && v.At(j-1).Part == InMaths && physical[v.AtWord(j)] != ""
}

// unitOfFormula reads the unit at token j that stands behind the number of a formula: I = 2 A.
func unitOfFormula(v *View, j int) *words.Unit {
	name := physical[v.AtWord(j)]
	if name == "" || v.At(j-1).Kind != Digits || !v.LooseEnd(j+1) {
		return nil
	}
	if IsPhysical(v, j) {
		return words.Units[name]
	}
	for k := j - 2; k > j-12 && k >= v.Start; k-- {
		t := v.At(k)
		if t.IsOneOf("=" + string(rune(Approx))) {
			return words.Units[name]
		}
		if v.IsSign(k, '/') || v.IsSign(k-1, '/') || v.IsSign(k+1, '/') {
			continue // 20 m/s × 5 s
		}
		if physical[v.AtWord(k)] != "" && v.At(k-1).Kind == Digits {
			if v.IsSign(k+1, Multiply) && v.At(k+2).Kind == Digits {
				return words.Units[name] // 5 V × 2 A
			}
			continue
		}
		if t.Kind != Digits && !t.IsOneOf(".,"+Hyphens+string(rune(Multiply))+string(rune(Raised))) {
			return nil
		}
	}
	return nil
}
