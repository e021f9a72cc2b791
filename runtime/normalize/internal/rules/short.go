package rules

import (
	"github.com/swar-tts/swar/runtime/normalize/internal/text"
	"github.com/swar-tts/swar/runtime/normalize/internal/words"
	"github.com/swar-tts/swar/runtime/speech"
)

// shortForm says in full what is written short: Dr. Rao, No. 5, A/c, approx.
func shortForm(r *Reader, i int) (Reading, bool) {
	if reading, ok := strokedForm(r, i); ok || r.TightSign(i+1, '[') { // arr[i] of a program
		return reading, ok
	}
	t := r.At(i)
	e := t.Word
	if !e.Is(words.Shortened) || r.Joined(i) {
		return Reading{}, false
	}
	next := i + 1
	if t.Cas == words.Upper && (!r.LooseEnd(next) || r.NumberBehind(next, '-')) {
		return Reading{}, false // TXN9087 is a code, and TKT-000123
	}
	if t.Cas == words.Upper && isQuoted(&r.View, i) {
		return Reading{}, false // SMS 'BAL' to 9223766666
	}
	dot := r.IsSign(next, '.') && !r.TightSign(next+1, '.')
	if dot && !r.Last(next) {
		next++
	}
	dot = dot || stopsBehind(&r.View, next)
	editor := r.Reads(i, "VS") && r.Reads(next, "Code", "Studio")
	if editor || !isShort(&r.View, i, next, dot) {
		return Reading{}, false
	}
	r.Begin(i, speech.SpanAbbreviation)
	r.Say(fullForm(r, i, next))
	return r.End(next)
}

// fullForm is what the short form at token i, which ends before next, is short for.
func fullForm(r *Reader, i, next int) string {
	e := r.At(i).Word
	if e.Is(words.DotOrTitle) && r.Str(i) == "Dr" && text.CurrencyCode(&r.View, next) > 0 {
		return "debit"
	}
	if e.Full == "" {
		return r.Str(i)
	}
	return e.Full
}

// isQuoted reports whether token i stands alone in quotes.
func isQuoted(v *text.View, i int) bool { return v.At(i-1).IsOneOf("\"'") && v.At(i+1).IsOneOf("\"'") }

// chatForm says in full what chats spell short: krna, tk.
func chatForm(r *Reader, i int) (Reading, bool) {
	t := r.At(i)
	c := t.Word.Chat
	if c == nil || r.Joined(i) {
		return Reading{}, false
	}
	if t.Cas == words.Upper {
		isCode := !r.LooseEnd(i+1) || r.NumberBehind(i+1, '-')
		inCapitals := isHindiInCapitals(&r.View, i-1) || isHindiInCapitals(&r.View, i+1) // KYA KR RHA
		if isCode || c.Letters && !inCapitals {
			return Reading{}, false
		}
	}
	r.Begin(i, speech.SpanAbbreviation)
	r.Say(c.Full)
	return r.End(i + 1)
}

// isHindiInCapitals reports whether token i is a word of Roman Hindi in capitals.
func isHindiInCapitals(v *text.View, i int) bool {
	return v.At(i).Cas == words.Upper && !v.Single(i) && v.At(i).Word.Is(words.AnyHindi)
}

// stopsBehind reports whether marks begin at token i that reading reduces to a full stop: fri,.
func stopsBehind(v *text.View, i int) bool {
	j := i
	for j < i+text.Lookahead && v.At(j).IsOneOf(",;:") {
		j++
	}
	return j > i && v.IsSign(j, '.') && !v.TightSign(j+1, '.')
}

// strokedForm reads A/c, w/ and the cr of money that came.
func strokedForm(r *Reader, i int) (Reading, bool) {
	full, next := text.Stroked(&r.View, i), i+3
	switch {
	case full == "without":
		full = r.Lang.Words[words.WordWithout]
	case full != "":
	case r.Reads(i, "w", "W") && r.Reads(i+2, "in") && beginsStroked(&r.View, i):
		full = "within"
	case r.Reads(i, "a", "A") && r.Reads(i+2, "cs", "Cs", "CS", "c's") && beginsStroked(&r.View, i):
		full = "accounts"
	case r.Reads(i, "w") && isWith(&r.View, i):
		full, next = "with", i+2 // no Hindi word fits in front of its noun
	default:
		a, ok := amountBefore(&r.View, i)
		if !ok || !text.IsCredited(&r.View, i, &a) {
			return Reading{}, false
		}
		full, next = "credited", i+1
		if r.TightSign(next, '.') {
			next++
		}
	}
	r.Begin(i, speech.SpanAbbreviation)
	r.Say(full)
	return r.End(next)
}

// beginsStroked reports whether token i is the first of two words that a stroke joins.
func beginsStroked(v *text.View, i int) bool {
	return !v.Joined(i) && v.TightSign(i+1, '/') && v.Tight(i+2)
}

