package npy

import (
	"slices"
	"strings"
	"testing"
)

func file(header, body string) []byte {
	return []byte("\x93NUMPY\x01\x00" + string(rune(len(header))) + "\x00" + header + body)
}

func TestParse(t *testing.T) {
	a, err := Parse(file("{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), }",
		"\x00\x00\x80\x3f\x00\x00\x00\xc0"))
	if err != nil || !slices.Equal(a.Shape, []int{1, 2}) || !slices.Equal(a.Floats, []float32{1, -2}) {
		t.Errorf("Parse = %+v, %v; want [1, 2] with 1 and -2", a, err)
	}
	a, err = Parse(file("{'descr': '<i8', 'fortran_order': False, 'shape': (1,), }",
		"\xff\xff\xff\xff\xff\xff\xff\xff"))
	if err != nil || !slices.Equal(a.Ints, []int64{-1}) {
		t.Errorf("Parse = %+v, %v; want -1", a, err)
	}
}

func TestParseRefuses(t *testing.T) {
	tests := map[string]struct {
		data []byte
		want string
	}{
		"an empty file":      {nil, "not a version 1 file"},
		"a header cut short": {file(strings.Repeat(" ", 40), "")[:30], "truncated header"},
		"Fortran order":      {file("{'descr': '<f4', 'fortran_order': True, 'shape': (1,), }", "1234"), "C order"},
		"no shape":           {file("{'descr': '<f4', 'fortran_order': False, }", ""), "no shape"},
		"a negative size":    {file("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }", ""), "shape (-1,)"},
		"a byte too few":     {file("{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }", "123"), "3 bytes"},
		"doubles":            {file("{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }", "12345678"), "8 bytes"},
	}
	for name, tt := range tests {
		if _, err := Parse(tt.data); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want one with %q", name, err, tt.want)
		}
	}
}
