package rules

import (
	"strings"

	"github.com/swar-tts/swar/runtime/normalize/internal/text"
	"github.com/swar-tts/swar/runtime/normalize/internal/words"
	"github.com/swar-tts/swar/runtime/speech"
)

// ordinalNumber reads 22nd, which stays English, and 5वीं, which keeps its written ending: it carries the gender.
func ordinalNumber(r *Reader, i int) (Reading, bool) {
	t := r.At(i + 1)
	if t.Gap || !t.Kind.Lettered() || !r.LooseEnd(i+2) || r.Joined(i) {
		return Reading{}, false
	}
	n, ok := text.NumberAt(&r.View, i)
	if !ok || n.Next != i+1 || n.Size > 9 {
		return Reading{}, false
	}
	if t.Kind == text.Latin {
		return latinOrdinal(r, i, n.Value)
	}
	return hindiOrdinal(r, i, n.Value)
}

// latinOrdinal reads the ordinal n at token i, whose ending is in Latin letters: 22nd, 5vi, 2sri.
func latinOrdinal(r *Reader, i int, n uint64) (Reading, bool) {
	ending := r.Str(i + 1)
	if end := text.RomanEndings[ending]; end != "" && !r.English {
		r.Begin(i, speech.SpanOrdinal)
		r.Cardinal(n, words.Hindi)
		r.Ending(end)
		return r.End(i + 2)
	}
	if word := smallOrdinals[romanOrdinal{n, ending}]; word != "" {
		r.Begin(i, speech.SpanOrdinal)
		r.Say(word)
		return r.End(i + 2)
	}
	if !text.EnglishEnding(ending) {
		return Reading{}, false
	}
	r.Begin(i, speech.SpanOrdinal)
	r.Ordinal(n)
	next := i + 2
	b, end := dayAt(&r.View, next+1)
	isRange := b > 0 && end == next+3 && r.LooseEnd(end)
	if isRange && r.TightSign(next, '-') && r.Tight(next+1) {
		r.Say(r.Lang.Words[words.WordTo]) // 6th-8th
		r.Ordinal(uint64(b))
		next = end
	}
	return r.End(next)
}

// hindiOrdinal reads the ordinal n at token i, whose ending is in Devanagari.
func hindiOrdinal(r *Reader, i int, n uint64) (Reading, bool) {
	end := r.Str(i + 1)
	stem := ""
	switch end {
	case "ला", "ली", "ले":
		stem = ordinalStem(n, 1, "पहल")
	case "रा", "री", "रे":
		if stem = ordinalStem(n, 2, "दूसर"); stem == "" {
			stem = ordinalStem(n, 3, "तीसर")
		}
	case "था", "थी", "थे":
		stem = ordinalStem(n, 4, "चौथ")
	case "ठा", "ठी", "ठे":
		stem = ordinalStem(n, 6, "छठ")
	case "वाँ", "वां", "वीं", "वें", "वे", "वी", "वा":
		r.Begin(i, speech.SpanOrdinal)
		if n == 6 {
			r.Say("छठ")
		} else {
			r.Cardinal(n, words.Hindi)
		}
		r.Ending(end)
		return r.End(i + 2)
	}
	if stem == "" {
		return Reading{}, false
	}
	r.Begin(i, speech.SpanOrdinal)
	r.Say(stem)
	r.Ending(end[len("ल"):])
	return r.End(i + 2)
}

// romanOrdinal is a number and the ending that is written behind it.
type romanOrdinal struct {
	value  uint64
	ending string
}

// smallOrdinals are those that have words of their own, as people type them: 2sri gali, 1la.
var smallOrdinals = romanOrdinals(map[uint64][2]string{
	1: {"la li le hla hli hle", "पहला पहली पहले पहला पहली पहले"},
	2: {"ra ri re sra sri sre", "दूसरा दूसरी दूसरे दूसरा दूसरी दूसरे"},
	3: {"ra ri re sra sri sre", "तीसरा तीसरी तीसरे तीसरा तीसरी तीसरे"}, 4: {"tha thi the", "चौथा चौथी चौथे"},
	6: {"tha thi the", "छठा छठी छठे"},
})

func romanOrdinals(table map[uint64][2]string) map[romanOrdinal]string {
	m := map[romanOrdinal]string{}
	for n, row := range table {
		words := strings.Fields(row[1])
		for i, ending := range strings.Fields(row[0]) {
			if i < len(words) {
				m[romanOrdinal{n, ending}] = words[i]
			}
		}
	}
	return m
}

// ordinalStem is stem if value is the number it belongs to.
func ordinalStem(value, of uint64, stem string) string {
	if value == of {
		return stem
	}
	return ""
}
