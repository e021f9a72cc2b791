package rules

import (
	"strings"

	"github.com/swar-tts/swar/runtime/normalize/internal/text"
	"github.com/swar-tts/swar/runtime/normalize/internal/words"
	"github.com/swar-tts/swar/runtime/speech"
)

// acronym spells a word in capitals, unless it is known to be said as a word.
func acronym(r *Reader, i int) (Reading, bool) {
	s, tail, ok := capitalsOf(&r.View, i)
	if !ok {
		return Reading{}, false
	}
	brand := len(r.Str(i)) == 2 && r.TightSign(i+1, '&') && r.Tight(i+2) && r.Single(i+2) // AT&T
	if len(s) > 6 || len(s) < 2 || !ascii(s) {
		return Reading{}, false
	}
	known := text.SaidAsWord(words.LookUp(s), s)
	named := tail == "" && (text.IsPluralWord(s) || text.IsName(&r.View, i))
	if (known || named) && !brand {
		return Reading{}, false
	}
	r.Begin(i, speech.SpanAcronym)
	if isFunction(&r.View, i) {
		r.Say(strings.ToLower(s))
		return r.End(i + 1)
	}
	r.Letters(s, r.Lang)
	switch {
	case !r.English:
	case tail == "s":
		r.Say("s")
	case tail != "":
		r.Ending(tail)
	}
	return r.End(i + 1)
}

// isFunction reports whether token i names a function of a program, as of a table of numbers: SUM(, AVERAGE(.
func isFunction(v *text.View, i int) bool {
	s := v.Str(i)
	if !v.At(i).Part.IsProgram() || !v.TightSign(i+1, '(') {
		return false
	}
	return len(s) >= 3 && strings.ContainsAny(s, "AEIOU") && s[0] != 'U' && s != "API"
}

// isPlural reports whether s is an acronym with an s: EMIs.
func isPlural(s string) bool { return len(s) > 2 && s[len(s)-1] == 's' && allUpper(s[:len(s)-1]) }

