package text

// IsoTime reads the T10:30 of 2026-08-15T10:30, with seconds and a zone. The zone is silent, because people read the
// stamp as a time of the day; its clock of 24 hours decides the part of the day.
func IsoTime(v *View, i int) (m Moment, ok bool) {
	if !v.Tight(i) || !v.Reads(i, "T") {
		return m, false
	}
	hour, minute := pairs(v, i+1)
	if hour < 0 || hour > 23 || minute < 0 || minute > 59 {
		return m, false
	}
	m = Moment{Hour: hour, Min: minute, Sec: -1, Half: 'a', Full: true, Next: i + 4}
	if m.Hour >= 12 {
		m.Half = 'p'
	}
	if s := v.Pair(i + 5); v.TightSign(i+4, ':') && v.Tight(i+5) && 0 <= s && s < 60 {
		m.Sec, m.Next = s, i+6
		if v.NumberBehind(i+6, '.') {
			m.Next = i + 8 // nobody says thousandths
		}
	}
	m.Next += zone(v, m.Next)
	return m, v.LooseEnd(m.Next)
}

// zone returns how many tokens at j are the zone of a time stamp: Z, +05:30, +0530.
func zone(v *View, j int) int {
	switch {
	case v.Tight(j) && v.Reads(j, "Z"):
		return 1
	case !v.Tight(j) || !v.At(j).IsOneOf("+-"):
		return 0
	}
	if hour, minute := pairs(v, j+1); hour >= 0 && minute >= 0 {
		return 4
	}
	if v.TightDigits(j+1) && len(v.Str(j+1)) == 4 {
		return 2
	}
	return 0
}
