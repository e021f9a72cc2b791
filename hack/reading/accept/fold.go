package accept

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// silent are the characters that only shape how words are spoken; they end a word.
const silent = " \t\n\r,.;:!?।॥()[]\"“”«»-‐‑–—…\u00a0"

// dropped are characters within a word that are not heard.
const dropped = "'’‘`\u200b\u200c\u200d\ufeff"

// tokenize cuts a text into words in lower case. Digits, currency signs and other symbols remain: no reading has them.
func tokenize(text string) []string {
	text = norm.NFC.String(text) // which splits ज़ into its letter and its nukta
	text = strings.Map(func(r rune) rune {
		switch {
		case strings.ContainsRune(dropped, r):
			return -1
		case strings.ContainsRune(silent, r):
			return ' '
		}
		return unicode.ToLower(r)
	}, text)
	return strings.Fields(text)
}

// sameSpelling says whether two words of one script are the same but for what Hindi spells in several ways.
func sameSpelling(a, b string) bool {
	if a == b {
		return true
	}
	if isDevanagari(a) {
		return isDevanagari(b) && devanagariSound(a) == devanagariSound(b)
	}
	return isLatin(a) && isLatin(b) && latinSound(a) == latinSound(b)
}

// sameWord says whether two words are the same, written in either script.
func sameWord(a, b string) bool {
	if sameSpelling(a, b) {
		return true
	}
	if isDevanagari(b) {
		a, b = b, a
	}
	if !isDevanagari(a) || !isLatin(b) {
		return false
	}
	want := consonants(b)
	for _, got := range devanagariConsonants(a) {
		if got == want && (len(got) > 1 || lastVowel(a) == lastVowel(b)) {
			return true
		}
	}
	return false
}

func isDevanagari(s string) bool {
	for _, r := range s {
		if !unicode.Is(unicode.Devanagari, r) {
			return false
		}
	}
	return s != ""
}

func isLatin(s string) bool {
	for _, r := range s {
		if r < 'a' || r > 'z' {
			return false
		}
	}
	return s != ""
}

var (
	nuktas = strings.NewReplacer("क़", "क", "ख़", "ख", "ग़", "ग", "ज़", "ज", "ड़", "ड", "ढ़", "ढ", "फ़", "फ", "य़", "य",
		"\u093c", "")
	nasals = strings.NewReplacer("ँ", "ं", "ङ्", "ं", "ञ्", "ं", "ण्", "ं", "न्", "ं", "म्", "ं")
	glides = strings.NewReplacer("ये", "ए", "यी", "ई", "ऑ", "ओ", "ॉ", "ो", "छः", "छह")
)

// devanagariSound drops what is spelled in several ways: the nukta, the sign of a nasal, ये or ए after a vowel, ऑ or ओ.
func devanagariSound(s string) string {
	first := []rune(s)[0]
	s = glides.Replace(nasals.Replace(nuktas.Replace(s)))
	if first == 'य' && !strings.HasPrefix(s, "य") { // at the beginning it is heard
		return string(first) + s
	}
	return s
}

// typed are words as people type them in a hurry. Where a reading has one, the whole word is heard as well; where it
// has the whole word, the short one is not.
var typed = map[string]string{
	"gya": "gaya", "gye": "gaye", "gyi": "gayi", "rha": "raha", "rhe": "rahe", "rhi": "rahi", "kr": "kar", "krna": "karna", "krne": "karne",
	"kro": "karo", "krdo": "kardo", "tk": "tak", "kl": "kal", "nhi": "nahi", "hu": "hoon", "h": "hai", "bhr": "bhar", "bta": "bata", "btao": "batao",
	"dkh": "dekh", "dkho": "dekho", "rkh": "rakh", "rkhna": "rakhna", "chl": "chal", "chlo": "chalo", "kb": "kab", "jb": "jab", "mt": "mat",
	"kia": "kiya", "dia": "diya", "lia": "liya", "mjhe": "mujhe", "jldi": "jaldi", "kbhi": "kabhi", "smjh": "samajh", "bna": "bana", "khda": "khada",
	"krega": "karega", "krenge": "karenge", "krta": "karta", "krte": "karte", "krti": "karti", "krke": "karke", "krwa": "karwa", "bhj": "bhej",
	"plz": "please", "pls": "please", "thx": "thanks", "bcz": "because", "wht": "what", "chk": "check", "msg": "message",
}

// heardAs says whether token is said where a reading has word.
func heardAs(word, token string, same func(a, b string) bool) bool {
	return same(word, token) || typed[word] != "" && same(typed[word], token)
}

