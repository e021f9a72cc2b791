package pipeline_test

import (
	"errors"
	"log/slog"
	"strings"
	"testing"
	"unicode"

	"github.com/swar-tts/swar/runtime/pipeline"
	"github.com/swar-tts/swar/runtime/pool"
	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/speech/speechtest"
	"github.com/swar-tts/swar/runtime/synth/synthtest"
)

func TestWhatCannotBeSpokenIsLeftOut(t *testing.T) {
	s, _, _ := open(t, 1, synthtest.Config{})
	for _, tt := range []struct {
		name, text     string
		raw            bool
		want, unspoken string
	}{
		{"all can be spoken", "नमस्ते, दोस्त!", false, "नमस्ते, दोस्त!", ""},
		{"a word between words", "नमस्ते 你好 दोस्त", false, "नमस्ते दोस्त", "你好"},
		{"a word at the end", "नमस्ते दोस्त Привет", false, "नमस्ते दोस्त", "Привет"},
		{"each character once, in order", "好你 नमस्ते 你好吗", false, "नमस्ते", "好你吗"},
		{"a letter within a word parts it", "नम你स्ते", false, "नम स्ते", "你"},
		{"with its marks", "नमस्ते สวัสดี", false, "नमस्ते", "สวัดี"},
		{"marks that stood behind it go", "你好, नमस्ते (你好)! Привет? 你", false, "नमस्ते!", "你好Привет"},
		{"marks behind other words stay", "नमस्ते, 你好 दोस्त।", false, "नमस्ते, दोस्त।", "你好"},
		{"a sentence of its own", "नमस्ते। 你好。 फिर मिलेंगे।", false, "नमस्ते। फिर मिलेंगे।", "你好"},
		{"numbers are words by then", "नमस्ते ٤٠٧", false, "नमस्ते चार सौ सात", ""},
		{"emoji are gone by then", "नमस्ते 😀", false, "नमस्ते", ""},
		{"raw text keeps its marks", "你好, नमस्ते (你) !", true, ", नमस्ते ( ) !", "你好"},
		{"raw numbers", "नमस्ते ٤٠٧", true, "नमस्ते", "٤٠٧"},
		{"raw text with other spaces", " नमस्ते\u2003\n你  दोस्त ", true, "नमस्ते दोस्त", "你"},
		{"raw text as it is", "(नमस्ते), 😀 दोस्त !", true, "(नमस्ते), 😀 दोस्त !", ""},
	} {
		r := &speechtest.Recorder{}
		u := speech.Utterance{Text: tt.text, Voice: "raj", Format: speech.PCM16, Raw: tt.raw}
		if _, err := s.Speak(t.Context(), u, speech.Turn{}, r); err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if st := r.Started[0]; st.Normalized != tt.want || st.Unspoken != tt.unspoken {
			t.Errorf("%s: spoke %q without %q, want %q without %q",
				tt.name, st.Normalized, st.Unspoken, tt.want, tt.unspoken)
		}
		if tt.raw {
			continue
		}
		n, err := s.Normalize(t.Context(), speech.Utterance{Text: tt.text})
		if err != nil || n.Text != tt.want || n.Unspoken != tt.unspoken {
			t.Errorf("%s: Normalize = %q without %q, %v; want %q without %q",
				tt.name, n.Text, n.Unspoken, err, tt.want, tt.unspoken)
		}
	}
}

// picky is a fake engine with tastes of its own.
type picky struct {
	*synthtest.Engine
	dislikes string
	silent   string
}

func (p *picky) Speaks(text string) bool { return !strings.ContainsAny(text, p.dislikes) }

func (p *picky) Tokens(text string) int {
	return p.Engine.Tokens(strings.Map(func(r rune) rune {
		if strings.ContainsRune(p.silent, r) || unicode.IsSpace(r) {
			return -1
		}
		return r
	}, text))
}

