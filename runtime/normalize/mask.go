package normalize

import "github.com/swar-tts/swar/runtime/speech"

// Masked numbers: the mask in front is silent, one in the middle is a pause, and what is left is read digit by digit.

// maskedWord reads XXXX1234 and XXXX-XXXX-4321.
func (r *reader) maskedWord(i int) int {
	if r.joined(i) {
		return i
	}
	if r.crosses(i) {
		next, wide := r.mask(i)
		if d := r.at(r.hyphen(next)); wide < 4 && (d.kind != digits || d.gap && wide < 3) {
			return i // XL, XXX
		}
		return r.masked(i)
	}
	if r.single(i) && r.text[r.toks[i].a]|0x20 == 'x' && r.tight(i+1) && r.small(i+1, 4) >= 0 && len(r.str(i+1)) >= 3 && r.context(i) == idNear {
		return r.masked(i) // X1234 is a mask behind "account" only
	}
	return i
}

// maskedDigits reads 98******10, 98XXXXXX10 and 4321 XXXX XXXX 9087.
func (r *reader) maskedDigits(i int) int {
	if r.joined(i) {
		return i
	}
	j := i + 1
	if r.tightSign(j, '-') {
		j++
	}
	next, wide := r.mask(j)
	if next == j || wide < 2 || r.at(j).gap && wide < 3 {
		return i
	}
	if (r.isSign(j, '.') || r.isSign(j, ellipsis)) && !(r.tight(j) && r.at(next).kind == digits && r.tight(next)) {
		return i
	}
	return r.masked(i)
}

// maskedSign reads ****4321, *1207, •••• 5560 and, where a card or an account is named, ...0042.
func (r *reader) maskedSign(i int) int {
	if r.tight(i) && r.isSign(i-1, r.at(i).ch) {
		return i // the whole run was looked at when it began
	}
	next, wide := r.mask(i)
	if next == i || r.joined(i) {
		return i
	}
	switch {
	case wide >= 3 && !r.isSign(i, '.') && !r.isSign(i, ellipsis) && r.at(next).kind == digits && (r.tight(next) || !r.isSign(i, '#')):
		return r.masked(i)
	case r.isSign(i, '.') || r.isSign(i, ellipsis):
		if d := r.at(next); d.kind != digits || d.b-d.a < 2 || r.context(i) == noContext || r.countedAt(next+1) {
			return i
		}
		return r.masked(i)
	case r.at(next).kind == digits && r.tight(next) && r.isSign(i, '*') && !r.tightSign(next+1, '*') && !r.tightSign(next+1, '#') && len(r.str(next)) >= 3:
		return r.masked(i)
	}
	return i
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

// mask measures the masks that begin at token j: crosses, stars or dots in groups. It returns the token behind them and how many
// characters they hide.
func (r *reader) mask(j int) (next, wide int) {
	next = j
	for {
		t := r.at(j)
		switch {
		case r.crosses(j) || wide == 0 && r.single(j) && r.tight(j+1) && r.text[r.toks[j].a]|0x20 == 'x' && r.at(j+1).kind == digits:
			wide += int(t.b - t.a)
			j++
		case t.kind == sign && t.ch == ellipsis:
			wide += 3
			j++
		case t.kind == sign && (t.ch == '*' || t.ch == bullet || t.ch == '.' || t.ch == '#'):
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
	spokenAny := false
	j := i
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
	return r.end(j)
}

// serviceCode reads *121# and *123*1#, which are dialled as they stand.
func (r *reader) serviceCode(i int) int {
	j := i
	for r.isSign(j, '*') && (j == i || r.tight(j)) && r.at(j+1).kind == digits && r.tight(j+1) && j-i < lookahead {
		j += 2
	}
	if j == i || !r.tightSign(j, '#') {
		return i
	}
	r.begin(i, speech.SpanCode)
	for k := i; k < j; k += 2 {
		r.say(r.lang.pick("स्टार", "star"))
		r.grouped(r.str(k + 1))
	}
	r.say(r.lang.pick("हैश", "hash"))
	return r.end(j + 1)
}
