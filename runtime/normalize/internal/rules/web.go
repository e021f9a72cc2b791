package rules

import (
	"strings"

	"github.com/swar-tts/swar/runtime/normalize/internal/text"
	"github.com/swar-tts/swar/runtime/normalize/internal/words"
	"github.com/swar-tts/swar/runtime/speech"
)

// E-mail and UPI addresses, web addresses, handles. Their words stay as they are, the signs between them are said,
// digits are an identifier's.

// maxAddress bounds what is looked at as an address, in bytes: that of an e-mail path (RFC 5321, section 4.5.3.1.3),
// which is a little longer than the longest name of a host (RFC 1035, section 2.3.4). What is longer is none, and a
// long run without spaces is not looked through for each of its words.
const maxAddress = 256

// within reports whether token j still belongs to an address that begins with token i, by its length.
func within(v *text.View, i, j int) bool { return v.At(j).B-v.At(i).A <= maxAddress }

// webAddress reads support@acme.co.in, ramesh.k@okaxis, https://x.y/z, www.irctc.co.in and acme.com/offer.
func webAddress(r *Reader, i int) (Reading, bool) {
	t := r.At(i)
	if t.Run == 0 || r.Tight(i) && !opensAddress(&r.View, i-1) {
		return Reading{}, false
	}
	if t.Run&text.HasAt != 0 {
		if reading, ok := email(r, i); ok {
			return reading, true
		}
	}
	if r.TightSign(i+3, '/') && r.At(i+4).Gap && r.IsSign(i+2, '/') && r.Reads(i, "http", "https") {
		return r.Silence(i, i+4, speech.SpanURL) // https:// acme.in
	}
	first := i
	if t.Run&text.HasSlashes != 0 && isScheme(&r.View, i) {
		first = i + 4
	}
	next, ok := domain(&r.View, first)
	if r.Reads(first, "localhost") && r.NumberBehind(first+1, ':') {
		next, ok = first+3, true
	}
	if first == i && !ok {
		if next = file(&r.View, i); next == i {
			return Reading{}, false
		}
	}
	r.Begin(i, speech.SpanURL)
	next = path(&r.View, next)
	sayAddress(r, first, next)
	next = query(&r.View, next)
	if r.Draft.End(next); r.TightSign(next, '(') {
		r.Join() // console.log(x)
	}
	return r.Done(next)
}

// file returns the end of a name of a file, main.rs or src/app.py, and of what is dotted behind a mark of code,
// `user.name`; i for none.
func file(v *text.View, i int) int {
	if v.At(i).Kind != text.Latin {
		return i
	}
	end := i
	for j := i; within(v, i, j) && (j == i || v.Tight(j)); j++ {
		t := v.At(j)
		if t.Kind != text.Latin && t.Kind != text.Digits && !t.IsOneOf("./-_") {
			break
		}
		if j >= i+2 && v.IsSign(j-1, '.') && v.LooseEnd(j+1) && endsFile(v, i, j) {
			end = j + 1
		}
	}
	return end
}

// endsFile reports whether token j, behind a point, ends the name of a file or of a member that begins with token i.
func endsFile(v *text.View, i, j int) bool {
	quoted := opensProgram(v, i) && !v.TightSign(j+1, '.')
	switch v.At(j).Kind {
	case text.Digits:
		return quoted && v.ZeroLed(j) // binlog.000042
	case text.Latin:
		money := v.Reads(j, "rs") && v.At(j+1).Kind == text.Digits // bill.rs 500
		return quoted || words.LookUpWritten(v.Str(j)).Is(words.SourceFile) && !money || isMember(v, i, j)
	}
	return false
}

