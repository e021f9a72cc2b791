// Package ssml reads a subset of SSML. It has text, sentences, breaks, aliases, say-as, languages and the rate.
// Everything else is refused by its name, and nothing is passed over.
package ssml

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/swar-tts/swar/runtime/speech"
)

// The limits of a document.
const (
	MaxBytes = 64 << 10
	MaxDepth = 8
	MaxBreak = 10 * time.Second
)

// Part is a piece of a document: a silence, or text that is spoken at one speed.
type Part struct {
	Silence int // frames; there is no text then

	Text   string        // has no white space around it
	Marks  []speech.Mark // of Text, in order
	Speed  float64       // 1 unless the document says otherwise
	Source []Place       // where each code point of Text was written
}

// Place is where something stands in a document, in code points. End is exclusive.
type Place struct{ Start, End int }

// The refusals. Those of an element name it.
func unsupported(what string) error {
	return &speech.Refusal{Code: speech.CodeUnsupportedSSML, Text: "ssml: " + what}
}

func malformed(err error) error {
	reason := err.Error()
	if s, ok := errors.AsType[*xml.SyntaxError](err); ok {
		reason = fmt.Sprintf("line %d: %s", s.Line, s.Msg)
	}
	return &speech.Refusal{Code: speech.CodeBadText, Text: "ssml: " + reason}
}

// errTooLarge is for documents above MaxBytes.
var errTooLarge = &speech.Refusal{Code: speech.CodeTextTooLong,
	Text: fmt.Sprintf("ssml longer than %d bytes", MaxBytes)}

// Parse reads a document, or returns a [speech.Refusal].
func Parse(document string) ([]Part, error) {
	if len(document) > MaxBytes {
		return nil, errTooLarge
	}
	p := &parser{document: document, decoder: xml.NewDecoder(strings.NewReader(document)), speed: 1, spaced: true}
	p.decoder.Entity = map[string]string{} // only the five of XML
	for {
		from := p.decoder.InputOffset()
		t, err := p.decoder.Token()
		switch {
		case err == io.EOF && !p.closed:
			return nil, malformed(errors.New("the document must be one <speak> element"))
		case err == io.EOF:
			p.endPart()
			return p.parts, nil
		case err != nil:
			return nil, malformed(err)
		}
		if err := p.take(t, int(from), int(p.decoder.InputOffset())); err != nil {
			return nil, err
		}
	}
}

// Document makes a document of text with elements: in <speak>, unless it is a document already. There & and < are
// also signs where they begin nothing, for such texts are not written by programs that know XML.
func Document(text string) string {
	text = strings.TrimSpace(text)
	begin := text
	if strings.HasPrefix(text, "<?xml") {
		_, begin, _ = strings.Cut(text, "?>")
		begin = strings.TrimSpace(begin)
	}
	if strings.HasPrefix(begin, "<speak") {
		return text
	}
	var b strings.Builder
	b.WriteString("<speak>")
	for i, r := range text {
		switch {
		case r == '&' && !beginsEntity(text[i:]):
			b.WriteString("&amp;")
		case r == '<' && !beginsTag(text[i:]):
			b.WriteString("&lt;")
		default:
			b.WriteString(text[i : i+utf8.RuneLen(r)])
		}
	}
	b.WriteString("</speak>")
	return b.String()
}

// beginsEntity reports whether text, which begins with &, begins with one of the five of XML or a number.
func beginsEntity(text string) bool {
	name, _, ok := strings.Cut(text[1:min(len(text), 12)], ";") // none is longer
	number, isNumber := strings.CutPrefix(name, "#")
	if hex, isHex := strings.CutPrefix(number, "x"); isNumber && isHex {
		_, err := strconv.ParseUint(hex, 16, 32)
		return ok && err == nil
	}
	if isNumber {
		_, err := strconv.ParseUint(number, 10, 32)
		return ok && err == nil
	}
	return ok && slices.Contains([]string{"amp", "lt", "gt", "quot", "apos"}, name)
}

// beginsTag reports whether text, which begins with <, goes on as a tag or what may stand in the place of one does.
func beginsTag(text string) bool {
	first, _ := utf8.DecodeRuneInString(text[1:])
	return unicode.IsLetter(first) || len(text) > 1 && strings.ContainsRune("/!?", first)
}

// Chars returns how many code points of text a document has, aliases in the place of what they replace.
func Chars(parts []Part) (n int) {
	for i := range parts {
		p := &parts[i]
		n += utf8.RuneCountInString(p.Text)
		for _, m := range p.Marks {
			if m.Spoken != "" {
				n += utf8.RuneCountInString(m.Spoken) - (m.End - m.Start)
			}
		}
	}
	return n
}

