package normalize

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/swar-tts/swar/runtime/speech"
)

// lacks returns what an engine speaks that knows no letter of these scripts.
func lacks(scripts ...*unicode.RangeTable) func(text string) bool {
	return func(text string) bool {
		return !strings.ContainsFunc(text, func(r rune) bool {
			return unicode.IsLetter(r) &&
				unicode.In(r, scripts...)
		})
	}
}

// refuses returns what an engine speaks that knows all but some characters.
func refuses(characters string) func(text string) bool {
	return func(text string) bool { return !strings.ContainsAny(text, characters) }
}

var ours = lacks(unicode.Han, unicode.Cyrillic, unicode.Greek, unicode.Hangul)

func TestWhatTheEngineCannotSpeakIsNotRead(t *testing.T) {
	for _, test := range []struct {
		name, written    string
		speaks           func(string) bool
		spoken, unspoken string
	}{
		{"everything", "你好 ₹5", nil, "你好 पाँच रुपये", ""},
		{"the sign of an amount", "Rs 你好 60 paid to Asha.", ours, "sixty rupees paid to Asha.", "你好"},
		{"the parts of a date", "15 你 अगस्त को", ours, "पंद्रह अगस्त को", "你"},
		{"what makes a code", "Your OTP 你好 is Привет 604218.", ours, "Your O T P is छह शून्य चार दो एक आठ.", "你好Привет"},
		{"the point of a number", "0你.5", ours, "शून्य दशमलव पाँच", "你"},
		{"two words", "नम你स्ते a你b", ours, "नम स्ते a b", "你"},
		{"quotes", "«Привет» kaise ho", ours, "kaise ho", "Привет"},
		{"quotes of several words", "'你好 你' \"kaise\" 你 \"ho\"", ours, "\"kaise\" \"ho\"", "你好"},
		{"brackets", "yeh (你好) hai [你 好]", ours, "yeh hai", "你好"},
		{"marks", "haan 你, 好; ji 你.", ours, "haan, ji.", "你好"},
		{"a sentence", "नमस्ते। 你好。 ठीक।", ours, "नमस्ते। ठीक।", "你好"},
		{"a line", "नमस्ते\n你好\nठीक", ours, "नमस्ते। ठीक", "你好"},
		{"the last line", "नमस्ते\n你好", ours, "नमस्ते।", "你好"},
		{"markup around it", "**你好** ठीक `你`", ours, "ठीक", "你好"},
		{"the address of a link, which nobody reads", "[dekho](http://x.in/你)", ours, "dekho", ""},
		{"Greek of units and formulas", "5 μm, πr² Γειά", ours, "five micrometres, pi r squared", "Γειά"},
		{"a part of a word", "ㄅ你ㄅ", refuses("你"), "ㄅ ㄅ", "你"},
		{"nothing is left", "你好!", ours, "", "你好"},
		{"each once, in the order of the text", "ट 好 ट 你好", refuses("你好ट"), "", "ट好你"},
		{"words that a rule says", "Total (5) hai", lacks(unicode.Devanagari), "Total hai", "पाँच"},
		{"their endings", "kaksha 5वीं mein", lacks(unicode.Devanagari), "kaksha mein", "पाँच"},
		{"a part of what a rule says", "ठीक 10%", refuses("त"), "ठीक दस प्र श", "तित"},
		{"a word behind a dash", "A – ठीक", lacks(unicode.Devanagari), "A", "ठीक"},
		{"a word before a dash", "ठीक – A", lacks(unicode.Devanagari), "A", "ठीक"},
		{"a hyphen", "ठीक-A-ठीक", lacks(unicode.Devanagari), "A", "ठीक"},
		{"the apostrophe of a word", "ठीक Das's है", lacks(unicode.Latin), "ठीक है", "Das"},
		{"a mark", "ठीक, हाँ (जी) \"ना\" - या", refuses(",(-\""), "ठीक हाँ जी) ना या", ",(\"-"},
		{"a mark of Devanagari", "मैं हूँ", refuses("\u0902"), "मै हूँ", "\u0902"},
		{"a word that would become another", "order aaya", refuses("e"), "ord r aaya", "e"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := Read(test.written, Options{Speaks: test.speaks}, true)
			if got.Text != test.spoken || got.Unspoken != test.unspoken {
				t.Errorf("%q is spoken as %q without %q, want %q without %q", test.written, got.Text, got.Unspoken,
					test.spoken, test.unspoken)
			}
			standsRight(t, test.written, got)
			if plain := Read(test.written, Options{Speaks: test.speaks}, false); plain.Text != got.Text ||
				plain.Unspoken != got.Unspoken || plain.Spans != nil {
				t.Errorf("without spans it is %+v", plain)
			}
		})
	}
}

