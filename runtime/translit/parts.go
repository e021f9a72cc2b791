package translit

import "github.com/swar-tts/swar/runtime/internal/table"

// Indian names of people and places are made of parts: Ram-esh, Chandra-shekhar, Subba-lakshmi, Krishna-pur. A part
// is spelled the same in each name, although its Roman letters are ambiguous (the a of Ram is long, that of Raman is
// not). A few hundred parts therefore spell far more names than a list could hold.

// A part is how one is written, and more about where it stands.
type part struct {
	hindi string
	place bool // an end of places: a vowel before it is long, Durga-pur
	lead  bool // a start that needs no known end
}

// A start is a part at the beginning of a word.
type start struct {
	n     int // its Roman letters
	hindi string
	whole bool // the rest of the word is an end
}

// surestStart is how long a start must be to be believed without a known end behind it. Found by trial on the judged
// names.
const surestStart = 4

// startOf finds the start of key that leaves an end, else the longest one that is sure; it has n = 0 if there is none.
func (l *lexicon) startOf(key []byte) start {
	var longest start
	for n := min(len(key)-2, l.longestStart); n >= 2; n-- {
		st := l.startAt(key, n)
		if st.whole {
			return st
		}
		if longest.n == 0 {
			longest = st
		}
	}
	return longest
}

// startAt returns the start that the first n letters of key are.
func (l *lexicon) startAt(key []byte, n int) start {
	rest := key[n:]
	if rest[0] == 'h' && !isVowel(key[n-1]) || rest[0] == 'y' { // they belong to the consonant before
		return start{}
	}
	p, known := part{}, false
	if l.startsWith[n]&letterBit(key[n-1]) != 0 {
		p, known = l.starts[string(key[:n])]
	}
	_, whole := l.endOf(rest)
	switch {
	case known && !isVowel(rest[0]):
		if whole || p.lead || n >= surestStart && len(rest) >= 3 {
			return start{n, p.hindi, whole}
		}
	case known && whole && !isVowel(key[n-1]):
		return start{n, p.hindi, true}
	case whole && n < longestWord && isVowel(rest[0]): // Chandra and -esh are Chandresh
		var room [longestWord + 1]byte
		p, known = l.starts[string(append(append(room[:0], key[:n]...), 'a'))]
		if known && !endsInVowel(p.hindi) {
			return start{n, p.hindi, true}
		}
	}
	return start{}
}

// endOf finds the part that rest is.
func (l *lexicon) endOf(rest []byte) (part, bool) {
	if len(rest) > l.longestEnd || len(rest) > 0 && l.endsWith[len(rest)]&letterBit(rest[0]) == 0 {
		return part{}, false
	}
	p, ok := l.ends[string(rest)]
	return p, ok
}

// letterBit is the bit of a letter in the sets of first and last letters of parts by length. They save most look-ups.
func letterBit(c byte) uint32 { return 1 << (c & 31) }

// surestEnd is how long an end must be to make a word Indian by itself.
const surestEnd = 4

// isIndian reports whether key is made of parts: two, or a long one behind letters that could be a third.
func (l *lexicon) isIndian(key []byte) bool {
	if st := l.startOf(key); st.whole {
		return true
	}
	for i := 2; i <= len(key)-surestEnd; i++ {
		if _, ok := l.endOf(key[i:]); ok {
			return true
		}
	}
	return false
}

// part writes a part behind what has been written. One that begins with a vowel joins the consonant before it.
func (s *speller) part(hindi string) {
	if first := firstRune(hindi); s.bare {
		if v, ok := vowelOf[first]; ok {
			s.vowel(v)
			hindi = hindi[len(v.alone):]
		}
	}
	s.out.WriteString(hindi)
	s.bare = hindi != "" && !endsInVowel(hindi) || hindi == "" && s.bare
}

// addPart adds a row of parts.tsv.
func (l *lexicon) addPart(r *table.Row) error {
	roman, where, hindi := r.Cell(0), r.Cell(1), r.Cell(2)
	switch where {
	case "start", "lead":
		l.starts[roman] = part{hindi: hindi, lead: where == "lead"}
		l.longestStart = max(l.longestStart, len(roman))
		l.startsWith[len(roman)] |= letterBit(roman[len(roman)-1])
	case "end", "place":
		l.ends[roman] = part{hindi: hindi, place: where == "place"}
		l.longestEnd = max(l.longestEnd, len(roman))
		l.endsWith[len(roman)] |= letterBit(roman[0])
	default:
		return r.Errorf("a part stands at the start or the end of a name, not %q", where)
	}
	return nil
}
