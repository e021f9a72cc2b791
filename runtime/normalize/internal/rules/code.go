package rules

import (
	"strings"

	"github.com/swar-tts/swar/runtime/normalize/internal/text"
	"github.com/swar-tts/swar/runtime/normalize/internal/words"
	"github.com/swar-tts/swar/runtime/speech"
)

// code reads what is a code by its shape: letters and digits that touch (HDFC0001234, 6E-2045), groups of digits with
// hyphens (405-1234567-7654321), cards and Aadhaar in groups of four, zero-led numbers, eleven digits and more.
func code(r *Reader, i int) (Reading, bool) {
	if r.Joined(i) {
		return Reading{}, false
	}
	if r.At(i).Kind == text.Digits {
		if reading, ok := fours(r, i); ok {
			return reading, true
		}
	}
	if reading, ok := mixedCode(r, i); ok {
		return reading, true
	}
	next, letters, numbers, hyphens := codeRun(&r.View, i)
	switch {
	case letters && isFiscal(&r.View, i, next):
		return sayFiscal(r, i)
	case letters && numbers && isLastOfWaiting(&r.View, i, next):
		return Reading{}, false
	case letters && numbers:
		return lettersAndNumbers(r, i, next)
	case numbers && hyphens > 0 && hyphenCode(&r.View, i, next):
		return sayCode(r, i, next)
	case r.At(i).Kind != text.Digits || !r.LooseEnd(i+1):
		return Reading{}, false
	}
	return plainCode(r, i)
}

// isLastOfWaiting reports whether the number at token i ends what its stroke parts from another of the kind: RAC 12/WL
// 4.
func isLastOfWaiting(v *text.View, i, next int) bool {
	pair := next == i+3 && v.TightSign(i+1, '/') && v.At(next).Kind == text.Digits && v.At(next).Gap
	return pair && len(v.AtDigits(i)) <= 3 && v.At(i-1).InCapitals()
}

// plainCode reads digits that are a code by themselves: zero-led ones, eleven and more.
func plainCode(r *Reader, i int) (Reading, bool) {
	if r.ZeroLed(i) && text.HasStroke(&r.View, i) && isPaddedCode(&r.View, i) {
		return strokedCode(r, i)
	}
	if isBillOfYear(&r.View, i) {
		return sayCode(r, i, i+5)
	}
	if u, _ := text.UnitAt(&r.View, i+3); u != nil && r.NumberBehind(i+1, '.') {
		return Reading{}, false // 04417.6 kWh
	}
	if n := len(r.Str(i)); n >= 3 && r.ZeroLed(i) || n > 10 {
		r.Begin(i, speech.SpanCode)
		r.Grouped(r.Str(i))
		return r.End(i + 1)
	}
	return Reading{}, false
}

// isPaddedCode reports whether the zero-led number at token i and what its stroke parts are one code: FIR संख्या
// 0142/2025, 0000/00447/71330.
func isPaddedCode(v *text.View, i int) bool {
	three := len(v.Str(i)) >= 3 && v.NumberBehind(i+3, '/') && len(v.Str(i+2)) > 2
	return three || v.LooseEnd(i+3) && text.ContextOf(v, i).What == text.IDNear
}

// isFiscal reports whether tokens i to next are a financial year of two: FY26-27.
func isFiscal(v *text.View, i, next int) bool {
	if next != i+4 || !v.Reads(i, "FY", "AY") || !v.TightDigits(i+1) || !v.NumberBehind(i+2, '-') {
		return false
	}
	return len(v.Str(i+1)) == 2 && len(v.Str(i+3)) == 2
}

// sayFiscal says FY26-27.
func sayFiscal(r *Reader, i int) (Reading, bool) {
	r.Begin(i, speech.SpanYear)
	r.Letters(r.Str(i), r.Lang)
	r.SayPlain(i+1, r.Lang)
	r.SayPlain(i+3, r.Lang)
	return r.End(i + 4)
}