// isMember reports whether token j is a member of the object i of a program: self.name, OrderBook.Reader,
// math.floor(x).
func isMember(v *text.View, i, j int) bool {
	if j != i+2 || len(v.Str(i)) < 2 || len(v.Str(j)) < 2 {
		return false
	}
	title := v.At(j).Cas == words.Title && v.At(i).Cas != words.Title // math.But
	named := words.LookUpWritten(v.Str(i)).Is(words.ObjectName) && !title
	inside := hasCapitalInside(v.Str(i)) && v.At(j).Cas != words.Upper || hasCapitalInside(v.Str(j))
	called := v.TightSign(j+1, '(') && v.At(i).InSmallLetters() && v.At(j).Cas != words.Title
	return named || inside || called
}

// hasCapitalInside reports whether a capital stands behind a small letter in s, as in names of programs.
func hasCapitalInside(s string) bool {
	for i := 1; i < len(s); i++ {
		if 'A' <= s[i] && s[i] <= 'Z' && 'a' <= s[i-1] && s[i-1] <= 'z' {
			return true
		}
	}
	return false
}

// opensAddress reports whether token i is a sign behind which an address may begin.
func opensAddress(v *text.View, i int) bool {
	// UPI-RAVI KUMAR-ravi.k@okaxis
	narrated := v.IsSign(i, '-') && v.At(i-1).Kind == text.Latin && v.At(i-1).Cas != words.Lower
	return v.At(i).IsOneOf("([{\"'<:,*`=") || narrated
}

// isScheme reports whether a colon, two strokes and the rest of an address follow token i closely: https://.
func isScheme(v *text.View, i int) bool {
	return v.TightSign(i+1, ':') && v.TightSign(i+2, '/') && v.TightSign(i+3, '/') && v.Tight(i+4)
}

// email reads an address with @.
func email(r *Reader, i int) (Reading, bool) {
	j := i
	for inName(&r.View, j, i) && !r.IsSign(j, '@') && within(&r.View, i, j) &&
		strings.IndexByte(r.AtWord(j), '\'') < 0 {
		j++
	}
	if isNarrated(&r.View, i, j) || isPriceBehind(&r.View, j) {
		return Reading{}, false
	}
	if j == i || !r.TightSign(j, '@') || !r.Tight(j+1) || r.At(j+1).Kind != text.Latin {
		return Reading{}, false
	}
	k := j + 1
	for inName(&r.View, k, i) && !r.At(k).IsOneOf("_+") && within(&r.View, i, k) && !endsHandle(&r.View, k) {
		k++
	}
	for r.At(k-1).Kind == text.Sign {
		k-- // the full stop of the sentence
	}
	r.Begin(i, speech.SpanEmail)
	sayAddress(r, i, k)
	return r.End(k)
}

// inName reports whether token j goes on the name that began at i.
func inName(v *text.View, j, i int) bool {
	t := v.At(j)
	if j > i && t.Gap {
		return false
	}
	return t.Kind == text.Latin || t.Kind == text.Digits || t.IsOneOf(".-_+")
}

// domain reads labels with dots between them; ok means that they end in a known top-level domain or begin with www.
func domain(v *text.View, i int) (next int, ok bool) {
	j, last, dots := i, -1, 0
	for within(v, i, j) {
		t := v.At(j)
		if j > i && t.Gap || t.Kind != text.Latin && t.Kind != text.Digits {
			break
		}
		last = j
		j++
		for labelGoesOn(v, j) && within(v, i, j) {
			last = j
			j++
		}
		if !v.TightSign(j, '.') || !v.Tight(j+1) || v.At(j+1).Kind != text.Latin && v.At(j+1).Kind != text.Digits {
			break
		}
		dots++
		j++
	}
	if isLong := !within(v, i, j) && v.Tight(j); last < 0 || dots == 0 || isLong {
		return i, false
	}
	return last + 1, words.LookUpWritten(v.Str(last)).Is(words.TopLevel) || v.Str(i) == "www" ||
		dots == 1 && isShortLink(v, i, last)
}

