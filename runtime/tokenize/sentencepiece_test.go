package tokenize

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// goldens are models with the ids that SentencePiece 0.1.97 gave for some 300 lines each.
var goldens = []string{"unigram_bytes", "unigram_nfkc_symbols", "bpe_bytes_spaces", "bpe_nmt_nfkc"}

type goldenLine struct {
	Text string  `json:"text"`
	IDs  []int32 `json:"ids"`
}

func golden(t testing.TB, name string) (*SentencePiece, []goldenLine) {
	t.Helper()
	file, err := os.ReadFile(filepath.Join("testdata", name+".jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var lines []goldenLine
	for line := range bytes.Lines(file) {
		var l goldenLine
		if err := json.Unmarshal(line, &l); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, l)
	}
	if len(lines) < 300 {
		t.Fatalf("%s has only %d lines", name, len(lines))
	}
	return load(t, modelFile(t, name)), lines
}

func modelFile(t testing.TB, name string) []byte {
	t.Helper()
	file, err := os.ReadFile(filepath.Join("testdata", name+".model"))
	if err != nil {
		t.Fatal(err)
	}
	return file
}

func load(t testing.TB, file []byte) *SentencePiece {
	t.Helper()
	sp, err := Load(file)
	if err != nil {
		t.Fatal(err)
	}
	return sp
}

func TestEncodeGivesTheIDsOfSentencePiece(t *testing.T) {
	for _, name := range goldens {
		t.Run(name, func(t *testing.T) {
			sp, lines := golden(t, name)
			for _, l := range lines {
				if got := sp.Encode(nil, l.Text); !slices.Equal(got, l.IDs) {
					t.Errorf("Encode(%q) = %v, want %v", l.Text, got, l.IDs)
				}
				if got, want := sp.Count(l.Text), len(l.IDs); got != want {
					t.Errorf("Count(%q) = %d, want %d", l.Text, got, want)
				}
			}
		})
	}
}

func TestEncodeAppends(t *testing.T) {
	sp := load(t, modelFile(t, "unigram_bytes"))
	alone := sp.Encode(nil, sentence)
	got := sp.Encode([]int32{7, 8}, sentence)
	if want := append([]int32{7, 8}, alone...); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := sp.Encode([]int32{7}, ""); !slices.Equal(got, []int32{7}) {
		t.Errorf("no text added %v", got[1:])
	}
}

func TestUnknownsMergeOnlyWhereTheyTouch(t *testing.T) {
	for _, name := range []string{"unigram", "bpe"} {
		sp := load(t, crafted(name, nil, piece{"a", -1, normalPiece}, piece{"▁", -2, normalPiece}))
		for text, want := range map[string][]int32{
			"xyz":    {2, 0},
			"axya":   {2, 1, 0, 1},
			"x y":    {2, 0, 2, 0},
			"xaxaxx": {2, 0, 1, 0, 1, 0},
		} {
			if got := sp.Encode(nil, text); !slices.Equal(got, want) {
				t.Errorf("%s: Encode(%q) = %v, want %v", name, text, got, want)
			}
		}
	}
}

// The expected pieces are those that spm_encode gives for the same models.
func TestPiecesOfSmallModels(t *testing.T) {
	pieces := func(extra ...piece) []piece {
		return append([]piece{{"▁", -1, normalPiece}, {"a", -2, normalPiece}, {"b", -2, normalPiece},
			{"c", -2, normalPiece}}, extra...)
	}
	tests := map[string]struct {
		algorithm string
		pieces    []piece
		text      string
		want      string
	}{
		"unigram: one good piece beats two":            {"unigram", pieces(piece{"ab", -3, normalPiece}), "ab", "▁ ab"},
		"unigram: two good pieces beat a bad one":      {"unigram", pieces(piece{"ab", -5, normalPiece}), "ab", "▁ a b"},
		"unigram: an unused piece is not taken":        {"unigram", pieces(piece{"ab", 0, unusedPiece}), "ab", "▁ a b"},
		"unigram: a piece of the user is taken":        {"unigram", pieces(piece{"abc", -99, userPiece}, piece{"bc", -1.5, normalPiece}), "abc", "▁ abc"},
		"unigram: a control piece is not in text":      {"unigram", pieces(piece{"ab", 9, controlPiece}), "ab", "▁ a b"},
		"unigram: an unknown costs ten below the last": {"unigram", pieces(piece{"bx", -2, normalPiece}, piece{"ab", 7.9, normalPiece}), "abx", "▁ a bx"},
		"unigram: and not more":                        {"unigram", pieces(piece{"bx", -2, normalPiece}, piece{"ab", 8.1, normalPiece}), "abx", "▁ ab <unk>"},
		"bpe: the best pair first":                     {"bpe", pieces(piece{"ab", -3, normalPiece}, piece{"bc", -1, normalPiece}), "abc", "▁ a bc"},
		"bpe: the leftmost of equals":                  {"bpe", pieces(piece{"ab", -3, normalPiece}, piece{"bc", -3, normalPiece}), "abc", "▁ ab c"},
		"bpe: the leftmost of the same pair":           {"bpe", pieces(piece{"aa", -3, normalPiece}), "aaaaa", "▁ aa aa a"},
		"bpe: pairs of pairs":                          {"bpe", pieces(piece{"aa", -3, normalPiece}, piece{"aaaa", -4, normalPiece}), "aaaaaaa", "▁ aaaa aa a"},
		"bpe: no pair, no piece":                       {"bpe", pieces(piece{"abc", 9, normalPiece}), "abc", "▁ a b c"},
		"bpe: a piece of the user is not split":        {"bpe", pieces(piece{"ab", -9, userPiece}, piece{"bc", -1, normalPiece}), "abc", "▁ ab c"},
		"bpe: nor joined":                              {"bpe", pieces(piece{"ab", -9, userPiece}, piece{"abc", -1, normalPiece}), "abc", "▁ ab c"},
		"bpe: the longest piece of the user":           {"bpe", pieces(piece{"ab", -9, userPiece}, piece{"abc", -9, userPiece}), "abcab", "▁ abc ab"},
		"bpe: an unused piece is cut again":            {"bpe", pieces(piece{"ab", -3, unusedPiece}), "abab", "▁ a b a b"},
		"bpe: but helps to join":                       {"bpe", pieces(piece{"ab", -3, unusedPiece}, piece{"abc", -4, normalPiece}), "abcab", "▁ abc a b"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			sp := load(t, crafted(tt.algorithm, nil, tt.pieces...))
			var got []string
			for _, id := range sp.Encode(nil, tt.text) {
				got = append(got, sp.Piece(int(id)))
			}
			if got := strings.Join(got, " "); got != tt.want {
				t.Errorf("%q became %q, want %q", tt.text, got, tt.want)
			}
			if spmEncode, err := exec.LookPath("spm_encode"); err == nil {
				file := filepath.Join(t.TempDir(), "m.model")
				if err := os.WriteFile(file, crafted(tt.algorithm, nil, tt.pieces...), 0o600); err != nil {
					t.Fatal(err)
				}
				agree(t, spmEncode, file, []string{tt.text})
			}
		})
	}
}