// Words returns the text of a document, to find words in.
func Words(parts []Part) string {
	var b strings.Builder
	for i := range parts {
		b.WriteString(parts[i].Text)
		b.WriteByte('\n')
	}
	return b.String()
}

// parser reads one document.
type parser struct {
	document string
	decoder  *xml.Decoder
	open     []element
	closed   bool // the root was read to its end

	seen, chars int // bytes of the document and the code points that they are

	parts  []Part
	text   []rune // of the present part
	marks  []speech.Mark
	source []Place
	speed  float64
	spaced bool // the text ends in white space, or is empty
}

// element is an element that is open.
type element struct {
	name  string
	lang  string         // that its text is in
	speed float64        // outside of it
	as    speech.Reading // of say-as
	alias string         // of sub
	from  int            // where its text begins, for say-as and sub
}

// take reads a token that stands at document[from:to].
func (p *parser) take(t xml.Token, from, to int) error {
	switch t := t.(type) {
	case xml.StartElement:
		return p.start(t)
	case xml.EndElement:
		return p.end()
	case xml.CharData:
		isSpace := len(bytes.TrimSpace(t)) == 0
		switch {
		case len(p.open) == 0 && !isSpace:
			return malformed(errors.New("text outside of <speak>"))
		case p.innermost().name == "break" && !isSpace:
			return unsupported("<break> must be empty")
		case len(p.open) > 0:
			p.write(t, from, to)
		}
	case xml.Directive:
		return unsupported("a DTD cannot be used")
	case xml.ProcInst:
		if t.Target != "xml" {
			return unsupported("<?" + t.Target + "?> is not supported")
		}
	}
	return nil
}

// alone are the elements that have no others in them.
var alone = []string{"break", "sub", "say-as"}

func (p *parser) start(t xml.StartElement) error {
	name := t.Name.Local
	outer := p.innermost()
	switch {
	case len(p.open) == 0 && (p.closed || name != "speak"):
		return malformed(errors.New("the document must be one <speak> element"))
	case len(p.open) > 0 && name == "speak":
		return unsupported("<speak> must not be inside another element")
	case len(p.open) == MaxDepth:
		return unsupported(fmt.Sprintf("elements may be nested %d deep", MaxDepth))
	case slices.Contains(alone, outer.name):
		return unsupported(fmt.Sprintf("<%s> must not be inside <%s>", name, outer.name))
	}
	e := element{name: name, lang: outer.lang, speed: p.speed, from: len(p.text)}
	read, known := elements[name]
	if !known {
		return unsupported("<" + name + "> is not supported; use " + strings.Join(names, ", "))
	}
	if err := read(p, &e, attributes(t)); err != nil {
		return err
	}
	p.open = append(p.open, e)
	return nil
}

func (p *parser) innermost() element {
	if len(p.open) == 0 {
		return element{}
	}
	return p.open[len(p.open)-1]
}

func (p *parser) end() error {
	e := p.innermost()
	p.open = p.open[:len(p.open)-1]
	switch e.name {
	case "speak":
		p.closed = true
	case "p", "s":
		p.endSentence()
	case "sub":
		if len(p.text) == e.from {
			return unsupported("<sub> needs text, for which its alias is spoken")
		}
		p.mark(speech.Mark{Start: e.from, Spoken: e.alias, Lang: e.lang})
	case "say-as":
		p.mark(speech.Mark{Start: e.from, As: e.as, Lang: e.lang})
	case "prosody":
		if p.speed != e.speed {
			p.endPart()
			p.speed = e.speed
		}
	}
	return nil
}

