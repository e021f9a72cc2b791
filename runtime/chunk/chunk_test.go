package chunk

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"github.com/swar-tts/swar/runtime/speech"
)

// byWord counts words, which makes limits easy to see.
func byWord(text string) int { return len(strings.Fields(text)) }

// byRune counts as an engine does whose tokens are about four characters long.
func byRune(text string) int { return (utf8.RuneCountInString(text) + 3) / 4 }

func texts(chunks []speech.Chunk) []string {
	out := make([]string, len(chunks))
	for i, c := range chunks {
		out[i] = c.Text
	}
	return out
}

func TestSplit(t *testing.T) {
	tests := map[string]struct {
		text  string
		limit int // words
		want  []string
	}{
		"nothing":                         {"", 10, nil},
		"only white space":                {" \n\t ", 10, nil},
		"one sentence":                    {" नमस्ते दोस्तों। ", 10, []string{"नमस्ते दोस्तों।"}},
		"short sentences share a chunk":   {"हाँ। ठीक है। चलो।", 10, []string{"हाँ। ठीक है। चलो।"}},
		"one word below the limit":        {"एक दो तीन। चार पाँच छह।", 7, []string{"एक दो तीन। चार पाँच छह।"}},
		"exactly the limit":               {"एक दो तीन। चार पाँच छह।", 6, []string{"एक दो तीन। चार पाँच छह।"}},
		"one word above the limit":        {"एक दो तीन। चार पाँच छह।", 5, []string{"एक दो तीन।", "चार पाँच छह।"}},
		"full stop, ! ? and …":            {"Yes it is. No way at! Is it so? Well then…  ok fine now", 4, []string{"Yes it is.", "No way at!", "Is it so?", "Well then…", "ok fine now"}},
		"double danda and newline":        {"एक दो तीन॥ चार पाँच\nछह सात आठ", 3, []string{"एक दो तीन॥", "चार पाँच", "छह सात आठ"}},
		"a danda without a space":         {"एक दो तीन।चार पाँच छह।", 3, []string{"एक दो तीन।", "चार पाँच छह।"}},
		"closing marks stay":              {"“Ek do teen.” (Chaar paanch chhe!) saat", 4, []string{"“Ek do teen.”", "(Chaar paanch chhe!) saat"}},
		"not inside a number":             {"pi is 3.14 not 3.2 ok", 3, []string{"pi is 3.14", "not 3.2 ok"}},
		"not after a single letter":       {"the U. S. A. team won. They did it", 6, []string{"the U. S. A. team won.", "They did it"}},
		"a clause mark before a comma":    {"ek do, teen chaar; paanch chhe, saat", 5, []string{"ek do, teen chaar;", "paanch chhe, saat"}},
		"a comma before a conjunction":    {"ek do teen, chaar aur paanch chhe saat", 5, []string{"ek do teen,", "chaar aur paanch chhe saat"}},
		"a conjunction before a space":    {"ek do teen chaar aur paanch chhe saat", 6, []string{"ek do teen chaar", "aur paanch chhe saat"}},
		"a Hindi conjunction":             {"एक दो तीन चार लेकिन पाँच छह सात", 6, []string{"एक दो तीन चार", "लेकिन पाँच छह सात"}},
		"halves are balanced":             {"a b c d e f g h i j k", 10, []string{"a b c d e", "f g h i j k"}},
		"digit groups are cut at a comma": {"एक दो तीन चार, पाँच छह सात आठ, नौ शून्य एक दो, तीन चार पाँच छह", 9, []string{"एक दो तीन चार, पाँच छह सात आठ,", "नौ शून्य एक दो, तीन चार पाँच छह"}},
		"no short tail is left":           {"one two three. four five six. seven", 6, []string{"one two three.", "four five six. seven"}},
		"punctuation has no chunk":        {"ek do teen . ! ? chaar paanch chhe !", 3, []string{"ek do teen", ". ! ?", "chaar paanch", "chhe !"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := Split(tt.text, tt.limit, byWord)
			if !slices.Equal(texts(got), tt.want) {
				t.Errorf("Split = %q, want %q", texts(got), tt.want)
			}
			check(t, tt.text, tt.limit, byWord, got)
		})
	}
}

// check holds the promises that every split keeps.
func check(t *testing.T, text string, limit int, count func(string) int, chunks []speech.Chunk) {
	t.Helper()
	runes := []rune(text)
	end := 0
	for i, c := range chunks {
		if c.Index != i || c.Text == "" || c.Text != strings.TrimSpace(c.Text) {
			t.Fatalf("chunk %d: %+v is empty, misnumbered or not trimmed", i, c)
		}
		if c.CharStart < end || c.CharEnd <= c.CharStart || c.CharEnd > len(runes) || string(runes[c.CharStart:c.CharEnd]) != c.Text {
			t.Fatalf("chunk %d: offsets %d to %d do not hold %q", i, c.CharStart, c.CharEnd, c.Text)
		}
		if lost := strings.TrimSpace(string(runes[end:c.CharStart])); lost != "" {
			t.Fatalf("%q before chunk %d was lost", lost, i)
		}
		if c.Tokens != count(c.Text) {
			t.Fatalf("chunk %d says %d tokens, has %d", i, c.Tokens, count(c.Text))
		}
		if c.Tokens > limit && uniseg.GraphemeClusterCount(c.Text) > 1 {
			t.Fatalf("chunk %d has %d tokens, more than %d: %q", i, c.Tokens, limit, c.Text)
		}
		end = c.CharEnd
	}
	if lost := strings.TrimSpace(string(runes[end:])); lost != "" {
		t.Fatalf("%q at the end was lost", lost)
	}
}