// lettersAndNumbers reads tokens i to next, capitals and digits that touch: a name with its number, or else a code.
func lettersAndNumbers(r *Reader, i, next int) (Reading, bool) {
	switch {
	case namedNumber(&r.View, i, next):
		r.Begin(i, speech.SpanNumber)
		r.Letters(r.Str(i), r.Lang)
		a, _ := text.AmountAt(&r.View, behindHyphen(&r.View, i+1))
		if name := englishName(&r.View, i); name != "" && !r.English {
			r.Say(name)
		} else {
			r.SayAmount(&a, r.Lang, false)
		}
		return r.End(a.Next)
	case next == i+2 && r.IsWord(i, words.Spoken) && numbersName(&r.View, i, i+1):
		r.Begin(i, speech.SpanNumber) // COVID19
		r.Say(r.Str(i))
		r.SayPlain(i+1, r.Lang)
		return r.End(next)
	case r.At(i).Kind == text.Digits && r.Reads(i+1, "SMS") && (next == i+2 || r.Reads(i+3, "D", "DAY")):
		r.Begin(i, speech.SpanNumber) // 100SMS/day, 100SMS/D
		r.SayPlain(i, r.Lang)
		r.Letters("SMS", r.Lang)
		if next > i+2 {
			r.SayRate(i+3, r.Lang)
		}
		return r.End(next)
	case next == i+2 && r.IsWord(i-1, words.Branded) && len(r.AtDigits(i+1)) == 2:
		r.Begin(i, speech.SpanNumber) // Galaxy S24
		r.Letters(r.Str(i), r.Lang)
		r.SayPlain(i+1, r.Lang)
		return r.End(next)
	case nameAndNumber(&r.View, i, next):
		return keep(r, i)
	}
	for _, try := range [...]func(*Reader, int, int) (Reading, bool){berth, questions, labelRange, quarterOfYear,
		seriesName, sectionNumber, technicalName} {
		if reading, ok := try(r, i, next); ok {
			return reading, true
		}
	}
	return sayCode(r, i, next)
}

// berth reads S4/32 beside words of journeys: a coach, and a place in it.
func berth(r *Reader, i, next int) (Reading, bool) {
	if next != i+4 || !words.LookUpWritten(r.Str(i)).Is(words.CoachCode) || !text.HasStroke(&r.View, i+1) ||
		!isTravelling(&r.View, i) {
		return Reading{}, false
	}
	if len(r.Str(i+1)) > 2 || len(r.Str(i+3)) > 2 {
		return Reading{}, false
	}
	r.Begin(i, speech.SpanCode)
	r.Letters(r.Str(i), r.Lang)
	r.SayPlain(i+1, r.Lang)
	r.Pause()
	r.SayPlain(i+3, r.Lang)
	return r.End(next)
}

// codeRun measures the run of capitals, digits and single hyphens at token i.
func codeRun(v *text.View, i int) (next int, letters, numbers bool, hyphens int) {
	j := i
	for {
		t := v.At(j)
		if j > i && t.Gap {
			break
		}
		switch {
		case t.Kind == text.Digits:
			numbers = true
		case t.InCapitals():
			letters = true
		case j > i && t.IsOneOf("-/") && codeGoesOn(v, j+1):
			hyphens++
		case t.Kind == text.Latin, t.Kind == text.Deva:
			return j, false, false, 0
		default:
			return j, letters, numbers, hyphens
		}
		j++
		if j-i > 12 {
			return j, letters, numbers, hyphens
		}
	}
	return j, letters, numbers, hyphens
}

// codeGoesOn reports whether token i, behind a hyphen or a stroke, is the next part of a code.
func codeGoesOn(v *text.View, i int) bool {
	t := v.At(i)
	return v.Tight(i) && (t.Kind == text.Digits || t.InCapitals())
}