// elements read the attributes of the elements that are supported.
var elements = map[string]func(*parser, *element, map[string]string) error{
	"speak": func(_ *parser, e *element, a map[string]string) error {
		delete(a, "version")
		return e.setLang(a)
	},
	"p":    func(p *parser, e *element, a map[string]string) error { p.endSentence(); return e.setLang(a) },
	"s":    func(p *parser, e *element, a map[string]string) error { p.endSentence(); return e.setLang(a) },
	"lang": func(_ *parser, e *element, a map[string]string) error { return e.setLang(a) },
	"break": func(p *parser, _ *element, a map[string]string) error {
		frames, err := silence(a)
		if err == nil && frames > 0 {
			p.endPart()
			p.parts = append(p.parts, Part{Silence: frames})
		}
		return err
	},
	"sub": func(_ *parser, e *element, a map[string]string) error {
		e.alias = strings.Join(strings.Fields(a["alias"]), " ")
		if e.alias == "" {
			return unsupported("<sub> needs an alias")
		}
		delete(a, "alias")
		return only("sub", a)
	},
	"say-as": func(_ *parser, e *element, a map[string]string) error {
		as, format := a["interpret-as"], a["format"]
		delete(a, "interpret-as")
		delete(a, "format")
		e.as = readings[as]
		switch {
		case e.as == "":
			return unsupported(fmt.Sprintf("<say-as interpret-as=%q> is not supported; use %s", as,
				strings.Join(readingNames, ", ")))
		case e.as == speech.ReadDate:
			if order, known := dateFormats[format]; known {
				e.as = order
			} else {
				return unsupported(fmt.Sprintf("<say-as format=%q> is not supported; use dmy, mdy or ymd", format))
			}
		}
		return only("say-as", a)
	},
	"prosody": func(p *parser, _ *element, a map[string]string) error {
		speed, err := rate(a["rate"])
		if err != nil {
			return err
		}
		delete(a, "rate")
		if err := only("prosody", a); err != nil || speed == p.speed {
			return err
		}
		p.endPart()
		p.speed = speed
		return nil
	},
}

// names are those of the elements, in the order of an error.
var names = []string{"speak", "p", "s", "break", "sub", "say-as", "lang", "prosody"}

var readings = map[string]speech.Reading{
	"digits": speech.ReadDigits, "characters": speech.ReadCharacters, "spell-out": speech.ReadCharacters,
	"verbatim": speech.ReadCharacters, "cardinal": speech.ReadCardinal, "number": speech.ReadCardinal,
	"ordinal": speech.ReadOrdinal, "telephone": speech.ReadPhone, "date": speech.ReadDate, "time": speech.ReadTime,
	"currency": speech.ReadCurrency,
}

var readingNames = []string{"digits", "characters", "cardinal", "ordinal", "telephone", "date", "time", "currency"}

// dateFormats are the orders of the numbers of a date. Where a year has four digits in front, it is one.
var dateFormats = map[string]speech.Reading{
	"": speech.ReadDate, "dmy": speech.ReadDate, "ymd": speech.ReadDate, "dm": speech.ReadDate, "my": speech.ReadDate,
	"ym": speech.ReadDate, "y": speech.ReadDate, "mdy": speech.ReadMonthFirst, "md": speech.ReadMonthFirst,
}

// attributes are those of an element, by name; the language stands under lang. Namespaces say nothing that is spoken.
func attributes(t xml.StartElement) map[string]string {
	a := make(map[string]string, len(t.Attr))
	for _, attr := range t.Attr {
		switch {
		case attr.Name.Space == "xmlns", attr.Name.Local == "xmlns", attr.Name.Local == "schemaLocation":
		default:
			a[attr.Name.Local] = attr.Value
		}
	}
	return a
}

// only refuses the attributes that are left.
func only(element string, left map[string]string) error {
	for name := range left {
		return unsupported(fmt.Sprintf("<%s %s> is not supported", element, name))
	}
	return nil
}

// setLang takes the language of an element. One that is neither Hindi nor English says nothing.
func (e *element) setLang(a map[string]string) error {
	if lang, ok := a["lang"]; ok {
		code, _, _ := strings.Cut(strings.ToLower(lang), "-")
		if e.lang = ""; code == "hi" || code == "en" {
			e.lang = code
		}
		delete(a, "lang")
	}
	return only(e.name, a)
}

// strengths are how long breaks are that have no time.
var strengths = map[string]time.Duration{
	"none": 0, "x-weak": 80 * time.Millisecond, "weak": 160 * time.Millisecond, "": 400 * time.Millisecond,
	"medium": 400 * time.Millisecond, "strong": 800 * time.Millisecond, "x-strong": 1200 * time.Millisecond,
}

// silence is how many frames a break lasts. Its time decides, if it has one.
func silence(a map[string]string) (frames int, err error) {
	long, known := strengths[a["strength"]]
	if !known {
		return 0, unsupported(fmt.Sprintf("<break strength=%q> is not supported; use none, x-weak, weak, medium, strong or x-strong", a["strength"]))
	}
	if text, ok := a["time"]; ok {
		long, err = time.ParseDuration(strings.TrimSpace(text))
		isTime := strings.HasSuffix(text, "s") && !strings.ContainsAny(text, "µuhn") && strings.Count(text, "s") == 1
		if err != nil || !isTime || long < 0 || long > MaxBreak {
			return 0, unsupported(fmt.Sprintf("<break time=%q>: want 0s to %v, such as 1.5s or 200ms", text, MaxBreak))
		}
	}
	delete(a, "strength")
	delete(a, "time")
	return int((long + speech.FrameDuration/2) / speech.FrameDuration), only("break", a)
}

