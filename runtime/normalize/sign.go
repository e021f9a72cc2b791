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
	r.out = append(r.out, ch)
	r.join = spaced
}

// picture passes over an emoji.
func (r *reader) picture(i int) int { return r.hush(i, i+1, "emoji") }

// plainSign reads what no other rule wanted.
func (r *reader) plainSign(i int) int {
	t := r.at(i)
	switch t.ch {
	case danda:
		r.mark("।")
		return i + 1
	case '.', ',', ';', ':', '?', '!':
		r.mark(string(rune(t.ch)))
		return i + 1
	case '(':
		r.open(i)
		return i + 1
	case ')':
		if len(r.out) > 0 {
			r.close(')')
		}
		return i + 1
	case '"', '\'':
		if (t.gap || r.join == glued) && !r.at(i+1).gap {
			r.open(i)
		} else if len(r.out) > 0 {
			r.close(t.ch)
		}
		return i + 1
	case '-':
		p, n := r.at(i-1), r.at(i+1)
		if !t.gap && !n.gap && p.kind.wordLike() && n.kind.wordLike() {
			r.out = append(r.out, '-')
			r.join = glued
			return i + 1
		}
		r.pause()
		return i + 1
	}
	return r.spokenSign(i)
}

// spokenSign reads signs that are words, and drops those that are none.
func (r *reader) spokenSign(i int) int {
	t := r.at(i)
	hi, en := "", ""
	switch t.ch {
	case '&':
		hi, en = "और", "and"
	case '%':
		hi, en = "प्रतिशत", "percent"
	case '@':
		hi, en = "at", "at"
	case '+':
		hi, en = "प्लस", "plus"
	case '=':
		hi, en = "बराबर", "equals"
	case rupee:
		hi, en = "रुपये", "rupees"
	case '/':
		hi, en = "या", "or"
	}
	if hi == "" {
		return r.hush(i, i+1, "sign")
	}
	r.begin(i, "sign")
	r.say(r.lang.pick(hi, en))
	return r.end(i + 1)
}
