package normalize

import "github.com/swar-tts/swar/runtime/speech"

// picture passes over an emoji.
func (r *reader) picture(i int) int { return r.hush(i, i+1, speech.SpanEmoji) }

// tag passes over a tag.
func (r *reader) tag(i int) int { return r.hush(i, i+1, speech.SpanMarkup) }

// emoticon passes over :), ;-), :D and <3.
func (r *reader) emoticon(i int) int {
	t := r.at(i)
	if t.ch == '<' && r.heart(i) {
		return r.hush(i, i+2, speech.SpanEmoji)
	}
	if t.ch != ':' && t.ch != ';' {
		return i
	}
	j := i + 1
	if r.tightSign(j, '-') || r.tightSign(j, '\'') {
		j++
	}
	mouth := r.at(j)
	switch {
	case !r.tight(j):
		return i
	case mouth.kind == latin:
		if !t.gap || !r.reads(j, "D", "P", "p") || r.tightSign(j+1, '+') || r.tightSign(j+1, '-') {
			return i
		}
		j++
	case mouth.kind == sign && (mouth.ch == ')' || mouth.ch == '('):
		if !t.gap && mouth.ch == '(' || mouth.ch == ')' && r.inBrackets(i) {
			return i // the bracket is a bracket
		}
		for n := 0; n < lookahead && r.tightSign(j, mouth.ch); n++ {
			j++
		}
	default:
		return i
	}
	if !r.looseEnd(j) {
		return i
	}
	return r.hush(i, j, speech.SpanEmoji)
}

// inBrackets reports whether a bracket is open at token i.
func (r *reader) inBrackets(i int) bool {
	closed := 0
	for j := i - 1; j > i-lookahead && j >= r.start; j-- {
		switch {
		case r.isSign(j, ')'):
			closed++
		case r.isSign(j, '(') && closed == 0:
			return true
		case r.isSign(j, '('):
			closed--
		}
	}
	return false
}

// heart reports whether the <3 at token i is a heart. Only beside warm words: a rating may well be less than three.
func (r *reader) heart(i int) bool {
	if !r.tight(i+1) || r.at(i+1).kind != digits || r.str(i+1) != "3" || !r.looseEnd(i+2) || r.tightSign(i+2, '.') && r.tight(i+3) || r.isSign(i+2, '%') || r.countedAt(i+2) {
		return false
	}
	for j := i - 1; j >= max(r.start, i-5); j-- {
		if r.isWord(j, warm) {
			return true
		}
	}
	return i == r.start && r.at(i+2).kind == nothing
}

// laugh passes over XD.
func (r *reader) laugh(i int) int {
	if next := r.at(i + 1); !r.reads(i, "XD", "xD") || r.joined(i) || next.kind == digits || next.kind == sign && !next.gap && next.ch == '-' || !r.looseEnd(i+1) {
		return i
	}
	return r.hush(i, i+1, speech.SpanEmoji)
}

// punctuation keeps what parts and ends sentences.
func (r *reader) punctuation(i int) int {
	t := r.at(i)
	switch t.ch {
	case danda:
		r.mark("।")
	case '|':
		return r.bar(i)
	case ',', ';', ':', '?', '!':
		r.mark(r.str(i))
	case '.', ellipsis:
		return r.dots(i)
	case '(':
		r.open(i)
	case ')':
		switch {
		case !r.isMarker(i):
			r.close(')')
		case r.at(i+1).kind != nothing:
			r.pause()
		}
	case '"', '\'':
		if (t.gap || r.opened > 0 || r.join == glued || r.opens(i-1)) && r.tight(i+1) {
			r.open(i)
		} else {
			r.close(t.ch)
		}
	case '-', enDash, emDash:
		return r.dash(i)
	default:
		return i
	}
	return i + 1
}

// isMarker reports whether the bracket at i belongs to a list number, 1), which has no opening one.
func (r *reader) isMarker(i int) bool {
	p, before := r.at(i-1), r.at(i-2)
	if p.kind != digits || p.b-p.a > 2 {
		return false
	}
	return before.kind == nothing || p.gap && before.kind == sign && (before.ch == ',' || before.ch == ';' || before.ch == ':')
}

// dots reads a full stop or an ellipsis.
func (r *reader) dots(i int) int {
	j := i
	for r.isSign(j, r.at(i).ch) && (j == i || r.tight(j)) {
		j++
	}
	if j-i > 1 || r.at(i).ch == ellipsis {
		r.mark("...")
	} else {
		r.mark(".")
	}
	return j
}

// bar reads |: a danda behind Devanagari, else the border between two cells.
func (r *reader) bar(i int) int {
	j := i
	for r.isSign(j, '|') {
		j++
	}
	if r.isDanda(i) && j <= i+2 {
		r.mark("।")
	} else if i > r.start && j < r.stop {
		r.pause()
	}
	return r.hush(i, j, speech.SpanSign)
}

