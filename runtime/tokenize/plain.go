// Package tokenize turns text into the tokens that engines read and that the length of a chunk is measured in.
package tokenize

import "unicode"

// Plain counts the tokens of text for an engine that has no tokenizer of its own.
//
// A word, which is what stands between white space, costs one token for every four letters or digits begun, and one
// for each punctuation mark or symbol; at least one in all. Combining marks and invisible characters cost nothing, so
// that a word costs about the same in Devanagari as in Latin letters. Text without a word has no tokens.
//
// A part of a text never has more tokens than the whole. Plain allocates nothing and is safe for concurrent use.
func Plain(text string) int {
	tokens := 0
	word, letters, signs := false, 0, 0
	for _, r := range text {
		switch {
		case unicode.IsSpace(r):
			if word {
				tokens += cost(letters, signs)
				word, letters, signs = false, 0, 0
			}
			continue
		case unicode.IsLetter(r), unicode.IsNumber(r):
			letters++
		case unicode.IsPunct(r), unicode.IsSymbol(r):
			signs++
		}
		word = true
	}
	if word {
		tokens += cost(letters, signs)
	}
	return tokens
}

func cost(letters, signs int) int {
	const lettersPerToken = 4
	return max(1, (letters+lettersPerToken-1)/lettersPerToken+signs)
}
