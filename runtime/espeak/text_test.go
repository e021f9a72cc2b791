package espeak

import (
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestPrepare(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"Roman Hindi is written in Devanagari", "aap kaise hain?", "आप कैसे हैं?"},
		{"English stays Latin", "Your order is ready.", "Your order is ready."},
		{"in English an accent goes", "The café of Ünal is here.", "The cafe of Unal is here."},
		{"and so do other letters", "The Straße to Łódź is here.", "The Strasse to Lodz is here."},
		{"in Hindi too", "Gītā kaisī hai?", "गीता कैसी है?"},
		{"letters and their signs are put together first", "ko\u0302 बढ\u093cना", "को बढ़्ना"},
	} {
		if got := prepare(tt.text).text; got != tt.want {
			t.Errorf("%s: prepare(%q) = %q, want %q", tt.name, tt.text, got, tt.want)
		}
	}
}

func TestWrite(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"plain Hindi stays", "आप कैसे हैं?", "आप कैसे हैं?"},
		{"English stays Latin", "Your order is ready.", "Your order is ready."},
		{"what the program gets wrong is respelled", "बचपन से मुंबई", "बच्पन से मुम्बई"},
		{"each half of a compound is respelled", "बचपन-जानवर", "बच्पन-जान्वर"},
		{"phoneme brackets are disarmed", "कल [[h@l'oU]] मिलो", "कल - h l'oU - मिलो"},
		{"control characters that set pitch and speed go", "कल \x01300S\x0199P मिलो", "कल 300S 99P मिलो"},
		{"markup is not read", "<b>कल</b> & मिलो > अब", "b कल b मिलो अब"},
		{"signs are not read", "कल @ # $ % ^ * + = ~ | \\ / मिलो", "कल मिलो"},
		{"emoji are not read", "कल 😀👍🏽 मिलो™", "कल मिलो"},
		{"a dash between words is a short pause", "राम - श्याम", "राम - श्याम"},
		{"so are brackets and quotes", "राम (श्याम) “गीता”", "राम - श्याम - गीता"},
		{"of several marks the longest pause stays", "राम -,,, … श्याम?!", "राम… श्याम?"},
		{"a text does not begin with a pause", "— \"नमस्ते\"", "नमस्ते"},
		{"nor end with a short one", "नमस्ते - )", "नमस्ते"},
		{"an apostrophe inside an English word stays", "don’t", "don't"},
		{"but not quotes around one", "'hello'", "hello"},
		{"a hyphen inside a word stays", "गुड-मॉर्निंग", "गुड-मॉर्निंग"},
		{"a number keeps its point, its commas and its colon", "3.5 1,000 10:30", "3.5 1,000 10:30"},
		{"but not a minus", "-5", "5"},
		{"scripts are separate words", "कलok", "कल ok"},
		{"a digit may have an ending", "10वीं", "10वीं"},
		{"joiners for the eye go", "कि\u200dता\u200cब", "किताब"},
		{"a sign without a letter goes", "ा कल ् ँ", "कल"},
		{"so do stress marks and the avagraha", "ग॒ सोऽहम्", "ग सोहम्"},
		{"but not signs that stand in a wrong place", "म़न का् क्् अ् कु़छ", "मन का क् अ कुछ"},
		{"Gujarati and Bengali are read as Devanagari", "કેમ কলম", "केम कलम"},
		{"with letters of their own too", "ਪੰਜਾਬ ਪੱਕਾ উৎসব தமிழ் അവൻ", "पंजाब पका उतसब तमिळ् अवन"},
		{"rare letters are read like common ones", "ॲप ॻॼॾॿ ୱ", "ऍप गजडब व"},
		{"other scripts are silent", "कल 中文 жук مرحبا", "कल"},
		{"line breaks are spaces", "कल\r\n\tमिलो", "कल मिलो"},
		{"broken bytes go", "कल\xff\xc0मिलो", "कल मिलो"},
	} {
		if got := write(tt.text, nil).text; got != tt.want {
			t.Errorf("%s: write(%q) = %q, want %q", tt.name, tt.text, got, tt.want)
		}
	}
}

