package accept

import (
	"fmt"
	"strconv"
	"strings"
)

// A figure is a number as it is written: digits, without leading zeros but in codes, and maybe a fraction and a scale.
type figure struct {
	whole    int64
	fraction string // digits after the point; empty without one
	scale    string // a key of scales; empty without one
}

// scales are what stands between a number and its unit, as in 2.5 lakh.
var scales = map[string]struct {
	value   int64
	english []string
	hindi   []string
}{
	"hundred":   {100, []string{"hundred"}, []string{"सौ", "sau"}},
	"thousand":  {1000, []string{"thousand", "k"}, []string{"हज़ार", "hazaar", "hajar"}},
	"lakh":      {100_000, []string{"lakh", "lakhs", "lac", "lacs"}, []string{"लाख", "lakh", "lac"}},
	"crore":     {10_000_000, []string{"crore", "crores"}, []string{"करोड़", "crore", "karod"}},
	"arab":      {1_000_000_000, []string{"billion"}, []string{"अरब", "arab"}},
	"lakhcrore": {1_000_000_000_000, []string{"lakh crore", "lakh crores"}, []string{"लाख करोड़", "lakh crore"}},
	"million":   {1_000_000, []string{"million", "millions"}, []string{"मिलियन", "million"}},
	"billion":   {1_000_000_000, []string{"billion", "billions"}, []string{"बिलियन", "billion", "अरब"}},
}

func parseFigure(value string) (figure, error) {
	number, scale, _ := strings.Cut(value, " ")
	whole, fraction, point := strings.Cut(number, ".")
	if whole == "" {
		whole = "0"
	}
	n, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || n < 0 || point && (fraction == "" || strings.Trim(fraction, "0123456789") != "") {
		return figure{}, fmt.Errorf("%q is not a number", number)
	}
	if _, ok := scales[scale]; scale != "" && !ok {
		return figure{}, fmt.Errorf("%q is not a scale", scale)
	}
	return figure{n, fraction, scale}, nil
}

// round returns the number without its scale, where that is a whole number, as 250000 for 2.5 lakh.
func (f figure) round() (int64, bool) {
	if f.scale == "" || len(f.fraction) > 6 {
		return 0, false
	}
	power, tail := int64(1), int64(0)
	for _, d := range f.fraction {
		power, tail = power*10, tail*10+int64(d-'0')
	}
	scale := scales[f.scale].value
	if tail*scale%power != 0 || f.whole > 1<<40/scale*1000 {
		return 0, false
	}
	return f.whole*scale + tail*scale/power, true
}

// quarters returns the number in quarters, where it is one: 10 for 2.5.
func (f figure) quarters() (int64, bool) {
	switch strings.TrimRight(f.fraction, "0") {
	case "":
		return 4 * f.whole, f.fraction == ""
	case "25":
		return 4*f.whole + 1, true
	case "5":
		return 4*f.whole + 2, true
	case "75":
		return 4*f.whole + 3, true
	}
	return 0, false
}

func readNumber(value string, l Language) (node, error) {
	f, err := parseFigure(value)
	if err != nil {
		return nil, err
	}
	return number(f, l), nil
}

func number(f figure, l Language) node { return byLanguage(l, englishNumber(f), hindiNumber(f)) }

// byLanguage is the choice of what a sentence of this language may use. In Hinglish the example is Hindi.
func byLanguage(l Language, english, hindi node) node {
	switch l {
	case English:
		return english
	case Hindi:
		return hindi
	}
	return choice{hindi, english}
}

func englishNumber(f figure) node {
	c := choice{sequence{englishDecimal(f), scaleWord(f, English)}}
	if n, ok := f.round(); ok {
		c = append(c, englishCardinal(n))
	}
	if strings.TrimRight(f.fraction, "0") == "5" && f.whole > 0 {
		c = append(c, sequence{englishCardinal(f.whole), phrases("and a half"), scaleWord(f, English)})
	}
	if f.whole == 0 && f.scale == "" && strings.TrimRight(f.fraction, "0") == "5" {
		c = append(c, phrases("half", "half a", "half an"))
	}
	return c
}

