package speech

import (
	"strings"
	"testing"
)

func TestWhichDisclosureIsSpoken(t *testing.T) {
	none, off := Disclosure{}, Disclosure{Set: true}
	a, b := Disclosure{Set: true, Text: "a"}, Disclosure{Set: true, Text: "b"}
	tests := map[string]struct{ d, fallback, want Disclosure }{
		"what is set wins":                 {a, b, a},
		"what is set to nothing wins, too": {off, b, off},
		"what is not set leaves it open":   {none, b, b},
		"nobody sets anything":             {none, none, none},
	}
	for name, tt := range tests {
		if got := tt.d.Or(tt.fallback); got != tt.want {
			t.Errorf("%s: got %+v, want %+v", name, got, tt.want)
		}
	}
}

func TestCleanDisclosure(t *testing.T) {
	full := strings.Repeat("क", MaxDisclosure)
	tests := map[string]struct {
		text, want string
		err        error
	}{
		"a sentence":              {" Yeh AI ki awaaz hai. ", "Yeh AI ki awaaz hai.", nil},
		"nothing":                 {" \n ", "", nil},
		"a digit alone":           {"1", "1", nil},
		"a mark alone":            {"।", "", errDisclosureSilent},
		"one below the limit":     {full[len("क"):], full[len("क"):], nil},
		"the limit, after spaces": {" " + full + " ", full, nil},
		"one above the limit":     {full + "क", "", errDisclosureLength},
		"a line break":            {"a\nb", "", errDisclosureControls},
		"bytes that are no text":  {"a\xff", "", errDisclosureNotUTF8},
	}
	for name, tt := range tests {
		if got, err := CleanDisclosure(tt.text); got != tt.want || err != tt.err {
			t.Errorf("%s: got %q, %v, want %q, %v", name, got, err, tt.want, tt.err)
		}
	}
}
