package convert

import (
	"os"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/swar-tts/swar/runtime/onnx/bundle"
	"github.com/swar-tts/swar/runtime/tokenize"
)

// pieces is a tokenizer of single letters and nothing else.
func pieces(t testing.TB, byteFallback bool, texts ...string) *tokenize.SentencePiece {
	t.Helper()
	const kindUnknown, kindByte, unigram = 2, 6, 1
	var model []byte
	add := func(text string, kind uint64) {
		p := protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), text)
		p = protowire.AppendVarint(protowire.AppendTag(p, 3, protowire.VarintType), kind)
		model = protowire.AppendBytes(protowire.AppendTag(model, 1, protowire.BytesType), p)
	}
	add("<unk>", kindUnknown)
	trainer := protowire.AppendVarint(protowire.AppendTag(nil, 3, protowire.VarintType), unigram)
	if byteFallback {
		trainer = protowire.AppendVarint(protowire.AppendTag(trainer, 35, protowire.VarintType), 1)
		for b := range 256 {
			const hex = "0123456789ABCDEF"
			add("<0x"+string(hex[b>>4])+string(hex[b&15])+">", kindByte)
		}
	}
	for _, text := range texts {
		add(text, 1)
	}
	model = protowire.AppendBytes(protowire.AppendTag(model, 2, protowire.BytesType), trainer)
	model = protowire.AppendBytes(protowire.AppendTag(model, 3, protowire.BytesType), nil)
	sp, err := tokenize.Load(model)
	if err != nil {
		t.Fatal(err)
	}
	return sp
}

// replacing lists replacements, each a from and a to.
func replacing(pairs ...string) (list []bundle.Replace) {
	for pair := range slices.Chunk(pairs, 2) {
		list = append(list, bundle.Replace{From: pair[0], To: pair[1]})
	}
	return list
}

func TestTextRulesFollowTheTokenizer(t *testing.T) {
	all := []string{".", "!", "?", "…", "।", "॥", ",", ";", ":", "–", "—"}
	off := false
	for name, tt := range map[string]struct {
		config   Config
		pieces   *tokenize.SentencePiece
		replace  []bundle.Replace
		terminal bool
		marks    string
	}{
		"every mark is known": {Config{}, pieces(t, false, all...), nil, true, ".!?…।॥"},
		"no danda":            {Config{}, pieces(t, false, ".", "!", "?", "…", ",", ";", ":", "–", "—"), replacing("।", ".", "॥", "."), true, ".!?…"},
		"no mark at all, as in models of bare words": {
			Config{}, pieces(t, false, "a"),
			replacing(".", " ", "!", " ", "?", " ", "…", " ", "।", " ", "॥", " ", ",", " ", ";", " ", ":", " ", "–",
				" ", "—", " "), false, "",
		},
		"bytes for what is rare":     {Config{}, pieces(t, true, ".", ","), replacing("।", ".", "॥", "."), true, "."},
		"the configuration is first": {Config{ReplaceCharacters: map[string]string{"।": "|"}, AppendTerminalPunctuation: &off}, pieces(t, true, ".", ","), replacing("।", "|", "॥", "."), false, "."},
		"what the configuration writes must be known": {
			Config{ReplaceCharacters: map[string]string{"*": "—", "#": "-॥"}},
			pieces(t, false, ".", "!", "?", "…", "।", ",", ";", ":", "–", "-"),
			replacing("#", "-.", "*", ",", "॥", ".", "—", ","), true, ".!?…।",
		},
		"a nukta of its own":   {Config{}, pieces(t, false, append(slices.Clone(all), "\u091c", "\u093c")...), replacing("\u095b", "\u091c\u093c"), true, ".!?…।॥"},
		"letters with a nukta": {Config{}, pieces(t, false, append(slices.Clone(all), "\u095b")...), replacing("\u091c\u093c", "\u095b"), true, ".!?…।॥"},
		"both forms":           {Config{}, pieces(t, false, append(slices.Clone(all), "\u095b", "\u091c", "\u093c")...), nil, true, ".!?…।॥"},
	} {
		got := TextRules(tt.config, tt.pieces, bundle.Trained{})
		if !slices.Equal(got.Replace, tt.replace) || got.TerminalPunctuation != tt.terminal ||
			got.SentenceMarks != tt.marks {
			t.Errorf("%s: %+v, want replacements %v, terminal punctuation %v, marks %q", name, got, tt.replace,
				tt.terminal, tt.marks)
		}
	}
}

func TestTextRulesOfTrainedTokenizers(t *testing.T) {
	for name, want := range map[string]struct{ replacements int }{
		"01-v2-tanh":         {len(nuktas) - 1}, // bytes for what is rare; the parts of one letter are rare too
		"03-noise-and-steps": {2},               // NFKC decides about nuktas; two dashes are unknown
	} {
		model, err := os.ReadFile("../testdata/" + name + "/tokenizer.model")
		if err != nil {
			t.Fatal(err)
		}
		sp, err := tokenize.Load(model)
		if err != nil {
			t.Fatal(err)
		}
		text := TextRules(Config{}, sp, bundle.Trained{})
		if len(text.Replace) != want.replacements || !text.TerminalPunctuation {
			t.Errorf("%s: %+v, want %d replacements and terminal punctuation", name, text, want.replacements)
		}
		for _, r := range text.Replace {
			if !sp.Knows(r.To) {
				t.Errorf("%s: %q becomes %q, which is not known", name, r.From, r.To)
			}
		}
	}
}

func TestTextRulesFollowWhatAModelWasTrainedOn(t *testing.T) {
	all := []string{".", "!", "?", "…", "।", "॥", ",", ";", ":", "–", "—", "-"}
	for name, tt := range map[string]struct {
		punctuation string
		bytes       bool
		text, want  string
		terminal    bool
	}{
		"nothing is said":             {"", false, `"कल, आना!" वो-वो`, `"कल, आना!" वो-वो`, true},
		"no punctuation":              {"none", false, `"कल, आना!" वो-वो (हाँ) don't – ठीक।`, "कल आना वो वो हाँ dont ठीक", false},
		"none, and bytes for all":     {"none", true, "कल, आना। क्या?", "कल आना क्या", false},
		"two marks":                   {".,", false, "कल; आना! वो-वो।", "कल, आना. वो वो.", true},
		"only the danda":              {"।", false, "कल, आना। वो.", "कल आना। वो", false},
		"marks that have no piece":    {".,()", false, "(कल), आना।", "(कल), आना.", true},
		"a full stop without a piece": {"॰।", false, "कल. आना।", "कल आना।", false},
	} {
		rules := TextRules(Config{}, pieces(t, tt.bytes, all...), bundle.Trained{Punctuation: tt.punctuation})
		rules.Capitalise = false
		var pairs []string
		for _, r := range rules.Replace {
			pairs = append(pairs, r.From, r.To)
		}
		got := strings.Join(strings.Fields(strings.NewReplacer(pairs...).Replace(tt.text)), " ")
		if got != tt.want || rules.TerminalPunctuation != tt.terminal {
			t.Errorf("%s: %q became %q, terminal punctuation %v; want %q, %v", name, tt.text, got,
				rules.TerminalPunctuation, tt.want, tt.terminal)
		}
	}
}