// namedNumber reports whether tokens i to next are such letters, or a name such as T20, and their number.
func namedNumber(v *text.View, i, next int) bool {
	j := behindHyphen(v, i+1)
	if next != j+1 || v.At(i).Kind != text.Latin ||
		!words.LookUpWritten(v.Str(i)).Is(words.Numbered) && englishName(v, i) == "" {
		return false
	}
	a, ok := text.AmountAt(v, j)
	if !ok || a.Unit != nil || !v.LooseEnd(a.Next) || v.Near(i, 2, words.CodeWord) {
		return false
	}
	return a.N.Size <= 3 && !a.N.Grouped && !v.ZeroLed(j)
}

// englishName returns the number of the name at token i, "" for none. The coach B12 of a train is none.
func englishName(v *text.View, i int) string {
	j := behindHyphen(v, i+1)
	if v.IsWord(i-1, words.Coach) || v.At(j).Kind != text.Digits || len(v.Str(i)) > 1 || len(v.Str(j)) > 2 {
		return ""
	}
	var buf [4]byte
	return words.Named(append(append(buf[:0], v.Str(i)...), v.Str(j)...))
}

// mixedCode reads letters of both cases with digits between them, where a code is named: 7F3kQ2.
func mixedCode(r *Reader, i int) (Reading, bool) {
	j, turns, low := i, 0, false
	for ; j < i+12 && (j == i || r.Tight(j)); j++ {
		t := r.At(j)
		if t.Kind != text.Digits && t.Kind != text.Latin {
			break
		}
		turns++
		low = low || t.Kind == text.Latin && t.Cas != words.Upper
	}
	jumbled := turns >= 5 && r.At(j-1).B-r.At(i).A >= 8 // Z3hTq9LpR2v, which programs send behind an OTP
	if turns < 3 || !low || !jumbled && text.ContextOf(&r.View, i).What != text.CodeNear {
		return Reading{}, false
	}
	return sayCode(r, i, j)
}

// nameAndNumber reports whether tokens i to next are a name that is said as a word, a hyphen and a small number:
// COVID-19.
func nameAndNumber(v *text.View, i, next int) bool {
	if next != i+3 || !v.TightSign(i+1, '-') {
		return false
	}
	return v.At(i).Kind == text.Latin && text.SaidAsWord(v.At(i).Word, v.Str(i)) && numbersName(v, i, i+2)
}

// numbersName reports whether the word at token i is long enough for a name, and token j short enough for its number.
func numbersName(v *text.View, i, j int) bool { return len(v.Str(i)) > 3 && len(v.Str(j)) <= 2 }

// hyphenCode reports whether groups of digits with hyphens are an identifier: three groups or more, or one too long for
// a range.
func hyphenCode(v *text.View, i, next int) bool {
	parts, long := 0, false
	for j := i; j < next; j++ {
		t := v.At(j)
		if t.Kind == text.Sign && t.Ch == '/' && parts < 3 {
			return false // house 7-1-44/2 has parts enough
		}
		if t.Kind == text.Digits {
			parts++
			long = long || len(v.Str(j)) >= 5 || v.ZeroLed(j) && len(v.Str(j)) > 2
		}
	}
	if parts >= 3 || long {
		return true
	}
	near := text.ContextOf(v, i).What
	if near == text.CodeNear {
		return true
	}
	if near != text.IDNear || isLabelRange(v, i) {
		halves := parts == 2 && len(v.Str(i)) == 3 && len(v.Str(i+2)) == 3
		return halves && isCodeSubject(v, i+2) // 618-204 is your code
	}
	return len(v.Str(i)) >= 3 || parts == 2 && len(v.Str(i+2)) == 4 // order 60-4471
}

// isLabelRange reports whether the two numbers with a hyphen at token i are the first and the last of many: tokens
// 101-150.
func isLabelRange(v *text.View, i int) bool {
	a, b := v.Small(i, 3), v.Small(i+2, 3)
	return len(v.Str(i)) == len(v.Str(i+2)) && 0 <= a && a < b
}

