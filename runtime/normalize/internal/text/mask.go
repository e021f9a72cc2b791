package text

// Crosses reports whether token i is a word of nothing but X, two at least.
func Crosses(v *View, i int) bool {
	t := v.At(i)
	if t.Kind != Latin || t.B-t.A < 2 {
		return false
	}
	for _, c := range []byte(v.Str(i)) {
		if c|0x20 != 'x' {
			return false
		}
	}
	return true
}

// LoneCross reports whether token i is a single X right in front of a number: X1234.
func LoneCross(v *View, i int) bool {
	return v.Single(i) && v.Text[v.Toks[i].A]|0x20 == 'x' && v.TightDigits(i+1)
}

// maskSigns are the signs that stand for one hidden character each.
const maskSigns = "*.#" + string(rune(Bullet))

// MaskAt measures the masks that begin at token j: crosses, stars or dots in groups, of which it looks at a constant
// number. It returns the token behind them and how many characters they hide: XXXX-XX → 6.
func MaskAt(v *View, j int) (next, wide int) {
	next = j
	for range Lookahead {
		t := v.At(j)
		switch {
		case Crosses(v, j) || wide == 0 && LoneCross(v, j):
			wide += int(t.B - t.A)
			j++
		case t.Kind == Sign && t.Ch == Ellipsis:
			wide += 3
			j++
		case t.Ch == '.' && t.Kind == Sign && !v.TightSign(j+1, '.'):
			return next, wide // it ends the sentence
		case t.IsOneOf(maskSigns):
			for wide, j = wide+1, j+1; v.TightSign(j, t.Ch); j++ {
				wide++
			}
			if t.Ch == '.' && wide < 2 {
				return next, 0
			}
		default:
			return next, wide
		}
		next = j
		if v.TightSign(j, '-') && v.Tight(j+1) && (Crosses(v, j+1) || v.IsSign(j+1, '*')) {
			j++
		}
	}
	return next, wide
}
