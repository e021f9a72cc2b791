package main

import (
	"strings"
	"testing"
)

func TestFrequentWordsWithoutRowsAreListed(t *testing.T) {
	text := `mera qwaddu kahan hai
{"text": "tumhara qwaddu mil gaya, aur zipnaar bhi"}
The qwaddu is not with us.
ghar mein 2 qwaddu hain
`
	var out strings.Builder
	if err := run([]string{"-least", "2"}, strings.NewReader(text), &out); err != nil {
		t.Fatal(err)
	}
	fields := strings.Fields(out.String())
	if len(fields) < 3 || fields[0] != "3" || fields[1] != "qwaddu" {
		t.Errorf("got %q, want 3 qwaddu first: a word of Hindi sentences that no table has", out.String())
	}
	for _, not := range []string{"zipnaar", "kahan", "ghar"} {
		for _, w := range fields[1:3] {
			if w == not {
				t.Errorf("%s is listed, which has a row or stands only once", not)
			}
		}
	}
	if lines := strings.Count(out.String(), "\n"); lines != 1 {
		t.Errorf("%d lines, want 1:\n%s", lines, out.String())
	}
}
