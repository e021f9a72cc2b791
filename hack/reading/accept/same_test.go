package accept

import "testing"

func TestSame(t *testing.T) {
	for _, c := range []struct {
		name, a, b string
		want       bool
	}{
		{"spellings of a number", "निन्यानवे दशमलव छः", "निन्यानबे दशमलव छह", true},
		{"two numbers", "निन्यानबे", "नवासी", false},
		{"a number in the other language", "पाँच जी", "फ़ाइव जी", false},
		{"signs that are not heard", "कोविड-उन्नीस", "कोविड उन्नीस।", true},
		{"the other script", "first मंज़िल", "फ़र्स्ट मंजिल", true},
		{"a letter and its name", "y बराबर x", "वाई बराबर एक्स", true},
		{"another letter", "y बराबर x", "वाई बराबर ए", false},
		{"a word more", "एक सौ", "एक सौ एक", false},
		{"another order", "बीस मार्च", "मार्च बीस", false},
		{"a digit that was left", "5 किलो", "पाँच किलो", false},
		{"nothing", "", "।", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Same(c.a, c.b); got != c.want {
				t.Errorf("Same(%q, %q) = %v", c.a, c.b, got)
			}
			if got := Same(c.b, c.a); got != c.want {
				t.Errorf("Same(%q, %q) = %v", c.b, c.a, got)
			}
		})
	}
}