func hindiNumber(f figure) node {
	c := choice{sequence{hindiDecimal(f), scaleWord(f, Hindi)}}
	if n, ok := f.round(); ok {
		c = append(c, hindiCardinal(n))
	}
	if q, ok := f.quarters(); ok && f.fraction != "" {
		if n := hindiQuarters(q); n != nil {
			c = append(c, sequence{n, scaleWord(f, Hindi)})
		}
		if q < 4 && f.scale == "" {
			c = append(c, phrases([][]string{{"पाव", "चौथाई", "paav", "chauthai"},
				{"आधा", "आधी", "आधे", "aadha", "aadhi", "aadhe"}, {"पौन", "पौना", "पौने", "paun", "pauna"}}[q-1]...))
		}
	}
	return c
}

func scaleWord(f figure, l Language) node {
	if f.scale == "" {
		return nothing
	}
	if l == English {
		return phrases(scales[f.scale].english...)
	}
	return phrases(scales[f.scale].hindi...)
}

// englishDecimal reads digits after the point one by one; zeros at the end may be left out.
func englishDecimal(f figure) node {
	return decimal(f, englishCardinal(f.whole), phrases("point"), englishDigit)
}

func hindiDecimal(f figure) node {
	return decimal(f, hindiCardinal(f.whole), phrases("दशमलव", "पॉइंट", "पॉइन्ट", "point", "dashamlav"), hindiDigit)
}

func decimal(f figure, whole, point node, digit func(byte) node) node {
	if f.fraction == "" {
		return whole
	}
	if f.whole == 0 {
		whole = choice{whole, nothing}
	}
	var c choice
	for cut := len(f.fraction); cut >= 0; cut-- {
		if cut < len(f.fraction) && f.fraction[cut] != '0' {
			break
		}
		if cut == 0 {
			c = append(c, whole)
			break
		}
		s := sequence{whole, point}
		for i := range cut {
			s = append(s, digit(f.fraction[i]))
		}
		c = append(c, s)
	}
	return c
}

// englishCardinal reads lakh and crore as Indian English does, hundreds up to 99 ("fifteen hundred"), and "and" where
// people say it.
func englishCardinal(n int64) node {
	c := choice{englishGroups(n)}
	if h := n / 100; n >= 1100 && n < 10_000 && h%10 != 0 && (n < 2000 || n%100 == 0) {
		c = append(c, sequence{englishBelow100(h), oneOf{"hundred"}, englishRest(n % 100)})
	}
	switch n {
	case 100, 1000:
		c = append(c, phrases(map[int64]string{100: "hundred", 1000: "thousand"}[n]),
			phrases(map[int64]string{100: "a hundred", 1000: "a thousand"}[n]))
	}
	return c
}

func englishGroups(n int64) node {
	for _, g := range []struct {
		value int64
		words []string
	}{
		{10_000_000, []string{"crore", "crores"}}, {100_000, []string{"lakh", "lakhs"}}, {1000, []string{"thousand"}}, {100, []string{"hundred"}},
	} {
		if n >= g.value {
			return sequence{englishGroups(n / g.value), oneOf(g.words), englishRest(n % g.value)}
		}
	}
	return englishBelow100(n)
}

func englishRest(n int64) node {
	if n == 0 {
		return nothing
	}
	return sequence{choice{nothing, oneOf{"and"}}, englishGroups(n)}
}

func englishBelow100(n int64) node {
	if n < 20 {
		return oneOf(englishSmall[n])
	}
	if n%10 == 0 {
		return oneOf(englishTens[n/10])
	}
	return sequence{oneOf(englishTens[n/10]), oneOf(englishSmall[n%10])}
}

// hindiCardinal reads सौ to खरब, hundreds up to 99, and quarters of a scale, as ढाई हज़ार for 2,500.
func hindiCardinal(n int64) node {
	c := choice{hindiGroups(n)}
	if n >= 100 && n < 200 || n >= 1000 && n < 2000 { // एक may be left out before the first scale
		one := map[bool]int64{true: 100, false: 1000}[n < 200]
		c = append(c, sequence{oneOf(hindiScale[one]), hindiRest(n % one)})
	}
	if h := n / 100; n >= 1100 && n < 10_000 && h%10 != 0 && (n < 2000 || n%100 == 0) {
		c = append(c, sequence{oneOf(hindiBelow100[h]), oneOf(hindiScale[100]), hindiRest(n % 100)})
	}
	for scale, words := range hindiScale {
		if n%(scale/4) == 0 && n%scale != 0 && n/scale < 100 {
			if q := hindiQuarters(n * 4 / scale); q != nil {
				c = append(c, sequence{q, oneOf(words)})
			}
			if n*4/scale == 5 { // सवा सौ
				c = append(c, sequence{phrases("सवा", "sava"), oneOf(words)})
			}
		}
	}
	return c
}

