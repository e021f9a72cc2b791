package normalize

import (
	"strings"
	"testing"

	"github.com/swar-tts/swar/runtime/lexicon"
	"github.com/swar-tts/swar/runtime/speech"
)

// brands is a lexicon for tests.
func brands(t testing.TB) *lexicon.Lexicon {
	t.Helper()
	entries, err := lexicon.Clean([]lexicon.Entry{
		{Word: "Zepto", Spoken: "ज़ेप्टो"}, {Word: "Zepto Now", Spoken: "ज़ेप्टो नाउ"}, {Word: "OnePlus", Spoken: "वन प्लस"},
		{Word: "IRCTC", Spoken: "आई आर सी टी सी"}, {Word: "kya", Spoken: "क्या"}, {Word: "Flat42", Spoken: "flat 42", Lang: "en"},
		{Word: "Level 5", Spoken: "level 5", Lang: "hi"}, {Word: "Zepto?", Spoken: "ज़ेप्टो सवाल"}, {Word: "क़लम", Spoken: "पेन"},
		{Word: "OTPX", Spoken: "OTP"}, {Word: "X1", Spoken: "एक्स 1. नया."}, {Word: "₹x", Spoken: "₹500"}, {Word: "Dr", Spoken: "Zepto"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return lexicon.Compile("lex_1", 1, entries)
}

// TestLexicon: pieces in brackets are spans of kind lexicon, in what is written and in what is spoken.
func TestLexicon(t *testing.T) {
	l := brands(t)
	for written, want := range map[string]string{
		"[Zepto] se order kiya":            "[ज़ेप्टो] se order kiya",
		"[ZEPTO now], [zepto]":             "[ज़ेप्टो नाउ], [ज़ेप्टो]",
		"Zeptos aur meZepto":               "Zeptos aur meZepto",
		"[OnePlus] 12 ka price":            "[वन प्लस] बारह ka price",
		"[IRCTC] par ticket":               "[आई आर सी टी सी] par ticket",
		"The [Flat42] is ready":            "The [flat forty two] is ready",
		"हमारा [Flat42] तैयार है":          "हमारा [flat forty two] तैयार है",
		"You are on [Level 5] now":         "You are on [level पाँच] now",
		"[\u0958लम] चलाओ":                  "[पेन] चलाओ",
		"\u0958 [\u0958लम] चलाओ":           "\u0915\u093c [पेन] चलाओ",
		"aapka [OTPX] 407 hai":             "aapka [ओ टी पी] चार शून्य सात hai",
		"[Dr] Rao":                         "[Zepto] Rao",
		"at [Zepto]) now":                  "at [ज़ेप्टो]) now",
		"[Zepto?] Haan":                    "[ज़ेप्टो सवाल] Haan",
		"  [Zepto]  ":                      "[ज़ेप्टो]",
		"naya [X1] aa gaya":                "naya [एक्स एक. नया.] aa gaya",
		"The price on [Zepto] is ₹500 now": "The price on [ज़ेप्टो] is five hundred rupees now",
		"[Zepto] 42":                       "[ज़ेप्टो] बयालीस",
	} {
		plain := strings.NewReplacer("[", "", "]", "").Replace
		text, spans := Spans(plain(written), Options{Lexicon: l})
		if again := Text(plain(written), Options{Lexicon: l}); again != text {
			t.Errorf("%q is read %q, and with spans %q", written, again, text)
		}
		in, out := []rune(strings.TrimSpace(plain(written))), []rune(text)
		for _, s := range spans {
			if s.Start < 0 || s.End > len(in) || s.Start > s.End || s.OutEnd > len(out) ||
				string(out[s.OutStart:s.OutEnd]) != s.Spoken {
				t.Errorf("%q: the span %+v does not fit %q", written, s, text)
			}
		}
		if got := bracketed(out, spans, func(s speech.Span) (int, int) { return s.OutStart, s.OutEnd }); got != want {
			t.Errorf("%q is read %q, want %q", written, got, want)
		}
		if got := bracketed(in, spans, func(s speech.Span) (int, int) {
			return s.Start,
				s.End
		}); got != strings.TrimSpace(written) {
			t.Errorf("the spans of %q stand at %q", written, got)
		}
	}
}

// bracketed puts the pieces of the lexicon in brackets.
func bracketed(text []rune, spans []speech.Span, at func(speech.Span) (int, int)) string {
	var b strings.Builder
	from := 0
	for _, s := range spans {
		if start, end := at(s); s.Kind == speech.SpanLexicon {
			b.WriteString(string(text[from:start]) + "[" + string(text[start:end]) + "]")
			from = end
		}
	}
	return b.String() + string(text[from:])
}

// TestALexiconLeavesTheRestAlone: what has none of its words is read as without it, and what has some to the end.
func TestALexiconLeavesTheRestAlone(t *testing.T) {
	l := brands(t)
	for i, row := range rows(t) {
		if i%5 > 0 { // which takes seconds off
			continue
		}
		if l.In(row.written) == nil {
			if got, want := Text(row.written, Options{Lexicon: l, EnDigits: row.options.EnDigits}),
				Text(row.written, row.options); got != want {
				t.Errorf("%s: %q is read %q with a lexicon of other words, want %q", row.at, row.written, got, want)
			}
		}
		with := "Zepto " + row.written + " OnePlus"
		o := row.options
		o.Lexicon = l
		if fault := leftover(Text(with, o)); fault != "" {
			t.Errorf("%s: %s in what is read of %q", row.at, fault, with)
		}
		_, spans := Spans(with, o)
		end := 0
		for _, s := range spans {
			if s.Start < end || s.End < s.Start {
				t.Errorf("%s: the spans of %q overlap: %+v", row.at, with, spans)
				break
			}
			end = s.End
		}
	}
}

func TestMarks(t *testing.T) {
	for name, c := range map[string]struct {
		text  string
		piece string
		mark  speech.Mark
		want  string
		kind  speech.SpanKind
	}{
		"digits":                     {"Your code is 482913 now", "482913", speech.Mark{As: speech.ReadDigits}, "Your code is चार आठ दो नौ एक तीन now", speech.SpanCode},
		"digits of a price":          {"यह 500 है", "500", speech.Mark{As: speech.ReadDigits}, "यह पाँच शून्य शून्य है", speech.SpanCode},
		"cardinal of a code":         {"OTP 407 hai", "407", speech.Mark{As: speech.ReadCardinal}, "ओ टी पी चार सौ सात hai", speech.SpanNumber},
		"cardinal of a long number":  {"I counted 1234567 of them", "1234567", speech.Mark{As: speech.ReadCardinal}, "I counted twelve lakh thirty four thousand five hundred sixty seven of them", speech.SpanNumber},
		"characters of a word":       {"I said NASA to you", "NASA", speech.Mark{As: speech.ReadCharacters}, "I said N A S A to you", speech.SpanAcronym},
		"characters of Devanagari":   {"यह नमन है", "नमन", speech.Mark{As: speech.ReadCharacters}, "यह न म न है", speech.SpanAcronym},
		"characters and digits":      {"मेरा AB-12 है", "AB-12", speech.Mark{As: speech.ReadCharacters}, "मेरा ए बी एक दो है", speech.SpanAcronym},
		"ordinal":                    {"the 3 time you call", "3", speech.Mark{As: speech.ReadOrdinal}, "the third time you call", speech.SpanOrdinal},
		"ordinal in Hindi":           {"यह 4 बार है", "4", speech.Mark{As: speech.ReadOrdinal}, "यह चौथा बार है", speech.SpanOrdinal},
		"larger ordinal in Hindi":    {"यह 25 बार है", "25", speech.Mark{As: speech.ReadOrdinal}, "यह पच्चीसवाँ बार है", speech.SpanOrdinal},
		"telephone":                  {"Please call 22334455 now", "22334455", speech.Mark{As: speech.ReadPhone}, "Please call दो दो तीन तीन, चार चार पाँच पाँच now", speech.SpanPhone},
		"telephone with its country": {"You should call +91 98765 43210 now", "+91 98765 43210", speech.Mark{As: speech.ReadPhone}, "You should call प्लस नौ एक, नौ आठ सात छह पाँच, चार तीन दो एक शून्य now", speech.SpanPhone},
		"date":                       {"It was on 1.2.2026 here", "1.2.2026", speech.Mark{As: speech.ReadDate}, "It was on first February twenty twenty six here", speech.SpanDate},
		"month first":                {"It was on 1/2/2026 here", "1/2/2026", speech.Mark{As: speech.ReadMonthFirst}, "It was on second January twenty twenty six here", speech.SpanDate},
		"year first":                 {"यह 2026/08/15 को है", "2026/08/15", speech.Mark{As: speech.ReadDate}, "यह पंद्रह अगस्त दो हज़ार छब्बीस को है", speech.SpanDate},
		"day and month":              {"It was on 5-6 here", "5-6", speech.Mark{As: speech.ReadDate}, "It was on fifth June here", speech.SpanDate},
		"a date in words":            {"It was on Aug 5 here", "Aug 5", speech.Mark{As: speech.ReadDate}, "It was on fifth August here", speech.SpanDate},
		"no date":                    {"It was on 45/46 here", "45/46", speech.Mark{As: speech.ReadDate}, "It was on forty five by forty six here", ""},
		"time":                       {"यह 17:45 पर है", "17:45", speech.Mark{As: speech.ReadTime}, "यह शाम पौने छह बजे पर है", speech.SpanTime},
		"currency":                   {"It costs Rs 42.50 only", "Rs 42.50", speech.Mark{As: speech.ReadCurrency}, "It costs forty two rupees fifty paise only", speech.SpanAmount},
		"a language":                 {"हमारा 42 नंबर है", "42", speech.Mark{Lang: "en"}, "हमारा forty two नंबर है", ""},
		"the other language":         {"Take the 42 of them", "42", speech.Mark{Lang: "hi"}, "Take the बयालीस of them", ""},
		"an alias":                   {"The W3C said so", "W3C", speech.Mark{Spoken: "World Wide Web"}, "The World Wide Web said so", speech.SpanAlias},
		"an alias in a word":         {"The W3Cs said so", "W3C", speech.Mark{Spoken: "Consortium"}, "The Consortiums said so", ""},
		"an alias before the word":   {"Zepto said so", "Zepto", speech.Mark{Spoken: "Consortium"}, "Consortium said so", speech.SpanAlias},
		"a word in a language":       {"Zepto 12 hai", "Zepto 12", speech.Mark{Lang: "en"}, "ज़ेप्टो twelve hai", speech.SpanLexicon},
		"an unknown reading":         {"the 42 of them", "42", speech.Mark{As: "else"}, "the forty two of them", ""},
		"a decomposed text":          {"\u0958\u0958 42 है", "42", speech.Mark{Lang: "en"}, "\u0915\u093c\u0915\u093c forty two है", ""},
	} {
		t.Run(name, func(t *testing.T) {
			m := c.mark
			before, _, _ := strings.Cut(c.text, c.piece)
			m.Start = len([]rune(before))
			m.End = m.Start + len([]rune(c.piece))
			text, spans := Spans(c.text, Options{Marks: []speech.Mark{m}, Lexicon: brands(t)})
			if text != c.want {
				t.Errorf("read %q, want %q", text, c.want)
			}
			if c.kind == "" {
				return
			}
			for _, s := range spans {
				if s.Kind == c.kind && m.Start <= s.Start && s.End <= m.End {
					return
				}
			}
			t.Errorf("the spans are %+v, want one of kind %s at %d", spans, c.kind, m.Start)
		})
	}
}

func TestNoLexiconCostsNothing(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector allocates, too")
	}
	plain := testing.AllocsPerRun(50, func() { Text(message, Options{}) })
	if got := testing.AllocsPerRun(50, func() { Text(message, Options{Lexicon: brandsOf(t)}) }); got > plain+1 {
		t.Errorf("a text without a word of the lexicon takes %v allocations, and %v without a lexicon", got, plain)
	}
}

var compiledBrands *lexicon.Lexicon

func brandsOf(t testing.TB) *lexicon.Lexicon {
	if compiledBrands == nil {
		compiledBrands = brands(t)
	}
	return compiledBrands
}