func allUpper(s string) bool {
	for i := range len(s) {
		if s[i] < 'A' || s[i] > 'Z' {
			return false
		}
	}
	return len(s) > 0
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// spacedInitials reads the initials of A. R. Rahman, U. S. A. and ए. के. शर्मा without their dots.
func spacedInitials(r *Reader, i int) (Reading, bool) {
	if !text.IsSpacedInitial(&r.View, i) {
		return Reading{}, false
	}
	next := i
	for ; text.IsSpacedInitial(&r.View, next) && next < i+text.Lookahead; next += 2 {
	}
	r.Begin(i, speech.SpanAcronym)
	for k := i; k < next; k += 2 {
		if r.At(k).Kind == text.Deva {
			r.Say(r.Str(k))
		} else {
			r.Letters(r.Str(k), r.Lang)
		}
	}
	return r.End(next)
}

// initials reads U.S.A., A.R.Rahman and B.Tech without their dots.
func initials(r *Reader, i int) (Reading, bool) {
	if reading, ok := spacedInitials(r, i); ok {
		return reading, true
	}
	if !text.IsInitial(&r.View, i) || r.Tight(i) && r.At(i-1).Kind != text.Sign {
		return Reading{}, false
	}
	j := i
	for text.IsInitial(&r.View, j) {
		j += 2
	}
	if !r.LooseEnd(j+1) || !r.Single(j) && r.At(j).Cas == words.Lower {
		return Reading{}, false
	}
	next := j + 1
	if text.IsDegree(&r.View, j) && r.TightSign(next, '.') && !r.Last(next) {
		r.Begin(i, speech.SpanAcronym)
		for k := i; k < j; k += 2 {
			r.Letters(r.Str(k), r.Lang)
		}
		if isShortDegree(&r.View, j) {
			r.Letters(r.Str(j), r.Lang)
		} else {
			r.Say(r.Str(j))
		}
		return r.End(next + 1)
	}
	if !r.Single(j) && !isShortDegree(&r.View, j) {
		next = j // the name behind the initials speaks for itself
	} else if r.TightSign(next, '.') && !r.Last(next) {
		next++
	}
	r.Begin(i, speech.SpanAcronym)
	for k := i; k < next; k += 2 {
		r.Letters(r.Str(k), r.Lang)
	}
	return r.End(next)
}

// isShortDegree reports whether the word of a degree at token j is itself said by letters: B.Sc., B.Ed. is not.
func isShortDegree(v *text.View, j int) bool { return v.Reads(j, "Sc") }

// roman reads a Roman numeral: World War II, Class XII, अग्नि-IV, XIIवीं.
func roman(r *Reader, i int) (Reading, bool) {
	if reading, ok := schoolClass(r, i); ok {
		return reading, true
	}
	if reading, ok := smallRoman(r, i); ok {
		return reading, true
	}
	if !r.At(i).InCapitals() {
		return Reading{}, false
	}
	n := text.RomanValue(r.Str(i))
	if n == 0 {
		return Reading{}, false
	}
	if endsOrdinal(&r.View, i+1) && r.Tight(i+1) {
		return hindiOrdinal(r, i, n)
	}
	if reading, ok := classRange(r, i, n); ok {
		return reading, true
	}
	head := romanHead(&r.View, i)
	if !r.LooseEnd(i+1) || !isRoman(&r.View, i, head) {
		return Reading{}, false
	}
	inRow := r.Single(i) && (r.IsWord(i+1, words.DigitName) || r.Capital(i-1))
	if spelled := r.Single(i+1) && r.At(i+1).InCapitals(); spelled || inRow {
		return Reading{}, false // letters and digits in a row have been read already
	}
	pronoun := n == 1 && head == i-1 && !r.IsSign(head, '.') && r.At(i+1).InSmallLetters() // the part I like
	if pronoun {
		return Reading{}, false
	}
	r.Begin(i, speech.SpanNumber)
	r.Cardinal(n, quantityLang(r, head+1))
	return r.End(i + 1)
}

// smallRoman reads the numeral of sem vi, which is typed in small letters. An i alone is the pronoun.
func smallRoman(r *Reader, i int) (Reading, bool) {
	s := r.Str(i)
	if r.At(i).Cas != words.Lower || s == "i" || strings.Trim(s, "ivx") != "" {
		return Reading{}, false
	}
	if r.Joined(i) || !r.LooseEnd(i+1) {
		return Reading{}, false
	}
	n := text.RomanValue(strings.ToUpper(s))
	if n == 0 || n > 12 || !r.In(i-1, words.SmallRomanHead) {
		return Reading{}, false
	}
	if len(s) == 1 && !r.Reads(i-1, "sem", "semester") {
		return Reading{}, false
	}
	r.Begin(i, speech.SpanNumber)
	r.Cardinal(n, r.Lang)
	return r.End(i + 1)
}

// classRange reads the classes VI-XII, and IX & X behind their word: n and another numeral that is greater.
func classRange(r *Reader, i int, n uint64) (Reading, bool) {
	sep := r.At(i + 1)
	ranged := sep.IsOneOf(text.Dashes) && sep.Gap == r.At(i+2).Gap
	pair := sep.IsOneOf("&,") && isClass(&r.View, i-1)
	if !ranged && !pair || r.Joined(i) || r.IsSign(i-1, '-') {
		return Reading{}, false
	}
	if !r.At(i+2).InCapitals() || !r.LooseEnd(i+3) {
		return Reading{}, false
	}
	to := text.RomanValue(r.AtWord(i + 2))
	if to <= n || to > 12 || r.TightSign(i+3, '-') {
		return Reading{}, false
	}
	r.Begin(i, speech.SpanRange)
	r.Cardinal(n, r.Lang)
	if ranged {
		r.Say(r.Lang.Words[words.WordTo])
	} else {
		r.Say(r.Lang.Words[words.WordAnd])
	}
	r.Cardinal(to, r.Lang)
	return r.End(i + 3)
}

// isClass reports whether token i, or the one before its dot, is a word that Roman numerals follow.
func isClass(v *text.View, i int) bool {
	if v.IsSign(i, '.') {
		i--
	}
	return v.IsWord(i, words.RomanHead) || v.Reads(i, "Cl", "cl", "Std", "std", "Classes", "classes", "Ph", "ph")
}

// romanHead returns the token before a Roman numeral, or before its hyphen: Phase-II.
func romanHead(v *text.View, i int) int {
	if v.TightSign(i-1, '-') && v.Tight(i) {
		return i - 2
	}
	return i - 1
}

// capitalsOf returns the capitals of the word at token i, and the ending that is none of them: 's or s.
func capitalsOf(v *text.View, i int) (s, tail string, ok bool) {
	t, s := v.At(i), v.Str(i)
	n := len(s)
	switch {
	case n < 2:
		return s, "", false
	case t.Cas == words.Upper && !strings.Contains(s, "'"):
		return s, "", true
	case t.Cas == words.Mixed && strings.HasSuffix(s, "'s") && allUpper(s[:n-2]):
		return s[:n-2], "'s", true
	case isPlural(s):
		return s[:n-1], "s", true
	}
	return s, "", false
}

// isRoman reports whether the capitals at token i, which may be a Roman numeral, are one beside what stands at head.
func isRoman(v *text.View, i, head int) bool {
	s := v.Str(i)
	small := strings.Trim(s, "IVX") == "" // up to 39
	switch {
	case head >= v.Start && isClass(v, head):
		return small || len(s) > 2
	case v.IsWord(i+1, words.RomanTail):
		// Mercedes V Class
		lone := v.At(i-1).Kind.Lettered() && !v.IsWord(i-1, words.DigitName) && !v.IsWord(i+1, words.EnglishHead)
		return small && (len(s) > 1 || lone)
	case head == i-1:
		return isPlainlyRoman(v, i) || len(s) > 1 && endsOrdinal(v, i+1)
	case v.At(head).Kind == text.Deva: // योजना-I, भाग-XCIX; दिल्ली-MCD is none
		return !v.IsWord(head, words.DigitName) && (small && s != "X" || len(s) > 3)
	}
	return isPlainlyRoman(v, i) || small && isNameOf(v, head, s)
}

// isNameOf reports whether token i is a name that s numbers.
func isNameOf(v *text.View, i int, s string) bool {
	name := v.At(i).Cas == words.Title && len(v.Str(i)) > 3 && s != "X"          // Agni-V
	ward := v.At(i).InCapitals() && len(v.Str(i)) > 2 && len(s) > 1 && s != "XX" // OPD-IV
	return name || ward
}

// isPlainlyRoman reports whether the capitals at token i are a Roman numeral and hardly anything else: II, VIII,
// MMXXIV. IV, VI and XL are short forms, too.
func isPlainlyRoman(v *text.View, i int) bool {
	s := v.Str(i)
	if s == "II" || len(s) > 4 {
		return true
	}
	return len(s) > 2 && s != "XXX" && strings.Trim(s, "IVX") == ""
}

// endsOrdinal reports whether token i is the ending of a Hindi ordinal: वीं, था.
func endsOrdinal(v *text.View, i int) bool {
	return v.At(i).Kind == text.Deva && v.LooseEnd(i+1) &&
		v.In(i, words.HindiOrdinalEnding)
}

// schoolClass reads XII-B.
func schoolClass(r *Reader, i int) (Reading, bool) {
	n := text.RomanValue(r.Str(i))
	if n == 0 || n > 12 || !r.At(i).InCapitals() {
		return Reading{}, false
	}
	another := r.At(i-1).IsOneOf("&,/") && r.IsSign(i-3, '-') && text.RomanValue(r.AtWord(i-4)) > 0 // IX-B & X-A
	if r.Single(i) && !r.IsWord(i-1, words.RomanHead) && !another {
		return Reading{}, false
	}
	if !r.TightSign(i+1, '-') || !r.Tight(i+2) || !r.Capital(i+2) || r.Text[r.Toks[i+2].A] > 'F' {
		return Reading{}, false
	}
	if r.Joined(i) || !r.LooseEnd(i+3) {
		return Reading{}, false
	}
	r.Begin(i, speech.SpanNumber)
	r.Cardinal(n, r.Lang)
	r.Letters(r.Str(i+2), r.Lang)
	return r.End(i + 3)
}

// letter names a capital that a sign joins to something in a Hindi sentence: O+, R&D.
func letter(r *Reader, i int) (Reading, bool) {
	if r.English || !r.Single(i) || r.At(i).Cas != words.Upper || r.Joined(i) {
		return Reading{}, false
	}
	before := i - 1
	for r.IsSign(before, '-') && i-before < text.Lookahead {
		before--
	}
	hyphened := before < i-1 && r.At(before).InCapitals() // USB-C
	paired := r.At(i-1).IsOneOf("+&") || r.At(i+1).IsOneOf("+&") || isBloodGroup(&r.View, i+1)
	if !hyphened && !paired && !r.TightSign(i+1, '#') {
		return Reading{}, false
	}
	r.Begin(i, speech.SpanAcronym)
	r.Letters(r.Str(i), r.Lang)
	return r.End(i + 1)
}