// standsRight checks that spans are in order, within what was written, and at their places in what is spoken.
func standsRight(t *testing.T, written string, r Reading) {
	t.Helper()
	length, runes := utf8.RuneCountInString(strings.TrimFunc(written, unicode.IsSpace)), []rune(r.Text)
	end, outEnd := 0, 0
	for _, s := range r.Spans {
		if s.Start < end || s.End <= s.Start || s.End > length {
			t.Errorf("%q: span %+v behind %d, of %d code points", written, s, end, length)
		}
		if s.OutStart < outEnd || s.OutEnd < s.OutStart || s.OutEnd > len(runes) ||
			string(runes[s.OutStart:s.OutEnd]) != s.Spoken {
			t.Fatalf("%q: span %+v, behind %d, is not at its place in %q", written, s, outEnd, r.Text)
		}
		end, outEnd = s.End, s.OutEnd
	}
}

func TestAWordIsPutInForWhatCannotBeSpoken(t *testing.T) {
	o := Options{Speaks: ours, Marks: []speech.Mark{{Start: 0, End: 2, Spoken: "नी हाओ"}}}
	got := Read("你好 5 你", o, true)
	if want := fmt.Sprintf("%q without %q: %v", "नी हाओ पाँच", "你",
		"[{0 2 alias नी हाओ 0 6} {3 4 number पाँच 7 11}]"); fmt.Sprintf("%q without %q: %v", got.Text, got.Unspoken,
		fmt.Sprint(got.Spans)) != want {
		t.Errorf("got %q without %q: %v", got.Text, got.Unspoken, got.Spans)
	}
}

// TestForeignWordsAreAsGoodAsSpaces: what the engine cannot speak changes nothing of what is read beside it.
func TestForeignWordsAreAsGoodAsSpaces(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	texts(t, func(t *testing.T, at, text string) {
		if strings.ContainsAny(text, "`[\\$|<") || strings.ContainsFunc(text, func(r rune) bool {
			return unicode.IsControl(r) || !ours(string(r)) || r >= utf8.RuneSelf && unicode.Is(unicode.Sm, r)
		}) {
			return // a word between marks or signs of formulas, or at the beginning of a line, decides what is markup
		}
		fields := strings.Split(text, " ")
		if len(fields) < 3 {
			return
		}
		k := 1 + rng.IntN(len(fields)-1)
		foreign := strings.Join(fields[:k], " ") + " 你好 " + strings.Join(fields[k:], " ")
		spaced := strings.Join(fields[:k], " ") + "  " + strings.Join(fields[k:], " ")
		got, want := Read(foreign, Options{Speaks: ours}, true), Text(spaced, Options{})
		if got.Text != want || got.Unspoken != "你好" {
			t.Errorf("%s: %q\n got %s\nwant %s", at, foreign, got.Text, want)
		}
		standsRight(t, foreign, got)
	})
}

func TestOnlyWhatIsSpokenIsLeft(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	foreign := []string{"你", "(好)", "Привет", " «да» ", "5你", "Γ", "。", "\n你\n", "-你", "你.", "안녕 "}
	engines := []func(string) bool{ours, lacks(unicode.Devanagari, unicode.Han), lacks(unicode.Latin, unicode.Cyrillic),
		refuses("ट,ोe—।")}
	texts(t, func(t *testing.T, at, text string) {
		runes := []rune(text)
		k := rng.IntN(len(runes) + 1)
		text = string(runes[:k]) + foreign[rng.IntN(len(foreign))] + string(runes[k:])
		speaks := engines[rng.IntN(len(engines))]
		got := Read(text, Options{Speaks: speaks}, true)
		if !speaks(got.Text) || strings.Contains(got.Text, "  ") || strings.TrimSpace(got.Text) != got.Text {
			t.Errorf("%s: %q is spoken as %q", at, text, got.Text)
		}
		standsRight(t, text, got)
	})
}
