package normalize

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/swar-tts/swar/runtime/speech"
)

// TestTheREADMEShowsWhatIsSpoken holds its table of what is written and spoken to the truth.
func TestTheREADMEShowsWhatIsSpoken(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(text), "\n| written | spoken |\n|---|---|\n")
	if !found {
		t.Fatal("the README has lost its table")
	}
	for row := range strings.Lines(table) {
		cells := strings.Split(row, "|")
		if len(cells) != 4 {
			break
		}
		written, want := strings.TrimSpace(cells[1]), strings.TrimSpace(cells[2])
		if got := Text(written, Options{}); got != want {
			t.Errorf("%s is spoken as %s, the README has %s", written, got, want)
		}
	}
}

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

// TestCarelessTypingIsReadAsTheDocsSay tries the table of docs/normaliser.md.
func TestCarelessTypingIsReadAsTheDocsSay(t *testing.T) {
	text, err := os.ReadFile("../../docs/normaliser.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n## Informal spelling\n")
	section, _, _ = strings.Cut(section, "\n## ")
	rows := 0
	for line := range strings.Lines(section) {
		cells := strings.Split(line, "|")
		if len(cells) != 4 || !strings.HasPrefix(cells[1], " `") {
			continue
		}
		rows++
		written, want := strings.Trim(cells[1], " `"), strings.TrimSpace(cells[2])
		if got := Text(written, Options{}); got != want {
			t.Errorf("%q is read %q, the docs say %q", written, got, want)
		}
	}
	if rows < 10 {
		t.Errorf("the docs have %d rows", rows)
	}
}