// dash keeps a hyphen or a dash between words; before a number it is a pause.
func (r *reader) dash(i int) int {
	j := i
	for t := r.at(j); t.kind == sign && (t.ch == '-' || t.ch == enDash || t.ch == emDash) && (j == i || !t.gap); t = r.at(j) {
		j++
	}
	if r.tightSign(j, '>') {
		r.pause() // ->
		return r.hush(i, j+1, speech.SpanSign)
	}
	t, next := r.at(i), r.at(j)
	if next.kind == digits && (t.gap || next.gap || next.b-next.a > 4) || next.kind == sign && signCurrency(next.ch) > 0 {
		r.pause()
		return r.hush(i, j, speech.SpanSign)
	}
	if !r.said || r.opened > 0 || r.join == glued || parts(r.out) || !next.kind.wordLike() {
		return r.hush(i, j, speech.SpanSign)
	}
	if t.gap {
		r.out = append(r.out, ' ')
	}
	switch t.ch {
	case enDash:
		r.out = append(r.out, "–"...)
	case emDash:
		r.out = append(r.out, "—"...)
	default:
		r.out = append(r.out, '-')
	}
	r.join = glued
	if next.gap {
		r.join = spaced
	}
	return j
}

// spokenSign reads signs that are words, and drops those that are none.
func (r *reader) spokenSign(i int) int {
	t := r.at(i)
	between := r.at(i-1).kind == digits && r.at(i+1).kind == digits
	hi, en := "", ""
	if next := r.bareRate(i); next > i {
		return next
	}
	if r.isKey(i) {
		r.begin(i, speech.SpanSign)
		if t.ch == '#' {
			r.say(r.lang.pick("हैश", "hash"))
		} else {
			r.say(r.lang.pick("स्टार", "star"))
		}
		return r.end(i + 1)
	}
	switch t.ch {
	case '#':
		if r.tight(i) && r.single(i-1) {
			hi, en = "शार्प", "sharp" // C#
		}
	case star:
		if r.at(i-1).kind == digits {
			hi, en = "स्टार", "star"
		}
	case '&':
		hi, en = "और", "and"
	case '%':
		hi, en = "प्रतिशत", "percent"
	case '@':
		hi, en = "ऐट", "at"
	case '+':
		hi, en = "प्लस", "plus"
	case plusMinus:
		hi, en = "प्लस माइनस", "plus minus"
	case '=', approx:
		hi, en = "बराबर", "equals"
	case notEqual:
		hi, en = "बराबर नहीं", "not equal to"
	case rupee:
		hi, en = "रुपये", "rupees"
	case '$':
		hi, en = "डॉलर", "dollars"
	case euro:
		hi, en = "यूरो", "euros"
	case pound:
		hi, en = "पाउंड", "pounds"
	case yen:
		hi, en = "येन", "yen"
	case degree:
		hi, en = "डिग्री", "degree"
	case half:
		hi, en = "आधा", "half"
	case '/':
		before, after := r.at(i-1), r.at(i+1)
		if (before.kind.wordLike() || before.kind == sign && (before.ch == '%' || before.ch == '.')) && (after.kind.wordLike() || after.kind == sign && signCurrency(after.ch) > 0) && !r.isOr(i+1) && !r.isOr(i-1) {
			hi, en = "या", "or"
		}
	case '*', multiply:
		if between || t.ch == multiply && r.factors(i) {
			hi, en = "गुणा", "times"
		}
	case divide:
		hi, en = "भाग", "divided by"
	case lessEqual:
		hi, en = "से कम या बराबर", "less than or equal to"
	case greaterEqual:
		hi, en = "से ज़्यादा या बराबर", "greater than or equal to"
	case '<', '>', arrow:
		switch {
		case r.at(i+1).kind == digits && t.ch == '<':
			hi, en = "से कम", "less than"
		case r.at(i+1).kind == digits && t.ch == '>':
			hi, en = "से ज़्यादा", "more than"
		case i > r.start && i+1 < r.stop:
			r.pause()
		}
	}
	if hi == "" {
		return r.hush(i, i+1, speech.SpanSign)
	}
	r.begin(i, speech.SpanSign)
	r.say(r.lang.pick(hi, en))
	return r.end(i + 1)
}

// bareRate reads the stroke of 1500/month and 96.72/L, where no currency says that a price stands before it.
func (r *reader) bareRate(i int) int {
	if !r.tightSign(i, '/') || !r.tight(i+1) || !r.looseEnd(i+2) {
		return i
	}
	j := i - 1
	if r.joined(j) && r.isWord(j, scaleWord) {
		j-- // 25k/month
	}
	if r.at(j).kind != digits {
		return i
	}
	var buf [16]byte
	low, _ := fold(buf[:0], r.atWord(i+1))
	price := r.tightSign(j-1, '.') || j < i-1
	if known := rates[string(low)] != "" || units[string(low)] != nil; !known || len(low) == 1 && !price {
		return i // 12/C is a house
	}
	r.begin(i, speech.SpanAmount)
	r.sayRate(i+1, r.lang)
	return r.end(i + 2)
}

// isOr reports whether token i says "or" already.
func (r *reader) isOr(i int) bool {
	return r.reads(i, "or", "या", "ya", "Or", "OR")
}

// isKey reports whether the sign at i is a key of a telephone: a lone # or * where keys are pressed.
func (r *reader) isKey(i int) bool {
	t, next := r.at(i), r.at(i+1)
	if t.ch != '#' && t.ch != '*' || !t.gap || !(next.gap || next.kind == nothing || next.kind == sign && next.ch != t.ch) {
		return false
	}
	for j := max(r.start, i-4); j <= i+3; j++ {
		if r.isWord(j, pressed) {
			return true
		}
	}
	return false
}
