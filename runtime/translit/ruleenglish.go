package translit

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// spellEnglish spells an unknown English word by rule, the way Indian newspapers would: t and d retroflex, every
// vowel sounded.
func spellEnglish(out *strings.Builder, src string) {
	var room [40]byte
	key := fold(room[:0], src)
	s := speller{out: out}
	for i := 0; i < len(key); {
		n, sounds := englishSounds(key, i)
		s.sounds(sounds)
		i += n
	}
}

// sounds writes a row of sounds: bare consonants and vowels in their independent form; अ is
// not written.
func (s *speller) sounds(row string) {
	for i, r := range row {
		switch r {
		case '़': // belongs to the consonant before it
			continue
		case 'ं', 'ँ':
			s.nasal(string(r))
			continue
		}
		end := i + utf8.RuneLen(r)
		if v, ok := vowelOf[r]; ok {
			s.vowel(v)
			continue
		}
		if strings.HasPrefix(row[end:], "़") {
			end += len("़")
		}
		s.consonant(row[i:end], true)
	}
}

var vowelOf = func() map[rune]vowel {
	m := make(map[rune]vowel)
	for _, v := range []vowel{vShort, vA, vI, vII, vU, vUU, vE, vAI, vO, vAU, vOpen, vR} {
		m[firstRune(v.alone)] = v
	}
	return m
}()

// A spelling is how some letters sound where they stand.
type spelling struct{ letters, sounds string }

// The rules are tried in this order, within each list from the first to the last.
var (
	wordStarts = []spelling{
		{"kn", "न"}, {"wr", "र"}, {"ps", "स"}, {"gn", "न"}, {"x", "ज़"}, {"eu", "यऊ"}, {"un", "अन"}, {"uni", "यऊनइ"}, {"y", "य"},
	}
	wordEnds = []spelling{
		{"tion", "शअन"}, {"tions", "शअनस"}, {"ssion", "शअन"}, {"sion", "ज़अन"}, {"cian", "शइयअन"}, {"ture", "चअर"}, {"tures", "चअरस"}, {"sure", "ज़अर"},
		{"cial", "शअल"}, {"tial", "शअल"}, {"cious", "शअस"}, {"tious", "शअस"}, {"cient", "शइएंट"}, {"ous", "अस"},
		{"able", "एबअल"}, {"ible", "इबअल"}, {"ble", "बअल"}, {"ple", "पअल"}, {"tle", "टअल"}, {"dle", "डअल"}, {"gle", "गअल"}, {"cle", "कअल"}, {"fle", "फ़अल"}, {"kle", "कअल"}, {"zle", "ज़अल"},
		{"ity", "इटई"}, {"ities", "इटईज़"}, {"logy", "लओजई"}, {"graphy", "गरआफ़ई"}, {"ary", "अरई"}, {"ory", "अरई"}, {"ery", "अरई"},
		{"ive", "इव"}, {"ate", "एट"}, {"ated", "एटएड"}, {"ating", "एटइंग"}, {"age", "एज"}, {"ages", "एजएस"}, {"ice", "इस"}, {"ise", "आइज़"}, {"ize", "आइज़"}, {"ine", "आइन"},
		{"ance", "अनस"}, {"ence", "एनस"}, {"ancy", "अनसई"}, {"ency", "एनसई"}, {"ment", "मएंट"}, {"ments", "मएंटस"}, {"ness", "नएस"}, {"less", "लएस"}, {"ful", "फ़उल"},
		{"ing", "इंग"}, {"ings", "इंगस"}, {"er", "अर"}, {"ers", "अरस"}, {"or", "अर"}, {"ors", "अरस"}, {"al", "अल"}, {"als", "अलस"}, {"ly", "लई"}, {"ed", "एड"},
		{"ism", "इज़अम"}, {"ist", "इसट"}, {"ic", "इक"}, {"ics", "इकस"}, {"ies", "ईज़"}, {"ey", "ई"}, {"que", "क"}, {"gue", "ग"}, {"mb", "म"}, {"gh", ""},
		{"son", "सअन"}, {"ton", "टअन"}, {"don", "डअन"}, {"et", "एट"}, {"it", "इट"}, {"ce", "स"}, {"ge", "ज"}, {"dge", "ज"}, {"se", "ज़"}, {"ve", "व"},
	}
	anywhere = []spelling{
		{"ough", "ओ"}, {"augh", "ऑ"}, {"eigh", "ए"}, {"igh", "आइ"}, {"tch", "च"}, {"dge", "ज"}, {"sch", "सक"}, {"chr", "कर"}, {"ck", "क"},
		{"ph", "फ़"}, {"sh", "श"}, {"ch", "च"}, {"th", "थ"}, {"wh", "व"}, {"qu", "कव"}, {"gh", "ग"}, {"ng", "ंग"}, {"nk", "ंक"},
		{"eau", "ओ"}, {"ee", "ई"}, {"ear", "इयअर"}, {"ea", "ई"}, {"oor", "ओर"}, {"oo", "ऊ"}, {"air", "एयअर"}, {"ai", "ए"}, {"ay", "ए"}, {"oa", "ओ"}, {"our", "आवअर"}, {"ou", "आउ"},
		{"ow", "ओ"}, {"oi", "ऑइ"}, {"oy", "ऑय"}, {"aw", "ऑ"}, {"au", "ऑ"}, {"ew", "यऊ"}, {"ie", "ई"}, {"ei", "ए"}, {"ey", "ए"}, {"ue", "ऊ"}, {"ui", "उइ"},
		{"ia", "इयआ"}, {"io", "इयओ"}, {"all", "ऑल"}, {"ar", "आर"}, {"or", "ऑर"}, {"ir", "अर"}, {"ur", "अर"}, {"war", "वऑर"},
		{"sce", "सए"}, {"sci", "सआइ"}, {"ce", "सए"}, {"ci", "सइ"}, {"cy", "सई"}, {"cce", "कसए"}, {"ge", "जए"}, {"gi", "जइ"}, {"gy", "जई"},
	}
	consonants = map[byte]string{
		'b': "ब", 'c': "क", 'd': "ड", 'f': "फ़", 'g': "ग", 'h': "ह", 'j': "ज", 'k': "क", 'l': "ल", 'm': "म", 'n': "न",
		'p': "प", 'q': "क", 'r': "र", 's': "स", 't': "ट", 'v': "व", 'w': "व", 'x': "कस", 'z': "ज़",
	}
)

