package session

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/swar-tts/swar/runtime/normalize"
)

// pieces feeds messages and returns what is spoken: of each sentence what is whole by then, and the rest behind a bar.
func pieces(sep Sep, messages ...string) (all []string, rest string) {
	var c cutter
	for _, m := range messages {
		for _, s := range c.add(m, sep) {
			all = append(all, strings.TrimSpace(s.text))
		}
	}
	return all, c.text
}

func TestSentencesAreCutWhereTheyEnd(t *testing.T) {
	tests := []struct {
		name     string
		sep      Sep
		messages []string
		want     []string
		rest     string
	}{
		{"a mark and a space", Exact, []string{"Namaste! Aap", " kaise hain? "}, []string{"Namaste!", "Aap kaise hain?"}, ""},
		{"a mark at the end waits", Exact, []string{"Aap kaise hain?"}, nil, "Aap kaise hain?"},
		{"danda needs no space", Exact, []string{"नमस्ते।", "आप कैसे हैं॥"}, []string{"नमस्ते।", "आप कैसे हैं॥"}, ""},
		{"a line", Exact, []string{"Doodh\n", "Chai"}, []string{"Doodh"}, "Chai"},
		{"a line that was half there", Exact, []string{"Doodh", "\nChai"}, []string{"Doodh"}, "Chai"},
		{"closing quotes", Exact, []string{"\"Kahan ho?\" usne", " poocha"}, []string{"\"Kahan ho?\""}, "usne poocha"},
		{"a decimal in two", Exact, []string{"Keemat 3.", "5 hai. "}, []string{"Keemat 3.5 hai."}, ""},
		{"an address in two", Exact, []string{"example.", "com par jaiye. "}, []string{"example.com par jaiye."}, ""},
		{"a title", Exact, []string{"Aaj Dr.", " ", "Rao", " aayenge", ". "}, []string{"Aaj Dr. Rao aayenge."}, ""},
		{"an amount", Exact, []string{"₹1,000.", "50 mile", " hain. "}, []string{"₹1,000.50 mile hain."}, ""},
		{"a time", Exact, []string{"10:30 a.", "m. ", "par aana", " hai. "}, []string{"10:30 a.m. par aana hai."}, ""},
		{"a list number", Exact, []string{"1.", " ", "doodh lao. "}, []string{"1. doodh lao."}, ""},
		{"a short month", Exact, []string{"12 Jan.", " ko", " aana hai bhai. "}, []string{"12 Jan. ko aana hai bhai."}, ""},
		{"a pause", Exact, []string{"Ek minute… ", "main dekhta"}, []string{"Ek minute…"}, "main dekhta"},
		{"a pause behind a number", Exact, []string{"Total 500… ", "nahi"}, nil, "Total 500… nahi"},
		{"three dots", Exact, []string{"Ruko..", ". ", "main"}, []string{"Ruko..."}, "main"},
		{"a mark in two", Exact, []string{"Kya", "?", "! ", "Haan"}, []string{"Kya?!"}, "Haan"},
		{"marks over messages", Exact, []string{"क", "्", "षमा", " करे", "ं।"}, []string{"क्षमा करें।"}, ""},
		{"a joiner over messages", Exact, []string{"क्", "\u200d", "ष है।"}, []string{"क्\u200dष है।"}, ""},
		{"no space is invented", Exact, []string{"Namas", "te!", "Aap"}, nil, "Namaste!Aap"},
		{"pieces are sentences", Piece, []string{"Namaste!", "Aapka OTP 407 hai.", "Dhanyavaad"}, []string{"Namaste!", "Aapka OTP 407 hai."}, "Dhanyavaad"},
		{"pieces behind quotes", Piece, []string{"\"Haan.\"", "Theek hai."}, []string{"\"Haan.\""}, "Theek hai."},
		{"a piece that goes on a number", Piece, []string{"Keemat 3.", "5 hai."}, nil, "Keemat 3.5 hai."},
		{"a piece behind a word", Piece, []string{"Namas", "te"}, nil, "Namaste"},
		{"a piece in Devanagari", Piece, []string{"नमस्ते.", "आप कैसे हैं।"}, []string{"नमस्ते.", "आप कैसे हैं।"}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, rest := pieces(tt.sep, tt.messages...)
			if !slices.Equal(got, tt.want) || rest != tt.rest {
				t.Errorf("got %q and %q\nwant %q and %q", got, rest, tt.want, tt.rest)
			}
		})
	}
}

func TestALongSentenceIsCutAtABreath(t *testing.T) {
	words := strings.Repeat("theek ", 60)
	tests := []struct {
		name, text, want string // want is what the first piece ends with
	}{
		{"199 code points", strings.Repeat("x", 199), ""},
		{"200 code points", words[:200], ""},
		{"201 code points", words[:201], "theek"},
		{"at a comma", words[:150] + "haan, " + words, "haan,"},
		{"not at a comma in the left half", words[:60] + "haan, " + words, "theek"},
		{"not inside of an amount", words[:198] + "₹ 500 aur " + words, "theek"},
		{"no space", strings.Repeat("x", 500), ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, rest := pieces(Exact, tt.text)
			if tt.want == "" {
				if len(got) != 0 {
					t.Fatalf("cut: %q", got)
				}
				return
			}
			if len(got) == 0 || !strings.HasSuffix(got[0], tt.want) || utf8.RuneCountInString(got[0]) > longSentence {
				t.Errorf("got %q and %q, want a piece that ends with %q", got, rest, tt.want)
			}
		})
	}
}

