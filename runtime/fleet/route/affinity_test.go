package route_test

import (
	"strings"
	"testing"

	"github.com/swar-tts/swar/runtime/fleet/route"
)

func TestAffinity(t *testing.T) {
	long := func(n int, then string) string { return strings.Repeat("क", n) + then }
	for name, c := range map[string]struct {
		a, b string
		same bool
	}{
		"the same sentence":                         {"Namaste! Ravi.", "Namaste! Asha.", true},
		"another sentence":                          {"Namaste! Ravi.", "Suniye! Ravi.", false},
		"a number is not an end":                    {"Total 3.5 lakh.", "Total 3.6 lakh.", false},
		"a full stop before a quote is":             {"\"Haan.\" A", "\"Haan.\" B", true},
		"a full stop at the end is":                 {"Haan.", "Haan. Theek hai.", true},
		"a danda is":                                {"नमस्ते। राम", "नमस्ते। श्याम", true},
		"a danda within a word is not":              {"नमस्ते।राम", "नमस्ते।श्याम", false},
		"a double danda is":                         {"नमस्ते॥ राम", "नमस्ते॥ श्याम", true},
		"a new line is":                             {"Haan\n A", "Haan\n B", true},
		"159 code points of a sentence count":       {long(159, "a"), long(159, "b"), false},
		"160 of them do":                            {long(160, "a"), long(160, "b"), true},
		"161 of them do not":                        {long(161, "a"), long(161, "b"), true},
		"nothing":                                   {"", "", true},
		"nothing and something":                     {"", "a", false},
		"bytes that are no text":                    {"\xff\xfe", "\xff\xfd", false},
		"a byte that is not a text, past the limit": {long(160, "\xff"), long(160, "\xfe"), true},
	} {
		t.Run(name, func(t *testing.T) {
			a, b := route.Affinity("asha", c.a, false, false), route.Affinity("asha", c.b, false, false)
			if (a == b) != c.same {
				t.Errorf("%q and %q are the same: %v, want %v", c.a, c.b, a == b, c.same)
			}
		})
	}
	seen := map[uint64]bool{}
	for _, voice := range []string{"asha", "raj"} {
		for _, raw := range []bool{false, true} {
			for _, enDigits := range []bool{false, true} {
				seen[route.Affinity(voice, "Haan.", raw, enDigits)] = true
			}
		}
	}
	if len(seen) != 8 {
		t.Errorf("voice and reading give %d values, want 8", len(seen))
	}
}
