package translit

import (
	"bytes"
	"slices"
)

// leanOf guesses from its spelling alone whether an unknown word is Hindi (positive) or English (negative). Names
// with a capital may end as English words do: Vishal, Vasant, Varshney.
func leanOf(key []byte, proper bool) int8 {
	lean := 0
	if slices.ContainsFunc(hindiEndings, func(end string) bool { return bytes.HasSuffix(key, []byte(end)) }) {
		lean += 2
	}
	endsIn := func(end string) bool { return len(key) > len(end)+1 && bytes.HasSuffix(key, []byte(end)) }
	if slices.ContainsFunc(englishEndings, endsIn) || !proper && slices.ContainsFunc(endingsOfBoth, endsIn) {
		lean -= 3
	}
	if slices.ContainsFunc(englishStarts, func(start string) bool { return bytes.HasPrefix(key, []byte(start)) }) {
		lean -= 2
	}
	for i := range key {
		lean += leanAt(key, i)
	}
	if n := len(key); !proper && n > 3 && key[n-1] == 'y' && !isVowel(key[n-2]) {
		lean -= 2
	}
	if proper && bytes.IndexByte(key, 'q') >= 0 { // Rafiq
		lean += 2
	}
	return int8(max(-2, min(2, lean)))
}

// leanAt is what letter i of key says, together with the one behind it.
func leanAt(key []byte, i int) int {
	switch pair := key[i:min(i+2, len(key))]; string(pair) {
	case "ea", "oa", "ew", "wh":
		return -2
	case "aa", "jh", "kh", "bh", "dh":
		return 2
	case "ch": // the only c in Hindi, which writes k and s
		return 0
	}
	switch key[i] {
	case 'x', 'q', '\'':
		return -2
	case 'c':
		return -3
	case 'y': // between consonants, as in hyphen
		if 0 < i && i+1 < len(key) && !isVowel(key[i-1]) && !isVowel(key[i+1]) {
			return -2
		}
	}
	return 0
}

var (
	hindiEndings = []string{
		"unga", "ungi", "enge", "engi", "ega", "egi", "oge", "iye", "iyega", "iyan", "iyon", "wala", "wale", "wali", "vala", "vale", "vali",
		"kar", "kaar", "daar", "aana", "aane", "aani", "yaa", "ein", "oon", "aon", "ji", "pur", "abad", "garh", "nath", "raj", "kumar",
		"preet", "jeet", "deep", "esh", "endra", "inder", "wal", "walla",
		"ta", "ti", "na", "ni", "la", "li", "ka", "ki", "ra", "ri", "ya", "da", "di", "ha", "va", "sha",
	}
	englishStarts  = []string{"str", "spr", "spl", "thr", "bl", "fl", "sl", "tw", "wr", "kn"}
	englishEndings = []string{
		"tion", "tions", "sion", "ment", "ness", "able", "ible", "ing", "ly", "ful", "less", "ous", "ive", "ity", "ism", "ist",
		"ize", "ture", "ence", "ware", "ship", "ward", "wise", "dom", "er", "ic", "oke", "ope", "ove", "ue",
		"tch", "dge", "ck", "ss", "ff", "ght", "dth", "fth", "lth", "ings", "ments", "ics",
	}
	endingsOfBoth = []string{ // those of Indian names, too
		"ed", "ise", "ate", "age", "ance", "ant", "ent", "or", "al", "le", "ow", "ew", "ey", "ry", "ty", "es", "ll", "nt", "st", "ct", "lt",
		"rt", "rd", "ld", "mp", "sk", "pt", "ft", "ns", "rs", "ts", "ps", "ks", "ds", "ms", "ls", "nth", "rth",
	}
)
