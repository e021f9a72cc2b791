package normalize

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// options are all there are.
var options = []Options{{}, {EnDigits: true}}

// fragments are what generated texts are made of: words of both languages, numbers in every dress, signs and markup.
var fragments = strings.Fields(`
	आपका OTP 482913 है । hai aapka ₹ 1,25,000.50 Rs. 499/- rs 2.5 lakh crore करोड़ 10k 12 LPA $1,250.75 12,07,44,391 1st 22nd 5वीं 8.75 .5 1/2 2 1/2 12/3 18% % 2-3 दिन 10–15
	15/08/2026 15-Aug-26 2026-08-15 Aug 15th August अगस्त 08/29 1947 में in 2025-26 5:30 PM 17:45 9:30 बजे baje 2pm 00:15 2h 30m 24x7 +91 98765 43210 9876543210 1800-123-4567
	011-23456789 (022) 6789 1234 112 0471 12 34 56 SAVE50 XXXX1234 XX8812 ****4321 98******10 A/c ... 0042 card ending 9087 #58213 405-1234567-7654321 BD4471902 HDFC0001234
	ABCPE1234F 27AAPFU0939F1ZV DL01AB1234 MH 12 DE 1433 6E-2045 INV-2026-0042 110005 दिल्ली फ्लैट 302 H.No. 12/3 B-204 support@acme.co.in ramesh.k@okaxis https://x.y/z?a=1
	www.irctc.co.in @chai_adda KYC EMIs U.S.A. NASA OFF kg 5 60 km/h °C m² & @ # + / * = < > ~ ^ | _ A+B R&D Haan/Na **x** # title - item [t](url) ` + "`code`" + ` <b> </b> 🎉 👍🏽 Dr. Mr. No.
	डॉ. रु. World War II Class XII a e.g. etc. Hello customer your order is ready . ? ! , ; : - — … " ' ( ) [ ] [[ { } \ ½ ² ™ ₹५०० ०१२ ज़ zero 0 00 000 7 -7 (-5) 1. 2) A I x X O'Neil it's
	\u200b \u0958 é ß ` + "\u0915\u094d\u200d\u0937" + ` தமிழ் 你好 １２３ Ⅳ ① ㎏ № ٣ ৫ &amp; &lt; U+20B9 1990s 100000000000000000000 1,2,3 1.2.3 1:2 10x12 *121# नं. St. Ltd. v2.0 B2B COVID-19 i.e. 5G sq. ft.`)