// isShort reports whether the word at token i is short for another where it stands; next is the token behind it and its
// dot.
func isShort(v *text.View, i, next int, dot bool) bool {
	t := v.At(i)
	switch e := t.Word; {
	case e.Is(words.BeforeID):
		long := v.At(next).Kind == text.Digits && len(v.Str(next)) >= 4
		if text.Crosses(v, next) || text.LoneCross(v, next) {
			return true // AC X1583
		}
		// the AC is a cooler
		return t.Cas != words.Upper && (long || v.IsSign(next, '#') ||
			v.Reads(next, "no", "No", "number", "नंबर", "नं"))
	case e.Is(words.BeforeNumber):
		// Account no. ending, 4 nos, 2 no. ka kaam, card no batao
		withoutNumber := dot && text.Named(v, i) || text.CountsPieces(v, i, next) || endsName(v, i, next)
		return withoutNumber || isNumbering(v, i, next, dot)
	case e.Is(words.DotOrTitle) && (t.Kind != text.Latin || t.Cas == words.Title):
		return true
	case e.IsAny(words.NeedsDot, words.DotOrTitle):
		return dot && !(v.In(i, words.AlsoWord) && text.IsWordBeforeStop(v, i, next))
	}
	return true
}

// isNumbering reports whether the no, page or phone at token i, with or without its dot, is short before the number
// that follows.
func isNumbering(v *text.View, i, next int, dot bool) bool {
	t := v.At(i)
	named := isNo(v, next) || v.Reads(next, "number") || v.IsSign(next, '#')
	if named && t.Cas != words.Mixed && !v.In(i, words.OwnWord) {
		return true // pg no 12, pg #12
	}
	if t.Cas == words.Mixed || !text.NumberFollows(v, next) {
		return false // pH 7 is no phone
	}
	if u, _ := text.UnitAt(v, next+1); u != nil && v.Reads(i, "tel") {
		return false // tel 1ltr is oil
	}
	marked := dot || v.IsSign(next, ':')
	two := t.Cas == words.Upper && t.B-t.A == 2
	answer := !marked && v.In(i, words.OwnWord) && (t.Cas == words.Lower || two) // no 5, NO 5
	return !answer || text.Named(v, i) || text.IsLongCode(v, next) || isFormNumber(v, i, next)
}

// isNo reports whether token i is the short form of number.
func isNo(v *text.View, i int) bool { return v.Reads(i, "no", "No", "NO") }

// endsName reports whether the no at token i, without a number behind it, is the number of what stands before it: card
// no batao.
func endsName(v *text.View, i, next int) bool {
	if !isNo(v, i) {
		return false
	}
	owned := next > i+1 && v.In(i-1, words.Owner) // mera no. save kar lo
	stroked := beginsStroked(v, i-3) && text.Stroked(v, i-3) != ""
	if !owned && !stroked && !v.IsAnyWord(i-1, words.IdentifierWord, words.NumbersThings, words.BeforeID) {
		return false
	}
	t := v.At(next)
	switch {
	case v.English:
		return v.In(next, words.BehindNumber) || t.IsOneOf("&>)")
	case t.Kind == text.Nothing, t.IsOneOf("?,"):
		return true
	}
	return owned || t.Word.IsAny(words.HindiWord, words.CodeVerb)
}

// amountBefore is the money in front of the cr at token i, as far as [reader.isCredited] needs it.
func amountBefore(v *text.View, i int) (a text.Amount, ok bool) {
	if !v.Reads(i, "cr", "Cr", "CR") || v.At(i-1).Kind != text.Digits {
		return a, false
	}
	for j := i - 1; j > i-12 && j >= v.Start; j-- {
		if v.At(j).IsCurrency() || text.CurrencyCode(v, j) > 0 {
			a.Cur = words.Rupees
			return a, true
		}
	}
	return a, false
}

// isWith reports whether the w at token i is that of w/ in front of a word.
func isWith(v *text.View, i int) bool {
	if v.Joined(i) || !v.TightSign(i+1, '/') {
		return false
	}
	noun := v.At(i + 2)
	return noun.Gap && noun.Kind.WordLike()
}

// dottedForm reads e.g., w.r.t., H.No. and कि.मी.
func dottedForm(r *Reader, i int) (Reading, bool) {
	if !r.TightSign(i+1, '.') || !r.Tight(i+2) || r.At(i+2).Kind != r.At(i).Kind || r.Joined(i) {
		return Reading{}, false
	}
	var buf [24]byte
	key := buf[:0]
	j := i
	for {
		s := r.Str(j)
		if len(key)+len(s) > cap(key) {
			return Reading{}, false
		}
		low, _ := words.Fold(key[len(key):], s)
		key = key[:len(key)+len(low)]
		if !r.TightSign(j+1, '.') || !r.Tight(j+2) || r.At(j+2).Kind != r.At(i).Kind {
			break
		}
		j += 2
	}
	full := words.Dotted(key)
	money := text.IsMoneyBehind(&r.View, i-1) || r.IsWord(i-1, words.ScaleWord) && text.IsMoneyBehind(&r.View, i-2)
	if string(key) == "pm" && (r.IsSign(i-1, '%') || money) {
		full = r.Lang.Words[words.WordPerMonth] // interest, never the afternoon
	}
	if full == "" {
		return Reading{}, false
	}
	next := j + 1
	if r.TightSign(next, '.') && (!r.Last(next) || r.IsSign(next+1, ')')) {
		next++
	}
	r.Begin(i, speech.SpanAbbreviation)
	r.Say(full)
	return r.End(next)
}
