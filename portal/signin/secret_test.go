package signin

import (
	"fmt"
	"strings"
	"testing"
)

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
	for _, bad := range []string{"", "ABCD-EFG", "ABCD-EFGHJ", "ABCD-EFG0", "ABCD-EFGO", "ABCD-EFGI",
		"ABCD_EFGH", "आबकड"} {
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
	for _, bad := range []string{"", "AAAA", strings.Repeat("A", 42) + "B", strings.Repeat("*", 43),
		strings.Repeat("A", 44)} {
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