// sayCode says tokens i to next as a code.
func sayCode(r *Reader, i, next int) (Reading, bool) {
	r.Begin(i, speech.SpanCode)
	for j := i; j < next; j++ {
		switch t := r.At(j); t.Kind {
		case text.Digits:
			r.Grouped(r.Str(j))
		case text.Latin:
			switch moved := movedIn(&r.View, i, j, next); {
			case moved != "":
				r.Say(moved)
			case isNameInCode(&r.View, i, j, next):
				r.Say(r.Str(j))
			case j > i && text.Crosses(&r.View, j) && r.At(j-1).Kind == text.Sign && r.TightDigits(j+1):
				// IMPS-7132-XX4471
			default:
				lettersBesideMask(r, r.Str(j))
			}
		case text.Sign:
			r.Pause()
		}
	}
	return r.End(next)
}

// lettersBesideMask says the letters of s one by one, and a pause for a mask among them: the ABXXXXXX of ABXXXXXX1F.
func lettersBesideMask(r *Reader, s string) {
	from := strings.Index(s, "XXX")
	if from < 0 {
		r.Letters(s, r.Lang)
		return
	}
	tail := strings.TrimLeft(s[from:], "X")
	if from > 0 {
		r.Letters(s[:from], r.Lang)
		r.Pause()
	}
	if tail != "" {
		r.Letters(tail, r.Lang)
	}
}

// isNameInCode reports whether token j of a code, whose tokens are i to next, is a name behind a stroke, as banks write
// payees: the GOPAL of UPI/633150084410/GOPAL SWEETS. Behind a hyphen it takes another word in capitals, or the
// narration of a payment around it.
func isNameInCode(v *text.View, i, j, next int) bool {
	named := v.SaysWord(j) || j+1 == next && text.IsName(v, j)
	if !named || j+1 < next && v.At(j+1).Kind != text.Sign {
		return false
	}
	narrated := j == i && (isNarrationStroke(v, j+1) || v.Reads(j-1, "BY", "TO", "By", "To"))
	if inside := j > i && v.At(j-1).Kind == text.Sign; narrated || inside && isNarration(v, i, next) {
		return true
	}
	goesOn := j+1 == next && v.At(next).Gap && (text.IsCapitalName(v, next) || v.At(next).Cas == words.Title)
	return v.IsSign(j-1, '/') && len(v.Str(j)) > 3 || v.At(j-1).IsOneOf("-/") && goesOn
}

// isOnScreen reports whether the 4K at token i is how sharp a picture is: 4K TV, TV 55 inch 4K.
func isOnScreen(v *text.View, i int) bool {
	if v.IsWord(i+2, words.Screen) {
		return true
	}
	before := v.IsWord(i-1, words.Screen) || v.IsWord(i-2, words.Screen) || v.IsWord(i-3, words.Screen)
	return before && !v.IsWord(i-1, words.AmountOf) && !v.In(i-1, words.Pricing)
}

// generation reads 5G and 4K TV.
func generation(r *Reader, i int) (Reading, bool) {
	t := r.At(i + 1)
	if len(r.Str(i)) != 1 || r.Joined(i) || t.Gap || !r.LooseEnd(i+2) {
		return Reading{}, false
	}
	sharpness := r.Reads(i+1, "K") && isOnScreen(&r.View, i)
	if !sharpness && !r.Reads(i+1, "G", "D", "जी", "डी") {
		return Reading{}, false
	}
	d := r.Text[r.Toks[i].A] - '0'
	if d < 2 || d > 8 {
		return Reading{}, false
	}
	r.Begin(i, speech.SpanAcronym)
	if !r.English || t.Kind == text.Deva {
		r.Say(r.Home.InRows[d])
	} else {
		r.Say(words.English.Below100[d])
	}
	if t.Kind == text.Deva {
		r.Say(r.Str(i + 1))
	} else {
		r.Letters(r.Str(i+1), r.Lang)
	}
	return r.End(i + 2)
}

