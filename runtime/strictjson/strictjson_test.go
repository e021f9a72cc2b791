package strictjson

import (
	"errors"
	"maps"
	"math"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

func TestMembers(t *testing.T) {
	tests := map[string]struct {
		body string
		a, b string // the values found; "" for none
		err  string
	}{
		"fields in any order":         {`{"b":2,"a":"x"}`, `"x"`, "2", ""},
		"the last of a repeated one":  {`{"a":1,"a":[3]}`, "[3]", "", ""},
		"others are ignored":          {`{"A":1,"c":{"a":2},"b":null}`, "", "null", ""},
		"no member":                   {` {} `, "", "", ""},
		"UTF-8 is judged by others":   {"{\"a\":\"\xff\"}", "\"\xff\"", "", ""},
		"a byte order mark":           {"\ufeff{\"a\":1}", "1", "", ""},
		"two byte order marks":        {"\ufeff\ufeff{}", "", "", "invalid character '\\ufeff' at start of value at byte 0"},
		"a mark behind a space":       {" \ufeff{}", "", "", "invalid character '\\ufeff' at start of value at byte 1"},
		"an array":                    {`[1]`, "", "", "expected an object"},
		"nothing":                     {``, "", "", "unexpected end"},
		"cut off in a value":          {`{"a":"x`, "", "", "unexpected end"},
		"cut off behind a value":      {`{"a":1`, "", "", "unexpected end"},
		"a second object":             {`{"a":1}{}`, "1", "", "something follows the object"},
		"a mistake in another member": {`{"c":tru}`, "", "", "invalid character '}' in literal true (expecting 'e') at byte 8"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var values [2]jsontext.Value
			got := ""
			if err := Members([]byte(tt.body), []string{"a", "b"}, values[:]); err != nil {
				got = err.Error()
			}
			if got != tt.err || tt.err == "" && (string(values[0]) != tt.a || string(values[1]) != tt.b) {
				t.Errorf("got %q, %q, error %q; want %q, %q, %q", values[0], values[1], got, tt.a, tt.b, tt.err)
			}
		})
	}
}

func TestValues(t *testing.T) {
	var s string
	var f float64
	for value, want := range map[string]error{`"क"`: nil, `"\u0915"`: nil, `1`: ErrNotString, `null`: ErrNotString,
		"\"\xff\"": ErrNotUTF8, `"\ud800"`: ErrNotUTF8} {
		s = ""
		if err := String(jsontext.Value(value), &s); !errors.Is(err, want) || want == nil && s != "क" {
			t.Errorf("String(%q) gave %q, %v; want %v", value, s, err, want)
		}
	}
	if err := Number(jsontext.Value("1e999"), &f); err != nil || !math.IsInf(f, 1) {
		t.Errorf("Number(1e999) gave %v, %v; want infinity", f, err)
	}
	if err := Number(jsontext.Value(`"1"`), &f); !errors.Is(err, ErrNotNumber) {
		t.Errorf("Number of a string: %v, want %v", err, ErrNotNumber)
	}
}

func TestStrings(t *testing.T) {
	for name, tt := range map[string]struct {
		body string
		want map[string]string
		err  string
	}{
		"both":                         {`{"a":"x","b":"y"}`, map[string]string{"a": "x", "b": "y"}, ""},
		"one, and one that is null":    {`{"a":"x","b":null}`, map[string]string{"a": "x"}, ""},
		"an empty one":                 {`{"a":""}`, map[string]string{"a": ""}, ""},
		"none":                         {`{}`, map[string]string{}, ""},
		"others are ignored":           {`{"c":[1,{}],"A":"x"}`, map[string]string{}, ""},
		"the last of two":              {`{"a":1,"a":"x"}`, map[string]string{"a": "x"}, ""},
		"escapes":                      {`{"a":"\u0915\n"}`, map[string]string{"a": "क\n"}, ""},
		"a number":                     {`{"a":1}`, nil, "a: must be a string"},
		"half of a pair":               {`{"b":"\ud83d"}`, nil, "b: not valid UTF-8"},
		"bytes that are no text":       {"{\"b\":\"\xff\"}", nil, "b: not valid UTF-8"},
		"the same where it is ignored": {"{\"c\":\"\xff\"}", nil, "not valid UTF-8"},
		"no object":                    {`[]`, nil, "expected an object"},
		"more behind it":               {`{} {}`, nil, "something follows the object"},
	} {
		t.Run(name, func(t *testing.T) {
			text := ""
			got, err := Strings([]byte(tt.body), "a", "b")
			if err != nil {
				text = err.Error()
			}
			if !maps.Equal(got, tt.want) || text != tt.err {
				t.Errorf("got %q and %q, want %q and %q", got, text, tt.want, tt.err)
			}
		})
	}
}

func TestOtherMembers(t *testing.T) {
	var values [1]jsontext.Value
	var others []string
	body := `{"a":1,"b":[{"a":2}],"c":null,"a":3,"d e":"x"}`
	if err := MembersAnd([]byte(body), []string{"a"}, values[:],
		func(name string) { others = append(others, name) }); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(others, "|"); got != "b|d e" || string(values[0]) != "3" {
		t.Errorf("others are %q beside %s", got, values[0])
	}
}
