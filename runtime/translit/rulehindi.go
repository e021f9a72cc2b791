package translit

import (
	"bytes"
	"strings"
)

// spellHindi spells w, which is unknown, by the rules of Hindi.
func (w *word) spellHindi(out *strings.Builder, text string) {
	spellHindi(out, text[w.start:w.end], w.proper)
}

// spellHindi spells an unknown Hindi word by rule. Roman writing leaves out how long an a is and whether t and d are
// dental, so this is a guess: outside well-known endings a is short but at the end of the word, and t and d are
// dental.
func spellHindi(out *strings.Builder, src string, proper bool) {
	var room [40]byte
	key := fold(room[:0], src)
	l := tables()
	s := speller{out: out}
	i, started := 0, false // started: a vowel has been written
	if st := l.startOf(key); st.n > 0 {
		s.part(st.hindi)
		s.bare = s.bare && !isVowel(key[st.n-1]) // the g of naga has its vowel, though Devanagari does not write it
		i, started = st.n, true
	} else if p, ok := l.endOf(key); ok && !isVowel(key[0]) {
		s.part(p.hindi)
		return
	}
	for i < len(key) {
		rest := key[i:]
		if (started || len(key) > 3 && i > 0) && s.endWith(l, rest, started, proper) {
			return
		}
		if n := s.vowelsOf(l, key, i, proper); n > 0 {
			started = true
			i += n
			continue
		}
		if n := s.sanskrit(key, i); n > 0 {
			started = started || !isVowel(key[i]) && isVowel(key[i+n-1])
			i += n
			continue
		}
		n, c := hindiConsonant(rest)
		switch {
		case n == 0: // an apostrophe
			i++
			continue
		case started && isNasalBefore(rest) && !l.isEnd(rest[1:]):
			s.nasal(anusvara)
		default:
			s.consonant(c, started && i+n == len(key) || ties(key[:i], rest, !started))
		}
		i += n
	}
}

// sanskrit writes the letters at i of key that Sanskrit has a sign of its own for: the vowel of Krishna and Amrit,
// the sh of Vishnu and Nishtha. It returns how many they are, 0 for none.
func (s *speller) sanskrit(key []byte, i int) int {
	rest := key[i:]
	switch {
	case s.bare && vocalR(key[:i], rest):
		s.vowel(vR)
		return 2
	case hasAny(rest, "shtr"):
		s.consonant("ष", false)
		s.consonant("ट", true)
		return 3
	case hasAny(rest, "shth"):
		s.consonant("ष", false)
		s.consonant("ठ", true)
		return 4
	case hasAny(rest, "sh") && len(rest) > 2 && hasRetroflexS(key[:i], rest[2]):
		s.consonant("ष", hasSuffixAny(key[:i], "r"))
		return 2
	case hasAny(rest, "sht", "shn") && i > 0 && len(rest) > 3:
		s.consonant("ष", false)
		s.consonant(choose(rest[2] == 't', "ट", "ण"), true)
		return 3
	case i == 0 && hasAny(rest, "gy"):
		s.consonant("ज", false)
		s.consonant("ञ", true)
		return 2
	case string(rest) == "y" && s.bare:
		s.vowel(vII)
		return 1
	}
	return 0
}

// hasRetroflexS reports whether the sh between the letters is that of Harsha and Pushpa, not of Darshan and Ashraf.
func hasRetroflexS(before []byte, next byte) bool {
	if hasSuffixAny(before, "u") {
		return strings.IndexByte("mykp", next) >= 0
	}
	return len(before) > 1 && hasSuffixAny(before, "r") && !hasSuffixAny(before, "dar", "par")
}

// vocalR reports whether the r of the ri that rest begins with is a vowel behind the letters before it, as in Krishna,
// Mridul and Hriday, but not Brij and Trilok.
func vocalR(before, rest []byte) bool {
	if len(rest) <= 2 || !hasAny(rest, "ri") || isVowel(rest[2]) {
		return false
	}
	return hasSuffixAny(before, "k", "m", "hr", "v", "w", "dh", "g") || string(before) == "h" ||
		string(before) == "d" || string(before) == "n"
}

