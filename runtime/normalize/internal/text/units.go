package text

import (
	"strings"

	"github.com/swar-tts/swar/runtime/normalize/internal/words"
)

// UnitAt reads the unit at token j.
func UnitAt(v *View, j int) (*words.Unit, int) {
	t := v.At(j)
	if t.Kind == Sign && SignUnits[t.Ch] != nil {
		return SignUnits[t.Ch], j + 1
	}
	if t.Kind == Sign && t.Ch == Degree {
		return degrees(v, j)
	}
	if u, next := UnitOver(v, j); u != nil {
		return u, next
	}
	if u, next := ohms(v, j); u != nil {
		return u, next
	}
	if !t.Kind.Lettered() {
		return microUnit(v, j)
	}
	if t.Kind == Deva && v.TightSign(j+1, '.') && !(v.Tight(j+2) && v.At(j+2).Kind == Deva) { // मि.मी. is one unit
		if u := UnitText(v, j, j+2); u != nil { // ली.
			return u, j + 2
		}
	}
	if v.Reads(j, "F", "C") && isFever(v, j) {
		return words.Units["°"+strings.ToLower(v.Str(j))], j + 1
	}
	if u, next := SquareAt(v, j); u != nil {
		return u, next
	}
	if u := unitOfFormula(v, j); u != nil {
		return u, j + 1
	}
	u := UnitText(v, j, j+1)
	if u == nil || !v.LooseEnd(j+1) || !isUnit(v, j, u) {
		return nil, j
	}
	return u, j + 1
}

// ohms reads Ω, kΩ and MΩ at token j.
func ohms(v *View, j int) (*words.Unit, int) {
	name, sign := "~ohm", j
	switch {
	case v.Reads(j, "k", "K"):
		name, sign = "~kiloohm", j+1
	case v.Reads(j, "M"):
		name, sign = "~megaohm", j+1
	}
	if v.At(sign).Kind != Foreign || v.Str(sign) != "Ω" || !v.LooseEnd(sign+1) {
		return nil, j
	}
	if sign > j && !v.Tight(sign) {
		return nil, j
	}
	return words.Units[name], sign + 1
}

// degrees reads the ring at token j: °C, °F, °से., or of a degree that is no temperature.
func degrees(v *View, j int) (*words.Unit, int) {
	if c := v.At(j + 1); c.Kind == Latin && c.B-c.A == 1 {
		var buf [8]byte
		b := append(buf[:0], "°"...)
		b = append(b, v.Text[c.A]|0x20)
		if u := words.Units[string(b)]; u != nil && v.LooseEnd(j+2) {
			return u, j + 2
		}
	}
	if v.Tight(j+1) && v.Reads(j+1, "से", "सें") {
		next := j + 2
		if v.TightSign(next, '.') {
			next++
		}
		return words.Units["°c"], next // 31°से.
	}
	return &plainDegree, j + 1
}

// isUnit reports whether the word at token j, which may stand for u, is u where it stands.
func isUnit(v *View, j int, u *words.Unit) bool {
	t := v.At(j)
	if u.TightOnly && t.Gap && !standsApart(v, j) {
		return false
	}
	if u.Rare && !isRareUnit(v, j) {
		return false
	}
	switch n := t.B - t.A; {
	case n == 2 && t.Cas == words.Upper:
		return !IsIn(" AC LB LBS MT HA MI PC OZ MO YD ", v.Str(j)) // berths and states
	case n > 1:
		return true
	}
	// One letter is a unit in the case that people write it in: g, m, l, L, h, W, V.
	switch c := v.Text[t.A]; c {
	case 'T':
		return v.IsNear(j, words.Cooled, 5) || v.In(j+1, words.Cooled)
	case 'G', 'M', 'H', 'D', 'S', 'Q', 'w', 'v', 'k':
		return false
	case 'q':
		return v.At(j+1).Kind != Digits // q 1 to 8
	case 'L':
		return !v.Reads(j+1, "size", "Size") && !(t.Gap && v.Near(j, 4, words.Coach)) // 2 L size, seat 23-24 L
	case 'U':
		return v.IsNear(j, words.Dosed, 4)
	case 'h':
		return !t.Gap || v.English || v.At(j+1).Kind == Digits // 190 h: hai
	}
	return true
}

// UnitOver reads a unit over another at token j: km/h, μg/m3, kg/m².
func UnitOver(v *View, j int) (*words.Unit, int) {
	k := j + 1
	if v.At(j).Kind == Foreign && v.Tight(k) && v.At(k).Kind == Latin {
		k++ // μ is Greek
	}
	if !v.TightSign(k, '/') || !v.Tight(k+1) || !v.At(k+1).Kind.Lettered() {
		return nil, j
	}
	var buf [48]byte
	next := k + 2
	low, _ := words.Fold(buf[:0], v.Between(j, next))
	switch n := v.Small(next, 1); {
	case !v.Tight(next):
	case n == 2 || v.IsSign(next, Squared):
		low, next = append(low, '2'), next+1
	case n == 3 || v.IsSign(next, Cubed):
		low, next = append(low, '3'), next+1
	}
	if u := words.Units[string(low)]; u != nil && v.LooseEnd(next) {
		return u, next
	}
	return nil, j
}

