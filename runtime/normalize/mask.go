package normalize

import (
	"strings"

	"github.com/swar-tts/swar/runtime/speech"
)

// Masked numbers: the mask in front is silent, one in the middle is a pause, and what is left is read digit by digit.

// maskedWord reads XXXX1234 and XXXX-XXXX-4321.
func (r *reader) maskedWord(i int) int {
	if r.joined(i) {
		return i
	}
	if next := r.gluedMask(i); next > i {
		return next
	}
	if r.crosses(i) {
		next, wide := r.mask(i)
		if d := r.at(r.hyphen(next)); wide < 4 && (d.kind != digits || d.gap && wide < 3) {
			return i // XL, XXX
		}
		return r.masked(i)
	}
	if !r.loneCross(i) {
		return i
	}
	if n := len(r.str(i + 1)); n < 3 || n > 4 || r.context(i).what != idNear && !r.isWord(i-1, beforeID) {
		return i // X1234 is a mask behind "account" only
	}
	return r.masked(i)
}

// gluedMask reads A/cXX5468 and acctXX0417, where no space parts the word from its mask.
func (r *reader) gluedMask(i int) int {
	word, least := i, 2
	if r.single(i) && r.tightSign(i+1, '/') && r.tight(i+2) {
		word, least = i+2, 1
	}
	if !r.tightDigits(word+1) || len(r.str(word+1)) < 3 {
		return i
	}
	w := r.atWord(word)
	name := strings.TrimRight(w, "xX")
	if len(w)-len(name) < least || name == "" {
		return i
	}
	full := name
	switch e := lookUp(name); {
	case word > i:
		if full = strokedForms[strings.ToLower(r.str(i)+name)]; full != "account" {
			return i
		}
	case !e.is(idWord | beforeID):
		return i
	case e.en != "":
		full = e.en
	}
	r.begin(i, speech.SpanMasked)
	r.say(full)
	return r.end(r.sayMasked(word + 1))
}

// maskedDigits reads 98******10, 98XXXXXX10 and 4321 XXXX XXXX 9087.
func (r *reader) maskedDigits(i int) int {
	if r.joined(i) {
		return i
	}
	j := i + 1
	if r.numberBehind(j, '-') && r.tightSign(j+2, '*') {
		if next, wide := r.mask(j + 2); wide >= 3 && r.tight(next) && r.at(r.hyphen(next)).kind == digits {
			return r.masked(i) // 01-07***8812
		}
	}
	if r.tightSign(j, '-') {
		j++
	}
	next, wide := r.mask(j)
	if next == j || wide < 2 || r.at(j).gap && wide < 3 {
		return i
	}
	between := r.tight(j) && r.tightDigits(next)
	if !between && r.isSign(j, '*') && (wide < 3 || r.closesEmphasis(i, wide)) {
		return i // **4500**
	}
	if r.at(j).isOneOf(dots) && !between {
		return i // dots behind a number are an ellipsis
	}
	return r.masked(i)
}

// closesEmphasis reports whether so many stars behind token i close what as many have opened: **Total: 4500**.
func (r *reader) closesEmphasis(i, wide int) bool {
	for k := i - 1; k >= max(r.start, i-lookahead); k-- {
		if !r.isSign(k, '*') {
			continue
		}
		first := k
		for r.tight(first) && r.isSign(first-1, '*') {
			first--
		}
		opens := r.tight(k+1) && (r.at(first).gap || r.at(first-1).kind == sign)
		return opens && k-first+1 == wide
	}
	return false
}

// maskedSign reads ****4321, *1207, •••• 5560 and, where a card or an account is named, ...0042.
func (r *reader) maskedSign(i int) int {
	if r.tight(i) && r.isSign(i-1, r.at(i).ch) {
		return i // the whole run was looked at when it began
	}
	next, wide := r.mask(i)
	hides := r.isSign(i, '*') && wide >= 2 && !r.tightSign(next+1, '*')
	behindName := hides && r.tightDigits(next) && r.at(i-1).kind.lettered() // wallet**88
	if next == i || r.joined(i) && !behindName {
		return i
	}
	if r.at(next).kind != digits {
		return i
	}
	size := len(r.str(next))
	if r.at(i).isOneOf(dots) {
		if size < 2 || !r.isAccountNear(i) || r.countsBehind(next+1) {
			return i
		}
		return r.masked(i)
	}
	dialled := r.tightSign(next+1, '*') || r.tightSign(next+1, '#') // *121#
	switch {
	case behindName && size >= 2:
		return r.masked(i)
	case wide >= 3 && (r.tight(next) || !r.isSign(i, '#')):
		return r.masked(i)
	case r.isSign(i, '*') && r.tight(next) && size >= 3 && !dialled:
		return r.masked(i)
	}
	return i
}

// countsBehind reports whether the word at token i is a noun that is counted, and no credit: A/c ..5530 Cr INR 200.
func (r *reader) countsBehind(i int) bool {
	moved := r.currencyCode(i+1) > 0 || r.at(i+1).isCurrency()
	return r.countedAt(i) && !moved
}

