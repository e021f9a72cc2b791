package text

// Number is a number as it is written: with commas and a decimal point, but without sign, scale or unit.
type Number struct {
	Value    uint64
	Size     int    // digits before the point
	Frac     string // digits after the point
	Grouped  bool   // it has thousands commas
	Fraction byte   // half, quarter, threeQuarters
	Next     int    // the token behind it
}

// maxSize is how many digits a quantity may have; more than ten thousand kharab nobody says.
const maxSize = 16

// NumberAt reads the number that begins at token i; ok is false when none does.
func NumberAt(v *View, i int) (n Number, ok bool) {
	t := v.At(i)
	if v.IsSign(i, '.') && v.TightDigits(i+1) && v.At(i-1).Kind != Digits {
		n.Frac, n.Next = v.Str(i+1), i+2
		return n, true
	}
	if t.IsVulgarFraction() {
		return Number{Fraction: t.Ch, Next: i + 1}, true
	}
	if t.Kind != Digits {
		return n, false
	}
	n.add(v.Str(i))
	n.Next = i + 1
	if n.Size <= 3 {
		groups(v, &n)
	}
	switch p := v.At(n.Next); {
	case p.Kind != Sign || p.Gap && p.Ch > ThreeQuarters:
	case p.Ch == '.' && v.TightDigits(n.Next+1) && !TightDotted(v, n.Next+2):
		n.Frac = v.Str(n.Next + 1)
		n.Next += 2
	case p.IsVulgarFraction():
		n.Fraction = p.Ch
		n.Next++
	}
	return n, true
}

// TightDotted reports whether another dot and number follow: a version or a date, not a decimal.
func TightDotted(v *View, i int) bool {
	return v.NumberBehind(i, '.')
}

// Whole reports whether n has neither decimals nor a fraction.
func (n *Number) Whole() bool { return n.Frac == "" && n.Fraction == 0 }

// add appends digits to the whole part.
func (n *Number) add(s string) {
	n.Size += len(s)
	if n.Size > maxSize {
		return
	}
	for i := range len(s) {
		n.Value = n.Value*10 + uint64(s[i]-'0')
	}
}

// groups reads thousands commas, Indian (12,07,450) or western (1,207,450), if all of them stand where they should.
// Otherwise the commas part the items of a list.
func groups(v *View, n *Number) {
	var ends [8]int
	count, wide := commaGroups(v, n.Next, &ends)
	j := n.Next + 2*count
	if end := spacedGroups(v, j); count == 0 && end > j {
		for ; j < end; j++ {
			n.add(v.Str(j))
		}
		n.Grouped, n.Next = true, end
		return
	}
	if count == 0 && isLooselyGrouped(v, n, j) {
		n.add(v.Str(j + 1))
		n.Grouped, n.Next = true, j+2
		return
	}
	if count == 0 || len(v.Str(ends[count-1])) != 3 {
		return
	}
	for _, e := range ends[:count-1] {
		if (len(v.Str(e)) == 3) != wide {
			return
		}
	}
	if !wide && n.Size > 2 {
		return
	}
	for _, e := range ends[:count] {
		n.add(v.Str(e))
	}
	n.Grouped = true
	n.Next = j
}

// commaGroups collects the groups of two or three digits behind commas, from the comma at token j on. wide means that
// all have three.
func commaGroups(v *View, j int, ends *[8]int) (count int, wide bool) {
	wide = true
	for count < len(ends) && v.NumberBehind(j, ',') {
		size := len(v.Str(j + 1))
		if size != 2 && size != 3 {
			break
		}
		ends[count] = j + 1
		count++
		if size == 2 {
			wide = false
		}
		j += 2
		if size == 3 && !wide {
			break // the last group of Indian writing
		}
	}
	return count, wide
}

// spacedGroups returns the token behind the groups of two or three digits that begin at token j, if only spaces part
// them and the last has three; j if there are none. Such spaces do not break, as in 1 25 000 where a program wrote it;
// in ₹5 000 it may be any.
func spacedGroups(v *View, j int) int {
	money := v.Str(j) == "000" && (v.At(j-2).IsCurrency() || CurrencyCode(v, j-2) > 0)
	for k := j; k < j+8; k++ {
		t, next := v.At(k), v.At(k+1)
		isSpaced := t.hard || k == j && money
		isGroup := isSpaced && t.Kind == Digits && t.Gap
		switch size := len(v.Str(k)); {
		case !isGroup || size != 2 && size != 3:
			return j
		case size == 3 && !(next.Kind == Digits && next.hard):
			return k + 1
		}
	}
	return j
}

// isLooselyGrouped reports whether the comma at token j, behind the number n of an amount, is the only one of its
// lakhs: rs1,20000.
func isLooselyGrouped(v *View, n *Number, j int) bool {
	if !v.TightSign(j, ',') || !v.TightDigits(j+1) || len(v.Str(j+1)) != 5 || n.Size > 2 {
		return false
	}
	return CurrencyCode(v, j-2) > 0 || v.At(j-2).IsCurrency()
}

// ZeroLed reports whether the whole part is written with a zero in front.
func (v *View) ZeroLed(i int) bool {
	return v.At(i).Kind == Digits && v.Toks[i].B-v.Toks[i].A > 1 && v.Text[v.Toks[i].A] == '0'
}
