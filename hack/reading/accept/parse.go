package accept

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// parser reads the grammar: words, {this|that}, {this|} for what may be missing, and <kind value>.
type parser struct {
	text     string
	language Language
}

// sequence reads up to one of the given ends, which it leaves, or to the end of the text where there is none.
func (p *parser) sequence(ends string) (node, error) {
	var s sequence
	for {
		switch at := strings.IndexAny(p.text, "{}|<>"); {
		case at < 0:
			if ends != "" {
				return nil, errors.New("a { is not closed")
			}
			return append(s, p.words(p.text)...), nil
		case at > 0:
			s = append(s, p.words(p.text[:at])...)
			p.text = p.text[at:]
		case strings.ContainsRune(ends, rune(p.text[0])):
			return s, nil
		case p.text[0] == '{':
			n, err := p.choice()
			if err != nil {
				return nil, err
			}
			s = append(s, n)
		case p.text[0] == '<':
			n, err := p.macro()
			if err != nil {
				return nil, err
			}
			s = append(s, n)
		default:
			return nil, fmt.Errorf("%q stands where nothing is open", p.text[0])
		}
	}
}

func (p *parser) choice() (node, error) {
	var c choice
	for {
		p.text = p.text[1:]
		way, err := p.sequence("|}")
		if err != nil {
			return nil, err
		}
		c = append(c, way)
		if p.text[0] == '}' {
			p.text = p.text[1:]
			return c, nil
		}
	}
}

func (p *parser) macro() (node, error) {
	body, rest, ok := strings.Cut(p.text[1:], ">")
	if !ok {
		return nil, errors.New("a < is not closed")
	}
	p.text = rest
	kind, value, _ := strings.Cut(body, " ")
	if _, ok := connectors[kind]; ok && value == "" {
		return connector(kind, p.language), nil
	}
	read, ok := kinds[kind]
	if !ok {
		return nil, fmt.Errorf("<%s> is not known", kind)
	}
	n, err := read(value, p.language)
	if err != nil {
		return nil, fmt.Errorf("<%s>: %w", body, err)
	}
	return n, nil
}

// words are read as they are, but a single capital is the name of the letter.
func (p *parser) words(text string) []node {
	var out []node
	for _, field := range strings.Fields(text) {
		bare := strings.Trim(field, silent)
		if utf8.RuneCountInString(bare) == 1 && bare[0] >= 'A' && bare[0] <= 'Z' {
			out = append(out, choice{plain(strings.ToLower(bare)), spelled(bare)})
			continue
		}
		for _, w := range tokenize(field) {
			out = append(out, plain(w))
		}
	}
	return out
}

// kinds are the macros that have a value. What each stands for is in the README of the messages.
var kinds = map[string]func(value string, l Language) (node, error){
	"digits":   readDigits,
	"tail":     readTail,
	"tollfree": readTollFree,
	"letters":  readLetters,
	"label":    readLabel,
	"number":   readNumber,
	"ordinal":  readOrdinal,
	"range":    readRange,
	"year":     readYear,
	"date":     readDate,
	"time":     readTime,
	"rupees":   readRupees,
	"money":    readMoney,
	"quantity": readQuantity,
	"unit":     readUnit,
	"web":      readWeb,
}

// connectors are the macros without a value: what they are in English, and in Hindi besides.
var connectors = map[string]struct{ english, hindi []string }{
	"to":      {[]string{"to"}, []string{"से", "se", "टू"}},
	"and":     {[]string{"and", "n"}, []string{"और", "aur", "एंड", "एवं", "व", "तथा"}},
	"or":      {[]string{"or", "slash", "and", ""}, []string{"या", "ya", "स्लैश", "और"}},
	"at":      {[]string{"at", "at the rate", "at the rate of", ""}, []string{"ऐट", "एट", "ऐट द रेट", "ki dar se", "की दर से"}},
	"hash":    {[]string{"number", "hash", ""}, []string{"नंबर", "हैश", "संख्या"}},
	"slash":   {[]string{"slash", "by", "oblique", "stroke", "or", ""}, []string{"स्लैश", "बटा", "या"}},
	"plus":    {[]string{"plus", "and"}, []string{"प्लस", "जमा", "jama", "और", "aur", "धन"}},
	"minus":   {[]string{"minus", "less"}, []string{"माइनस", "घटा", "ghata", "ऋण"}},
	"times":   {[]string{"times", "into", "multiplied by", "by", "x", "cross"}, []string{"गुणा", "guna", "इंटू", "टाइम्स", "एक्स"}},
	"divided": {[]string{"divided by", "by", "over", "upon", "slash"}, []string{"भाग", "bhaag", "बटा", "bata", "डिवाइडेड बाय", "स्लैश"}},
	"equals": {
		[]string{"equals", "equal", "equal to", "equals to", "is equal to", "is"},
		[]string{"बराबर", "barabar", "बराबर है", "इक्वल्स", "इक्वल", "इक्वल टू", "होता है"},
	},
	"about": {
		[]string{
			"approximately", "is approximately", "approximately equals", "approximately equal to", "is approximately equal to",
			"about", "is about", "almost equal to",
		},
		[]string{"लगभग", "lagbhag"},
	},
	"less":    {[]string{"less than", "is less than"}, []string{"से कम", "se kam", "से छोटा"}},
	"greater": {[]string{"greater than", "is greater than", "more than"}, []string{"से ज़्यादा", "se zyada", "से बड़ा", "से अधिक"}},
}

// connector is what joins numbers: Hindi sentences take the English words, too.
func connector(kind string, l Language) node {
	c := connectors[kind]
	if l == English {
		return phrases(c.english...)
	}
	if l == Hindi {
		return phrases(append(slices.Clone(c.hindi), c.english...)...)
	}
	return phrases(append(slices.Clone(c.english), c.hindi...)...)
}
