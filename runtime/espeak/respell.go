package espeak

import (
	_ "embed"
	"slices"
	"strings"
	"unicode/utf8"
)

// The program knows Hindi well, but not all of it. What it gets wrong was found by comparing its phonemes (option -x)
// for 4,800 common words with the vowels that Hindi drops and keeps. Where a mistake has a rule, the rule is here;
// the table has the rest.

// respellTable lists words that no rule covers: the word, what is fed instead, and the phonemes that this makes.
//
//go:embed respell.tsv
var respellTable string

// respellings maps a word to what is fed instead.
var respellings = parseRespellings(respellTable)

func parseRespellings(table string) map[string]string {
	m := make(map[string]string)
	for line := range strings.Lines(table) {
		if word, rest, ok := strings.Cut(line, "\t"); ok && !strings.HasPrefix(line, "#") {
			m[word], _, _ = strings.Cut(rest, "\t")
		}
	}
	return m
}

// respell appends to out what makes the program say word rightly. The word is Devanagari.
func respell(out []byte, word string) []byte {
	if fed, ok := respellings[word]; ok {
		return append(out, fed...)
	}
	if word == "पर" {
		// The program takes it for the conjunction, before which it pauses. It is nearly always the postposition; the
		// virama hides it.
		return append(out, "पर्"...)
	}
	var room [24]rune
	w := room[:0]
	for _, r := range word {
		w = append(w, r)
	}
	for i, r := range w {
		switch {
		case r == 'ह' && opensBefore(w, i):
			// The schwas around an h are an open e, and before a full syllable the second of them falls: शहर is
			// shehar, पहला pehla.
			out = utf8.AppendRune(out, 'ॅ')
			out = utf8.AppendRune(out, r)
			if hasVowelSign(w, i+1) {
				out = utf8.AppendRune(out, virama)
			}
		case i > 0 && slices.Equal(w[i-1:], pluralOfA[:]):
			out = append(out, "यो"...) // the plural of सेवा ends in -aw otherwise
		case startsEnding(w, i), startsHalf(w, i), followsX(w, i), startsVowel(w, i):
			// The syllable is one of its own and does not pull the schwa before it along: लिखकर is likh-kar.
			out = utf8.AppendRune(out, virama)
			out = utf8.AppendRune(out, r)
		default:
			out = utf8.AppendRune(out, r)
		}
	}
	return out
}

const (
	virama = '्'
	nukta  = '़'
)

// pluralOfA ends words such as सेवाओं.
var pluralOfA = [...]rune{'ा', 'ओ', 'ं'}

// endings are the endings, and second halves of compounds, before which a schwa always falls.
var endings = [...][2]rune{{'क', 'र'}, {'भ', 'र'}, {'घ', 'र'}, {'प', 'न'}}

// startsEnding reports whether w ends with one of endings at i, after more than one syllable and a bare consonant.
func startsEnding(w []rune, i int) bool {
	return i == len(w)-2 && i >= 2 && bareConsonant(w, i-1) && slices.Contains(endings[:], [2]rune{w[i], w[i+1]})
}

// halves are second halves of English words, before which no schwa stands. The program keeps one behind two consonants:
// डिपार्टमेंट would be department with four syllables. Those that begin with v are left out: Kokoro
// spoke software worse without the schwa.
var halves = runes(
	"मेंट", "मेन्ट", "मैन", "मेन", "मदर", "मार्क", "फ़ोन", "फोन", "फ़ुल", "फुल",
	"फ़ोलियो", "फोलियो", "फ़्लो", "फ्लो", "फ़्रेंड", "फ्रेंड", "लाइन", "लाइफ़", "लेस", "नेस",
	"लिस्ट", "बुक", "बोर्ड", "बिन", "बाय", "बैक", "पेड", "पेपर", "पेयर", "पोन",
	"प्लेस", "शिप", "शॉप", "शन", "हुड", "होल्डर", "हाउस", "डेस्क", "टॉप", "केयर",
	"स्टार्ट", "सेट", "चेन", "रोब",
)

// shortHalves are halves only where they end the word: Thursday, directly, shortcut.
var shortHalves = runes("डे", "ली", "कट")

func runes(words ...string) (all [][]rune) {
	for _, w := range words {
		all = append(all, []rune(w))
	}
	return all
}

// startsHalf reports whether a second half of an English word begins at i, behind two consonants: हेल्प|लाइन. Behind a
// vowel and one consonant the schwa falls by itself (वेब|साइट).
func startsHalf(w []rune, i int) bool {
	here := func(half []rune) bool { return len(w) >= i+len(half) && slices.Equal(w[i:i+len(half)], half) }
	ends := func(half []rune) bool { return len(w) == i+len(half) && here(half) }
	return closesCluster(w, i-1) && (slices.ContainsFunc(halves, here) || slices.ContainsFunc(shortHalves, ends))
}

// closesCluster reports whether w[i] ends a bare consonant behind a vowel and another consonant.
func closesCluster(w []rune, i int) bool {
	if i > 0 && w[i] == nukta {
		i--
	}
	if i < 2 || !isConsonant(w[i]) || w[i-1] != virama {
		return false
	}
	for i > 1 && w[i-1] == virama {
		i -= 2
		if i > 0 && w[i] == nukta {
			i--
		}
	}
	return i > 0
}

// followsX reports whether w[i] is a stop behind the s of एक्सपोर्ट or सब्सक्राइब, and not the last letter. Hindi has
// no such s. The sounds r and l behind it are those of बॉक्सर and एक्सल, which keep their schwa; so does the ch of
// एक्सचेंज, because Kokoro speaks no ch behind an s.
func followsX(w []rune, i int) bool {
	return i > 2 && i < len(w)-1 && w[i-1] == 'स' && w[i-2] == virama && strings.ContainsRune("कबप", w[i-3]) &&
		strings.ContainsRune("कगटडतथदपफबभह", w[i])
}

// startsVowel reports whether a second half begins with the vowel at i: बैक|अप, टर्न|ओवर. The letters for i are the
// diphthong of चेन्नई.
func startsVowel(w []rune, i int) bool {
	return strings.ContainsRune("अआऑएऐओऔ", w[i]) && closesCluster(w, i-1) ||
		i > 1 && i == len(w)-2 && w[i] == 'अ' && w[i+1] == 'प' && bareConsonant(w, i-1)
}

// opensBefore reports whether the h at i follows the word's first consonant and stands between two schwas.
func opensBefore(w []rune, i int) bool {
	schwaBefore := bareConsonant(w, i-1)
	schwaBehind := i+1 < len(w) && isConsonant(w[i+1]) && after(w, i+1) != virama
	return i <= 2 && schwaBefore && schwaBehind
}

// bareConsonant reports whether w[i] ends a consonant that stands alone before its schwa, not in a cluster.
func bareConsonant(w []rune, i int) bool {
	if i > 0 && w[i] == nukta {
		i--
	}
	return i >= 0 && isConsonant(w[i]) && (i == 0 || w[i-1] != virama)
}

// after returns what follows the consonant at i, 0 at the end.
func after(w []rune, i int) rune {
	if i++; i < len(w) && w[i] == nukta {
		i++
	}
	if i == len(w) {
		return 0
	}
	return w[i]
}

func hasVowelSign(w []rune, i int) bool { r := after(w, i); return 'ा' <= r && r <= 'ौ' }

func isConsonant(r rune) bool { return 'क' <= r && r <= 'ह' }
