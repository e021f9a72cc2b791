package normalize

import (
	"strings"
	"testing"

	"github.com/swar-tts/swar/runtime/speech"
)

// TestEnglishDigitsChangeIdentifiersOnly reads every row both ways. Where a span differs it must be the digits of an
// identifier, so what stands between such spans, and every quantity, is the same.
func TestEnglishDigitsChangeIdentifiersOnly(t *testing.T) {
	quantities := map[speech.SpanKind]bool{
		speech.SpanAmount: true, speech.SpanNumber: true, speech.SpanDate: true, speech.SpanTime: true,
		speech.SpanPercent: true, speech.SpanRange: true, speech.SpanDecimal: true, speech.SpanFraction: true,
		speech.SpanOrdinal: true, speech.SpanDuration: true, speech.SpanUnit: true, speech.SpanYear: true,
		speech.SpanRatio: true,
	}
	changed := 0
	for _, row := range rows(t) {
		hindi, inHindi := Spans(row.written, Options{})
		english, inEnglish := Spans(row.written, Options{EnDigits: true})
		if len(inHindi) != len(inEnglish) {
			t.Errorf("%s: %q has %d spans, with English digits %d", row.at, row.written, len(inHindi), len(inEnglish))
			continue
		}
		var a, b []speech.Span
		for n, s := range inHindi {
			e := inEnglish[n]
			if s.Start != e.Start || s.End != e.End || s.Kind != e.Kind {
				t.Errorf("%s: %q: span %+v is %+v with English digits", row.at, row.written, s, e)
			}
			if s.Spoken == e.Spoken {
				continue
			}
			changed++
			if quantities[s.Kind] {
				t.Errorf("%s: %q: the %s %q is %q with English digits", row.at, row.written, s.Kind, s.Spoken, e.Spoken)
			}
			a, b = append(a, s), append(b, e)
		}
		if got, want := without(english, b), without(hindi, a); got != want {
			t.Errorf("%s: %q: between the identifiers\n got %q\nwant %q", row.at, row.written, got, want)
		}
	}
	if changed == 0 {
		t.Error("no row has an identifier")
	}
}

// without puts a mark in place of what each of spans says, in order.
func without(spoken string, spans []speech.Span) string {
	var kept strings.Builder
	for _, s := range spans {
		before, after, _ := strings.Cut(spoken, s.Spoken)
		kept.WriteString(before + "…")
		spoken = after
	}
	return kept.String() + spoken
}
