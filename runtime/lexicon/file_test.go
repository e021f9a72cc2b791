package lexicon

import (
	"slices"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	const head, foot = `<?xml version="1.0" encoding="UTF-8"?><lexicon version="1.0" xmlns="http://www.w3.org/2005/01/pronunciation-lexicon" alphabet="ipa" xml:lang="hi-IN">`, `</lexicon>`
	for name, c := range map[string]struct {
		format, text string
		want         []Entry
		dropped      []Dropped
		err          string
	}{
		"an empty file":        {CSV, "", nil, nil, ""},
		"two columns":          {CSV, "Zepto,ज़ेप्टो\nSwar,स्वर\n", []Entry{{"Zepto", "ज़ेप्टो", ""}, {"Swar", "स्वर", ""}}, nil, ""},
		"a head and languages": {CSV, "\ufeffWord,Spoken,Lang\r\n\"A, B\", \"say \"\"it\"\"\", en\r\n", []Entry{{"A, B", `say "it"`, "en"}}, nil, ""},
		"one column":           {CSV, "a,b\nc", nil, nil, "line 2 has 1 columns; want word, spoken and maybe lang"},
		"four columns":         {CSV, "a,b,hi,x", nil, nil, "line 1 has 4 columns"},
		"an open quote":        {CSV, "\"a,b", nil, nil, "reading CSV"},
		"too many lines":       {CSV, strings.Repeat("a,b\n", MaxEntries+1), nil, nil, "line 1001: a lexicon has at most 1000 entries"},
		"aliases":              {PLS, head + `<lexeme><grapheme>W3C</grapheme><grapheme>w3</grapheme><alias>World Wide Web</alias></lexeme>` + foot, []Entry{{"W3C", "World Wide Web", "hi"}, {"w3", "World Wide Web", "hi"}}, nil, ""},
		"the first alias":      {PLS, head + `<meta name="a" content="b"/><lexeme xml:lang="en-US"><grapheme>a</grapheme><alias>b</alias><alias>c</alias><phoneme>x</phoneme></lexeme>` + foot, []Entry{{"a", "b", "en"}}, nil, ""},
		"phonemes": {
			PLS, head + "\n<lexeme><grapheme>a</grapheme><phoneme>x</phoneme></lexeme>\n<lexeme><alias>x</alias></lexeme><lexeme><grapheme>b</grapheme></lexeme>" + foot, nil,
			[]Dropped{{2, "a", "it has phonemes and no alias; write how it sounds in Devanagari or Latin letters"},
				{3, "", "it has no grapheme"}, {3, "b", "it has no alias"}}, "",
		},
		"another root":   {PLS, "<speak/>", nil, nil, "the root is <speak>, want <lexicon>"},
		"no root":        {PLS, "", nil, nil, "there is no <lexicon>"},
		"a DTD":          {PLS, `<!DOCTYPE lexicon [<!ENTITY a "b">]>` + foot, nil, nil, "a DTD cannot be used"},
		"an entity":      {PLS, head + "&a;" + foot, nil, nil, "entity"},
		"another format": {"json", "{}", nil, nil, "the format must be csv or pls"},
	} {
		t.Run(name, func(t *testing.T) {
			entries, dropped, err := Parse(c.format, c.text)
			if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Fatalf("the error is %v, want %q", err, c.err)
			}
			if !slices.Equal(entries, c.want) || !slices.Equal(dropped, c.dropped) {
				t.Errorf("read %q and dropped %v, want %q and %v", entries, dropped, c.want, c.dropped)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add(CSV, "word,spoken\na,b,hi\n")
	f.Add(PLS, `<lexicon xml:lang="hi"><lexeme><grapheme>a</grapheme><alias>b</alias></lexeme></lexicon>`)
	f.Fuzz(func(_ *testing.T, format, text string) {
		entries, _, err := Parse(format, text)
		if err == nil {
			if entries, err = Clean(entries); err == nil {
				Compile("lex_1", 1, entries).Find(text)
			}
		}
	})
}
