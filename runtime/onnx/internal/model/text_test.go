package model

import (
	"slices"
	"strings"
	"testing"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/swar-tts/swar/runtime/onnx/bundle"
	"github.com/swar-tts/swar/runtime/onnx/convert"
	"github.com/swar-tts/swar/runtime/onnx/internal/vectortest"
)

func TestPrepare(t *testing.T) {
	usual := bundle.Text{Capitalise: true, TerminalPunctuation: true}
	tests := map[string]struct {
		rules bundle.Text
		text  string
		want  string
		words int
	}{
		"a sentence stays":                     {usual, "Haan.", "Haan.", 1},
		"white space is one space":             {usual, "  kal \n subah\taana. ", "Kal subah aana.", 3},
		"a missing full stop is added":         {usual, "Kal aana", "Kal aana.", 2},
		"after a Devanagari vowel sign too":    {usual, "कल आना", "कल आना.", 2},
		"a danda ends a sentence":              {usual, "कल आना।", "कल आना।", 2},
		"a double danda too":                   {usual, "कल आना॥", "कल आना॥", 2},
		"a weak mark becomes a full stop":      {usual, "Kal aana,", "Kal aana.", 2},
		"also before what closes":              {usual, "(Kal aana —)", "(Kal aana.)", 3},
		"an end mark before what closes stays": {usual, "\"Kal aana!\"", "\"Kal aana!\"", 2},
		"a full stop goes behind what closes":  {usual, "\"Kal aana\"", "\"Kal aana\".", 2},
		"only closing marks stay":              {usual, "\")", "\")", 1},
		"nothing stays nothing":                {usual, " \n", "", 0},
		"no rules change nothing":              {bundle.Text{}, "kal; aana", "kal; aana", 2},
		"semicolons":                           {bundle.Text{RemoveSemicolons: true}, "kal; aana;", "kal, aana,", 2},
		"also with spaces around it":           {usual, "(Kal aana — )", "(Kal aana.)", 4},
		"weak marks without a word":            {usual, ", -", ".", 2},
		"each character is replaced once":      {replacing("a", "b", "b", "c"), "ab", "bc", 1},
		"the longest text at a place":          {replacing("a", "1", "abc", "3", "ab", "2"), "abcabda", "32d1", 1},
		"the first place before the longest":   {replacing("bcd", "3", "ab", "2"), "abcd", "2cd", 1},
		"a replacement that leaves nothing":    {bundle.Text{Replace: []bundle.Replace{{From: "*", To: " "}}}, "**", "", 0},
		"four words are padded":                {bundle.Text{PadShort: true}, "a b c d", "        a b c d", 4},
		"five are not":                         {bundle.Text{PadShort: true}, "a b c d e", "a b c d e", 5},
	}
	for name, tt := range tests {
		if got, words := NewPreparer(&tt.rules, "").Prepare(tt.text); got != tt.want || words != tt.words {
			t.Errorf("%s: %q, %d words; want %q, %d", name, got, words, tt.want, tt.words)
		}
	}
}

// replacing lists replacements, each a from and a to.
func replacing(pairs ...string) (rules bundle.Text) {
	for pair := range slices.Chunk(pairs, 2) {
		rules.Replace = append(rules.Replace, bundle.Replace{From: pair[0], To: pair[1]})
	}
	return rules
}

