package normalize

import (
	"os"
	"strings"
	"testing"

	"github.com/swar-tts/swar/runtime/normalize/internal/rules"
	"github.com/swar-tts/swar/runtime/normalize/internal/text"
	"github.com/swar-tts/swar/runtime/normalize/internal/words"
	"github.com/swar-tts/swar/runtime/speech"
)

// TestRulesThatBothFitAreOrdered: which of two rules reads a text that both fit is decided by a name, not by the place
// of a row.
func TestRulesThatBothFitAreOrdered(t *testing.T) {
	pairs := map[[2]string]string{}
	texts(t, func(_ *testing.T, _, text string) {
		for _, p := range Explain(text, Options{}).Pieces {
			for _, also := range p.Also {
				pairs[[2]string{p.Rule, also}] = p.Text
			}
		}
	})
	if len(pairs) < 100 {
		t.Errorf("only %d pairs of rules fit the same text", len(pairs))
	}
	for pair, written := range pairs {
		ordered := false
		for k := text.Nothing; k <= text.SignWord; k++ {
			ordered = ordered || rules.All.Follows(k, pair[1], pair[0])
		}
		if !ordered {
			t.Errorf("%q fits %q, too, which %q reads: say which comes after which", pair[1], written, pair[0])
		}
	}
}

// TestRulesFitOnlyWhatTheySay: a rule that is asked only at some tokens would fit at no other.
func TestRulesFitOnlyWhatTheySay(t *testing.T) {
	asked := 0
	texts(t, func(t *testing.T, at, written string) {
		r := newReader(words.Hindi, written, Options{}, false)
		for i := 1; i < len(r.Toks)-1; i++ {
			if i >= r.Stop {
				r.sentence(i)
			}
			shape := rules.ShapeOf(&r.View, i)
			for _, rule := range rules.All.For(r.Toks[i].BeginsWith()) {
				if rule.Only&^shape == 0 {
					continue
				}
				asked++
				r.Reset()
				if _, ok := rule.Try(&r.Reader, i); ok {
					t.Errorf("%s: %q: %s fits at %q, which lacks some of %b", at, written, rule.Name, r.Str(i),
						rule.Only)
				}
			}
		}
	})
	if asked < 100_000 {
		t.Errorf("only %d times a rule was asked where it need not be", asked)
	}
}

// tyre reads the size of a tyre: 185/65 R15.
func tyre(r *rules.Reader, i int) (rules.Reading, bool) {
	radial := r.Reads(i+3, "R") && r.TightDigits(i+4) && r.LooseEnd(i+5)
	if !r.NumberBehind(i+1, '/') || !radial {
		return rules.Reading{}, false
	}
	r.Begin(i, speech.SpanCode)
	r.SayPlain(i, r.Lang)
	r.SayPlain(i+2, r.Lang)
	r.Letters("R", r.Lang)
	r.SayPlain(i+4, r.Lang)
	return r.End(i + 5)
}

// TestARuleIsAddedByAFunction does what docs/normaliser.md shows.
func TestARuleIsAddedByAFunction(t *testing.T) {
	all, err := rules.All.With(rules.Rule{Name: "tyre", Starts: rules.On(text.Digits), Try: tyre})
	if err != nil {
		t.Fatal(err)
	}
	for written, want := range map[string]string{
		"Tyre 185/65 R15 chahiye":  "Tyre एक सौ पचासी पैंसठ आर पंद्रह chahiye",
		"The tyre is 185/65 R15.":  "The tyre is one hundred eighty five sixty five R fifteen.",
		"Score 185/6 hai, 45 runs": Text("Score 185/6 hai, 45 runs", Options{}),
	} {
		r := newReader(words.Hindi, written, Options{}, false)
		r.rules = all
		r.run()
		if got := r.writer.Spoken(); got != want {
			t.Errorf("%q\n got %s\nwant %s", written, got, want)
		}
	}
	docs, err := os.ReadFile("../../docs/normaliser.md")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("rules_test.go")
	if err != nil {
		t.Fatal(err)
	}
	_, code, found := strings.Cut(string(docs), "```go\n")
	code, _, _ = strings.Cut(code, "```")
	if shown := strings.NewReplacer("*Reader", "*rules.Reader", "(Reading, bool)", "(rules.Reading, bool)", "Reading{}",
		"rules.Reading{}").Replace(code); !found || !strings.Contains(string(source), shown) {
		t.Errorf("docs/normaliser.md shows another rule than the one that is tried here:\n%s", code)
	}
}
