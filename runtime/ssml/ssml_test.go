package ssml

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/swar-tts/swar/runtime/speech"
)

// shown writes parts down: [silence], and text with its marks in braces.
func shown(parts []Part) string {
	var all []string
	for _, p := range parts {
		if p.Silence > 0 {
			all = append(all, fmt.Sprintf("[%d]", p.Silence))
			continue
		}
		letters, from := []rune(p.Text), 0
		var b strings.Builder
		for _, m := range p.Marks {
			b.WriteString(string(letters[from:m.Start]) + "{" + string(letters[m.Start:m.End]))
			for _, f := range []string{m.Spoken, string(m.As), m.Lang} {
				if f != "" {
					b.WriteString("|" + f)
				}
			}
			b.WriteString("}")
			from = m.End
		}
		b.WriteString(string(letters[from:]))
		if p.Speed != 1 {
			fmt.Fprintf(&b, "×%g", p.Speed)
		}
		all = append(all, b.String())
	}
	return strings.Join(all, " / ")
}

func TestParse(t *testing.T) {
	for name, c := range map[string][2]string{
		"text": {`<speak>Namaste  dost
			ji</speak>`, "Namaste dost ji"},
		"a declaration and comments": {`<?xml version="1.0"?><!-- a --><speak version="1.1" xmlns="http://www.w3.org/2001/10/synthesis">A<!-- b --> b</speak>`, "A b"},
		"entities":                   {`<speak>a &lt;b&gt; &amp;amp; &#2344;&#x92e;</speak>`, "a <b> &amp; नम"},
		"CDATA":                      {`<speak><![CDATA[a &amp; <b>]]> c</speak>`, "a &amp; <b> c"},
		"sentences":                  {`<speak><p><s>Ek</s><s>Do</s></p> teen</speak>`, "Ek\nDo\nteen"},
		"a break":                    {`<speak>a <break/> b</speak>`, "a / [5] / b"},
		"breaks at the edges":        {`<speak><break time="1s"/>a<break time="80ms"/></speak>`, "[13] / a / [1]"},
		"no break":                   {`<speak>a <break strength="none"/>b<break time="0s"/> c</speak>`, "a b c"},
		"strengths":                  {`<speak><break strength="x-weak"/><break strength="weak"/><break strength="medium"/><break strength="strong"/><break strength="x-strong"/></speak>`, "[1] / [2] / [5] / [10] / [15]"},
		"time before strength":       {`<speak><break strength="x-strong" time="200ms"/></speak>`, "[3]"},
		"half a frame":               {`<speak><break time="40ms"/>a<break time="39ms"/></speak>`, "[1] / a"},
		"the longest break":          {`<speak><break time="10s"/></speak>`, "[125]"},
		"an alias":                   {`<speak>The <sub alias=" World  Wide ">W3C</sub> said</speak>`, "The {W3C|World Wide} said"},
		"what it is":                 {`<speak>Code <say-as interpret-as="digits">407</say-as>.</speak>`, "Code {407|digits}."},
		"the order of a date":        {`<speak><say-as interpret-as="date" format="mdy">1/2/26</say-as></speak>`, "{1/2/26|date:mdy}"},
		"languages":                  {`<speak xml:lang="hi-IN">a <lang xml:lang="en-US">b</lang> c <lang xml:lang="mr">d</lang></speak>`, "{a |hi}{b|en}{ c |hi}d"},
		"an alias in a language":     {`<speak><lang xml:lang="en">a <sub alias="x">y</sub></lang></speak>`, "{a |en}{y|x|en}"},
		"a rate":                     {`<speak>a <prosody rate="slow">b <prosody rate="150%">c</prosody> d</prosody> e</speak>`, "a / b×0.8 / c×1.5 / d×0.8 / e"},
		"rates":                      {`<speak><prosody rate="+20%">a</prosody><prosody rate="-50%">b</prosody><prosody rate="2">c</prosody><prosody rate="medium">d</prosody></speak>`, "a×1.2 / b×0.5 / c×2 / d"},
		"nothing":                    {`<speak/>`, ""},
		"depth":                      {`<speak><p><s><lang xml:lang="hi"><lang xml:lang="en"><lang xml:lang="hi"><prosody rate="medium"><sub alias="b">a</sub></prosody></lang></lang></lang></s></p></speak>`, "{a|b|hi}"},
	} {
		t.Run(name, func(t *testing.T) {
			parts, err := Parse(c[0])
			if got := shown(parts); err != nil || got != c[1] {
				t.Errorf("got %q, %v, want %q", got, err, c[1])
			}
			check(t, c[0], parts)
		})
	}
}

