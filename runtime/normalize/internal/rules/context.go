package rules

import (
	"github.com/swar-tts/swar/runtime/normalize/internal/text"
	"github.com/swar-tts/swar/runtime/normalize/internal/words"
)

// contextRule is one reason why a number is read digit by digit.
type contextRule struct {
	reason string
	near   text.Nearness
	least  int // digits; a shorter number is a quantity all the same
	fits   func(v *text.View, i int, before text.Finding) bool
}

// contextRules decide, from the top, what a number without a shape of its own is. One that fits none is a quantity.
var contextRules = [...]contextRule{
	{"a count of last digits before it", text.CodeNear, 3, func(v *text.View, i int, _ text.Finding) bool { return isTail(v, i) }},
	{"a word of codes before it", text.CodeNear, 1, func(_ *text.View, _ int, before text.Finding) bool { return before.What == text.CodeNear }},
	{"the verb that it is the object of", text.CodeNear, 4, func(v *text.View, i int, _ text.Finding) bool { return mayBeCode(v, i) && isCodeObject(v, i) }},
	{"what the words behind it call it", text.CodeNear, 4, func(v *text.View, i int, _ text.Finding) bool { return mayBeCode(v, i) && isCodeSubject(v, i) }},
	{"what the words behind its two halves call them", text.CodeNear, 3, func(v *text.View, i int, _ text.Finding) bool { return isHalved(v, i) }},
	{"a code earlier in the sentence, and its other half behind it", text.CodeNear, 3, func(v *text.View, i int, _ text.Finding) bool {
		return inTwoThrees(v, i) && v.LooseEnd(i+2) && spokeOfCode(v, i)
	}},
	{"a code earlier in the sentence", text.CodeNear, 4, func(v *text.View, i int, _ text.Finding) bool { return mayBeCode(v, i) && followsCode(v, i) }},
	{"being where messages are sent to", text.CodeNear, 4, func(v *text.View, i int, _ text.Finding) bool { return isShortNumber(v, i) }},
	{"being where a keyword is sent to", text.CodeNear, 3, func(v *text.View, i int, _ text.Finding) bool { return takesKeyword(v, i) }},
	{"letters before its hyphen", text.CodeNear, 3, func(v *text.View, i int, _ text.Finding) bool { return isLetteredCode(v, i) }},
	{"a word of accounts, orders or numbers before it", text.IDNear, 3, func(v *text.View, i int, before text.Finding) bool {
		return before.What == text.IDNear && !text.IsPrice(v, i)
	}},
	{"what a bank is asked to block", text.IDNear, 3, func(v *text.View, i int, _ text.Finding) bool { return isBlocked(v, i) }},
	{"the short form of number before it", text.IDNear, 5, func(v *text.View, i int, _ text.Finding) bool { return isBehindNo(v, i) }},
	{"a bank before it", text.IDNear, 4, func(v *text.View, i int, _ text.Finding) bool { return isBankTail(v, i) }},
	{"another of its kind before it", text.IDNear, 3, func(v *text.View, i int, _ text.Finding) bool { return isAnother(v, i) }},
	{"a word of codes behind it", text.CodeNear, 3, func(v *text.View, i int, before text.Finding) bool {
		return before.What == text.NoContext && contextAfter(v, i+1) == text.CodeNear
	}},
	{"being where something was delivered", text.IDNear, 6, func(v *text.View, i int, _ text.Finding) bool { return isDeliveryPIN(v, i) }},
	{"keys that are pressed", text.IDNear, 4, func(v *text.View, i int, _ text.Finding) bool {
		return v.IsWord(i+1, words.Pressed) && v.IsWord(i+1, words.HindiVerb)
	}},
	{"a train behind it", text.IDNear, 5, func(v *text.View, i int, _ text.Finding) bool { return isTrain(v, i) }},
	{"an airline before it", text.IDNear, 3, func(v *text.View, i int, _ text.Finding) bool { return text.IsFlightNumber(v, i) && isTravelling(v, i) }},
	{"a word of calls behind it", text.IDNear, 3, func(v *text.View, i int, before text.Finding) bool {
		return before.What == text.NoContext && contextAfter(v, i+1) == text.IDNear && !text.IsPrice(v, i)
	}},
	{"its length", text.NoContext, 7, func(v *text.View, i int, before text.Finding) bool {
		return before.What != text.IDNear || !text.IsPrice(v, i)
	}},
}

// judge finds the first of contextRules that the number at token i fits, nil for a quantity.
func judge(v *text.View, i int) *contextRule {
	if v.Reads(i+1, "of") && v.At(i+2).Kind == text.Digits {
		return nil // code 1 of 2
	}
	if v.TightSign(i+1, '/') && v.In(i+2, words.Period) {
		return nil // SMS 100/day
	}
	before := text.ContextOf(v, i)
	n := len(v.Str(i))
	for k := range contextRules {
		if rule := &contextRules[k]; n >= rule.least && rule.fits(v, i, before) {
			return rule
		}
	}
	return nil
}

// isBehindNo reports whether a short form of number stands before token i: गाड़ी सं. 14055, No. 14055.
func isBehindNo(v *text.View, i int) bool {
	j := i - 1
	if v.TightSign(j, '.') {
		j--
	}
	return v.Reads(j, "सं", "नं") || j < i-1 && isNo(v, j)
}

// contextAfter looks at the words behind token i: 482913 is your OTP, 9087 पर समाप्त.
func contextAfter(v *text.View, i int) text.Nearness {
	if next := v.At(i); next.Word.Is(words.Dialled) && !next.Word.Is(words.AfterPar) ||
		text.IsPar(v, i) && v.IsWord(i+1, words.Dialled) {
		return text.IDNear
	}
	if v.Reads(i, "number", "no", "नंबर") && v.IsWord(i+1, words.Dialled) {
		return text.IDNear
	}
	count := 0
	for j := i; j < v.Stop && count < text.Reach && j-i < 8; j++ {
		t := v.At(j)
		switch t.Kind {
		case text.Digits:
			return text.NoContext
		case text.Sign:
			if t.Ch != ':' && t.Ch != '(' && t.Ch != '"' {
				return text.NoContext
			}
		case text.Latin, text.Deva:
			if t.Word.Is(words.CodeWord) && !v.CountedAt(j+1) {
				return text.CodeNear
			}
			count++
		}
	}
	return text.NoContext
}