// isShortLink reports whether a name that ends in the two letters of a country, token last, leads to a path with a
// figure: wa.me/919812345678, amzn.to/Ab12. Without the figure two words may have been written so.
func isShortLink(v *text.View, i, last int) bool {
	country, name := v.At(last), v.At(i)
	isCountry := country.Kind == text.Latin && country.Cas == words.Lower && country.B-country.A == 2
	if !isCountry || name.B-name.A < 2 || !v.TightSign(last+1, '/') {
		return false
	}
	for j := last + 2; v.Tight(j) && within(v, i, j); j++ {
		switch t := v.At(j); {
		case t.Kind == text.Digits:
			return true
		case t.Kind != text.Latin && !t.IsOneOf("/-_"):
			return false
		}
	}
	return false
}

// labelGoesOn reports whether token j goes on the label of a domain: letters, digits, or the hyphen before more.
func labelGoesOn(v *text.View, j int) bool {
	if v.TightSign(j, '-') || v.TightSign(j, '_') { // files have underscores in their names
		return v.Tight(j+1) && v.At(j+1).Kind.WordLike()
	}
	return v.Tight(j) && (v.At(j).Kind == text.Latin || v.At(j).Kind == text.Digits)
}

// path returns the end of what follows a domain: strokes, words, digits.
func path(v *text.View, j int) int {
	end := j
	if !v.TightSign(j, '/') && !v.TightSign(j, ':') {
		return end
	}
	for v.Tight(j) {
		t := v.At(j)
		switch {
		case t.Kind.Lettered() || t.Kind == text.Digits:
			end = j + 1
		case t.IsOneOf("/-_.:~+%@"):
		default:
			return end
		}
		j++
	}
	return end
}

// query returns the end of the part that nobody reads out: ?a=b, #top, and a last stroke.
func query(v *text.View, j int) int {
	for v.TightSign(j, '/') {
		j++
	}
	if !(v.TightSign(j, '?') || v.TightSign(j, '#')) || !v.Tight(j+1) {
		return j
	}
	end := j
	for v.Tight(j) {
		t := v.At(j)
		if t.IsOneOf(")]>\"" + string(rune(text.Danda))) {
			break
		}
		j++
		if t.Kind != text.Sign || t.Ch == '=' || t.Ch == '&' {
			end = j
		}
	}
	return end
}

// sayAddress says tokens i to next.
func sayAddress(r *Reader, i, next int) {
	l := r.Lang
	if end := hexName(&r.View, i); end > i {
		byFours(r, r.Between(i, end))
		i = end
	}
	for j := i; j < next; j++ {
		t := r.At(j)
		switch t.Kind {
		case text.Latin:
			if len(r.Str(j)) > 2 && text.Crosses(&r.View, j) && r.TightDigits(j+1) {
				r.Pause() // 98XXXXXX41@ibl
				continue
			}
			sayName(r, j, j == next-1)
		case text.Digits:
			if s := r.Str(j); len(s) == 10 && s[0] >= '6' {
				r.Cut([]byte(s), 5)
			} else {
				r.Grouped(s)
			}
		case text.Sign:
			switch t.Ch {
			case ':': // of a port
				r.Pause()
				r.SayPlain(j+1, l)
				j++
			case '.':
				r.Say(l.Words[words.WordDot])
			case '@':
				r.Say(l.Words[words.WordAt])
			case '/':
				r.Say(l.Words[words.WordSlash])
			case '-':
				r.Say(l.Words[words.WordHyphen])
			case '_':
				r.Say(l.Words[words.WordUnderscore])
			case '+':
				r.Say(l.Words[words.WordPlus])
			case '%':
				r.Say(l.Words[words.WordPercent])
			}
		default:
			r.Say(r.Str(j))
		}
	}
}

