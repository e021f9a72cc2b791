package rules

import (
	"strings"

	"github.com/swar-tts/swar/runtime/normalize/internal/text"
	"github.com/swar-tts/swar/runtime/normalize/internal/words"
	"github.com/swar-tts/swar/runtime/speech"
)

// besideForm reads the words that are short beside some neighbours, and a unit behind per or plus.
func besideForm(r *Reader, i int) (Reading, bool) {
	numbered := r.TightDigits(i+1) && r.At(i).Cas != words.Upper // exp12/26; capitals with digits are a code
	if r.Joined(i) || !r.LooseEnd(i+1) && !numbered {
		return Reading{}, false
	}
	if full := unitApart(r, i); full != "" {
		r.Begin(i, speech.SpanUnit)
		r.Say(full)
		return r.End(i + 1)
	}
	full, next := besideWord(&r.View, i)
	if full == "" {
		return Reading{}, false
	}
	r.Begin(i, speech.SpanAbbreviation)
	r.Say(full)
	return r.End(next)
}

// isUnheard reports whether token i is a picture or a mark between words that leaves nothing behind.
func isUnheard(v *text.View, i int) bool {
	return v.At(i).Kind == text.Emoji || v.At(i).IsOneOf(markupSigns)
}

// markupSigns are not heard between words.
const markupSigns = "#*_`~^\\[]{}" + string(rune(text.Silent))

// besideWord returns what the word at token i says in full because of what stands beside it, and the token behind it
// and its dot; "" for a word that stays.
func besideWord(v *text.View, i int) (full string, after int) {
	forms := v.At(i).Word.Beside
	if len(forms) == 0 {
		return "", i
	}
	after = i + 1
	if v.TightSign(after, '.') && !v.Last(after) {
		after++
	}
	next := after
	if v.IsSign(next, ':') || v.IsSign(next, '-') {
		next++
	}
	for markup := after; next-markup < text.Lookahead && isUnheard(v, next); {
		next++ // PF#5, opp **Shiv mandir**
	}
	for k := range forms {
		if fits(v, &forms[k], i, next) {
			return forms[k].Full, after
		}
	}
	return "", i
}

// unitApart returns what the unit at token i is called behind per or plus: ten rupees per km, 8+ yrs. "" for none.
func unitApart(r *Reader, i int) string {
	if plus := r.IsSign(i-1, '+') && r.Tight(i-1) && r.At(i-2).Kind == text.Digits; plus {
		if u := text.UnitText(&r.View, i, i+1); u != nil && !u.TightOnly && !u.Rare && !r.Single(i) {
			return r.Lang.Measure(u).Many
		}
		return ""
	}
	if !r.Reads(i-1, "per", "Per", "pr", "प्रति") || r.Single(i) {
		return ""
	}
	var buf [24]byte
	low, _ := words.Fold(buf[:0], r.Str(i))
	switch u := text.UnitText(&r.View, i, i+1); {
	case words.LongRates[string(low)] != "":
		return r.Lang.Rates[string(low)]
	case u != nil && !u.TightOnly && !u.Rare:
		return r.Lang.Measure(u).One
	}
	return ""
}

// hai reads the h that people type for hai: theek h, kharab h, 500 h. One that is joined to something behind it is a
// letter. It asks for a Hindi word that was said right before it, or a number, and not for the language of the
// sentence, which may end elsewhere when it is read again.
func hai(r *Reader, i int) (Reading, bool) {
	if !r.Reads(i, "h") || r.In(i+1, words.AddressSign) {
		return Reading{}, false
	}
	worded := !r.Tight(i) && !r.IsGlued() && words.LookUp(r.LastSaid()).IsAny(words.HindiWord, words.HindiMaybe)
	counted := r.At(i-1).Kind == text.Digits && !r.English
	if !worded && !counted && !isTypedHai(&r.View, i) {
		return Reading{}, false
	}
	r.Begin(i, speech.SpanAbbreviation)
	if r.LooseEnd(i + 1) {
		r.Say("hai")
	} else {
		r.Letters("h", r.Lang)
	}
	return r.End(i + 1)
}