// speaker is one whose workers never get warm.
func speaker(t *testing.T, p *picky) *pipeline.Speaker {
	t.Helper()
	p.Engine = synthtest.NewEngine(synthtest.Config{})
	workers, err := pool.New(pool.Config{Workers: 1}, p, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return pipeline.New(pipeline.Config{}, p, workers)
}

func TestSpansSayWhatIsSpoken(t *testing.T) {
	s := speaker(t, &picky{dislikes: "ऐट"})
	n, err := s.Normalize(t.Context(), speech.Utterance{Text: "चाय @chai"})
	want := speech.Span{Start: 4, End: 9, Kind: "handle", Spoken: "chai", OutStart: 4, OutEnd: 8}
	if err != nil || len(n.Spans) != 1 || n.Spans[0] != want || n.Text != "चाय chai" {
		t.Errorf("Normalize = %+v, %v; want the span %+v", n, err, want)
	}
}

func TestAMarkIsLeftOutWithoutItsLetter(t *testing.T) {
	s, _ := run(t, 1, &picky{Engine: synthtest.NewEngine(synthtest.Config{}), dislikes: "\u0902\u0301\u200d\u103b"})
	for text, want := range map[string][2]string{
		"मैं यहाँ हूं":            {"मै यहाँ हू", "\u0902"},
		"कि\u200dताब":             {"किताब", "\u200d"},
		"cafe\u0301":              {"cafe", "\u0301"},
		"मै\u0902\u0301\u0902 है": {"मै है", "\u0902\u0301"},
		"है \u103b या":            {"है या", "\u103b"},
	} {
		r := &speechtest.Recorder{}
		u := speech.Utterance{Text: text, Voice: "raj", Format: speech.PCM16, Raw: true}
		if _, err := s.Speak(t.Context(), u, speech.Turn{}, r); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if got := r.Started[0]; got.Normalized != want[0] || got.Unspoken != want[1] {
			t.Errorf("%q: %q without %q; want %q without %q", text, got.Normalized, got.Unspoken, want[0], want[1])
		}
	}
}

// TestNormalisedTextIsSpokenRaw: what was previewed is spoken to the letter when it is sent as it is.
func TestNormalisedTextIsSpokenRaw(t *testing.T) {
	s, _, _ := open(t, 1, synthtest.Config{})
	for _, text := range []string{"Kul ₹499, OTP 482913 (你好).", "Plan A-B\nExperience 5 yrs.",
		"आपका A/c XX4321 से ₹2,500.50 की निकासी।", "“Naya” offer - 50% OFF!"} {
		n, err := s.Normalize(t.Context(), speech.Utterance{Text: text})
		if err != nil {
			t.Fatal(err)
		}
		r := &speechtest.Recorder{}
		u := speech.Utterance{Text: n.Text, Voice: "raj", Format: speech.PCM16, Raw: true}
		if _, err := s.Speak(t.Context(), u, speech.Turn{}, r); err != nil || r.Started[0].Normalized != n.Text {
			t.Errorf("%q is previewed as %q and spoken as %q, %v", text, n.Text, r.Started[0].Normalized, err)
		}
	}
}

func TestWhatOfADisclosureCannotBeSpokenIsNamedFirst(t *testing.T) {
	s := speaker(t, &picky{dislikes: "你好吗"})
	n, err := s.Normalize(t.Context(), speech.Utterance{Disclosure: "नमस्ते 好你।", Text: "दोस्त 你吗"})
	if err != nil || n.Text != "नमस्ते। दोस्त" || n.Disclosure != "नमस्ते।" || n.Unspoken != "好你吗" {
		t.Errorf("%q with %q before it, without %q, %v", n.Text, n.Disclosure, n.Unspoken, err)
	}
}

func TestASpaceIsNothingToMiss(t *testing.T) {
	s := speaker(t, &picky{dislikes: " 你"}) // as a tokenizer whose spaces are parts of words
	n, err := s.Normalize(t.Context(), speech.Utterance{Text: "नमस्ते 你 प्यारे दोस्त"})
	if err != nil || n.Text != "नमस्ते प्यारे दोस्त" || n.Unspoken != "你" {
		t.Errorf("%q without %q, %v", n.Text, n.Unspoken, err)
	}
}

func TestNothingToSayNeedsNoWorker(t *testing.T) {
	s := speaker(t, &picky{dislikes: "你好Привет", silent: "ऽx"})
	for name, tt := range map[string]struct {
		text string
		raw  bool
		want error
	}{
		"a script that the engine does not speak": {"你好", false, speech.ErrNothingToSay},
		"raw":                              {"你好", true, speech.ErrNothingToSay},
		"with marks and pictures":          {"«Привет», 你好! 😀", false, speech.ErrNothingToSay},
		"raw, with marks and pictures":     {"«Привет», 你好! 😀", true, speech.ErrNothingToSay},
		"letters that are read in silence": {"ऽऽ x ऽ", false, speech.ErrNothingToSay},
		"marks alone":                      {"?!… —", false, speech.ErrNothingToSay},
		"one letter among them, which waits for voice": {"你好 a 你好", false, speech.ErrWarming},
		"raw, one letter among them":                   {"你好 a 你好", true, speech.ErrWarming},
	} {
		u := speech.Utterance{Text: tt.text, Voice: "raj", Format: speech.PCM16, Raw: tt.raw}
		r := &speechtest.Recorder{}
		if st, err := s.Speak(t.Context(), u, speech.Turn{}, r); !errors.Is(err, tt.want) || st.Started ||
			len(r.Started) > 0 {
			t.Errorf("%s: Speak = %+v, %v; want %v", name, st, err, tt.want)
		}
		refused := tt.want == speech.ErrNothingToSay
		if err := s.Check(t.Context(), u); refused != errors.Is(err, speech.ErrNothingToSay) || !refused && err != nil {
			t.Errorf("%s: Check = %v", name, err)
		}
		if n, err := s.Normalize(t.Context(), speech.Utterance{Text: tt.text}); err != nil ||
			refused != (len(n.Chunks) == 0) {
			t.Errorf("%s: Normalize has %d chunks, %v", name, len(n.Chunks), err)
		}
	}
}

// TestEveryChunkIsHeard: text that is read in silence can be long enough for a chunk of its own.
func TestEveryChunkIsHeard(t *testing.T) {
	s := speaker(t, &picky{silent: "ऽx"})
	for name, text := range map[string]string{
		"in front":      strings.Repeat("ऽ ", 1000) + strings.Repeat("naam ", 50) + "x y",
		"behind":        strings.Repeat("naam ", 50) + strings.Repeat("ऽ ", 1000) + "x y",
		"in sentences":  strings.Repeat("ऽ x ऽ। ", 300) + strings.Repeat("naam. ", 60) + strings.Repeat("ऽ x ऽ। ", 200),
		"between":       strings.Repeat("naam ", 49) + strings.Repeat("x ", 900) + strings.Repeat("naam ", 49),
		"without space": strings.Repeat("x", 1500) + strings.Repeat("n", 400) + strings.Repeat("x", 1500),
	} {
		n, err := s.Normalize(t.Context(), speech.Utterance{Text: text})
		if err != nil || len(n.Chunks) == 0 {
			t.Fatalf("%s: %d chunks, %v", name, len(n.Chunks), err)
		}
		runes := []rune(n.Text)
		heard := 0
		for i, c := range n.Chunks {
			heard += c.Tokens
			sized := 1 <= c.Tokens && c.Tokens <= speech.MaxChunkTokens
			if c.Index != i || !sized || string(runes[c.CharStart:c.CharEnd]) != c.Text {
				t.Errorf("%s: chunk %d is %d with %d tokens: %.20q", name, i, c.Index, c.Tokens, c.Text)
			}
		}
		if heard < 50 {
			t.Errorf("%s: %d tokens in all, want every word", name, heard)
		}
	}
}

// silentMarks is an engine whose model does not pause at marks.
type silentMarks struct {
	*synthtest.Engine
	reads bool
}

func (e silentMarks) ReadsMarks() bool { return e.reads }

func TestSentencesAreChunksWhereMarksAreNoPauses(t *testing.T) {
	const sentence = "Kal subah phir aana. "
	for _, tt := range []struct {
		name       string
		reads      bool
		disclosure string
		sentences  int
		want       int
	}{
		{"a model that pauses at marks", true, "", 3, 1},
		{"one that does not", false, "", 3, 3},
		{"as many sentences as there may be chunks", false, "", 64, 64},
		{"one more, and they share them", false, "", 65, 8},
		{"as many as there may be behind a disclosure", false, "Yeh AI hai.", 63, 64},
		{"one more behind a disclosure", false, "Yeh AI hai.", 64, 9},
	} {
		s, _ := run(t, 1, silentMarks{synthtest.NewEngine(synthtest.Config{}), tt.reads})
		n, err := s.Normalize(t.Context(), speech.Utterance{
			Text: strings.Repeat(sentence, tt.sentences), Disclosure: tt.disclosure,
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := len(n.Chunks); got != tt.want {
			t.Errorf("%s: %d chunks, want %d", tt.name, got, tt.want)
		}
	}
}

// sizer is an engine that likes short chunks, and a short one first.
type sizer struct{ *synthtest.Engine }

func (sizer) ChunkTokens() (first, others int) { return 14, 20 }

// TestChunksAreAsTheEngineLikesThem, but for those of texts that would have too many.
func TestChunksAreAsTheEngineLikesThem(t *testing.T) {
	const sentence = "Kal subah phir se aana hai ji, aur baat hogi. " // twelve of the fake engine's tokens
	s, _ := run(t, 1, sizer{synthtest.NewEngine(synthtest.Config{})})
	for _, tt := range []struct{ sentences, chunks, first, others int }{
		{1, 1, 12, 0}, {2, 2, 12, 12}, {63, 63, 12, 12}, {64, 64, 12, 12}, {65, 19, 12, 46},
	} {
		n, err := s.Normalize(t.Context(), speech.Utterance{Text: strings.Repeat(sentence, tt.sentences)})
		if err != nil {
			t.Fatal(err)
		}
		others := 0
		for _, c := range n.Chunks[1:] {
			others = max(others, c.Tokens)
		}
		if first := n.Chunks[0].Tokens; len(n.Chunks) != tt.chunks || first != tt.first || others != tt.others {
			t.Errorf("%d sentences: %d chunks of %d and at most %d tokens, want %+v", tt.sentences, len(n.Chunks),
				first, others, tt)
		}
	}
}