// sayName says a word of an address: www and acronyms by letters, everything else as it is. A short form in front of a
// full stop is said in full, as anywhere else.
func sayName(r *Reader, j int, last bool) {
	t, s := r.At(j), r.Str(j)
	if full, _ := besideWord(&r.View, j); last && full != "" {
		r.Say(full)
		return
	}
	short := t.Kind == text.Latin && t.Word.Full != ""
	switch {
	case isSpelledEnd(&r.View, j):
		r.Letters(s, r.Lang)
	case r.Reads(j, "Rs", "RS", "rs"):
		r.Say(r.Lang.Words[words.WordRupees]) // as it would be alone
	case s == "www" && r.English:
		r.Say("w w w")
	case s == "www", t.Cas == words.Upper && len(s) <= 6 && !text.SaidAsWord(t.Word, s), text.Crosses(&r.View, j):
		r.Letters(s, r.Lang)
	case short && (t.Word.Is(words.DotOrNone) || last && r.IsSign(j+1, '.')):
		r.Say(t.Word.Full)
	case t.Word.Chat != nil:
		r.Say(t.Word.Chat.Full)
	case t.Cas == words.Upper, isPlural(s), t.Word.Is(words.Shortened), t.Cas == words.Mixed &&
		strings.HasSuffix(s, "'s"):
		// In small letters nobody takes it for an acronym or a title.
		r.SayLower(s)
	default:
		r.Say(s)
	}
}

// isSpelledEnd reports whether token j is the end of a file name that elsewhere is short for something: main.rs,
// run.sh.
func isSpelledEnd(v *text.View, j int) bool {
	return v.IsSign(j-1, '.') && words.LookUpWritten(v.Str(j)).Is(words.SourceFile) &&
		(text.CurrencyCode(v, j) > 0 || v.IsWord(j, words.Shortened))
}

// handle reads @chai_adda and drops the sign of a hashtag.
func handle(r *Reader, i int) (Reading, bool) {
	switch {
	case r.IsSign(i, '#') && r.Tight(i+1) && r.At(i+1).Cas == words.Upper && text.CodeLetters(&r.View, i+1):
		r.Begin(i, speech.SpanSign)
		r.Say(r.Lang.Words[words.WordNumber])
		return r.End(i + 1)
	case r.IsSign(i, '#') && r.Tight(i+1) && r.At(i+1).Kind.Lettered():
		return r.Silence(i, i+1, speech.SpanHashtag)
	case r.IsSign(i, '#') && r.At(i+1).Kind == text.Digits:
		return numberSign(r, i)
	case !r.IsSign(i, '@') || r.At(i+1).Kind != text.Latin || !r.Tight(i+1) || isPriceBehind(&r.View, i):
		return Reading{}, false
	}
	j := i + 1
	for r.Tight(j) && inName(&r.View, j, i) {
		j++
	}
	for r.At(j-1).Kind == text.Sign {
		j--
	}
	r.Begin(i, speech.SpanHandle)
	r.Say(r.Lang.Words[words.WordAt])
	sayAddress(r, i+1, j)
	return r.End(j)
}

// numberSign reads #58213; the sign is silent where the word number stands before it.
func numberSign(r *Reader, i int) (Reading, bool) {
	if !r.LooseEnd(i + 2) {
		return Reading{}, false
	}
	if isNumberedPart(&r.View, i+1) {
		r.Begin(i, speech.SpanCode)
		r.Say(r.Lang.Words[words.WordNumber])
		r.Grouped(r.Str(i + 1))
		r.Pause()
		r.Grouped(r.Str(i + 3))
		return r.End(i + 4)
	}
	if r.NumberBehind(i+2, '/') || r.NumberBehind(i+2, '-') {
		r.Begin(i, speech.SpanSign) // # 44/2, #12-3-45: a door, which is read by itself
		r.Say(r.Lang.Words[words.WordNumber])
		return r.End(i + 1)
	}
	r.Begin(i, speech.SpanCode)
	if !r.In(i-1, words.NumberBefore) {
		r.Say(r.Lang.Words[words.WordNumber])
	}
	if s := r.Str(i + 1); len(s) == 1 {
		r.SayPlain(i+1, r.Lang)
	} else {
		r.Grouped(s)
	}
	return r.End(i + 2)
}