// isGreeting reports whether the gm or gn at token i greets: it begins a clause, and no number, unit or name is meant.
func isGreeting(v *text.View, i, next int) bool {
	t := v.At(next)
	goesOn := isNoun(v, next) || v.Reads(next, "all")
	if t.Kind != text.Latin { // no number, nor what it becomes
		goesOn = t.Kind != text.Digits && t.Kind != text.Deva
	}
	goesOn = goesOn || v.At(i+1).Kind == text.Emoji // gm 🙏 5 log aaye
	first := i
	for v.At(first-1).Kind == text.Sign && !text.EndsClause(v, first-1) || isUnheard(v, first-1) {
		first--
	}
	begins := v.At(i).Cas != words.Upper && text.EndsClause(v, first-1)
	return begins && goesOn && !v.IsSign(i+1, '.')
}

// isTyped reports whether token i is written as people type in a hurry: in small letters, and a dot behind it would end
// the sentence.
func isTyped(v *text.View, i int) bool { return v.At(i).Cas == words.Lower && !v.IsSign(i+1, '.') }

// colonBehind reports whether a colon stands behind token i, but for signs that are not heard.
func colonBehind(v *text.View, i int) bool {
	j := i + 1
	for j < i+text.Lookahead && isUnheard(v, j) {
		j++
	}
	return v.IsSign(j, ':')
}

// isNoun reports whether token i is a word with a meaning of its own, and none that a number, a sign or a short form
// becomes.
func isNoun(v *text.View, i int) bool {
	return v.At(i).Kind == text.Latin && !v.Single(i) && !v.At(i).Word.IsAny(words.Expansion, words.EnglishWord)
}

// futureEndings are those of verbs of what will be: aaoge, jaenge.
var futureEndings = [...]string{"oge", "ogi", "ega", "egi", "enge", "engi", "unga", "ungi"}

// endingsBeforeHai are those of verbs before है: देना, लेनी, करते, गया. What signs are called ends otherwise.
var endingsBeforeHai = [...]string{"ना", "नी", "ने", "ता", "ती", "ते", "रहा", "रही", "रहे", "गया", "गई", "गए"}

func endsIn(word string, endings []string) bool {
	for _, ending := range endings {
		if strings.HasSuffix(word, ending) {
			return true
		}
	}
	return false
}

// isTypedWhen reports whether the kb or jb at token i is kab or jab, and not the size of a file: kb tak, kb aaoge.
func isTypedWhen(v *text.View, i, next int) bool {
	if !isTyped(v, i) || isCounted(v, i) {
		return false
	}
	t := v.At(next)
	if v.Reads(next, "me", "mein", "ka", "ki", "ke") {
		return false
	}
	return t.Kind == text.Latin && (t.Word.Is(words.AnyHindi) || t.Word.Chat != nil ||
		endsIn(v.Str(next), futureEndings[:]))
}

// isTypedVerb reports whether the kia, dia or lia at token i is kiya, diya or liya, and no car, lamp or name.
func isTypedVerb(v *text.View, i, next int) bool {
	before := v.At(i - 1).Word
	behindVerb := before.Is(words.HindiVerb) || before.Chat != nil
	return isTyped(v, i) && (behindVerb || v.Reads(next, "h", "hai", "tha", "thi", "kya"))
}

// isTypedHai reports whether the h at token i is the verb of a Hindi sentence, and not the name of what stands before
// it: khada h, देना h, 18-20k h; but option h.
func isTypedHai(v *text.View, i int) bool {
	j, apart := i-1, v.At(i).Gap
	for ; i-j < text.Lookahead && isUnheard(v, j); j-- {
		apart = true // khada *h*
	}
	if v.TightSign(j, '.') && v.IsWord(j-1, words.Shortened) {
		j--
	}
	before := v.At(j)
	if !apart && j == i-1 || v.IsAnyWord(j, words.NumbersThings, words.IdentifierWord) {
		return false
	}
	if before.Kind == text.Deva {
		return endsIn(v.Str(j), endingsBeforeHai[:])
	}
	measured := v.Tight(j) && v.At(j-1).Kind == text.Digits // 18-20k h
	long := before.Cas == words.Lower && before.B-before.A > 2
	// which are long when they are read again
	short := before.Word.Is(words.Shortened) || len(before.Word.Beside) > 0 || v.TightSign(j-1, '/')
	typed := before.Kind == text.Latin && !before.Word.Is(words.Expansion) && (long || short)
	return (typed || measured) && amongHindi(v, i)
}