var hostile = map[string]string{
	"letters without a space": strings.Repeat("a", 4000),
	"Devanagari without":      strings.Repeat("क्षि", 1000),
	"commas":                  strings.Repeat(",", 4000),
	"combining marks":         "क" + strings.Repeat("\u093e", 3999),
	"dandas":                  strings.Repeat("।", 4000),
	"full stops and spaces":   strings.Repeat(". ", 2000),
	"single letters":          strings.Repeat("a ", 2000),
	"digits in words":         strings.Repeat("शून्य एक, ", 400),
	"one long sentence":       strings.Repeat("aapka order kal tak deliver ho jayega ", 100),
	"many short ones":         strings.Repeat("Haan. ", 650),
	"newlines":                strings.Repeat("a\n", 2000),
}

func TestHostileTextsKeepThePromises(t *testing.T) {
	for name, text := range hostile {
		t.Run(name, func(t *testing.T) {
			calls, counted := 0, 0
			count := func(s string) int {
				calls++
				counted += len(s)
				return byRune(s)
			}
			got := Split(text, 50, count)
			c, n := calls, counted
			check(t, text, 50, byRune, got)
			// Counting is the expensive part: a few calls for each sentence and chunk, over a few times the text.
			if most := 16*len(got) + 2*len(sentences(text)); c > most || n > 30*len(text) {
				t.Errorf("%d chunks: %d calls (want at most %d) over %d bytes, %.1f times the text", len(got), c, most, n, float64(n)/float64(len(text)))
			}
		})
	}
}

func TestNoGraphemeIsCut(t *testing.T) {
	text := strings.Repeat("क्षत्रिय👩‍👩‍👧‍👦श्री", 60)
	at := map[int]bool{}
	pos := 0
	for rest, state := text, -1; rest != ""; {
		var g string
		g, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		pos += utf8.RuneCountInString(g)
		at[pos] = true
	}
	for _, c := range Split(text, 10, byRune) {
		if !at[c.CharEnd] {
			t.Errorf("a chunk ends inside a grapheme at %d: %q", c.CharEnd, c.Text)
		}
	}
}

func TestSplitKeepsItsPromisesOnRandomText(t *testing.T) {
	words := strings.Split("aapka order कल तक ho, jayega; ठीक है। yes. no! 3.14 U. “ok?” — और aur ( ) ... \n क्ष एक दो तीन, a", " ")
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		var b strings.Builder
		for range r.IntN(120) {
			b.WriteString(words[r.IntN(len(words))])
			if r.IntN(8) > 0 {
				b.WriteByte(' ')
			}
		}
		limit := 1 + r.IntN(50)
		check(t, b.String(), limit, byRune, Split(b.String(), limit, byRune))
	}
}

// TestSplittingAChunkAgainChangesNothing: a chunk is a whole.
func TestSplittingAChunkAgainChangesNothing(t *testing.T) {
	for name, text := range hostile {
		for _, c := range Split(text, 50, byRune) {
			if again := Split(c.Text, 50, byRune); len(again) != 1 || again[0].Text != c.Text {
				t.Errorf("%s: %q was split again", name, c.Text)
			}
		}
	}
}

func FuzzSplit(f *testing.F) {
	f.Add("नमस्ते। Aapka order aayega, aur 3.14 U. S. ok", 5)
	f.Add("a\u0301\u0301 ।।।", 1)
	f.Add(strings.Repeat("क", 300), 10)
	f.Fuzz(func(t *testing.T, text string, limit int) {
		if limit < 1 || limit > 1000 || len(text) > 5000 || !utf8.ValidString(text) {
			return
		}
		check(t, text, limit, byRune, Split(text, limit, byRune))
		if strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsSpace(r) }) && len(Split(text, limit, byRune)) == 0 {
			t.Error("visible text gives no chunk")
		}
	})
}

func BenchmarkSplit(b *testing.B) {
	message := "नमस्ते! Aapka order कल तक deliver ho jayega. Total चार सौ निन्यानबे रुपये hai, aur OTP kisi ko mat batana. "
	for name, text := range map[string]string{"message": message, "4000": strings.Repeat(message, 38), "hostile": hostile["letters without a space"]} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				Split(text, 50, byRune)
			}
		})
	}
}
