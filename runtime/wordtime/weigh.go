package wordtime

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// How long the parts of words last, relative to a short vowel: by least squares to the words of espeak-ng, as
// TestWordTimesAgainstTheProgramsOwn has them.
const (
	voiceless  = 1.25
	voiced     = 1.
	glide      = .7
	shortVowel = 1.
	longVowel  = 1.4
	everyWord  = .7 // of each word, whatever its parts are
	lengthened = 1. // of a word before a pause
	numeral    = 5. // a digit that nobody has written in words
)

// sound is a part of a word.
type sound uint8

const (
	aVoiceless sound = iota // a consonant such as k or s
	aVoiced                 // such as g or m
	aGlide                  // such as r or y
	aShortVowel
	aLongVowel
	aNumeral
)

var weights = [...]float64{
	aVoiceless: voiceless, aVoiced: voiced, aGlide: glide,
	aShortVowel: shortVowel, aLongVowel: longVowel, aNumeral: numeral,
}

// weigh returns how long a word usually lasts.
func weigh(text string) float64 {
	total := everyWord
	count(text, func(s sound) { total += weights[s] })
	return total
}

// count tells yield the sounds of a word. It reads spelling without a dictionary: Devanagari by its aksharas, Latin
// letters as runs of vowels and consonants, which fits Roman Hindi and English about equally well.
func count(text string, yield func(sound)) {
	for text != "" {
		r, size := utf8.DecodeRuneInString(text)
		switch {
		case r < utf8.RuneSelf && unicode.IsLetter(r):
			n := strings.IndexFunc(text, func(r rune) bool { return r >= utf8.RuneSelf || !unicode.IsLetter(r) })
			if n < 0 {
				n = len(text)
			}
			countLatin(strings.ToLower(text[:n]), yield)
			size = n
		case isDevanagari(r):
			n := strings.IndexFunc(text, func(r rune) bool { return !isDevanagari(r) })
			if n < 0 {
				n = len(text)
			}
			countDevanagari(text[:n], yield)
			size = n
		case unicode.IsNumber(r):
			yield(aNumeral)
		case unicode.IsLetter(r):
			yield(aVoiced)
			yield(aShortVowel)
		}
		text = text[size:]
	}
}

// countLatin is count for lower-case letters.
func countLatin(text string, yield func(sound)) {
	for i := 0; i < len(text); {
		if !isVowel(text, i) {
			yield(latinConsonant(text[i]))
			if i++; i < len(text) && (text[i] == 'h' || text[i] == text[i-1] || text[i-1:i+1] == "ck") {
				i++ // one sound, aspirated or doubled
			}
			continue
		}
		n := 1
		if i+1 < len(text) && slices.Contains(pairs, text[i:i+2]) {
			n = 2
		}
		last := i+n == len(text)
		switch {
		case last && text[i:] == "ai" && text != "hai": // two, as in bhai
			yield(aLongVowel)
			yield(aShortVowel)
		case last && text[i:] == "e" && i > 2: // silent in English, and not in Hindi
			yield(aShortVowel)
		case n > 1, last, text[i] == 'o', text[i] == 'e':
			yield(aLongVowel)
		default:
			yield(aShortVowel)
		}
		i += n
	}
}

// pairs are written with two letters and are one vowel. Any others are two, as in koi.
var pairs = []string{"aa", "ai", "au", "ay", "ea", "ee", "ei", "ey", "ie", "ii", "oa", "oo", "ou", "oy", "uu"}

func isVowel(text string, i int) bool {
	if text[i] != 'y' {
		return isPureVowel(text[i])
	}
	return i > 0 && (i+1 == len(text) || !isPureVowel(text[i+1]))
}

func isPureVowel(c byte) bool { return strings.IndexByte("aeiou", c) >= 0 }

func latinConsonant(c byte) sound {
	switch {
	case strings.IndexByte("cfkpqstx", c) >= 0:
		return aVoiceless
	case strings.IndexByte("hlrvwy", c) >= 0:
		return aGlide
	}
	return aVoiced
}

func isDevanagari(r rune) bool { return 0x0900 <= r && r <= 0x097f }

const (
	virama = '्'
	nukta  = '़'
)

// countDevanagari is count for text of that block.
func countDevanagari(text string, yield func(sound)) {
	before := false // a vowel sounds before the letter
	for i, r := range text {
		rest := text[i+utf8.RuneLen(r):]
		rest = strings.TrimPrefix(rest, string(nukta))
		switch {
		case strings.ContainsRune("अइउऋ", r):
			yield(aShortVowel)
			before = true
		case strings.ContainsRune("िुृ", r):
			yield(aShortVowel)
			before = true
		case '०' <= r && r <= '९':
			yield(aNumeral)
			before = false
		case isIndependentVowel(r), isVowelSign(r):
			yield(aLongVowel)
			before = true
		case r == 'ं' || r == 'ः':
			yield(aGlide)
		case unicode.IsLetter(r):
			yield(devanagariConsonant(r))
			if hasSign(rest) {
				continue
			}
			if before = !isMute(rest, before); before {
				yield(aShortVowel)
			}
		}
	}
}

func devanagariConsonant(r rune) sound {
	switch {
	case strings.ContainsRune("कखचछटठतथपफशषस", r):
		return aVoiceless
	case strings.ContainsRune("यरलळवह", r):
		return aGlide
	}
	return aVoiced
}

func isIndependentVowel(r rune) bool { return 'ऄ' <= r && r <= 'औ' || 'ॲ' <= r && r <= 'ॷ' }

func isVowelSign(r rune) bool { return 'ा' <= r && r <= 'ौ' || r == 'ॎ' || r == 'ॏ' }

// hasSign reports whether what follows a consonant takes its inherent vowel away.
func hasSign(rest string) bool {
	r, _ := utf8.DecodeRuneInString(rest)
	return isVowelSign(r) || r == virama
}

// isMute reports whether Hindi drops the inherent vowel of a consonant: at the end of a word of more than that, and
// between a vowel and a consonant that has one of its own.
func isMute(rest string, before bool) bool {
	r, size := utf8.DecodeRuneInString(rest)
	if rest == "" {
		return before
	}
	if !before || !unicode.IsLetter(r) || isIndependentVowel(r) {
		return false
	}
	next, _ := utf8.DecodeRuneInString(strings.TrimPrefix(rest[size:], string(nukta)))
	return isVowelSign(next)
}
