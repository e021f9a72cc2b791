package normalize

// sentence finds the end of the sentence that begins at token i, and its language. What is read never depends on anything outside
// its sentence, so a text may be cut at sentence ends before or after normalising.
func (r *reader) sentence(i int) {
	r.start, r.stop = i, len(r.toks)-1
	r.devaText = false
	sure, maybe, not, words := 0, 0, 0, 0
	for j := i; j < len(r.toks)-1; j++ {
		t := &r.toks[j]
		if j > i && t.line {
			r.stop = j
			break
		}
		switch t.kind {
		case deva:
			sure++
			r.devaText = true
		case latin:
			switch {
			case t.cas == upper && (t.b-t.a == 1 || t.b-t.a <= 6 && !saidAsWord(t.word)), r.symbol(j):
				// Initials, units and currencies belong to no language.
			case t.word.is(hindiWord):
				sure++
			case t.word.is(englishWord):
				not++
			case t.word.is(hindiMaybe):
				maybe++
			default:
				words++
			}
		case digits:
			if t.hindi {
				sure++
			}
		}
		if r.endsSentence(j) {
			r.stop = j + 1
			for r.closes(r.stop) {
				r.stop++
			}
			break
		}
	}
	r.lang = english
	if sure > 0 || maybe > 0 && not == 0 || not+words == 0 {
		r.lang = hindi
	}
}

// symbol reports whether the Latin word at token j is a symbol beside a number: kg, Rs, PM, Aug.
func (r *reader) symbol(j int) bool {
	t := r.at(j)
	if r.at(j-1).kind == digits && (r.tight(j) || t.word.is(meridiem|scaleWord) || r.unitText(j, j+1) != nil) {
		return true
	}
	return r.currencyCode(j) > 0
}

// endsSentence reports whether a sentence ends with token j.
func (r *reader) endsSentence(j int) bool {
	t := &r.toks[j]
	if t.kind != sign {
		return false
	}
	switch t.ch {
	case danda:
		return true
	case '?', '!':
		return r.free(j + 1)
	case '|':
		return r.isDanda(j)
	case '.':
		return r.fullStop(j)
	}
	return false
}

// isDanda reports whether the bar at j stands for a danda: behind a Devanagari word, and nothing but a gap after it.
func (r *reader) isDanda(j int) bool {
	p := r.at(j - 1)
	if p.kind == sign && p.ch == '|' { // || is a double danda
		p = r.at(j - 2)
	}
	next := r.at(j + 1)
	return p.kind == deva && (next.gap || next.kind == nothing || next.kind == sign && next.ch == '|')
}

// fullStop reports whether the dot at j ends a sentence, and not an abbreviation, an initial or a list number.
func (r *reader) fullStop(j int) bool {
	next := r.at(j + 1)
	if next.kind != nothing && !next.gap && !r.closes(j+1) {
		return false // inside a word, a number or an ellipsis
	}
	if next.kind == nothing || next.line {
		return true
	}
	p := r.at(j - 1)
	switch {
	case p.kind == sign && p.ch == '.':
		return next.cas == title || next.cas == upper // an ellipsis
	case !r.tight(j):
		return true
	case p.kind == digits && j-1 == r.start:
		return false // 1. first item
	case p.word != nil && p.word.is(dotted):
		return false
	case r.currencyCode(j-1) > 0:
		return next.kind != digits && r.at(j-2).kind != sign
	case p.word != nil && p.word.is(beforeNumber):
		return next.kind != digits && !(next.kind == sign && next.ch == '#') && next.cas != upper
	case p.kind == latin && p.b-p.a == 1:
		// A single letter is an initial: J. R. D. Tata, U.S.A. and.
		return !(r.tightSign(j-2, '.') && r.tight(j-1) || p.cas == upper && next.cas == title)
	}
	return true
}

// closes reports whether token j is a closing quote or bracket directly behind the token before.
func (r *reader) closes(j int) bool {
	t := r.at(j)
	return t.kind == sign && !t.gap && (t.ch == '"' || t.ch == '\'' || t.ch == ')' || t.ch == ']')
}