// fours reads a card or an Aadhaar number in groups of four.
func fours(r *Reader, i int) (Reading, bool) {
	if len(r.Str(i)) != 4 {
		return Reading{}, false
	}
	var at [text.MaxParts]int
	n := digitParts(&r.View, i, &at)
	k := 0
	for k < n && len(r.Str(at[k])) == 4 {
		k++
	}
	padded := k == 2 && (r.ZeroLed(at[0]) || r.ZeroLed(at[1])) && r.At(at[1]).Gap // 0447 7133
	if k < 3 && !padded || !r.LooseEnd(at[k-1]+1) {
		return Reading{}, false
	}
	next := at[k-1] + 1
	tail := k >= 3 && k < n && r.At(next).Kind == text.Digits && len(r.Str(next)) <= 3 // as a card of 19 digits has
	if tail && text.ContextOf(&r.View, i).What != text.NoContext {
		k++
		next = at[k-1] + 1
	}
	r.Begin(i, speech.SpanCode)
	r.SayParts(at[:k])
	return r.End(next)
}

// codeRunsOn reads the code of OTP:381940.2min, behind whose full stop no space was typed.
func codeRunsOn(r *Reader, i int) (Reading, bool) {
	n := len(r.Str(i))
	if n < 4 || n > 8 || !r.NumberBehind(i+1, '.') {
		return Reading{}, false
	}
	if len(r.Str(i+2)) > 2 || r.LooseEnd(i+3) || text.ContextOf(&r.View, i).What != text.CodeNear {
		return Reading{}, false
	}
	r.Begin(i, speech.SpanCode)
	r.Grouped(r.Str(i))
	r.Draft.End(i + 1)
	r.Mark(".")
	return r.Done(i + 2)
}

// contextCode reads a number that the words around it make an identifier.
func contextCode(r *Reader, i int) (Reading, bool) {
	if !r.LooseEnd(i+1) || r.NumberBehind(i+1, '-') && isLabelRange(&r.View, i) && r.LooseEnd(i+3) {
		return Reading{}, false
	}
	rule := judge(&r.View, i)
	if rule == nil {
		return Reading{}, false
	}
	r.Because(rule.reason)
	if rule.near != text.NoContext && len(r.Str(i)) <= 4 {
		if reading, ok := spacedCode(r, i); ok {
			return reading, true
		}
	}
	r.Begin(i, speech.SpanCode)
	r.Grouped(r.Str(i))
	return r.End(i + 1)
}

// isLetteredCode reports whether the number at token i goes on letter names of Devanagari: आर-४४१०, ओडी-२२०१४.
func isLetteredCode(v *text.View, i int) bool {
	if len(v.Str(i)) < 3 || !v.Tight(i) || !v.TightSign(i-1, '-') {
		return false
	}
	name := v.At(i - 2)
	return name.Kind == text.Deva && name.B-name.A <= 15 && !name.Word.Is(words.City)
}

// spacedCode reads a code that is written in groups: 12 34 56, 845 2291 0034. Up to six digits need no pause.
func spacedCode(r *Reader, i int) (Reading, bool) {
	if next := text.Singles(&r.View, i); next > i+2 {
		r.Begin(i, speech.SpanCode)
		for j := i; j < next; j++ {
			r.Digits(r.Str(j), r.DigitLang())
		}
		return r.End(next)
	}
	var at [text.MaxParts]int
	n := digitParts(&r.View, i, &at)
	total, k := 0, 0
	for ; k < n; k++ {
		if k > 0 && !r.At(at[k]).Gap {
			break
		}
		size := len(r.Str(at[k]))
		landline := k == 1 && n == 2 && size <= 7 && total+size == 10 // 1374 309988
		if size < 2 || size > 4 && !landline {
			break
		}
		total += size
	}
	next := at[max(k-1, 0)] + 1
	if k < 2 || !r.LooseEnd(next) || r.TightSign(next, ':') {
		return Reading{}, false
	}
	if u, _ := text.UnitAt(&r.View, next); u != nil || r.CountedAt(next) || r.IsSign(next, '%') {
		return Reading{}, false // the last group is a quantity of its own
	}
	r.Begin(i, speech.SpanCode)
	if total > 6 {
		r.SayParts(at[:k])
	} else {
		for _, j := range at[:k] {
			r.Digits(r.Str(j), r.DigitLang())
		}
	}
	return r.End(next)
}