// TestTerminalPunctuation holds the cases that upstream tests its own rule with.
func TestTerminalPunctuation(t *testing.T) {
	p := NewPreparer(&bundle.Text{Capitalise: true, TerminalPunctuation: true}, "")
	for text, want := range map[string]string{
		"hello world":          "Hello world.",
		"it costs 42":          "It costs 42.",
		"hello world!":         "Hello world!",
		"wait for it...":       "Wait for it...",
		"hello world,":         "Hello world.",
		"hello world:":         "Hello world.",
		"hello world -":        "Hello world.",
		"hello world , --":     "Hello world.",
		`he said "go home"`:    `He said "go home".`,
		"she whispered 'run'":  "She whispered 'run'.",
		`he said "go home."`:   `He said "go home."`,
		`he said "go home,"`:   `He said "go home."`,
		"is it (really)?":      "Is it (really)?",
		"see the note (below)": "See the note (below).",
		"up by 50%":            "Up by 50%.",
		"\u201cgo home\u201d":  "\u201cgo home\u201d.",
		"(go home –\u201d )":   "(go home.\u201d )",
	} {
		if got, _ := p.Prepare(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
	hindi := NewPreparer(&bundle.Text{Capitalise: true}, "")
	if got, _ := hindi.Prepare("कल सुबह आना,"); got != "कल सुबह आना," {
		t.Errorf("where no mark is added Hindi became %q", got)
	}
}

func TestWeakMarksBehindReplacedCharacters(t *testing.T) {
	quotes := replacing(`"`, "", "’", "'")
	for name, tt := range map[string]struct {
		rules      bundle.Text
		text, want string
	}{
		"a comma behind a question":         {quotes, `"Hi?", she said`, "Hi? she said"},
		"with a space between":              {quotes, `"Hi!" , she said`, "Hi! she said"},
		"several":                           {quotes, `"Well…";: she said`, "Well… she said"},
		"behind a danda":                    {quotes, `"आओ।", बोली`, "आओ। बोली"},
		"behind a word it stays":            {quotes, `"Hi", she said`, "Hi, she said"},
		"a dash stays":                      {quotes, `"Hi?" – she said`, "Hi? – she said"},
		"nothing was replaced, so it stays": {quotes, "Hi?, she said", "Hi?, she said"},
		"no rules":                          {bundle.Text{}, `"Hi?", she said`, `"Hi?", she said`},
	} {
		if got, _ := NewPreparer(&tt.rules, "").Prepare(tt.text); got != tt.want {
			t.Errorf("%s: %q became %q, want %q", name, tt.text, got, tt.want)
		}
	}
}

func TestPrepareWritesTheScriptOfTheModel(t *testing.T) {
	const text = "Aapka order kal tak aayega, O T P batana! यह अच्छा है।"
	none := bundle.Text{Replace: replacing(",", " ", "!", " ", "।", " ").Replace}
	for name, tt := range map[string]struct {
		rules  bundle.Text
		script bundle.Script
		want   string
	}{
		"nothing is said":                {bundle.Text{}, "", text},
		"mixed":                          {bundle.Text{}, bundle.Mixed, text},
		"Devanagari":                     {bundle.Text{}, bundle.Devanagari, "आपका ऑर्डर कल तक आएगा, ओ टी पी बताना! यह अच्छा है।"},
		"Devanagari without punctuation": {none, bundle.Devanagari, "आपका ऑर्डर कल तक आएगा ओ टी पी बताना यह अच्छा है"},
		"Devanagari and Latin":           {bundle.Text{}, bundle.DevanagariLatin, "आपका order कल तक आएगा, ओ टी पी बताना! यह अच्छा है।"},
	} {
		if got, _ := NewPreparer(&tt.rules, tt.script).Prepare(text); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
	deva := NewPreparer(&bundle.Text{}, bundle.Devanagari)
	texts := []string{
		"Your order is ready, don't worry.", "café", "HDFC Bank", "e\u0301clair", "blockchain", "A", "b4", "B-204 HDFC0001234 x",
		"ＨＤＦＣ ｋｙａ", "𝐇𝐞𝐥𝐥𝐨 ℝ", "Ⓐ ㎏ №", "a@b.co.in www.irctc.co.in/x_y", "ß ł ŋ ʔ क", "Kozhikode ki Geetha ji",
	}
	for _, text := range texts {
		if got, _ := deva.Prepare(text); strings.ContainsFunc(norm.NFKD.String(got), isLatin) || got == "" {
			t.Errorf("%q became %q, want nothing Latin", text, got)
		}
	}
}

// FuzzPrepareInDevanagari: a model that knows only Devanagari gets no Latin letter, nor a sign that its tokenizer would
// make one of.
func FuzzPrepareInDevanagari(f *testing.F) {
	for _, text := range []string{"Aapka order", "İ ℡ ﬃ", "b4 𝒳", "क\u0301a", "ℂ™", "O'Brien’s ＡＢ", "xn--é"} {
		f.Add(text)
	}
	deva := NewPreparer(&bundle.Text{Capitalise: true, TerminalPunctuation: true, PadShort: true}, bundle.Devanagari)
	f.Fuzz(func(t *testing.T, text string) {
		if got, _ := deva.Prepare(text); strings.ContainsFunc(norm.NFKD.String(got), isLatin) {
			t.Errorf("%q became %q", text, got)
		}
	})
}

func isLatin(r rune) bool { return unicode.Is(unicode.Latin, r) }

func TestPrepareEqualsTheReference(t *testing.T) {
	for _, name := range []string{"01-v2-tanh", "02-v1-erf", "03-noise-and-steps", "05-eos", "07-bf16"} {
		v := vectortest.Load(t, name)
		rules := convert.DefaultText(v.Checkpoint.Config)
		p := NewPreparer(&rules, "")
		for _, r := range v.Runs {
			if got, _ := p.Prepare(r.Text); got != r.Prepared {
				t.Errorf("%s %s: %q, want %q", name, r.Name, got, r.Prepared)
			}
		}
	}
}
