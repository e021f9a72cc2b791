package normalize

// sentence finds the end of the sentence that begins at token i, and its language. What is read never depends on anything outside
// its sentence, so a text may be cut at sentence ends before or after normalising.
func (r *reader) sentence(i int) {
	r.start, r.stop = i, r.line(i)
	r.said, r.opened = false, 0
	r.toks[i].gap = true
	var sure, devas, maybe, not, words int
	end := r.stop
	for j := i; j < r.stop; j++ {
		t := &r.toks[j]
		switch t.kind {
		case deva:
			if !t.word.is(digitName) {
				sure++
				devas++
			}
		case latin:
			switch {
			case t.cas == upper && (t.b-t.a <= 2 && !t.word.is(englishWord) || t.b-t.a <= 6 && !saidAsWord(t.word)), r.symbol(j), r.inAddressBlob(j):
				// Initials, units and currencies belong to no language.
			case t.word.is(hindiWord), r.reads(j, "the") && r.endsClause(j+1):
				sure++
			case t.word.is(hindiMaybe):
				maybe++
			case t.word.is(englishWord):
				not++
			default:
				words++
			}
		case digits:
			if t.hindi {
				sure++
			}
		}
		if r.endsSentence(j) {
			end = j + 1
			for r.closes(end) {
				end++
			}
			break
		}
	}
	// Digit names alone do not make a sentence Hindi: an English one has them too once its codes have been read.
	r.lang = english
	if sure > 0 || maybe > 0 && not == 0 || not+words == 0 {
		r.lang = hindi
	}
	r.danda = devas > 0 || r.lang == hindi && sure+maybe+not+words == 0
	r.stop = end
}

// endsClause reports whether a clause ends before token j. An English article never stands there, so the is थे.
func (r *reader) endsClause(j int) bool {
	t := r.at(j)
	return t.kind == nothing || t.kind == sign && (t.ch == '.' || t.ch == ',' || t.ch == '?' || t.ch == '!' || t.ch == danda)
}

// line returns the end of the line that token i is in.
func (r *reader) line(i int) int {
	if i >= r.lineStop {
		r.lineStop = i + 1
		for r.lineStop < len(r.toks)-1 && !r.toks[r.lineStop].line {
			r.lineStop++
		}
	}
	return r.lineStop
}

// inAddressBlob reports whether the word at token j is part of an e-mail or a web address, which has no language.
func (r *reader) inAddressBlob(j int) bool {
	b := r.toks[j].blob
	return b&(hasAt|hasSlashes) != 0 || b&hasDot != 0 && (r.tightSign(j+1, '.') && r.tight(j+2) && r.at(j+2).kind == latin || r.tight(j) && r.isSign(j-1, '.'))
}

// symbol reports whether the Latin word at token j is a symbol beside a number: kg, Rs, PM, Aug.
func (r *reader) symbol(j int) bool {
	t := r.at(j)
	if r.at(j-1).kind == digits && (r.tight(j) || t.word.is(meridiem|scaleWord) || r.unitText(j, j+1) != nil) {
		return true
	}
	if t.word.is(month) && t.b-t.a <= 4 && (r.at(j+1).kind == digits || r.at(j-1).kind == digits) {
		return true
	}
	return r.currencyCode(j) > 0 || r.cross(j)
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
		next := r.at(j + 1)
		return next.gap || next.kind == nothing || next.kind == emoji || next.kind == tag || r.closes(j+1)
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
	if next.kind != nothing && next.kind != tag && !next.gap && !r.closes(j+1) {
		return false // inside a word, a number or an ellipsis
	}
	if next.kind == nothing {
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
	case p.word.is(needsDot|dotOrTitle|dotOrNone) && !(r.at(j-2).kind == digits && p.kind == latin && r.unitText(j-1, j) != nil):
		return false // Min. order, but not: in 15 min. Delivery
	case r.currencyCode(j-1) > 0:
		// 500 रु. जमा करें, but: 60 rs. Cash.
		return next.kind != digits && r.at(j-2).kind != sign && !(r.at(j-2).kind == digits && (next.kind == deva || next.kind == latin && next.cas == lower))
	case p.word.is(beforeNumber):
		if next.kind == latin && next.cas == lower && r.named(j-1) {
			return false // Account no. ending
		}
		return next.kind != digits && !(next.kind == sign && (next.ch == '#' || next.ch == '+' || next.ch == '(')) && next.cas != upper
	case next.kind == latin && next.cas == lower && p.kind == latin && (r.unitText(j-1, j) != nil || p.word.is(month) || p.b-p.a == 2 && squareWord(r.str(j-1))):
		return false // 5 kg. rice, 1200 sq. ft. in all
	case p.kind == latin && p.b-p.a == 1:
		// A single letter is an initial: J. R. D. Tata, U.S.A. and.
		return !(r.tightSign(j-2, '.') && r.tight(j-1) || p.cas == upper && next.cas == title)
	case r.degree(j - 1):
		return next.kind != deva && next.kind != digits && next.cas != lower // M.Sc. hai
	case p.kind == deva && p.b-p.a <= 12 && r.tightSign(j-2, '.') && r.tight(j-1):
		return false // कि.मी.
	}
	return true
}

// closes reports whether token j is a closing quote or bracket directly behind the token before.
func (r *reader) closes(j int) bool {
	t := r.at(j)
	return t.kind == sign && !t.gap && (t.ch == '"' || t.ch == '\'' || t.ch == ')' || t.ch == ']')
}