// dialogue is what a language model says in a call, with all that is easily cut.
var dialogue = []string{
	"Namaste! Main Swar Bank se bol rahi hoon. Kya aap Mr. Sharma hain? Aapke account XX4321 mein ₹1,000.50 credit hue hain. " +
		"Yeh 10:30 a.m. par hua tha. Dr. Rao ka appointment 3.5 ghante baad hai. Website example.com par jaiye. Dhanyavaad!",
	"नमस्ते। आपका ऑर्डर 25 दिसंबर को पहुँचेगा। कुल ₹499 हैं, और OTP 482913 किसी को मत बताइए। क्या मैं और मदद करूँ?",
	"Aapki list:\n1. doodh 2 kg\n2. chai 250 gm\n3. No. 5 wali cheeni\nBas itna hi? Theek hai.",
	"Ruko... Main dekhta hoon. \"Kal aana,\" usne kaha. \"Theek hai!\" Phir woh 12 Jan. 2026 ko aaya. Meeting 5 p.m. Monday ko hai.",
	"My number is 98765-43210. Call me before 7 p.m. tomorrow, etc. The total is Rs. 2,500. Please pay by 15 Aug. 2026. Thanks.",
}

// spoken is what a session speaks of messages, each sentence with what is known of its message.
func spoken(messages []string) string {
	var f feed
	var said []string
	for _, m := range messages {
		if f.append(noon, m, Exact) != nil {
			break
		}
	}
	f.finish()
	for !f.isOver() {
		if f.next(noon); len(f.queue) > 0 {
			s := f.take()
			if s.what != stepSpeak {
				continue
			}
			// A turn passes over what nothing is spoken of, as a footnote.
			if read := normalize.Text(s.text, normalize.Options{}.In(&s.message)); read != "" {
				said = append(said, read)
			}
		}
	}
	return strings.Join(said, " ")
}

func TestTokenByTokenIsSpokenLikeTheWhole(t *testing.T) {
	texts := dialogue
	more, err := filepath.Glob("../normalize/testdata/*.tsv")
	if err != nil || len(more) == 0 {
		t.Fatal(err, len(more))
	}
	for _, path := range more {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(data), "\n") {
			if written, _, ok := strings.Cut(line, "\t"); ok && i%7 == 0 && !strings.HasPrefix(line, "#") {
				texts = append(texts, strings.ReplaceAll(written, `\n`, "\n"))
			}
		}
	}
	for _, text := range texts {
		if utf8.RuneCountInString(text) > longSentence && !slices.Contains(dialogue, text) {
			continue
		}
		want := normalize.Text(text, normalize.Options{})
		for name, messages := range map[string][]string{
			"character by character": strings.Split(text, ""), "word by word": strings.SplitAfter(text, " "), "tokens": tokens(text),
		} {
			if got := spoken(messages); got != want {
				t.Errorf("%s: %q\n got %s\nwant %s", name, text, got, want)
			}
		}
	}
}

// tokens cuts text as language models do: a few characters, with the space in front.
func tokens(text string) (all []string) {
	runes := []rune(text)
	for i := 0; len(runes) > 0; {
		n := min(1+(7*i+3)%4, len(runes))
		all = append(all, string(runes[:n]))
		runes, i = runes[n:], i+n
	}
	return all
}

func FuzzCutter(f *testing.F) {
	for _, text := range dialogue {
		f.Add(text, uint8(3), false)
	}
	f.Add("a.\u0301 b", uint8(1), true)
	f.Add(strings.Repeat("थ ", 300), uint8(9), false)
	f.Fuzz(func(t *testing.T, text string, size uint8, piece bool) {
		if !utf8.ValidString(text) || strings.ContainsRune(text, 0) || len(text) > 3000 {
			return
		}
		sep := Exact
		if piece {
			sep = Piece
		}
		var c cutter
		var got strings.Builder
		add := func(all []sentence) {
			for _, s := range all {
				if !utf8.ValidString(s.text) || strings.TrimSpace(s.text) == "" {
					t.Fatalf("a sentence %q", s.text)
				}
				got.WriteString(s.text)
			}
		}
		runes := []rune(text)
		for len(runes) > 0 {
			n := min(int(size)+1, len(runes))
			add(c.add(string(runes[:n]), sep))
			runes = runes[n:]
		}
		add(c.rest())
		gone := func(s string) string { return strings.Join(strings.Fields(s), "") }
		if gone(got.String()) != gone(text) {
			t.Errorf("%q became %q", text, got.String())
		}
	})
}