// isAccountNear reports whether an account, a card or a bank is named in front of token i.
func (r *reader) isAccountNear(i int) bool {
	lettered := r.at(i-1).inCapitals() && len(r.str(i-1)) >= 3 && !saidAsWord(r.at(i-1).word) // UMRN ...7731
	return lettered || r.context(i).what != noContext || r.in(i-1, bank) || r.in(i-2, bank)
}

// crosses reports whether token i is a word of nothing but X, two at least.
func (r *reader) crosses(i int) bool {
	t := r.at(i)
	if t.kind != latin || t.b-t.a < 2 {
		return false
	}
	for _, c := range []byte(r.str(i)) {
		if c|0x20 != 'x' {
			return false
		}
	}
	return true
}

// loneCross reports whether token i is a single X right in front of a number: X1234.
func (r *reader) loneCross(i int) bool {
	return r.single(i) && r.text[r.toks[i].a]|0x20 == 'x' && r.tightDigits(i+1)
}

// maskSigns are the signs that stand for one hidden character each.
const maskSigns = "*.#" + string(rune(bullet))

// mask measures the masks that begin at token j: crosses, stars or dots in groups. It returns the token behind them and how many
// characters they hide.
func (r *reader) mask(j int) (next, wide int) {
	next = j
	for {
		t := r.at(j)
		switch {
		case r.crosses(j) || wide == 0 && r.loneCross(j):
			wide += int(t.b - t.a)
			j++
		case t.kind == sign && t.ch == ellipsis:
			wide += 3
			j++
		case t.ch == '.' && t.kind == sign && !r.tightSign(j+1, '.'):
			return next, wide // it ends the sentence
		case t.isOneOf(maskSigns):
			for k := j; r.isSign(k, t.ch) && (k == j || r.tight(k)); k++ {
				wide++
				j = k + 1
			}
			if t.ch == '.' && wide < 2 {
				return next, 0
			}
		default:
			return next, wide
		}
		next = j
		if r.tightSign(j, '-') && r.tight(j+1) && (r.crosses(j+1) || r.isSign(j+1, '*')) {
			j++
		}
	}
}

// masked reads groups of digits and masks from token i, which holds either, as far as they go.
func (r *reader) masked(i int) int {
	r.begin(i, speech.SpanMasked)
	return r.end(r.sayMasked(i))
}

// maskedAbroad reads +91-98XXXXXX12 and +91 XXXXX X4321 from the plus at token i.
func (r *reader) maskedAbroad(i int) int {
	code := r.str(i + 1)
	from := i + 2
	if r.tightSign(from, '-') {
		from++
	}
	hidden := from
	if r.at(from).kind == digits {
		hidden++
	}
	next, wide := r.mask(hidden)
	if len(code) > 3 || wide < 3 || r.at(hidden).isOneOf(dots) {
		return i
	}
	if tail := r.hyphen(next); r.at(tail).kind != digits || len(r.str(tail)) < 2 {
		return i
	}
	r.begin(i, speech.SpanMasked)
	r.sayCountry(i, code, false, -1)
	return r.end(r.sayMasked(from))
}

// sayMasked says the digits of a masked number from token i and returns the token behind it.
func (r *reader) sayMasked(i int) int {
	spokenAny := false
	j := r.frontOfCard(i)
	for range 2 * maxParts {
		k := j
		if j > i && r.isSign(k, '-') && r.tight(k) {
			k++
		}
		if next, wide := r.mask(k); next > k && (j == i || wide >= 2) {
			j = next
			if spokenAny && (r.at(j).kind == digits || r.isSign(j, '-')) {
				r.pause()
			}
			continue
		}
		if t := r.at(k); t.kind == digits && (k == i || !(t.gap && r.at(k-1).kind == digits)) {
			if spokenAny && k > j {
				r.pause() // 112-508***-006
			}
			r.grouped(r.str(k))
			spokenAny = true
			j = k + 1
			continue
		}
		break
	}
	if !spokenAny {
		r.join = spaced
	}
	return j
}

// frontOfCard returns where the mask behind the digits at token i begins, if it hides so much that only the tail is said, as
// of 5123 XXXX XXXX 0096; else i.
func (r *reader) frontOfCard(i int) int {
	if r.at(i).kind != digits || len(r.str(i)) > 6 {
		return i
	}
	j := i + 1
	if r.tightSign(j, '-') {
		j++
	}
	next, wide := r.mask(j)
	if r.isSign(next, '-') && r.tight(next) {
		next++
	}
	if t := r.at(next); wide >= 8 && t.kind == digits && t.b-t.a == 4 {
		return j
	}
	return i
}

// serviceCode reads *121# and *123*1#, which are dialled as they stand.
func (r *reader) serviceCode(i int) int {
	if !r.isSign(i, '*') || !r.tightDigits(i+1) {
		return i
	}
	j := i + 2
	for j-i < lookahead && r.numberBehind(j, '*') {
		j += 2
	}
	if !r.tightSign(j, '#') {
		return i
	}
	r.begin(i, speech.SpanCode)
	for k := i; k < j; k += 2 {
		r.say(r.lang.words[wordStar])
		r.grouped(r.str(k + 1))
	}
	r.say(r.lang.words[wordHash])
	return r.end(j + 1)
}