// isFever reports whether the letter at token j is that of a temperature without its ring: temp 101.4 F.
func isFever(v *View, j int) bool {
	if !v.LooseEnd(j + 1) {
		return false
	}
	return v.IsNear(j, words.Feverish, 8)
}

// isRareUnit reports whether token j stands apart from a number in Devanagari, or beside a word of temperatures: २ st,
// 273 K.
func isRareUnit(v *View, j int) bool {
	if !v.At(j).Gap {
		return false
	}
	alone := v.At(j-2).Kind == Nothing && v.At(j+1).Kind == Nothing
	return alone || v.At(j-1).hindi || v.Near(j, 4, words.Signed) || v.IsWord(j+1, words.Signed)
}

// microUnit reads µm, µg and µs, whose first letter is Greek, at token j.
func microUnit(v *View, j int) (*words.Unit, int) {
	if v.At(j).Kind != Foreign || !v.Tight(j+1) || v.At(j+1).Kind != Latin || !v.LooseEnd(j+2) {
		return nil, j
	}
	if u := UnitText(v, j, j+2); u != nil {
		return u, j + 2
	}
	return nil, j
}

// standsApart reports whether token j is a unit although it is one that touches its number elsewhere: 6 ft 2 in, 230 V,
// 43.2 s, २ ha, and whatever stands alone with its number.
func standsApart(v *View, j int) bool {
	if v.At(j-1).hindi || isOnlyMeasure(v, j) {
		return true
	}
	decimal := v.IsSign(j-2, '.') && v.At(j-3).Kind == Digits
	switch v.Str(j) {
	case "in": // not 5 in all
		return v.Reads(j-2, "ft", "feet") || v.TightSign(j+1, '.') && !v.Last(j+1) && v.At(j+2).InSmallLetters()
	case "V", "W":
		return decimal || !v.IsAnyWord(j-2, words.Place, words.EnglishHead, words.IdentifierWord, words.Coach,
			words.CodeWord)
	case "s", "ha", "mi", "ac", "gal", "qt", "q", "t":
		return decimal
	}
	return false
}

// isOnlyMeasure reports whether a sentence is a number and the word at token j, and nothing else.
func isOnlyMeasure(v *View, j int) bool {
	i := j - 1
	for i >= v.Start && (v.At(i).Kind == Digits || v.TightSign(i, '.') || v.TightSign(i, ',')) {
		i--
	}
	return i < v.Start && i < j-1 && v.Last(j)
}

// SquareAt reads an area or a volume: sq ft, sq. m, cu ft, m², km2 and cm³.
func SquareAt(v *View, j int) (*words.Unit, int) {
	if table := powerWords[v.Str(j)]; table != nil {
		k := j + 1
		if v.TightSign(k, '.') && !v.Last(k) {
			k++
		}
		if v.At(k).Kind != Latin || !v.LooseEnd(k+1) {
			return nil, j
		}
		u := table[v.Str(k)]
		if u == nil {
			return nil, j
		}
		k++
		if v.TightSign(k, '.') && !v.Last(k) {
			k++
		}
		return u, k
	}
	at := j + 1
	if v.TightSign(at, '^') {
		at++ // m^2
	}
	figure := v.At(at)
	if figure.Gap || figure.Kind != Sign && figure.Kind != Digits || !v.LooseEnd(at+1) {
		return nil, j
	}
	var u *words.Unit
	switch v.Str(at) {
	case string(rune(Squared)), "2":
		u = squares[v.Str(j)]
	case string(rune(Cubed)), "3":
		u = cubes[v.Str(j)]
	}
	if u == nil {
		return nil, j
	}
	return u, at + 1
}

// powerWords are what stands before a length to make it an area or a volume.
var powerWords = map[string]map[string]*words.Unit{"sq": squares, "Sq": squares, "SQ": squares, "cu": cubes,
	"Cu": cubes}

func squareWord(s string) bool { return powerWords[s] != nil }

// squares are the areas of the units of length.
var squares = measuresOf("sq")

// cubes are their volumes.
var cubes = measuresOf("cu")

// measuresOf are the units of length, and what each is with a prefix, as an area or a volume.
func measuresOf(prefix string) map[string]*words.Unit {
	of := make(map[string]*words.Unit)
	for symbol, names := range map[string]string{
		"ft": "ft feet Ft", "m": "m mt mtr", "yd": "yd yds yard", "km": "km", "mm": "mm", "cm": "cm", "in": "in inch",
	} {
		u := words.Units[prefix+symbol]
		if u == nil {
			u = words.Units["~"+prefix+symbol]
		}
		for name := range strings.FieldsSeq(names) {
			of[name] = u
		}
	}
	return of
}

var plainDegree = words.Unit{Symbol: "~degree"}

// UnitText looks tokens i to j up in the table of units.
func UnitText(v *View, i, j int) *words.Unit {
	s := v.Between(i, j)
	var buf [24]byte
	if len(s) > len(buf) {
		return nil
	}
	low, _ := words.Fold(buf[:0], s)
	return words.Units[string(low)]
}

// IsMeasure reports whether token i is a unit and a number stands before it.
func IsMeasure(v *View, i int) bool { return v.At(i-1).Kind == Digits && UnitText(v, i, i+1) != nil }

// SignUnits are the units that are signs: ¢ and ‰.
var SignUnits = [256]*words.Unit{cent: words.Units["~cent"], perMille: words.Units["~permille"]}
