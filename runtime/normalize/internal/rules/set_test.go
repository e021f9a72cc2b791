package rules

import (
	"strings"
	"testing"

	"github.com/swar-tts/swar/runtime/normalize/internal/text"
)

func TestNewSetOrdersByNames(t *testing.T) {
	for _, test := range []struct {
		name  string
		rules []Rule
		want  string // names in order, or the beginning of the error behind an exclamation mark
	}{
		{"as they stand", []Rule{{Name: "a"}, {Name: "b"}}, "a b"},
		{"after another", []Rule{{Name: "a", After: []string{"b"}}, {Name: "b"}}, "b a"},
		{"by way of another", []Rule{{Name: "a", After: []string{"b"}}, {Name: "b", After: []string{"c"}}, {Name: "c"}}, "c b a"},
		{"last", []Rule{{Name: "a", Last: true}, {Name: "b"}}, "b a"},
		{"after a rule for other tokens", []Rule{{Name: "a", After: []string{"c"}}, {Name: "b"}, {Name: "c", Starts: On(text.Sign)}}, "a b"},
		{"a circle", []Rule{{Name: "a", After: []string{"b"}}, {Name: "b", After: []string{"a"}}}, "!rule \"a\" comes after itself"},
		{"after no rule", []Rule{{Name: "a", After: []string{"b"}}}, "!rule \"a\" comes after \"b\", which is no rule"},
	} {
		t.Run(test.name, func(t *testing.T) {
			for i := range test.rules {
				if test.rules[i].Starts == 0 {
					test.rules[i].Starts = On(text.Digits)
				}
			}
			s, err := NewSet(test.rules)
			var names []string
			for _, r := range s.For(text.Digits) {
				names = append(names, r.Name)
			}
			got := strings.Join(names, " ")
			if err != nil {
				got = "!" + err.Error()
			}
			if got != test.want && (err == nil || !strings.HasPrefix(got, test.want)) {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

// TestNamesAreUnique: what comes after a name must be one rule for each kind of token.
func TestNamesAreUnique(t *testing.T) {
	for k := range text.Kind(16) {
		seen := map[string]bool{}
		for _, r := range All.For(k) {
			if seen[r.Name] {
				t.Errorf("two rules for tokens of kind %d are %q", k, r.Name)
			}
			seen[r.Name] = true
		}
	}
}
