package translit

import (
	"bytes"
	"strings"
)

// spellHindi spells an unknown Hindi word by rule. Roman writing leaves out how long an a is and whether t and d are dental, so this is
// a guess: outside well-known endings a is short but at the end of the word, and t and d are dental.
func spellHindi(out *strings.Builder, src string) {
	var room [40]byte
	key := fold(room[:0], src)
	l := tables()
	s := speller{out: out}
	i, started := 0, false // started: a vowel has been written
	if st := l.startOf(key); st.n > 0 {
		s.part(st.hindi)
		i, started = st.n, true
	} else if p, ok := l.endOf(key); ok && !isVowel(key[0]) {
		s.part(p.hindi)
		return
	}
	for i < len(key) {
		rest := key[i:]
		if started || len(key) > 3 && i > 0 {
			if s.endWith(l, rest, started) {
				return
			}
		}
		if n := s.vowelsOf(l, key, i); n > 0 {
			started = true
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

// endWith writes rest if it is a known end.
func (s *speller) endWith(l *lexicon, rest []byte, started bool) bool {
	if p, ok := l.endOf(rest); ok && started {
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
	s.sounds(sounds.row)
	return true
}

// isEnd reports whether rest is a known end that begins with a consonant.
func (l *lexicon) isEnd(rest []byte) bool {
	_, ok := l.endOf(rest)
	return ok && !isVowel(rest[0])
}

// vowelsOf writes the vowel at i of key, with what comes between it and another, and returns how many letters it has.
func (s *speller) vowelsOf(l *lexicon, key []byte, i int) int {
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
		}
	}
	if n > 0 {
		s.vowel(v)
	}
	return n
}

// longestEnd is the length of the longest of hindiEnds.
const longestEnd = 6

// An end is how a word ends; early if it may follow the first consonants.
type end struct {
	row   string
	early bool
}

// hindiEnds are endings whose spelling is certain enough, as sounds.
var hindiEnds = map[string]end{
	"ai": {"आई", true}, "aai": {"आई", true}, "ayi": {"आई", true}, "aayi": {"आई", true}, "ao": {"आओ", true}, "aao": {"आओ", true},
	"ae": {"आए", true}, "aye": {"आए", true}, "aaye": {"आए", true}, "aya": {"आयआ", true},
	"ana": {"आनआ", false}, "ane": {"आनए", false}, "ani": {"आनई", false}, "ata": {"आतआ", false}, "ate": {"आतए", false}, "ati": {"आतई", false},
	"gaa": {"गआ", true}, "gee": {"गई", true}, "ega": {"एगआ", true}, "egi": {"एगई", true}, "enge": {"एंगए", true}, "engi": {"एंगई", true},
	"oge": {"ओगए", true}, "unga": {"ऊँगआ", true}, "ungi": {"ऊँगई", true}, "iye": {"इए", true}, "iyega": {"इएगआ", true},
	"iyan": {"इयआँ", true}, "iyon": {"इयओं", true}, "on": {"ओं", false}, "ein": {"एं", true}, "oon": {"ऊँ", true},
	"ahat": {"आहअट", true}, "aahat": {"आहअट", true}, "awat": {"आवअट", false}, "avat": {"आवअट", false},
	"abad": {"आबआद", true}, "nath": {"नआथ", false}, "dar": {"दआर", false}, "wal": {"वआल", false}, "nagar": {"नअगअर", false},
	"kumar": {"कउमआर", false}, "nathan": {"नआथअन", false}, "prasad": {"परअसआद", false}, "swami": {"सवआमई", false}, "das": {"दआस", false}, "lal": {"लआल", false},
	"pal": {"पआल", false}, "garh": {"गअढ़", false}, "raj": {"रआज", false},
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
	case hasAny(rest, "au", "ou"):
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

func hasAny(b []byte, prefixes ...string) bool {
	for _, p := range prefixes {
		if bytes.HasPrefix(b, []byte(p)) {
			return true
		}
	}
	return false
}

// hindiConsonants are tried in order, the longest first.
var hindiConsonants = []struct{ roman, hindi string }{
	{"chchh", "च्छ"},
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
	for _, c := range hindiConsonants {
		if bytes.HasPrefix(rest, []byte(c.roman)) {
			return len(c.roman), c.hindi
		}
	}
	return 0, ""
}

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

// ties reports whether the consonant at rest makes one cluster with the one before it. Otherwise a short a stands between them, which
// Hindi does not write: karna is करना, and the chat spelling mna is मना.
func ties(before, rest []byte, first bool) bool {
	switch rest[0] {
	case 'y':
		return !hasSuffixAny(before, "r")
	case 'r':
		return !hasSuffixAny(before, "r", "l", "h", "m", "n")
	case 'l':
		return first && hasSuffixAny(before, "k", "g", "p")
	case 't', 'k', 'p':
		return hasSuffixAny(before, "s", "sh") || rest[0] == 't' && !first && hasSuffixAny(before, "k", "p")
	case 'n':
		return tiesToNasal(before, first)
	case 'm':
		return tiesToNasal(before, first) || !first && hasSuffixAny(before, "t")
	case 'v', 'w':
		return hasSuffixAny(before, "s", "sh", "t", "d")
	}
	return false
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