// amongHindi reports whether a Roman Hindi word stands near token i in its sentence, and none that a rule may have put
// there, nor the hai that another h becomes.
func amongHindi(v *text.View, i int) bool {
	for j := max(v.Start, i-16); j < min(v.Stop, i+16); j++ {
		t := v.At(j)
		hindi := t.Kind == text.Latin && t.Cas == words.Lower && t.Word.Is(words.AnyHindi)
		if hindi && !t.Word.Is(words.Expansion) && !v.Reads(j, "hai") {
			return true
		}
	}
	return false
}

// isCounted reports whether a number stands before token i, or a word that one may have become.
func isCounted(v *text.View, i int) bool {
	before := v.At(i - 1)
	return before.Kind == text.Digits || before.Kind == text.Deva || before.Word.Is(words.Expansion)
}

// isMonthAlone reports whether the short month at token i stands without a day: nov ka bill, since Oct.
func isMonthAlone(v *text.View, i, next int) bool {
	behind := v.In(next, words.CaseEnding) || v.In(next, words.BehindMonth)
	return v.At(i).Cas != words.Upper && (behind && !isCounted(v, i) || v.In(i-1, words.BeforeMonth))
}

// isWeekend reports whether the Sat or Sun at token i is a day of the week.
func isWeekend(v *text.View, i, next int) bool {
	if v.At(i).Cas == words.Lower {
		return false
	}
	beside := i - 1
	if v.At(beside).IsOneOf("/&,") {
		beside--
	}
	// 2nd Sat
	ordinal := v.At(i-2).Kind == text.Digits && v.Tight(i-1) && text.EnglishEnding(v.AtWord(i-1))
	// Sat 11-12.30
	hours := v.At(i).Cas == words.Title && v.At(i-1).Kind != text.Digits && v.Small(next, 2) > 0 &&
		v.NumberBehind(next+1, '-')
	if v.At(i).Cas == words.Title && isClock(v, next) {
		return true // Sat 3 pm
	}
	if ordinal || hours || isDay(v, next) {
		return true
	}
	if v.In(i-1, words.WeekendBefore) || v.IsSign(i-1, '&') || text.WeekdayAt(v, beside) > 0 {
		return true
	}
	return v.In(next, words.WeekendBehind) || v.At(next).IsOneOf("/&") && text.WeekdayAt(v, next+1) > 0
}

// isDay reports whether a date in numbers, or one with the name of its month, begins at token i.
func isDay(v *text.View, i int) bool {
	if m, next := text.MonthAt(v, i); m > 0 {
		return v.At(next).Kind == text.Digits || v.IsSign(next, '-')
	}
	if v.At(i).Kind != text.Digits {
		return false
	}
	if _, ok := text.NumericDate(v, i); ok {
		return true
	}
	if _, ok := text.MonthSecond(v, i); ok {
		return true
	}
	a, b := v.Small(i, 2), v.Small(i+2, 4)
	withMonth := a > 0 && b > 0 && (a <= 12 || b <= 12)
	return withMonth && text.HasStroke(v, i) && len(v.Str(i+2))%2 == 0 && v.LooseEnd(i+3)
}

// isYears reports whether a number of years begins at token i: 5 yrs, 10+ years.
func isYears(v *text.View, i int) bool {
	if v.At(i).Kind != text.Digits {
		return false
	}
	for j := i + 1; j < i+5; j++ {
		if v.In(j, words.Yearly) {
			return true
		}
		if !v.At(j).IsOneOf("+-.") && v.At(j).Kind != text.Digits {
			return false
		}
	}
	return false
}

