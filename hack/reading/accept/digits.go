package accept

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// readDigits reads a code: digits one by one, all in Hindi or all in English, whatever the sentence is in (which of
// them is a setting of a voice agent); letters by name; two and three in a row as double and triple; - and / as pauses
// or by name.
func readDigits(value string, _ Language) (node, error) {
	if err := checkCode(value); err != nil {
		return nil, err
	}
	c := choice{code(value, hindiDigit), code(value, englishDigit)}
	if country, rest, ok := strings.Cut(strings.TrimPrefix(value, "+"), "-"); ok && value[0] == '+' { // plus ninety one
		n, err := strconv.ParseInt(country, 10, 64)
		if err != nil || n < 1 || n > 99 {
			return nil, fmt.Errorf("%q begins with no country", value)
		}
		plus := phrases("plus", "प्लस", "")
		c = append(c, sequence{plus, oneOf(hindiBelow100[n]), code(rest, hindiDigit)},
			sequence{plus, englishBelow100(n), code(rest, englishDigit)})
	}
	return c, nil
}

func hindiDigit(d byte) node { return oneOf(hindiBelow100[d-'0']) }
func englishDigit(d byte) node {
	return oneOf(append(append([]string{}, englishSmall[d-'0']...), ohs(d)...))
}

func ohs(d byte) []string {
	if d == '0' {
		return []string{"o", "शून्य"}
	}
	return nil
}

// checkCode refuses a code in which something stands that has no reading.
func checkCode(value string) error {
	if value == "" {
		return errors.New("no digits")
	}
	for _, c := range value {
		if digit := c >= '0' && c <= '9'; !digit && !unicode.IsLetter(c) && !strings.ContainsRune("-/+", c) {
			return fmt.Errorf("%q is no digit, letter, -, / or +", c)
		}
	}
	return nil
}

func code(value string, digit func(byte) node) node {
	var s sequence
	for len(value) > 0 {
		switch c := value[0]; {
		case c >= '0' && c <= '9':
			n := runLength(value, func(r rune) bool { return r >= '0' && r <= '9' })
			s = append(s, digitRun{value[:n], digit})
			value = value[n:]
		case c == '-':
			s = append(s, phrases("", "dash", "hyphen", "डैश", "हाइफ़न"))
			value = value[1:]
		case c == '/':
			s = append(s, phrases("", "slash", "स्लैश", "by", "बटा", "oblique", "stroke"))
			value = value[1:]
		case c == '+':
			s = append(s, phrases("plus", "प्लस", ""))
			value = value[1:]
		default:
			n := runLength(value, unicode.IsLetter)
			s = append(s, spelled(value[:n]))
			value = value[n:]
		}
	}
	return s
}

func runLength(s string, in func(rune) bool) int {
	for i, r := range s {
		if !in(r) {
			return i
		}
	}
	return len(s)
}

// digitRun reads digits one by one, or equal neighbours as double and triple.
type digitRun struct {
	digits string
	digit  func(byte) node
}

var repeats = map[int]oneOf{2: {"double", "डबल"}, 3: {"triple", "ट्रिपल"}}

func (n digitRun) follow(m *match, from places) places {
	after := make([]places, len(n.digits)+1) // where the tokens may stand after so many digits
	for i := range after {
		after[i] = newPlaces(len(m.tokens))
	}
	after[0] = from
	for i := range n.digits {
		digit := n.digit(n.digits[i])
		mark(after[i+1], digit.follow(m, after[i]))
		for times, word := range repeats {
			if i+times <= len(n.digits) && strings.Count(n.digits[i:i+times], n.digits[i:i+1]) == times {
				mark(after[i+times], digit.follow(m, word.follow(m, after[i])))
			}
		}
	}
	return after[len(n.digits)]
}

func (n digitRun) example() string {
	var b strings.Builder
	for i := range n.digits {
		b.WriteString(n.digit(n.digits[i]).example() + " ")
	}
	return b.String()
}

// readTail reads the visible end of a masked number. The mask is silent or "ending"; one or two letters of it may be
// named.
func readTail(value string, l Language) (node, error) {
	digits := strings.TrimLeft(value, "X*")
	if digits == "" || len(digits) == len(value) {
		return nil, fmt.Errorf("%q is not a mask and digits", value)
	}
	masks := choice{phrases("", "ending", "ending in", "ending with", "last", "अंतिम", "आख़िरी")}
	if mask := value[:len(value)-len(digits)]; len(mask) <= 2 && mask[0] == 'X' {
		masks = append(masks, spelled(mask), phrases("double x", "डबल एक्स"))
	}
	tail, err := readDigits(digits, l)
	return sequence{masks, tail}, err
}

// readTollFree reads 1800 digit by digit or as eighteen hundred.
func readTollFree(value string, l Language) (node, error) {
	rest, ok := strings.CutPrefix(value, "1800")
	if !ok {
		return nil, fmt.Errorf("%q does not begin with 1800", value)
	}
	whole, err := readDigits(value, l)
	if err != nil {
		return nil, err
	}
	after, err := readDigits(rest, l)
	return choice{whole, sequence{phrases("eighteen hundred", "अठारह सौ", "atharah sau", "एटीन हंड्रेड"), after}}, err
}

// readLetters reads words letter by letter; the letters may also stand together, as an engine is given OTP or ओटीपी.
func readLetters(value string, _ Language) (node, error) {
	var s sequence
	for _, w := range strings.Fields(strings.ReplaceAll(value, ".", "")) {
		if c := strings.TrimFunc(w, isEnglishLetter); c != "" {
			return nil, fmt.Errorf("%q is not A to Z", c)
		}
		s = append(s, spelled(w))
	}
	if len(s) == 0 {
		return nil, errors.New("no letters")
	}
	return s, nil
}

