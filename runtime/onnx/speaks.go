package onnx

import (
	"strings"
	"unicode"
)

// scripts are the scripts of languages, by the first part of their tags.
var scripts = map[string]*unicode.RangeTable{
	"hi": unicode.Devanagari, "mr": unicode.Devanagari, "ne": unicode.Devanagari, "sa": unicode.Devanagari,
	"as": unicode.Bengali, "bn": unicode.Bengali, "gu": unicode.Gujarati, "kn": unicode.Kannada,
	"ml": unicode.Malayalam, "or": unicode.Oriya, "pa": unicode.Gurmukhi, "ta": unicode.Tamil, "te": unicode.Telugu,
	"de": unicode.Latin, "en": unicode.Latin, "es": unicode.Latin, "eu": unicode.Latin, "fr": unicode.Latin,
	"it": unicode.Latin, "pt": unicode.Latin,
}

// Speaks implements [synth.Engine]. The model speaks what its tokenizer has pieces for.
//
// A tokenizer that falls back to bytes reads everything, but a model has heard how bytes sound only where its speakers
// used them: for marks and for rare letters of their languages. Letters and numbers of other scripts it does not
// speak; where the script of a language is unknown, nothing is held against any. A tokenizer that does not tell
// what it has pieces for is trusted.
func (e *Engine) Speaks(text string) bool {
	t, ok := e.tokenizer.(interface {
		Knows(text string) bool
		ByteFallback() bool
	})
	if !ok {
		return true
	}
	text = e.text.Rewrite(text)
	if t.Knows(text) {
		return true
	}
	if !t.ByteFallback() {
		return false
	}
	own, ok := scriptsOf(e.manifest.Model.Languages)
	return !ok || !strings.ContainsFunc(text, func(r rune) bool {
		voiced := unicode.IsLetter(r) || unicode.IsNumber(r)
		return voiced && !unicode.In(r, own...) && !t.Knows(string(r))
	})
}

// scriptsOf returns the scripts of the languages, and whether all of them are known.
func scriptsOf(languages []string) (known []*unicode.RangeTable, ok bool) {
	for _, tag := range languages {
		language, _, _ := strings.Cut(strings.ToLower(tag), "-")
		script := scripts[language]
		if script == nil {
			return nil, false
		}
		known = append(known, script)
	}
	return known, true
}