// The speeds that a document can ask for, and the words for some.
const minSpeed, maxSpeed = 0.5, 2

var rates = map[string]float64{"x-slow": .6, "slow": .8, "medium": 1, "default": 1, "fast": 1.2, "x-fast": 1.5}

// rate reads the rate of prosody: a word, a percentage of the usual speed, a change such as +20%, or a factor.
func rate(text string) (float64, error) {
	text = strings.TrimSpace(text)
	if speed, ok := rates[text]; ok {
		return speed, nil
	}
	number, percent := strings.CutSuffix(text, "%")
	speed, err := strconv.ParseFloat(number, 64)
	if percent {
		speed /= 100
		if strings.HasPrefix(text, "+") || strings.HasPrefix(text, "-") {
			speed++
		}
	}
	if err != nil || math.IsNaN(speed) || speed < minSpeed || speed > maxSpeed {
		return 0, unsupported(fmt.Sprintf("<prosody rate=%q>: want a word such as slow, or 50%% to 200%%", text))
	}
	return speed, nil
}

// write adds text, which stands at document[from:to].
func (p *parser) write(text []byte, from, to int) {
	raw, at := p.document[from:to], p.place(from)
	raw, isCData := strings.CutPrefix(raw, cdata)
	if isCData {
		at += len(cdata)
	}
	e, first := p.innermost(), len(p.text)
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		text = text[size:]
		n := written(raw, isCData)
		place := Place{at, at + utf8.RuneCountInString(raw[:n])}
		raw, at = raw[n:], place.End
		switch {
		case unicode.IsSpace(r) && p.spaced:
			continue
		case unicode.IsSpace(r): // lines of a document are no sentences
			r = ' '
		}
		p.spaced = r == ' '
		p.text, p.source = append(p.text, r), append(p.source, place)
	}
	if e.lang != "" && e.as == "" && e.alias == "" {
		p.mark(speech.Mark{Start: first, Lang: e.lang})
	}
}

// mark adds a mark that ends with the text.
func (p *parser) mark(m speech.Mark) {
	if m.End = len(p.text); m.Start < m.End {
		p.marks = append(p.marks, m)
	}
}

// endSentence ends a sentence, if one has begun. A line break is what the normaliser ends one at.
func (p *parser) endSentence() {
	if len(p.text) == 0 || p.text[len(p.text)-1] == '\n' {
		return
	}
	place := p.source[len(p.source)-1]
	p.text, p.source = append(p.text, '\n'), append(p.source, Place{place.End, place.End})
	p.spaced = true
}

// endPart ends the text that is spoken in one.
func (p *parser) endPart() {
	n := len(p.text)
	for n > 0 && unicode.IsSpace(p.text[n-1]) {
		n--
	}
	first := 0
	for first < n && unicode.IsSpace(p.text[first]) {
		first++
	}
	if first < n {
		var marks []speech.Mark
		for _, m := range p.marks {
			m.Start, m.End = max(m.Start-first, 0), min(m.End, n)-first
			if m.Start < m.End {
				marks = append(marks, m)
			}
		}
		p.parts = append(p.parts,
			Part{Text: string(p.text[first:n]), Marks: marks, Speed: p.speed, Source: slices.Clone(p.source[first:n])})
	}
	p.text, p.marks, p.source, p.spaced = p.text[:0], nil, p.source[:0], true
}

// place is the code point at byte to of the document. It is asked for in order.
func (p *parser) place(to int) int {
	p.chars += utf8.RuneCountInString(p.document[p.seen:to])
	p.seen = to
	return p.chars
}

// written is how many bytes of raw the next code point of its text takes. In CDATA nothing is escaped.
func written(raw string, isCData bool) int {
	switch {
	case raw == "":
		return 0
	case strings.HasPrefix(raw, "\r\n"):
		return len("\r\n")
	case raw[0] == '&' && !isCData:
		return strings.IndexByte(raw, ';') + 1
	}
	_, size := utf8.DecodeRuneInString(raw)
	return size
}

const cdata = "<![CDATA["