func hindiGroups(n int64) node {
	for _, value := range []int64{100_000_000_000, 1_000_000_000, 10_000_000, 100_000, 1000, 100} {
		if n >= value {
			return sequence{hindiGroups(n / value), oneOf(hindiScale[value]), hindiRest(n % value)}
		}
	}
	return oneOf(hindiBelow100[n])
}

func hindiRest(n int64) node {
	if n == 0 {
		return nothing
	}
	return hindiGroups(n)
}

// hindiQuarters reads q quarters with डेढ़, ढाई, साढ़े, सवा and पौने, nil where Hindi has no such word.
func hindiQuarters(q int64) node {
	whole := q / 4
	if whole >= 99 || whole == 0 {
		return nil
	}
	switch {
	case q == 6:
		return phrases("डेढ़", "dedh", "derh")
	case q == 10:
		return phrases("ढाई", "dhai", "adhai", "अढ़ाई")
	case q%4 == 2:
		return sequence{phrases("साढ़े", "saadhe", "sadhe", "saarhe"), oneOf(hindiBelow100[whole])}
	case q == 5:
		return choice{phrases("सवा", "sava"), sequence{phrases("सवा", "sava"), oneOf(hindiBelow100[1])}}
	case q%4 == 1:
		return sequence{phrases("सवा", "sava"), oneOf(hindiBelow100[whole])}
	case q%4 == 3:
		return sequence{phrases("पौने", "paune"), oneOf(hindiBelow100[whole+1])}
	}
	return nil
}

func readOrdinal(value string, l Language) (node, error) {
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil || n < 1 || n > 99 {
		return nil, fmt.Errorf("%q is not an ordinal up to 99", value)
	}
	return byLanguage(l, englishOrdinal(n), choice{hindiOrdinal(n), spokenOrdinal(n)}), nil
}

func englishOrdinal(n int64) node {
	if n < 20 {
		return oneOf{englishOrdinals[n]}
	}
	if n%10 == 0 {
		tens := englishTens[n/10][0]
		return oneOf{strings.TrimSuffix(tens, "y") + "ieth"}
	}
	return sequence{oneOf(englishTens[n/10]), oneOf{englishOrdinals[n%10]}}
}

// spokenOrdinal is an English ordinal as Hindi writes it.
func spokenOrdinal(n int64) node {
	if n > 3 {
		return choice{}
	}
	return oneOf([][]string{{"फ़र्स्ट"}, {"सेकंड", "सेकेंड"}, {"थर्ड"}}[n-1])
}

func hindiOrdinal(n int64) node {
	if words, ok := hindiOrdinals[n]; ok {
		return oneOf(words)
	}
	var words oneOf
	for _, w := range hindiBelow100[n] {
		endings := []string{"वाँ", "वीं", "वें", "वा", "वी", "वे"}
		if !isDevanagari(w) {
			endings = []string{"va", "vi", "ve", "van", "vin", "ven"}
		}
		for _, e := range endings {
			words = append(words, w+e)
		}
	}
	return words
}

func readRange(value string, l Language) (node, error) {
	a, b, _ := strings.Cut(value, " ")
	from, err := parseFigure(a)
	if err != nil {
		return nil, err
	}
	to, err := parseFigure(b)
	if err != nil {
		return nil, err
	}
	c := choice{sequence{number(from, l), connector("to", l), number(to, l)}}
	next := to.whole == from.whole+1 && from.fraction == "" && to.fraction == ""
	if next || l != English && to.whole <= 100 { // दो तीन दिन, two three days
		c = append(c, sequence{number(from, l), number(to, l)})
	}
	return c, nil
}
