package translit

import (
	"strings"
	"testing"
)

// TestTrace: each part of what is written comes from the part of the text that it says, whatever became of that.
func TestTrace(t *testing.T) {
	for text, want := range map[string]string{ // of each part, its source
		"":                                  "",
		"नमस्ते 3.5":                        "नमस्ते 3.5",
		"Aapka order aa gaya. It has come.": "Aapka order aa gaya. It has come.",
		"Mera HDFC account btw band hai":    "Mera HDFC HDFC HDFC HDFC account btw btw btw band hai",
		"Aapka O T P: 4-8-2, theek? Haan!":  "Aapka O T P: 4-8-2, theek? Haan!",
		"ye 2 rs ka hai u r late":           "ye 2 rs ka hai u r late",
	} {
		out, trace := Traced(text, Options{KeepEnglish: true})
		if plain := Devanagari(text, Options{KeepEnglish: true}); out != plain {
			t.Errorf("%q: traced it is %q, else %q", text, out, plain)
		}
		var sources []string
		at := 0
		for part := range strings.FieldsSeq(out) {
			from := at + strings.Index(out[at:], part)
			at = from + len(part)
			sources = append(sources, partAt(text, trace.Source(from)))
			if last := partAt(text, trace.Source(at-1)); last != sources[len(sources)-1] {
				t.Errorf("%q begins in %q and ends in %q", part, sources[len(sources)-1], last)
			}
		}
		if got := strings.Join(sources, " "); got != want {
			t.Errorf("%q is %q, of %q; want %q", text, out, got, want)
		}
	}
}

// TestTraceGoesForward: sources are bytes of the text, in order.
func TestTraceGoesForward(t *testing.T) {
	for _, s := range examples(t) {
		out, trace := Traced(s.text, Options{KeepEnglish: true})
		before := 0
		for i := range len(out) {
			at := trace.Source(i)
			if at < before || at >= len(s.text) {
				t.Fatalf("%q: byte %d comes from %d, the one before from %d", s.text, i, at, before)
			}
			before = at
		}
	}
}

// partAt is what stands between two spaces around a byte of text.
func partAt(text string, at int) string {
	from := strings.LastIndex(text[:at], " ") + 1
	part, _, _ := strings.Cut(text[from:], " ")
	return part
}
