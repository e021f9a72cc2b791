package text

import (
	"github.com/swar-tts/swar/runtime/normalize/internal/words"
)

// IsIs reports whether token i is the verb between a code word and its code.
func IsIs(v *View, i int) bool {
	return v.Reads(i, "is", "hai", "है", "are", "was", "h", "tha", "था")
}

// IsPar reports whether token i is the postposition "on".
func IsPar(v *View, i int) bool {
	return v.Reads(i, "पर", "par", "pe", "pr", "पे")
}

// EndsClause reports whether a clause ends before token j. An English article never stands there, so the is थे.
func EndsClause(v *View, j int) bool {
	t := v.At(j)
	return t.Kind == Nothing || t.IsOneOf(".,?!"+string(rune(Danda)))
}

// opensSentence reports whether token i is a word with a capital that hardly any name is or has inside.
func opensSentence(v *View, i int) bool {
	t := v.At(i)
	return t.Cas == words.Title && t.Word.IsAny(words.EnglishWord, words.HindiFunction, words.HindiVerb) &&
		!v.In(i, words.Joiner)
}