func TestNothingAudible(t *testing.T) {
	for _, text := range []string{"", " ", "।", "...", "😀", "[[ ]]", "\x01\x02", "中文", "ा", "- ( ) \"\""} {
		if got := prepare(text); got.text != "" {
			t.Errorf("prepare(%q) = %q, want nothing", text, got.text)
		}
	}
}

func TestClausesBeginAfterTheirMarks(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       []string
	}{
		{"one", "नमस्ते", []string{"नमस्ते"}},
		{"comma and danda", "नमस्ते, आप आइए। धन्यवाद!", []string{"नमस्ते, ", "आप आइए। ", "धन्यवाद!"}},
		{"a short pause does not divide", "राम - श्याम (गीता)", []string{"राम - श्याम - गीता"}},
		{"nor does the point of a number", "3.5, 1,000", []string{"3.5, ", "1,000"}},
	} {
		s := prepare(tt.text)
		var got []string
		start := 0
		for _, end := range append(slices.Clone(s.clauses), len(s.text)) {
			got = append(got, s.text[start:end])
			start = end
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: clauses %q, want %q", tt.name, got, tt.want)
		}
	}
}

var fuzzTexts = []string{
	"नमस्ते, आपका order कल सुबह तक पहुँच जाएगा।",
	"aapka OTP 4-8-2 hai, kisi ko mat batana!",
	"[[h@l'oU]] \x01300S <b>&amp;</b> -- '…' “॥”",
	"ા்ಕೆ 中 é ß\u0301 \u200d\u200c ॐ ऽ ॰ ९.९",
	"कह\u093cना बह\u094d पहाँ महँगा शहर सेवाओं लिखकर",
}

func FuzzPrepare(f *testing.F) {
	for _, text := range fuzzTexts {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s := prepare(text)
		checkFed(t, s)
		for i, at := range s.clauses {
			inOrder := i == 0 || at > s.clauses[i-1]
			if !inOrder || at <= 0 || at >= len(s.text) || s.text[at-1] != ' ' {
				t.Errorf("clauses of %q begin at %v", s.text, s.clauses)
			}
		}
		// Every order must be one of ours.
		if strings.ContainsFunc(s.text, unicode.IsControl) {
			t.Errorf("prepare(%q) = %q has control characters", text, s.text)
		}
	})
}

func TestFuzzSeedsAreThere(t *testing.T) {
	if len(fuzzTexts) == 0 {
		t.Fatal("no seeds")
	}
	for _, text := range fuzzTexts {
		checkFed(t, prepare(text))
	}
}

// checkFed fails when the program would be fed something that it reads by its name or takes for an order.
func checkFed(t *testing.T, s script) {
	t.Helper()
	if !utf8.ValidString(s.text) || strings.HasPrefix(s.text, " ") || strings.HasSuffix(s.text, " ") ||
		strings.Contains(s.text, "  ") {
		t.Errorf("%q is fed", s.text)
	}
	for i, r := range s.text {
		plain := r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r))
		letter := plain || 0x0900 <= r && r <= 0x097f
		if !letter && !strings.ContainsRune(pauses, r) && r != '\'' {
			t.Errorf("%q of %q is fed", r, s.text)
		}
		before, _ := utf8.DecodeLastRuneInString(s.text[:i])
		behindConsonant := isConsonant(before) || before == nukta
		if unicode.IsMark(r) && before < 0x0900 || r == virama && !behindConsonant {
			t.Errorf("a sign in a wrong place of %q is fed", s.text)
		}
	}
}

func BenchmarkPrepare(b *testing.B) {
	for _, tt := range []struct{ name, text string }{
		{"hindi", sentences[6]},
		{"roman", sentences[11]},
	} {
		b.Run(tt.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				prepare(tt.text)
			}
		})
	}
}