// endWith writes rest if it is a known end.
func (s *speller) endWith(l *lexicon, rest []byte, started, proper bool) bool {
	if p, ok := l.endOf(rest); ok && (started || isVowel(rest[0])) {
		s.part(p.hindi)
		return true
	}
	if len(rest) > longestEnd {
		return false
	}
	sounds, ok := hindiEnds[string(rest)]
	if !ok || !started && !sounds.early {
		return false
	}
	if proper && sounds.verb {
		return false
	}
	s.sounds(sounds.row)
	return true
}

// isEnd reports whether rest is a known end that begins with a consonant.
func (l *lexicon) isEnd(rest []byte) bool {
	_, ok := l.endOf(rest)
	return ok && !isVowel(rest[0])
}

// vowelsOf writes the vowel at i of key, with what comes between it and another, and returns how many letters it has.
func (s *speller) vowelsOf(l *lexicon, key []byte, i int, proper bool) int {
	rest := key[i:]
	if hasAny(rest, "ia", "io") && i > 0 { // Sonia, Shopian, Priyol
		s.vowel(vI)
		s.consonant("य", false)
		return 1
	}
	n, v := hindiVowel(rest, i == 0)
	if n == 1 && len(rest) > 1 && i > 0 {
		if p, ok := l.endOf(rest[1:]); ok && p.place {
			_, v = hindiVowel(rest[:1], false)
		} else if proper && rest[0] == 'a' && isLongA(key[:i], rest[1:]) {
			v = vA
		}
	}
	if n > 0 {
		s.vowel(v)
	}
	return n
}

// longestEnd is the length of the longest of hindiEnds.
const longestEnd = 6

// An end is how a word ends; early if it may follow the first consonants, verb if no name ends so.
type end struct {
	row         string
	early, verb bool
}

// hindiEnds are endings whose spelling is certain enough, as sounds.
var hindiEnds = map[string]end{
	"ai": {row: "आई", early: true}, "aai": {row: "आई", early: true}, "ayi": {row: "आई", early: true}, "aayi": {row: "आई", early: true},
	"ao": {row: "आओ", early: true}, "aao": {row: "आओ", early: true}, "ae": {row: "आए", early: true}, "aye": {row: "आए", early: true},
	"aaye": {row: "आए", early: true}, "aya": {row: "आयआ", early: true},
	"ana": {row: "आनआ", verb: true}, "ane": {row: "आनए", verb: true}, "ani": {row: "आनई"},
	"ata": {row: "आतआ", verb: true}, "ate": {row: "आतए", verb: true}, "ati": {row: "आतई", verb: true},
	"gaa": {row: "गआ", early: true}, "gee": {row: "गई", early: true}, "ega": {row: "एगआ", early: true}, "egi": {row: "एगई", early: true},
	"enge": {row: "एंगए", early: true}, "engi": {row: "एंगई", early: true}, "oge": {row: "ओगए", early: true},
	"unga": {row: "ऊँगआ", early: true}, "ungi": {row: "ऊँगई", early: true}, "iye": {row: "इए", early: true}, "iyega": {row: "इएगआ", early: true},
	"iyan": {row: "इयआँ", early: true}, "iyon": {row: "इयओं", early: true}, "on": {row: "ओं", verb: true}, "ein": {row: "एं", early: true},
	"oon": {row: "ऊँ", early: true}, "ahat": {row: "आहअट", early: true}, "aahat": {row: "आहअट", early: true},
	"awat": {row: "आवअट"}, "avat": {row: "आवअट"}, "dar": {row: "दआर"},
}

