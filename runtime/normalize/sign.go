package normalize

// open writes an opening bracket or quote as token i has it.
func (r *reader) open(i int) {
	if len(r.out) > 0 && (r.join == spaced || r.join == asWritten && r.toks[i].gap) {
		r.out = append(r.out, ' ')
	}
	r.out = append(r.out, r.toks[i].ch)
	r.join = glued
}

// close writes a closing bracket or quote behind the last word.
func (r *reader) close(ch byte) {
	if len(r.out) == 0 || r.join == glued {
		return
	}
	r.out = append(r.out, ch)
	r.join = spaced
}

// picture passes over an emoji.
func (r *reader) picture(i int) int { return r.hush(i, i+1, "emoji") }

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
		r.close(')')
	case '"', '\'':
		if (t.gap || r.join == glued || r.opens(i-1)) && r.tight(i+1) {
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
	return r.hush(i, j, "sign")
}

// dash keeps a hyphen or a dash between words; before a number it is a pause.
func (r *reader) dash(i int) int {
	j := i
	for t := r.at(j); t.kind == sign && (t.ch == '-' || t.ch == enDash || t.ch == emDash) && (j == i || !t.gap); t = r.at(j) {
		j++
	}
	if r.tightSign(j, '>') {
		r.pause() // ->
		return r.hush(i, j+1, "sign")
	}
	t, next := r.at(i), r.at(j)
	if next.kind == digits && (t.gap || next.gap || next.b-next.a > 4) || next.kind == sign && signCurrency(next.ch) > 0 {
		r.pause()
		return r.hush(i, j, "sign")
	}
	if len(r.out) == 0 || r.join == glued || r.parted() || !next.kind.wordLike() {
		return r.hush(i, j, "sign")
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

// parted reports whether the last thing written was punctuation.
func (r *reader) parted() bool {
	switch r.out[len(r.out)-1] {
	case '.', ',', ';', ':', '?', '!', '-':
		return true
	}
	return r.endsIn("।") || r.endsIn("–") || r.endsIn("—")
}

// spokenSign reads signs that are words, and drops those that are none.
func (r *reader) spokenSign(i int) int {
	t := r.at(i)
	between := r.at(i-1).kind == digits && r.at(i+1).kind == digits
	hi, en := "", ""
	switch t.ch {
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
		if r.at(i-1).kind.wordLike() && r.at(i+1).kind.wordLike() && !r.isOr(i+1) && !r.isOr(i-1) {
			hi, en = "या", "or"
		}
	case '*', multiply:
		if between {
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
		return r.hush(i, i+1, "sign")
	}
	r.begin(i, "sign")
	r.say(r.lang.pick(hi, en))
	return r.end(i + 1)
}

// isOr reports whether token i says "or" already.
func (r *reader) isOr(i int) bool {
	switch r.atWord(i) {
	case "or", "या", "ya", "Or", "OR":
		return true
	}
	return false
}
