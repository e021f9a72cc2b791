package accept

import "slices"

// Same reports whether two readings have the same words in the same order, however they are spelled and in whichever
// script; a letter alone is the same as its name. Numbers must be in the same language.
func Same(a, b string) bool {
	return slices.EqualFunc(tokenize(a), tokenize(b), sameSpoken)
}

func sameSpoken(a, b string) bool {
	if sameWord(a, b) || isName(a, b) || isName(b, a) {
		return true
	}
	for _, spellings := range hindiBelow100 {
		if soundsLikeOne(spellings, a) {
			return soundsLikeOne(spellings, b)
		}
	}
	return false
}

func isName(letter, name string) bool {
	return isLatin(letter) && len(letter) == 1 && soundsLikeOne(letterNames[letter[0]-'a'], name)
}

func soundsLikeOne(spellings []string, word string) bool {
	return slices.ContainsFunc(spellings, func(s string) bool { return sameSpelling(s, word) })
}
