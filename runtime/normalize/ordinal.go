package normalize

import (
	"strings"

	"github.com/swar-tts/swar/runtime/speech"
)

// ordinalNumber reads 22nd, which stays English, and 5वीं, which keeps its written ending: it carries the gender.
func (r *reader) ordinalNumber(i int) int {
	t := r.at(i + 1)
	if t.gap || !t.kind.lettered() || !r.looseEnd(i+2) || r.joined(i) {
		return i
	}
	n, ok := r.number(i)
	if !ok || n.next != i+1 || n.size > 9 {
		return i
	}
	if t.kind == latin {
		return r.latinOrdinal(i, n.value)
	}
	return r.hindiOrdinal(i, n.value)
}

// latinOrdinal reads the ordinal n at token i, whose ending is in Latin letters: 22nd, 5vi, 2sri.
func (r *reader) latinOrdinal(i int, n uint64) int {
	ending := r.str(i + 1)
	if end := romanEndings[ending]; end != "" && r.lang != english {
		r.begin(i, speech.SpanOrdinal)
		r.cardinal(n, hindi)
		r.out = append(r.out, end...)
		return r.end(i + 2)
	}
	if word := smallOrdinals[romanOrdinal{n, ending}]; word != "" {
		r.begin(i, speech.SpanOrdinal)
		r.say(word)
		return r.end(i + 2)
	}
	if !englishEnding(ending) {
		return i
	}
	r.begin(i, speech.SpanOrdinal)
	r.ordinal(n)
	next := i + 2
	b, end := r.dayAt(next + 1)
	isRange := b > 0 && end == next+3 && r.looseEnd(end)
	if isRange && r.tightSign(next, '-') && r.tight(next+1) {
		r.say(r.lang.words[wordTo]) // 6th-8th
		r.ordinal(uint64(b))
		next = end
	}
	return r.end(next)
}

// hindiOrdinal reads the ordinal n at token i, whose ending is in Devanagari.
func (r *reader) hindiOrdinal(i int, n uint64) int {
	end := r.str(i + 1)
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
		r.begin(i, speech.SpanOrdinal)
		if n == 6 {
			r.say("छठ")
		} else {
			r.cardinal(n, hindi)
		}
		r.out = append(r.out, end...)
		return r.end(i + 2)
	}
	if stem == "" {
		return i
	}
	r.begin(i, speech.SpanOrdinal)
	r.say(stem)
	r.out = append(r.out, end[len("ल"):]...)
	return r.end(i + 2)
}

// romanEndings are the endings of 19vi and 5va, which Hindi has from five on.
var romanEndings = map[string]string{
	"vi": "वीं", "vin": "वीं", "wi": "वीं", "win": "वीं", "va": "वाँ", "van": "वाँ", "wa": "वाँ", "wan": "वाँ", "ve": "वें", "ven": "वें", "we": "वें", "wen": "वें",
}

// romanOrdinal is a number and the ending that is written behind it.
type romanOrdinal struct {
	value  uint64
	ending string
}

// smallOrdinals are those that have words of their own, as people type them: 2sri gali, 1la.
var smallOrdinals = romanOrdinals(map[uint64][2]string{
	1: {"la li le hla hli hle", "पहला पहली पहले पहला पहली पहले"}, 2: {"ra ri re sra sri sre", "दूसरा दूसरी दूसरे दूसरा दूसरी दूसरे"},
	3: {"ra ri re sra sri sre", "तीसरा तीसरी तीसरे तीसरा तीसरी तीसरे"}, 4: {"tha thi the", "चौथा चौथी चौथे"}, 6: {"tha thi the", "छठा छठी छठे"},
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

// englishEnding reports whether s is st, nd, rd or th.
func englishEnding(s string) bool {
	if len(s) != 2 {
		return false
	}
	switch [2]byte{s[0] | 0x20, s[1] | 0x20} {
	case [2]byte{'s', 't'}, [2]byte{'n', 'd'}, [2]byte{'r', 'd'}, [2]byte{'t', 'h'}:
		return true
	}
	return false
}