// hindiVowel reads the vowel that rest begins with. A lone one at the end of the word is long.
func hindiVowel(rest []byte, first bool) (int, vowel) {
	last := len(rest) == 1
	switch {
	case hasAny(rest, "aa"):
		return 2, vA
	case hasAny(rest, "ee", "ii"):
		return 2, vII
	case hasAny(rest, "oo", "uu"):
		return 2, vUU
	case hasAny(rest, "ai"):
		return 2, vAI
	case hasAny(rest, "au", "ou"), hasAny(rest, "ow") && len(rest) > 2 && !isVowel(rest[2]):
		return 2, vAU
	case rest[0] == 'a':
		if last && !first {
			return 1, vA
		}
		return 1, vShort
	case rest[0] == 'i':
		if last {
			return 1, vII
		}
		return 1, vI
	case rest[0] == 'u':
		if last {
			return 1, vUU
		}
		return 1, vU
	case string(rest) == "ey":
		return 2, vE
	case rest[0] == 'e':
		return 1, vE
	case rest[0] == 'o':
		return 1, vO
	}
	return 0, vowel{}
}

// isLongA reports whether the first a of a name is long by what closes its syllable: Das, Vyas, Tambe, Dange.
func isLongA(before, behind []byte) bool {
	if hasVowelBefore(before, len(before)) {
		return false
	}
	n := 0
	for n < len(behind) && !isVowel(behind[n]) {
		n++
	}
	if n == 2 && string(behind[n:]) == "e" {
		return behind[0] != behind[1] && behind[1] != 'h'
	}
	return n == 1 && len(behind) == 1
}

func hasAny(b []byte, prefixes ...string) bool {
	for _, p := range prefixes {
		if bytes.HasPrefix(b, []byte(p)) {
			return true
		}
	}
	return false
}

// A consonant is how one is written in Roman letters and in Devanagari.
type consonant struct{ roman, hindi string }

// hindiConsonants are tried in order, the longest first.
var hindiConsonants = []consonant{
	{"chchh", "च्छ"}, {"chr", "क्र"},
	{"chch", "च्छ"}, {"cchh", "च्छ"},
	{"kkh", "क्ख"}, {"ggh", "ग्घ"}, {"tth", "त्थ"}, {"ddh", "द्ध"}, {"bbh", "ब्भ"}, {"cch", "च्च"}, {"ksh", "क्ष"}, {"chh", "छ"}, {"shh", "श"},
	{"kh", "ख"}, {"gh", "घ"}, {"ch", "च"}, {"jh", "झ"}, {"th", "थ"}, {"dh", "ध"}, {"ph", "फ"}, {"bh", "भ"}, {"sh", "श"}, {"zh", "झ"},
	{"ck", "क"}, {"wh", "व"},
	{"kk", "क्क"}, {"gg", "ग्ग"}, {"jj", "ज्ज"}, {"tt", "त्त"}, {"dd", "द्द"}, {"pp", "प्प"}, {"bb", "ब्ब"}, {"mm", "म्म"}, {"nn", "न्न"},
	{"ll", "ल्ल"}, {"ss", "स्स"}, {"rr", "र्र"}, {"yy", "य्य"}, {"vv", "व्व"}, {"zz", "ज़्ज़"}, {"ff", "फ़"}, {"ww", "व"}, {"hh", "ह"}, {"cc", "क्क"}, {"qq", "क"},
	{"k", "क"}, {"g", "ग"}, {"c", "क"}, {"j", "ज"}, {"t", "त"}, {"d", "द"}, {"n", "न"}, {"p", "प"}, {"b", "ब"}, {"m", "म"}, {"y", "य"},
	{"r", "र"}, {"l", "ल"}, {"v", "व"}, {"w", "व"}, {"s", "स"}, {"h", "ह"}, {"f", "फ़"}, {"z", "ज़"}, {"q", "क"}, {"x", "क्स"},
}

// hindiConsonant reads the consonant that rest begins with: how many letters, and what it is; 0 for none.
func hindiConsonant(rest []byte) (int, string) {
	switch {
	case hasAny(rest, "tti", "ttu"): // mitti, lattu; but satta
		return 2, "ट्ट"
	case hasAny(rest, "ddi", "ddu"): // haddi, laddu; but gadda
		return 2, "ड्ड"
	}
	if rest[0] < 'a' || 'z' < rest[0] {
		return 0, ""
	}
	for _, c := range consonantsByLetter[rest[0]-'a'] {
		if len(c.roman) <= len(rest) && string(rest[:len(c.roman)]) == c.roman {
			return len(c.roman), c.hindi
		}
	}
	return 0, ""
}