func TestEachInvalidByteIsOneReplacementCharacter(t *testing.T) {
	tests := []struct{ text, want string }{
		{"\xff", "▁\uFFFD"},
		{"a\xe0\xa4b", "▁a\uFFFD\uFFFDb"},
		{"\xed\xa0\x80", "▁\uFFFD\uFFFD\uFFFD"},
		{"क\xe0\xa4", "▁क\uFFFD\uFFFD"},
		{"\xc0\xaf", "▁\uFFFD\uFFFD"},
		{"\xf4\x90\x80\x80", "▁\uFFFD\uFFFD\uFFFD\uFFFD"},
	}
	for _, name := range goldens { // also with nmt_nfkc, which makes a space of U+FFFD where it is written as such
		sp := load(t, modelFile(t, name))
		for _, tt := range tests {
			if got := string(sp.normal.normalise(nil, tt.text)); got != tt.want {
				t.Errorf("%s: %q became %q, want %q", name, tt.text, got, tt.want)
			}
		}
	}
}

func TestPiecesAndIDs(t *testing.T) {
	for _, name := range goldens {
		sp := load(t, modelFile(t, name))
		if sp.Size() == 0 {
			t.Fatalf("%s is empty", name)
		}
		for id := range sp.Size() {
			if got, ok := sp.ID(sp.Piece(id)); !ok || got != id {
				t.Errorf("%s: ID(%q) = %d, %v, want %d", name, sp.Piece(id), got, ok, id)
			}
		}
		for _, id := range []int{-1, sp.Size()} {
			if got := sp.Piece(id); got != "" {
				t.Errorf("%s: Piece(%d) = %q, want none", name, id, got)
			}
		}
		if _, ok := sp.ID("no such piece"); ok {
			t.Errorf("%s: found a piece that is not there", name)
		}
	}
	if got := load(t, modelFile(t, "unigram_bytes")).Size(); got != 600 {
		t.Errorf("%d pieces, want 600", got)
	}
}

func TestEncodeAllocatesNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("a pool drops what it holds at random under the race detector")
	}
	for _, name := range goldens {
		sp := load(t, modelFile(t, name))
		ids := sp.Encode(nil, sentence)
		if got := testing.AllocsPerRun(100, func() { ids = sp.Encode(ids[:0], sentence) }); got != 0 {
			t.Errorf("%s: Encode allocates %v times", name, got)
		}
		if got := testing.AllocsPerRun(100, func() { sp.Count(sentence) }); got != 0 {
			t.Errorf("%s: Count allocates %v times", name, got)
		}
	}
}

func TestManyEncodeAtOnce(t *testing.T) {
	for _, name := range goldens {
		sp, lines := golden(t, name)
		var wg sync.WaitGroup
		for n := range 4 {
			wg.Go(func() {
				for i := range lines {
					l := lines[(i+n*50)%len(lines)]
					if got := sp.Encode(nil, l.Text); !slices.Equal(got, l.IDs) {
						t.Errorf("%s: Encode(%q) = %v, want %v", name, l.Text, got, l.IDs)
					}
				}
			})
		}
		wg.Wait()
	}
}

// The work for hostile text must not grow with its square: these would then take minutes and run into the test's time
// limit.
func TestLongTextStaysCheap(t *testing.T) {
	for _, name := range goldens {
		sp := load(t, modelFile(t, name))
		for _, unit := range []string{"a", " ", "▁", "क", "\xff", "ﷺ", "कि ", "\u0300", "aaaaaaab"} {
			const size = 1 << 16
			text := strings.Repeat(unit, size/len(unit))
			// A text of one kind of character has about as many ids as half of it has, twice.
			half, whole := sp.Count(text[:len(text)/len(unit)/2*len(unit)]), sp.Count(text)
			if whole < half || whole > 2*half+64 {
				t.Errorf("%s: %q: %d ids, its half has %d", name, unit, whole, half)
			}
		}
	}
}

func BenchmarkEncode(b *testing.B) {
	for _, name := range goldens {
		b.Run(name, func(b *testing.B) {
			sp := load(b, modelFile(b, name))
			ids := sp.Encode(nil, sentence)
			b.ReportAllocs()
			b.SetBytes(int64(len(sentence)))
			for b.Loop() {
				ids = sp.Encode(ids[:0], sentence)
			}
		})
	}
}

func BenchmarkLoad(b *testing.B) {
	for _, name := range goldens {
		b.Run(name, func(b *testing.B) {
			file := modelFile(b, name)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Load(file); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