var spellings = strings.NewReplacer(
	"aaye", "ae", "aye", "ae",
	"chh", "ch", "ph", "f", "ck", "k", "q", "k", "w", "v", "z", "j", "x", "ks",
	"aa", "a", "ee", "i", "ii", "i", "oo", "u", "uu", "u", "ai", "e", "ay", "e", "ei", "e", "au", "o",
)

// latinSound drops what Roman Hindi spells in several ways: the length of vowels, doubled letters, a final h.
func latinSound(s string) string {
	s = spellings.Replace(s)
	var b []byte
	for i := range len(s) {
		if i == 0 || s[i] != s[i-1] {
			b = append(b, s[i])
		}
	}
	if n := len(b); n > 2 && b[n-1] == 'h' && strings.IndexByte("aeiou", b[n-2]) >= 0 {
		b = b[:n-1]
	}
	return string(b)
}

var latinClasses = strings.NewReplacer(
	"tion", "sn", "sch", "sk", "ch", "C", "sh", "s", "ph", "f", "ck", "k", "x", "ks", "q", "k", "w", "v", "z", "s", "j", "s",
	"ce", "se", "ci", "si", "cy", "sy", "ge", "se", "gi", "si", "gy", "sy", "c", "k",
)

// consonants reduces a Latin word to the classes of its consonants, for comparison with Devanagari.
func consonants(s string) string {
	s = latinClasses.Replace(s)
	var b []byte
	for i := range len(s) {
		vowel := strings.IndexByte("aeiouy", s[i]) >= 0
		aspirate := s[i] == 'h' && i > 0 && strings.IndexByte("aeiou", s[i-1]) < 0
		if !vowel && !aspirate {
			b = append(b, s[i])
		}
	}
	return squeeze(b)
}

func squeeze(b []byte) string {
	return string(slices.CompactFunc(b, func(x, y byte) bool { return x == y }))
}

var classes = map[rune]byte{
	'क': 'k', 'ख': 'k', 'ग': 'g', 'घ': 'g', 'ङ': 'n', 'च': 'C', 'छ': 'C', 'ज': 's', 'झ': 's', 'ञ': 'n',
	'ट': 't', 'ठ': 't', 'ड': 'd', 'ढ': 'd', 'ण': 'n', 'त': 't', 'थ': 't', 'द': 'd', 'ध': 'd', 'न': 'n',
	'प': 'p', 'फ': 'f', 'ब': 'b', 'भ': 'b', 'म': 'm', 'र': 'r', 'ल': 'l', 'ळ': 'l', 'व': 'v', 'श': 's', 'ष': 's',
	'स': 's', 'ह': 'h',
	'ं': 'n', 'ँ': 'n',
}

// devanagariConsonants returns the classes of the consonants, with ड़ once as d and once as r, a final nasal with and
// without its n, and the sign of a nasal before a lip as m.
func devanagariConsonants(s string) []string {
	s = strings.NewReplacer("ड़", "ड़", "ढ़", "ढ़", "क्ष", "क्स", "ज्ञ", "ग").Replace(s)
	variants := []string{s, strings.NewReplacer("ड़", "र", "ढ़", "र").Replace(s)}
	for _, v := range variants[:2] {
		variants = append(variants, strings.TrimRight(v, "ंँ"))
	}
	var out []string
	for _, v := range variants {
		var b []byte
		runes := []rune(nuktas.Replace(v))
		for i, r := range runes {
			c, ok := classes[r]
			if !ok {
				continue
			}
			if (r == 'ं' || r == 'ँ') && i+1 < len(runes) && strings.ContainsRune("पफबभम", runes[i+1]) {
				c = 'm'
			}
			b = append(b, c)
		}
		out = append(out, squeeze(b))
	}
	return out
}

// lastVowel returns the class of the last vowel, which tells short words apart that have one consonant.
func lastVowel(s string) byte {
	class := byte('a')
	for _, r := range strings.NewReplacer("aa", "a", "ee", "i", "oo", "u", "ai", "e", "ay", "e", "au", "o").Replace(s) {
		switch r {
		case 'a', 'ा', 'आ', 'अ':
			class = 'a'
		case 'i', 'y', 'ि', 'ी', 'इ', 'ई':
			class = 'i'
		case 'u', 'ु', 'ू', 'उ', 'ऊ':
			class = 'u'
		case 'e', 'े', 'ै', 'ए', 'ऐ':
			class = 'e'
		case 'o', 'ो', 'ौ', 'ओ', 'औ', 'ॉ', 'ऑ':
			class = 'o'
		}
	}
	return class
}