// isLength reports whether a number of metres or kilometres begins at token i.
func isLength(v *text.View, i int) bool {
	n, ok := text.NumberAt(v, i)
	if !ok {
		return false
	}
	u, _ := text.UnitAt(v, n.Next)
	return u != nil && (u.Symbol == "km" || u.Symbol == "m" || u.Symbol == "mi")
}

// isClock reports whether a time of the day begins at token i.
func isClock(v *text.View, i int) bool {
	if v.At(i).Kind != text.Digits {
		return false
	}
	m, ok := text.MomentAt(v, i)
	return ok && m.Clear()
}

// isTimetable reports whether the dep or arr at token i stands beside a time: dep. 21:05, 21:05 dep, arr Pune 6 am.
func isTimetable(v *text.View, i, next int) bool {
	if isStation(v, next) {
		next++
	}
	return isClock(v, next) || v.At(next).Kind == text.Digits && v.NumberBehind(next+1, ':') || isBehindClock(v, i)
}

// isSideOfTown reports whether the letter at token i is the part of a suburb that lies on one side of its railway, as
// in Mumbai: Andheri (E), Mumbai.
func isSideOfTown(v *text.View, i, _ int) bool {
	if v.At(i).Cas != words.Upper || !v.IsSign(i-1, '(') || !v.TightSign(i+1, ')') || v.At(i-2).Cas != words.Title {
		return false
	}
	next := i + 2
	for next < i+text.Lookahead && v.At(next).IsOneOf(",-") {
		next++
	}
	return v.IsWord(next, words.City) || v.At(next).Kind == text.Digits && len(v.Str(next)) == 6
}

// isBehindClock reports whether a time with a colon stands before token i: 21:00 dep.
func isBehindClock(v *text.View, i int) bool {
	return v.At(i-1).Kind == text.Digits && v.IsSign(i-2, ':') && v.At(i-3).Kind == text.Digits
}

// isMovedMoney reports whether the DR or CR at token i begins what moved, or stands between the tail of an account and
// the money: A/c XX8830 DR Rs.2,450.
func isMovedMoney(v *text.View, i, next int) bool {
	tail := v.At(i-1).Kind == text.Digits && len(v.Str(i-1)) >= 3 && !text.IsMoneyBehind(v, i-1)
	begins := text.EndsClause(v, i-1)
	return (tail || begins) && (text.CurrencyCode(v, next) > 0 || v.At(next).IsCurrency())
}

// isStreet reports whether the St. at token i is a street, by the name or the number before it: 42 Church St., 5th St.;
// but St. Xavier's.
func isStreet(v *text.View, i, next int) bool {
	before := v.At(i - 1)
	if v.At(i).Cas != words.Title || !v.IsSign(i+1, '.') || before.Kind != text.Latin || !v.At(i).Gap {
		return false
	}
	if v.At(i-2).Kind == text.Digits && (before.Cas == words.Title || v.Tight(i-1) && text.EnglishEnding(v.Str(i-1))) {
		return true
	}
	saint := v.At(next).Kind == text.Latin && v.At(next).Cas == words.Title
	return before.Cas == words.Title && !before.Word.Is(words.EnglishWord) && !saint
}

// isPlatform reports whether the PF at token i is that of a station, not the fund of a salary: PF 3, PF no. 4.
func isPlatform(v *text.View, i, next int) bool {
	if isNo(v, next) {
		next++
		if v.IsSign(next, '.') {
			next++
		}
	}
	n := v.Small(next, 2)
	if n < 1 || n > 30 || v.At(i).Cas != words.Upper {
		return false
	}
	next++
	if !v.LooseEnd(next) || v.IsSign(next, '%') || v.CountedAt(next) {
		return false
	}
	return !v.NumberBehind(next, '.') && !v.NumberBehind(next, ',') && !v.TightSign(next, '/')
}