// englishSounds reads the letters of key from i on: how many make a sound, and which.
func englishSounds(key []byte, i int) (int, string) {
	rest := key[i:]
	if i == 0 {
		if s, ok := longest(wordStarts, rest, false); ok && len(s.letters) < len(key) {
			return len(s.letters), s.sounds
		}
	}
	if i > 0 {
		if s, ok := longest(wordEnds, rest, true); ok && hasVowelBefore(key, i) {
			return len(s.letters), s.sounds
		}
	}
	if n, sounds := magicE(key, i); n > 0 {
		return n, sounds
	}
	if s, ok := longest(anywhere, rest, false); ok {
		return len(s.letters), s.sounds
	}
	c := rest[0]
	if c == 'y' || isVowel(c) {
		return 1, englishVowel(key, i)
	}
	n := 1
	if len(rest) > 1 && rest[1] == c {
		n = 2
	}
	behindVowel := i > 0 && (isVowel(key[i-1]) || key[i-1] == 'y')
	if behindVowel && onlyColours(c, rest[n:]) {
		return n, anusvara
	}
	return n, consonants[c]
}

// onlyColours reports whether the n or m c only colours the stop behind it: point, company.
func onlyColours(c byte, behind []byte) bool {
	if len(behind) == 0 {
		return false
	}
	switch c {
	case 'n':
		return bytes.IndexByte([]byte("tdjc"), behind[0]) >= 0
	case 'm':
		return (behind[0] == 'p' || behind[0] == 'b') && len(behind) > 1
	}
	return false
}

// longest finds the longest of the rules that rest begins with, or is if whole is set.
func longest(rules []spelling, rest []byte, whole bool) (best spelling, ok bool) {
	for _, r := range rules {
		if len(r.letters) > len(best.letters) && bytes.HasPrefix(rest, []byte(r.letters)) &&
			(!whole || len(rest) == len(r.letters)) {
			best, ok = r, true
		}
	}
	return best, ok
}

// magicE reads a vowel that a silent e behind the next consonant makes long: make, fine, note, tune.
func magicE(key []byte, i int) (int, string) {
	if i+2 >= len(key) || !isVowel(key[i]) || key[i+2] != 'e' {
		return 0, ""
	}
	if isVowel(key[i+1]) || key[i+1] == 'r' {
		return 0, ""
	}
	ofPair := i > 0 && isVowel(key[i-1]) // voice, house
	if tail := string(key[i+3:]); ofPair || tail != "" && tail != "s" && tail != "d" {
		return 0, ""
	}
	switch key[i] {
	case 'a':
		return 1, "ए"
	case 'e':
		return 1, "ई"
	case 'i':
		return 1, "आइ"
	case 'o':
		return 1, "ओ"
	}
	return 1, "यऊ"
}

// englishVowel reads a vowel that stands by itself.
func englishVowel(key []byte, i int) string {
	var (
		first   = !hasVowelBefore(key, i)
		last    = i == len(key)-1
		closed  = i+1 < len(key) && !isVowel(key[i+1]) && (i+2 == len(key) || !isVowel(key[i+2])) // by a consonant
		initial = i == 0
	)
	switch key[i] {
	case 'a':
		switch {
		case last:
			return "आ"
		case first && !initial || initial && closed:
			return "ऐ"
		}
		return "अ"
	case 'e':
		if last && !first {
			return ""
		}
		if i+1 < len(key) && key[i+1] == 'r' {
			return "अ"
		}
		return "ए"
	case 'i':
		if last {
			return "ई"
		}
		return "इ"
	case 'o':
		if first && closed {
			return "ऑ"
		}
		return "ओ"
	case 'u':
		switch {
		case closed:
			return "अ"
		case initial:
			return "यऊ"
		}
		return "उ"
	}
	return englishY(first, last)
}

// englishY is how a y sounds that is a vowel: the only one of its word (by), the end of it (company), or within
// (system).
func englishY(first, last bool) string {
	switch {
	case last && first:
		return "आइ"
	case last:
		return "ई"
	}
	return "इ"
}

// hasVowelBefore looks at a stretch longer than any word's consonants only, so that a text of nothing else stays
// linear.
func hasVowelBefore(key []byte, i int) bool {
	return bytes.ContainsAny(key[max(0, i-longestWord):i], "aeiouy")
}
