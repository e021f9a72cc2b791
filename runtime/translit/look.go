package translit

import "bytes"

// leanOf guesses from its spelling alone whether an unknown word is Hindi (positive) or English (negative).
func leanOf(key []byte) int {
	lean := 0
	for _, end := range hindiEndings {
		if bytes.HasSuffix(key, []byte(end)) {
			lean += 2
			break
		}
	}
	for _, end := range englishEndings {
		if len(key) > len(end)+1 && bytes.HasSuffix(key, []byte(end)) {
			lean -= 3
			break
		}
	}
	for i, c := range key {
		next := byte(0)
		if i+1 < len(key) {
			next = key[i+1]
		}
		switch {
		case c == 'x' || c == 'q' || c == '\'':
			lean -= 2
		case c == 'c' && next != 'h': // Hindi writes k and s
			lean -= 3
		case c == 'e' && next == 'a' || c == 'o' && next == 'a' || c == 'e' && next == 'w' || c == 'w' && next == 'h':
			lean -= 2
		case c == 'y' && i > 0 && !isVowel(key[i-1]) && next != 0 && !isVowel(next): // hyphen
			lean -= 2
		case c == 'a' && next == 'a' || c == 'j' && next == 'h' || c == 'k' && next == 'h' || c == 'b' && next == 'h' || c == 'd' && next == 'h':
			lean += 2
		}
	}
	for _, start := range englishStarts {
		if bytes.HasPrefix(key, []byte(start)) {
			lean -= 2
			break
		}
	}
	if n := len(key); n > 3 && key[n-1] == 'y' && !isVowel(key[n-2]) {
		lean -= 2
	}
	return max(-2, min(2, lean))
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
		"tion", "tions", "sion", "ment", "ness", "able", "ible", "ing", "ed", "ly", "ful", "less", "ous", "ive", "ity", "ism", "ist",
		"ize", "ise", "ate", "ture", "age", "ance", "ence", "ant", "ent", "ware", "ship", "ward", "wise", "dom", "er", "or", "al", "ic",
		"oke", "ope", "ove", "le", "ue", "ow", "ew", "ey", "ry", "ty", "es", "tch", "dge",
		"ck", "ss", "ff", "ll", "nt", "st", "ct", "lt", "rt", "rd", "ld", "mp", "sk", "pt", "ft", "ght", "dth", "fth", "nth", "rth", "lth",
		"ns", "rs", "ts", "ps", "ks", "ds", "ms", "ls", "ings", "ments", "ics",
	}
)
