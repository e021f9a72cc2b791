package normalize

import (
	"strconv"
	"strings"
	"testing"
)

// TestReadUntilItStays: where a reading changes what stands beside a word, the word is read again, and its spans still say what of the
// written text it was. What another reading leaves alone keeps its own.
func TestReadUntilItStays(t *testing.T) {
	for _, test := range []struct {
		written, spoken string
		spans           string // source, kind, spoken, place in what is spoken
	}{
		{`₹5 ref\A ₹5`, "five rupees reference A five rupees", `₹5|amount|five rupees|0 ref|abbreviation|reference|12 \|markup||21 ₹5|amount|five rupees|24`},
		{"10Apr-I", "tenth April-one", "10Apr-I|number|tenth April-one|0"},
		{"account no\nA5", "account number A पाँच", "account no|abbreviation|account number|0 A5|code|A पाँच|15"},
		{"₹5 level xi0 ok", "five rupees level eleven zero ok", "₹5|amount|five rupees|0 level xi|number|level eleven|12 0|number|zero|25"},
		{"opp#.Aa", "opposite Aa", "opp|abbreviation|opposite|0 #|sign||8"},
		{"0: ')", "शून्य", "0: ')|emoji|शून्य|0"},
		{"य:#\f)", "य", "#|sign||1"}, // the colon goes, and nothing is said where the sign stood
		{"∬ 5", "पाँच", "∬|markup||0 5|number|पाँच|0"},
		{"ह॑ᤲ्", "ह्॑", "ह॑ᤲ्|sign|ह्॑|0"}, // a mark between two others falls out, and they change places
	} {
		t.Run(test.written, func(t *testing.T) {
			written := []rune(test.written)
			text, spans := Spans(test.written, Options{})
			if text != test.spoken || Text(test.written, Options{}) != text || Text(text, Options{}) != text {
				t.Errorf("is spoken as %q, and that as %q; want %q", text, Text(text, Options{}), test.spoken)
			}
			var got []string
			for _, s := range spans {
				if spoken := string([]rune(text)[s.OutStart:s.OutEnd]); spoken != s.Spoken {
					t.Errorf("%+v stands for %q", s, spoken)
				}
				got = append(got, strings.Join([]string{string(written[s.Start:s.End]), string(s.Kind), s.Spoken, strconv.Itoa(s.OutStart)}, "|"))
			}
			if all := strings.Join(got, " "); all != test.spans {
				t.Errorf("has the spans\n%s, want\n%s", all, test.spans)
			}
		})
	}
}
