package emailaddr

import (
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
	{"composed", "jos\u00e9@example.org", "jos\u00e9@example.org"},
	{"decomposed", "jose\u0301@example.org", "jos\u00e9@example.org"},
	{"a capital, decomposed", "JOSE\u0301@example.org", "jos\u00e9@example.org"},
	{"a domain in ASCII", "asha@xn--mnchen-3ya.example", "asha@m\u00fcnchen.example"},
	{"the same in Unicode", "asha@MU\u0308NCHEN.example", "asha@m\u00fcnchen.example"},
	{"a domain in full width", "asha@\uff45xample\uff0eorg", "asha@example.org"},
	{"a domain in ASCII that is damaged", "asha@xn--a-\u00e4.example", ""},
	{"a domain with an underscore", "asha@my_host.example", "asha@my_host.example"},
	{"an address of IP", "asha@[127.0.0.1]", "asha@[127.0.0.1]"},
	{"a grave accent that is another character", "as\u1fefha@example.org", ""},
	{"a Greek question mark, which becomes a semicolon", "as\u037eha@example.org", ""},
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
	{"two dots", "as..ha@example.org", ""},
	{"a second line", "asha\u2028@example.org", ""},
	{"a character that cannot be seen", "asha\u200b@example.org", ""},
	{"one that turns the line", "asha\u202e@example.org", ""},
	{"the Kelvin sign, whose lower case is k", "as\u212aa@example.org", ""},
	{"a dotted I, whose lower case is i", "as\u0130a@example.org", ""},
}

func TestClean(t *testing.T) {
	for _, tt := range emails {
		got, err := Clean(tt.in)
		if got != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("%s: got %q (%v), want %q", tt.name, got, err, tt.want)
		}
	}
}

func FuzzClean(f *testing.F) {
	for _, tt := range emails {
		f.Add(tt.in)
	}
	f.Fuzz(func(t *testing.T, s string) {
		email, err := Clean(s)
		if err != nil {
			return
		}
		if again, err := Clean(email); err != nil || again != email {
			t.Errorf("%q gives %q, which gives %q (%v)", s, email, again, err)
		}
		if strings.ContainsAny(email, " \r\n<>\"") || strings.Count(email, "@") != 1 || len(email) > 254 {
			t.Errorf("%q gives %q", s, email)
		}
		local, _, _ := strings.Cut(email, "@") // domains have several spellings
		if typed, _, _ := strings.Cut(strings.TrimSpace(s), "@"); isPlain(local) && !isPlain(typed) {
			t.Errorf("%q became the address of somebody else, %q", s, email)
		}
	})
}

// isPlain reports whether all of s is ASCII.
func isPlain(s string) bool { return !strings.ContainsFunc(s, func(r rune) bool { return r >= 0x80 }) }