func isEnglishLetter(c rune) bool { return c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' }

// spelled takes letters by name in any grouping. An s at the end of capitals makes a plural.
type spelled string

func (n spelled) letters() (letters string, plural bool) {
	s := string(n)
	if len(s) > 2 && strings.HasSuffix(s, "s") && strings.ToUpper(s[:len(s)-1]) == s[:len(s)-1] {
		return strings.ToLower(s[:len(s)-1]), true
	}
	return strings.ToLower(s), false
}

func (n spelled) follow(m *match, from places) places {
	letters, plural := n.letters()
	to := newPlaces(len(m.tokens))
	for i, here := range from {
		if here {
			spell(m, i, letters, plural, to)
		}
	}
	return to
}

// spell marks in to where the letters may end that begin at token i.
func spell(m *match, i int, letters string, plural bool, to places) {
	m.far = max(m.far, i)
	if letters == "" {
		to[i] = true
		if plural && i < len(m.tokens) && m.tokens[i] == "s" {
			to[i+1] = true
		}
		return
	}
	if i == len(m.tokens) {
		return
	}
	for n := 1; n <= len(letters); n++ {
		if isSpelling(m.tokens[i], letters[:n], plural && n == len(letters)) {
			spell(m, i+1, letters[n:], plural, to)
		}
	}
}

// isSpelling says whether one token is these letters: together in Latin, or their names one after another in
// Devanagari.
func isSpelling(token, letters string, plural bool) bool {
	if token == letters || plural && (token == letters+"s" || token == letters+"es") {
		return true
	}
	if !isDevanagari(token) {
		return false
	}
	for _, end := range []string{"", "ज", "स", "ज़"} {
		if stem, ok := strings.CutSuffix(token, end); ok && (plural || end == "") && areNames(stem, letters) {
			return true
		}
	}
	return false
}

func areNames(token, letters string) bool {
	if letters == "" {
		return token == ""
	}
	if letters[0] < 'a' || letters[0] > 'z' {
		return false // what has no name here matches itself alone
	}
	for _, name := range letterNames[letters[0]-'a'] {
		if rest, ok := strings.CutPrefix(devanagariSound(token), devanagariSound(name)); ok {
			if rest == "" && len(letters) == 1 || rest != "" && areNames(rest, letters[1:]) {
				return true
			}
		}
	}
	return false
}

func (n spelled) example() string {
	letters, _ := n.letters()
	return strings.Join(strings.Split(letters, ""), " ")
}

var letterNames = [26][]string{
	{"ए"}, {"बी"}, {"सी"}, {"डी"}, {"ई"}, {"एफ़"}, {"जी"}, {"एच"}, {"आई", "आइ"}, {"जे"}, {"के"}, {"एल"}, {"एम"},
	{"एन"}, {"ओ"}, {"पी"}, {"क्यू"}, {"आर"}, {"एस"}, {"टी"}, {"यू"}, {"वी"}, {"डब्ल्यू", "डबल्यू", "डब्लू"}, {"एक्स"}, {"वाई", "वाय"}, {"ज़ेड", "ज़ी"},
}

// readLabel reads the number of a thing, such as a flat, a gate, a train: digit by digit, as a number, or in the pairs
// that people make of three to five digits. Parts that - or / separate are labels of their own.
func readLabel(value string, l Language) (node, error) {
	if err := checkCode(value); err != nil {
		return nil, err
	}
	var s sequence
	for len(value) > 0 {
		n := runLength(value, func(r rune) bool { return r >= '0' && r <= '9' })
		if n > 0 {
			s = append(s, labelNumber(value[:n], l))
			value = value[n:]
			continue
		}
		n = max(1, runLength(value, unicode.IsLetter))
		s = append(s, code(value[:n], hindiDigit))
		value = value[n:]
	}
	return s, nil
}

func labelNumber(digits string, l Language) node {
	one := choice{code(digits, hindiDigit), code(digits, englishDigit)}
	if len(digits) > 9 {
		return one
	}
	c := choice{one}
	if digits[0] != '0' || digits == "0" {
		n, _ := strconv.ParseInt(digits, 10, 64)
		c = choice{number(figure{whole: n}, l), one}
	}
	cuts := map[int][][]int{3: {{1, 2}, {2, 1}}, 4: {{2, 2}}, 5: {{1, 2, 2}, {2, 2, 1}, {2, 1, 2}, {2, 3}}}
	for _, cut := range cuts[len(digits)] {
		if !ambiguous(digits, cut) {
			c = append(c, pairs(digits, cut, l))
		}
	}
	return c
}

// ambiguous says whether tens stand before a single digit, as in thirty four for 304.
func ambiguous(digits string, cut []int) bool {
	at := 0
	for i, n := range cut {
		at += n
		if n == 2 && digits[at-1] == '0' && i+1 < len(cut) && cut[i+1] == 1 {
			return true
		}
	}
	return false
}

// pairs reads 12417 as one twenty four seventeen, and 304 as three oh four.
func pairs(digits string, cut []int, l Language) node {
	english, hindi := sequence{}, sequence{}
	for _, n := range cut {
		group := digits[:n]
		digits = digits[n:]
		value, _ := strconv.ParseInt(group, 10, 64)
		if group[0] == '0' {
			english, hindi = append(english, digitRun{group, englishDigit}), append(hindi, digitRun{group, hindiDigit})
			continue
		}
		english, hindi = append(english, englishCardinal(value)), append(hindi, hindiCardinal(value))
	}
	return byLanguage(l, english, hindi)
}
