package normalize

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/swar-tts/swar/runtime/speech"
)

// TestDocsListTheKindsOfSpans: every kind that the rows of the tables have is documented, no other one is, and the
// examples are right.
func TestDocsListTheKindsOfSpans(t *testing.T) {
	sent := map[speech.SpanKind]bool{}
	for _, row := range rows(t) {
		_, spans := Spans(row.written, Options{})
		for _, s := range spans {
			sent[s.Kind] = true
		}
	}
	text, err := os.ReadFile("../../docs/normaliser.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n## Spans\n")
	section, _, _ = strings.Cut(section, "\n## ")
	shown := map[speech.SpanKind]bool{}
	for line := range strings.Lines(section) {
		cells := strings.Split(line, "|")
		if len(cells) != 5 || !strings.HasPrefix(cells[1], " `") {
			continue
		}
		kind := speech.SpanKind(strings.Trim(cells[1], " `"))
		shown[kind] = true
		_, spans := Spans(strings.Trim(cells[3], " `"), Options{})
		if !slices.ContainsFunc(spans, func(s speech.Span) bool { return s.Kind == kind }) {
			t.Errorf("the example of %s has the spans %+v", kind, spans)
		}
	}
	if !maps.Equal(sent, shown) {
		t.Errorf("the rows have %q,\nthe docs show %q", slices.Sorted(maps.Keys(sent)), slices.Sorted(maps.Keys(shown)))
	}
}