// isSection reports whether the number at token i is that of a law: Sec 80C, Sec. 138 NI Act.
func isSection(v *text.View, i int) bool {
	if v.At(i).Kind != text.Digits {
		return false
	}
	if v.Tight(i+1) && v.At(i+1).Kind == text.Latin && v.At(i+1).InCapitals() {
		return true
	}
	if v.TightSign(i+1, '(') && v.Small(i+2, 2) > 0 && v.IsSign(i+3, ')') {
		return true // Sec 12(3)
	}
	for j := i + 1; j < min(v.Stop, i+6); j++ {
		if v.In(j, words.LawBook) {
			return true
		}
	}
	return false
}

// hasPaise reports whether an amount with commas and paise begins at token i.
func hasPaise(v *text.View, i int) bool {
	n, ok := text.NumberAt(v, i)
	return ok && n.Grouped && len(n.Frac) == 2
}

// isBalanceBehind reports whether money with paise, as banks print a balance, ends with token i, and nothing goes on
// behind it.
func isBalanceBehind(v *text.View, i int) bool {
	paise := v.IsSign(i-1, '.') && v.Tight(i) && v.At(i).Kind == text.Digits && len(v.Str(i)) == 2
	next := v.At(i + 2)
	ends := next.Kind == text.Nothing || next.Kind == text.Sign || next.Cas == words.Title
	return paise && ends && text.IsMoneyBehind(v, i)
}

// isBalance reports whether the bal at token i is short for balance, and no hair: Clr Bal, bal: Rs 500.
func isBalance(v *text.View, i, next int) bool {
	money := v.At(next).IsCurrency() || text.CurrencyCode(v, next) > 0
	if money || v.At(next).Kind == text.Digits || colonBehind(v, i) {
		return true
	}
	if v.At(i).Cas == words.Title && (v.IsSign(next, '(') || v.English && v.In(next, words.BehindBalance)) {
		return true // Bal (subject to clearing), Bal in a/c
	}
	if v.In(i-1, words.BeforeBalance) || v.IsSign(i-1, '.') && v.In(i-2, words.BeforeBalance) {
		return true
	}
	if typed := v.English && v.At(i).Cas == words.Lower && !v.At(i-1).IsOneOf("\"'"); typed {
		return true // keep bal in a/c
	}
	return v.At(i).Cas == words.Upper && !v.At(i-1).IsOneOf("\"'")
}

// isCreditBehind reports whether an amount that is a balance ends before the CR at token i.
func isCreditBehind(v *text.View, i int) bool {
	if v.At(i-1).Kind != text.Digits || !v.IsSign(i-2, '.') || len(v.Str(i-1)) != 2 {
		return false
	}
	j := i - 3
	for j > max(v.Start, i-12) && (v.At(j-1).Kind == text.Digits || v.IsSign(j-1, ',')) {
		j--
	}
	a, ok := text.AmountAt(v, j)
	a.Cur = 0 // it begins with a figure, so that none is written
	return ok && a.Next == i && text.IsCreditBalance(v, i, &a)
}

// course reads the x of 1-0-1 x 5 days as for.
func course(r *Reader, i int) (Reading, bool) {
	if !r.Reads(i, "x", "X") || r.Tight(i) || r.Tight(i+1) || r.At(i+1).Kind != text.Digits {
		return Reading{}, false
	}
	if !r.In(i+2, words.CourseUnit) {
		return Reading{}, false
	}
	dose := r.At(i-1).Kind == text.Digits && r.IsSign(i-2, '-') && r.At(i-3).Kind == text.Digits
	word := r.At(i-1).Kind == text.Latin && !r.CountedAt(i-1) &&
		(r.At(i-2).Kind != text.Digits || r.Reads(i-1, "mg", "ml", "mcg"))
	rated := r.IsSign(i-2, '/') && r.At(i-1).Kind == text.Latin // 2hrs/day x 6 days
	if !dose && !word && !rated {
		return Reading{}, false
	}
	r.Begin(i, speech.SpanSign)
	if r.English {
		r.Say(r.Lang.Words[words.WordFor])
	} else {
		r.Pause()
	}
	return r.End(i + 1)
}
