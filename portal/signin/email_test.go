package signin

import (
	"fmt"
	"strings"
	"testing"
)

var emails = []struct {
	name, in, want string // an empty want: refused
}{
	{"plain", "asha@example.org", "asha@example.org"},
	{"capitals and space around", " \tAsha.K+tts@Example.ORG\n", "asha.k+tts@example.org"},
	{"all that may stand in it", "a!#$%&'*+/=?^_`{|}~-b@example.org", "a!#$%&'*+/=?^_`{|}~-b@example.org"},
	{"another script", "आशा@उदाहरण.भारत", "आशा@उदाहरण.भारत"},
	{"254 bytes", strings.Repeat("a", 242) + "@example.org", strings.Repeat("a", 242) + "@example.org"},
	{"255 bytes", strings.Repeat("a", 243) + "@example.org", ""},
	{"nothing", "", ""},
	{"no @", "asha.example.org", ""},
	{"two @", "asha@ravi@example.org", ""},
	{"no name", "@example.org", ""},
	{"no domain", "asha@", ""},
	{"a name before", "Asha <asha@example.org>", ""},
	{"brackets", "<asha@example.org>", ""},
	{"quotes", `"as ha"@example.org`, ""},
	{"a comment", "asha@example.org(home)", ""},
	{"a list", "asha@example.org,ravi@example.org", ""},
	{"space inside", "as ha@example.org", ""},
	{"a line of a header", "asha@example.org\r\nBcc: all@example.org", ""},
	{"NUL", "asha\x00@example.org", ""},
	{"not UTF-8", "asha\xff@example.org", ""},
	{"a character that cannot be seen", "asha\u200b@example.org", ""},
	{"one that turns the line", "asha\u202e@example.org", ""},
	{"the Kelvin sign, whose lower case is k", "as\u212aa@example.org", ""},
	{"a dotted I, whose lower case is i", "as\u0130a@example.org", ""},
}

func TestCleanEmail(t *testing.T) {
	for _, tt := range emails {
		got, err := cleanEmail(tt.in)
		if got != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("%s: got %q (%v), want %q", tt.name, got, err, tt.want)
		}
	}
}

func FuzzCleanEmail(f *testing.F) {
	for _, tt := range emails {
		f.Add(tt.in)
	}
	f.Fuzz(func(t *testing.T, s string) {
		email, err := cleanEmail(s)
		if err != nil {
			return
		}
		if again, err := cleanEmail(email); err != nil || again != email {
			t.Errorf("%q gives %q, which gives %q (%v)", s, email, again, err)
		}
		if strings.ContainsAny(email, " \r\n<>\"") || strings.Count(email, "@") != 1 || len(email) > 254 {
			t.Errorf("%q gives %q", s, email)
		}
		if isPlain(email) && !isPlain(strings.TrimSpace(s)) {
			t.Errorf("%q became the address of somebody else, %q", s, email)
		}
	})
}

// isPlain reports whether all of s is ASCII.
func isPlain(s string) bool { return !strings.ContainsFunc(s, func(r rune) bool { return r >= 0x80 }) }

func TestCodes(t *testing.T) {
	if len(codeLetters) != 32 || strings.ContainsAny(codeLetters, "01IO") {
		t.Errorf("letters %q", codeLetters)
	}
	seen := map[rune]int{}
	codes := map[string]bool{}
	for range 2000 {
		code := newCode()
		codes[code] = true
		for _, r := range code {
			seen[r]++
		}
		if got := cleanCode(strings.ToLower(showCode(code))); got != code {
			t.Errorf("%q is read as %q", showCode(code), got)
		}
	}
	if len(seen) != 32 || len(codes) != 2000 {
		t.Errorf("%d letters in %d codes", len(seen), len(codes))
	}
	for _, bad := range []string{"", "ABCD-EFG", "ABCD-EFGHJ", "ABCD-EFG0", "ABCD-EFGO", "ABCD-EFGI", "ABCD_EFGH", "आबकड"} {
		if got := cleanCode(bad); got != "" {
			t.Errorf("%q is read as %q", bad, got)
		}
	}
}

func TestSecretsAreNotPrinted(t *testing.T) {
	s := newSecret()
	if printed := fmt.Sprint(s, &s, []secret{s}); strings.ContainsAny(printed, "0123456789") {
		t.Errorf("printed %q", printed)
	}
	var back hash
	if err := back.UnmarshalText([]byte(s.hash().text(t))); err != nil || back != s.hash() {
		t.Errorf("a hash does not come back: %v", err)
	}
	for _, bad := range []string{"", "AAAA", strings.Repeat("A", 42) + "B", strings.Repeat("*", 43), strings.Repeat("A", 44)} {
		if err := back.UnmarshalText([]byte(bad)); err == nil {
			t.Errorf("%q is taken for a hash", bad)
		}
	}
}

func (h hash) text(t *testing.T) string {
	text, err := h.MarshalText()
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