// check holds what parts must be, whatever the document.
func check(t *testing.T, document string, parts []Part) {
	t.Helper()
	end, most := 0, utf8.RuneCountInString(document)
	for _, p := range parts {
		n := utf8.RuneCountInString(p.Text)
		if (p.Silence > 0) == (n > 0) || len(p.Source) != n || strings.TrimSpace(p.Text) != p.Text {
			t.Errorf("a part of %d code points and %d places with %d frames of silence: %q", n, len(p.Source),
				p.Silence, p.Text)
		}
		for _, s := range p.Source {
			if s.Start < end || s.End < s.Start || s.End > most {
				t.Errorf("the places of %q are not in order: %v", p.Text, p.Source)
				break
			}
			end = s.End
		}
		at := 0
		for _, m := range p.Marks {
			if m.Start < at || m.End <= m.Start || m.End > n {
				t.Errorf("the marks of %q are not in order: %+v", p.Text, p.Marks)
			}
			at = m.End
		}
	}
}

func TestPlaces(t *testing.T) {
	document := `<speak>नम &amp; <![CDATA[क&ख]]> <sub alias="x">y z</sub>.</speak>`
	parts, err := Parse(document)
	if err != nil {
		t.Fatal(err)
	}
	letters := []rune(document)
	var got []string
	for _, s := range parts[0].Source {
		got = append(got, string(letters[s.Start:s.End]))
	}
	if want := []string{"न", "म", " ", "&amp;", " ", "क", "&", "ख", " ", "y", " ", "z", "."}; !slices.Equal(got, want) {
		t.Errorf("the text was written as %q, want %q", got, want)
	}
	if got := Chars(parts); got != 11 {
		t.Errorf("there are %d code points, want 11", got)
	}
	if got := Words(parts); got != "नम & क&ख y z.\n" {
		t.Errorf("the words are %q", got)
	}
}