// texts calls check with every text of the tables and with generated ones.
func texts(t *testing.T, check func(t *testing.T, at, text string)) {
	t.Helper()
	for _, row := range rows(t) {
		check(t, row.at, row.written)
		check(t, row.at+" (spoken)", row.want)
	}
	n := 20000
	if raceDetector || testing.Short() {
		n = 3000
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range n {
		check(t, "generated", generate(rng))
	}
}

// generate strings fragments together.
func generate(rng *rand.Rand) string {
	var b strings.Builder
	for range 1 + rng.IntN(12) {
		b.WriteString(fragments[rng.IntN(len(fragments))])
		switch rng.IntN(12) {
		case 0:
		case 1:
			b.WriteString("\n")
		case 2:
			b.WriteString("।")
		case 3:
			b.WriteString(". ")
		default:
			b.WriteString(" ")
		}
	}
	return b.String()
}

func TestNothingUnspokenIsLeft(t *testing.T) {
	texts(t, func(t *testing.T, at, text string) {
		for _, o := range options {
			if fault := leftover(Text(text, o)); fault != "" {
				t.Errorf("%s: %q %+v: %s in %q", at, text, o, fault, Text(text, o))
			}
		}
	})
}

// leftover names what a spoken text must not have, "" for nothing.
func leftover(spoken string) string {
	switch {
	case !utf8.ValidString(spoken):
		return "invalid UTF-8"
	case !norm.NFC.IsNormalString(spoken):
		return "text not in NFC"
	case strings.Contains(spoken, "  "):
		return "two spaces"
	case strings.TrimSpace(spoken) != spoken:
		return "space at an end"
	case strings.Contains(spoken, "[["):
		return "[["
	}
	for _, r := range spoken {
		switch {
		case unicode.IsNumber(r):
			return "a number: " + string(r)
		case unicode.Is(unicode.Sc, r):
			return "a currency sign: " + string(r)
		case strings.ContainsRune("%@#&*/+=_~^|<>[]{}\\`", r):
			return "a sign: " + string(r)
		case r != ' ' && unicode.IsSpace(r), unicode.IsControl(r), unicode.Is(unicode.Cf, r):
			return "a space or control character"
		}
	}
	return ""
}

// TestNormalisingTwiceChangesNothing in what people write. Of texts that are strung together from anything, one in 400
// may change (docs/decisions/0020-normal-form.md).
func TestNormalisingTwiceChangesNothing(t *testing.T) {
	generated, changed := 0, 0
	texts(t, func(t *testing.T, at, text string) {
		for _, o := range options {
			once := Text(text, o)
			for _, again := range options {
				generated++
				twice := Text(once, again)
				switch {
				case at != "generated":
					generated--
					if twice != once {
						t.Errorf("%s: %q\n once %s\ntwice %s", at, text, once, twice)
					}
				case twice != once:
					changed++
				}
			}
		}
	})
	if changed*400 > generated {
		t.Errorf("%d of %d generated texts change when they are normalised again", changed, generated)
	}
}

func TestSameTextGivesSameSpeech(t *testing.T) {
	texts(t, func(t *testing.T, at, text string) {
		for _, o := range options {
			want := Text(text, o)
			if got := Text("  "+text+"\n ", o); got != want {
				t.Errorf("%s: %q with space around it\n got %s\nwant %s", at, text, got, want)
			}
			if got, _ := Spans(text, o); got != want {
				t.Errorf("%s: %q Spans\n got %s\nwant %s", at, text, got, want)
			}
		}
	})
}

// TestCuttingAtSentenceEndsChangesNothing cuts messages, whose language goes along.
func TestCuttingAtSentenceEndsChangesNothing(t *testing.T) {
	cuts := 0
	texts(t, func(t *testing.T, at, text string) {
		message := MessageOf(text)
		for _, o := range options {
			want := Text(text, o)
			o = o.In(&message)
			if got := Text(text, o); got != want {
				t.Errorf("%s: %q with its own language\n got %s\nwant %s", at, text, got, want)
			}
			for _, cut := range sentenceEnds(text) {
				a, b := Text(text[:cut], o), Text(text[cut:], o)
				if !hasLetter(a) || !hasLetter(b) {
					continue // punctuation alone has no sentence to end
				}
				cuts++
				if got := a + " " + b; got != want {
					t.Errorf("%s: %q cut at byte %d\n got %s\nwant %s", at, text, cut, got, want)
				}
			}
		}
	})
	if cuts == 0 {
		t.Error("no text had two sentences")
	}
}

// sentenceEnds are the bytes behind each danda, full stop, question and exclamation mark that ends a sentence of a
// text. Line breaks are left out: they become punctuation, which a cut loses.
func sentenceEnds(text string) []int {
	var ends []int
	for _, e := range Ends(text) {
		rest := text[e.At:]
		space := rest[:len(rest)-len(strings.TrimLeftFunc(rest, unicode.IsSpace))]
		if strings.TrimSpace(rest) != "" && !strings.ContainsAny(space, "\n\r\v\f\u0085\u2028\u2029") {
			ends = append(ends, e.At)
		}
	}
	return ends
}

func hasLetter(s string) bool { return strings.ContainsFunc(s, unicode.IsLetter) }

func TestSpansPointIntoBothTexts(t *testing.T) {
	texts(t, func(t *testing.T, at, text string) {
		spoken, spans := Spans(text, Options{})
		length := utf8.RuneCountInString(strings.TrimFunc(text, unicode.IsSpace))
		end, rest := 0, spoken
		runes, outEnd := []rune(spoken), 0
		for _, s := range spans {
			if s.OutStart < outEnd || s.OutEnd < s.OutStart || s.OutEnd > len(runes) ||
				string(runes[s.OutStart:s.OutEnd]) != s.Spoken {
				t.Fatalf("%s: %q: span %+v, behind %d, is not at its place in %q", at, text, s, outEnd, spoken)
			}
			outEnd = s.OutEnd
			if s.Start < end || s.End <= s.Start || s.End > length || s.Kind == "" {
				t.Errorf("%s: %q has the span %+v behind %d, of %d code points", at, text, s, end, length)
			}
			end = s.End
			_, after, found := strings.Cut(rest, s.Spoken)
			if !found {
				t.Errorf("%s: %q: span %+v is not in order in %q", at, text, s, spoken)
			}
			rest = after
		}
	})
}

func TestSpans(t *testing.T) {
	for _, test := range []struct {
		name, written string
		options       Options
		want          []string // source, kind, spoken
	}{
		{"an amount and a code", " ₹500 का OTP 0471 ", Options{}, []string{
			"₹500", "amount", "पाँच सौ रुपये", "OTP", "acronym", "ओ टी पी", "0471", "code", "शून्य चार सात एक"}},
		{"english digits", "PIN 42", Options{EnDigits: true}, []string{"42", "code", "four two"}},
		{"a date and a phone number", "15/08/2026 को 98765 43210", Options{}, []string{
			"15/08/2026", "date", "पंद्रह अगस्त दो हज़ार छब्बीस", "98765 43210", "phone", "नौ आठ सात छह पाँच, चार तीन दो एक शून्य"}},
		{"offsets count code points of what was written", "क़\u200bलम 5", Options{}, []string{"5", "number", "पाँच"}},
		{"precomposed nukta letters", "\u0958\u0958\u0958 5", Options{}, []string{"5", "number", "पाँच"}},
		{"a character reference", "R&amp;D 5", Options{}, []string{"R", "acronym", "आर", "&amp;", "sign", "और", "D", "acronym", "डी", "5", "number", "पाँच"}},
		{"what is silent has a span too", "**ठीक** 🎉 है", Options{}, []string{
			"**", "markup", "", "**", "markup", "", "🎉", "emoji", ""}},
		{"markup inside of a quantity", "**250** g [x](y) `z`", Options{}, []string{
			"**", "markup", "", "250** g", "unit", "two hundred fifty grams", "[", "markup", "", "](y) `", "markup", "", "`", "markup", ""}},
		{"a formula", `$x < 5$`, Options{}, []string{"$", "markup", "", "< 5", "sign", "पाँच से कम", "$", "markup", ""}},
		{"markup behind marks that are composed", "\u0958 **5** <b>", Options{}, []string{"**", "markup", "", "5", "number", "पाँच", "** <b>", "markup", ""}},
		{"a formula's sign that becomes several characters", "∬ 5", Options{}, []string{"∬", "markup", "", "5", "number", "पाँच"}},
		{"marks that change places", "5 ह॑ᤲ् 6", Options{}, []string{"5", "number", "पाँच", "6", "number", "छह"}},
		{"nothing rewritten", "नमस्ते जी", Options{}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			runes := []rune(strings.TrimSpace(test.written))
			_, spans := Spans(test.written, test.options)
			var got []string
			for _, s := range spans {
				got = append(got, string(runes[s.Start:s.End]), string(s.Kind), s.Spoken)
			}
			if strings.Join(got, "|") != strings.Join(test.want, "|") {
				t.Errorf("Spans(%q)\n got %q\nwant %q", test.written, got, test.want)
			}
		})
	}
}

