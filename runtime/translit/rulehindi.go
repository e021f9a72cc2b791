package translit

import (
	"bytes"
	"strings"
)

// spellHindi spells an unknown Hindi word by rule. Roman writing leaves out how long an a is and whether t and d are dental, so this is
// a guess: a is short but at the end, and t and d are dental.
func spellHindi(out *strings.Builder, src string) {
	var room [40]byte
	key := fold(room[:0], src)
	s := speller{out: out}
	started := false // a vowel has been written
	for i := 0; i < len(key); {
		rest := key[i:]
		if n, v := hindiVowel(rest, i == 0); n > 0 {
			s.vowel(v)
			started = true
			i += n
			continue
		}
		n, c := hindiConsonant(rest)
		switch {
		case n == 0: // an apostrophe
		case started && isNasalBefore(rest):
			s.nasal()
		case started && endsInNasal(rest, key[:i]):
			s.nasal()
		default:
			s.consonant(c, !started || i+n == len(key) || ties(key[:i], rest))
		}
		i += max(n, 1)
	}
}

// hindiVowel reads the vowel that rest begins with. Where the word begins, or rest is all that is left, its length may differ.
func hindiVowel(rest []byte, first bool) (int, vowel) {
	last := func(n int) bool { return len(rest) == n }
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
	case hasAny(rest, "a"):
		if last(1) && !first {
			return 1, vA
		}
		return 1, vShort
	case hasAny(rest, "i"):
		if last(1) {
			return 1, vII
		}
		return 1, vI
	case hasAny(rest, "u"):
		if last(1) {
			return 1, vUU
		}
		return 1, vU
	case hasAny(rest, "ey") && last(2):
		return 2, vE
	case hasAny(rest, "e"):
		return 1, vE
	case hasAny(rest, "o"):
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
	{"chch", "च्छ"}, {"cchh", "च्छ"}, {"chchh", "च्छ"}, {"kkh", "क्ख"}, {"ggh", "ग्घ"}, {"tth", "त्थ"}, {"ddh", "द्ध"}, {"bbh", "ब्भ"},
	{"cch", "च्च"}, {"ksh", "क्ष"}, {"chh", "छ"}, {"shh", "श"},
	{"kh", "ख"}, {"gh", "घ"}, {"ch", "च"}, {"jh", "झ"}, {"th", "थ"}, {"dh", "ध"}, {"ph", "फ"}, {"bh", "भ"}, {"sh", "श"}, {"zh", "झ"},
	{"gy", "ग्य"}, {"ck", "क"}, {"wh", "व"},
	{"kk", "क्क"}, {"gg", "ग्ग"}, {"jj", "ज्ज"}, {"tt", "त्त"}, {"dd", "द्द"}, {"pp", "प्प"}, {"bb", "ब्ब"}, {"mm", "म्म"}, {"nn", "न्न"},
	{"ll", "ल्ल"}, {"ss", "स्स"}, {"rr", "र्र"}, {"yy", "य्य"}, {"vv", "व्व"}, {"zz", "ज़्ज़"}, {"ff", "फ़"}, {"ww", "व"}, {"hh", "ह"}, {"cc", "क्क"}, {"qq", "क"},
	{"k", "क"}, {"g", "ग"}, {"c", "क"}, {"j", "ज"}, {"t", "त"}, {"d", "द"}, {"n", "न"}, {"p", "प"}, {"b", "ब"}, {"m", "म"}, {"y", "य"},
	{"r", "र"}, {"l", "ल"}, {"v", "व"}, {"w", "व"}, {"s", "स"}, {"h", "ह"}, {"f", "फ़"}, {"z", "ज़"}, {"q", "क"}, {"x", "क्स"},
}

func hindiConsonant(rest []byte) (int, string) {
	for _, c := range hindiConsonants {
		if !bytes.HasPrefix(rest, []byte(c.roman)) {
			continue
		}
		if hasAny(rest, "tti", "ttu") { // mitti, lattu; but satta
			return 2, "ट्ट"
		}
		if hasAny(rest, "ddi", "ddu") { // laddu; but gadda
			return 2, "ड्ड"
		}
		return len(c.roman), c.hindi
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

// endsInNasal reports whether rest is the final n of a plural: logon, kitabein, karoon.
func endsInNasal(rest, before []byte) bool {
	return string(rest) == "n" && len(before) > 2 && (bytes.HasSuffix(before, []byte("o")) || bytes.HasSuffix(before, []byte("ei")) || bytes.HasSuffix(before, []byte("e")))
}

// ties reports whether the consonants between which a word is divided are one cluster. Otherwise a short a is silent between them,
// which Hindi does not write: karna is करना.
func ties(before, rest []byte) bool {
	switch rest[0] {
	case 'y', 'r':
		return !hasSuffixAny(before, "r", "l", "h", "m", "n") || rest[0] == 'y' && !hasSuffixAny(before, "r")
	case 't', 'k', 'p', 'm', 'n':
		return hasSuffixAny(before, "s", "sh") || rest[0] == 't' && hasSuffixAny(before, "k", "p") || rest[0] == 'm' && hasSuffixAny(before, "t")
	case 'v', 'w':
		return hasSuffixAny(before, "s", "t", "d")
	}
	return false
}

func hasSuffixAny(b []byte, suffixes ...string) bool {
	for _, s := range suffixes {
		if bytes.HasSuffix(b, []byte(s)) {
			return true
		}
	}
	return false
}