func TestRefusals(t *testing.T) {
	deep := strings.Repeat(`<lang xml:lang="hi">`, MaxDepth) + "a" + strings.Repeat("</lang>", MaxDepth)
	for name, c := range map[string]struct {
		document string
		code     speech.Code
		want     string // is in the text
	}{
		"no document":         {"", speech.CodeBadText, "one <speak>"},
		"plain text":          {"Namaste", speech.CodeBadText, "outside of <speak>"},
		"another root":        {"<p>a</p>", speech.CodeBadText, "one <speak>"},
		"two roots":           {"<speak>a</speak><speak>b</speak>", speech.CodeBadText, "one <speak>"},
		"text behind it":      {"<speak>a</speak>b", speech.CodeBadText, "outside of <speak>"},
		"not closed":          {"<speak>a", speech.CodeBadText, "line 1"},
		"closed crosswise":    {"<speak><p>a</speak></p>", speech.CodeBadText, "line 1"},
		"an entity":           {"<speak>&nbsp;</speak>", speech.CodeBadText, "entity"},
		"a DTD":               {`<!DOCTYPE speak [<!ENTITY a "b">]><speak>&a;</speak>`, speech.CodeUnsupportedSSML, "DTD"},
		"an instruction":      {`<?php ?><speak>a</speak>`, speech.CodeUnsupportedSSML, "<?php?>"},
		"speak in speak":      {"<speak><speak>a</speak></speak>", speech.CodeUnsupportedSSML, "<speak>"},
		"too deep":            {"<speak>" + deep + "</speak>", speech.CodeUnsupportedSSML, "8 deep"},
		"too large":           {"<speak>" + strings.Repeat("a", MaxBytes) + "</speak>", speech.CodeTextTooLong, "65536"},
		"an element in sub":   {`<speak><sub alias="a"><p>b</p></sub></speak>`, speech.CodeUnsupportedSSML, "<p> must not be inside <sub>"},
		"text in break":       {`<speak><break>a</break></speak>`, speech.CodeUnsupportedSSML, "<break>"},
		"no alias":            {`<speak><sub>a</sub></speak>`, speech.CodeUnsupportedSSML, "<sub>"},
		"nothing to alias":    {`<speak><sub alias="a"/></speak>`, speech.CodeUnsupportedSSML, "<sub>"},
		"an unknown reading":  {`<speak><say-as interpret-as="poem">a</say-as></speak>`, speech.CodeUnsupportedSSML, `interpret-as="poem"`},
		"an unknown order":    {`<speak><say-as interpret-as="date" format="x">a</say-as></speak>`, speech.CodeUnsupportedSSML, `format="x"`},
		"an unknown strength": {`<speak><break strength="x"/></speak>`, speech.CodeUnsupportedSSML, `strength="x"`},
		"a long break":        {`<speak><break time="10001ms"/></speak>`, speech.CodeUnsupportedSSML, `time="10001ms"`},
		"a negative break":    {`<speak><break time="-1s"/></speak>`, speech.CodeUnsupportedSSML, `time="-1s"`},
		"a break of a minute": {`<speak><break time="1m"/></speak>`, speech.CodeUnsupportedSSML, `time="1m"`},
		"a break of no unit":  {`<speak><break time="1"/></speak>`, speech.CodeUnsupportedSSML, `time="1"`},
		"a pitch":             {`<speak><prosody rate="slow" pitch="high">a</prosody></speak>`, speech.CodeUnsupportedSSML, "<prosody pitch>"},
		"no rate":             {`<speak><prosody>a</prosody></speak>`, speech.CodeUnsupportedSSML, "<prosody rate"},
		"too slow":            {`<speak><prosody rate="49%">a</prosody></speak>`, speech.CodeUnsupportedSSML, `rate="49%"`},
		"too fast":            {`<speak><prosody rate="+101%">a</prosody></speak>`, speech.CodeUnsupportedSSML, `rate="+101%"`},
		"no number":           {`<speak><prosody rate="NaN">a</prosody></speak>`, speech.CodeUnsupportedSSML, `rate="NaN"`},
		"an attribute":        {`<speak><p class="x">a</p></speak>`, speech.CodeUnsupportedSSML, "<p class>"},
		"another encoding":    {`<?xml version="1.0" encoding="latin1"?><speak>a</speak>`, speech.CodeBadText, "encoding"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse(c.document)
			r, ok := errors.AsType[*speech.Refusal](err)
			if !ok || r.Code != c.code || !strings.Contains(r.Text, c.want) {
				t.Errorf("the error is %v, want %s with %q", err, c.code, c.want)
			}
		})
	}
	for _, element := range []string{"phoneme", "emphasis", "audio", "mark", "voice", "amazon:effect"} {
		_, err := Parse("<speak><" + element + ">a</" + element + "></speak>")
		_, local, _ := strings.Cut(":"+element, ":")
		if _, after, ok := strings.Cut(element, ":"); ok {
			local = after
		}
		if r, ok := errors.AsType[*speech.Refusal](err); !ok || r.Code != speech.CodeUnsupportedSSML ||
			!strings.Contains(r.Text, "<"+local+">") {
			t.Errorf("%s: the error is %v", element, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(`<speak>a <break time="1s"/> <sub alias="b">&amp;c</sub> <say-as interpret-as="digits">1</say-as></speak>`)
	f.Add(`<speak><p><s xml:lang="hi"><prosody rate="slow"><![CDATA[<a>]]></prosody></s></p></speak>`)
	f.Fuzz(func(t *testing.T, document string) {
		parts, err := Parse(document)
		if err == nil {
			check(t, document, parts)
			return
		}
		if _, ok := errors.AsType[*speech.Refusal](err); !ok {
			t.Errorf("the error is %T: %v", err, err)
		}
	})
}

func TestDocument(t *testing.T) {
	for text, want := range map[string]string{
		`a <break/> b`:                   `<speak>a <break/> b</speak>`,
		` <speak>a</speak>`:              `<speak>a</speak>`,
		`<?xml version="1.0"?> <speak/>`: `<?xml version="1.0"?> <speak/>`,
		`R&D, a &amp; b &#x92e; & c`:     `<speak>R&amp;D, a &amp; b &#x92e; &amp; c</speak>`,
		`&nbsp; &lt`:                     `<speak>&amp;nbsp; &amp;lt</speak>`,
		`2 < 3 <3 </s> <क> <`:            `<speak>2 &lt; 3 &lt;3 </s> <क> &lt;</speak>`,
		``:                               `<speak></speak>`,
	} {
		if got := Document(text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
