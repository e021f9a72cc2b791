package normalize

// Speaking numbers: everything here writes words and decides nothing.

// cardinal says n as Indians count: thousand, lakh, crore.
func (r *reader) cardinal(n uint64, l lang) { r.scaled(n, l, l.scales) }

// scaled says n in the given scales of l. The topmost is counted in itself.
func (r *reader) scaled(n uint64, l lang, scales []scale) {
	for _, s := range scales {
		if n >= s.value {
			r.scaled(n/s.value, l, scales)
			r.say(s.name)
			if n %= s.value; n == 0 {
				return
			}
		}
	}
	r.say(l.below100[n])
}

// ordinal says first, twenty second, one hundredth.
func (r *reader) ordinal(n uint64) {
	if n >= 100 {
		if n%100 == 0 {
			r.cardinal(n, english)
			r.out = append(r.out, "th"...)
			return
		}
		r.cardinal(n-n%100, english)
		n %= 100
	}
	switch {
	case n < 20:
		r.say(englishOrdinalBelow20[n])
	case n%10 == 0:
		r.say(englishOrdinalTens[n/10])
	default:
		r.say(englishTens[n/10])
		r.say(englishOrdinalBelow20[n%10])
	}
}

// year says 1947 as nineteen forty seven and 2026 as twenty twenty six; in Hindi 1100 to 1999 go by hundreds.
func (r *reader) year(n uint64, l lang) {
	if l != english {
		if l.hundreds && 1100 <= n && n < 2000 {
			r.say(l.below100[n/100])
			r.say(l.scales[len(l.scales)-1].name)
			if n%100 > 0 {
				r.say(l.below100[n%100])
			}
			return
		}
		r.cardinal(n, l)
		return
	}
	high, low := n/100, n%100
	switch {
	case n < 1000 || n > 2099 || high%10 == 0 && low < 10:
		r.cardinal(n, english)
	case low == 0:
		r.cardinal(high, l)
		r.say("hundred")
	case low < 10:
		r.cardinal(high, l)
		r.say("oh")
		r.say(englishBelow20[low])
	default:
		r.cardinal(high, l)
		r.cardinal(low, l)
	}
}

// digitLang is the language of identifiers, whatever the sentence.
func (r *reader) digitLang() lang {
	if r.opt.EnDigits {
		return english
	}
	return r.home
}

// digits says the digits of s one by one in l and skips everything else.
func (r *reader) digits(s string, l lang) {
	for i := range len(s) {
		if c := s[i]; '0' <= c && c <= '9' {
			r.say(l.below100[c-'0'])
		}
	}
}

// grouped says the digits of an identifier, more than six of them by four, with a pause after each group: the pause is heard, and
// the only place where a long string may be cut.
func (r *reader) grouped(s string) {
	for whole := len(s); whole > 6 && len(s) > 4; {
		n := 4
		if len(s) == 5 {
			n = 3 // never leave a lone digit
		}
		r.digits(s[:n], r.digitLang())
		r.pause()
		s = s[n:]
	}
	r.digits(s, r.digitLang())
}

// letters names the ASCII letters of s.
func (r *reader) letters(s string, l lang) {
	r.doubtful = r.doubtful || l == english && (r.join == glued || isRomanLetters(s))
	for i := range len(s) {
		c := s[i] &^ 0x20
		if c < 'A' || c > 'Z' {
			continue
		}
		r.say(l.letters[c-'A'])
	}
}