// consonantsByLetter are hindiConsonants by the first letter.
var consonantsByLetter = func() (all ['z' - 'a' + 1][]consonant) {
	for _, c := range hindiConsonants {
		first := c.roman[0] - 'a'
		all[first] = append(all[first], c)
	}
	return all
}()

// isNasalBefore reports whether rest is an n or m that only colours the stop behind it: sundar, lamba.
func isNasalBefore(rest []byte) bool {
	if len(rest) < 2 {
		return false
	}
	switch rest[0] {
	case 'n':
		return bytes.IndexByte([]byte("kgcjtdpbs"), rest[1]) >= 0
	case 'm':
		return rest[1] == 'p' || rest[1] == 'b'
	}
	return false
}

// ties reports whether the consonant at rest makes one cluster with the one before it. Otherwise a short a stands
// between them, which Hindi does not write: karna is करना, and the chat spelling mna is मना.
func ties(before, rest []byte, first bool) bool {
	switch rest[0] {
	case 'y', 'r', 'l', 'h':
		return tiesGlide(before, rest, first)
	case 't', 'k', 'p', 'g', 'j', 'd':
		return tiesStop(before, rest, first)
	case 'n':
		return tiesToNasal(before, first) || !first && hasSuffixAny(before, "g", "wap")
	case 'm':
		return behindR(before, first) || tiesToNasal(before, first || hasSuffixAny(before, "is", "us", "as")) ||
			!first && hasSuffixAny(before, "t", "d")
	case 's':
		if hasAny(rest, "sh") {
			return behindR(before, first)
		}
		return !first && hasSuffixAny(before, "t")
	case 'v', 'w':
		return behindR(before, first) || hasSuffixAny(before, "s", "sh", "t", "d")
	}
	return false
}

// tiesGlide is ties for what flows together with most consonants before it.
func tiesGlide(before, rest []byte, first bool) bool {
	switch rest[0] {
	case 'y':
		return !first || !hasSuffixAny(before, "r")
	case 'r':
		return !hasSuffixAny(before, "r", "l", "h", "m", "n") || !first && hasSuffixAny(before, "bh")
	case 'l':
		return first && hasSuffixAny(before, "k", "g", "p")
	}
	return !first && hasSuffixAny(before, "n", "m") && len(rest) > 1 && isVowel(rest[1])
}

// tiesStop is ties for stops.
func tiesStop(before, rest []byte, first bool) bool {
	afterR, afterS := behindR(before, first), hasSuffixAny(before, "s", "sh")
	switch rest[0] {
	case 't':
		return afterR || afterS || !first && hasSuffixAny(before, "k", "p")
	case 'k':
		return afterS
	case 'p':
		afterAl := !first && hasSuffixAny(before, "al") && len(rest) <= 4 // Alpana, Kalpesh
		return afterS || afterAl || afterR && hasSuffixAny(before, "ar")
	case 'g':
		return afterR && len(rest) > 1 && rest[1] == 'a'
	case 'j':
		return afterR
	}
	return afterR && hasAny(rest, "dh")
}

// behindR reports whether an r that closes a syllable stands before, which names write above the next consonant:
// Arjun, Sharma.
func behindR(before []byte, first bool) bool {
	return !first && hasSuffixAny(before, "r") && !hasSuffixAny(before, "rr")
}

// tiesToNasal reports whether the consonant before an m or n is an s-sound that makes one cluster with it.
func tiesToNasal(before []byte, first bool) bool {
	return hasSuffixAny(before, "sh") || first && hasSuffixAny(before, "s")
}

func hasSuffixAny(b []byte, suffixes ...string) bool {
	for _, s := range suffixes {
		if bytes.HasSuffix(b, []byte(s)) {
			return true
		}
	}
	return false
}