func TestNothingToSay(t *testing.T) {
	for _, written := range []string{"", " ", "\n\n", "🎉", "***", "---", "...", "()", "[]", "\u200b", "<br/>",
		"\"\"", "|", "।"} {
		for _, o := range options {
			if got := Text(written, o); hasLetter(got) || strings.TrimSpace(got) != got {
				t.Errorf("Text(%q) = %q, want nothing with letters", written, got)
			}
		}
	}
}

// TestHostileTextsStaySmall bounds what hostile texts may become; how long they take is for the benchmarks.
func TestHostileTextsStaySmall(t *testing.T) {
	for name, text := range hostile(4000) {
		for _, o := range options {
			spoken := Text(text, o)
			if fault := leftover(spoken); fault != "" {
				t.Errorf("%s: %s", name, fault)
			}
			if n := utf8.RuneCountInString(spoken); n > 40*4000 {
				t.Errorf("%s: %d code points spoken for 4000", name, n)
			}
			if twice := Text(spoken, o); twice != spoken {
				t.Errorf("%s: normalising twice changes it", name)
			}
		}
	}
}

func TestAllocations(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector allocates")
	}
	if got := testing.AllocsPerRun(100, func() { Text(message, Options{}) }); got > 5 {
		t.Errorf("%v allocations for a message, want at most 5, the result among them", got)
	}
	sms, _ := dense(t)
	over := 0
	for _, text := range sms {
		if got := testing.AllocsPerRun(2, func() { Text(text, Options{}) }); got > 6 {
			over++
		}
	}
	if over*100 > len(sms) {
		t.Errorf("%d of %d dense SMS need more than 6 allocations", over, len(sms))
	}
	short, more := 0, []string(nil) // formulas and markup need one or two more
	for _, row := range rows(t) {
		if utf8.RuneCountInString(row.written) > 150 {
			continue
		}
		short++
		if got := testing.AllocsPerRun(2, func() { Text(row.written, Options{}) }); got > 6 {
			more = append(more, fmt.Sprintf("%s: %v", row.at, got))
		}
	}
	if len(more)*40 > short {
		t.Errorf("%d of %d rows need more than 6 allocations: %s", len(more), short, more)
	}
}

func FuzzText(f *testing.F) {
	seeds := 0
	for _, row := range rows(f) {
		f.Add(row.written, row.options.EnDigits)
		seeds++
	}
	for _, text := range hostile(200) {
		f.Add(text, false)
		seeds++
	}
	if seeds < 500 {
		f.Fatalf("only %d seeds", seeds)
	}
	f.Fuzz(func(t *testing.T, text string, enDigits bool) {
		if !utf8.ValidString(text) || len(text) > 16000 {
			return // the API refuses both
		}
		o := Options{EnDigits: enDigits}
		once, spans := Spans(text, o)
		if fault := leftover(once); fault != "" {
			t.Errorf("%q: %s in %q", text, fault, once)
		}
		standsRight(t, text, Reading{Text: once, Spans: spans})
		o.Speaks = ours
		left := Read(text, o, true)
		if !ours(left.Text) {
			t.Errorf("%q: %q is left, which the engine cannot speak", text, left.Text)
		}
		standsRight(t, text, left)
	})
}
