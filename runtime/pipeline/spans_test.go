package pipeline_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/swar-tts/swar/runtime/speech"
)

// placed fails unless every span and every chunk of n stands where it says, in order and without overlap.
func placed(t interface {
	Fatalf(format string, args ...any)
}, n speech.Normalized) {
	runes, end := []rune(n.Text), 0
	within := func(from, to int) bool { return end <= from && from <= to && to <= len(runes) }
	for _, s := range n.Spans {
		if !within(s.OutStart, s.OutEnd) || string(runes[s.OutStart:s.OutEnd]) != s.Spoken {
			t.Fatalf("span %+v, behind %d, is not at its place in %q", s, end, n.Text)
		}
		end = s.OutEnd
	}
	end = 0
	for _, c := range n.Chunks {
		if !within(c.CharStart, c.CharEnd) || string(runes[c.CharStart:c.CharEnd]) != c.Text {
			t.Fatalf("chunk %+v, behind %d, is not at its place in %q", c, end, n.Text)
		}
		end = c.CharEnd
	}
}

func TestSpansAndChunksStandWhereTheySay(t *testing.T) {
	pieces := []string{
		"₹499", "OTP 407", "15/08/2026", "चाय", "你", "好", "x", "(你)", "[好 5]", "ठीक", "*", "🎉", ",", ".", "?", "।", " ", "\n", "a你b",
		"@chai", "5 kg", "98765 43210", "12%", "\u200d", "क़", "e\u0301", "\"你\"", "SBI", "http://x.in/你", "A你B", "1你2", "Dr.", "…",
	}
	for name, dislikes := range map[string]string{
		"everything is spoken": "", "no Chinese": "你好", "nor some letters, marks and a comma": "你好ऐट\u0902,ocा",
	} {
		s := speaker(t, &picky{dislikes: dislikes})
		rapid.Check(t, func(t *rapid.T) {
			text := ""
			for _, p := range rapid.SliceOfN(rapid.SampledFrom(pieces), 1, 20).Draw(t, "pieces") {
				text += p
			}
			disclosure := rapid.SampledFrom([]string{"", "Yeh AI hai, ₹5."}).Draw(t, "disclosure")
			n, err := s.Normalize(t.Context(), speech.Utterance{Text: text, Disclosure: disclosure})
			if err != nil {
				t.Skip(name, err) // of the disclosure nothing is left
			}
			placed(t, n)
		})
	}
}

func TestSpansMoveWithWhatIsLeftOut(t *testing.T) {
	for name, tt := range map[string]struct {
		text, dislikes, disclosure string
		want                       []string
	}{
		"words left out in front, between and behind": {"你 ₹5 好 10 你", "你好", "", []string{"पाँच रुपये", "दस"}},
		"the same word stands before it":              {"पाँच 你 5", "你", "", []string{"पाँच"}},
		"the same word stands behind it":              {"5 你 पाँच", "你", "", []string{"पाँच"}},
		"brackets that stand alone then":              {"(你) 5 [你] 10", "你", "", []string{"पाँच", "", "", "दस"}},
		"a part of what is spoken":                    {"10%", "त", "", []string{"दस प्र श"}},
		"all of what is spoken":                       {"चाय 5 चाय", "पाँच", "", []string{""}},
		"behind a disclosure":                         {"你 5", "你", "Namaste.", []string{"पाँच"}},
	} {
		s := speaker(t, &picky{dislikes: tt.dislikes})
		n, err := s.Normalize(t.Context(), speech.Utterance{Text: tt.text, Disclosure: tt.disclosure})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		placed(t, n)
		var got []string
		for _, span := range n.Spans {
			got = append(got, span.Spoken)
		}
		if len(got) != len(tt.want) {
			t.Errorf("%s: spans %q, want %q in %q", name, got, tt.want, n.Text)
			continue
		}
		for i, want := range tt.want {
			if got[i] != want {
				t.Errorf("%s: span %d is %q, want %q, in %q", name, i, got[i], want, n.Text)
			}
		}
	}
	s := speaker(t, &picky{})
	n, err := s.Normalize(t.Context(), speech.Utterance{Text: "पाँच 5"})
	if err != nil || len(n.Spans) != 1 || n.Spans[0].OutStart != 5 || n.Spans[0].OutEnd != 9 {
		t.Errorf("spans %+v in %q, %v; want 5 to 9", n.Spans, n.Text, err)
	}
}
